//! What place does a path name, and is it one that matters?

/// Longest text that is taken for a path, in bytes. A longer one names no file anywhere.
const LONGEST: usize = 32 << 10;

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// At the root of the file system, or of a drive, which is then the first segment.
    Absolute,
    /// In somebody's home folder.
    Home,
    /// In a folder that is not known here.
    Relative,
}

/// A path in parts: no `.`, no `..` but at the beginning of a relative one, small letters, `/` and
/// `\` the same, homes by whatever name they have. Only text is looked at, no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: Root,
    pub(super) parts: Vec<String>,
}

impl Place {
    /// The place that a text names, seen from a folder.
    pub(super) fn new(text: &str, folder: Option<&Place>) -> Self {
        let text = text.trim();
        let decoded = match text.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("file:") => of_url(text.get(5..)),
            _ => text.get(..LONGEST).unwrap_or(text).to_owned(),
        };
        let text = decoded.replace('\\', "/").to_lowercase();
        let (root, rest) = rooted(&text);
        let mut place = match (root, folder) {
            (Root::Relative, Some(folder)) => folder.clone(),
            _ => Self {
                root,
                parts: Vec::new(),
            },
        };
        for part in rest.split('/') {
            place.enter(part);
        }
        place.into_home()
    }

    fn enter(&mut self, part: &str) {
        match part {
            "" | "." => {}
            ".." => match self.parts.last() {
                Some(last) if last != ".." => {
                    self.parts.pop();
                }
                _ if self.root == Root::Absolute => {}
                // What lies above a home is the folder of homes, and above that the root.
                _ => self.parts.push("..".to_owned()),
            },
            // Windows takes no dots and spaces at the end of a name.
            part => match part.trim_end_matches([' ', '.']) {
                "" => self.parts.push(part.to_owned()),
                trimmed => self.parts.push(trimmed.to_owned()),
            },
        }
    }

    /// The same place, from the home folder where it lies in one.
    fn into_home(mut self) -> Self {
        if self.root != Root::Absolute {
            return self;
        }
        let names: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        let skipped = match names.as_slice() {
            ["proc", "self" | "1" | "thread-self", "root", ..] => {
                self.parts.drain(..3);
                return self.into_home();
            }
            ["private", "etc" | "var" | "tmp", ..] => {
                self.parts.remove(0);
                return self.into_home();
            }
            ["root", ..] => 1,
            ["var", "root", ..] => 2,
            ["home" | "users", name, ..] if !is_any(name) => 2,
            [drive, "users", name, ..] if is_drive(drive) && !is_any(name) => 3,
            _ => return self,
        };
        self.parts.drain(..skipped);
        self.root = Root::Home;
        self
    }

    fn names(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }

    fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// The part below this place's folder, where the path lies in it or is it.
    pub(super) fn lies_in(&self, folder: &Place) -> bool {
        self.root == folder.root && self.parts.starts_with(&folder.parts)
    }
}

/// The path of what follows `file:`, with its escapes decoded (RFC 8089).
fn of_url(rest: Option<&str>) -> String {
    let rest = rest.unwrap_or_default();
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let path = match rest.strip_prefix("//") {
        Some(with_host) => with_host.find('/').and_then(|slash| with_host.get(slash..)),
        None => Some(rest),
    };
    let mut bytes = Vec::new();
    let mut given = path.unwrap_or_default().bytes();
    while let Some(byte) = given.next() {
        let mut ahead = given.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                given = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where a path of small letters begins, and the rest of it.
fn rooted(text: &str) -> (Root, &str) {
    const HOMES: [&str; 7] = [
        "~",
        "$home",
        "${home}",
        "%userprofile%",
        "$env:userprofile",
        "$env:home",
        "%homepath%",
    ];
    for home in HOMES {
        if let Some(rest) = text.strip_prefix(home) {
            // `~name` is the home of another.
            let end = if home == "~" { rest.find('/') } else { Some(0) };
            let below = rest.get(end.unwrap_or(rest.len())..).unwrap_or_default();
            if below.is_empty() || below.starts_with('/') {
                return (Root::Home, below);
            }
        }
    }
    let drive = text.get(..2).is_some_and(is_drive);
    match text.starts_with('/') || drive {
        true => (Root::Absolute, text),
        false => (Root::Relative, text),
    }
}

fn is_drive(part: &str) -> bool {
    matches!(part.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// Whether a part stands for any name.
fn is_any(part: &str) -> bool {
    part.starts_with(['*', '?', '.'])
}

/// Files that a shell reads when it starts.
const SHELL_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
];

/// Folders under which programs keep a user's configuration and state.
const USER_FOLDERS: &[&str] = &[
    ".config",
    "state",
    "share",
    "application support",
    "roaming",
    "local",
    "$xdg_config_home",
    "$xdg_state_home",
    "$xdg_data_home",
    "${xdg_config_home}",
    "${xdg_state_home}",
    "${xdg_data_home}",
    "%appdata%",
    "%localappdata%",
];

/// What level 4 keeps from being written, in words; nothing for other places.
pub(super) fn protected(place: &Place) -> Option<&'static str> {
    let names = place.names();
    if names.contains(&".ssh") {
        return Some("the folder .ssh");
    }
    if is_shell_file(place, &names) {
        return Some("a file that a shell reads when it starts");
    }
    let mut below_git = names.iter().skip_while(|name| !name.ends_with(".git"));
    if below_git.any(|name| *name == "hooks") {
        return Some("hooks of git");
    }
    let mut pairs = names.windows(2);
    let kept = |pair: &[&str]| matches!(pair, [above, "toolspan"] if USER_FOLDERS.contains(above));
    if matches!(place.last(), "toolspan.json" | ".mcp.json") || pairs.any(kept) {
        return Some("the configuration of toolspan");
    }
    None
}

fn is_shell_file(place: &Place, names: &[&str]) -> bool {
    match (place.root, names) {
        (Root::Home, [file]) => SHELL_FILES.contains(file),
        // A bare name may lie in the home folder, which is where a shell may stand.
        (Root::Relative, [up @ .., file]) if up.iter().all(|part| *part == "..") => {
            SHELL_FILES.contains(file)
        }
        (
            Root::Absolute,
            [
                "etc",
                "profile" | "environment" | "bashrc" | "bash.bashrc" | "zshrc",
            ],
        ) => true,
        (Root::Absolute, ["etc", "profile.d" | "zsh", ..]) => true,
        (_, [.., "fish", "config.fish"] | [.., "fish", "conf.d", _]) => true,
        (_, [.., file]) => {
            *file == "profile.ps1"
                || file.ends_with(".powershell_profile.ps1")
                || *file == "microsoft.powershell_profile.ps1"
        }
        _ => false,
    }
}

/// A file of the system, of another program or of the user, that changes what runs or who may.
pub(super) fn decides_what_runs(place: &Place) -> bool {
    let names = place.names();
    // How far up a way out of an unknown folder leads is not known: perhaps to the root.
    if let (Root::Relative, ["..", ..]) = (place.root, names.as_slice()) {
        let below = place.parts.iter().filter(|part| *part != "..").cloned();
        let above = Place {
            root: Root::Absolute,
            parts: below.collect(),
        };
        if decides_what_runs(&above) {
            return true;
        }
    }
    match (place.root, names.as_slice()) {
        (
            Root::Absolute,
            [
                "etc" | "boot" | "sbin" | "bin" | "lib" | "lib64" | "sys" | "proc",
                ..,
            ],
        ) => true,
        (Root::Absolute, ["usr", "bin" | "sbin" | "lib" | "lib64", ..]) => true,
        (Root::Absolute, ["var", "spool", "cron", ..]) => true,
        (Root::Absolute, ["library" | "system", ..]) => true,
        (Root::Absolute, [drive, "windows", ..]) => is_drive(drive),
        (_, [.., "launchagents" | "launchdaemons", _] | [.., "autostart", _]) => true,
        (_, [.., "systemd", "user" | "system", _]) => true,
        (_, [.., ".git", "config"] | [.., ".cursor" | ".vscode", "mcp.json"]) => true,
        (Root::Home, [".gitconfig" | ".npmrc" | ".netrc" | ".pypirc" | ".pam_environment"]) => true,
        (_, [.., "claude_desktop_config.json"]) => true,
        // Of a home that is not under one of the usual folders, or of a copy of one.
        (Root::Absolute, [.., file]) => SHELL_FILES.contains(file),
        _ => false,
    }
}

/// A file that holds what proves who somebody is.
pub(super) fn holds_credentials(place: &Place) -> bool {
    let names = place.names();
    let key =
        |file: &str| file.starts_with("id_") && !file.ends_with(".pub") || file.ends_with(".pem");
    match (place.root, names.as_slice()) {
        (Root::Absolute, ["etc", "shadow" | "gshadow" | "sudoers", ..]) => true,
        (Root::Absolute, ["proc", _, "environ"]) => true,
        (_, [.., ".ssh", file]) => key(file) || is_any(file),
        (_, [.., ".aws", "credentials"] | [.., ".docker", "config.json"]) => true,
        (_, [.., ".kube", "config"] | [.., "gcloud", "application_default_credentials.json"]) => {
            true
        }
        (_, names) if names.contains(&".password-store") => true,
        (_, names) if names.contains(&"private-keys-v1.d") => true,
        (Root::Home, [".netrc" | ".pgpass" | ".git-credentials" | ".pypirc"]) => true,
        (_, [.., "gh", "hosts.yml"] | [.., "keychains", _]) => true,
        _ => false,
    }
}

/// A device that is a whole disk or memory: writing to it writes over file systems.
pub(super) fn is_raw_device(place: &Place) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "mapper", "mem",
        "kmem", "port",
    ];
    match (place.root, place.names().as_slice()) {
        (Root::Absolute, ["dev", device, ..]) => {
            DISKS.iter().any(|disk| device.starts_with(disk)) && !device.starts_with("mdio")
        }
        (Root::Absolute, [".", "physicaldrive0"]) => true,
        _ => place.last().starts_with("physicaldrive"),
    }
}

/// A place whose loss is the loss of a system, a home or all above the place one stands in.
pub(super) fn is_ruin(place: &Place) -> bool {
    const SYSTEM: &[&str] = &[
        "etc",
        "usr",
        "bin",
        "sbin",
        "lib",
        "lib64",
        "var",
        "boot",
        "home",
        "root",
        "opt",
        "sys",
        "proc",
        "dev",
        "srv",
        "users",
        "system",
        "library",
        "applications",
        "windows",
        "program files",
    ];
    let mut names = place.names();
    while names
        .last()
        .is_some_and(|last| matches!(*last, "*" | ".*" | "**" | "*.*" | "{*,.*}"))
    {
        names.pop();
    }
    let stripped = names.len() < place.parts.len();
    match (place.root, names.as_slice()) {
        (Root::Absolute | Root::Home, []) => true,
        (Root::Absolute, [top]) => SYSTEM.contains(top) || is_drive(top),
        (Root::Absolute, [drive, top]) => is_drive(drive) && SYSTEM.contains(top),
        (Root::Home, names) => !names.is_empty() && names.iter().all(|name| *name == ".."),
        (Root::Relative, names) => {
            let above = !names.is_empty() && names.iter().all(|name| *name == "..");
            above && (stripped || names.len() > 1)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Place {
        Place::new(text, None)
    }

    #[test]
    fn a_place_has_one_form_however_it_is_written() {
        let key = place("~/.ssh/authorized_keys");
        for text in [
            "$HOME/.ssh/authorized_keys",
            "${HOME}//.ssh/./authorized_keys",
            "/home/ada/.ssh/authorized_keys",
            "/home/ada/x/../.ssh/authorized_keys",
            "/root/.ssh/authorized_keys",
            "/Users/ada/.SSH/authorized_keys",
            "C:\\Users\\ada\\.ssh\\authorized_keys",
            "file:///home/ada/%2essh/authorized_keys",
            "file://localhost/home/ada/.ssh/authorized_keys",
            "~bob/.ssh/authorized_keys",
            "/proc/self/root/home/ada/.ssh/authorized_keys",
            " ~/.ssh/authorized_keys\n",
            "~/.ssh./authorized_keys ",
        ] {
            assert_eq!(place(text), key, "{text}");
        }
    }

    #[test]
    fn a_relative_path_is_seen_from_its_folder() {
        let folder = place("~/.ssh");
        assert_eq!(Place::new("id_rsa", Some(&folder)), place("~/.ssh/id_rsa"));
        assert_eq!(Place::new("../x", Some(&folder)), place("~/x"));
        assert_eq!(Place::new("/etc/x", Some(&folder)), place("/etc/x"));
    }

    #[test]
    fn ruin_is_a_system_a_home_or_all_above() {
        for text in [
            "/",
            "/*",
            "//",
            "/.",
            "/etc",
            "/usr/",
            "/home",
            "/home/ada",
            "~",
            "~/",
            "~/*",
            "$HOME",
            "/home/*",
            "../../*",
            "../..",
            "/etc/..",
            "C:\\",
            "c:/*",
            "c:/windows",
            "/root",
            "/Users/x",
        ] {
            assert!(is_ruin(&place(text)), "{text}");
        }
        for text in [
            "build",
            "./build",
            "/tmp",
            "/tmp/x",
            "/tmp/*",
            "~/projects/x/target",
            "..",
            "../build",
            "*",
            ".",
            "/workspace",
            "/home/ada/x",
            "/var/tmp/x",
            "/usr/local/x",
            "c:/temp",
        ] {
            assert!(!is_ruin(&place(text)), "{text}");
        }
    }
}
