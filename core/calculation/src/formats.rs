//! Finds the number formats of cells and results.

use std::sync::Arc;

use cellar_formula::reference::Reference;
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::GENERAL;

use crate::block::BLOCK_ROWS;
use crate::calculation::Calculation;
use crate::cells::block_of;
use crate::formulas::ParsedFormula;
use crate::result_format::FormatSource;
use crate::run::StateView;
use crate::segment::Segment;
use crate::workbook::CellKey;

impl Calculation {
    /// Returns the number format for displaying the result of a formula, or `None` if the cell
    /// already has a number format or the default applies.
    pub(crate) fn format_of_result(
        &self,
        key: CellKey,
        parsed: &ParsedFormula,
    ) -> Option<Arc<str>> {
        if self.format_of_cell(key, FormatSource::Result).is_some() {
            return None;
        }
        parsed.format_in(key.cell, |reference, cell, source| {
            let sheet = reference.sheet_number(key.sheet)?;
            let format = self.format_of_cell(CellKey { sheet, cell }, source);
            format.filter(|format| **format != *GENERAL)
        })
    }

    /// Returns the number format of a cell. A format set on the cell or derived for its result
    /// takes precedence over the format of a range.
    fn format_of_cell(&self, key: CellKey, source: FormatSource) -> Option<Arc<str>> {
        let own = self.cells.block(key.sheet, key.cell).and_then(|(block, row)| {
            let of_result = block.run_at(row).and_then(|placed| {
                match placed.run.state((row - placed.first) as usize) {
                    StateView::Calculated(Some(explanation)) if source == FormatSource::Result => {
                        explanation.format.clone()
                    }
                    _ => None,
                }
            });
            of_result.or_else(|| block.own_format(row).cloned())
        });
        own.or_else(|| self.workbook.range_format(key).map(Arc::from))
    }

    /// Returns whether the results of a segment, or the cells whose number formats they get, may
    /// have number formats.
    pub(crate) fn may_have_formats(&self, segment: Segment, parsed: &ParsedFormula) -> bool {
        let CellKey { sheet, cell } = segment.first();
        let last_offset = segment.row_count() - 1;
        if self.may_have_format(sheet, cell, last_offset) {
            return true;
        }
        let last_cell = CellName { row: cell.row + last_offset, ..cell };
        let last_cells = parsed.first_cells(last_cell);
        parsed.first_cells(cell).zip(last_cells).any(|((reference, first), (_, last))| {
            let Some(sheet) = Reference::sheet_number(reference, sheet) else { return false };
            self.may_have_format(sheet, first, last.row.saturating_sub(first.row))
        })
    }

    /// Returns whether one of `last_offset` + 1 cells may have a number format.
    fn may_have_format(&self, sheet: SheetId, first: CellName, last_offset: u32) -> bool {
        if self.workbook.has_range_formats(sheet) {
            return true;
        }
        let (first_block, _) = block_of(first.row);
        let (last_block, _) = block_of(first.row.saturating_add(last_offset));
        (first_block..=last_block).any(|number| {
            let cell = CellName { row: number * BLOCK_ROWS, ..first };
            self.cells.block(sheet, cell).is_some_and(|(block, _)| block.has_formats())
        })
    }
}
