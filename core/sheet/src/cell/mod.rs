//! Cells: their values and number formats, and the parsing of typed text.

pub mod calendar;
mod date;
mod decimal;
mod error_code;
mod format;
mod general;
mod number_format;
mod typing;
mod value;

pub use date::date_serial;
pub use error_code::ErrorCode;
pub use format::{DisplayFormat, display, display_result};
pub use general::{GENERAL, general, general_of_15_digits};
pub use number_format::{NumberFormat, NumberFormatError, NumberFormatFault};
pub use typing::{TypedText, recognise, typed_cell, typed_or_text};
pub(crate) use value::exact_integer;
pub use value::{Value, json_text_bytes};

use serde::{Deserialize, Serialize};

/// Contents of a cell: a value, the formula that produced it, and a number format. The number
/// format can be set independently of the value and the formula.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cell {
    /// Value of the cell. It is `null` if the cell has only a number format.
    #[serde(default)]
    pub value: Value,
    /// Formula that produced the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Number format. Absent if `General`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

impl Cell {
    /// Returns the text that displays the value in the cell's number format. A result of a formula
    /// has at most 15 significant digits.
    #[must_use]
    pub fn text(&self) -> String {
        let format = self.format.as_deref().unwrap_or(GENERAL);
        let display_value: fn(&Value, &str) -> String =
            if self.formula.is_some() { display_result } else { display };
        display_value(&self.value, format)
    }

    /// Returns whether the values are equal. The value of a formula does not count, because it depends
    /// on the snapshot from which it was read.
    #[must_use]
    pub fn has_value_of(&self, other: &Self) -> bool {
        let have_formulas = self.formula.is_some() && other.formula.is_some();
        have_formulas || self.value == other.value
    }

    /// Returns whether the cell has neither a value nor a format.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.value == Value::Empty && self.formula.is_none() && self.format.is_none()
    }
}
