//! By which rules are calls decided, as the config says?

use std::str::FromStr;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolspan_core::ToolAnnotations;
use toolspan_core::policy::{Confirm, Glob, KnownRisk, Mode, Policy, SecurityRisk, Trust};

use super::bounds::seconds;
use super::field::{Field, Table};
use super::keys::{self, did_you_mean, nearest};
use super::problem::{Problem, Warnings, quoted};

/// Most patterns in one list of rules.
const MOST: usize = 1_000;

/// The words of `mode`.
const MODES: [(&str, Mode); 3] = [
    ("default", Mode::Default),
    ("strict", Mode::Strict),
    ("trusted", Mode::Trusted),
];

/// The words of `trust`, the least first.
const TRUSTS: [(&str, Trust); 3] = [
    ("untrusted", Trust::Untrusted),
    ("annotations", Trust::Annotations),
    ("trusted", Trust::Trusted),
];

/// The words of `threshold`.
const THRESHOLDS: [(&str, KnownRisk); 3] = [
    ("low", KnownRisk::Low),
    ("medium", KnownRisk::Medium),
    ("high", KnownRisk::High),
];

/// The words of `confirm`.
const CONFIRMS: [&str; 3] = ["never", "risky", "always"];

/// The `policy` of a config. How far a toolbox is trusted stands in its own entry
/// ([`ToolboxConfig::trust`](super::ToolboxConfig::trust)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyConfig {
    /// Which calls are asked about, with the threshold and what is unknown. Default: none.
    pub confirm: Confirm,
    /// How strictly the levels are read.
    pub mode: Mode,
    /// Tools that run without a question.
    pub allow: Vec<Glob>,
    /// Tools that never run.
    pub deny: Vec<Glob>,
    /// Command lines that a shell tool may run without a question.
    pub commands: Vec<Glob>,
    /// Hints of the user's own for tools of a pattern, hint by hint over the source's.
    pub annotations: Vec<(Glob, ToolAnnotations)>,
    /// How long an answer may take; `None` for the policy's own default.
    pub approval_wait: Option<Duration>,
}

impl PolicyConfig {
    /// The rules, before anything is said of a toolbox.
    pub fn to_policy(&self) -> Policy {
        let mut policy = Policy::new(self.confirm)
            .with_mode(self.mode)
            .with_allow(self.allow.iter().cloned())
            .with_deny(self.deny.iter().cloned())
            .with_commands(self.commands.iter().cloned());
        for (tools, annotations) in &self.annotations {
            policy = policy.with_override(tools.clone(), annotations.clone());
        }
        match self.approval_wait {
            Some(wait) => policy.with_approval_wait(wait),
            None => policy,
        }
    }

    /// Refuses a key at the top that is likely a slip of `policy`.
    pub(super) fn refuse_slips<'n>(
        top: &Table<'_>,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<(), Problem> {
        let is_slip = |key: &str| {
            let is_known = known.clone().any(|known| known == key);
            !is_known && nearest(key, known.clone()) == Some("policy")
        };
        let slip = top
            .entries()
            .find(|(key, field)| !field.is_null() && is_slip(key));
        slip.map_or(Ok(()), |(_, field)| {
            Err(field.problem(PASSED_OVER).with_hint(did_you_mean("policy")))
        })
    }

    /// Reads `policy`. Whatever is wrong in it is an error: to pass over a rule would be unsafe.
    pub(super) fn read(field: &Field<'_>, warnings: &mut Warnings) -> Result<Self, Problem> {
        let table = field.table()?;
        refuse_unknown(&table, keys::POLICY)?;
        let patterns = |key| {
            let list = table.get(key);
            list.map_or_else(|| Ok(Vec::new()), |list| read_patterns(&list))
        };
        let wait = table.get("approval_wait");
        Ok(Self {
            confirm: read_confirm(&table)?,
            mode: word(table.get("mode"), &MODES)?.unwrap_or_default(),
            allow: patterns("allow")?,
            deny: patterns("deny")?,
            commands: patterns("commands")?,
            annotations: read_annotations(&table)?,
            approval_wait: wait.map(|wait| seconds(&wait, warnings)).transpose()?,
        })
    }

    /// The policy as `config show` has it.
    pub(super) fn to_json(&self) -> Value {
        let (threshold, unknown) = match self.confirm {
            Confirm::Risky {
                threshold,
                confirm_unknown,
            } => (
                Some(SecurityRisk::from(threshold).as_str()),
                Some(confirm_unknown),
            ),
            _ => (None, None),
        };
        let annotations = self.annotations.iter().map(|(glob, annotations)| {
            let annotations = serde_json::to_value(annotations).unwrap_or_default();
            (glob.as_str().to_owned(), annotations)
        });
        json!({
            "confirm": self.confirm.as_str(),
            "threshold": threshold,
            "confirm_unknown": unknown,
            "mode": named(&MODES, self.mode),
            "allow": texts(&self.allow),
            "deny": texts(&self.deny),
            "commands": texts(&self.commands),
            "annotations": annotations.collect::<Map<_, _>>(),
            "approval_wait": self.approval_wait.map(|wait| wait.as_secs_f64()),
        })
    }
}

fn texts(globs: &[Glob]) -> Vec<&str> {
    globs.iter().map(Glob::as_str).collect()
}

/// Reads the `trust` of a toolbox. True or false is what another program has under this key: whether
/// it asks. That is no statement about hints.
pub(super) fn read_trust(table: &Table<'_>, warnings: &mut Warnings) -> Result<Trust, Problem> {
    let field = table.get("trust");
    if let Some(field) = field.as_ref().filter(|field| field.flag().is_ok()) {
        warnings.note(|| {
            let message = "true or false is for other hosts and has no effect here";
            field.problem(message).with_hint("see \"policy\"")
        });
        return Ok(Trust::default());
    }
    Ok(word(field, &TRUSTS)?.unwrap_or_default())
}

/// The word for a trust.
pub(super) fn trust_word(trust: Trust) -> &'static str {
    named(&TRUSTS, trust)
}

/// The words that a key of rules takes, for editors.
pub(super) fn words(key: &str) -> Vec<&'static str> {
    fn names<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
        words.iter().map(|(word, _)| *word).collect()
    }
    match key {
        "confirm" => CONFIRMS.to_vec(),
        "threshold" => names(&THRESHOLDS),
        "mode" => names(&MODES),
        "trust" => names(&TRUSTS),
        _ => Vec::new(),
    }
}

fn read_confirm(table: &Table<'_>) -> Result<Confirm, Problem> {
    let all: Vec<(&'static str, Confirm)> = CONFIRMS
        .iter()
        .filter_map(|word| Some((*word, Confirm::from_str(word).ok()?)))
        .collect();
    let mut confirm = word(table.get("confirm"), &all)?.unwrap_or_default();
    for key in ["threshold", "confirm_unknown"] {
        if let Some(field) = table.get(key)
            && !matches!(confirm, Confirm::Risky { .. })
        {
            let message = format!(
                "this counts only where \"confirm\" is \"risky\", and it is \"{}\"",
                confirm.as_str()
            );
            let hint = "set \"confirm\" to \"risky\", or remove this";
            return Err(field.problem(message).with_hint(hint));
        }
    }
    if let Confirm::Risky {
        threshold,
        confirm_unknown,
    } = &mut confirm
    {
        if let Some(set) = word(table.get("threshold"), &THRESHOLDS)? {
            *threshold = set;
        }
        if let Some(field) = table.get("confirm_unknown") {
            *confirm_unknown = field.flag()?;
        }
    }
    Ok(confirm)
}

/// Reads `annotations`: an object from patterns of tools to hints.
fn read_annotations(table: &Table<'_>) -> Result<Vec<(Glob, ToolAnnotations)>, Problem> {
    let Some(field) = table.get("annotations") else {
        return Ok(Vec::new());
    };
    let entries = field.table()?;
    field.refuse_over(MOST, entries.len())?;
    let mut annotations = Vec::with_capacity(entries.len());
    for (pattern, hints) in entries.entries() {
        let glob = Glob::new(pattern).map_err(|error| hints.problem(error.to_string()))?;
        annotations.push((glob, read_hints(&hints)?));
    }
    Ok(annotations)
}

fn read_hints(field: &Field<'_>) -> Result<ToolAnnotations, Problem> {
    let table = field.table()?;
    refuse_unknown(&table, keys::HINTS)?;
    let hint = |key| table.get(key).map(|field| field.flag()).transpose();
    let mut annotations = ToolAnnotations::default();
    if let Some(title) = table.get("title") {
        annotations.title = Some(title.text()?.to_owned());
    }
    annotations.read_only_hint = hint("readOnlyHint")?;
    annotations.destructive_hint = hint("destructiveHint")?;
    annotations.idempotent_hint = hint("idempotentHint")?;
    annotations.open_world_hint = hint("openWorldHint")?;
    Ok(annotations)
}

fn read_patterns(field: &Field<'_>) -> Result<Vec<Glob>, Problem> {
    let mut globs = Vec::new();
    for item in field.items()? {
        if globs.len() == MOST {
            return Err(field.problem(format!("this list has more than {MOST} patterns")));
        }
        let text = item.text()?;
        let glob = Glob::new(text).map_err(|error| item.problem(error.to_string()))?;
        globs.push(glob);
    }
    Ok(globs)
}

/// The value that a word stands for; `None` where nothing is said.
fn word<T: Copy>(
    field: Option<Field<'_>>,
    words: &[(&'static str, T)],
) -> Result<Option<T>, Problem> {
    let Some(field) = field else {
        return Ok(None);
    };
    let given = field.text()?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == given) {
        return Ok(Some(*value));
    }
    let known: Vec<String> = words.iter().map(|(word, _)| quoted(word)).collect();
    let message = format!("this must be {}", known.join(", "));
    let problem = field.problem(message);
    match nearest(given, words.iter().map(|(word, _)| *word)) {
        Some(near) => Err(problem.with_hint(did_you_mean(near))),
        None => Err(problem),
    }
}

/// The word that stands for a value. Every value of a table has one.
fn named<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    let found = words.iter().find(|(_, known)| *known == value);
    found.map_or("", |(word, _)| word)
}

/// What is wrong with a key that may be meant for a rule.
const PASSED_OVER: &str = "this key is unknown, and to pass over a rule would be unsafe";

/// Refuses a key that is not known: it may be a rule that would then not hold.
fn refuse_unknown(table: &Table<'_>, known: &[&str]) -> Result<(), Problem> {
    let unknown = table
        .entries()
        .find(|(key, field)| !known.contains(key) && !field.is_null());
    let Some((key, field)) = unknown else {
        return Ok(());
    };
    let problem = field.problem(PASSED_OVER);
    match nearest(key, known.iter().copied()) {
        Some(near) => Err(problem.with_hint(did_you_mean(near))),
        None => Err(problem.with_hint(format!("the keys are {}", known.join(", ")))),
    }
}
