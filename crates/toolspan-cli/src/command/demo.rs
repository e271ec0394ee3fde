//! `toolspan demo`: what does it look like when it works? Everything real, nothing installed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use tokio::sync::oneshot;
use toolspan::config::{Resolved, StdioServer, ToolboxConfig, Transport};
use toolspan::{Error, ErrorKind, Host, HostBuilder, Phase, Result, blocking};

use crate::demo::native::{CountWordsTool, shout};
use crate::demo::stage::{Call, Stage, shown};
use crate::exit::Code;
use crate::session::Session;

/// Calls that run at once in the part about asynchronous code.
const AT_ONCE: usize = 3;

/// Runs the demo: synchronous calls, asynchronous calls, errors.
pub(super) async fn run(session: &Session) -> Result<Code> {
    let began = Instant::now();
    let stage = Arc::new(Stage::new(
        Arc::clone(&session.output),
        session.interrupt.token(),
    ));
    let config = config()?;
    let tools = on_a_thread({
        let (stage, config) = (Arc::clone(&stage), config.clone());
        move || synchronous(&stage, config)
    })
    .await?;
    let host = builder(config).connect().await?;
    let together = asynchronous(&stage, &host).await;
    host.close().await;
    stage.finish(tools, (AT_ONCE, together?), began.elapsed());
    Ok(Code::DONE)
}

/// The demo's server: this program once more, as a child process.
fn config() -> Result<Resolved> {
    let failed = |why: String| {
        let message = format!("failed to find this program's own file: {why}");
        Error::new(ErrorKind::Internal, Phase::Config, message)
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let program = program
        .to_str()
        .ok_or_else(|| failed("its path is not UTF-8".to_owned()))?;
    let server = StdioServer::new(program).with_args(["demo-server"]);
    let mut config = Resolved::default();
    config
        .toolboxes
        .push(ToolboxConfig::new("demo", Transport::Stdio(server)));
    Ok(config)
}

fn builder(config: Resolved) -> HostBuilder {
    Host::builder()
        .config(config)
        .tool(CountWordsTool)
        .tool(shout())
}

/// Runs synchronous code on a thread of its own, where it may wait. After a signal its calls end as
/// cancelled, so it ends soon.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let lost = |why: &str| Error::new(ErrorKind::Internal, Phase::Call, why);
    let (sender, receiver) = oneshot::channel();
    let run = move || drop(sender.send(work()));
    std::thread::Builder::new()
        .name("toolspan-demo".to_owned())
        .spawn(run)
        .map_err(|error| lost(&format!("failed to start a thread: {error}")))?;
    receiver
        .await
        .map_err(|_| lost("the synchronous part of the demo panicked"))?
}

/// Lists the tools and calls them from code without `async`. Gives how many tools there are.
fn synchronous(stage: &Stage, config: Resolved) -> Result<usize> {
    stage.heading("One host: an MCP server in a child process, and two native tools");
    let host = blocking::Host::connect_builder(builder(config))?;
    let snapshot = host.snapshot();
    stage.tools(&snapshot);
    stage.heading("Calls from synchronous code");
    let text = "the quick brown fox jumps over the lazy dog";
    let calls = [
        ("demo__echo", json!({"text": "Hello!"})),
        ("demo__add", json!({"a": 19.5, "b": 22.5})),
        ("demo__now", json!({})),
        ("demo__picture", json!({})),
        ("demo__fail", json!({})),
        ("count_words", json!({"text": text, "shortest": 4})),
        ("shout", json!({"text": "that was quick"})),
    ];
    let ended = calls.into_iter().map(Call::from).try_for_each(|call| {
        let started = Instant::now();
        let observation = host.call_with(call.tool, call.arguments.clone(), stage.options())?;
        stage.answered(&call, &observation, started.elapsed());
        Ok(())
    });
    let closed = host.close();
    ended.and(closed).map(|()| snapshot.tools().len())
}

/// Calls from asynchronous code, some at once, and calls that cannot work. Gives how long the ones
/// at once took together.
async fn asynchronous(stage: &Stage, host: &Host) -> Result<Duration> {
    stage.heading("Calls from asynchronous code");
    let calls = [
        ("demo__add", json!({"a": 1, "b": 2})),
        ("shout", json!({"text": "async"})),
    ];
    for call in calls.map(Call::from) {
        let started = Instant::now();
        let observation = call.run(host, stage.options()).await?;
        stage.answered(&call, &observation, started.elapsed());
    }
    let together = at_once(stage, host).await?;
    stage.heading("Errors say what to do");
    let calls = [
        ("demo__add", json!({"a": "nineteen", "c": 1})),
        ("demo__ad", json!({})),
    ];
    for call in calls.map(Call::from) {
        match call.run(host, stage.options()).await {
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) => stage.refused(&call, &error),
            Ok(_) => {
                let message = format!("{} took what it must refuse", call.tool);
                return Err(Error::new(ErrorKind::Internal, Phase::Validate, message));
            }
        }
    }
    Ok(together)
}

/// Slow calls at once on one server: together they take as long as one.
async fn at_once(stage: &Stage, host: &Host) -> Result<Duration> {
    let reports = Arc::new(AtomicUsize::new(0));
    let call = Call::from(("demo__countdown", json!({"from": 3})));
    let timed = || {
        let reports = Arc::clone(&reports);
        let note = move |_| {
            reports.fetch_add(1, Ordering::Relaxed);
        };
        let options = stage.options().with_progress(note);
        let running = call.run(host, options);
        async move {
            let started = Instant::now();
            let observation = running.await?;
            Ok::<_, Error>((observation, started.elapsed()))
        }
    };
    let started = Instant::now();
    let ended = join_all((0..AT_ONCE).map(|_| timed())).await;
    let together = started.elapsed();
    let mut one_by_one = Duration::ZERO;
    for ended in ended {
        let (observation, took) = ended?;
        one_by_one += took;
        stage.answered(&call, &observation, took);
    }
    stage.remark(&format!(
        "{AT_ONCE} at once took {}, not {}; {} progress reports came in between",
        shown(together),
        shown(one_by_one),
        reports.load(Ordering::Relaxed),
    ));
    Ok(together)
}
