//! What becomes of a call whose server turns out to be dead before one byte of it was sent?

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolspan_core::execute::CallOptions;
use toolspan_core::{ErrorKind, Outcome, ToolBox};
use toolspan_mcp::transport::memory::STREAM_BYTES;

use crate::support::connect;

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_its_server_dead_is_sent_to_a_new_one() {
    let (tools, mut server, peer) = connect().await;
    // Nothing of the toolbox has run since, so it does not know yet.
    drop(peer);
    assert_eq!(tools.toolbox.state().as_str(), "ready");
    let serve = async {
        let mut peer = server.ready().await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
        peer
    };
    let began = Instant::now();
    let (text, _peer) = tokio::join!(tools.echo("again"), serve);
    assert_eq!(text.unwrap(), "again");
    assert_eq!(server.started(), 2);
    assert!(began.elapsed() < Duration::from_secs(1), "no pause");
}

#[tokio::test(start_paused = true)]
async fn all_calls_that_find_their_server_dead_share_one_new_one() {
    let (tools, mut server, peer) = connect().await;
    drop(peer);
    let serve = async {
        let mut peer = server.ready().await;
        for _ in 0..20 {
            let call = peer.expect("tools/call").await;
            peer.echo(&call).await;
        }
        peer
    };
    let calls = futures_util::future::join_all((0..20).map(|_| tools.echo("x")));
    let (calls, _peer) = tokio::join!(calls, serve);
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    assert_eq!(server.started(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_have_arrived_is_never_sent_again() {
    let (tools, server, mut peer) = connect().await;
    let die = async {
        peer.expect("tools/call").await;
        drop(peer);
    };
    let (result, ()) = tokio::join!(tools.echo("once"), die);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Closed, Outcome::Unknown)
    );
    assert_eq!(server.started(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_found_its_server_dead_keeps_its_limit() {
    let (tools, mut server, peer) = connect().await;
    drop(peer);
    let limit = Duration::from_secs(2);
    let began = Instant::now();
    let silent = async {
        let mut peer = server.accept().await;
        peer.expect("initialize").await;
        peer
    };
    let (result, _peer) = tokio::join!(tools.echo_within("x", limit), silent);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Timeout, Outcome::NotSent)
    );
    assert_eq!(began.elapsed(), limit);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_found_its_server_dead_can_be_cancelled() {
    let (tools, mut server, peer) = connect().await;
    drop(peer);
    let options = CallOptions::default();
    let cancel = tokio_util::sync::CancellationToken::new();
    let call = tools.echo_with("x", options.with_cancel(cancel.clone()));
    let cancelled = async {
        let mut peer = server.accept().await;
        peer.expect("initialize").await;
        cancel.cancel();
        peer
    };
    let (result, _peer) = tokio::join!(call, cancelled);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::NotSent)
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_its_user_closes_on_starts_nothing() {
    let (tools, server, _peer) = connect().await;
    let fills = "x".repeat(2 * STREAM_BYTES);
    let calls = futures_util::future::join(tools.echo(&fills), tools.echo("queued"));
    let (results, ()) = futures_util::future::join(calls, tools.toolbox.close()).await;
    let outcomes = [results.0, results.1].map(|result| {
        let error = result.unwrap_err();
        assert_eq!(error.message(), "the toolbox was closed");
        error.outcome()
    });
    assert_eq!(outcomes, [Outcome::Unknown, Outcome::NotSent]);
    assert_eq!(server.started(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_new_server_is_dead_too_fails() {
    let (tools, mut server, peer) = connect().await;
    drop(peer);
    let die = async {
        drop(server.ready().await);
    };
    // The server's end comes first, each time that both are looked at.
    let ((), result) = futures_util::future::join(die, tools.echo("x")).await;
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Closed, Outcome::NotSent)
    );
    assert_eq!(server.started(), 2, "never a third time");
}

/// With processes.
#[cfg(target_os = "linux")]
mod processes {
    use toolspan_testkit::{Barrier, Fault, kill, pid_alive, wait_until};

    use super::*;
    use crate::support::case::Case;
    use crate::support::told;

    const SOON: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_call_after_the_death_of_its_process_is_answered_by_a_new_one() {
        let case = Case::started(Fault::honest()).await;
        for _ in 0..5 {
            let pid = case.tools.toolbox.pid().unwrap();
            kill(pid);
            // Waits without a turn of the runtime, so that nobody hears of it before the call.
            wait_until(SOON, "the process is gone", || !pid_alive(pid));
            assert_eq!(case.tools.toolbox.state().as_str(), "ready");
            case.call().await.unwrap();
        }
        let notes = case.tools.notes();
        assert!(notes.contains(&"restarted 5 times".to_owned()), "{notes:?}");
        case.finish().await;
    }

    /// Says which steps the next start plays.
    fn play(file: &Path, steps: &[Value]) {
        let lines: Vec<String> = steps.iter().map(Value::to_string).collect();
        std::fs::write(file, lines.join("\n")).unwrap();
    }

    #[tokio::test]
    async fn a_server_that_closes_its_input_is_gone_although_its_process_lives() {
        let folder = tempfile::tempdir().unwrap();
        let (file, barrier) = (folder.path().join("steps"), Barrier::new());
        let listed = [
            json!("handshake"),
            json!("close_stdin"),
            barrier.reached_step(),
        ];
        play(&file, &listed);
        let case = Case::started(Fault::file(&file)).await;
        barrier.reached(SOON).await;
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "deaf", "version": "1"},
        });
        let deaf = [
            json!({"expect": "initialize"}),
            json!("close_stdin"),
            json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": hello}}),
        ];
        play(&file, &deaf);
        let error = case.call().await.unwrap_err();
        play(&file, &[json!("serve")]);
        case.call().await.expect("a new server answers");
        // Whether the server had written its last words by then is chance.
        insta::assert_snapshot!(told(&error.with_stderr("")));
        case.finish().await;
    }
}
