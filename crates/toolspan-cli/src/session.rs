//! What do most commands need? A host as the options describe it, closed whatever happens.

use std::sync::Arc;
use std::time::Duration;

use toolspan::config::{ConfigFile, Environment, Found, Resolved};
use toolspan::guard::{Timeouts, sanitise};
use toolspan::policy::Approver;
use toolspan::services::Event;
use toolspan::toolbox::ToolBoxState;
use toolspan::{CallOptions, Error, ErrorKind, Host, Phase, Result, Services, ToolboxStatus};

use crate::approval::AtTerminal;
use crate::args::Global;
use crate::concern::{self, Concern};
use crate::exit::Code;
use crate::interrupt::Interrupt;
use crate::output::progress::Activity;
use crate::output::{Output, human, report};
use crate::question::Questions;

/// Names of toolboxes in one message.
const NAMED: usize = 6;
/// Characters of a log line of a server.
const LOG_COLUMNS: usize = 2_000;

/// One run of the program: the global options, the output, and whether it shall end.
pub(crate) struct Session {
    pub(crate) global: Global,
    pub(crate) output: Arc<Output>,
    pub(crate) interrupt: Interrupt,
}

/// What a config is read for.
#[derive(Clone, Copy)]
enum Purpose {
    /// To be looked at.
    Look,
    /// To start what it says, as far as that is trusted.
    Start,
}

impl Session {
    /// What the options and the environment say that there is: the config, and the servers of
    /// `--server` and `--url`. Asks on the terminal for inputs of the config.
    ///
    /// Only to be looked at: the config may be that of a project that nobody has approved.
    ///
    /// # Errors
    ///
    /// `config` when there is none of them, or the config cannot be read; `usage` when a `--server`,
    /// a `--url` or a `--header` makes no sense; `cancelled` when a question was not to be answered.
    pub(crate) fn config(&self, environment: &Environment) -> Result<Resolved> {
        self.read(environment, Purpose::Look, Concern::All)
    }

    fn read(
        &self,
        environment: &Environment,
        purpose: Purpose,
        concern: Concern<'_>,
    ) -> Result<Resolved> {
        let given = Resolved::from_server_lines(&self.global.server)?
            .with_urls(&self.global.url, &self.global.header)?;
        // With servers on the command line, only a config that was named is wanted too.
        let found = match &self.global.config {
            None if !given.toolboxes.is_empty() => return Ok(given),
            explicit => toolspan::config::find(explicit.as_deref(), environment)?,
        };
        let Some(found) = found else {
            let message = "there is no config, and no --server or --url";
            return Err(Error::new(ErrorKind::Config, Phase::Config, message)
                .with_hint("name a file with --config, or try --server \"uvx mcp-server-time\""));
        };
        let file = self.config_file(found, environment)?;
        let mut questions = Questions::new(&self.output, &self.interrupt);
        if !matches!(concern, Concern::All) {
            // Which servers there are is only known once the config was read without an answer.
            let open = file.resolve(environment, &())?;
            let all = open.toolboxes.iter().chain(&given.toolboxes);
            questions = questions.leaving_out(concern.others(all));
        }
        let mut config = match purpose {
            Purpose::Look => file.resolve(environment, &questions)?,
            Purpose::Start => file.resolve_trusted(environment, &questions)?,
        };
        questions.finish()?;
        config.warnings.extend(given.warnings);
        for toolbox in given.toolboxes {
            if config
                .toolboxes
                .iter()
                .any(|known| known.key == toolbox.key)
            {
                let key = sanitise::one_line(&toolbox.key, 200);
                let message =
                    format!("the command line and the config both have a toolbox \"{key}\"");
                return Err(Error::new(ErrorKind::Usage, Phase::Config, message)
                    .with_hint("give the one in the config another key"));
            }
            config.toolboxes.push(toolbox);
        }
        Ok(config)
    }

    /// Reads a config file, unless it has secrets in it that somebody else may replace.
    pub(crate) fn config_file(
        &self,
        found: Found,
        environment: &Environment,
    ) -> Result<ConfigFile> {
        let file = ConfigFile::read(found, environment)?;
        if !self.global.allow_insecure_config {
            file.refuse_insecure()?;
        }
        Ok(file)
    }

    /// Runs the work with a host, and closes the host whatever comes of it. Says on stderr what is
    /// odd in the config.
    pub(crate) async fn with_host<T>(
        &self,
        work: impl AsyncFnOnce(&Host) -> Result<T>,
    ) -> Result<T> {
        self.with_host_for(Concern::All, work).await
    }

    /// The same for what a command is about: of the other servers, no inputs are asked for, and what
    /// is odd about them is not said.
    pub(crate) async fn with_host_for<T>(
        &self,
        concern: Concern<'_>,
        work: impl AsyncFnOnce(&Host) -> Result<T>,
    ) -> Result<T> {
        let asked = AtTerminal::new(&self.output, &self.interrupt);
        let approver = asked.map(|it| -> Arc<dyn Approver> { Arc::new(it) });
        self.with_host_approved(concern, approver, work).await
    }

    /// The same with whoever approves calls that the policy wants confirmed; else it is the person at
    /// the terminal.
    pub(crate) async fn with_host_approved<T>(
        &self,
        concern: Concern<'_>,
        approver: Option<Arc<dyn Approver>>,
        work: impl AsyncFnOnce(&Host) -> Result<T>,
    ) -> Result<T> {
        let environment = Environment::capture();
        let mut config = self.read(&environment, Purpose::Start, concern)?;
        if let Some(timeout) = self.global.timeout {
            // It raises the default limits of a start, and never one that the config has set.
            let default = Timeouts::default();
            let within = |limit: &mut Duration, default: Duration| {
                *limit = if *limit == default {
                    timeout
                } else {
                    timeout.min(*limit)
                };
            };
            for toolbox in &mut config.toolboxes {
                within(&mut toolbox.timeouts.connect, default.connect);
                within(&mut toolbox.timeouts.list, default.list);
            }
        }
        let others = concern.others(&config.toolboxes);
        for problem in config.warnings.iter().chain(config.problems()) {
            if !concern::is_of(problem, &others) {
                self.output.warn(&problem.to_string());
            }
        }
        let listener = Arc::new(Listener(Arc::clone(&self.output)));
        let builder = Host::builder()
            .environment(environment)
            .services(listener)
            .config(config);
        let builder = match approver {
            Some(approver) => builder.approver(approver),
            None => builder,
        };
        let host = builder.start()?;
        let ended = work(&host).await;
        host.close().await;
        ended
    }

    /// Waits until every toolbox is ready or failed; shows which ones it waits for. Gives why the
    /// host is not what was asked for: a required toolbox failed, or there is none that works.
    ///
    /// # Errors
    ///
    /// `cancelled` when a signal comes first.
    pub(crate) async fn settle(&self, host: &Host) -> Result<Option<Error>> {
        let activity = Activity::new(&self.output, starting(&host.status()));
        let settled = activity.during(self.interrupt.or(host.settled())).await?;
        Ok(settled.err().or_else(|| nothing_works(&host.status())))
    }

    /// Tells why the host is not what was asked for, and gives the exit code of that.
    pub(crate) fn start_failed(&self, error: &Error) -> Code {
        report::error(&self.output, error);
        Code::of_start(error)
    }

    /// Names the toolboxes that failed and the tools that cannot be used, on stderr; not the
    /// toolbox of an error that is told by itself.
    pub(crate) fn report_faults(&self, host: &Host, told: Option<&Error>) {
        let is_told = |status: &ToolboxStatus| {
            told.is_some_and(|error| error.toolbox() == Some(&*status.toolbox))
        };
        for status in host.status().into_iter().filter(|status| !is_told(status)) {
            let name = sanitise::one_line(&status.toolbox, 200);
            // What is wrong in the config was said when it was read.
            if let Some(error) = status
                .state
                .error()
                .filter(|it| it.kind() != ErrorKind::Config)
            {
                let (state, phase) = (status.state.as_str(), error.phase());
                self.output.warn(&format!(
                    "toolbox {name} {state} in {phase}: {}",
                    human::one_line(error)
                ));
            }
            match status.broken.len() {
                0 => {}
                1 => self.output.warn(&format!(
                    "toolbox {name}: 1 tool cannot be used; `toolspan status` says why"
                )),
                many => self.output.warn(&format!(
                    "toolbox {name}: {many} tools cannot be used; `toolspan status` says why"
                )),
            }
        }
    }

    /// The options of a call: the timeout of the command line, the signals, the progress.
    pub(crate) fn call_options(&self, activity: &Activity) -> CallOptions {
        let options = CallOptions::default()
            .with_cancel(self.interrupt.token())
            .with_progress(activity.sink());
        match self.global.timeout {
            Some(timeout) => options.with_timeout(timeout),
            None => options,
        }
    }
}

/// Why no tool can be called: the first toolbox's error when every one failed.
fn nothing_works(status: &[ToolboxStatus]) -> Option<Error> {
    let mut failures = status
        .iter()
        .filter(|status| !matches!(status.state, ToolBoxState::Disabled))
        .map(|status| match &status.state {
            ToolBoxState::Failed(error) => Some(error.clone().in_toolbox(&status.toolbox)),
            _ => None,
        });
    match failures.next() {
        None => {
            let message = "the config has no toolbox that is switched on";
            Some(Error::new(ErrorKind::Config, Phase::Config, message))
        }
        Some(first) => first.filter(|_| failures.all(|failure| failure.is_some())),
    }
}

fn starting(status: &[ToolboxStatus]) -> String {
    let waits = |status: &&ToolboxStatus| matches!(status.state, ToolBoxState::Connecting);
    let names: Vec<String> = status
        .iter()
        .filter(waits)
        .map(|status| sanitise::one_line(&status.toolbox, 40))
        .collect();
    let noun = if names.len() == 1 {
        "server"
    } else {
        "servers"
    };
    let more = if names.len() > NAMED { ", …" } else { "" };
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    format!(
        "starting {} {noun}: {}{more}",
        names.len(),
        shown.join(", ")
    )
}

/// Says on stderr what the servers log (`-v`) and how their states change (`-vv`).
struct Listener(Arc<Output>);

impl Services for Listener {
    fn event(&self, toolbox: &str, event: Event) {
        let toolbox = sanitise::one_line(toolbox, 200);
        let say = |level, text: &str| {
            self.0.detail(
                level,
                &format!("{toolbox}: {}", sanitise::one_line(text, LOG_COLUMNS)),
            );
        };
        match event {
            Event::Log { level, text } => say(1, &format!("{level}: {text}")),
            Event::State(state) => say(2, state.as_str()),
            Event::ToolsChanged => say(2, "its tools changed"),
            _ => {}
        }
    }
}
