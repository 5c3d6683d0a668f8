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

/// Queue of the visible rows of a layer, from top to bottom.
struct RowQueue {
    output_rows: Vec<u32>,
    /// For each output row, the index of its value or format in the layer.
    layer_indices: Vec<usize>,
    removed_count: usize,
}

impl RowQueue {
    fn new(layer_rows: &[u32], row_runs: &[Run], hidden_rows: &Spans) -> Self {
        let mut queue =
            Self { output_rows: Vec::new(), layer_indices: Vec::new(), removed_count: 0 };
        for run in row_runs {
            queue.push_run(layer_rows, run, hidden_rows);
        }
        queue
    }

    fn push_run(&mut self, layer_rows: &[u32], run: &Run, hidden_rows: &Spans) {
        let layer_indices = indices_in_run(layer_rows, run);
        let rows_in_run = layer_rows.get(layer_indices.clone()).unwrap_or_default();
        let output_rows = rows_in_run.iter().map(|row| row - run.src + run.dst);
        if hidden_rows.is_empty() {
            self.output_rows.extend(output_rows);
            self.layer_indices.extend(layer_indices);
            return;
        }
        for (output_row, layer_index) in output_rows.zip(layer_indices) {
            if !hidden_rows.contains(output_row) {
                self.output_rows.push(output_row);
                self.layer_indices.push(layer_index);
            }
        }
    }

    fn next_row(&self) -> Option<u32> {
        self.output_rows.get(self.removed_count).copied()
    }

    fn remove_next_row(&mut self) {
        self.removed_count += 1;
    }

    /// Calls `visit` with each removed row and its index in the layer.
    fn remove_rows_before(&mut self, end_row: u32, mut visit: impl FnMut(u32, usize)) {
        while let Some(row) = self.next_row()
            && row < end_row
        {
            if let Some(layer_index) = self.layer_indices.get(self.removed_count) {
                visit(row, *layer_index);
            }
            self.remove_next_row();
        }
    }
}

/// Merges queues, which are ordered from oldest to newest. Calls `visit(row, queue_index,
/// layer_index)` for each row in ascending order. `queue_index` is the index of the newest queue
/// that contains the row, and `layer_index` is the row's index in the layer of that queue.
fn visit_newest_rows(mut queues: Vec<RowQueue>, mut visit: impl FnMut(u32, usize, usize)) {
    while let Some(row) = queues.iter().filter_map(RowQueue::next_row).min() {
        let has_row = |queue: &RowQueue| queue.next_row() == Some(row);
        let Some(newest_index) = queues.iter().rposition(has_row) else { return };
        for older_queue in queues.iter_mut().take(newest_index) {
            if older_queue.next_row() == Some(row) {
                older_queue.remove_next_row();
            }
        }
        let next_row_of_others = next_row_except(&queues, newest_index).unwrap_or(u32::MAX);
        if let Some(newest_queue) = queues.get_mut(newest_index) {
            newest_queue.remove_rows_before(next_row_of_others, |row, layer_index| {
                visit(row, newest_index, layer_index);
            });
        }
    }
}

fn next_row_except(queues: &[RowQueue], excluded_index: usize) -> Option<u32> {
    let other_queues = queues.iter().enumerate().filter(|(index, _)| *index != excluded_index);
    other_queues.filter_map(|(_, queue)| queue.next_row()).min()
}

/// `level_columns` is ordered from oldest to newest.
pub(super) fn merge_column(
    output_column: u32,
    level_columns: &[LevelColumn<'_>],
    older_levels: OlderLevels,
) -> TileColumn {
    let mut merged_column = TileColumn::new(output_column);
    merge_values_and_formulas(level_columns, older_levels, &mut merged_column);
    merge_formats(level_columns, older_levels, &mut merged_column.formats);
    merged_column
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
    let mut queues = Vec::new();
    for level_column in level_columns {
        let source_rows = level_column.column.values.rows();
        let queue = RowQueue::new(source_rows, level_column.row_runs, &level_column.hidden_values);
        if queue.next_row().is_some() {
            values.reserve(queue.output_rows.len(), &level_column.column.values);
            source_columns.push(level_column);
            queues.push(queue);
        }
    }
    visit_newest_rows(queues, |row, queue_index, value_index| {
        if let Some(source_column) = source_columns.get(queue_index) {
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
    let mut queues = Vec::new();
    for level_column in level_columns {
        let layer = &level_column.column.formats;
        let queue =
            RowQueue::new(layer.rows(), level_column.row_runs, &level_column.hidden_formats);
        if queue.next_row().is_some() {
            source_layers.push(layer);
            queues.push(queue);
        }
    }
    let may_general_hide_format = older_levels != OlderLevels::AbsentWithoutRangeFormats;
    visit_newest_rows(queues, |row, queue_index, format_index| {
        let source_layer = source_layers.get(queue_index);
        let Some(format) = source_layer.and_then(|layer| layer.get(format_index)) else { return };
        if format != GENERAL || may_general_hide_format {
            merged_formats.push(row, format);
        }
    });
}
