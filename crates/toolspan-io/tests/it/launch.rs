//! What does a child get, and what is said when it cannot be started?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolspan_io::process::{InheritEnv, Launch, SpawnError, spawn};

use crate::operating_system::{Output, parent_env, script};

/// The error for a launch, which must come fast.
fn error(launch: &Launch) -> SpawnError {
    let started = Instant::now();
    let error = spawn(launch).expect_err("it cannot be started");
    assert!(
        started.elapsed() < Duration::from_millis(100),
        "{:?}",
        started.elapsed()
    );
    error
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("the file is written");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode is set");
}

// R01
#[test]
fn a_missing_program_names_each_directory_searched() {
    let error = error(&Launch::new("no-such-program").with_parent_env(parent_env()));
    assert!(matches!(&error, SpawnError::NotFound { searched, .. } if searched.len() == 3));
    let text = error.to_string();
    assert!(text.contains("\"no-such-program\""), "{text}");
    assert!(
        text.contains("searched /usr/local/bin, /usr/bin, /bin"),
        "{text}"
    );
}

#[test]
fn a_program_with_spaces_gets_a_hint() {
    let text = error(&Launch::new("npx -y server").with_parent_env(parent_env())).to_string();
    assert!(text.contains("put arguments in args"), "{text}");
    let text = error(&Launch::new("/no/such/npx -y server")).to_string();
    assert!(text.contains("put arguments in args"), "{text}");
}

#[test]
fn without_a_path_nothing_is_searched() {
    for program in ["sh", ""] {
        let error = error(&Launch::new(program));
        assert!(matches!(&error, SpawnError::NotFound { searched, .. } if searched.is_empty()));
        assert!(
            error.to_string().contains("PATH names no directory"),
            "{error}"
        );
    }
}

#[test]
fn neither_the_current_nor_the_childs_directory_is_searched() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&folder.path().join("tool"), "#!/bin/sh\n", 0o755);
    let launch = Launch::new("tool")
        .with_env([("PATH", "::.:relative")])
        .with_parent_env(parent_env())
        .with_cwd(folder.path());
    assert!(matches!(error(&launch), SpawnError::NotFound { searched, .. } if searched.is_empty()));
}

// R01
#[test]
fn a_directory_is_no_program() {
    assert!(matches!(
        error(&Launch::new("/usr/bin/")),
        SpawnError::IsDirectory { .. }
    ));
}

// R01
#[test]
fn a_file_without_the_right_to_run_is_no_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = folder.path().join("tool");
    write(&tool, "#!/bin/sh\n", 0o644);
    let by_path = error(&Launch::new(&tool));
    assert!(
        matches!(&by_path, SpawnError::NotExecutable { path } if *path == tool),
        "{by_path}"
    );
    let path = folder.path().to_str().expect("a plain path");
    let by_name = error(&Launch::new("tool").with_env([("PATH", path)]));
    assert!(
        matches!(&by_name, SpawnError::NotExecutable { path } if *path == tool),
        "{by_name}"
    );
}

// R01
#[test]
fn a_missing_interpreter_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = folder.path().join("tool");
    write(&tool, "#!/no/such/python -u\nprint()\n", 0o755);
    let error = error(&Launch::new(&tool));
    assert!(
        matches!(&error, SpawnError::BadInterpreter { interpreter, .. } if interpreter == "/no/such/python"),
        "{error}"
    );
}

#[test]
fn a_script_with_the_line_ends_of_windows_shows_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = folder.path().join("tool");
    write(&tool, "#!/bin/sh\r\necho\r\n", 0o755);
    let error = error(&Launch::new(&tool)).to_string();
    assert!(error.contains("/bin/sh\\"), "{error}");
}

#[test]
fn a_bad_working_directory_is_named() {
    let missing = error(&script("true").with_cwd("/no/such/folder")).to_string();
    assert!(
        missing.contains("\"/no/such/folder\" does not exist"),
        "{missing}"
    );
    let file = error(&script("true").with_cwd("/etc/passwd")).to_string();
    assert!(
        file.contains("\"/etc/passwd\" is not a directory"),
        "{file}"
    );
}

#[test]
fn nul_bytes_and_bad_names_are_refused() {
    let argument = error(&Launch::new("/bin/true").with_args(["a", "b\0c"]));
    assert!(matches!(argument, SpawnError::BadArgument { index: 2 }));
    assert!(matches!(
        error(&Launch::new("tr\0ue")),
        SpawnError::BadArgument { index: 0 }
    ));
    let variable = error(&Launch::new("/bin/true").with_env([("A=B", "c")]));
    assert!(matches!(&variable, SpawnError::BadVariable { name, .. } if name == "A=B"));
}

#[test]
fn a_launch_is_printed_without_values_and_arguments() {
    let launch = Launch::new("tool")
        .with_env([("TOKEN", "hush")])
        .with_args(["--key=hush"]);
    let text = format!("{launch:?}");
    assert!(text.contains("TOKEN") && !text.contains("hush"), "{text}");
}

async fn environment_of(launch: Launch) -> Vec<String> {
    let child = spawn(&launch).expect("it starts");
    let mut lines = Output::new(child.stdout).all().await;
    lines.retain(|line| !line.starts_with("TOOLSPAN_COOKIE="));
    lines.sort();
    lines
}

#[tokio::test]
async fn a_child_sees_no_secret_of_the_parent() {
    let pairs = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/someone"),
        ("LC_ALL", "() { :; }"),
        ("AWS_SECRET_ACCESS_KEY", "hush"),
        ("LD_LIBRARY_PATH", "/tmp"),
        ("NODE_OPTIONS", "--require /tmp/x.js"),
    ];
    let parent: BTreeMap<OsString, OsString> = pairs
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let launch = Launch::new("env").with_parent_env(Arc::new(parent));
    let safe = environment_of(launch.clone().with_env([("MINE", "1")])).await;
    assert_eq!(safe, ["HOME=/home/someone", "MINE=1", "PATH=/usr/bin:/bin"]);
    let none = environment_of(launch.clone().with_inherit(InheritEnv::None)).await;
    assert!(none.is_empty(), "{none:?}");
    let named = InheritEnv::Names(vec!["NODE_OPTIONS".to_owned()]);
    assert_eq!(
        environment_of(launch.clone().with_inherit(named)).await,
        ["NODE_OPTIONS=--require /tmp/x.js"]
    );
    assert_eq!(
        environment_of(launch.with_inherit(InheritEnv::All))
            .await
            .len(),
        6
    );
}

// R27
#[tokio::test]
async fn a_child_has_three_descriptors_whatever_the_host_left_open() {
    let leaky = fs::File::open("/etc/passwd").expect("a file");
    rustix::io::fcntl_setfd(&leaky, rustix::io::FdFlags::empty()).expect("it is inheritable");
    let child = crate::operating_system::start(
        "i=0; while [ $i -lt 256 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i+1)); done",
    );
    assert_eq!(Output::new(child.stdout).all().await, ["0", "1", "2"]);
}

/// Signals 32 and 33 belong to the C library, which lets nobody change them.
const C_LIBRARY_SIGNALS: u64 = 0b11 << 31;

#[tokio::test]
async fn a_child_leads_its_own_session_with_no_signal_held_back() {
    let child = crate::operating_system::start(
        "cut -d ' ' -f 1,5,6 /proc/$$/stat; grep -E '^Sig(Blk|Ign)' /proc/self/status; umask; pwd",
    );
    let pid = child.process.pid();
    let lines = Output::new(child.stdout).all().await;
    assert_eq!(lines[0], format!("{pid} {pid} {pid}"));
    assert_eq!(lines[1], "SigBlk:\t0000000000000000");
    let ignored = lines[2].strip_prefix("SigIgn:\t").expect("the mask");
    let ignored = u64::from_str_radix(ignored, 16).expect("a mask");
    assert_eq!(ignored & !C_LIBRARY_SIGNALS, 0, "{ignored:x}");
    let status = fs::read_to_string("/proc/self/status").expect("our own status");
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("Umask:\t"));
    assert_eq!(
        Some(&*lines[3]),
        mask,
        "the host's mask holds for what a server writes"
    );
    #[expect(clippy::disallowed_methods, reason = "what the child must share")]
    let own = std::env::current_dir().expect("a directory");
    assert_eq!(Path::new(&lines[4]), own);
}

#[tokio::test]
async fn a_relative_program_is_taken_from_the_hosts_directory_not_from_the_childs() {
    let folder = tempfile::tempdir_in(".").expect("a folder");
    write(&folder.path().join("tool"), "#!/bin/sh\npwd\n", 0o755);
    let name = folder
        .path()
        .file_name()
        .expect("a name")
        .to_str()
        .expect("plain");
    let launch = Launch::new(format!("./{name}/tool")).with_cwd("/");
    let child = spawn(&launch).expect("it starts");
    assert_eq!(Output::new(child.stdout).all().await, ["/"]);
}
