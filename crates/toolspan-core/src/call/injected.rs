//! Which fields does a host put beside a tool's own arguments, and under which names?
//!
//! A host may ask the model for a word on the risk and for a summary of each call. The fields stand
//! first in the schema that the model sees and are taken out of its answer before the arguments are
//! checked. A field of the tool's own with such a name is the tool's: ours steps aside.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::repair::{Repair, RepairKind};
use crate::guard::sanitise;
use crate::schema::{Schema, escaped};

/// The name of the field for the model's word on the risk, where the tool leaves it free.
pub const SECURITY_RISK: &str = "security_risk";
/// The name of the field for the model's summary of the call, where the tool leaves it free.
pub const SUMMARY: &str = "summary";
/// What the name begins with where the tool declares it itself.
const ASIDE: &str = "toolspan_";

/// Which fields a host injects. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Injection {
    /// The model's word on the risk of a call.
    pub security_risk: bool,
    /// The model's summary of a call.
    pub summary: bool,
}

impl Injection {
    /// No field.
    pub const NONE: Self = Self::new(false, false);

    /// These fields.
    pub const fn new(security_risk: bool, summary: bool) -> Self {
        Self {
            security_risk,
            summary,
        }
    }

    /// Whether there is any field.
    pub const fn is_any(self) -> bool {
        self.security_risk || self.summary
    }
}

/// The names of the injected fields beside the arguments of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InjectedNames {
    /// `security_risk`, or another name where the tool declares that one.
    pub security_risk: Cow<'static, str>,
    /// `summary`, or another name where the tool declares that one.
    pub summary: Cow<'static, str>,
}

/// The names of the injected fields beside these arguments; the same each time.
///
/// Where the schema names the property itself, at its root or in whatever applies there, the name
/// is `toolspan_security_risk`, and where that is taken too `toolspan_security_risk_2` and so on.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::call::injected;
/// use toolspan_core::schema::Schema;
///
/// let issue = Schema::for_arguments(json!({"properties": {"summary": {"type": "string"}}}))?;
/// let names = injected::names(&issue);
/// assert_eq!(names.security_risk, "security_risk");
/// assert_eq!(names.summary, "toolspan_summary");
/// # Ok::<(), toolspan_core::schema::SchemaRejected>(())
/// ```
pub fn names(schema: &Schema) -> InjectedNames {
    InjectedNames {
        security_risk: free(schema, SECURITY_RISK),
        summary: free(schema, SUMMARY),
    }
}

/// Whether a field of ours may have this name beside the arguments of some tool.
pub(super) fn is_ours(name: &str) -> bool {
    name == SECURITY_RISK || name == SUMMARY || name.starts_with(ASIDE)
}

/// The wished name, or the first of its stand-ins that the schema does not name. Ends, since a
/// schema names a bounded number of properties.
fn free(schema: &Schema, wished: &'static str) -> Cow<'static, str> {
    if !schema.names_property(wished) {
        return Cow::Borrowed(wished);
    }
    let first = format!("{ASIDE}{wished}");
    let mut name = first.clone();
    let mut count = 1_u32;
    while schema.names_property(&name) {
        count = count.saturating_add(1);
        name = format!("{first}_{count}");
    }
    Cow::Owned(name)
}

/// Characters kept of the model's word on the risk.
const WORD_CHARS: usize = 40;
/// Characters kept of the model's summary.
const SUMMARY_CHARS: usize = 300;
/// Slips in the name of the risk field that are forgiven.
const SLIPS: usize = 3;
/// The words that models are asked to choose from.
const RISK_WORDS: &[&str] = &["unknown", "low", "medium", "high"];

/// What was taken out of the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// The model's word on the risk, as it gave it.
    pub(super) risk_word: Option<String>,
    /// The model's summary, one line.
    pub(super) summary: Option<String>,
    /// Set where the name of the risk field was misspelled.
    pub(super) repair: Option<Repair>,
}

impl Taken {
    /// What was found first, with what was found later where there was nothing.
    pub(super) fn or(self, later: Self) -> Self {
        Self {
            risk_word: self.risk_word.or(later.risk_word),
            summary: self.summary.or(later.summary),
            repair: self.repair.or(later.repair),
        }
    }
}

/// Takes the injected fields out of the arguments; the order of the others stays. A field of the
/// tool's own is never taken. What is not text is taken and forgotten.
pub(super) fn take(
    schema: &Schema,
    arguments: &mut Map<String, Value>,
    injection: Injection,
) -> Taken {
    let mut taken = Taken::default();
    if injection.security_risk {
        let mut word = take_field(schema, arguments, SECURITY_RISK);
        if word.is_none()
            && let Some(name) = misspelled_risk(schema, arguments)
        {
            word = arguments.shift_remove(&name);
            let pointer = format!("/{}", escaped(&name));
            let note = format!("read as `{SECURITY_RISK}`");
            taken.repair = Some(Repair::new(pointer, RepairKind::PropertyName, note));
        }
        taken.risk_word = text(word, WORD_CHARS);
    }
    if injection.summary {
        taken.summary = text(take_field(schema, arguments, SUMMARY), SUMMARY_CHARS);
    }
    taken
}

/// Takes one field by the name it has beside these arguments. Looks at the schema only where the
/// arguments have such a field.
fn take_field(
    schema: &Schema,
    arguments: &mut Map<String, Value>,
    wished: &'static str,
) -> Option<Value> {
    let may_be_there =
        arguments.contains_key(wished) || arguments.keys().any(|name| name.starts_with(ASIDE));
    if !may_be_there {
        return None;
    }
    arguments.shift_remove(&*free(schema, wished))
}

/// A field that the tool does not know, whose name is nearly the risk field's and whose value is one
/// of the words asked for: `security_rort`, `securtiy_risk`.
fn misspelled_risk(schema: &Schema, arguments: &Map<String, Value>) -> Option<String> {
    let is_word = |value: &Value| {
        let word = value.as_str().map(str::trim);
        word.is_some_and(|word| RISK_WORDS.iter().any(|it| it.eq_ignore_ascii_case(word)))
    };
    let is_near = |name: &str| {
        name != SECURITY_RISK
            && name.starts_with("sec")
            && name.len().abs_diff(SECURITY_RISK.len()) <= SLIPS
            && strsim::damerau_levenshtein(name, SECURITY_RISK) <= SLIPS
    };
    let mut near = arguments
        .iter()
        .filter(|(name, value)| is_near(name) && is_word(value))
        .map(|(name, _)| name);
    let name = near.next()?;
    let is_only = near.next().is_none();
    let is_free = !schema.names_property(SECURITY_RISK) && !schema.names_property(name);
    (is_only && is_free).then(|| name.clone())
}

/// The text of a field, in one bounded line; `None` where it is no text or blank.
fn text(value: Option<Value>, characters: usize) -> Option<String> {
    let value = value?;
    let text = value.as_str()?.trim();
    (!text.is_empty()).then(|| sanitise::one_line(text, characters))
}
