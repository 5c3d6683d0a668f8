//! Types of csv columns.

use super::choice::TypeChoice;
use super::recognise::RecognisedValue;

/// The cell type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// `TRUE` and `FALSE`.
    Boolean,
    /// Dates that all have the same format.
    Date {
        /// Number format of the dates, such as `yyyy-mm-dd`.
        format: String,
    },
    /// Numbers that the `General` format displays exactly as they are written in the file.
    General,
    /// Numbers that all have the same number of decimals.
    Decimals {
        /// Number format such as `0.0` or `0.00`.
        format: String,
    },
    /// Numbers that no common number format displays as they are written. Each cell has its own
    /// number format.
    MixedNumbers,
    /// A type that the caller chose with [`ColumnTypes`](super::ColumnTypes). Fields that do not
    /// match this type stay text.
    Chosen(TypeChoice),
}

/// The detected or chosen type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnTyping {
    pub kind: ColumnKind,
    /// Whether the field in the first row is a heading, which stays text.
    pub heading: bool,
}

impl ColumnTyping {
    pub(crate) const TEXT: Self = Self { kind: ColumnKind::Text, heading: false };

    pub(crate) fn is_text(&self) -> bool {
        self.kind == ColumnKind::Text
    }

    /// Returns `None` if this column stores the field as text.
    pub(crate) fn value_of_field(
        &self,
        recognised_value: Option<RecognisedValue>,
        in_first_row: bool,
    ) -> Option<RecognisedValue> {
        let is_text = self.is_text() || (self.heading && in_first_row);
        if is_text { None } else { recognised_value }
    }

    pub(crate) fn number_format(&self) -> Option<&str> {
        match &self.kind {
            ColumnKind::Decimals { format } => Some(format),
            _ => None,
        }
    }
}
