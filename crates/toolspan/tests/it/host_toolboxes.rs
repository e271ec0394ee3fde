//! Does a host hold its own against a toolbox that panics, hangs, fails or takes another's name?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolspan::schema::Schema;
use toolspan::tool::tool_fn;
use toolspan::toolbox::{Diagnosis, Step, ToolBoxState};
use toolspan::{
    BoxFuture, CallOptions, CancellationToken, Context, Discovery, Error, ErrorKind, Host,
    HostBuilder, Observation, Outcome, Phase, Result, ToolBox, ToolDefinition, ToolExecutor,
    ToolFailure, ToolboxTool, ValidCall,
};
use toolspan_testkit::Fault;

use crate::support::{config, shown};

/// Says whose tool it is.
struct Says(&'static str);

impl ToolExecutor for Says {
    fn call<'a>(&'a self, _: &'a ValidCall, _: &'a Context) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async { Ok(Observation::text_of(self.0)) })
    }
}

type Work = dyn Fn(usize) -> BoxFuture<'static, Result<Discovery>> + Send + Sync;

/// A toolbox that does at each listing what its test says; the listings are counted from zero.
struct Odd {
    discover: Box<Work>,
    listings: AtomicUsize,
    probe: fn() -> BoxFuture<'static, Vec<Step>>,
    close: fn() -> BoxFuture<'static, ()>,
    is_closed: AtomicBool,
}

impl Odd {
    fn new(
        discover: impl Fn(usize) -> BoxFuture<'static, Result<Discovery>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            discover: Box::new(discover),
            listings: AtomicUsize::new(0),
            probe: || Box::pin(async { Vec::new() }),
            close: || Box::pin(async {}),
            is_closed: AtomicBool::new(false),
        }
    }

    /// One that lists one tool, which says `says`.
    fn with(tool: &'static str, says: &'static str) -> Self {
        Self::new(move |_| Box::pin(async move { Ok(one_tool(tool, says)) }))
    }

    fn failing() -> Self {
        Self::new(|_| Box::pin(async { Err(refused()) }))
    }

    fn hanging() -> Self {
        Self::new(|_| Box::pin(std::future::pending()))
    }

    fn probed(mut self, probe: fn() -> BoxFuture<'static, Vec<Step>>) -> Self {
        self.probe = probe;
        self
    }

    fn closing(mut self, close: fn() -> BoxFuture<'static, ()>) -> Self {
        self.close = close;
        self
    }
}

impl ToolBox for Odd {
    fn kind(&self) -> &str {
        "odd"
    }

    fn discover(&self) -> BoxFuture<'_, Result<Discovery>> {
        (self.discover)(self.listings.fetch_add(1, Ordering::SeqCst))
    }

    fn state(&self) -> ToolBoxState {
        match self.is_closed.load(Ordering::SeqCst) {
            true => ToolBoxState::Closed,
            false => ToolBoxState::Ready,
        }
    }

    fn probe(&self) -> BoxFuture<'_, Vec<Step>> {
        (self.probe)()
    }

    fn diagnosis(&self) -> Diagnosis {
        let mut diagnosis = Diagnosis::default();
        let listed = (self.discover)(1).now_or_never();
        let result = listed.transpose().map(|_| "1 tool".to_owned());
        diagnosis.steps = vec![Step::new("list", Duration::from_millis(2), result)];
        diagnosis
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.is_closed.store(true, Ordering::SeqCst);
        (self.close)()
    }
}

fn one_tool(name: &str, says: &'static str) -> Discovery {
    let input = Schema::for_arguments(json!({"type": "object"})).unwrap();
    let definition = ToolDefinition::new(name, "", Arc::new(input));
    let mut discovery = Discovery::default();
    discovery.tools = vec![ToolboxTool::new(Arc::new(definition), Arc::new(Says(says)))];
    discovery
}

fn refused() -> Error {
    Error::new(ErrorKind::Connect, Phase::Connect, "nobody is there")
}

/// A host of these toolboxes, whose listings may take three seconds.
fn host(toolboxes: impl IntoIterator<Item = (&'static str, Odd)>) -> HostBuilder {
    let config = json!({"timeouts": {"connect": 1, "list": 2, "close": 1}});
    toolboxes
        .into_iter()
        .fold(Host::builder().config_value(config), |host, (key, odd)| {
            host.toolbox(key, Arc::new(odd))
        })
}

fn states(host: &Host) -> Vec<String> {
    host.status()
        .iter()
        .map(|status| format!("{} {}", status.toolbox, status.state.as_str()))
        .collect()
}

async fn said(host: &Host, tool: &str) -> String {
    match host.call(tool, Value::Null).await {
        Ok(seen) => seen.text(),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

#[tokio::test]
async fn a_toolbox_that_panics_fails_alone_and_may_recover() {
    let late = Odd::new(|listing| match listing {
        0 => panic!("before the future"),
        1 => Box::pin(async { panic!("in the future") }),
        _ => Box::pin(async { Ok(one_tool("a", "late")) }),
    });
    let host = host([("late", late), ("good", Odd::with("b", "good"))])
        .connect()
        .await
        .unwrap();
    assert_eq!(states(&host), ["late failed", "good ready"]);
    assert_eq!(said(&host, "b").await, "good");
    let error = host.call("late__a", Value::Null).await.unwrap_err();
    insta::assert_snapshot!(shown(&error));
    assert_eq!(said(&host, "late__a").await, "late");
    assert_eq!(states(&host), ["late ready", "good ready"]);
    host.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_toolbox_that_never_lists_fails_at_its_limit_and_is_named() {
    let host = host([("stuck", Odd::hanging()), ("good", Odd::with("b", "good"))])
        .start()
        .unwrap();
    let began = tokio::time::Instant::now();
    host.settled().await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    assert_eq!(states(&host), ["stuck failed", "good ready"]);
    assert_eq!(said(&host, "b").await, "good");
    let error = host.call("stuck__a", Value::Null).await.unwrap_err();
    insta::assert_snapshot!(shown(&error));
    host.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_toolbox_that_never_ends_or_panics_does_not_keep_the_others_from_their_end() {
    let ended = Arc::new(Odd::with("b", "good"));
    let host = host([
        (
            "stuck",
            Odd::with("a", "").closing(|| Box::pin(std::future::pending())),
        ),
        ("bomb", Odd::with("a", "").closing(|| panic!("at the end"))),
    ])
    .toolbox("good", Arc::clone(&ended) as Arc<dyn ToolBox>)
    .connect()
    .await
    .unwrap();
    let began = tokio::time::Instant::now();
    host.close().await;
    assert_eq!(began.elapsed(), host.close_limit());
    assert!(ended.is_closed.load(Ordering::SeqCst));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl toolspan::Action for Nothing {}

/// A native tool that holds up, or brings down, the end of its toolbox.
struct Clingy(bool);

impl toolspan::Tool for Clingy {
    type Action = Nothing;
    type Observation = String;

    fn name(&self) -> String {
        format!("clingy_{}", self.0)
    }

    fn description(&self) -> &str {
        "Does not end"
    }

    async fn call(&self, _: Nothing, _: &Context) -> Result<String, ToolFailure> {
        Ok(String::new())
    }

    async fn close(&self) {
        if self.0 {
            // Fails as a bug would: no letter has this place.
            let _ = "end".split_at(4);
        }
        std::future::pending().await
    }
}

/// Notes that it was ended.
struct Last(Arc<AtomicBool>);

impl toolspan::Tool for Last {
    type Action = Nothing;
    type Observation = String;

    fn description(&self) -> &str {
        "Ends well"
    }

    async fn call(&self, _: Nothing, _: &Context) -> Result<String, ToolFailure> {
        Ok(String::new())
    }

    async fn close(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_native_tool_that_does_not_end_keeps_no_other_from_its_end() {
    let ended = Arc::new(AtomicBool::new(false));
    let host = host([])
        .tool(Clingy(true))
        .tool(Clingy(false))
        .tool(Last(Arc::clone(&ended)))
        .connect()
        .await
        .unwrap();
    host.close().await;
    assert!(ended.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_name_never_passes_to_another_toolbox_because_its_own_failed() {
    let sending = Odd::new(|listing| match listing {
        0 => Box::pin(async { Err(refused()) }),
        _ => Box::pin(async { Ok(one_tool("send", "my_box")) }),
    });
    let host = host([("my.box", Odd::with("send", "my.box")), ("my_box", sending)])
        .connect()
        .await
        .unwrap();
    let other = host.snapshot().tools()[0].name.to_string();
    assert!(
        other.starts_with("my_box_") && other.ends_with("__send"),
        "{other}"
    );
    assert_eq!(said(&host, &other).await, "my.box");
    // The failed one is started again, and answers itself.
    assert_eq!(said(&host, "my_box__send").await, "my_box");
    assert_eq!(said(&host, &other).await, "my.box");
    assert_eq!(said(&host, "my.box.send").await, "my.box");
    host.close().await;
}

#[tokio::test]
async fn a_native_tool_is_called_by_its_name_while_others_start() {
    let host = host([("stuck", Odd::hanging())])
        .tool(tool_fn("stuck__go", "", |_: Nothing| async {
            Ok::<_, ToolFailure>("native")
        }))
        .start()
        .unwrap();
    assert_eq!(said(&host, "stuck__go").await, "native");
    assert_eq!(host.status()[0].tools, 0);
    host.close().await;
}

#[tokio::test]
async fn a_tool_without_a_prefix_is_not_called_before_all_are_listed() {
    let late = Arc::new(Semaphore::new(0));
    let opened = Arc::clone(&late);
    let second = Odd::new(move |_| {
        let opened = Arc::clone(&opened);
        Box::pin(async move {
            let _turn = opened.acquire().await;
            Ok(one_tool("echo", "second"))
        })
    });
    let config = config([("first", Fault::honest(), json!({"prefix": ""}))]);
    let host = Host::builder()
        .config_value(config)
        .toolbox("second", Arc::new(second))
        .start()
        .unwrap();
    host.find("first.echo").await.unwrap();
    let text = || json!({"text": "first"});
    let mut early = Box::pin(host.call("echo", text()));
    assert!((&mut early).now_or_never().is_none());
    late.add_permits(1);
    assert_eq!(early.await.unwrap().text(), "first");
    assert_eq!(said(&host, "second__echo").await, "second");
    host.close().await;
}

#[tokio::test]
async fn a_close_ends_a_native_call_that_would_wait_for_ever() {
    let host = host([])
        .tool(tool_fn("wait", "", |_: Nothing| {
            std::future::pending::<Result<String, ToolFailure>>()
        }))
        .connect()
        .await
        .unwrap();
    let (ended, ()) = tokio::join!(biased; host.call("wait", Value::Null), host.close());
    insta::assert_snapshot!(shown(&ended.unwrap_err()));
}

#[tokio::test]
async fn tools_that_were_listed_stay_when_a_later_listing_fails() {
    let flaky = Odd::new(|listing| match listing {
        1 => Box::pin(async { Err(refused()) }),
        _ => Box::pin(async { Ok(one_tool("a", "here")) }),
    });
    let host = host([("flaky", flaky)]).connect().await.unwrap();
    host.refresh().await.unwrap();
    assert_eq!(states(&host), ["flaky degraded"]);
    assert_eq!(said(&host, "flaky__a").await, "here");
    host.refresh().await.unwrap();
    assert_eq!(states(&host), ["flaky ready"]);
    host.close().await;
}

#[tokio::test]
async fn a_list_that_is_not_whole_is_told_in_the_status() {
    let partial = Odd::new(|_| {
        let mut discovery = one_tool("a", "here");
        discovery.incomplete = Some("the second page was lost".to_owned());
        Box::pin(async { Ok(discovery) })
    });
    let host = host([("part", partial)]).connect().await.unwrap();
    let status = &host.status()[0];
    assert_eq!(status.state.as_str(), "degraded");
    assert_eq!(
        status.state.error().unwrap().message(),
        "the second page was lost"
    );
    host.close().await;
}

#[test]
fn a_listing_lost_with_its_runtime_is_told_and_made_anew() {
    let host = host([("box", Odd::with("a", "here"))]).start().unwrap();
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let first = runtime();
    {
        let _inside = first.enter();
        // Begins the listing on the runtime, which goes away before it runs.
        assert!(host.find("box__a").now_or_never().is_none());
    }
    drop(first);
    let seen = runtime().block_on(said(&host, "box__a"));
    assert_eq!(seen, "here");
}

#[test]
fn outside_a_runtime_everything_that_waits_is_refused() {
    let host = host([("box", Odd::with("a", "here"))]).start().unwrap();
    let kinds = [
        host.call("box__a", Value::Null)
            .now_or_never()
            .unwrap()
            .err(),
        host.find("box__a").now_or_never().unwrap().err(),
        host.diagnose("other").now_or_never().unwrap().err(),
    ]
    .map(|error| error.unwrap().kind());
    assert_eq!(kinds, [ErrorKind::Usage; 3]);
    assert_eq!(host.status().len(), 1);
}

/// The steps of a diagnosis, one a line.
async fn steps(host: &Host, toolbox: &str) -> String {
    let diagnosis = host.diagnose(toolbox).await.unwrap();
    let steps = diagnosis.steps.iter().map(|step| {
        let result = match &step.result {
            Ok(result) => result.clone(),
            Err(error) => format!("{} {error}", error.kind()),
        };
        format!("{} ({:?}): {result}", step.what, step.took)
    });
    steps.collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_diagnosis_begins_with_what_lies_below_the_protocol_and_cannot_be_held_up_by_it() {
    let good = Odd::with("a", "good").probed(|| {
        let step = |what: &str, found: &str| {
            Step::new(what, Duration::from_millis(1), Ok(found.to_owned()))
        };
        Box::pin(async move { vec![step("dns", "127.0.0.1"), step("tcp", "127.0.0.1:80")] })
    });
    // What fails below the protocol fails the start in the same words.
    let dead = Odd::failing().probed(|| {
        Box::pin(async { vec![Step::new("tcp", Duration::from_millis(1), Err(refused()))] })
    });
    let bomb = Odd::with("a", "bomb").probed(|| panic!("at the probe"));
    let stuck = Odd::with("a", "stuck").probed(|| Box::pin(std::future::pending()));
    let host = host([
        ("good", good),
        ("dead", dead),
        ("bomb", bomb),
        ("stuck", stuck),
    ]);
    let host = host.start().unwrap();
    let mut all = Vec::new();
    for toolbox in ["good", "dead", "bomb", "stuck"] {
        all.push(format!("# {toolbox}\n{}", steps(&host, toolbox).await));
    }
    host.close().await;
    all.push(format!("# good, closed\n{}", steps(&host, "good").await));
    insta::assert_snapshot!(all.join("\n\n"));
}

#[tokio::test]
async fn a_close_during_listings_ends_every_wait_and_nothing_starts_after_it() {
    let stuck = Arc::new(Odd::hanging());
    let host = host([])
        .toolbox("stuck", Arc::clone(&stuck) as Arc<dyn ToolBox>)
        .start()
        .unwrap();
    let (called, settled, refreshed, ()) = tokio::join!(
        host.call("stuck__a", Value::Null),
        host.settled(),
        host.refresh(),
        async {
            tokio::task::yield_now().await;
            host.close().await;
        },
    );
    let kinds = [called.err(), settled.err(), refreshed.err()].map(|error| error.unwrap().kind());
    assert_eq!(kinds, [ErrorKind::Closed; 3]);
    let listings = stuck.listings.load(Ordering::SeqCst);
    assert_eq!(host.refresh().await.unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(host.settled().await.unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(stuck.listings.load(Ordering::SeqCst), listings);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_refreshes_and_a_close_at_once_each_come_to_an_end() {
    for _ in 0..50 {
        let open = Arc::new(Semaphore::new(1));
        let slow = {
            let open = Arc::clone(&open);
            Odd::new(move |_| {
                let open = Arc::clone(&open);
                Box::pin(async move {
                    let _turn = open.acquire().await;
                    tokio::task::yield_now().await;
                    Ok(one_tool("a", "slow"))
                })
            })
        };
        let host = host([("slow", slow), ("bad", Odd::failing())])
            .start()
            .unwrap();
        let ended: Vec<_> = (0..8)
            .map(|number| {
                let host = host.clone();
                tokio::spawn(async move {
                    match number {
                        0..3 => host.call("slow__a", Value::Null).await.err(),
                        3 => host.call("bad__a", Value::Null).await.err(),
                        4 => host.call("a", Value::Null).await.err(),
                        5 | 6 => host.refresh().await.err(),
                        _ => {
                            host.close().await;
                            None
                        }
                    }
                })
            })
            .collect();
        for end in ended {
            if let Some(error) = end.await.unwrap() {
                assert!(
                    matches!(error.kind(), ErrorKind::Closed | ErrorKind::Connect),
                    "{error:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_starts_no_toolbox() {
    let unlisted = Arc::new(Odd::with("a", ""));
    let host = host([])
        .toolbox("box", Arc::clone(&unlisted) as Arc<dyn ToolBox>)
        .start()
        .unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = host
        .call_with(
            "box__a",
            Value::Null,
            CallOptions::default().with_cancel(cancel),
        )
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::NotSent)
    );
    let no_time = CallOptions::default().with_timeout(Duration::ZERO);
    let error = host
        .call_with("box__a", Value::Null, no_time)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Timeout, Outcome::NotSent)
    );
    assert_eq!(unlisted.listings.load(Ordering::SeqCst), 0);
    host.close().await;
}

#[tokio::test]
async fn the_key_of_native_tools_cannot_be_taken() {
    let error = host([("native", Odd::with("a", ""))])
        .start()
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(
        error.message(),
        "the key \"native\" is kept for native tools"
    );
}

#[tokio::test]
async fn a_failed_toolbox_is_tried_again_by_its_own_names_and_by_no_others() {
    let failing = Arc::new(Odd::failing());
    let host = host([("good", Odd::with("b", "good"))])
        .toolbox("bad", Arc::clone(&failing) as Arc<dyn ToolBox>)
        .connect()
        .await
        .unwrap();
    let listings = || failing.listings.load(Ordering::SeqCst);
    assert_eq!(listings(), 1);
    assert_eq!(said(&host, "b").await, "good");
    assert_eq!(said(&host, "good__b").await, "good");
    let unknown = host.call("nothing", Value::Null).await.unwrap_err();
    insta::assert_snapshot!(unknown.hint().unwrap());
    assert_eq!(listings(), 1);
    for name in ["bad__x", "bad.x"] {
        assert_eq!(said(&host, name).await, "connect: nobody is there");
    }
    assert_eq!(listings(), 3);
    host.close().await;
}
