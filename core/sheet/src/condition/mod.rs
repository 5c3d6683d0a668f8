//! Conditions that select the rows of a sheet, such as `D=TX && F>=1000`.
//!
//! A condition consists of a column, an operator and a value. Several conditions are joined with
//! `&&`, and a row must fulfil all of them.
//!
//! | operator | fulfilled by |
//! |---|---|
//! | `=` | the same number, text, boolean or error value |
//! | `!=` | any other value of any type |
//! | `<`, `<=`, `>`, `>=` | a smaller or larger value of the same type |
//! | `~`, `!~` | displayed text that contains, or does not contain, the value |
//! | `=~` | displayed text that matches the regular expression |
//! | `=` without a value | a blank cell |
//! | `!=` without a value | a cell that is not blank |
//!
//! A value is interpreted as if it were typed into a cell: as a number, a date, `TRUE` or `FALSE`,
//! an error value or text. A value in double quotes is always text. Text is compared without regard
//! to case. A blank cell, or a cell with empty text, only fulfils `=` without a value.

mod parse;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use cellar_base::limits::{MAX_CONDITIONS, MAX_SEARCH_BYTES};

use crate::cell::{Cell, Value};
use crate::text_pattern::{BadPattern, TextPattern, fold};

/// Conditions that a row must fulfil.
#[derive(Debug, Clone)]
pub struct Conditions {
    list: Vec<Condition>,
    /// Column of a condition that a blank cell cannot fulfil.
    filled_column: u32,
}

/// A condition on the cells of a column.
#[derive(Debug, Clone)]
pub struct Condition {
    column: u32,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    Blank,
    NotBlank,
    Equal(Value),
    NotEqual(Value),
    Ordered(Order, Value),
    Text { pattern: TextPattern, is_negated: bool },
}

/// One of the operators `<`, `<=`, `>` and `>=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Order {
    direction: Ordering,
    or_equal: bool,
}

/// Error when parsing conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCondition {
    /// The conditions are too long.
    #[error("the conditions have {bytes} bytes; at most {MAX_SEARCH_BYTES} are allowed")]
    TooLong {
        /// Length of the conditions in bytes.
        bytes: usize,
    },
    /// There are too many conditions.
    #[error(
        "there are more than {MAX_CONDITIONS} conditions; at most {MAX_CONDITIONS} are allowed"
    )]
    TooMany,
    /// A condition is malformed.
    #[error("`{text}` is not a condition: {reason}")]
    Malformed {
        /// The malformed condition, shortened.
        text: String,
        /// The error, and how to correct it.
        reason: String,
    },
    /// A condition begins with a word that is no column.
    #[error(
        "`{text}` is not a condition: there is no column {word}; columns are named by letters, such as D, not by \
         their headers"
    )]
    NoSuchColumn {
        /// The malformed condition, shortened.
        text: String,
        /// The word, which may be a header.
        word: String,
    },
    /// The text or regular expression of a condition is invalid.
    #[error("`{text}`: {error}")]
    Pattern {
        /// The condition, shortened.
        text: String,
        /// Why the text or regular expression is invalid.
        error: BadPattern,
    },
    /// Blank rows fulfil all conditions. A sheet has too many blank rows to return all of them.
    #[error(
        "blank rows fulfil all conditions; add a condition that no blank cell fulfils, such as `A!=`"
    )]
    OnlyBlank,
}

impl Conditions {
    /// Returns the conditions, in the order in which they were given.
    #[must_use]
    pub fn list(&self) -> &[Condition] {
        &self.list
    }

    /// Returns a column that is not blank in any row that fulfils all conditions.
    #[must_use]
    pub fn filled_column(&self) -> u32 {
        self.filled_column
    }
}

impl Condition {
    /// Returns the column whose cells are tested.
    #[must_use]
    pub fn column(&self) -> u32 {
        self.column
    }

    /// Returns whether the condition uses a regular expression, which takes more time per byte of
    /// text than other conditions.
    #[must_use]
    pub fn is_regex(&self) -> bool {
        matches!(&self.test, Test::Text { pattern, .. } if pattern.is_regex())
    }

    /// Returns whether a cell fulfils the condition.
    #[must_use]
    pub fn is_fulfilled_by(&self, cell: &Cell) -> bool {
        if is_blank(&cell.value) {
            return matches!(self.test, Test::Blank);
        }
        match &self.test {
            Test::Blank => false,
            Test::NotBlank => true,
            Test::Equal(value) => are_equal(&cell.value, value),
            Test::NotEqual(value) => !are_equal(&cell.value, value),
            Test::Ordered(order, value) => {
                compare(&cell.value, value).is_some_and(|ordering| order.accepts(ordering))
            }
            Test::Text { pattern, is_negated } => pattern.matches(&cell.text()) != *is_negated,
        }
    }
}

impl Order {
    fn accepts(self, ordering: Ordering) -> bool {
        ordering == self.direction || (self.or_equal && ordering == Ordering::Equal)
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Empty => true,
        Value::Text(text) => text.is_empty(),
        Value::Number(_) | Value::Bool(_) | Value::Error(_) => false,
    }
}

fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Error(one), Value::Error(other)) => one == other,
        _ => compare(one, other) == Some(Ordering::Equal),
    }
}

/// Compares two values. Returns `None` if they have different types or no order.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.partial_cmp(other),
        (Value::Text(one), Value::Text(other)) => Some(fold(one).cmp(&fold(other))),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        _ => None,
    }
}
