//! How does a command line become an exit code? Parse, run, report.

use std::ffi::OsString;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind as ClapErrorKind;
use toolspan::{Error, ErrorKind, Phase, Result};

use crate::args::{Command, CommandLine, ConfigAction, Global, guess_global};
use crate::exit::Code;
use crate::interrupt::Interrupt;
use crate::output::{Output, Style, json, report};
use crate::session::Session;

/// Runs the program and gives its exit code.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> Code {
    let arguments: Vec<OsString> = arguments.collect();
    let parsed = match CommandLine::try_parse_from(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => return not_parsed(&error, &guess_global(&arguments)),
    };
    let Some(command) = parsed.command else {
        let output = Output::new(&parsed.global);
        return finish(&output, welcome(&output));
    };
    let (command, later) = command.split();
    let global = parsed.global.merged(later);
    let output = Arc::new(Output::new(&global));
    let ended = start(command, global, &output);
    finish(&output, ended)
}

/// A command without its global options.
enum Chosen {
    Demo,
    DemoServer,
    Tools(crate::args::Tools),
    Search(crate::args::Search),
    Describe(crate::args::Describe),
    Call(crate::args::Call),
    Status,
    Doctor(crate::args::Doctor),
    ConfigCheck,
    ConfigShow,
    ConfigSchema,
    Trust(crate::args::Trust),
    ConfigImport(crate::args::Import),
    Completions(crate::args::Completions),
}

impl Command {
    /// The command and the global options that were written after it.
    fn split(self) -> (Chosen, Global) {
        match self {
            Self::Demo(with) => (Chosen::Demo, with.global),
            Self::DemoServer => (Chosen::DemoServer, Global::default()),
            Self::Tools(with) => (Chosen::Tools(with.own), with.global),
            Self::Search(with) => (Chosen::Search(with.own), with.global),
            Self::Describe(with) => (Chosen::Describe(with.own), with.global),
            Self::Call(with) => (Chosen::Call(with.own), with.global),
            Self::Status(with) => (Chosen::Status, with.global),
            Self::Doctor(with) => (Chosen::Doctor(with.own), with.global),
            Self::Trust(with) => (Chosen::Trust(with.own), with.global),
            Self::Config(with) => {
                let (chosen, last) = match with.own.action {
                    ConfigAction::Check(last) => (Chosen::ConfigCheck, last.global),
                    ConfigAction::Show(last) => (Chosen::ConfigShow, last.global),
                    ConfigAction::Schema(last) => (Chosen::ConfigSchema, last.global),
                    ConfigAction::Import(last) => (Chosen::ConfigImport(last.own), last.global),
                };
                (chosen, with.global.merged(last))
            }
            Self::Completions(with) => (Chosen::Completions(with.own), with.global),
        }
    }
}

/// Starts what a command needs, and runs it.
fn start(command: Chosen, global: Global, output: &Arc<Output>) -> Result<Code> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| internal("start", &error))?;
    if matches!(command, Chosen::DemoServer) {
        let served = runtime.block_on(crate::demo::server::serve());
        // A read of standard input cannot be taken back; the process ends all the same.
        runtime.shutdown_background();
        return served
            .map(|()| Code::DONE)
            .map_err(|error| internal("serve", &error));
    }
    let interrupt = Interrupt::listen().map_err(|error| internal("listen to signals", &error))?;
    let session = Session {
        global,
        output: Arc::clone(output),
        interrupt,
    };
    let ended = runtime.block_on(dispatch(command, &session));
    runtime.shutdown_background();
    match (ended, session.interrupt.code()) {
        // SIGTERM and Ctrl-C are the same error; the exit code tells them apart.
        (Err(error), Some(code)) if error.kind() == ErrorKind::Cancelled => {
            report::error(output, &error);
            Ok(code)
        }
        (ended, _) => ended,
    }
}

async fn dispatch(command: Chosen, session: &Session) -> Result<Code> {
    match command {
        Chosen::Demo => super::demo::run(session).await,
        Chosen::DemoServer => Ok(Code::DONE),
        Chosen::Tools(tools) => super::tools::run(session, &tools).await,
        Chosen::Search(wanted) => super::search::run(session, &wanted).await,
        Chosen::Describe(describe) => super::describe::run(session, &describe).await,
        Chosen::Call(call) => super::call::run(session, call).await,
        Chosen::Status => super::status::run(session).await,
        Chosen::Doctor(doctor) => super::doctor::run(session, &doctor).await,
        Chosen::ConfigCheck => super::config::check(session),
        Chosen::ConfigShow => super::config::show(session),
        Chosen::ConfigSchema => super::config::schema(session),
        Chosen::Trust(trust) => super::trust::run(session, &trust),
        Chosen::ConfigImport(import) => super::import::run(session, &import),
        Chosen::Completions(wanted) => super::completions::run(&session.output, &wanted),
    }
}

/// Reports how it ended. A failure to write is one too, unless something else failed before it.
fn finish(output: &Output, ended: Result<Code>) -> Code {
    let code = ended.unwrap_or_else(|error| {
        report::error(output, &error);
        Code::of(&error)
    });
    match output.failure() {
        Some(reason) => {
            let label = output.paint_error(Style::Bad, "error:");
            output.error_line(&format!("{label} failed to write the output: {reason}"));
            code.or(Code::INTERNAL)
        }
        None => code,
    }
}

/// Shows help, the version, or what is wrong with the command line.
fn not_parsed(error: &clap::Error, global: &Global) -> Code {
    let output = Output::new(global);
    let rendered = error.render();
    if matches!(
        error.kind(),
        ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion
    ) {
        output.styled(&rendered);
        return finish(&output, Ok(Code::DONE));
    }
    if output.json {
        let text = rendered.to_string();
        let message = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        let error = Error::new(ErrorKind::Usage, Phase::Config, message)
            .with_hint("`toolspan --help` shows what can be typed");
        output.json(&json::error(&error));
    }
    output.styled_error(&rendered);
    Code::USAGE
}

/// The short screen of `toolspan` alone.
fn welcome(output: &Output) -> Result<Code> {
    let steps = [
        ("toolspan demo", "see what it does, with nothing installed"),
        (
            "toolspan --server \"uvx mcp-server-time\" tools",
            "list the tools of a server",
        ),
        (
            "toolspan --url https://example.com/mcp tools",
            "the same of a server over HTTP",
        ),
        (
            "toolspan --config toolspan.json tools",
            "list the tools of a config's servers",
        ),
        ("toolspan describe TOOL", "show one tool"),
        ("toolspan call TOOL key=value", "call it"),
        ("toolspan doctor", "find out why a server does not start"),
    ];
    output.line(&format!(
        "{} calls the tools of MCP servers from the shell.\n",
        output.paint(Style::Strong, "toolspan")
    ));
    for (command, what) in steps {
        output.line(&format!(
            "  {}  {what}",
            output.paint(Style::Strong, &format!("{command:<46}"))
        ));
    }
    output.line("\n`toolspan --help` shows everything.");
    Ok(Code::DONE)
}

fn internal(what: &str, error: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::Internal,
        Phase::Connect,
        format!("failed to {what}: {error}"),
    )
}
