//! Both passes over a csv file, as one import.

use cellar_core::snapshot::tile::TileValue;

use super::CsvOptions;
use super::records::Records;
use super::survey::{Shape, Survey, Surveyor};
use crate::block::BlockBuilder;
use crate::typing::Recognised;
use crate::{Block, ColumnTyping, Import, Piece, Progress, ReadError, SheetStart, Source};

/// Bytes of the first pass that one pull looks through.
const STEP_BYTES: u64 = 1024 * 1024;

/// A csv file that is being read.
#[derive(Debug)]
pub struct CsvImport<S: Source> {
    source: S,
    options: CsvOptions,
    file_bytes: u64,
    survey: Option<Survey>,
    pass: Pass<S::Stream>,
}

#[derive(Debug)]
enum Pass<R> {
    First(Surveyor<R>),
    Second(Cells<R>),
    Done,
}

impl<S: Source> CsvImport<S> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be opened, or is something else by its first bytes.
    pub fn open(source: S, options: &CsvOptions) -> Result<Self, ReadError> {
        let file_bytes = source.bytes()?;
        let pass = Pass::First(Surveyor::new(source.open()?, options)?);
        Ok(Self { source, options: options.clone(), file_bytes, survey: None, pass })
    }

    /// What the first pass found, once it is over.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.survey.as_ref()
    }

    fn begin_second(&mut self, survey: Survey) -> Result<Piece, ReadError> {
        let cells = Cells::new(self.source.open()?, &self.options)?;
        self.pass = Pass::Second(cells);
        self.survey = Some(survey);
        Ok(Piece::Sheet(SheetStart { name: None, hidden: false }))
    }
}

impl<S: Source> Import for CsvImport<S> {
    fn next(&mut self) -> Result<Option<Piece>, ReadError> {
        match std::mem::replace(&mut self.pass, Pass::Done) {
            Pass::First(mut surveyor) => {
                if surveyor.step(STEP_BYTES)? {
                    return self.begin_second(surveyor.finish()?).map(Some);
                }
                self.pass = Pass::First(surveyor);
                Ok(Some(Piece::Working))
            }
            Pass::Second(mut cells) => {
                let Some(survey) = &self.survey else {
                    return Ok(None);
                };
                let Some(block) = cells.next_block(survey)? else {
                    return Ok(None);
                };
                self.pass = Pass::Second(cells);
                Ok(Some(Piece::Block(block)))
            }
            Pass::Done => Ok(None),
        }
    }

    fn progress(&self) -> Progress {
        let done = match &self.pass {
            Pass::First(surveyor) => surveyor.bytes(),
            Pass::Second(cells) => self.file_bytes.saturating_add(cells.records.bytes()),
            Pass::Done => self.file_bytes.saturating_mul(2),
        };
        Progress { done, total: self.file_bytes.saturating_mul(2) }
    }
}

/// The second pass.
#[derive(Debug)]
struct Cells<R> {
    records: Records<R>,
    shape: Shape,
    builder: BlockBuilder,
}

impl<R: std::io::Read> Cells<R> {
    fn new(input: R, options: &CsvOptions) -> Result<Self, ReadError> {
        Ok(Self {
            records: Records::new(input, options.delimiter)?,
            shape: Shape::new(options.pad),
            builder: BlockBuilder::new(options.block),
        })
    }

    fn next_block(&mut self, survey: &Survey) -> Result<Option<Block>, ReadError> {
        while !self.builder.is_full(self.shape.rows) {
            let Some(record) = self.records.next()? else {
                // A file that was written meanwhile may have become something else altogether.
                return if self.shape.rows == survey.rows {
                    Ok(self.builder.take())
                } else {
                    Err(ReadError::Changed)
                };
            };
            let row = self.shape.row(&record)?;
            if record.len() > survey.typings.len() {
                return Err(ReadError::Changed);
            }
            self.builder.begin_row(row);
            let in_first_row = row == survey.first_row;
            for ((column, field), typing) in (0_u32..).zip(record.iter()).zip(&survey.typings) {
                if !field.is_empty() {
                    push(&mut self.builder, column, field, typing, in_first_row)
                        .map_err(|_| ReadError::RowTooLong { line: record.line })?;
                }
            }
        }
        Ok(self.builder.take())
    }
}

fn push(
    builder: &mut BlockBuilder,
    column: u32,
    field: &str,
    typing: &ColumnTyping,
    in_first_row: bool,
) -> Result<(), crate::block::RowTooLong> {
    match typing.value(field, in_first_row) {
        None => builder.text(column, field)?,
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
