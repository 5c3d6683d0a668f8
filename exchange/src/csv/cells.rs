//! The pass over a csv file that makes cells.

use std::io::Read;

use cellar_snapshot::tile::TileValue;

use super::records::Records;
use super::survey::{Seen, Survey, Tally};
use crate::block::{BlockBuilder, RowTooLong};
use crate::typing::Recognised;
use crate::{Block, BlockSize, ColumnTyping, ReadError};

/// Cells, typed as the columns are, or as they seem to be.
#[derive(Debug)]
pub(super) struct Cells<R> {
    pub(super) records: Records<R>,
    pub(super) tally: Tally,
    typings: Vec<ColumnTyping>,
    builder: BlockBuilder,
}

/// How far it came.
#[derive(Debug)]
pub(super) enum Next {
    /// More cells.
    Block(Block),
    /// No more: all of them came, and this is the file.
    End(Survey),
    /// A column is not what it seemed to be. The record that showed it was looked at to its end.
    Otherwise,
}

impl<R: Read> Cells<R> {
    /// From the beginning; `tally` has what is known of the columns, and nothing else.
    pub(super) fn new(records: Records<R>, tally: Tally, block: BlockSize) -> Self {
        Self { records, typings: tally.typings(), tally, builder: BlockBuilder::new(block) }
    }

    pub(super) fn next(&mut self) -> Result<Next, ReadError> {
        loop {
            if self.builder.is_full(self.tally.rows())
                && let Some(block) = self.builder.take()
            {
                return Ok(Next::Block(block));
            }
            let Some(record) = self.records.next()? else {
                return match self.builder.take() {
                    Some(block) => Ok(Next::Block(block)),
                    None => self.tally.finish().map(Next::End),
                };
            };
            let row = self.tally.row(&record)?;
            self.builder.begin_row(row);
            let mut news = false;
            for seen in self.tally.fields(row, &record) {
                news |= seen.looked.news;
                let typing = usize::try_from(seen.column).ok();
                let typing = typing.and_then(|column| self.typings.get(column));
                push(&mut self.builder, &seen, typing.unwrap_or(&ColumnTyping::TEXT))
                    .map_err(|_| ReadError::RowTooLong { line: record.line })?;
            }
            if news && self.is_otherwise() {
                return Ok(Next::Otherwise);
            }
        }
    }

    /// Whether a column is something else than its cells were made as.
    fn is_otherwise(&self) -> bool {
        // Of one that was not there yet, all were made as text.
        let made = self.typings.iter().chain(std::iter::repeat(&ColumnTyping::TEXT));
        self.tally.typings().iter().zip(made).any(|(known, made)| known != made)
    }
}

fn push(
    builder: &mut BlockBuilder,
    seen: &Seen<'_>,
    typing: &ColumnTyping,
) -> Result<(), RowTooLong> {
    let column = seen.column;
    match typing.value(seen.looked.found, seen.in_first_row) {
        None => builder.text(column, seen.text)?,
        Some(Recognised::Bool(value)) => builder.value(column, TileValue::Bool(value)),
        Some(Recognised::Date { serial, format }) => {
            builder.value(column, TileValue::Number(serial));
            builder.format(column, format);
        }
        Some(Recognised::Number(number)) => {
            builder.value(column, TileValue::Number(number.value));
            if let Some(format) = typing.format().or(number.format()) {
                builder.format(column, format);
            }
        }
    }
    Ok(())
}
