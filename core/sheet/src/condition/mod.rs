//! Conditions that select the rows of a sheet, such as `D=TX && F>=1000`.
//!
//! A condition is a column, an operator and a value. Several conditions are joined with `&&`: a row must
//! fulfil all of them.
//!
//! | operator | fulfilled by |
//! |---|---|
//! | `=` | the same number, text, boolean or error value |
//! | `!=` | any other value of any type |
//! | `<`, `<=`, `>`, `>=` | a smaller or larger value of the same type |
//! | `~`, `!~` | a displayed text that contains, or does not contain, the value |
//! | `=~` | a displayed text in which the regular expression matches |
//! | `=` without value | a blank cell |
//! | `!=` without value | a cell that is not blank |
//!
//! A value is read as it is typed into a cell: as a number, a date, `TRUE`, an error value or a text. A
//! value in double quotes is a text. Texts are compared without regard to case. A blank cell, or one with an
//! empty text, fulfils only `=` without value.

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
    /// Column of a condition that no blank cell fulfils.
    filled_column: u32,
}

/// Condition on the cells of a column.
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

/// Which values an order operator accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Order {
    direction: Ordering,
    or_equal: bool,
}

/// Error for a text that is not a list of conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCondition {
    /// The text is too long.
    #[error("the conditions have {bytes} bytes; at most {MAX_SEARCH_BYTES} are allowed")]
    TooLong {
        /// Length of the text in bytes.
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
        /// Description of the error and of how to correct it.
        reason: String,
    },
    /// The text or regular expression of a condition cannot be searched.
    #[error("`{text}`: {error}")]
    Pattern {
        /// The condition, shortened.
        text: String,
        /// Description of the error.
        error: BadPattern,
    },
    /// Blank rows, of which there is almost any number, fulfil all conditions.
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

    /// Returns a column in which a row must have a value to fulfil all conditions.
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

    /// Returns whether the condition is a regular expression, which takes more time for each byte of
    /// text.
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

/// Returns `None` for values of different types, and for values without an order.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.partial_cmp(other),
        (Value::Text(one), Value::Text(other)) => Some(fold(one).cmp(&fold(other))),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        _ => None,
    }
}
