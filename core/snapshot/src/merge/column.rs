//! One column of several levels.

use crate::tile::{TextLayer, TileColumn, TileValue, ValueLayer};
use cellar_sheet::axis_map::Run;
use cellar_sheet::cell::GENERAL;
use cellar_sheet::operation::Spans;

use super::window::Below;

/// A column of one level, with the runs of its rows that are wanted.
pub(super) struct ColumnPart<'a> {
    pub(super) column: &'a TileColumn,
    pub(super) runs: &'a [Run],
    /// Rows of the output where newer levels hide its values, or its formats.
    pub(super) hidden_values: Spans,
    pub(super) hidden_formats: Spans,
}

/// The rows of a layer that are wanted: where each goes, and which of the layer's it is.
struct Stream {
    rows: Vec<u32>,
    indices: Vec<usize>,
    at: usize,
    /// The row that comes next; `NO_ROW` behind the last.
    next: u32,
}

/// No row is so large.
const NO_ROW: u32 = u32::MAX;

impl Stream {
    fn of(rows: &[u32], runs: &[Run], hidden: &Spans) -> Self {
        let mut stream = Self { rows: Vec::new(), indices: Vec::new(), at: 0, next: NO_ROW };
        for run in runs {
            let first = rows.partition_point(|row| *row < run.src);
            let end = run.src.saturating_add(run.len);
            let behind = rows.get(first..).unwrap_or_default();
            let inside = behind.get(..behind.partition_point(|row| *row < end)).unwrap_or_default();
            let moved =
                inside.iter().map(|row| row.saturating_sub(run.src).saturating_add(run.dst));
            if hidden.is_empty() {
                stream.rows.extend(moved);
                stream.indices.extend(first..first.saturating_add(inside.len()));
            } else {
                let shown = moved.zip(first..).filter(|(row, _)| !hidden.contains(*row));
                shown.for_each(|(row, index)| {
                    stream.rows.push(row);
                    stream.indices.push(index);
                });
            }
        }
        stream.skip(0);
        stream
    }

    fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
        self.next = self.rows.get(self.at).copied().unwrap_or(NO_ROW);
    }

    /// What is above a row.
    fn take_above(&mut self, row: u32, mut each: impl FnMut(u32, usize)) {
        let rows = self.rows.get(self.at..).unwrap_or_default();
        let indices = self.indices.get(self.at..).unwrap_or_default();
        let mut taken = 0_usize;
        for (own, index) in rows.iter().zip(indices).take_while(|(own, _)| **own < row) {
            each(*own, *index);
            taken = taken.saturating_add(1);
        }
        self.skip(taken);
    }
}

/// For each row of any stream, the newest that has it: its number and the index in its layer.
fn newest_of_each(mut streams: Vec<Stream>, mut each: impl FnMut(u32, usize, usize)) {
    loop {
        // The next row, the newest that has it, and the next row of another behind that.
        let (mut row, mut newest, mut bound) = (NO_ROW, 0, NO_ROW);
        for (number, stream) in streams.iter().enumerate() {
            if stream.next < row {
                (bound, row, newest) = (row, stream.next, number);
            } else if stream.next == row {
                newest = number;
            } else {
                bound = bound.min(stream.next);
            }
        }
        if row == NO_ROW {
            return;
        }
        for older in streams.iter_mut().take(newest).filter(|older| older.next == row) {
            older.skip(1);
            bound = bound.min(older.next);
        }
        if let Some(stream) = streams.get_mut(newest) {
            stream.take_above(bound, |row, index| each(row, newest, index));
        }
    }
}

/// Merges the parts of one column, oldest first, into rows of the output.
pub(super) fn merge_column(number: u32, parts: &[ColumnPart<'_>], below: Below) -> TileColumn {
    let mut merged = TileColumn::new(number);
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
    let of = |part: &ColumnPart<'_>| {
        Stream::of(part.column.values.rows(), part.runs, &part.hidden_values)
    };
    let (parts, streams) = filled(parts, of);
    for (part, stream) in parts.iter().zip(&streams) {
        values.reserve(stream.rows.len(), &part.column.values);
    }
    newest_of_each(streams, |row, number, index| {
        let Some(column) = parts.get(number).map(|part| part.column) else { return };
        let own_row = column.values.rows().get(index).filter(|_| !column.formulas.is_empty());
        let formula = own_row.and_then(|row| column.formulas.at(*row));
        let blank = column.values.values().get(index) == Some(&TileValue::Empty);
        // A formula that has no value yet is something.
        if below.is_nothing() && blank && formula.is_none() {
            return;
        }
        values.push_from(row, &column.values, index);
        if let Some(formula) = formula {
            formulas.push(row, formula);
        }
    });
}

fn merge_formats(parts: &[ColumnPart<'_>], below: Below, formats: &mut TextLayer) {
    let of = |part: &ColumnPart<'_>| {
        Stream::of(part.column.formats.rows(), part.runs, &part.hidden_formats)
    };
    let (parts, streams) = filled(parts, of);
    newest_of_each(streams, |row, number, index| {
        let format = parts.get(number).and_then(|part| part.column.formats.get(index));
        let wanted = |format: &&str| below != Below::NothingFormatted || *format != GENERAL;
        if let Some(format) = format.filter(wanted) {
            formats.push(row, format);
        }
    });
}

/// The parts that have something, with their streams.
fn filled<'p, 'a>(
    parts: &'p [ColumnPart<'a>],
    stream: impl Fn(&ColumnPart<'a>) -> Stream,
) -> (Vec<&'p ColumnPart<'a>>, Vec<Stream>) {
    let streams = parts.iter().map(|part| (part, stream(part)));
    streams.filter(|(_, stream)| !stream.rows.is_empty()).unzip()
}
