//! How does a call come from its name and arguments to its end?

use std::time::Duration;

use serde_json::Value;
use toolspan_core::execute::{self, Gates};
use toolspan_core::guard::Limits;
use toolspan_core::{
    CallOptions, CallRequest, Context, Error, Observation, Outcome, Result,
};

use crate::host::{Host, closed};

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
        self.refuse_closed()?;
        let (tool, options) = match self.known(tool) {
            Some(tool) => (tool, options),
            None => {
                let asked = tokio::time::Instant::now();
                let found = self.find_within(tool, options.clone()).await;
                let tool = found.map_err(|error| error.in_tool(tool))?;
                let left = options
                    .timeout
                    .map(|timeout| timeout.saturating_sub(asked.elapsed()));
                (tool, with_timeout(options, left))
            }
        };
        let member = self.member(&tool.toolbox)?;
        let call = CallRequest::new(&*tool.name, arguments).validate(&tool, &member.limits)?;
        let context = Context::new(options, &member.timeouts);
        let gates = Gates {
            toolbox: &member.gate,
            host: &self.shared().gate,
        };
        // In one place, since each layer around it would else copy it whole.
        let running = Box::pin(execute::run(&tool, &call, &context, gates));
        let within = |observation| self.within(&member.limits, observation);
        if member.toolbox().is_some_and(|toolbox| toolbox.ends_calls()) {
            return running.await.map(within);
        }
        let ended = self.shared().ended.run_until_cancelled(running).await;
        let ended = ended.unwrap_or_else(|| {
            let error = closed().with_phase(context.phase());
            Err(error
                .with_outcome(context.outcome())
                .in_toolbox(&tool.toolbox)
                .in_tool(&tool.name))
        });
        ended.map(within)
    }

    /// An observation with what its toolbox's own limits say of it.
    fn within(&self, own: &Limits, mut observation: Observation) -> Observation {
        if own.output_chars != self.limits().output_chars {
            observation.output_chars = Some(own.output_chars);
        }
        observation
    }

    /// Runs a tool call as a model made it, in the form of any of the big APIs, and turns every
    /// end into an observation that the model can read.
    pub async fn run(&self, model_call: &Value) -> Observation {
        self.run_with(model_call, CallOptions::default()).await
    }

    /// [`Host::run`] with options.
    pub async fn run_with(&self, model_call: &Value, options: CallOptions) -> Observation {
        let called = async {
            let request = CallRequest::from_model(model_call)?;
            self.call_with(&request.tool, request.arguments, options)
                .await
        };
        called.await.unwrap_or_else(|error| for_model(&error))
    }
}

fn with_timeout(mut options: CallOptions, timeout: Option<Duration>) -> CallOptions {
    options.timeout = timeout;
    options
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
