//! Parsed filter patterns.

use serde_json::Value;

/// A filter pattern. A record matches if all fields and one branch of each `$or` match.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    pub(super) fields: Vec<(String, Field)>,
    /// The branches of each `$or`.
    pub(super) alternatives: Vec<Vec<Pattern>>,
}

/// The requirements on a field of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    /// A nested object.
    Nested(Pattern),
    /// A value that must meet one of the conditions.
    Value(Vec<Condition>),
}

/// A condition on a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    /// Equal to this string, number, boolean or null.
    Equals(Value),
    EqualsIgnoringCase(String),
    Prefix(String),
    Suffix(String),
    /// Different from all of these values.
    AnythingBut(Vec<Value>),
    AnythingButPrefix(String),
    /// A number that passes all of these comparisons.
    Numeric(Vec<(Comparison, f64)>),
    Exists(bool),
}

/// A comparison of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
