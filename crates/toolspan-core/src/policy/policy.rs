//! What becomes of one call: may it run, is somebody asked, or is it refused?

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::analyzer::{Analyzer, Assessment, Ensemble, ModelWord, guarded};
use super::confirm::Confirm;
use super::decision::{Decision, Verdict};
use super::facts::{self, BuiltIn, Facts};
use super::glob::{self, Glob, Names};
use super::level::{self, Level, Mode, Ruled};
use super::patterns::{Patterns, Protected, harmless};
use super::risk::SecurityRisk;
use super::trust::{self, Hints, Trust};
use crate::annotations::ToolAnnotations;
use crate::definition::ToolDefinition;
use crate::name::NATIVE;

/// How long an approver may take to answer, if the policy does not say.
const APPROVAL_WAIT: Duration = Duration::from_secs(300);

/// The rules by which calls are decided. Never changes; a host swaps it whole.
///
/// The default asks nothing. It still refuses what level 4 refuses: a call that writes to shell
/// start files, `.ssh`, `.git/hooks` or this program's own configuration.
#[derive(Clone)]
pub struct Policy {
    confirm: Confirm,
    mode: Mode,
    analyzer: Option<Arc<dyn Analyzer>>,
    allow: Vec<Glob>,
    deny: Vec<Glob>,
    trust: HashMap<String, Trust>,
    default_trust: Trust,
    overrides: Vec<(Glob, ToolAnnotations)>,
    protected: Protected,
    commands: Vec<Glob>,
    pub(super) approval_wait: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(Confirm::Never)
    }
}

impl Policy {
    /// A policy that asks so much. Unless it never asks, the risk is the higher of the model's own
    /// word and what the built-in [`Patterns`] see.
    pub fn new(confirm: Confirm) -> Self {
        let analyzer = || -> Arc<dyn Analyzer> {
            Arc::new(Ensemble::new().with(ModelWord).with(Patterns::default()))
        };
        Self {
            confirm,
            mode: Mode::Default,
            analyzer: (confirm != Confirm::Never).then(analyzer),
            allow: Vec::new(),
            deny: Vec::new(),
            trust: HashMap::new(),
            default_trust: Trust::Untrusted,
            overrides: Vec::new(),
            protected: Protected::default(),
            commands: Vec::new(),
            approval_wait: APPROVAL_WAIT,
        }
    }

    /// Sets how strictly the levels are read.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets who judges the risk, or nobody: then it is unknown.
    #[must_use]
    pub fn with_analyzer(mut self, analyzer: Option<Arc<dyn Analyzer>>) -> Self {
        self.analyzer = analyzer;
        self
    }

    /// Adds tools that run without a question, unless an analyzer knows this very call to be at or
    /// above the threshold. Level 4 and `deny` win. A pattern means a tool by its exposed name, by
    /// `toolbox.tool` with the source's own name, or a native tool by an alias.
    #[must_use]
    pub fn with_allow(mut self, globs: impl IntoIterator<Item = Glob>) -> Self {
        self.allow.extend(globs);
        self
    }

    /// Adds tools that never run. A pattern means a tool by any of its names: the exposed one, the one
    /// that its source or a config gives it, alone or as `toolbox.tool`, and an alias.
    #[must_use]
    pub fn with_deny(mut self, globs: impl IntoIterator<Item = Glob>) -> Self {
        self.deny.extend(globs);
        self
    }

    /// Says how far a toolbox is trusted, by its key in the config.
    #[must_use]
    pub fn with_trust(mut self, toolbox: impl Into<String>, trust: Trust) -> Self {
        self.trust.insert(toolbox.into(), trust);
        self
    }

    /// Says how far toolboxes are trusted that nothing is said of. Default: untrusted. Native tools
    /// are a part of the program and always trusted, unless [`Policy::with_trust`] says otherwise.
    #[must_use]
    pub fn with_default_trust(mut self, trust: Trust) -> Self {
        self.default_trust = trust;
        self
    }

    /// Adds hints of the user's own for tools of a pattern. They win over the source's, hint by
    /// hint; of several patterns that mean a tool, the last one added counts.
    #[must_use]
    pub fn with_override(mut self, tools: Glob, annotations: ToolAnnotations) -> Self {
        self.overrides.push((tools, annotations));
        self
    }

    /// Adds paths that level 4 keeps from being written: a file or a folder with all in it, such as
    /// the place where this host keeps its configuration. The paths are compared as text.
    #[must_use]
    pub fn with_protected<P: AsRef<str>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            self.protected.add(path.as_ref());
        }
        self
    }

    /// Adds commands that a shell tool may run as level 1: patterns over a whole command line of
    /// plain words (`cargo check*`). A line with any shell syntax is never one.
    #[must_use]
    pub fn with_commands(mut self, globs: impl IntoIterator<Item = Glob>) -> Self {
        self.commands.extend(globs);
        self
    }

    /// Sets how long an approver may take to answer. Default: 300 s.
    #[must_use]
    pub fn with_approval_wait(mut self, wait: Duration) -> Self {
        self.approval_wait = wait;
        self
    }

    /// Which calls are asked about.
    pub fn confirm(&self) -> Confirm {
        self.confirm
    }

    /// Whether exported schemas need the field `security_risk` for tools that are not read-only.
    pub fn wants_model_risk(&self) -> bool {
        self.confirm != Confirm::Never
    }

    /// Whether nothing but level 4 can keep a call from running: nothing is asked, no tool is
    /// denied, nobody judges. No approver is needed then, and [`Policy::decide`] costs a look at
    /// the names and types of the arguments.
    pub fn is_open(&self) -> bool {
        self.confirm == Confirm::Never && self.deny.is_empty() && self.analyzer.is_none()
    }

    /// How far a toolbox is trusted.
    pub fn trust_of(&self, toolbox: &str) -> Trust {
        let unsaid = || match toolbox {
            NATIVE => Trust::Trusted,
            _ => self.default_trust,
        };
        self.trust.get(toolbox).copied().unwrap_or_else(unsaid)
    }

    /// The annotations of a tool that count: the user's, then a believed source's, then the
    /// pessimistic defaults.
    pub fn effective(
        &self,
        exposed: &str,
        toolbox: &str,
        definition: &ToolDefinition,
    ) -> ToolAnnotations {
        let names = Names {
            exposed,
            toolbox,
            original: &definition.name,
            shown: definition.shown_name(),
        };
        let source = definition.annotations.as_ref();
        trust::effective(source, self.trust_of(toolbox), self.override_of(names))
    }

    /// The level of a tool before anything is known of a call, and the rule in words: `deny`, or the
    /// table over its effective hints and its source, read as the mode says. What a call does, the risk
    /// of it and untrusted text in the context can only raise it.
    pub fn level_of(
        &self,
        exposed: &str,
        toolbox: &str,
        definition: &ToolDefinition,
    ) -> (Level, Cow<'static, str>) {
        let names = Names {
            exposed,
            toolbox,
            original: &definition.name,
            shown: definition.shown_name(),
        };
        if let Some(glob) = glob::first_of_any(&self.deny, names) {
            return (Level::Refuse, denied_by(glob));
        }
        let trust = self.trust_of(toolbox);
        let source = definition.annotations.as_ref();
        let hints = Hints::from(&trust::hints_only(source, trust, self.override_of(names)));
        let ruled = match facts::speaks(toolbox, exposed) {
            true => level::of_built_in(BuiltIn::Speak),
            false => level::of_tool(hints, trust),
        };
        self.at_last(self.at_first(ruled))
    }

    /// Whether a call that may have been lost can be sent again: the tool's effective annotations
    /// say that it reads or that a second call changes nothing more.
    pub fn may_repeat(&self, exposed: &str, toolbox: &str, definition: &ToolDefinition) -> bool {
        self.effective(exposed, toolbox, definition).is_idempotent()
    }

    /// Decides one call. Runs the analyzers; asks nobody. Never panics, whatever they do.
    pub fn decide(&self, facts: &Facts<'_>) -> Decision {
        let names = facts.names();
        if let Some(glob) = glob::first_of_any(&self.deny, names) {
            return Decision::refused(denied_by(glob));
        }
        let trust = self.trust_of(facts.toolbox);
        let source = facts.definition.annotations.as_ref();
        let hints = Hints::from(&trust::hints_only(source, trust, self.override_of(names)));
        if may_write(facts, hints)
            && let Some(place) = self.protected.written_by(facts)
        {
            return Decision::refused(format!("the call would write to {place}").into());
        }
        let assessment = self.assess(facts, hints);
        let base = self.base_level(facts, hints, trust);
        let tainted = facts.tainted && acts(facts, hints);
        let (level, rule) = self.raised(base, tainted, &assessment);
        let mut decision = Decision {
            level,
            verdict: Verdict::Run,
            rule,
            risk: assessment.risk,
            approved_by: None,
            note: noted(&assessment),
        };
        self.judge(&mut decision, facts);
        decision
    }

    fn override_of(&self, names: Names<'_>) -> Option<&ToolAnnotations> {
        let mut last_first = self.overrides.iter().rev();
        let means = |glob: &Glob| glob::first(std::slice::from_ref(glob), names).is_some();
        let (_, annotations) = last_first.find(|(glob, _)| means(glob))?;
        Some(annotations)
    }

    /// The risk. Of a tool that only reads nobody is asked for one, so that unknown means low.
    fn assess(&self, facts: &Facts<'_>, hints: Hints) -> Assessment {
        let assessed = self.analyzer.as_deref();
        let mut assessment =
            assessed.map_or_else(Assessment::default, |analyzer| guarded(analyzer, facts));
        let reads = match facts.kind() {
            Some(kind) => matches!(kind, BuiltIn::Speak | BuiltIn::Look { .. }),
            None => hints.read_only,
        };
        if reads && assessment.risk == SecurityRisk::Unknown {
            assessment.risk = SecurityRisk::Low;
        }
        assessment
    }

    /// The table, and what the mode `trusted` takes off.
    fn base_level(&self, facts: &Facts<'_>, hints: Hints, trust: Trust) -> Ruled {
        self.at_first(match facts.kind() {
            Some(BuiltIn::Shell { harmless: vouched }) => {
                let harmless = vouched || harmless(facts.arguments, &self.commands);
                level::of_built_in(BuiltIn::Shell { harmless })
            }
            Some(kind) => level::of_built_in(kind),
            None => level::of_tool(hints, trust),
        })
    }

    /// What the mode `trusted` takes off, before anything is added.
    fn at_first(&self, (level, rule): Ruled) -> Ruled {
        match (self.mode, level) {
            (Mode::Trusted, Level::AskOnce) => (Level::Log, rule),
            _ => (level, rule),
        }
    }

    /// What the mode `strict` adds, after everything else.
    fn at_last(&self, (level, rule): Ruled) -> Ruled {
        match (self.mode, level) {
            (Mode::Strict, Level::Log) => (Level::AskOnce, rule),
            _ => (level, rule),
        }
    }

    /// What taint, risk and the mode `strict` add.
    fn raised(
        &self,
        (mut level, mut rule): Ruled,
        tainted: bool,
        assessment: &Assessment,
    ) -> Ruled {
        if tainted {
            level = level.raised();
            rule = format!("{rule}; untrusted text lies in the context").into();
        }
        if self.confirm.raises(assessment.risk) {
            level = level.raised();
            let reason = assessment.reason.as_deref().unwrap_or_default();
            let colon = if reason.is_empty() { "" } else { ": " };
            rule = format!("{rule}; {} risk{colon}{reason}", assessment.risk).into();
        }
        self.at_last((level, rule))
    }

    /// Sets what the level means under this policy.
    fn judge(&self, decision: &mut Decision, facts: &Facts<'_>) {
        let asks = self.confirm.asks(decision.level) && facts.kind() != Some(BuiltIn::Speak);
        decision.verdict = match decision.level {
            Level::Refuse => Verdict::Refuse,
            _ if asks => Verdict::Ask,
            _ => Verdict::Run,
        };
        let known_risky = decision.risk.known().is_some() && self.confirm.raises(decision.risk);
        if decision.verdict == Verdict::Ask
            && !known_risky
            && let Some(glob) = glob::first(&self.allow, facts.names())
        {
            decision.verdict = Verdict::Run;
            let who = format!("the pattern {:?} of policy.allow", glob.as_str());
            decision.approved_by = Some(who.into());
        }
    }
}

fn denied_by(glob: &Glob) -> Cow<'static, str> {
    let pattern = glob.as_str();
    format!("the pattern {pattern:?} of policy.deny means the tool").into()
}

/// Whether the call can write at all, as far as somebody is believed.
fn may_write(facts: &Facts<'_>, hints: Hints) -> bool {
    match facts.kind() {
        Some(BuiltIn::Speak | BuiltIn::Look { .. }) => false,
        Some(_) => true,
        None => !hints.read_only,
    }
}

/// Whether the tool changes something or reaches beyond a closed domain.
fn acts(facts: &Facts<'_>, hints: Hints) -> bool {
    match facts.kind() {
        Some(kind) => !matches!(kind, BuiltIn::Speak | BuiltIn::Look { .. }),
        None => hints.open_world || !hints.read_only,
    }
}

/// The reason of a risk that is unknown, which is else not told.
fn noted(assessment: &Assessment) -> Option<Cow<'static, str>> {
    match assessment.risk {
        SecurityRisk::Unknown | SecurityRisk::Low => assessment.reason.clone(),
        _ => None,
    }
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let patterns = |globs: &[Glob]| -> Vec<String> {
            globs.iter().map(|glob| glob.as_str().to_owned()).collect()
        };
        formatter
            .debug_struct("Policy")
            .field("confirm", &self.confirm)
            .field("mode", &self.mode)
            .field("analyzer", &self.analyzer.is_some())
            .field("allow", &patterns(&self.allow))
            .field("deny", &patterns(&self.deny))
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}
