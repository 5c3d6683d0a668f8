//! A cell of a workbook that has been read but not added to a block yet.

use std::sync::Arc;

use cellar_base::limits::{MAX_FORMULA_BYTES, MAX_TEXT_BYTES};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::ErrorCode;

use super::dynamic_arrays::Evaluation;
use crate::WorkbookError;

/// The value of a cell, except for text: the text itself is stored in [`WorkbookCell::text`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum CellValue {
    #[default]
    Empty,
    Number(f64),
    Bool(bool),
    Error(ErrorCode),
    Text,
}

/// Readers fill the same cell again and again, to reuse the memory of its strings.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkbookCell {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) value: CellValue,
    pub(crate) text: String,
    /// Formula of the cell, starting with `=`. Empty if the cell has no formula or a template.
    pub(crate) formula: String,
    /// How the file says that the formula is evaluated.
    pub(crate) evaluation: Evaluation,
    /// Encoded template of a formula that the cell shares with others.
    pub(crate) template: Option<Arc<str>>,
    /// Number format, or `None` for `General`.
    pub(crate) format: Option<Arc<str>>,
}

impl WorkbookCell {
    pub(crate) fn clear(&mut self) {
        self.value = CellValue::Empty;
        self.text.clear();
        self.formula.clear();
        self.evaluation = Evaluation::Ordinary;
        self.template = None;
        self.format = None;
    }

    /// Returns the cell's name, such as `B2`.
    pub(crate) fn name(&self) -> String {
        CellName { row: self.row, column: self.column }.to_string()
    }

    pub(crate) fn check_lengths(&self, sheet_name: &str) -> Result<(), WorkbookError> {
        let sheet = || sheet_name.to_owned();
        if self.text.len() > MAX_TEXT_BYTES {
            return Err(WorkbookError::TextTooLong { sheet: sheet(), cell: self.name() });
        }
        if self.formula.len() > MAX_FORMULA_BYTES {
            return Err(WorkbookError::FormulaTooLong { sheet: sheet(), cell: self.name() });
        }
        Ok(())
    }

    /// Returns whether the cell has a value, a formula or a number format.
    pub(crate) fn has_content(&self) -> bool {
        self.value != CellValue::Empty || self.has_formula() || self.format.is_some()
    }

    pub(crate) fn has_formula(&self) -> bool {
        self.template.is_some() || !self.formula.is_empty()
    }
}

impl CellValue {
    /// Returns text if the number is not finite; the cell's text then remains as it was read.
    pub(crate) fn from_number(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Text }
    }
}
