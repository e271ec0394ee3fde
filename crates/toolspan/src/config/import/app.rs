//! Which programs' configs can be taken over, and where do they keep them?

use std::fmt;
use std::path::{Path, PathBuf};

use super::super::Environment;
use super::variables::Dialect;

/// A program that has MCP servers in a config of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum App {
    /// Claude Desktop: `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Claude Code: `~/.claude.json`, with servers of the user and of single projects; `.mcp.json`.
    ClaudeCode,
    /// Cursor: `~/.cursor/mcp.json`; `.cursor/mcp.json`.
    Cursor,
    /// VS Code: `mcp.json` of the user's profile, `"mcp"` in `settings.json`; `.vscode/mcp.json`.
    VsCode,
    /// Gemini CLI: `~/.gemini/settings.json`; `.gemini/settings.json`.
    Gemini,
    /// Codex: `~/.codex/config.toml`; `.codex/config.toml`.
    Codex,
    /// Windsurf: `~/.codeium/windsurf/mcp_config.json`.
    Windsurf,
}

/// By whose rules a program's config is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Platform {
    /// Linux and other systems that follow the XDG base directories.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The platform this is built for.
    pub const HERE: Self = if cfg!(target_os = "macos") {
        Self::MacOs
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Linux
    };
}

/// In what a timeout of a program counts, and for what it holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeoutRule {
    /// Milliseconds, for the start and for calls.
    Milliseconds,
    /// Milliseconds, for calls alone; less than a second counts as none.
    MillisecondsOfCalls,
    /// Not documented: what is 1000 or more cannot be meant as seconds.
    Guessed,
}

impl App {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Gemini,
        Self::Codex,
        Self::Windsurf,
    ];

    /// Its name on the command line, such as `claude-code`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Windsurf => "windsurf",
        }
    }

    /// Its name for people, such as `Claude Code`.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Gemini => "Gemini CLI",
            Self::Codex => "Codex",
            Self::Windsurf => "Windsurf",
        }
    }

    /// The program with this name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|app| app.name() == name)
    }

    /// The user's own files that it reads, whether they exist or not, the one that wins first.
    /// Files of projects are not among them: they may come from a stranger's repository. Empty when
    /// the environment names no folder to look in.
    pub fn files(self, platform: Platform, environment: &Environment) -> Vec<PathBuf> {
        let home = home(platform, environment);
        let in_home = |path: &str| home.map(|home| home.join(path)).into_iter().collect();
        let in_folder_of = |variable: &str, file: &str| {
            let folder = environment.folder(variable);
            folder.map(|folder| vec![folder.join(file)])
        };
        match self {
            Self::ClaudeDesktop => {
                let folder = application_data(platform, environment);
                folder
                    .map(|folder| folder.join("Claude").join("claude_desktop_config.json"))
                    .into_iter()
                    .collect()
            }
            Self::ClaudeCode => in_folder_of("CLAUDE_CONFIG_DIR", ".claude.json")
                .unwrap_or_else(|| in_home(".claude.json")),
            Self::Cursor => in_home(".cursor/mcp.json"),
            Self::VsCode => {
                let folder = application_data(platform, environment);
                let folder = folder.map(|folder| folder.join("Code").join("User"));
                let file = |name: &str| folder.as_ref().map(|folder| folder.join(name));
                [file("mcp.json"), file("settings.json")]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            Self::Gemini => in_home(".gemini/settings.json"),
            Self::Codex => in_folder_of("CODEX_HOME", "config.toml")
                .unwrap_or_else(|| in_home(".codex/config.toml")),
            Self::Windsurf => in_home(".codeium/windsurf/mcp_config.json"),
        }
    }

    /// The folder of the project that a file belongs to, going by the file's name; `None` for a
    /// file of the user.
    pub(super) fn project(self, file: &Path, environment: &Environment) -> Option<PathBuf> {
        let file = environment.absolute(file);
        if self.files(Platform::HERE, environment).contains(&file) {
            return None;
        }
        let within = match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Codex => ".codex/config.toml",
            Self::ClaudeDesktop | Self::Windsurf => return None,
        };
        let depth = Path::new(within).components().count();
        file.ends_with(within)
            .then(|| file.ancestors().nth(depth))
            .flatten()
            .map(Path::to_owned)
    }

    /// How its texts name variables.
    pub(super) fn dialect(self) -> Dialect {
        match self {
            Self::ClaudeDesktop | Self::Codex => Dialect::Plain,
            Self::ClaudeCode => Dialect::Braces,
            Self::Gemini => Dialect::Dollar,
            Self::Cursor | Self::VsCode | Self::Windsurf => Dialect::Editor,
        }
    }

    /// What its `timeout` means.
    pub(super) fn timeout(self) -> TimeoutRule {
        match self {
            Self::Gemini | Self::VsCode => TimeoutRule::Milliseconds,
            Self::ClaudeCode => TimeoutRule::MillisecondsOfCalls,
            _ => TimeoutRule::Guessed,
        }
    }

    /// Whether it starts the servers of a project in the project's folder.
    pub(super) fn starts_in_project(self) -> bool {
        matches!(
            self,
            Self::ClaudeCode | Self::VsCode | Self::Gemini | Self::Codex
        )
    }
}

impl fmt::Display for App {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.title())
    }
}

fn home(platform: Platform, environment: &Environment) -> Option<&Path> {
    match platform {
        Platform::Windows => environment
            .folder("USERPROFILE")
            .or_else(|| environment.home()),
        Platform::Linux | Platform::MacOs => environment.home(),
    }
}

/// Where programs with windows keep their settings.
fn application_data(platform: Platform, environment: &Environment) -> Option<PathBuf> {
    match platform {
        Platform::Windows => environment.folder("APPDATA").map(Path::to_owned),
        Platform::MacOs => Some(environment.home()?.join("Library/Application Support")),
        Platform::Linux => match environment.folder("XDG_CONFIG_HOME") {
            Some(folder) => Some(folder.to_owned()),
            None => Some(environment.home()?.join(".config")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_pairs(pairs.iter().copied()).with_current_dir("/now")
    }

    fn shown(app: App, platform: Platform, environment: &Environment) -> Vec<String> {
        let files = app.files(platform, environment);
        files
            .iter()
            .map(|file| file.to_string_lossy().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn each_program_is_looked_for_where_its_platform_has_it() {
        let unix = environment(&[("HOME", "/home/me")]);
        // A path of Windows is not absolute elsewhere, so the test has one of this kind.
        let windows = environment(&[
            ("USERPROFILE", "/users/me"),
            ("APPDATA", "/users/me/roaming"),
        ]);
        let mut all = String::new();
        for (platform, environment) in [
            (Platform::Linux, &unix),
            (Platform::MacOs, &unix),
            (Platform::Windows, &windows),
        ] {
            for app in App::ALL {
                let files = shown(app, platform, environment).join(" ");
                all += &format!("{platform:?} {}: {files}\n", app.name());
            }
        }
        insta::assert_snapshot!(all);
    }

    #[test]
    fn variables_move_the_folders_and_without_any_there_is_nowhere_to_look() {
        let moved = environment(&[
            ("HOME", "/home/me"),
            ("XDG_CONFIG_HOME", "/xdg"),
            ("CODEX_HOME", "/codex"),
            ("CLAUDE_CONFIG_DIR", "/claude"),
        ]);
        let first = |app| shown(app, Platform::Linux, &moved).swap_remove(0);
        assert_eq!(first(App::Codex), "/codex/config.toml");
        assert_eq!(first(App::ClaudeCode), "/claude/.claude.json");
        assert_eq!(first(App::VsCode), "/xdg/Code/User/mcp.json");
        for app in App::ALL {
            assert!(app.files(Platform::Linux, &environment(&[])).is_empty());
        }
    }

    #[test]
    fn a_file_of_a_project_names_its_folder_and_one_of_the_user_names_none() {
        let environment = environment(&[("HOME", "/home/me")]);
        let project = |app: App, file: &str| app.project(Path::new(file), &environment);
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(project(App::VsCode, "/p/.vscode/mcp.json"), at("/p"));
        assert_eq!(project(App::Cursor, ".cursor/mcp.json"), at("/now"));
        assert_eq!(project(App::ClaudeCode, "/p/q/.mcp.json"), at("/p/q"));
        assert_eq!(project(App::Cursor, "/home/me/.cursor/mcp.json"), None);
        assert_eq!(project(App::Cursor, "/p/mcp.json"), None);
    }

    #[test]
    fn a_name_leads_back_to_its_program() {
        for app in App::ALL {
            assert_eq!(App::from_name(app.name()), Some(app));
        }
        assert_eq!(App::from_name("emacs"), None);
    }
}
