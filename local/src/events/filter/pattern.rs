//! Parsed filter patterns.

use serde_json::Value;

/// A record matches if all field patterns match and, in each `$or` list, at least one alternative
/// matches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    pub(super) fields: Vec<(String, Field)>,
    /// The alternatives of each `$or` list.
    pub(super) alternatives: Vec<Vec<Pattern>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    Nested(Pattern),
    /// The value must meet at least one of the conditions.
    Value(Vec<Condition>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    Equals(Value),
    EqualsIgnoringCase(String),
    Prefix(String),
    Suffix(String),
    /// The value differs from all given values.
    AnythingBut(Vec<Value>),
    AnythingButPrefix(String),
    /// The value is a number that meets all comparisons.
    Numeric(Vec<(Comparison, f64)>),
    Exists(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
