//! Finds the formulas of one tile that may read the searched cells.

use super::searched_cells::SearchedCells;
use crate::merge::{FormulaMapping, PlacedTile, StoredFormula, Window, indices_in_run};
use crate::tile::TileColumn;
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_formula::Template;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::axis_map::Run;

const WHOLE_SHEET: Window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };

/// Returns the cells of a tile, in newest coordinates and in ascending order, whose formulas may
/// read the searched cells. Newer levels may hide some of them.
pub(super) fn cells_of_readers(tile: &PlacedTile<'_>, searched: &SearchedCells) -> Vec<CellName> {
    let mut cells = Vec::new();
    if tile.tile.formula_count() == 0 {
        return cells;
    }
    let runs = tile.row_runs(&WHOLE_SHEET);
    for (output_column, column) in tile.columns_by_output(&WHOLE_SHEET) {
        let first_cell = CellName {
            row: tile.first_row,
            column: tile.first_column.saturating_add(column.index),
        };
        let scan = ColumnScan { column, first_cell, formulas: tile.formulas, searched };
        for run in &runs {
            let rows = scan.rows_of_readers(run);
            cells.extend(rows.map(|row| CellName { row, column: output_column }));
        }
    }
    let sheet = tile.formulas.sheet;
    cells.retain(|cell| {
        searched.includes_formulas_in(sheet, &Rectangle { first: *cell, last: *cell })
    });
    cells.sort_unstable();
    cells
}

struct ColumnScan<'a> {
    column: &'a TileColumn,
    /// Place of the top row of the column in its level.
    first_cell: CellName,
    formulas: &'a FormulaMapping,
    searched: &'a SearchedCells,
}

/// A template and whether it may use a name that reads the searched cells.
struct ScannedTemplate<'a> {
    encoded: &'a str,
    template: Option<Template>,
    may_use_name: bool,
    has_facts: bool,
}

impl<'a> ColumnScan<'a> {
    /// Returns the output rows of a run whose formulas may read the searched cells.
    fn rows_of_readers(&self, run: &'a Run) -> impl Iterator<Item = u32> + use<'a> {
        let mut readers = Vec::new();
        let texts = &self.column.formulas;
        for row in texts.rows().get(indices_in_run(texts.rows(), run)).unwrap_or_default() {
            let formula = texts.at(*row).map(StoredFormula::Text);
            let template =
                formula.and_then(|text| self.formulas.to_template(text, self.cell(*row)));
            if template.is_some_and(|template| self.is_reader(&template, *row)) {
                readers.push(*row);
            }
        }
        let templates = &self.column.templates;
        let mut previous: Option<ScannedTemplate<'_>> = None;
        for index in indices_in_run(templates.rows(), run) {
            let Some((row, encoded)) = templates.rows().get(index).zip(templates.get(index)) else {
                continue;
            };
            let same = previous.take().filter(|previous| previous.encoded == encoded);
            let scanned = same.unwrap_or_else(|| {
                let template = self.formulas.decode(encoded);
                let has_facts = template.as_ref().is_some_and(|one| self.searched.has_facts(one));
                let may_use_name = self.searched.may_use_name(encoded);
                ScannedTemplate { encoded, template, may_use_name, has_facts }
            });
            let template = scanned.template.as_ref();
            let is_known = scanned.may_use_name || scanned.has_facts;
            if is_known || template.is_some_and(|one| self.names_cells(one, *row)) {
                readers.push(*row);
            }
            previous = Some(scanned);
        }
        readers.into_iter().map(|row| row - run.src + run.dst)
    }

    fn cell(&self, row: u32) -> CellName {
        let CellName { row: first_row, column } = self.first_cell;
        CellName { row: first_row.saturating_add(row), column }
    }

    fn is_reader(&self, template: &Template, row: u32) -> bool {
        self.searched.may_use_name(template.encoded())
            || self.searched.has_facts(template)
            || self.names_cells(template, row)
    }

    /// Returns whether a reference of a template, after it has moved, contains a searched cell.
    fn names_cells(&self, template: &Template, row: u32) -> bool {
        let FormulaMapping { sheet, moves, tabs, .. } = self.formulas;
        template.references_at(self.cell(row)).any(|reference| {
            let moved = reference.moved(*sheet, moves);
            self.searched.may_be_read_through(&moved, *sheet, tabs)
        })
    }
}
