//! What can be typed: the commands and options, and where global options may stand.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use toolspan::config::import::App;

/// Largest `--timeout`, in seconds: a year. Larger ones are typing errors.
const LONGEST_TIMEOUT: f64 = 366.0 * 86_400.0;

/// Calls the tools of MCP servers from the shell.
#[derive(Debug, Parser)]
#[command(name = "toolspan", version, max_term_width = 100)]
#[command(disable_help_subcommand = true, after_help = EXIT_CODES)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done                              5  the tool reported an error
  1  a fault of this program           6  the arguments do not match the schema
  2  the command line or the config    7  a time limit passed
  3  a server failed                   8  not approved, or refused by a rule
  4  no such tool                    130  Ctrl-C (143: SIGTERM)";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what it does, with nothing installed
    Demo(With<Demo>),
    /// List the tools
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(With<Tools>),
    /// Find tools by a few words
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(With<Search>),
    /// Show one tool: arguments, result, effects, origin
    Describe(With<Describe>),
    /// Call a tool and print its result
    #[command(after_help = CALL_EXAMPLES)]
    Call(With<Call>),
    /// Show the state of each toolbox
    Status(With<Status>),
    /// Start toolboxes step by step and show what goes wrong
    Doctor(With<Doctor>),
    /// Look at the config, or add the servers of another program to it
    Config(With<Config>),
    /// Show what the config of this folder's project would start, and approve it
    #[command(after_help = TRUST_HELP)]
    Trust(With<Trust>),
    /// Print the script that completes commands and options in a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(With<Completions>),
    /// The demo's MCP server, on standard input and output
    #[command(hide = true)]
    DemoServer,
}

/// Options that every command takes, before or after its name.
///
/// They are not clap's `global`: with that, a `--server` after the command would silently replace
/// the ones before it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Read this config instead of looking for one
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use the MCP server that this command starts; may be repeated
    #[arg(long, value_name = "COMMAND")]
    pub(crate) server: Vec<String>,
    /// Use the MCP server at this address; may be repeated
    #[arg(long, value_name = "URL")]
    pub(crate) url: Vec<String>,
    /// Send this header to the servers of --url; may be repeated
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Use a config with secrets in it even if other users may write it
    #[arg(long)]
    pub(crate) allow_insecure_config: bool,
    /// Print JSON, one line each
    #[arg(long)]
    pub(crate) json: bool,
    /// Give up after this many seconds: on starting the servers, and on each call
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// When to use colour; NO_COLOR is honoured
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// Say more: what the servers log; twice for their state changes too
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Say nothing but results and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Global {
    /// Both sets of options; of one that can be given once, the later one holds.
    pub(crate) fn merged(mut self, later: Self) -> Self {
        self.server.extend(later.server);
        self.url.extend(later.url);
        self.header.extend(later.header);
        Self {
            config: later.config.or(self.config),
            server: self.server,
            url: self.url,
            header: self.header,
            allow_insecure_config: self.allow_insecure_config || later.allow_insecure_config,
            json: self.json || later.json,
            timeout: later.timeout.or(self.timeout),
            color: later.color.or(self.color),
            verbose: self.verbose.saturating_add(later.verbose),
            quiet: self.quiet || later.quiet,
        }
    }
}

/// A command's own arguments and the global options after it.
#[derive(Debug, Args)]
pub(crate) struct With<T: Args> {
    #[command(flatten)]
    pub(crate) own: T,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// When output is coloured: on a terminal that shows colour, always, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// `toolspan demo`
#[derive(Debug, Args)]
pub(crate) struct Demo {}

const TOOLS_EXAMPLES: &str = "\
Examples:
  toolspan tools                       all tools of the config
  toolspan tools time                  tools with \"time\" in their name
  toolspan tools '*__get_*'            tools whose name matches
  toolspan tools --format openai       the value of `tools` in a chat completion request
  toolspan tools --format anthropic --strict
  toolspan tools --format gemini --losses
                                       what that form changes of the tools, and why
  toolspan --server \"uvx mcp-server-time\" tools
  toolspan --url https://example.com/mcp tools";

/// `toolspan tools`
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// A part of the name, or a pattern with * and ?
    pub(crate) pattern: Option<String>,
    /// The form: a table, or the JSON value of an API's `tools` field
    #[arg(long, value_name = "API", default_value = "native")]
    pub(crate) format: Format,
    /// Hold the model to the schema of each tool that can be given so (openai, responses, anthropic)
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print what the form changes of the tools, and which it leaves out, in place of the tools
    #[arg(long)]
    pub(crate) losses: bool,
}

/// The form in which tools are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table; with --json toolspan's own JSON
    Native,
    /// `tools` of an MCP tools/list result
    Mcp,
    /// `tools` of an OpenAI chat completion request
    Openai,
    /// `tools` of an OpenAI Responses request
    Responses,
    /// `tools` of an Anthropic Messages request
    Anthropic,
    /// `tools` of a Gemini request, by `parametersJsonSchema`
    Gemini,
    /// `tools` of a Gemini request, by `parameters`
    GeminiOpenapi,
}

const SEARCH_EXAMPLES: &str = "\
Looks at names, descriptions and parameters, and lists the tools that fit best first.

Examples:
  toolspan search current time
  toolspan search \"read a file\" --limit 3";

/// `toolspan search`
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Words that the tool has in its name, its description or its parameters
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// List at most this many tools
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
}

/// `toolspan describe`
#[derive(Debug, Args)]
pub(crate) struct Describe {
    /// The tool's name
    pub(crate) tool: String,
}

const CALL_EXAMPLES: &str = "\
Arguments:
  key=value    the text becomes what the schema asks for: a number, a boolean, a list
  key:=JSON    the JSON as it is: count:=3 tags:='[\"a\", \"b\"]' name:=null
  --args JSON  the whole object; pairs replace its members
  A key may be given once.

Examples:
  toolspan call time__get_current_time timezone=Europe/Vienna
  toolspan call search query=\"rust mcp\" limit:=5
  toolspan call search --args '{\"query\": \"rust mcp\"}' limit=5
  toolspan call search --args @arguments.json
  echo '{\"query\": \"x\"}' | toolspan call search --args -
  toolspan call chart kind=bar --save charts/
  toolspan call --batch calls.ndjson      one {\"tool\": …, \"args\": {…}} a line";

/// `toolspan call`
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool's name: toolbox__tool, toolbox.tool, or the tool alone where only one has it
    #[arg(required_unless_present = "batch")]
    pub(crate) tool: Option<String>,
    /// Arguments as key=value or key:=JSON
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as a JSON object: the text, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub(crate) args: Option<String>,
    /// Write images, audio and other binary results to files in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Print at most this many characters of text
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Read calls from this file, or - for standard input, one JSON object a line
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["tool", "args"])]
    pub(crate) batch: Option<String>,
}

/// `toolspan status`
#[derive(Debug, Args)]
pub(crate) struct Status {}

/// `toolspan doctor`
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Look at this toolbox alone
    pub(crate) toolbox: Option<String>,
}

/// `toolspan config`
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

/// What to do with the config.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Say whether it is right; exit 2 on any problem
    Check(With<Nothing>),
    /// Show what toolspan reads from it, secrets hidden
    Show(With<Nothing>),
    /// Print its JSON Schema, for an editor
    Schema(With<Nothing>),
    /// Add the servers that another program has in its config
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(With<Import>),
}

const IMPORT_EXAMPLES: &str = "\
Servers that the config has already are left alone, and so are its comments. Files of projects are
imported when they are named, since they may come from somebody else.

Examples:
  toolspan config import cursor --dry-run
  toolspan config import vscode --from .vscode/mcp.json --to toolspan.json";

/// `toolspan config import`
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The program whose servers are taken over
    #[arg(value_name = "APP", value_parser = app_parser())]
    pub(crate) app: App,
    /// Read this file instead of the program's own
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Write this config instead of the one of --config, or your own
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Print what would be added, secrets hidden, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

fn app_parser() -> impl TypedValueParser<Value = App> {
    let names = App::ALL.map(|app| PossibleValue::new(app.name()).help(app.title()));
    PossibleValuesParser::new(names)
        .try_map(|name| App::from_name(&name).ok_or("there is no such program"))
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(toolspan completions bash)                                    in ~/.bashrc
  toolspan completions zsh > \"${fpath[1]}/_toolspan\"
  toolspan completions fish > ~/.config/fish/completions/toolspan.fish";

/// `toolspan completions`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: ShellName,
}

/// A shell that can be taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellName {
    Bash,
    Zsh,
    Fish,
}

const TRUST_HELP: &str = "\
A toolspan.json or .mcp.json that lies in the current folder may come from somebody else. Nothing of
it is started before it is approved here, and after a change not before it is approved again.";

/// `toolspan trust`
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Approve without asking; needed where there is no terminal
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    pub(crate) yes: bool,
    /// Take the approval back
    #[arg(long, conflicts_with = "list")]
    pub(crate) revoke: bool,
    /// List all that is approved
    #[arg(long)]
    pub(crate) list: bool,
}

/// No arguments of its own.
#[derive(Debug, Args)]
pub(crate) struct Nothing {}

/// What of the global options is known even when the command line as a whole makes no sense.
pub(crate) fn guess_global(arguments: &[OsString]) -> Global {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let words = words.split(|word| *word == "--").next().unwrap_or_default();
    let color = words.iter().enumerate().find_map(|(index, word)| {
        let value = word.strip_prefix("--color=");
        let next = || {
            (*word == "--color")
                .then(|| words.get(index + 1).copied())
                .flatten()
        };
        value
            .or_else(next)
            .and_then(|value| Color::from_str(value, false).ok())
    });
    Global {
        json: words.contains(&"--json"),
        color,
        ..Global::default()
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "a number of seconds is needed".to_owned())?;
    if seconds > 0.0 && seconds <= LONGEST_TIMEOUT {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err("it must be more than 0 and at most a year".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        CommandLine::command().debug_assert();
    }

    #[test]
    fn servers_before_and_after_the_command_add_up() {
        let parsed = CommandLine::try_parse_from([
            "toolspan", "--server", "a", "--url", "c", "--header", "e: f", "tools", "--server",
            "b", "--url", "d", "--json", "--header", "g: h",
        ]);
        let CommandLine {
            global,
            command: Some(Command::Tools(tools)),
        } = parsed.unwrap()
        else {
            panic!("not the tools command")
        };
        let global = global.merged(tools.global);
        assert_eq!(global.server, ["a", "b"]);
        assert_eq!(global.url, ["c", "d"]);
        assert_eq!(global.header, ["e: f", "g: h"]);
        assert!(global.json);
    }

    #[test]
    fn a_timeout_is_positive_and_finite() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["0", "-1", "inf", "NaN", "1e300", "five"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn json_and_colour_are_known_before_parsing() {
        let words = ["call", "--color", "never", "--json", "--nonsense"].map(OsString::from);
        let guessed = guess_global(&words);
        assert!(guessed.json && guessed.color == Some(Color::Never));
        assert!(!guess_global(&["call", "--", "--json"].map(OsString::from)).json);
    }
}
