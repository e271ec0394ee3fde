//! How do functions of Python take part in the way of every call: see it, change it, judge it, allow
//! it?
//!
//! Each is run as a tool's function is, on a thread or a loop of Python. What analyzers say is left
//! in the task of the call, where the analyzer of the policy finds it.

use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use tokio::sync::{mpsc, oneshot};
use toolspan::execute::{InterceptedCall, Interceptor, Next};
use toolspan::policy::{Analyzer, Answer, Approver, Assessment, Facts, Question, SecurityRisk};
use toolspan::{BoxFuture, Error, ErrorKind, HostBuilder, Observation, Phase, Result};

use super::job::{Link, Running};
use super::kept::Kept;
use super::passing::{Asked, Passing, Proceed, Ruled, Verdict};
use crate::awaitable;

tokio::task_local! {
    /// What the analyzers in Python say of the call of this task.
    static RISK: Assessment;
}

/// How many functions of each kind there are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) interceptors: usize,
    pub(crate) policies: usize,
    pub(crate) analyzers: usize,
    pub(crate) approvers: usize,
}

/// Adds the functions that are kept under their kinds and numbers.
pub(crate) fn with_rules(
    builder: HostBuilder,
    kept: &Arc<Py<PyWeakrefReference>>,
    counts: Counts,
) -> HostBuilder {
    let rule = |kind: &str, number: usize| Rule {
        key: key(kind, number),
        kept: Arc::clone(kept),
    };
    let mut builder = builder;
    for number in 0..counts.interceptors {
        builder = builder.interceptor(Around(rule("interceptor", number)));
    }
    for number in 0..counts.policies {
        builder = builder.interceptor(Gatekeeper(rule("policy", number)));
    }
    if counts.analyzers > 0 {
        let analyzers = 0..counts.analyzers;
        let analyzers = analyzers.map(|number| rule("analyzer", number)).collect();
        builder = builder.interceptor(Judges(analyzers)).analyzer(OfTask);
    }
    if counts.approvers > 0 {
        builder = builder.approver(Arc::new(Asker(rule("approver", 0))));
    }
    builder
}

/// Under which name a function is kept. No tool has a name like it.
pub(crate) fn key(kind: &str, number: usize) -> String {
    format!("\0{kind} {number}")
}

/// What a function will say. Dropped before, it cancels one that is asynchronous.
struct Awaited {
    answer: oneshot::Receiver<Ruled>,
    #[expect(dead_code, reason = "it is there to be dropped")]
    running: Running<Ruled>,
}

/// A function of Python.
struct Rule {
    key: String,
    kept: Arc<Py<PyWeakrefReference>>,
}

impl Rule {
    /// Asks the function about something.
    fn ask(&self, asked: Asked, proceed: Option<mpsc::Sender<Proceed>>) -> Awaited {
        let (sender, answer) = oneshot::channel();
        let link = Arc::new(Link::new(sender));
        let running = Running(Arc::clone(&link));
        let (key, kept) = (self.key.clone(), Arc::clone(&self.kept));
        let verdict = Verdict::new(link);
        awaitable::ask(move |py| {
            let kept = kept.bind(py).upgrade();
            let kept = kept.and_then(|kept| kept.cast_into::<Kept>().ok());
            let Some(rule) = kept.and_then(|kept| kept.get().get(py, &key)) else {
                return Ok(());
            };
            let verdict = Py::new(py, verdict)?;
            let asked = asked.into_object(py, proceed)?;
            rule.call_method1(py, intern!(py, "begin"), (asked, verdict))
                .map(drop)
        });
        Awaited { answer, running }
    }

    async fn words(&self, asked: Asked) -> Result<Option<String>> {
        let mut asked = self.ask(asked, None);
        match (&mut asked.answer).await {
            Ok(Ruled::Words(words)) => Ok(words),
            Ok(Ruled::Failed(message)) => Err(failed(message)),
            Ok(Ruled::Refused(message)) => Ok(Some(message)),
            Ok(Ruled::Observed(_)) | Err(_) => Err(gone()),
        }
    }
}

/// An interceptor.
struct Around(Rule);

impl Interceptor for Around {
    fn name(&self) -> &str {
        "written in Python"
    }

    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            let (proceed, mut wanted) = mpsc::channel(1);
            let mut asked = self.0.ask(Asked::call(&call), Some(proceed));
            let tool = call.tool();
            let mut way = Some((call, next));
            let mut ended = None;
            let ruled = loop {
                tokio::select! {
                    ruled = &mut asked.answer => break ruled,
                    Some(wanted) = wanted.recv() => {
                        let Some((call, next)) = way.take() else {
                            wanted.refuse();
                            continue;
                        };
                        let result = match wanted.arguments() {
                            Some(arguments) => call.with_arguments(arguments),
                            None => Ok(call),
                        };
                        let result = match result {
                            Ok(call) => next.run(call).await,
                            Err(error) => Err(error),
                        };
                        ended = Some(result.clone());
                        wanted.answer(result);
                    }
                }
            };
            let of_call = |error: Error| error.in_toolbox(&tool.toolbox).in_tool(&tool.name);
            match (ruled, ended, way) {
                (Ok(Ruled::Observed(observation)), ..) => Ok(*observation),
                (Ok(Ruled::Words(_)), Some(ended), _) => ended,
                (Ok(Ruled::Words(_)), None, Some((call, next))) => next.run(call).await,
                (Ok(Ruled::Refused(message)), ..) => Err(of_call(denied(message))),
                // What went wrong first is what is told.
                (Ok(Ruled::Failed(_)), Some(Err(error)), _) => Err(error),
                (Ok(Ruled::Failed(message)), ..) => Err(of_call(failed(message))),
                _ => Err(of_call(gone())),
            }
        })
    }
}

/// A policy: a function that refuses calls.
struct Gatekeeper(Rule);

impl Interceptor for Gatekeeper {
    fn name(&self) -> &str {
        "a policy written in Python"
    }

    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            match self.0.words(Asked::call(&call)).await? {
                None => next.run(call).await,
                Some(why) => Err(call.refused(why)),
            }
        })
    }
}

/// All analyzers: the highest of what they know. One that fails counts as high.
struct Judges(Vec<Rule>);

impl Interceptor for Judges {
    fn name(&self) -> &str {
        "an analyzer written in Python"
    }

    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            let mut risk = SecurityRisk::Unknown;
            for analyzer in &self.0 {
                let said = match analyzer.words(Asked::call(&call)).await {
                    Ok(None) => SecurityRisk::Unknown,
                    Ok(Some(word)) => word.parse().unwrap_or(SecurityRisk::High),
                    Err(_) => SecurityRisk::High,
                };
                risk = risk.max_known(said);
            }
            RISK.scope(risk.into(), next.run(call)).await
        })
    }
}

/// Says what the analyzers in Python said.
struct OfTask;

impl Analyzer for OfTask {
    fn analyze(&self, action: &Facts<'_>) -> SecurityRisk {
        self.assess(action).risk
    }

    fn assess(&self, _action: &Facts<'_>) -> Assessment {
        RISK.try_with(Assessment::clone).unwrap_or_default()
    }
}

/// Somebody who is asked.
struct Asker(Rule);

impl Approver for Asker {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match self
                .0
                .words(Asked::Question(Box::new(question.clone())))
                .await
            {
                Ok(Some(word)) if word == "once" => Answer::Once,
                Ok(Some(word)) if word == "session" => Answer::Session,
                Ok(word) => Answer::Refuse(word.unwrap_or_default()),
                Err(error) => Answer::Refuse(error.message().to_owned()),
            }
        })
    }
}

fn denied(message: String) -> Error {
    Error::new(ErrorKind::PolicyDenied, Phase::Validate, message)
}

fn failed(message: String) -> Error {
    Error::new(ErrorKind::Internal, Phase::Decide, message)
        .with_hint("the traceback is in the log of the logger \"toolspan\"")
}

fn gone() -> Error {
    let message = "a function that takes part in every call of the host is gone";
    Error::new(ErrorKind::Closed, Phase::Decide, message)
}

impl Asked {
    fn call(call: &InterceptedCall<'_>) -> Self {
        Self::Call(Passing::new(
            &call.tool().name,
            &call.tool().toolbox,
            call.arguments().clone(),
        ))
    }
}
