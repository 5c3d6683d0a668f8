//! Lambda's event filtering: which records of a source reach a function.
//!
//! The subset that Lambda documents for streams. What is not in it is an error when the cloud
//! starts: a pattern that is ignored would let records through here that AWS holds back.

mod matching;
mod parse;
#[cfg(test)]
mod tests;

use serde_json::Value;

/// Bytes of a pattern that Lambda takes.
const PATTERN_BYTES_MAX: usize = 4_096;
/// Filters of a source that Lambda takes without asking for more.
const FILTERS_MAX: usize = 5;
/// Levels of a pattern that are followed.
const NESTING_MAX: usize = 32;

/// The filters of an event source: a record that matches any of them passes, and so does every
/// record if there are none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filters(Vec<Pattern>);

/// A pattern: all of its fields have to match, and one branch of each `$or`.
#[derive(Debug, Clone, PartialEq)]
struct Pattern {
    fields: Vec<(String, Field)>,
    alternatives: Vec<Vec<Pattern>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Field {
    /// An object inside.
    Inside(Pattern),
    /// A value: one of these has to hold for it.
    Value(Vec<Condition>),
}

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    /// This text, number, boolean or null.
    Equals(Value),
    EqualsIgnoringCase(String),
    Prefix(String),
    Suffix(String),
    /// A value that is none of these.
    AnythingBut(Vec<Value>),
    AnythingButPrefix(String),
    /// A number within all of these bounds.
    Numeric(Vec<(Comparison, f64)>),
    Exists(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A filter that is not one of Lambda's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the filter pattern is not supported: {path}: {why}")]
pub struct FilterError {
    /// Where in the pattern, as `dynamodb.NewImage.T`.
    pub path: String,
    /// What is wrong there.
    pub why: String,
}

impl Filters {
    /// Reads a `FilterCriteria` property; without one, everything passes.
    pub(crate) fn read(criteria: Option<&Value>) -> Result<Self, FilterError> {
        parse::filters(criteria).map(Self)
    }

    /// Whether a record reaches the function.
    pub(crate) fn pass(&self, record: &Value) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| matching::matches(pattern, Some(record)))
    }
}
