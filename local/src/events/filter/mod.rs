//! Lambda's event filtering, which selects the records that a function receives.
//!
//! Only filter patterns that Lambda documents for streams are supported. Any other pattern causes
//! an error at startup. If such a pattern were ignored, functions would receive records that they
//! do not receive in AWS.

mod matching;
mod parse;
mod pattern;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::error::FilterError;
use matching::matches_pattern;
use pattern::Pattern;

/// The filters of an event source. A record passes if it matches at least one filter, or if there
/// are no filters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filters(Vec<Pattern>);

impl Filters {
    /// Parses a `FilterCriteria` property. If the property is missing, every record passes.
    pub(crate) fn parse(criteria: Option<&Value>) -> Result<Self, FilterError> {
        parse::parse_filters(criteria).map(Self)
    }

    /// Returns whether a record passes the filters.
    pub(crate) fn accept(&self, record: &Value) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| matches_pattern(pattern, Some(record)))
    }
}
