//! Is a secret ever shown? Many are planted, servers say back all they get, and everything that the
//! program prints is searched for each.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Value, json};

use crate::cli::{Cli, Ran};
use crate::remote_echo::Echo;

/// How every secret begins and ends, so that a part of one is found, too.
const BEGIN: &str = "sEcr3t";
const END: &str = "Zx9Qp7Lm4";

/// The secret of this number.
fn secret(number: u8) -> String {
    format!("{BEGIN}{number:02}{END}")
}

/// One with characters that JSON, URLs and forms write otherwise.
fn odd_secret(number: u8) -> String {
    format!("{BEGIN}{number:02}\"/+ &%{END}")
}

/// What must not be printed: both ends of a secret, as they are and as base64 shows them at each
/// alignment.
fn forbidden() -> Vec<String> {
    let mut forbidden = vec![BEGIN.to_owned(), END.to_owned()];
    for end in [BEGIN, END] {
        for offset in 0..3_usize {
            let shifted = [vec![0; offset], end.as_bytes().to_vec()].concat();
            let encoded = STANDARD_NO_PAD.encode(&shifted);
            let whole = (offset * 8).div_ceil(6)..shifted.len() * 8 / 6;
            forbidden.push(encoded[whole].to_owned());
        }
    }
    forbidden
}

#[track_caller]
fn assert_clean(ran: &Ran, what: &[&str]) {
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    for part in forbidden() {
        assert!(
            !printed.contains(&part),
            "{part} is shown by {what:?}: {ran}"
        );
    }
}

/// Servers that say back what they get, each with secrets of its own. What the first letter of a key
/// promises is checked: `m` masks something when it is called, `r` refuses to be reached.
fn servers(echo: &Echo) -> Value {
    let basic = STANDARD.encode(format!("me:{}", secret(16)));
    json!({
        "m-header": {"url": echo.url("/fails/plain"), "headers": {"X-Api-Key": secret(1)}},
        "m-cookie": {"url": echo.url("/forbids/plain"), "headers": {"Cookie": format!("a=b; id={}", secret(2))}},
        "m-base64": {"url": echo.url("/fails/base64"), "headers": {"Authorization": format!("Bearer {}", secret(3))}},
        "m-percent": {"url": echo.url("/fails/percent"), "headers": {"X-Odd": odd_secret(4)}},
        "m-quoted": {"url": echo.url("/odd/quoted"), "headers": {"X-Odd": odd_secret(5)}},
        "m-bearer": {"url": echo.url("/refuses/plain"), "auth": secret(6)},
        "m-variable": {"url": echo.url("/error/plain"), "headers": {"X-Token": "${PLANTED}"}},
        "m-default": {"url": echo.url("/logs/plain"), "headers": {"X-Token": format!("${{NOT_SET:-{}}}", secret(8))}},
        "m-query": {"url": echo.url(&format!(
            "/fails/plain?token={}&key={}&secret={}&sig={}&code={}&api_key={}",
            secret(9), secret(10), secret(11), secret(12), secret(13), secret(14),
        ))},
        "m-escaped": {"url": echo.url(&format!("/odd/base64?access_token={BEGIN}15%2F%2B{END}"))},
        "m-basic": {"url": echo.url("/decodes"), "headers": {"Authorization": format!("Basic {basic}")}},
        "r-moved": {"type": "http", "url": echo.url("/moved")},
        "r-endpoint": {"type": "sse", "url": echo.url("/endpoint")},
        "m-proxied": {
            "url": "http://mcp.internal/mcp",
            "proxy": format!("http://me:{}@{}", secret(20), echo.address()),
        },
        "r-userinfo": {"url": format!("http://me:{}@127.0.0.1:9/mcp", secret(21))},
        "m-stdio": {
            "command": "/bin/sh",
            "args": ["-c", "echo \"$API_TOKEN $DB_PASSWORD $(printf %s \"$API_TOKEN\" | base64)\" >&2; exit 1"],
            "env": {"API_TOKEN": secret(22)},
            "envFile": "planted.env",
        },
        // A launcher that is told in its arguments whom it reaches, and how.
        "m-launcher": {
            "command": "/bin/sh",
            "args": [
                "-c", "echo \"$@\" >&2; exit 1", "launcher",
                format!("https://example.com/mcp?api_key={}", secret(29)),
                "--header", format!("Authorization: Bearer {}", secret(30)),
                "-e", format!("API_TOKEN={}", secret(31)),
            ],
        },
    })
}

/// The servers in a config, and the variables that it names.
fn planted(echo: &Echo) -> Cli {
    let cli = Cli::with_servers(servers(echo));
    cli.write("planted.env", &format!("DB_PASSWORD={}\n", secret(23)));
    cli
}

fn run(cli: &Cli, arguments: &[&str]) -> Ran {
    let mut command = cli.command(arguments);
    let output = command.env("PLANTED", secret(7)).output();
    let ran = cli.ran(output.expect("the program starts"));
    assert_clean(&ran, arguments);
    ran
}

fn echo() -> Echo {
    let elsewhere = format!(
        "http://me:{}@198.51.100.7/x?token={}",
        secret(17),
        secret(18)
    );
    Echo::start(&elsewhere, &secret(19))
}

#[test]
fn no_planted_secret_is_printed_by_any_command_about_all_servers() {
    let echo = echo();
    let cli = planted(&echo);
    let commands = [
        vec!["tools"],
        vec!["status"],
        vec!["doctor"],
        vec!["config", "show"],
        vec!["config", "check"],
    ];
    for command in commands {
        for more in [&[][..], &["--json"], &["-vv"], &["-vv", "--json"]] {
            let arguments = [&command[..], more].concat();
            let ran = run(&cli, &arguments);
            assert!(
                !ran.stdout.is_empty() || !ran.stderr.is_empty(),
                "{arguments:?}"
            );
        }
    }
}

#[test]
fn no_planted_secret_is_printed_by_a_call_and_what_hides_it_shows() {
    let echo = echo();
    let cli = planted(&echo);
    let all = servers(&echo);
    for key in all.as_object().unwrap().keys() {
        let tool = format!("{key}__echo");
        for more in [&[][..], &["-vv", "--json"]] {
            let arguments = [&["call", &*tool][..], more].concat();
            let ran = run(&cli, &arguments);
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            if key.starts_with('m') {
                assert!(
                    printed.contains("[redacted]"),
                    "{key} says nothing back: {ran}"
                );
            }
            assert!(ran.code.is_some_and(|code| code != 0), "{ran}");
        }
    }
    // All of them did go out.
    let seen = echo.seen();
    let sent = (1..=14).filter(|number| ![4, 5].contains(number));
    for secret in sent
        .map(secret)
        .chain([odd_secret(4), odd_secret(5), secret(19)])
    {
        assert!(seen.contains(&secret), "{secret} was not sent:\n{seen}");
    }
    let proxy = STANDARD.encode(format!("me:{}", secret(20)));
    assert!(seen.contains(&proxy), "the proxy was not told:\n{seen}");
}

#[test]
fn no_planted_secret_of_the_command_line_is_printed() {
    let echo = echo();
    let cli = Cli::bare();
    let header = format!("X-Api-Key: {}", secret(24));
    let query = echo.url(&format!("/fails/plain?token={}", secret(25)));
    let user = format!("http://me:{}@127.0.0.1:9/mcp", secret(26));
    let refused = format!("{}: value", odd_secret(27));
    let no_url = secret(28);
    let cases = [
        vec!["--url", &query, "--header", &header],
        vec!["--url", &user],
        vec!["--url", &query, "--header", &refused],
        vec!["--url", &no_url],
    ];
    for (case, sent) in cases.iter().zip([true, false, false, false]) {
        for command in [
            &["tools"][..],
            &["status", "--json"],
            &["doctor", "-vv"],
            &["config", "show"],
            &["call", "x__echo"],
        ] {
            let ran = run(&cli, &[&case[..], command].concat());
            let printed = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!printed.is_empty(), "{case:?} {command:?}");
            if sent && command != ["call", "x__echo"] {
                assert!(printed.contains("[redacted]"), "{command:?}: {ran}");
            }
        }
    }
    let seen = echo.seen();
    assert!(
        seen.contains(&secret(24)) && seen.contains(&secret(25)),
        "{seen}"
    );
}
