//! Why is a Python value not taken, where in it is the fault, and what can be done?

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use toolspan::guard::sanitise;
use toolspan::schema::Violation;
use toolspan::{Error, ErrorKind, Phase};

use crate::error;

/// Characters of a type's name that are shown.
const LONGEST_TYPE: usize = 120;
/// Characters of one key of a pointer that are shown.
const LONGEST_KEY: usize = 200;

/// What a door is given instead of a value.
pub(crate) enum Refused {
    /// The value is no JSON, and what was raised while it was read, if that is why.
    Value(Box<Error>, Option<PyErr>),
    /// Something else was raised that is not about the value, such as `KeyboardInterrupt`, or a
    /// `TypeError` for a call that is written wrongly.
    Raised(PyErr),
}

impl Refused {
    /// Changes the error, such as to say which tool it was.
    pub(crate) fn map(self, change: impl FnOnce(Error) -> Error) -> Self {
        match self {
            Self::Value(error, cause) => Self::Value(Box::new(change(*error)), cause),
            raised => raised,
        }
    }

    /// A `ValueError` that says so, where the value is none that was given to a tool.
    pub(crate) fn raised_of_result(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Value(error, cause) => {
                let raised = error::raised(py, *error).value(py).to_string();
                let raised = PyValueError::new_err(raised);
                raised.set_cause(py, cause);
                raised
            }
            Self::Raised(raised) => raised,
        }
    }

    /// The exception that says so.
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Value(error, cause) => {
                let raised = error::raised(py, *error);
                if cause.is_some() {
                    raised.set_cause(py, cause);
                }
                raised
            }
            Self::Raised(raised) => raised,
        }
    }
}

/// A refusal on its way out of the value: the pointer grows from its end. It is boxed, for it goes
/// through every level, and hardly ever comes about.
pub(super) struct Refusal(Box<Parts>);

struct Parts {
    /// The keys and positions on the way to the place, the innermost first.
    way: Vec<String>,
    /// Whether it is about the whole value, wherever the reader stood.
    is_about_whole: bool,
    reason: Reason,
}

enum Reason {
    Fault {
        expected: String,
        found: String,
        hint: &'static str,
        cause: Option<PyErr>,
    },
    Raised(PyErr),
}

impl Refusal {
    pub(super) fn new(
        expected: impl Into<String>,
        found: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        let reason = Reason::Fault {
            expected: expected.into(),
            found: found.into(),
            hint,
            cause: None,
        };
        Self::of_reason(reason)
    }

    fn of_reason(reason: Reason) -> Self {
        Self(Box::new(Parts {
            way: Vec::new(),
            is_about_whole: false,
            reason,
        }))
    }

    /// What the value's own code raised while it was read. What is no `Exception`, such as
    /// `KeyboardInterrupt`, goes its own way.
    pub(super) fn of_code(value: &Bound<'_, PyAny>, raised: PyErr) -> Self {
        let py = value.py();
        if !raised.is_instance_of::<PyException>(py) {
            return Self::of_reason(Reason::Raised(raised));
        }
        // The text of the exception stays with it: it may quote what is in the value.
        let raised_type = name_of(&raised.get_type(py));
        let found = format!("{} that raised {raised_type}", kind_of(value));
        let mut refusal = Self::new("a value that can be read", found, "");
        if let Reason::Fault { cause, .. } = &mut refusal.0.reason {
            *cause = Some(raised);
        }
        refusal
    }

    pub(super) fn too_large(bytes: usize) -> Self {
        let expected = format!("at most {bytes} bytes of JSON (limits.arguments_bytes)");
        Self::new(expected, "more", "send less, or raise the limit").about_whole()
    }

    pub(super) fn too_many(values: usize) -> Self {
        let expected = format!("at most {values} values");
        Self::new(expected, "more", "send less at once").about_whole()
    }

    fn about_whole(mut self) -> Self {
        self.0.is_about_whole = true;
        self
    }

    pub(super) fn too_deep(depth: usize) -> Self {
        let expected =
            format!("at most {depth} lists and dicts inside one another (limits.json_depth)");
        Self::new(expected, "one more", "nest it less deeply")
    }

    pub(super) fn inside_itself(value: &Bound<'_, PyAny>) -> Self {
        let found = format!("{} inside itself", kind_of(value));
        Self::new(
            "a value that ends",
            found,
            "send a copy of the part that is needed",
        )
    }

    /// Says that the place is below this key or position.
    pub(super) fn below(mut self, step: impl ToString) -> Self {
        self.0.way.push(step.to_string());
        self
    }

    /// The refusal as the door's: what is not JSON is `subject`, such as `the arguments`.
    pub(super) fn of(self, subject: &str) -> Refused {
        let pointer = self.0.pointer();
        match self.0.reason {
            Reason::Raised(raised) => Refused::Raised(raised),
            Reason::Fault {
                expected,
                found,
                hint,
                cause,
            } => {
                let violation = Violation::new(pointer, expected, found);
                let message = format!("{subject} cannot be written as JSON: {violation}");
                let mut error = Error::new(ErrorKind::InvalidArguments, Phase::Validate, message)
                    .with_violations(vec![violation]);
                if !hint.is_empty() {
                    error = error.with_hint(hint);
                }
                Refused::Value(Box::new(error), cause)
            }
        }
    }
}

impl Parts {
    /// The place as a JSON pointer (RFC 6901).
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        if self.is_about_whole {
            return pointer;
        }
        for step in self.way.iter().rev() {
            let cut: String = step.chars().take(LONGEST_KEY).collect();
            pointer.push('/');
            pointer.push_str(&cut.replace('~', "~0").replace('/', "~1"));
        }
        pointer
    }
}

/// The type of a value in words, such as `a value of the type datetime.date`.
pub(super) fn kind_of(value: &Bound<'_, PyAny>) -> String {
    format!("a value of the type {}", name_of(&value.get_type()))
}

fn name_of(class: &Bound<'_, PyType>) -> String {
    let name = class.fully_qualified_name();
    let name = name.map_or_else(|_| "object".to_owned(), |name| name.to_string());
    sanitise::one_line(&name, LONGEST_TYPE)
}
