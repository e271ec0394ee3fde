//! Does a command change who may do what, or what runs by itself?

use super::command::Plain;
use super::place::{self, Place};
use super::rules::{Finding, high, medium};

/// What a command does to rights and protections.
pub(super) fn changes_rights(plain: Plain<'_>, seen: &dyn Fn(&str) -> Place) -> Option<Finding> {
    const RIGHTS: &str = "changes who may do what";
    let group = ["sudo", "wheel", "root", "admin", "docker", "adm", "disk"];
    let operand = |wanted: &[&str]| plain.operands().any(|word| wanted.contains(&word));
    if plain.is(&["chmod"]) {
        let set_id = |mode: &str| {
            let digits = mode.len() == 4 && mode.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
            digits && matches!(mode.as_bytes().first(), Some(b'2' | b'4' | b'6'))
                || mode.contains("+s")
                || mode.contains("=s")
        };
        if plain.operands().next().is_some_and(set_id) {
            return high("lets a program run as its owner");
        }
    }
    if plain.is(&["chmod", "chown", "chgrp"])
        && plain.has("R", &["recursive"])
        && plain
            .operands()
            .skip(1)
            .any(|text| place::is_ruin(&seen(text)))
    {
        return high(RIGHTS);
    }
    let grants = plain.is(&["usermod", "gpasswd", "adduser", "useradd"])
        && (plain
            .operands()
            .chain(plain.values('G', &["groups"]))
            .any(|word| word.split(',').any(|word| group.contains(&word)))
            || plain.values('u', &["uid"]).contains(&"0"));
    if grants || plain.is(&["visudo", "setcap", "chpasswd", "vipw", "passwd"]) {
        return high(RIGHTS);
    }
    if plain.is(&["crontab"]) && !plain.has("l", &[]) {
        return high("sets what runs by itself");
    }
    if plain.is(&["docker", "podman"]) {
        let mut mounts = plain.values('v', &["volume"]).into_iter();
        let whole = mounts
            .any(|mount| mount.starts_with("/:") || mount.starts_with("/var/run/docker.sock"));
        if whole || plain.has("", &["privileged"]) {
            return high("gives a container the whole machine");
        }
    }
    if plain.is(&["setenforce", "ufw", "iptables", "nft", "spctl", "csrutil"])
        && (operand(&["0", "disable", "flush"]) || plain.has("F", &["flush", "master-disable"]))
    {
        return high("switches a protection off");
    }
    if plain.is(&["git"])
        && plain.args.iter().any(|word| {
            word.to_ascii_lowercase().starts_with("core.hookspath")
                || word.to_ascii_lowercase().starts_with("core.sshcommand")
                || word.to_ascii_lowercase().starts_with("core.fsmonitor")
        })
    {
        return high("sets what git runs by itself");
    }
    let changes = plain.privileged
        || plain.is(&[
            "su",
            "runas",
            "insmod",
            "modprobe",
            "rmmod",
            "sysctl",
            "mount",
            "systemctl",
            "launchctl",
            "sudo",
            "doas",
            "pkexec",
        ]);
    let looks = plain.is(&["systemctl"])
        && operand(&["status", "list-units", "is-active", "show", "cat"])
        || plain.is(&["mount", "sysctl"]) && plain.operands().next().is_none() && !plain.privileged;
    if changes && !looks {
        return medium("runs with the rights of another");
    }
    None
}
