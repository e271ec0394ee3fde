//! How big may a schema be, and how much work may checking a value against it cost?

use crate::guard::Limits;

/// Bounds on one schema and on one check. Every bound is inclusive.
///
/// All but the regex sizes are enforced before anything recursive runs on the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SchemaLimits {
    /// Bytes of the schema written as compact JSON. Default 256 KiB.
    pub bytes: usize,
    /// Schemas nested in schemas, the root counting as 1. Default 32.
    ///
    /// Only schemas count: a property inside a property is 3 levels here and 5 levels of JSON.
    /// The deepest of the recorded real schemas has 9.
    pub depth: usize,
    /// Objects and arrays nested in one another, the root counting as 1. Default 80.
    ///
    /// This bounds the parts that are data (`enum`, `default`, `examples`, unknown keywords); 32
    /// nested schemas need at most 63. The deepest of the recorded real schemas has 14.
    pub json_depth: usize,
    /// Schemas in the document, at every position. Default 10,000.
    pub subschemas: usize,
    /// References followed one after another at one place of a value. Default 64.
    pub reference_hops: usize,
    /// Schemas after every `$ref` is replaced by its target, a recursive one counting once.
    /// Default 50,000.
    pub expanded_size: u64,
    /// Schemas applied to one value inside one another: `$ref`, `allOf`, `anyOf` and their like.
    /// Default 128.
    pub applied_depth: usize,
    /// Members of one `enum`. Default 1,000.
    pub enum_values: usize,
    /// Names in one `required`. Default 1,000.
    pub required: usize,
    /// Entries in one `properties`, `patternProperties`, `$defs` or `definitions`. Default 5,000.
    pub properties: usize,
    /// Characters of one regular expression. Default 1,024.
    pub pattern_chars: usize,
    /// Bytes of one compiled regular expression, approximate. Default 1 MiB.
    pub regex_bytes: usize,
    /// Bytes of the state cache of one regular expression, approximate. Default 2 MiB.
    pub regex_cache_bytes: usize,
    /// Steps back that one match with look-around or back-references may take. Default 10,000.
    pub backtrack_steps: usize,
    /// Objects and arrays nested in one another in a checked value. Default 64.
    pub value_depth: usize,
    /// Schemas applied during one check, counted over all places of the value. Default 10,000,000
    /// (about 0.2 s).
    ///
    /// A byte of text matched against a pattern counts as 16, or 1,000 where the pattern has
    /// look-around or back-references. So a string with a pattern may have some 600 KB or 10 KB.
    pub evaluations: u64,
    /// Schemas being applied inside one another during one check, which is stack. Default 512.
    pub nested_evaluations: usize,
    /// Violations listed for one value; the rest are counted. Default 100.
    pub violations: usize,
}

impl SchemaLimits {
    /// The default bounds with a host's own `limits.schema_bytes` and `limits.json_depth`.
    pub fn of_host(limits: &Limits) -> Self {
        Self {
            bytes: limits.schema_bytes,
            value_depth: limits.json_depth,
            ..Self::default()
        }
    }
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            bytes: 256 * 1024,
            depth: 32,
            json_depth: 80,
            subschemas: 10_000,
            reference_hops: 64,
            expanded_size: 50_000,
            applied_depth: 128,
            enum_values: 1_000,
            required: 1_000,
            properties: 5_000,
            pattern_chars: 1_024,
            regex_bytes: 1024 * 1024,
            regex_cache_bytes: 2 * 1024 * 1024,
            backtrack_steps: 10_000,
            value_depth: 64,
            evaluations: 10_000_000,
            nested_evaluations: 512,
            violations: 100,
        }
    }
}
