//! Which places does a command write to, delete or replace?

use super::command::Plain;
use super::place::Place;
use super::shell::Command;

/// Which operands a program writes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    All,
    Last,
}

const WRITERS: &[(&[&str], Operands)] = &[
    (
        &[
            "tee",
            "touch",
            "truncate",
            "rm",
            "rmdir",
            "unlink",
            "shred",
            "mkdir",
            "mv",
            "srm",
            "chattr",
            "patch",
            "new-item",
            "set-content",
            "add-content",
            "out-file",
            "remove-item",
            "move-item",
            "del",
            "erase",
            "rd",
            "move",
            "vi",
            "vim",
            "nvim",
            "nano",
            "emacs",
            "ed",
        ],
        Operands::All,
    ),
    (
        &[
            "cp",
            "install",
            "ln",
            "rsync",
            "scp",
            "link",
            "copy-item",
            "copy",
            "xcopy",
            "robocopy",
            "ditto",
        ],
        Operands::Last,
    ),
];

/// All places that a command writes to, as far as its words say.
pub(super) fn written(command: &Command) -> Vec<Place> {
    let mut targets: Vec<&str> = command
        .redirects
        .iter()
        .filter(|redirect| redirect.writes)
        .map(|redirect| redirect.target.as_str())
        .collect();
    if let Some(plain) = Plain::of(&command.words) {
        targets.extend(by_operands(plain));
        targets.extend(by_options(plain));
    }
    let folder = command.folder.as_deref();
    targets
        .into_iter()
        .filter(|target| !target.is_empty())
        .map(|target| Place::new(target, folder))
        .collect()
}

fn by_operands(plain: Plain<'_>) -> Vec<&str> {
    let in_place =
        plain.is(&["sed", "perl", "ruby", "gsed", "awk", "gawk"]) && plain.has("i", &["in-place"]);
    let way = WRITERS.iter().find(|(names, _)| plain.is(names));
    match way {
        _ if in_place => plain.operands().collect(),
        Some((_, Operands::All)) => plain.operands().collect(),
        Some((_, Operands::Last)) => {
            let folder = plain.values('t', &["target-directory"]);
            let last = plain.operands().next_back();
            folder.into_iter().chain(last).collect()
        }
        None if plain.is(&["dd"]) => {
            let of = plain
                .args
                .iter()
                .filter_map(|word| word.strip_prefix("of="));
            of.collect()
        }
        None => Vec::new(),
    }
}

fn by_options(plain: Plain<'_>) -> Vec<&str> {
    let mut values = Vec::new();
    if plain.is(&["curl", "sort", "gcc", "cc", "clang", "openssl"]) {
        values.extend(plain.values('o', &["output", "out"]));
    }
    if plain.is(&["wget"]) {
        values.extend(plain.values('O', &["output-document"]));
        values.extend(plain.values('P', &["directory-prefix"]));
    }
    if plain.is(&["curl"]) {
        values.extend(plain.values('\0', &["output-dir"]));
    }
    let extracts = plain.is(&["tar", "bsdtar"]) && !plain.has("ct", &["create", "list"]);
    if extracts {
        values.extend(plain.values('C', &["directory"]));
    }
    if plain.is(&["unzip"]) {
        values.extend(plain.values('d', &[]));
    }
    values
}
