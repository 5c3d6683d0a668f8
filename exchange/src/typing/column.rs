//! Types of csv columns.

use super::choice::TypeChoice;
use super::recognise::Recognised;

/// The kind of cells in a column.
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
    /// Numbers that are written in their shortest form and therefore need no number format.
    General,
    /// Numbers that all have the same number of decimals.
    Decimals {
        /// Number format such as `0.0` or `0.00`.
        format: String,
    },
    /// Numbers that are written in different ways. Each cell has a separate number format.
    MixedNumbers,
    /// The type that the caller has chosen ([`ColumnTypes`](super::ColumnTypes)). Fields that do
    /// not have this type stay text.
    Chosen(TypeChoice),
}

/// The detected or chosen type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnTyping {
    pub kind: ColumnKind,
    /// Whether the field in the first row is a heading. A heading stays text.
    pub heading: bool,
}

impl ColumnTyping {
    /// The typing of a column that contains text.
    pub(crate) const TEXT: Self = Self { kind: ColumnKind::Text, heading: false };

    /// Returns the recognised value of a field, or `None` if the field stays text in this column.
    pub(crate) fn value(
        &self,
        recognised: Option<Recognised>,
        in_first_row: bool,
    ) -> Option<Recognised> {
        let is_text = self.kind == ColumnKind::Text || (self.heading && in_first_row);
        if is_text { None } else { recognised }
    }

    /// Returns the number format that is common to all cells of the column.
    pub(crate) fn format(&self) -> Option<&str> {
        match &self.kind {
            ColumnKind::Decimals { format } => Some(format),
            _ => None,
        }
    }
}
