//! A cell on its way from a workbook's part into a block.

use std::sync::Arc;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::ErrorCode;

/// What a cell holds. Its text stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Found {
    #[default]
    Empty,
    Number(f64),
    Bool(bool),
    Error(ErrorCode),
    Text,
}

/// A cell, used again for each: its texts keep their memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundCell {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) value: Found,
    pub(crate) text: String,
    /// With `=` in front; empty if there is none.
    pub(crate) formula: String,
    /// `None` is `General`.
    pub(crate) format: Option<Arc<str>>,
}

impl FoundCell {
    pub(crate) fn clear(&mut self) {
        self.value = Found::Empty;
        self.text.clear();
        self.formula.clear();
        self.format = None;
    }

    /// Its name, `B2`.
    pub(crate) fn name(&self) -> String {
        CellName { row: self.row, column: self.column }.to_string()
    }

    /// A number if it is finite, else its text.
    pub(crate) fn number(number: f64) -> Found {
        if number.is_finite() { Found::Number(number) } else { Found::Text }
    }
}
