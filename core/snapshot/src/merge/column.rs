//! Merges one column across several levels.

use super::window::Below;
use crate::tile::{TextLayer, TileColumn, TileValue, ValueLayer};
use cellar_sheet::axis_map::Run;
use cellar_sheet::cell::GENERAL;
use cellar_sheet::operation::Spans;

/// A column of one level, restricted to the rows being merged.
pub(super) struct ColumnPart<'a> {
    pub(super) column: &'a TileColumn,
    /// Maps column rows to output rows.
    pub(super) runs: &'a [Run],
    /// Output rows in which newer levels hide the column's values.
    pub(super) hidden_values: Spans,
    /// Output rows in which newer levels hide the column's formats.
    pub(super) hidden_formats: Spans,
}

/// Queue of a layer's visible rows: output rows with their indices in the layer.
struct RowQueue {
    rows: Vec<u32>,
    indices: Vec<usize>,
    /// Number of rows consumed so far.
    taken: usize,
    /// Next output row, or `NO_ROW` if the queue is empty.
    next: u32,
}

/// Larger than any row.
const NO_ROW: u32 = u32::MAX;

impl RowQueue {
    fn new(layer_rows: &[u32], runs: &[Run], hidden: &Spans) -> Self {
        let mut queue = Self { rows: Vec::new(), indices: Vec::new(), taken: 0, next: NO_ROW };
        for run in runs {
            queue.push_run(layer_rows, *run, hidden);
        }
        queue.skip(0);
        queue
    }

    fn push_run(&mut self, layer_rows: &[u32], run: Run, hidden: &Spans) {
        let run_end = run.src.saturating_add(run.len);
        let first = layer_rows.partition_point(|row| *row < run.src);
        let rest = layer_rows.get(first..).unwrap_or_default();
        let rows = rest.get(..rest.partition_point(|row| *row < run_end)).unwrap_or_default();
        let output_rows =
            rows.iter().map(|row| row.saturating_sub(run.src).saturating_add(run.dst));
        if hidden.is_empty() {
            self.rows.extend(output_rows);
            self.indices.extend(first..first.saturating_add(rows.len()));
            return;
        }
        for (row, index) in output_rows.zip(first..) {
            if !hidden.contains(row) {
                self.rows.push(row);
                self.indices.push(index);
            }
        }
    }

    fn skip(&mut self, count: usize) {
        self.taken = self.taken.saturating_add(count);
        self.next = self.rows.get(self.taken).copied().unwrap_or(NO_ROW);
    }

    /// Removes all rows before `end`, passing each row and its layer index to `visit`.
    fn take_before(&mut self, end: u32, mut visit: impl FnMut(u32, usize)) {
        let rows = self.rows.get(self.taken..).unwrap_or_default();
        let indices = self.indices.get(self.taken..).unwrap_or_default();
        let mut count = 0_usize;
        for (row, index) in rows.iter().zip(indices).take_while(|(row, _)| **row < end) {
            visit(*row, *index);
            count = count.saturating_add(1);
        }
        self.skip(count);
    }
}

/// Merges queues, ordered oldest first. For each row in ascending order, calls `visit(row, queue,
/// index)` with the newest queue that contains the row and the row's index in that queue's layer.
fn visit_newest(mut queues: Vec<RowQueue>, mut visit: impl FnMut(u32, usize, usize)) {
    loop {
        // Find the next row, the newest queue that contains it, and the next row in any other
        // queue.
        let (mut row, mut newest, mut next_other_row) = (NO_ROW, 0, NO_ROW);
        for (queue_index, queue) in queues.iter().enumerate() {
            if queue.next < row {
                (next_other_row, row, newest) = (row, queue.next, queue_index);
            } else if queue.next == row {
                newest = queue_index;
            } else {
                next_other_row = next_other_row.min(queue.next);
            }
        }
        if row == NO_ROW {
            return;
        }
        for older in queues.iter_mut().take(newest).filter(|older| older.next == row) {
            older.skip(1);
            next_other_row = next_other_row.min(older.next);
        }
        if let Some(queue) = queues.get_mut(newest) {
            queue.take_before(next_other_row, |row, index| visit(row, newest, index));
        }
    }
}

/// Merges the parts of one output column, ordered oldest first.
pub(super) fn merge_column(
    output_column: u32,
    parts: &[ColumnPart<'_>],
    below: Below,
) -> TileColumn {
    let mut merged = TileColumn::new(output_column);
    merge_values(parts, below, &mut merged.values, &mut merged.formulas);
    merge_formats(parts, below, &mut merged.formats);
    merged
}

fn merge_values(
    parts: &[ColumnPart<'_>],
    below: Below,
    values: &mut ValueLayer,
    formulas: &mut TextLayer,
) {
    let (parts, queues) = non_empty_queues(parts, |part| {
        RowQueue::new(part.column.values.rows(), part.runs, &part.hidden_values)
    });
    for (part, queue) in parts.iter().zip(&queues) {
        values.reserve(queue.rows.len(), &part.column.values);
    }
    visit_newest(queues, |row, part_index, index| {
        let Some(column) = parts.get(part_index).map(|part| part.column) else { return };
        let formula = formula_at(column, index);
        let is_blank = column.values.values().get(index) == Some(&TileValue::Empty);
        // A blank with a formula means that the formula's value is not known yet.
        if is_blank && formula.is_none() && below.is_nothing() {
            return;
        }
        values.push_from(row, &column.values, index);
        if let Some(formula) = formula {
            formulas.push(row, formula);
        }
    });
}

/// Returns the formula of the cell whose value has this index.
fn formula_at(column: &TileColumn, value_index: usize) -> Option<&str> {
    if column.formulas.is_empty() {
        return None;
    }
    column.formulas.at(*column.values.rows().get(value_index)?)
}

fn merge_formats(parts: &[ColumnPart<'_>], below: Below, formats: &mut TextLayer) {
    let (parts, queues) = non_empty_queues(parts, |part| {
        RowQueue::new(part.column.formats.rows(), part.runs, &part.hidden_formats)
    });
    visit_newest(queues, |row, part_index, index| {
        let format = parts.get(part_index).and_then(|part| part.column.formats.get(index));
        let Some(format) = format else { return };
        if format != GENERAL || below != Below::NothingFormatted {
            formats.push(row, format);
        }
    });
}

/// Returns the parts with visible rows and their queues.
fn non_empty_queues<'p, 'a>(
    parts: &'p [ColumnPart<'a>],
    new_queue: impl Fn(&ColumnPart<'a>) -> RowQueue,
) -> (Vec<&'p ColumnPart<'a>>, Vec<RowQueue>) {
    let queues = parts.iter().map(|part| (part, new_queue(part)));
    queues.filter(|(_, queue)| !queue.rows.is_empty()).unzip()
}
