//! What does a host do with every call on its way, as its program and its config say?

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use toolspan_core::RegisteredTool;
use toolspan_core::ToolAnnotations;
use toolspan_core::call::{Injection, Preparing};
use toolspan_core::execute::{Interceptor, ResourceLocks, SecretAccess, Secrets};
use toolspan_core::guard::Redactor;
use toolspan_core::policy::{
    Analyzer, Approvals, Approver, Ensemble, ModelWord, Patterns, Policy, Trust,
};

use crate::config::{Environment, Resolved};

/// What a program says about every call of its host, before there is one.
#[derive(Default)]
pub(crate) struct RulesGiven {
    pub(crate) policy: Option<Policy>,
    pub(crate) analyzers: Vec<Arc<dyn Analyzer>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) secrets: Option<Arc<Secrets>>,
    /// What each toolbox may have of the secrets, by its key.
    pub(crate) secret_names: HashMap<String, SecretNames>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) injection: Injection,
    pub(crate) repair: Option<bool>,
}

/// The secrets that one toolbox may have.
#[derive(Default)]
pub(crate) struct SecretNames {
    pub(crate) allowed: Vec<String>,
    pub(crate) in_arguments: bool,
}

/// The same for a host that runs.
pub(crate) struct Rules {
    /// Swapped whole when a config is taken over.
    policy: ArcSwap<Policy>,
    /// What the program says of it, which no config takes back.
    own_policy: Option<Policy>,
    analyzers: Vec<Arc<dyn Analyzer>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) approvals: Approvals,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) locks: Arc<ResourceLocks>,
    secrets: Option<SecretsByToolbox>,
    pub(crate) concurrency: usize,
    injection: Injection,
    /// Whether a model was ever asked for its word on the risk.
    risk_was_asked: AtomicBool,
    own_repair: Option<bool>,
    repair: AtomicBool,
}

struct SecretsByToolbox {
    own: HashMap<String, Arc<SecretAccess>>,
    /// That of all others: they may have none, and their results are freed of them.
    others: Arc<SecretAccess>,
}

impl Rules {
    pub(crate) fn new(given: RulesGiven, config: &Resolved, environment: &Environment) -> Self {
        let secrets = given.secrets.map(|secrets| {
            let access = |(key, names): (String, SecretNames)| {
                let access = SecretAccess::new(&secrets, names.allowed);
                let access = match names.in_arguments {
                    true => access.in_arguments(),
                    false => access,
                };
                (key, Arc::new(access))
            };
            SecretsByToolbox {
                own: given.secret_names.into_iter().map(access).collect(),
                others: Arc::new(SecretAccess::new(&secrets, Vec::<String>::new())),
            }
        });
        let rules = Self {
            policy: ArcSwap::from_pointee(Policy::default()),
            own_policy: given.policy,
            analyzers: given.analyzers,
            approver: given.approver,
            approvals: Approvals::new(),
            interceptors: given.interceptors,
            locks: Arc::new(ResourceLocks::new()),
            secrets,
            concurrency: given.concurrency.unwrap_or(config.limits.concurrency),
            injection: given.injection,
            risk_was_asked: AtomicBool::new(false),
            own_repair: given.repair,
            repair: AtomicBool::new(true),
        };
        rules.take_over(config, environment);
        rules
    }

    /// Takes over what a config says of calls.
    pub(crate) fn take_over(&self, config: &Resolved, environment: &Environment) {
        let written = config.policy.clone().unwrap_or_default();
        let mut policy = match &self.own_policy {
            // No config makes a program's own rules milder, and none that forbids is lost.
            Some(own) => own.clone().with_deny(written.deny),
            None => self.judged(written.to_policy()),
        };
        for toolbox in &config.toolboxes {
            if toolbox.trust != Trust::default() {
                policy = policy.with_trust(toolbox.key.as_str(), toolbox.trust);
            }
        }
        if let Some(source) = &config.source {
            let path = environment.absolute(source);
            policy = policy.with_protected([path.to_string_lossy()]);
        }
        self.policy.store(Arc::new(policy));
        let repair = self.own_repair.or(config.repair).unwrap_or(true);
        self.repair.store(repair, Ordering::Relaxed);
    }

    /// The policy with the program's own analyzers beside the model's word and the built-in patterns.
    fn judged(&self, policy: Policy) -> Policy {
        if self.analyzers.is_empty() {
            return policy;
        }
        let mut all = Ensemble::new().with(ModelWord).with(Patterns::default());
        for analyzer in &self.analyzers {
            all = all.with_shared(Arc::clone(analyzer));
        }
        policy.with_analyzer(Some(Arc::new(all)))
    }

    /// The policy there is now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.policy.load_full()
    }

    /// Whether arguments are repaired.
    pub(crate) fn repairs(&self) -> bool {
        self.repair.load(Ordering::Relaxed)
    }

    /// The fields that a model is asked for beside a tool's own: what the program wants, and the risk
    /// where the policy needs it.
    fn injection(&self) -> Injection {
        let mut injection = self.injection;
        injection.security_risk |= self.policy.load().wants_model_risk();
        injection
    }

    /// The same, for a form that a model is about to be given.
    pub(crate) fn told_to_model(&self) -> Injection {
        let injection = self.injection();
        if injection.security_risk {
            self.risk_was_asked.store(true, Ordering::Relaxed);
        }
        injection
    }

    /// What is done with the arguments that a model gave. A model may have been given its tools before
    /// another config was taken over: what it was ever asked for is taken out.
    pub(crate) fn of_model(&self) -> Preparing {
        let mut injection = self.injection();
        injection.security_risk |= self.risk_was_asked.load(Ordering::Relaxed);
        Preparing::of_model(injection).with_repair(self.repairs())
    }

    /// What counts of a tool's hints.
    pub(crate) fn effective(&self, tool: &RegisteredTool) -> ToolAnnotations {
        let policy = self.policy.load();
        policy.effective(&tool.name, &tool.toolbox, &tool.definition)
    }

    /// What hides the secrets that toolboxes were given so far; `None` where the host has none.
    pub(crate) fn redactor(&self) -> Option<Arc<Redactor>> {
        let secrets = self.secrets.as_ref()?;
        Some(secrets.others.redactor())
    }

    /// What a toolbox may have of the secrets; `None` where the host has none.
    pub(crate) fn secrets_of(&self, toolbox: &str) -> Option<&Arc<SecretAccess>> {
        let secrets = self.secrets.as_ref()?;
        Some(secrets.own.get(toolbox).unwrap_or(&secrets.others))
    }
}
