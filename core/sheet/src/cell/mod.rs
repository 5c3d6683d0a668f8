//! Cells: values, their text, and how typed text becomes a value.

mod date;
mod error_code;
mod format;
mod typing;
mod value;

pub use date::date_serial;
pub use error_code::ErrorCode;
pub use format::{GENERAL, display, general};
pub use typing::{TypedText, recognise, typed_or_text};
pub(crate) use value::exact_integer;
pub use value::{Value, json_text_bytes};

use serde::{Deserialize, Serialize};

/// What a cell holds: the value, and beside it a formula's text and a number format.
///
/// Value (with its formula) and format are separate layers: setting one leaves the other
/// (design `3-snapshots.md` §1).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cell {
    /// The value; `null` is an empty cell that has a format.
    #[serde(default)]
    pub value: Value,
    /// The formula's text, opaque, if the value came from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The number format; absent is `General`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

impl Cell {
    /// The text a person sees.
    #[must_use]
    pub fn text(&self) -> String {
        display(&self.value, self.format.as_deref().unwrap_or(GENERAL))
    }

    /// Whether nothing is left that would need to be stored.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.value == Value::Empty && self.formula.is_none() && self.format.is_none()
    }
}
