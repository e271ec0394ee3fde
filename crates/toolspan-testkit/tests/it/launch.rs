//! Are faults found, built and launched as described?

use std::fs;

use serde_json::json;
use toolspan_testkit::{Fault, Marker, faults_binary};

use crate::session::Session;

#[test]
fn the_program_is_found_beside_the_test() {
    let program = faults_binary();
    assert!(program.is_file(), "{}", program.display());
    let folder = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    assert_eq!(program.parent(), Some(folder.as_path()));
}

#[test]
fn a_fault_behaves_until_the_chosen_call_and_records_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut session = Session::start(&Fault::named("exit_on_call").on_call(2).recording(&record));
    session.call(1, "fine");
    assert_eq!(session.receive()["result"]["content"][0]["text"], "fine");
    session.call(2, "fatal");
    assert_eq!(session.child.wait().unwrap().code(), Some(1));
    assert_eq!(fs::read_to_string(record).unwrap().lines().count(), 2);
}

#[test]
fn a_script_can_be_given_in_place_or_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.jsonl");
    fs::write(&file, "# one step\n{\"exit\": {\"code\": 7}}\n").unwrap();
    for fault in [
        Fault::script([json!({"exit": {"code": 7}})]),
        Fault::file(&file),
    ] {
        let mut session = Session::start(&fault);
        assert_eq!(session.child.wait().unwrap().code(), Some(7), "{fault:?}");
    }
}

#[test]
fn a_config_entry_holds_program_arguments_and_environment() {
    let marker = Marker::new();
    let plain = Fault::honest().config_entry();
    assert_eq!(plain["args"], json!(["--fault", "honest"]));
    assert_eq!(plain["command"], json!(faults_binary()));
    assert_eq!(plain.get("env"), None);
    let marked = Fault::honest().marked(&marker).config_entry();
    let (name, value) = marker.variable();
    assert_eq!(marked["env"], json!({name: value}));
}
