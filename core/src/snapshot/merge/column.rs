//! One column of several levels.

use crate::axis_map::Run;
use crate::cell::GENERAL;
use crate::operation::Spans;
use crate::snapshot::tile::{TextLayer, TileColumn, TileValue, ValueLayer};

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
}

impl Stream {
    fn of(rows: &[u32], runs: &[Run], hidden: &Spans) -> Self {
        let mut stream = Self { rows: Vec::new(), indices: Vec::new(), at: 0 };
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
        stream
    }

    /// What is above a row.
    fn take_below(&mut self, row: u32, mut each: impl FnMut(u32, usize)) {
        let rows = self.rows.get(self.at..).unwrap_or_default();
        let indices = self.indices.get(self.at..).unwrap_or_default();
        let above = rows.iter().zip(indices).take_while(|(own, _)| **own < row);
        let mut taken = 0_usize;
        above.for_each(|(row, index)| {
            each(*row, *index);
            taken = taken.saturating_add(1);
        });
        self.at = self.at.saturating_add(taken);
    }

    fn next_row(&self) -> Option<u32> {
        self.rows.get(self.at).copied()
    }
}

/// For each row of any stream, the newest that has it: its number and the index in its layer.
fn newest_of_each(mut streams: Vec<Stream>, mut each: impl FnMut(u32, usize, usize)) {
    if let [only] = streams.as_slice() {
        only.rows.iter().zip(&only.indices).for_each(|(row, index)| each(*row, 0, *index));
        return;
    }
    while let Some(row) = streams.iter().filter_map(Stream::next_row).min() {
        let here = |stream: &Stream| stream.next_row() == Some(row);
        let Some(newest) = streams.iter().rposition(here) else { return };
        // The row of the next that is not the newest's.
        let mut bound = u32::MAX;
        for (_, stream) in streams.iter_mut().enumerate().filter(|(it, _)| *it != newest) {
            stream.at = stream.at.saturating_add(usize::from(stream.next_row() == Some(row)));
            bound = bound.min(stream.next_row().unwrap_or(u32::MAX));
        }
        if let Some(stream) = streams.get_mut(newest) {
            stream.take_below(bound, |row, index| each(row, newest, index));
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
        if below.is_nothing() && column.values.values().get(index) == Some(&TileValue::Empty) {
            return;
        }
        values.push_from(row, &column.values, index);
        if column.formulas.is_empty() {
            return;
        }
        let own_row = column.values.rows().get(index);
        if let Some(formula) = own_row.and_then(|row| column.formulas.at(*row)) {
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
