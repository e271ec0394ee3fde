//! Is a call ever sent a second time without its caller asking for it?

use serde_json::json;
use toolspan::{ErrorKind, Outcome};
use toolspan_testkit::Fault;

use crate::support::one;

#[tokio::test]
async fn a_call_whose_server_died_is_not_sent_again_when_the_server_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let host = one(Fault::named("exit_on_call").recording(&record));
    let host = host.connect().await.unwrap();
    let call = host.call("box__echo", json!({"text": "once"})).await;
    let error = call.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Closed, Outcome::Unknown)
    );
    host.refresh().await.unwrap();
    host.close().await;
    let record = std::fs::read_to_string(record).unwrap();
    let read = |method: &str| record.lines().filter(|line| line.contains(method)).count();
    assert_eq!((read("\"initialize\""), read("\"tools/call\"")), (2, 1));
}
