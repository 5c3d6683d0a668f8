//! The second pass over a csv file, which creates the cells.

use std::io::Read;

use cellar_snapshot::tile::TileValue;

use super::records::Records;
use super::survey::{FieldSink, Survey, Tally};
use super::uniform_rows::{RowLimits, UniformRows};
use crate::block::{BlockBuilder, ColumnBuilder};
use crate::typing::{Number, RecognisedValue};
use crate::{Block, BlockSize, ColumnTyping, ReadError};

/// Uses the column types that are known when the pass starts.
#[derive(Debug)]
pub(super) struct CellReader<R> {
    pub(super) records: Records<R>,
    pub(super) tally: Tally,
    typings: Vec<ColumnTyping>,
    builder: BlockBuilder,
}

#[derive(Debug)]
pub(super) enum NextCells {
    Block(Block),
    /// The survey contains the size and the column types of the whole file.
    End(Survey),
    /// A field contradicts the type of its column, so the cells that were returned earlier have the
    /// wrong type. The tally covers all records up to and including the record of this field.
    TypesChanged,
}

impl<R: Read> CellReader<R> {
    /// `tally` must contain the column types that an earlier pass detected, and all of its counts
    /// must be zero.
    pub(super) fn new(records: Records<R>, tally: Tally, block: BlockSize) -> Self {
        Self { records, typings: tally.typings(), tally, builder: BlockBuilder::new(block) }
    }

    pub(super) fn set_block_cells(&mut self, cells: usize) {
        self.builder.set_block_cells(cells);
    }

    pub(super) fn next_cells(&mut self) -> Result<NextCells, ReadError> {
        loop {
            if self.builder.is_full_before(self.tally.rows())
                && let Some(block) = self.builder.take_block()
            {
                return Ok(NextCells::Block(block));
            }
            let Some(has_evidence_changed) = self.add_rows()? else { return self.last_cells() };
            if has_evidence_changed && self.have_types_changed() {
                return Ok(NextCells::TypesChanged);
            }
        }
    }

    /// Adds one or more rows to the block, which must not be full. Returns whether the evidence for
    /// the type of a column changed, or `None` at the end of the file.
    fn add_rows(&mut self) -> Result<Option<bool>, ReadError> {
        let free_text_bytes = self.builder.free_text_bytes();
        if let Some(limits) = self.tally.limits_of_uniform_rows(free_text_bytes) {
            let free_rows = self.builder.free_rows(self.tally.rows(), limits.columns);
            let limits = RowLimits { max_rows: limits.max_rows.min(free_rows), ..limits };
            if let Some(rows) = self.records.next_uniform_rows(limits)? {
                let Self { tally, typings, builder, .. } = self;
                return Ok(Some(add_uniform_rows(&rows, tally, typings, builder)));
            }
        }
        let Some(record) = self.records.next_record()? else { return Ok(None) };
        let row = self.tally.add_row(&record)?;
        self.builder.start_row(row);
        let mut has_evidence_changed = false;
        for nonempty_field in record.nonempty_fields() {
            let Some(field) = self.tally.examine_field(row, nonempty_field) else { continue };
            has_evidence_changed |= field.examined.changed_evidence;
            let typing = self.typings.get(field.column_index).unwrap_or(&ColumnTyping::TEXT);
            let recognised_value = field.examined.recognised_value;
            let value = typing.value_of_field(recognised_value, field.in_first_row);
            if let Some(cells) = self.builder.column(field.column) {
                CellSink::new(cells, row, typing).push_field(0, field.text, value);
            }
        }
        Ok(Some(has_evidence_changed))
    }

    /// Returns the last block. If it has already been returned, returns the survey of the whole
    /// file.
    fn last_cells(&mut self) -> Result<NextCells, ReadError> {
        match self.builder.take_block() {
            Some(block) => Ok(NextCells::Block(block)),
            None => self.tally.to_survey(self.records.syntax()).map(NextCells::End),
        }
    }

    fn have_types_changed(&self) -> bool {
        for (index, current_typing) in self.tally.typings().iter().enumerate() {
            // A column that was unknown when this pass started was treated as text.
            let used_typing = self.typings.get(index).unwrap_or(&ColumnTyping::TEXT);
            if current_typing != used_typing {
                return true;
            }
        }
        false
    }
}

/// Returns whether the evidence for the type of a column changed.
fn add_uniform_rows(
    rows: &UniformRows<'_>,
    tally: &mut Tally,
    typings: &[ColumnTyping],
    builder: &mut BlockBuilder,
) -> bool {
    let first_row = tally.add_uniform_rows(rows);
    builder.start_row(first_row);
    let mut has_evidence_changed = false;
    for (column, column_index) in (0_u32..).zip(0..rows.columns) {
        let typing = typings.get(column_index).unwrap_or(&ColumnTyping::TEXT);
        if let Some(cells) = builder.column(column) {
            let mut sink = CellSink::new(cells, first_row, typing);
            has_evidence_changed |= tally.examine_column(rows, column_index, &mut sink);
        }
    }
    has_evidence_changed
}

/// Adds the cells of a column. The caller has checked that the text of no row is too long.
struct CellSink<'b, 't> {
    cells: ColumnBuilder<'b>,
    first_row: u32,
    is_text: bool,
    number_format: Option<&'t str>,
    /// The format that was added last.
    last_format: Option<&'t str>,
}

impl<'b, 't> CellSink<'b, 't> {
    fn new(cells: ColumnBuilder<'b>, first_row: u32, typing: &'t ColumnTyping) -> Self {
        let (is_text, number_format) = (typing.is_text(), typing.number_format());
        Self { cells, first_row, is_text, number_format, last_format: None }
    }

    /// Formats are static, or that of the column, and `General` is not among them.
    fn push_format(&mut self, row: u32, format: &'t str) {
        if self.last_format.is_some_and(|last_format| std::ptr::eq(last_format, format)) {
            self.cells.push_last_format(row);
        } else {
            self.cells.push_format(row, format);
            self.last_format = Some(format);
        }
    }
}

impl FieldSink for CellSink<'_, '_> {
    fn push_field(&mut self, row_index: u32, text: &str, value: Option<RecognisedValue>) {
        let row = self.first_row + row_index;
        match value.filter(|_| !self.is_text) {
            None => self.cells.push_text(row, text),
            Some(RecognisedValue::Bool(boolean)) => {
                self.cells.push_value(row, TileValue::Bool(boolean));
            }
            Some(RecognisedValue::Date { serial, form }) => {
                self.cells.push_value(row, TileValue::Number(serial));
                self.push_format(row, form.format());
            }
            Some(RecognisedValue::Number(number)) => self.push_number(row_index, text, number),
        }
    }

    #[inline]
    fn push_number(&mut self, row_index: u32, text: &str, number: Number) {
        let row = self.first_row + row_index;
        if self.is_text {
            return self.cells.push_text(row, text);
        }
        self.cells.push_value(row, TileValue::Number(number.value));
        // If all numbers in a column share a number format, it also applies to a number with
        // fewer decimals.
        if let Some(format) = self.number_format.or(number.format()) {
            self.push_format(row, format);
        }
    }
}
