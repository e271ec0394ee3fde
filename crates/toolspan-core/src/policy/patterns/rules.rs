//! Which known kinds of harm is a command one of?

use std::collections::HashSet;

use super::command::{Plain, Source, is_decoder, is_fetcher};
use super::place::{self, Place, Root};
use super::shell::{Command, FETCHED, Script};
use super::writes;
use super::{bombs, follow, rights};
use crate::policy::risk::KnownRisk;

/// A kind of harm, how bad it is, and its name for people.
pub(super) type Finding = (KnownRisk, &'static str);

/// Most downloaded files that are kept in mind.
const DOWNLOADS: usize = 64;

/// The worst that a script does.
pub(super) fn worst(script: &Script) -> Option<Finding> {
    let mut worst = None;
    if script.unread {
        note(
            &mut worst,
            high("the command is longer or nests deeper than is read"),
        );
    }
    let mut seen_so_far = Seen::default();
    let senders = senders(script);
    for command in &script.commands {
        for place in writes::written(command) {
            note(&mut worst, of_written(&place));
        }
        let Some(plain) = Plain::of(&command.words) else {
            continue;
        };
        note(&mut worst, runs_foreign_text(command, plain, &seen_so_far));
        let seen = |text: &str| Place::new(text, command.folder.as_deref());
        note(&mut worst, deletes(plain, &seen));
        note(&mut worst, touches_disks(plain, &seen));
        note(&mut worst, rights::changes_rights(plain, &seen));
        note(&mut worst, opens_a_way_in(command, plain));
        note(&mut worst, reads_credentials(command, plain, &senders));
        note(&mut worst, hurts_the_system(plain));
        seen_so_far.take(command, plain);
    }
    worst
}

/// What the commands before one left behind.
#[derive(Default)]
struct Seen {
    /// Files that came from the network.
    downloads: Vec<Place>,
    /// Pipelines that carry text which nobody here wrote.
    foreign: HashSet<usize>,
}

impl Seen {
    fn downloaded(&self, text: &str, command: &Command) -> bool {
        !self.downloads.is_empty()
            && self
                .downloads
                .contains(&Place::new(text, command.folder.as_deref()))
    }

    fn take(&mut self, command: &Command, plain: Plain<'_>) {
        let from_file =
            || plain.is(&["cat"]) && plain.operands().any(|text| self.downloaded(text, command));
        if is_fetcher(plain) || is_decoder(plain) || from_file() {
            self.foreign.insert(command.pipeline);
        }
        remember_downloads(&mut self.downloads, command, plain);
    }
}

/// The pipelines that send something away.
fn senders(script: &Script) -> HashSet<usize> {
    let sends = |command: &&Command| Plain::of(&command.words).is_some_and(is_fetcher);
    let senders = script.commands.iter().filter(sends);
    senders.map(|command| command.pipeline).collect()
}

/// The worst that a text alone shows, whatever its commands are.
pub(super) fn of_text(text: &str) -> Option<Finding> {
    bombs::is_fork_bomb(text).then_some((KnownRisk::High, "starts itself without end"))
}

pub(super) fn note(worst: &mut Option<Finding>, finding: Option<Finding>) {
    let risk = |finding: &Option<Finding>| finding.map(|(risk, _)| risk);
    if risk(&finding) > risk(worst) {
        *worst = finding;
    }
}

pub(super) fn high(words: &'static str) -> Option<Finding> {
    Some((KnownRisk::High, words))
}

pub(super) fn medium(words: &'static str) -> Option<Finding> {
    Some((KnownRisk::Medium, words))
}

/// What it means to write to a place.
pub(super) fn of_written(place: &Place) -> Option<Finding> {
    let null = |place: &Place| matches!(place.parts.as_slice(), [dev, name] if dev == "dev" && matches!(name.as_str(), "null" | "stdout" | "stderr" | "tty"));
    match place {
        place if place.root == Root::Absolute && null(place) => None,
        place
            if place.parts.first().is_some_and(|part| part == "dev")
                && place
                    .parts
                    .get(1)
                    .is_some_and(|part| matches!(part.as_str(), "tcp" | "udp")) =>
        {
            high("opens a connection from the shell")
        }
        place if place::is_raw_device(place) => high("writes over a disk"),
        place if place::protected(place).is_some() => high(
            "writes to what starts with a shell, a login or a commit, or to our own configuration",
        ),
        place if place::decides_what_runs(place) => {
            high("writes to a file that decides what runs or who may")
        }
        _ => None,
    }
}

fn runs_foreign_text(command: &Command, plain: Plain<'_>, seen: &Seen) -> Option<Finding> {
    const FETCHES: &str = "runs a text that comes from the network or out of an encoding";
    let downloaded = |text: &str| seen.downloaded(text, command);
    if plain.executes_input() && command.piped && seen.foreign.contains(&command.pipeline) {
        return high(FETCHES);
    }
    let mut reads = command.redirects.iter().filter(|redirect| !redirect.writes);
    if plain.executes_input()
        && reads.any(|read| downloaded(&read.target) || read.target.contains(FETCHED))
    {
        return high(FETCHES);
    }
    let foreign = |text: &str| text.contains(FETCHED) || downloaded(text);
    let runs = match plain.source() {
        Some(Source::Text(text) | Source::File(text)) if plain.is_interpreter() => foreign(text),
        _ => false,
    };
    let first = plain.args.first().map_or("", String::as_str);
    let runs = runs
        || foreign(plain.program)
        || plain.is(&["source", "."]) && foreign(first)
        || plain.is(&["eval", "iex", "invoke-expression"])
            && plain.args.iter().any(|word| word.contains(FETCHED))
        || command
            .input
            .as_ref()
            .is_some_and(|input| input.contains(FETCHED))
            && plain.executes_input();
    let inline = match plain.source() {
        Some(Source::Text(code)) if plain.is_interpreter() && !plain.is_shell() => {
            code_fetches_and_runs(code)
        }
        _ => false,
    };
    if runs || inline { high(FETCHES) } else { None }
}

/// Whether code of some language fetches a text and runs it.
pub(super) fn code_fetches_and_runs(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let fetches = has(&[
        "urlopen",
        "requests.get",
        "urllib",
        "http.get",
        "https.get",
        "fetch(",
        "lwp::",
        "open-uri",
        "net::http",
        "file_get_contents('http",
        "file_get_contents(\"http",
        "downloadstring",
        "invoke-webrequest",
        "iwr ",
        "irm ",
        "b64decode",
        "frombase64string",
        "atob(",
    ]);
    let runs = has(&[
        "exec(",
        "eval(",
        "eval ",
        "system(",
        "subprocess",
        "child_process",
        "iex",
        "invoke-expression",
        "popen(",
        "new function(",
    ]);
    fetches && runs
}

fn remember_downloads(downloads: &mut Vec<Place>, command: &Command, plain: Plain<'_>) {
    if !is_fetcher(plain) || downloads.len() >= DOWNLOADS {
        return;
    }
    let folder = command.folder.as_deref();
    let mut places = writes::written(command);
    let keeps_name = plain.is(&["wget"]) && plain.values('O', &["output-document"]).is_empty()
        || plain.is(&["curl"]) && plain.has("O", &["remote-name"]);
    if keeps_name {
        let names = plain.operands().filter_map(|url| {
            let path = url.split(['?', '#']).next()?;
            path.rsplit('/').next()
        });
        places.extend(names.map(|name| Place::new(name, folder)));
    }
    downloads.extend(places);
    downloads.truncate(DOWNLOADS);
}

fn deletes(plain: Plain<'_>, seen: &dyn Fn(&str) -> Place) -> Option<Finding> {
    const RUIN: &str = "deletes a system, a home or all above the place it stands in";
    let ruin = |mut texts: Box<dyn Iterator<Item = &str> + '_>| {
        texts.any(|text| place::is_ruin(&seen(text)))
    };
    if plain.is(&[
        "rm",
        "srm",
        "del",
        "erase",
        "rd",
        "rmdir",
        "remove-item",
        "ri",
        "trash",
    ]) {
        let lower = |option: &str| option.to_ascii_lowercase();
        let recursive = plain.has("rR", &["recursive", "no-preserve-root"])
            || plain.args.iter().any(|word| lower(word) == "/s")
            || plain
                .options()
                .any(|option| "-recurse".starts_with(&lower(option)));
        let targets = || plain.operands().filter(|word| !is_switch(plain, word));
        let all = |text: &str| matches!(text, "*" | "./*" | "." | "./");
        return match recursive {
            true if ruin(Box::new(targets())) => high(RUIN),
            false if ruin(Box::new(targets().filter(|text| text.ends_with('*')))) => high(RUIN),
            true if targets().any(|text| text.starts_with('$')) => {
                medium("deletes what an unknown variable names")
            }
            true if targets().any(all) => medium("deletes all in the place it stands in"),
            true if plain.fed && targets().next().is_none() => {
                medium("deletes what another command names")
            }
            _ => None,
        };
    }
    if plain.is(&["find"]) {
        let acts = plain.args.iter().any(|word| word == "-delete")
            || plain.args.windows(2).any(|pair| matches!(pair, [exec, program] if exec.starts_with("-exec") && matches!(program.as_str(), "rm" | "/bin/rm" | "shred" | "unlink")));
        let roots = plain.args.iter().map(String::as_str);
        let roots = roots.take_while(|word| !word.starts_with('-') && !matches!(*word, "(" | "!"));
        let narrow = [
            "-name", "-iname", "-path", "-empty", "-mtime", "-user", "-regex",
        ];
        let narrowed = plain
            .args
            .iter()
            .any(|word| narrow.contains(&word.as_str()));
        return match acts && ruin(Box::new(roots)) {
            true if narrowed => medium("deletes files all over a system or a home"),
            true => high(RUIN),
            false => None,
        };
    }
    if plain.is(&["mv", "move"]) && plain.operands().next_back().is_some() {
        let from = plain.operands().rev().skip(1);
        return if ruin(Box::new(from)) {
            high(RUIN)
        } else {
            None
        };
    }
    if plain.is(&["git"]) {
        let has = |words: &[&str]| {
            words
                .iter()
                .all(|word| plain.args.iter().any(|arg| arg == word))
        };
        let forced = plain.has("f", &["force"]);
        let loses =
            has(&["reset", "--hard"]) || has(&["clean"]) && forced || has(&["push"]) && forced;
        return if loses {
            medium("throws work away in git")
        } else {
            None
        };
    }
    None
}

/// `/s` and the like of Windows.
fn is_switch(plain: Plain<'_>, word: &str) -> bool {
    plain.is(&["del", "erase", "rd", "rmdir"]) && word.len() == 2 && word.starts_with('/')
}

fn touches_disks(plain: Plain<'_>, seen: &dyn Fn(&str) -> Place) -> Option<Finding> {
    const DISK: &str = "writes over a disk";
    let device = || {
        let mut places = plain.operands().map(seen);
        places.any(|place| place::is_raw_device(&place))
    };
    let words = |words: &[&str]| {
        words
            .iter()
            .any(|word| plain.args.iter().any(|arg| arg.eq_ignore_ascii_case(word)))
    };
    let wipes = plain.name.to_ascii_lowercase().starts_with("mkfs")
        || plain.is(&[
            "mke2fs",
            "mkswap",
            "blkdiscard",
            "pvremove",
            "vgremove",
            "lvremove",
            "wipefs",
        ])
        || plain.is(&["fdisk", "gdisk", "sfdisk", "sgdisk", "cfdisk", "parted"])
            && device()
            && !plain.has("l", &["list", "print"])
            && !words(&["print"])
        || plain.is(&["shred", "badblocks", "cp"]) && {
            let mut last = plain.operands().next_back().map(seen).into_iter();
            last.any(|place| place::is_raw_device(&place))
        }
        || plain.is(&["hdparm"])
            && plain
                .options()
                .any(|option| option.starts_with("--security-erase"))
        || plain.is(&["nvme"]) && words(&["format", "sanitize"])
        || plain.is(&["cryptsetup"]) && words(&["luksFormat", "erase", "luksErase"])
        || plain.is(&["zpool"]) && words(&["destroy"])
        || plain.is(&["diskutil"])
            && words(&["eraseDisk", "eraseVolume", "zeroDisk", "partitionDisk"])
        || plain.is(&["format"])
            && plain
                .operands()
                .any(|word| word.len() == 2 && word.ends_with(':'))
        || plain.is(&["format-volume", "clear-disk", "initialize-disk"]);
    if wipes { high(DISK) } else { None }
}

fn opens_a_way_in(command: &Command, plain: Plain<'_>) -> Option<Finding> {
    const SHELL: &str = "gives a shell to whoever connects";
    let netcat = plain.is(&["nc", "ncat", "netcat"]) && plain.has("ec", &["exec", "sh-exec"]);
    let socat = plain.is(&["socat"])
        && plain.args.iter().any(|word| {
            let word = word.to_ascii_lowercase();
            word.starts_with("exec:") || word.starts_with("system:")
        });
    let reads_net = command.redirects.iter().any(|redirect| {
        redirect.target.starts_with("/dev/tcp/") || redirect.target.starts_with("/dev/udp/")
    });
    if netcat || socat || reads_net {
        return high(SHELL);
    }
    let encoded = plain.is_power_shell()
        && plain.options().any(|option| {
            let option = option.to_ascii_lowercase();
            option.len() > 1
                && "-encodedcommand".starts_with(&option)
                && option != "-"
                && option != "-ex"
                && option.starts_with("-e")
        });
    if encoded {
        return high("runs an encoded text");
    }
    None
}

fn reads_credentials(
    command: &Command,
    plain: Plain<'_>,
    senders: &HashSet<usize>,
) -> Option<Finding> {
    let folder = command.folder.as_deref();
    let secret = |text: &str| {
        let text = text.trim_start_matches('@');
        place::holds_credentials(&Place::new(text, folder))
    };
    // Of `-F f=@path` and `-d@path`, too.
    let inner = |word: &str| word.split_once('@').is_some_and(|(_, path)| secret(path));
    let reads = plain.args.iter().any(|word| secret(word) || inner(word))
        || command
            .redirects
            .iter()
            .any(|redirect| !redirect.writes && secret(&redirect.target));
    if !reads
        || plain.is(&[
            "chmod",
            "ls",
            "stat",
            "ssh-add",
            "ssh",
            "scp",
            "ssh-keygen",
            "test",
            "[",
        ]) && !is_fetcher(plain)
    {
        return None;
    }
    match senders.contains(&command.pipeline) {
        true => high("sends credentials away"),
        false => medium("reads credentials"),
    }
}

fn hurts_the_system(plain: Plain<'_>) -> Option<Finding> {
    let all =
        plain.is(&["kill"]) && plain.args.iter().any(|word| word == "-1") && plain.args.len() > 1;
    if all {
        return high("ends all processes");
    }
    let stops = plain.is(&[
        "shutdown",
        "reboot",
        "halt",
        "poweroff",
        "stop-computer",
        "restart-computer",
    ]) || plain.is(&["init", "telinit"])
        && plain
            .args
            .iter()
            .any(|word| matches!(word.as_str(), "0" | "6"));
    if stops {
        return medium("stops the machine");
    }
    let erases_ruin = plain.is(&["python", "python3", "perl", "ruby", "node"])
        && plain.source().is_some_and(|source| match source {
            Source::Text(code) => code_deletes_ruin(code),
            _ => false,
        });
    if erases_ruin {
        return high("deletes a system or a home");
    }
    None
}

/// Whether code deletes a place of [`place::is_ruin`] that it names.
pub(super) fn code_deletes_ruin(code: &str) -> bool {
    let deletes = ["rmtree", "rm_rf", "rmSync", "rm_r", "rimraf", "remove_tree"];
    deletes.iter().any(|word| code.contains(word))
        && follow::literals(code).any(|literal| place::is_ruin(&Place::new(literal, None)))
}
