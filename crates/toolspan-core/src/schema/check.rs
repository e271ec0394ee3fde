//! Does a value comply with a schema, and if not, what is wrong with it?

use serde_json::Value;

use super::budget::{self, Work};
use super::compile::Compiled;
use super::definition::{Definition, Role, Schema};
use super::explain;
use super::measure::{Size, measure, weight};
use super::rejected::SchemaRejected;
use super::violation::{Violation, Violations};
use super::wording::kind_of;

/// Schemas applied in a check that is still explained in full; beyond, the first violation only.
const EXPLAINED_APPLIED: u64 = 100_000;
/// Bytes that explaining alternatives may copy; beyond, the violation is not explained.
const EXPLAINED_BYTES: u64 = 64 * 1024 * 1024;

/// Why a value did not pass a check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckFailed {
    /// The value breaks the schema.
    #[error("{0}")]
    Violations(#[from] Violations),
    /// The schema itself is not usable, which the first check found.
    #[error("{0}")]
    Schema(#[from] SchemaRejected),
}

impl Schema {
    /// Checks a value: arguments against an arguments schema, a result against an output schema.
    ///
    /// Never recurses deeper than [`SchemaLimits`](super::SchemaLimits) allow, whatever the value.
    /// The value is not changed and defaults are not applied. Compiles the schema if need be.
    ///
    /// # Errors
    /// Everything that is wrong with the value, at most
    /// [`SchemaLimits::violations`](super::SchemaLimits::violations) listed; or why the schema is
    /// not usable.
    pub fn check(&self, value: &Value) -> Result<(), CheckFailed> {
        self.check_within(value, usize::MAX)
    }

    /// [`check`](Self::check) of a value that may nest at most `maximum_depth` objects and arrays
    /// in one another. A larger number than [`SchemaLimits::value_depth`] allows nothing more.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    ///
    /// [`SchemaLimits::value_depth`]: super::SchemaLimits::value_depth
    pub fn check_within(&self, value: &Value, maximum_depth: usize) -> Result<(), CheckFailed> {
        let definition = &*self.definition;
        let maximum_depth = maximum_depth.min(definition.limits.value_depth);
        if self.role == Role::Arguments && !value.is_object() {
            let violation = whole("an object with the arguments", kind_of(value), "type");
            return Err(Violations::single(violation).into());
        }
        let size = measure(value, maximum_depth)
            .map_err(|_| Violations::single(too_deep(maximum_depth)))?;
        let compiled = self.compiled()?;
        allow(definition, value, size)?;
        if compiled.validator.is_valid(value) {
            return Ok(());
        }
        Err(violations(definition, compiled, (value, size)).into())
    }
}

/// Refuses a check that would take too much stack or time.
pub(super) fn allow(definition: &Definition, value: &Value, size: Size) -> Result<(), Violations> {
    let (costs, limits) = (&definition.costs, &definition.limits);
    let mut nested = costs.applied_depth.saturating_mul(size.depth + 1);
    if !costs.recursive {
        nested = nested.min(costs.longest_way);
    }
    if nested > limits.nested_evaluations {
        return Err(Violations::single(too_much("nesting")));
    }
    let most = size
        .values
        .saturating_add(size.text.saturating_mul(costs.text_cost));
    let bound = costs.expanded_size.saturating_mul(most);
    if (costs.recursive || bound > limits.evaluations)
        && budget::count(&definition.graph, costs, value, limits.evaluations).is_none()
    {
        return Err(Violations::single(too_much("evaluations")));
    }
    Ok(())
}

/// Explains why a value is not valid. Explaining copies the value once per alternative, and makes
/// an error per schema that fails, so it is bounded as well.
fn violations(
    definition: &Definition,
    compiled: &Compiled,
    (value, size): (&Value, Size),
) -> Violations {
    let (costs, limits) = (&definition.costs, &definition.limits);
    let work = budget::count(&definition.graph, costs, value, limits.evaluations);
    let work = work.unwrap_or(Work {
        applied: u64::MAX,
        evaluations: u64::MAX,
        busiest: u64::MAX,
    });
    let depth = u64::try_from(size.depth + 1).unwrap_or(u64::MAX);
    let copies = work.busiest.saturating_mul(depth);
    if costs.has_alternatives && copies.saturating_mul(weight(value)) > EXPLAINED_BYTES {
        return Violations::new(vec![unexplained(value)], None);
    }
    let explain = explain::Explain::new(definition, value);
    if work.applied > EXPLAINED_APPLIED {
        let first = compiled.validator.validate(value).err();
        let listed = first.map_or_else(|| vec![unexplained(value)], |error| explain.error(&error));
        return Violations::new(listed, None);
    }
    let mut listed = Vec::new();
    let mut unlisted: usize = 0;
    for error in compiled.validator.iter_errors(value) {
        for violation in explain.error(&error) {
            if listed.len() < limits.violations.max(1) {
                listed.push(violation);
            } else {
                unlisted = unlisted.saturating_add(1);
            }
        }
    }
    if listed.is_empty() {
        listed.push(unexplained(value));
    }
    Violations::new(listed, Some(unlisted))
}

fn whole(expected: impl Into<String>, found: impl Into<String>, keyword: &str) -> Violation {
    Violation {
        pointer: String::new(),
        expected: expected.into(),
        found: found.into(),
        keyword: keyword.to_owned(),
        schema_pointer: String::new(),
    }
}

fn too_deep(maximum: usize) -> Violation {
    let expected = format!("at most {maximum} objects and arrays inside one another");
    whole(expected, "a value nested more deeply", "value_depth")
}

fn too_much(what: &str) -> Violation {
    let found = "one that this schema makes too much work to check";
    whole("a smaller or less nested value", found, what)
}

fn unexplained(value: &Value) -> Violation {
    let found = format!("{} that does not, too large to explain", kind_of(value));
    whole("a value that matches the schema", found, "")
}
