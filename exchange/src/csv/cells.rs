//! The pass over a csv file in which cells are created.

use std::io::Read;

use cellar_snapshot::tile::TileValue;

use super::records::Records;
use super::survey::{FilledField, Survey, Tally};
use crate::block::{BlockBuilder, RowTooLong};
use crate::typing::Recognised;
use crate::{Block, BlockSize, ColumnTyping, ReadError};

/// Creates cells from records. The types of the columns are those that were known at the start of
/// the pass.
#[derive(Debug)]
pub(super) struct CellReader<R> {
    pub(super) records: Records<R>,
    pub(super) tally: Tally,
    /// Types of the columns with which the cells are created.
    typings: Vec<ColumnTyping>,
    builder: BlockBuilder,
}

/// Result of reading the next cells.
#[derive(Debug)]
pub(super) enum NextCells {
    Block(Block),
    /// All cells were returned. The survey now covers the whole file.
    End(Survey),
    /// A field has changed the type of a column, so the cells that were already returned are wrong.
    /// The records up to this field were surveyed.
    TypesChanged,
}

impl<R: Read> CellReader<R> {
    /// Creates a reader at the start of the file. `tally` must contain evidence about the columns,
    /// but no counted rows.
    pub(super) fn new(records: Records<R>, tally: Tally, block: BlockSize) -> Self {
        Self { records, typings: tally.typings(), tally, builder: BlockBuilder::new(block) }
    }

    pub(super) fn next(&mut self) -> Result<NextCells, ReadError> {
        loop {
            if self.builder.is_full(self.tally.rows())
                && let Some(block) = self.builder.take()
            {
                return Ok(NextCells::Block(block));
            }
            let Some(record) = self.records.next()? else {
                return match self.builder.take() {
                    Some(block) => Ok(NextCells::Block(block)),
                    None => self.tally.finish().map(NextCells::End),
                };
            };
            let row = self.tally.add_row(&record)?;
            self.builder.start_row(row);
            let mut changed_evidence = false;
            for field in self.tally.examine_fields(row, &record) {
                changed_evidence |= field.examined.changed_evidence;
                let column_index = usize::try_from(field.column).ok();
                let typing = column_index.and_then(|index| self.typings.get(index));
                push_field(&mut self.builder, &field, typing.unwrap_or(&ColumnTyping::TEXT))
                    .map_err(|_| ReadError::RowTooLong { line: record.line })?;
            }
            if changed_evidence && self.have_types_changed() {
                return Ok(NextCells::TypesChanged);
            }
        }
    }

    /// Returns whether a column now has a different type from the one with which its cells were
    /// created.
    fn have_types_changed(&self) -> bool {
        // The cells of columns that were unknown at the start were created as text.
        let created_typings = self.typings.iter().chain(std::iter::repeat(&ColumnTyping::TEXT));
        let current_typings = self.tally.typings();
        current_typings.iter().zip(created_typings).any(|(current, created)| current != created)
    }
}

fn push_field(
    builder: &mut BlockBuilder,
    field: &FilledField<'_>,
    typing: &ColumnTyping,
) -> Result<(), RowTooLong> {
    let column = field.column;
    match typing.value(field.examined.recognised, field.in_first_row) {
        None => builder.push_text(column, field.text)?,
        Some(Recognised::Bool(value)) => builder.push_value(column, TileValue::Bool(value)),
        Some(Recognised::Date { serial, format }) => {
            builder.push_value(column, TileValue::Number(serial));
            builder.push_format(column, format);
        }
        Some(Recognised::Number(number)) => {
            builder.push_value(column, TileValue::Number(number.value));
            // The number format of the column is also correct for numbers with fewer decimals.
            if let Some(format) = typing.format().or(number.format()) {
                builder.push_format(column, format);
            }
        }
    }
    Ok(())
}
