//! The second pass over a csv file, which creates the cells.

use std::io::Read;

use cellar_snapshot::tile::TileValue;

use super::records::Records;
use super::survey::{ExaminedCsvField, Survey, Tally};
use crate::block::{BlockBuilder, RowTooLong};
use crate::typing::RecognisedValue;
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

    pub(super) fn next_cells(&mut self) -> Result<NextCells, ReadError> {
        loop {
            if self.builder.is_full_before(self.tally.rows())
                && let Some(block) = self.builder.take_block()
            {
                return Ok(NextCells::Block(block));
            }
            let Some(record) = self.records.next_record()? else { return self.last_cells() };
            let row = self.tally.add_row(&record)?;
            self.builder.start_row(row);
            let mut has_evidence_changed = false;
            for nonempty_field in record.nonempty_fields() {
                let Some(field) = self.tally.examine_field(row, nonempty_field) else { continue };
                has_evidence_changed |= field.examined.changed_evidence;
                let typing = self.typings.get(field.column_index).unwrap_or(&ColumnTyping::TEXT);
                push_field(&mut self.builder, &field, typing)
                    .map_err(|RowTooLong| ReadError::RowTooLong { line: record.line })?;
            }
            if has_evidence_changed && self.have_types_changed() {
                return Ok(NextCells::TypesChanged);
            }
        }
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

fn push_field(
    builder: &mut BlockBuilder,
    field: &ExaminedCsvField<'_>,
    typing: &ColumnTyping,
) -> Result<(), RowTooLong> {
    let column = field.column;
    match typing.value_of_field(field.examined.recognised_value, field.in_first_row) {
        None => builder.push_text(column, field.text)?,
        Some(RecognisedValue::Bool(boolean)) => {
            builder.push_value(column, TileValue::Bool(boolean));
        }
        Some(RecognisedValue::Date { serial, format }) => {
            builder.push_value(column, TileValue::Number(serial));
            builder.push_format(column, format);
        }
        Some(RecognisedValue::Number(number)) => {
            builder.push_value(column, TileValue::Number(number.value));
            // If all numbers in a column share a number format, it also applies to a number with
            // fewer decimals.
            if let Some(format) = typing.number_format().or(number.format()) {
                builder.push_format(column, format);
            }
        }
    }
    Ok(())
}
