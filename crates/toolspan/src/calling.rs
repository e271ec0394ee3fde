//! How does a call come from its name and arguments to its end?
//!
//! The name finds its tool; the arguments are checked; interceptors look at the call; the policy
//! decides, and somebody is asked where it says so; then the call waits for its place and runs.

use std::pin::pin;
use std::sync::OnceLock;
use std::task::Poll;

use futures_util::poll;
use serde_json::Value;
use toolspan_core::call::Preparing;
use toolspan_core::execute::{self, Batch, FINISH, Gates, InterceptedCall, intercepted};
use toolspan_core::policy::{Decision, Facts, Policy, Refused, Verdict};
use toolspan_core::{
    CallOptions, CallRequest, Context, Error, Observation, Outcome, Phase, RegisteredTool, Result,
    ValidCall,
};

use crate::host::{Host, closed};
use crate::member::Member;
use crate::rules::Rules;

impl Host {
    /// Calls a tool. See [`Host::call_with`].
    ///
    /// # Errors
    ///
    /// As [`Host::call_with`].
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Observation> {
        self.call_with(tool, arguments, CallOptions::default())
            .await
    }

    /// Calls a tool by its exposed name, `toolbox.tool`, an alias, or a bare name that only one
    /// tool has. `arguments` is an object; `null` means none.
    ///
    /// A full name starts only its own toolbox; a bare one waits for all. An observation means
    /// that the tool answered, also when it says that it failed. Dropping the future cancels the
    /// call, here and at the server.
    ///
    /// # Errors
    ///
    /// Every other end of the call, with kind, toolbox, tool, phase and outcome.
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        options: CallOptions,
    ) -> Result<Observation> {
        let mut preparing = Preparing::default();
        preparing.repair = self.shared().rules.repairs();
        let asked = Asked {
            request: CallRequest::new(tool, arguments),
            preparing,
            options,
        };
        let observation = self.called(asked, &OnceLock::new()).await?;
        Ok(*observation)
    }

    /// Runs a tool call as a model made it, in the form of any of the big APIs, and turns every
    /// end into an observation that the model can read.
    pub async fn run(&self, model_call: &Value) -> Observation {
        self.run_with(model_call, CallOptions::default()).await
    }

    /// [`Host::run`] with options.
    pub async fn run_with(&self, model_call: &Value, options: CallOptions) -> Observation {
        match self.asked_by(model_call) {
            Ok(request) => self.observed(request, options).await,
            Err(error) => for_model(&error),
        }
    }

    /// Runs all tool calls of one answer of a model, several at a time, and gives an observation for
    /// each, in the order of the calls. What comes after a call of the tool `finish` is not run, and
    /// its observation says so. Each call is decided for itself; a failure of one leaves the others
    /// alone.
    pub async fn run_batch(&self, model_calls: &[Value]) -> Vec<Observation> {
        self.run_batch_with(model_calls, CallOptions::default())
            .await
    }

    /// [`Host::run_batch`] with options, which hold for each call.
    pub async fn run_batch_with(
        &self,
        model_calls: &[Value],
        options: CallOptions,
    ) -> Vec<Observation> {
        let batch = match Batch::new(self.shared().rules.concurrency) {
            Ok(batch) => batch,
            Err(error) => return model_calls.iter().map(|_| for_model(&error)).collect(),
        };
        let batch = match &options.cancel {
            Some(cancel) => batch.with_cancel(cancel.clone()),
            None => batch,
        };
        let requests = model_calls.iter().map(|call| self.asked_by(call));
        let ends = |request: &Result<CallRequest>| matches!(request, Ok(request) if self.ends_work(&request.tool));
        let ended = batch.run(requests.collect(), ends, |request| {
            let options = options.clone();
            async { Ok(self.observed(request?, options).await) }
        });
        let ended = ended.await.into_iter();
        ended
            .map(|ended| ended.unwrap_or_else(|error| for_model(&error)))
            .collect()
    }

    /// Whether a name means the tool that ends the work, in any of its forms.
    fn ends_work(&self, name: &str) -> bool {
        name == FINISH || self.known(name).is_some_and(|tool| *tool.name == *FINISH)
    }

    /// What a model asks for, read within the widest limits of the toolboxes: the tool's own ones hold
    /// once it is known.
    fn asked_by(&self, model_call: &Value) -> Result<CallRequest> {
        let mut limits = self.limits().clone();
        for member in self.roster().iter() {
            limits.arguments_bytes = limits.arguments_bytes.max(member.limits.arguments_bytes);
            limits.json_depth = limits.json_depth.max(member.limits.json_depth);
        }
        let request = CallRequest::from_model_within(model_call, &limits)?;
        Ok(self.as_meant(request))
    }

    /// A call whose every end is an observation.
    async fn observed(&self, request: CallRequest, options: CallOptions) -> Observation {
        let decided = OnceLock::new();
        let asked = Asked {
            request,
            preparing: self.shared().rules.of_model(),
            options,
        };
        match self.called(asked, &decided).await {
            Ok(observation) => *observation,
            Err(error) => {
                let mut observation = for_model(&error);
                observation.decision = decided.into_inner();
                observation
            }
        }
    }

    /// A call on its whole way. What was decided of one that does not run is left in `decided`.
    async fn called(
        &self,
        mut asked: Asked,
        decided: &OnceLock<Decision>,
    ) -> Result<Box<Observation>> {
        self.refuse_closed()?;
        let snapshot = self.snapshot();
        let started;
        let tool = match self.known_in(&snapshot, &asked.request.tool) {
            Some(tool) => tool,
            // Rare and large.
            None => {
                started = Box::pin(self.found(&mut asked)).await?;
                &*started
            }
        };
        let Asked {
            request,
            preparing,
            options,
        } = asked;
        let member = self.member(&tool.toolbox)?;
        let rules = &self.shared().rules;
        let secrets = rules.secrets_of(&tool.toolbox);
        let check = |request: CallRequest| request.prepare(tool, &member.limits, &preparing);
        let call = match secrets {
            Some(secrets) => secrets.validate(request, check),
            None => check(request),
        };
        let call = call.map_err(|error| {
            let error = error.in_toolbox(&tool.toolbox).in_tool(&tool.name);
            match secrets {
                Some(secrets) => error.redacted(&secrets.redactor()),
                None => error,
            }
        })?;
        let context = Context::new(options, &member.timeouts)
            .with_locks(&rules.locks)
            .with_secrets(secrets);
        let way = Way {
            host: self,
            tool,
            member: &member,
            context: &context,
            decided,
        };
        let ended = {
            let running = pin!(way.go(call));
            if member.toolbox().is_some_and(|toolbox| toolbox.ends_calls()) {
                return running.await;
            }
            self.shared().ended.run_until_cancelled(running).await
        };
        // The way is dropped by now, and so it is known how far the call came.
        ended.unwrap_or_else(|| Err(way.closed()))
    }

    /// The tool that is asked for, whose toolbox has to be started first. What that takes is a part of
    /// the caller's time.
    async fn found(&self, asked: &mut Asked) -> Result<Box<RegisteredTool>> {
        let began = tokio::time::Instant::now();
        let options = asked.options.clone();
        let mut found = self.find_within(&asked.request.tool, options).await;
        if found.is_err() && asked.preparing.api_keys {
            // A model's names can be told once the tools are there.
            let nothing = CallRequest::new("", Value::Null);
            let request = std::mem::replace(&mut asked.request, nothing);
            asked.request = self.as_meant(request);
            found = self.known(&asked.request.tool).map_or(found, Ok);
        }
        if let Some(timeout) = &mut asked.options.timeout {
            *timeout = timeout.saturating_sub(began.elapsed());
        }
        found
            .map(Box::new)
            .map_err(|error| error.in_tool(&asked.request.tool))
    }
}

/// What a caller or a model asks for.
struct Asked {
    request: CallRequest,
    preparing: Preparing,
    options: CallOptions,
}

/// The way of one checked call.
#[derive(Clone, Copy)]
struct Way<'a> {
    host: &'a Host,
    tool: &'a RegisteredTool,
    member: &'a Member,
    context: &'a Context,
    decided: &'a OnceLock<Decision>,
}

impl<'a> Way<'a> {
    async fn go(self, call: ValidCall) -> Result<Box<Observation>> {
        match self.host.shared().rules.interceptors.is_empty() {
            true => self.end(&call, None).await,
            // Rare and large.
            false => Box::pin(self.intercepted(call)).await.map(Box::new),
        }
    }

    /// Sends the call through the interceptors.
    async fn intercepted(self, call: ValidCall) -> Result<Observation> {
        let interceptors = &self.host.shared().rules.interceptors;
        // What the model said of the call counts, whatever an interceptor makes of it.
        let said = call.risk_word().map(str::to_owned);
        let call = InterceptedCall::new(self.tool, call, self.context, &self.member.limits);
        let end = async move |call: InterceptedCall<'a>| {
            let ended = self.end(&call.into_call(), said.as_deref()).await;
            ended.map(|observation| *observation)
        };
        intercepted(interceptors, call, end).await
    }

    /// Decides on the call and runs it.
    async fn end(&self, call: &ValidCall, said: Option<&str>) -> Result<Box<Observation>> {
        let decision = self.admitted(call, said).await?;
        let gates = Gates {
            toolbox: &self.member.gate,
            host: &self.host.shared().gate,
        };
        let mut observation = execute::run(self.tool, call, self.context, gates).await?;
        let own = &self.member.limits;
        if own.output_chars != self.host.limits().output_chars {
            observation.output_chars = Some(own.output_chars);
        }
        observation.decision = Some(decision);
        Ok(observation)
    }

    /// What was decided of a call that may run.
    async fn admitted(&self, call: &ValidCall, said: Option<&str>) -> Result<Decision> {
        let rules = &self.host.shared().rules;
        let policy = rules.policy();
        let facts = Facts::of(self.tool, call)
            .with_model_risk(call.risk_word().or(said))
            .with_origin(self.member.origin.as_deref());
        let decision = policy.decide(&facts);
        let admitted = match decision.verdict {
            Verdict::Run => return Ok(decision),
            // Rare and large.
            Verdict::Ask => {
                let view = self.tool.chosen_view(call);
                let facts = facts.with_view(view.as_ref());
                Box::pin(self.settled(&policy, (&facts, decision))).await?
            }
            Verdict::Refuse => Box::pin(self.settled(&policy, (&facts, decision))).await?,
        };
        admitted.map_err(|refused| {
            let _ = self.decided.set(*refused.decision);
            refused.error
        })
    }

    /// What becomes of a call that does not simply run.
    async fn settled(
        &self,
        policy: &Policy,
        decided: (&Facts<'_>, Decision),
    ) -> Result<Result<Decision, Refused>> {
        let Rules {
            approver,
            approvals,
            ..
        } = &self.host.shared().rules;
        let mut admission = pin!(policy.settle(decided, approver.as_deref(), approvals));
        // Without a question nothing is waited for, and no clock stopped.
        if let Poll::Ready(admitted) = poll!(admission.as_mut()) {
            return Ok(admitted);
        }
        let answered = async {
            let asking = self.context.asking(admission);
            let ended = &self.host.shared().ended;
            let answered = ended.run_until_cancelled(asking).await;
            answered.ok_or_else(|| self.closed())
        };
        let answered = execute::within(answered, self.context).await;
        answered.map_err(|error| {
            error
                .with_phase(Phase::Decide)
                .in_toolbox(&self.tool.toolbox)
                .in_tool(&self.tool.name)
        })
    }

    fn closed(&self) -> Error {
        closed()
            .with_phase(self.context.phase())
            .with_outcome(self.context.outcome())
            .in_toolbox(&self.tool.toolbox)
            .in_tool(&self.tool.name)
    }
}

/// What a model reads of a call that did not come to an answer: what happened, whether the tool
/// may have run, and what to do.
fn for_model(error: &Error) -> Observation {
    let mut text = error.message().to_owned();
    if error.outcome() == Outcome::Unknown {
        text.push_str("\nIt is not known whether the tool ran.");
    }
    if let Some(hint) = error.hint() {
        text.push_str(&format!("\nHint: {hint}"));
    }
    Observation::error_of(text)
}
