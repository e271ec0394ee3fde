//! Which fields does a host put beside a tool's own arguments, and under which names?
//!
//! A host may ask the model for a word on the risk and for a summary of each call. The fields stand
//! first in the schema that the model sees and are taken out of its answer before the arguments are
//! checked. A field of the tool's own with such a name is the tool's: ours steps aside.

use std::borrow::Cow;

use crate::schema::Schema;

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
