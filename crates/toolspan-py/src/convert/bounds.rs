//! How much of a value has been read, and inside which objects does the reader stand?

use pyo3::prelude::*;
use toolspan::guard::limits::Limits;

use super::refused::Refusal;

/// Values that are read at most, whatever their size: a value of `[]` takes 3 bytes of JSON and
/// some 70 of memory. A list of a million numbers is read.
const MOST_VALUES: usize = 1 << 20;

/// What is left of the bounds of one value, and the way from its root to the reader.
pub(super) struct Bounds {
    depth: usize,
    depth_left: usize,
    bytes: usize,
    bytes_left: usize,
    values_left: usize,
    /// Addresses of the objects that the reader is inside of; each is kept alive by its owner's
    /// reference, so none comes again as another object. At most twice `depth` of them: a model
    /// stands beside the dict that it gave.
    inside: Vec<usize>,
    /// The outermost of them, apart: almost all arguments are flat, and take no memory so.
    outermost: Option<usize>,
}

impl Bounds {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            depth: limits.json_depth,
            depth_left: limits.json_depth,
            bytes: limits.arguments_bytes,
            bytes_left: limits.arguments_bytes,
            values_left: MOST_VALUES,
            inside: Vec::new(),
            outermost: None,
        }
    }

    /// Counts at least so many bytes of JSON.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes_left = self
            .bytes_left
            .checked_sub(bytes)
            .ok_or_else(|| Refusal::too_large(self.bytes))?;
        Ok(())
    }

    /// Counts so many values inside another one, before there is room for them: whatever is set
    /// aside for them is bounded too.
    pub(super) fn hold(&mut self, values: usize) -> Result<(), Refusal> {
        self.values_left = self
            .values_left
            .checked_sub(values)
            .ok_or_else(|| Refusal::too_many(MOST_VALUES))?;
        Ok(())
    }

    /// Goes into an array or object of JSON. Whoever entered leaves, unless it was refused.
    pub(super) fn enter(&mut self, value: &Bound<'_, PyAny>) -> Result<(), Refusal> {
        self.enter_model(value)?;
        self.depth_left = self
            .depth_left
            .checked_sub(1)
            .ok_or_else(|| Refusal::too_deep(self.depth))?;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.leave_model();
        self.depth_left += 1;
    }

    /// Goes into an object that is written as another one, and so is no nesting of its own.
    pub(super) fn enter_model(&mut self, value: &Bound<'_, PyAny>) -> Result<(), Refusal> {
        let address = value.as_ptr().addr();
        if self.outermost == Some(address) || self.inside.contains(&address) {
            return Err(Refusal::inside_itself(value));
        }
        match self.outermost {
            None => self.outermost = Some(address),
            Some(_) => self.inside.push(address),
        }
        Ok(())
    }

    pub(super) fn leave_model(&mut self) {
        if self.inside.pop().is_none() {
            self.outermost = None;
        }
    }
}
