//! Merges one column of several levels.

use super::formulas::{FormulaLayers, FormulaMapping, StoredFormula};
use super::placed_tile::indices_in_run;
use super::window::OlderLevels;
use crate::tile::{TextLayer, TileColumn, TileValue, ValueLayer};
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Run;
use cellar_sheet::cell::GENERAL;
use cellar_sheet::operation::Spans;

/// A column of one level, restricted to the rows that are being merged.
pub(super) struct LevelColumn<'a> {
    pub(super) column: &'a TileColumn,
    /// Maps column rows to output rows.
    pub(super) row_runs: &'a [Run],
    /// Place of the top row of the column in its level.
    pub(super) first_cell: CellName,
    pub(super) formulas: &'a FormulaMapping,
    /// Output rows in which newer levels hide the values of the column.
    pub(super) hidden_values: Spans,
    /// Output rows in which newer levels hide the formats of the column.
    pub(super) hidden_formats: Spans,
}

/// Reads the visible rows of a layer from top to bottom.
struct RowCursor<'a> {
    layer_rows: &'a [u32],
    hidden_rows: &'a Spans,
    /// Run of the current row.
    run: Run,
    later_runs: std::slice::Iter<'a, Run>,
    /// Index of the current row in the layer.
    index: usize,
    /// Index after the last row of the run.
    run_end: usize,
    /// Output row of the current row, or [`NO_ROW`] at the end.
    output_row: u32,
}

/// Greater than each row.
const NO_ROW: u32 = u32::MAX;

impl<'a> RowCursor<'a> {
    fn new(layer_rows: &'a [u32], row_runs: &'a [Run], hidden_rows: &'a Spans) -> Self {
        let run = Run { src: 0, dst: 0, len: 0 };
        let later_runs = row_runs.iter();
        let (index, run_end, output_row) = (0, 0, NO_ROW);
        let mut cursor =
            Self { layer_rows, hidden_rows, run, later_runs, index, run_end, output_row };
        cursor.find_visible_row();
        cursor
    }

    fn is_at_end(&self) -> bool {
        self.output_row == NO_ROW
    }

    fn advance(&mut self) {
        self.index += 1;
        self.find_visible_row();
    }

    /// Moves to the first visible row from the current index on.
    fn find_visible_row(&mut self) {
        loop {
            while self.index < self.run_end {
                let Some(row) = self.layer_rows.get(self.index) else { break };
                self.output_row = row - self.run.src + self.run.dst;
                if self.hidden_rows.is_empty() || !self.hidden_rows.contains(self.output_row) {
                    return;
                }
                self.index += 1;
            }
            let Some(run) = self.later_runs.next() else {
                self.output_row = NO_ROW;
                return;
            };
            let indices = indices_in_run(self.layer_rows, run);
            (self.run, self.index, self.run_end) = (*run, indices.start, indices.end);
        }
    }
}

fn count_rows_in_runs(layer_rows: &[u32], row_runs: &[Run]) -> usize {
    row_runs.iter().map(|run| indices_in_run(layer_rows, run).len()).sum()
}

/// The next row of several cursors, and the row after it. A number contains the row and, below it, the
/// age of the row's layer, which is 0 for the newest layer.
struct NextRows {
    first: u64,
    second: u64,
}

impl NextRows {
    /// The loop has no branches, because the rows of several layers are in random order.
    fn of(cursors: &[RowCursor<'_>]) -> Self {
        let mut rows = Self { first: u64::MAX, second: u64::MAX };
        for (age, cursor) in (0..).zip(cursors.iter().rev()) {
            let row_and_age = u64::from(cursor.output_row) << 32 | age;
            rows.second = rows.second.min(rows.first.max(row_and_age));
            rows.first = rows.first.min(row_and_age);
        }
        rows
    }
}

fn row_and_age(number: u64) -> (u32, usize) {
    let low_half = number & u64::from(u32::MAX);
    (u32::try_from(number >> 32).unwrap_or(NO_ROW), usize::try_from(low_half).unwrap_or(0))
}

/// Merges layers, which are ordered from oldest to newest. Calls `visit(row, layer, index)` for each
/// row in ascending order. `layer` is the newest layer that contains the row, and `index` is the index
/// of the row in it.
fn visit_newest_rows(mut cursors: Vec<RowCursor<'_>>, mut visit: impl FnMut(u32, usize, usize)) {
    let Some(last_layer) = cursors.len().checked_sub(1) else { return };
    loop {
        let next_rows = NextRows::of(&cursors);
        let (row, age) = row_and_age(next_rows.first);
        let (second_row, _) = row_and_age(next_rows.second);
        let newest_layer = last_layer - age.min(last_layer);
        let Some(cursor) = cursors.get_mut(newest_layer).filter(|_| row != NO_ROW) else { return };
        visit(row, newest_layer, cursor.index);
        cursor.advance();
        // Visit the rows before those of the other layers.
        while cursor.output_row < second_row {
            visit(cursor.output_row, newest_layer, cursor.index);
            cursor.advance();
        }
        if second_row == row {
            for older in cursors.iter_mut().filter(|older| older.output_row == row) {
                older.advance();
            }
        }
    }
}

/// Appends the merged cells of the levels to a column whose cells are all above them. `level_columns` is
/// ordered from oldest to newest.
pub(super) fn append_merged_column(
    output: &mut TileColumn,
    level_columns: &[LevelColumn<'_>],
    older_levels: OlderLevels,
) {
    merge_values_and_formulas(level_columns, older_levels, output);
    merge_formats(level_columns, older_levels, &mut output.formats);
}

fn merge_values_and_formulas(
    level_columns: &[LevelColumn<'_>],
    older_levels: OlderLevels,
    merged_column: &mut TileColumn,
) {
    let output_column = merged_column.index;
    let TileColumn { values, formulas, templates, .. } = merged_column;
    let mut layers = FormulaLayers { texts: formulas, templates };
    let mut source_columns = Vec::new();
    let mut cursors = Vec::new();
    let (mut row_count, mut text_bytes) = (0, 0);
    for level_column in level_columns {
        let source_values = &level_column.column.values;
        let source_rows = source_values.rows();
        let cursor =
            RowCursor::new(source_rows, level_column.row_runs, &level_column.hidden_values);
        if !cursor.is_at_end() {
            let level_rows = count_rows_in_runs(source_rows, level_column.row_runs);
            row_count += level_rows;
            text_bytes += source_values.expected_text_bytes(level_rows);
            source_columns.push(level_column);
            cursors.push(cursor);
        }
    }
    values.reserve(row_count, text_bytes);
    visit_newest_rows(cursors, |row, layer, value_index| {
        if let Some(source_column) = source_columns.get(layer) {
            let cell = CellName { row, column: output_column };
            let source = (*source_column, value_index);
            push_value_and_formula(values, &mut layers, cell, source, older_levels);
        }
    });
}

fn push_value_and_formula(
    values: &mut ValueLayer,
    formulas: &mut FormulaLayers<'_>,
    cell: CellName,
    (source, value_index): (&LevelColumn<'_>, usize),
    older_levels: OlderLevels,
) {
    let source_values = &source.column.values;
    let formula = formula_at(source.column, value_index);
    let is_blank = source_values.values().get(value_index) == Some(&TileValue::Empty);
    // Keep a blank with a formula, because it means that the formula's value is not known yet.
    if is_blank && formula.is_none() && !older_levels.are_present() {
        return;
    }
    values.push_from(cell.row, source_values, value_index);
    if let Some((row, formula)) = formula {
        let CellName { row: first_row, column } = source.first_cell;
        let from = CellName { row: first_row.saturating_add(row), column };
        source.formulas.push(formulas, formula, from, cell);
    }
}

/// Returns the formula of a value and its row in the column.
fn formula_at(column: &TileColumn, value_index: usize) -> Option<(u32, StoredFormula<'_>)> {
    if column.formula_count() == 0 {
        return None;
    }
    let row = *column.values.rows().get(value_index)?;
    Some((row, StoredFormula::at(column, row)?))
}

fn merge_formats(
    level_columns: &[LevelColumn<'_>],
    older_levels: OlderLevels,
    merged_formats: &mut TextLayer,
) {
    let mut source_layers = Vec::new();
    let mut cursors = Vec::new();
    for level_column in level_columns {
        let layer = &level_column.column.formats;
        let cursor =
            RowCursor::new(layer.rows(), level_column.row_runs, &level_column.hidden_formats);
        if !cursor.is_at_end() {
            source_layers.push(layer);
            cursors.push(cursor);
        }
    }
    let may_general_hide_format = older_levels != OlderLevels::AbsentWithoutRangeFormats;
    visit_newest_rows(cursors, |row, layer, format_index| {
        let source_layer = source_layers.get(layer);
        let Some(format) = source_layer.and_then(|layer| layer.get(format_index)) else { return };
        if format != GENERAL || may_general_hide_format {
            merged_formats.push(row, format);
        }
    });
}
