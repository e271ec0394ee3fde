//! From a request to a call that may run: what is taken out, checked, set right and checked again.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::injected::{self, Injection, Taken};
use super::repair::{Repair, RepairKind, Spelled, repair, spelled, unwrapped};
use super::request::CallRequest;
use super::restore::restore;
use super::told;
use super::valid::{self, ValidCall};
use crate::Result;
use crate::guard::limits::Limits;
use crate::registry::RegisteredTool;
use crate::schema::Schema;

/// What is done with the arguments of a request before and after they are checked.
///
/// The default repairs and takes nothing out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preparing {
    /// Whether arguments that are refused are set right where that is clear. Default: yes.
    pub repair: bool,
    /// The fields that the host injects, which are taken out. Default: none.
    pub injection: Injection,
    /// Whether names that a projection gave to properties become the tool's own ones. Default: no.
    pub api_keys: bool,
}

impl Default for Preparing {
    fn default() -> Self {
        Self {
            repair: true,
            injection: Injection::NONE,
            api_keys: false,
        }
    }
}

impl Preparing {
    /// Arguments are checked and that is all.
    pub const STRICT: Self = Self {
        repair: false,
        injection: Injection::NONE,
        api_keys: false,
    };

    /// For a call that a model made with what the host shows to models.
    pub const fn of_model(injection: Injection) -> Self {
        Self {
            repair: true,
            injection,
            api_keys: true,
        }
    }

    /// The same, with repair on or off.
    #[must_use]
    pub const fn with_repair(mut self, repair: bool) -> Self {
        self.repair = repair;
        self
    }
}

impl CallRequest {
    /// Makes the request a call that may run: takes injected fields out, checks the arguments against
    /// the schema and the limits, and sets them right where they are refused and it is clear what was
    /// meant. Arguments that are valid stay as they are, and pay for no repair.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` with every violation of the arguments as they were given;
    /// `schema_rejected` when the schema does not compile.
    pub fn prepare(
        self,
        tool: &RegisteredTool,
        limits: &Limits,
        preparing: &Preparing,
    ) -> Result<ValidCall> {
        let schema = &tool.definition.input;
        let desk = Desk {
            schema,
            limits,
            preparing,
        };
        let done = desk.prepared(self.arguments, self.repairs);
        let done = done.map_err(|error| error.in_toolbox(&tool.toolbox).in_tool(&tool.name))?;
        Ok(ValidCall {
            definition: Arc::clone(&tool.definition),
            exposed_name: Arc::clone(&tool.name),
            arguments: done.arguments,
            text: done.text,
            id: self.id,
            repairs: done.repairs,
            risk_word: done.taken.risk_word,
            model_summary: done.taken.summary,
            real: None,
            shown: None,
        })
    }
}

/// Arguments that passed, and what came of the rest.
struct Prepared {
    arguments: Map<String, Value>,
    text: String,
    repairs: Vec<Repair>,
    taken: Taken,
}

/// What the arguments of one call are prepared with.
struct Desk<'d> {
    schema: &'d Schema,
    limits: &'d Limits,
    preparing: &'d Preparing,
}

impl Desk<'_> {
    fn prepared(&self, arguments: Value, mut repairs: Vec<Repair>) -> Result<Prepared> {
        if let (false, Some(slip)) = (self.preparing.repair, repairs.first()) {
            let message = format!("the call needs repair, which is off: {slip}");
            return Err(told::invalid(message));
        }
        let mut arguments = self.object(arguments, &mut repairs)?;
        let mut taken = self.cleared(&mut arguments);
        let arguments = Value::Object(arguments);
        let arguments = match valid::check(&arguments, self.schema, self.limits) {
            Ok(()) => arguments,
            Err(failed) => {
                let repaired = self.repaired(&arguments, &mut taken);
                let (arguments, more) =
                    repaired.ok_or_else(|| told::refused(failed, self.schema))?;
                repairs.extend(more);
                arguments
            }
        };
        repairs.extend(taken.repair.take());
        let (arguments, text) = valid::written(arguments, self.limits)?;
        Ok(Prepared {
            arguments,
            text,
            repairs,
            taken,
        })
    }

    /// The arguments as an object; no arguments are an empty one.
    fn object(&self, arguments: Value, repairs: &mut Vec<Repair>) -> Result<Map<String, Value>> {
        match arguments {
            Value::Object(members) => Ok(members),
            Value::Null => Ok(Map::new()),
            Value::String(text) if self.preparing.repair && self.has_room_for(&text) => {
                match spelled(&text, self.limits.json_depth) {
                    Some(Spelled {
                        value: Value::Object(members),
                        kind,
                        note,
                    }) => {
                        repairs.push(Repair::new("", kind, note));
                        Ok(members)
                    }
                    _ => Err(valid::not_an_object(&Value::String(text))),
                }
            }
            other => Err(valid::not_an_object(&other)),
        }
    }

    fn has_room_for(&self, text: &str) -> bool {
        text.len() <= self.limits.arguments_bytes
    }

    /// Takes out what is not the tool's, and gives properties the tool's own names.
    fn cleared(&self, arguments: &mut Map<String, Value>) -> Taken {
        let mut taken = Taken::default();
        if self.preparing.injection.is_any() {
            taken = injected::take(self.schema, arguments, self.preparing.injection);
        }
        if self.preparing.api_keys {
            restore(self.schema, arguments);
        }
        taken
    }

    /// Valid arguments that refused ones clearly mean, and what was changed.
    fn repaired(&self, arguments: &Value, taken: &mut Taken) -> Option<(Value, Vec<Repair>)> {
        if !self.preparing.repair {
            return self.without_nulls(arguments);
        }
        let depth = self.limits.json_depth;
        if let Some((wrapper, mut inner)) = unwrapped(self.schema, arguments, depth) {
            let inside = self.cleared(&mut inner);
            if let Some((arguments, more)) = self.set_right(&Value::Object(inner)) {
                *taken = std::mem::take(taken).or(inside);
                let note = format!("the arguments inside `{wrapper}` were taken");
                let mut repairs = vec![Repair::new("", RepairKind::Wrapping, note)];
                repairs.extend(more);
                return Some((arguments, repairs));
            }
        }
        self.set_right(arguments)
    }

    /// The arguments without the nulls of properties that are left out. A strict form has no other way
    /// to leave one out, so this is no slip of the model's, and done where nothing is repaired, too.
    fn without_nulls(&self, arguments: &Value) -> Option<(Value, Vec<Repair>)> {
        if !self.preparing.api_keys {
            return None;
        }
        let (arguments, repairs) = self.set_right(arguments)?;
        let is_null = |repair: &Repair| repair.kind == RepairKind::NullDropped;
        repairs.iter().all(is_null).then_some((arguments, repairs))
    }

    fn set_right(&self, arguments: &Value) -> Option<(Value, Vec<Repair>)> {
        let repaired = repair(self.schema, arguments, self.limits.json_depth)?;
        let mut arguments = repaired.arguments;
        if self.preparing.api_keys
            && let Value::Object(members) = &mut arguments
        {
            // What was JSON text may hold names that a projection gave.
            restore(self.schema, members);
        }
        valid::check(&arguments, self.schema, self.limits).ok()?;
        Some((arguments, repaired.repairs))
    }
}
