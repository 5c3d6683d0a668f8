//! Effect of an undo or revert in numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

use cellar_base::count::count;

use crate::operation::Operation;
use cellar_grid::Axis;

/// Operations that reverse edits, and their effect in numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reversal {
    /// Operations in order. Empty if there is nothing to reverse.
    pub operations: Vec<Operation>,
    /// How many of the operations, at the end, only restore references of formulas in other cells.
    /// They may be omitted.
    pub formula_operations: usize,
    /// Numbers of restored and of left parts of the spreadsheet.
    pub report: ReversalReport,
}

/// Effect of an undo or revert in numbers. For an import that replaces a sheet, it counts the formulas
/// and names that referred to the replaced sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReversalReport {
    /// Parts of the spreadsheet that are again as before the reversed edits. For an import, those that
    /// refer to the imported sheet.
    pub restored: ReversalCounts,
    /// Parts of the spreadsheet that the reversed edits changed, and that stay as they are, because
    /// they were changed again later.
    pub left: ReversalCounts,
    /// Whether other formulas may still have lost references, because the formulas are too many to be
    /// searched or restored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub formulas_incomplete: bool,
}

/// Numbers of parts of a spreadsheet that the reversed edits changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReversalCounts {
    /// Cells, including the cells of added, imported and deleted sheets.
    pub cells: u64,
    /// Inserted and deleted rows.
    pub rows: u64,
    /// Inserted and deleted columns.
    pub columns: u64,
    /// Added, imported and deleted sheets.
    pub sheets: u64,
    /// Names of renamed sheets.
    pub names: u64,
    /// Number formats of ranges.
    pub formats: u64,
    /// Names that formulas use.
    #[serde(default)]
    pub defined_names: u64,
    /// Formulas in other cells that lost references, because the reversed edits deleted rows, columns
    /// or sheets.
    #[serde(default)]
    pub formulas: u64,
}

impl ReversalReport {
    /// Returns the report of two reversals together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            restored: self.restored.plus(other.restored),
            left: self.left.plus(other.left),
            formulas_incomplete: self.formulas_incomplete || other.formulas_incomplete,
        }
    }
}

impl ReversalCounts {
    fn plus(self, other: Self) -> Self {
        Self {
            cells: self.cells.saturating_add(other.cells),
            rows: self.rows.saturating_add(other.rows),
            columns: self.columns.saturating_add(other.columns),
            sheets: self.sheets.saturating_add(other.sheets),
            names: self.names.saturating_add(other.names),
            formats: self.formats.saturating_add(other.formats),
            defined_names: self.defined_names.saturating_add(other.defined_names),
            formulas: self.formulas.saturating_add(other.formulas),
        }
    }

    /// Returns whether all numbers are 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn add_lines(&mut self, axis: Axis, lines: u64) {
        let total = match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        };
        *total = total.saturating_add(lines);
    }

    pub(super) fn add_sheet(&mut self, cells: u64) {
        self.sheets = self.sheets.saturating_add(1);
        self.cells = self.cells.saturating_add(cells);
    }
}

/// Writes the numbers that are not 0, such as `23,639 cells, 1 sheet`, or `nothing`.
impl fmt::Display for ReversalCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.cells, "cell", "cells"),
            (self.rows, "row", "rows"),
            (self.columns, "column", "columns"),
            (self.sheets, "sheet", "sheets"),
            (self.names, "sheet name", "sheet names"),
            (self.formats, "format of a range", "formats of ranges"),
            (self.defined_names, "name", "names"),
            (self.formulas, "formula", "formulas"),
        ];
        let present = parts.into_iter().filter(|(number, ..)| *number > 0);
        let texts: Vec<String> =
            present.map(|(number, singular, plural)| count(number, singular, plural)).collect();
        let text = if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") };
        formatter.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_without_zeros() {
        let counts = ReversalCounts { cells: 23_639, rows: 1, sheets: 2, ..Default::default() };
        assert_eq!(counts.to_string(), "23,639 cells, 1 row, 2 sheets");
        assert_eq!(ReversalCounts::default().to_string(), "nothing");
    }
}
