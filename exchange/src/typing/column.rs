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
    /// Dates with a common format.
    Date {
        /// Number format of the dates, such as `yyyy-mm-dd`.
        format: String,
    },
    /// Numbers in their shortest form, which need no number format.
    General,
    /// Numbers with a common number of decimals.
    Decimals {
        /// Number format such as `0.0` or `0.00`.
        format: String,
    },
    /// Numbers in various notations, each with a separate cell format.
    MixedNumbers,
    /// The type chosen by the caller ([`ColumnTypes`](super::ColumnTypes)). Fields of any other
    /// type stay text.
    Chosen(TypeChoice),
}

/// The detected or chosen type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnTyping {
    pub kind: ColumnKind,
    /// Whether the first row's field is a heading, which stays text.
    pub heading: bool,
}

impl ColumnTyping {
    /// Column type for text columns.
    pub(crate) const TEXT: Self = Self { kind: ColumnKind::Text, heading: false };

    /// Returns a field's recognised value, or `None` if the field stays text in this column.
    pub(crate) fn value_of_field(
        &self,
        recognised_value: Option<RecognisedValue>,
        in_first_row: bool,
    ) -> Option<RecognisedValue> {
        let is_text = self.kind == ColumnKind::Text || (self.heading && in_first_row);
        if is_text { None } else { recognised_value }
    }

    /// Returns the number format shared by all cells of the column.
    pub(crate) fn number_format(&self) -> Option<&str> {
        match &self.kind {
            ColumnKind::Decimals { format } => Some(format),
            _ => None,
        }
    }
}
