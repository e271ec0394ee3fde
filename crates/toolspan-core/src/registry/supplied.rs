//! What does a model see of a tool some of whose arguments are supplied by the host?

use serde_json::{Map, Value};

/// Most schemas that are looked at; more is too intricate to take a property out.
const LOOKED_AT: usize = 10_000;
/// How deep schemas that apply to the same object may lie in each other.
const DEEPEST: usize = 8;

/// A schema for callers that may leave an argument out, as it is always supplied; with `hide`, they
/// do not see it at all.
///
/// Where a rule cannot be said without the argument, it is left out: the schema is then wider than
/// the tool's own, which has the last word, and never narrower.
///
/// # Errors
///
/// Why the argument cannot be taken out.
pub(super) fn without(schema: &Value, argument: &str, hide: bool) -> Result<Value, String> {
    let mut taking = Taking {
        root: schema,
        argument,
        room: LOOKED_AT,
    };
    let how = How {
        hide,
        depth: DEEPEST,
    };
    taking.out_of(schema, how)
}

#[derive(Clone, Copy)]
struct How {
    hide: bool,
    /// How deep further schemas may lie.
    depth: usize,
}

impl How {
    const fn shown(self) -> Self {
        Self {
            hide: false,
            ..self
        }
    }
}

struct Taking<'a> {
    root: &'a Value,
    argument: &'a str,
    /// Schemas that may still be looked at.
    room: usize,
}

impl Taking<'_> {
    fn out_of(&mut self, schema: &Value, how: How) -> Result<Value, String> {
        let Value::Object(members) = schema else {
            return Ok(schema.clone());
        };
        let too_intricate = || {
            format!(
                "the schema is too intricate to take {:?} out",
                self.argument
            )
        };
        self.room = self.room.checked_sub(1).ok_or_else(too_intricate)?;
        let how = How {
            depth: how.depth.checked_sub(1).ok_or_else(too_intricate)?,
            ..how
        };
        let mut left = members.clone();
        self.take_from_counts(&mut left, how.hide);
        if let Some(Value::Object(properties)) = left.get_mut("properties")
            && how.hide
        {
            properties.shift_remove(self.argument);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            self.take_from_list(&mut left, keyword, how)?;
        }
        // What a condition asks for cannot be said without the argument; what it leads to can.
        for (condition, group) in [("not", &["not"][..]), ("if", &["if", "then", "else"])] {
            if let Some(inner) = members.get(condition)
                && self.out_of(inner, how)? != *inner
            {
                group
                    .iter()
                    .for_each(|keyword| _ = left.shift_remove(*keyword));
            }
        }
        for keyword in ["then", "else"] {
            if let Some(inner) = left.get(keyword).cloned() {
                left.insert(keyword.to_owned(), self.out_of(&inner, how)?);
            }
        }
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            self.take_from_dependencies(&mut left, keyword, how)?;
        }
        self.take_from_target(&mut left, how)?;
        Ok(Value::Object(left))
    }

    /// The argument is there in any case: it need not be required, and counts already.
    fn take_from_counts(&self, members: &mut Map<String, Value>, hide: bool) {
        if let Some(Value::Array(required)) = members.get_mut("required") {
            required.retain(|name| name != self.argument);
        }
        let counts: &[&str] = match hide {
            true => &["minProperties", "maxProperties"],
            false => &["minProperties"],
        };
        for count in counts {
            if let Some(value) = members.get_mut(*count)
                && let Some(number) = value.as_u64()
            {
                *value = number.saturating_sub(1).into();
            }
        }
    }

    fn take_from_list(
        &mut self,
        members: &mut Map<String, Value>,
        keyword: &str,
        how: How,
    ) -> Result<(), String> {
        let Some(Value::Array(list)) = members.get(keyword).cloned() else {
            return Ok(());
        };
        let mut left = Vec::with_capacity(list.len());
        for schema in &list {
            let taken = self.out_of(schema, how)?;
            // Alternatives that only the argument tells apart would all hold at once.
            if keyword == "oneOf" && how.hide && taken != self.out_of(schema, how.shown())? {
                members.shift_remove(keyword);
                return Ok(());
            }
            left.push(taken);
        }
        members.insert(keyword.to_owned(), left.into());
        Ok(())
    }

    fn take_from_dependencies(
        &mut self,
        members: &mut Map<String, Value>,
        keyword: &str,
        how: How,
    ) -> Result<(), String> {
        let Some(Value::Object(mut rules)) = members.get(keyword).cloned() else {
            return Ok(());
        };
        rules.shift_remove(self.argument);
        for rule in rules.values_mut() {
            match rule {
                Value::Array(names) => names.retain(|name| name != self.argument),
                schema => *schema = self.out_of(schema, how)?,
            }
        }
        members.insert(keyword.to_owned(), rules.into());
        Ok(())
    }

    /// Puts a copy in place of a reference to a schema that speaks of the argument: others may refer
    /// to it for other objects.
    fn take_from_target(
        &mut self,
        members: &mut Map<String, Value>,
        how: How,
    ) -> Result<(), String> {
        let pointer = members.get("$ref").and_then(Value::as_str);
        let pointer = pointer.and_then(|reference| reference.strip_prefix('#'));
        let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) else {
            return Ok(());
        };
        let taken = self.out_of(target, how)?;
        if taken == *target {
            return Ok(());
        }
        members.shift_remove("$ref");
        let all = members
            .entry("allOf")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(all) = all {
            all.push(taken);
        }
        Ok(())
    }
}
