//! The pass over a csv file that creates cells.

use std::io::Read;

use cellar_snapshot::tile::TileValue;

use super::records::Records;
use super::survey::{FilledField, Survey, Tally};
use crate::block::{BlockBuilder, RowTooLong};
use crate::typing::Recognised;
use crate::{Block, BlockSize, ColumnTyping, ReadError};

/// Creates cells from records, with the types of the columns that were known at the start.
#[derive(Debug)]
pub(super) struct CellReader<R> {
    pub(super) records: Records<R>,
    pub(super) tally: Tally,
    /// Types with which the cells are created.
    typings: Vec<ColumnTyping>,
    builder: BlockBuilder,
}

/// Result of reading the next cells.
#[derive(Debug)]
pub(super) enum NextCells {
    Block(Block),
    /// All cells were returned; the survey covers the whole file.
    End(Survey),
    /// A field has changed the type of a column, so the cells so far are wrong. The records up to that field
    /// were surveyed.
    TypesChanged,
}

impl<R: Read> CellReader<R> {
    /// Creates a reader at the start of the file. `tally` contains the evidence about columns, but no rows.
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

    /// Returns whether the type of a column differs from the type with which its cells were created.
    fn have_types_changed(&self) -> bool {
        // Cells of columns that were not known at the start were created as text.
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
            // The format of the column also displays numbers with fewer decimals correctly.
            if let Some(format) = typing.format().or(number.format()) {
                builder.push_format(column, format);
            }
        }
    }
    Ok(())
}
