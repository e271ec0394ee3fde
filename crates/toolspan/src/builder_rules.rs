//! What does a program say about every call of its host?

use std::sync::Arc;

use toolspan_core::call::Injection;
use toolspan_core::execute::{Interceptor, SecretSource, Secrets};
use toolspan_core::policy::{Analyzer, Approver, Policy};

use crate::builder::HostBuilder;

impl HostBuilder {
    /// Sets the rules by which calls are decided, in place of the `policy` of the config; what that
    /// denies stays denied, and the `trust` of its toolboxes holds. Default: what the config says,
    /// and without one that nothing is asked.
    pub fn policy(self, policy: Policy) -> Self {
        self.with_rules(|rules| rules.policy = Some(policy))
    }

    /// Adds somebody who judges the risk of calls, beside the model's own word and the built-in
    /// patterns: the highest risk counts. With a policy of the program's own ([`HostBuilder::policy`])
    /// its analyzers hold alone.
    pub fn analyzer(self, analyzer: impl Analyzer + 'static) -> Self {
        self.with_rules(|rules| rules.analyzers.push(Arc::new(analyzer)))
    }

    /// Sets who is asked where the policy wants a call confirmed. Without one such a call is refused
    /// as `approval_required`.
    pub fn approver(self, approver: Arc<dyn Approver>) -> Self {
        self.with_rules(|rules| rules.approver = Some(approver))
    }

    /// Adds something around every call: the first one added is the outermost. It sees the checked
    /// call before it is decided on.
    pub fn interceptor(self, interceptor: impl Interceptor) -> Self {
        self.with_rules(|rules| rules.interceptors.push(Arc::new(interceptor)))
    }

    /// Sets where secrets come from. No toolbox may have any of them before
    /// [`HostBuilder::allow_secrets`] says so; every value that was given out is masked in all results,
    /// errors, progress, logs and diagnoses from then on.
    pub fn secrets(self, source: impl SecretSource) -> Self {
        self.with_rules(|rules| rules.secrets = Some(Arc::new(Secrets::new(source))))
    }

    /// Lets the tools of a toolbox, by its key, have the secrets of these names
    /// ([`Context::secret`](crate::Context::secret)).
    pub fn allow_secrets<N: Into<String>>(
        self,
        toolbox: impl Into<String>,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        self.with_rules(|rules| {
            let secrets = rules.secret_names.entry(toolbox.into()).or_default();
            secrets.allowed.extend(names.into_iter().map(Into::into));
        })
    }

    /// Also puts the secrets that a toolbox may have into the arguments of its calls, in place of
    /// references such as `{"$secret": "NAME"}`. Default: references stay as they are.
    pub fn secrets_in_arguments(self, toolbox: impl Into<String>) -> Self {
        self.with_rules(|rules| {
            let secrets = rules.secret_names.entry(toolbox.into()).or_default();
            secrets.in_arguments = true;
        })
    }

    /// Sets how many calls of one batch run at the same time ([`Host::run_batch`]), at least 1. Default:
    /// the config's `limits.concurrency`, and without it 8.
    ///
    /// [`Host::run_batch`]: crate::Host::run_batch
    pub fn concurrency(self, calls: usize) -> Self {
        self.with_rules(|rules| rules.concurrency = Some(calls.max(1)))
    }

    /// Sets which fields a model is asked for beside a tool's own arguments: its word on the risk of a
    /// call, and a summary. The risk is asked for in any case where the policy confirms calls.
    pub fn inject(self, injection: Injection) -> Self {
        self.with_rules(|rules| rules.injection = injection)
    }

    /// Sets whether arguments that do not match a tool's schema are repaired where it is clear what was
    /// meant, whatever the config says. Default: what the config says, and without that they are.
    pub fn repair(self, repair: bool) -> Self {
        self.with_rules(|rules| rules.repair = Some(repair))
    }
}
