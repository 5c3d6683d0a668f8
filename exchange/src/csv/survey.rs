//! The first pass over a csv file: how large it is, and what each of its columns is.

use std::io::Read;

use cellar_core::limits::MAX_ROWS;

use super::CsvOptions;
use super::records::{Record, Records};
use crate::typing::Evidence;
use crate::{ColumnKind, ColumnTyping, ReadError};

/// What the first pass found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// Rows of the file.
    pub rows: u32,
    /// Fields of its longest row.
    pub columns: u32,
    /// Fields that are not empty.
    pub cells: u64,
    /// The first row that has any, from 0: headings are looked for there.
    pub first_row: u32,
    /// What each column is, from the first.
    pub typings: Vec<ColumnTyping>,
}

/// A survey under way.
#[derive(Debug)]
pub(super) struct Surveyor<R> {
    records: Records<R>,
    shape: Shape,
    options: CsvOptions,
    columns: Vec<Evidence>,
    cells: u64,
    first_row: Option<u32>,
}

impl<R: Read> Surveyor<R> {
    pub(super) fn new(input: R, options: &CsvOptions) -> Result<Self, ReadError> {
        Ok(Self {
            records: Records::new(input, options.delimiter)?,
            shape: Shape::new(options.pad),
            options: options.clone(),
            columns: Vec::new(),
            cells: 0,
            first_row: None,
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    /// Goes on for about as many bytes; `true` once all is read.
    pub(super) fn step(&mut self, bytes: u64) -> Result<bool, ReadError> {
        let goal = self.records.bytes().saturating_add(bytes);
        while self.records.bytes() < goal {
            let Some(record) = self.records.next()? else {
                return Ok(true);
            };
            let row = self.shape.row(&record)?;
            if self.columns.len() < record.len() {
                self.columns.resize(record.len(), Evidence::default());
            }
            for (field, column) in record.iter().zip(&mut self.columns) {
                if field.is_empty() {
                    continue;
                }
                self.cells = self.cells.saturating_add(1);
                if *self.first_row.get_or_insert(row) == row {
                    column.add_first(field);
                } else {
                    column.add(field);
                }
            }
        }
        Ok(false)
    }

    pub(super) fn finish(self) -> Result<Survey, ReadError> {
        let first_row = self.first_row.ok_or(ReadError::Empty)?;
        let types = &self.options.types;
        let typing = |(column, evidence): (u32, &Evidence)| match types.of(column) {
            Some(choice) => ColumnTyping { kind: ColumnKind::Chosen(choice), heading: false },
            None => evidence.typing(),
        };
        Ok(Survey {
            rows: self.shape.rows,
            columns: u32::try_from(self.columns.len()).unwrap_or(u32::MAX),
            cells: self.cells,
            first_row,
            typings: (0..).zip(&self.columns).map(typing).collect(),
        })
    }
}

/// Numbers the rows of a file, and sees that they are as long as the first.
#[derive(Debug)]
pub(super) struct Shape {
    pad: bool,
    /// Rows so far.
    pub(super) rows: u32,
    fields: Option<usize>,
}

impl Shape {
    pub(super) fn new(pad: bool) -> Self {
        Self { pad, rows: 0, fields: None }
    }

    /// The row of a record. Blank lines are no rows, except where rows have only one field: there a
    /// blank line is an empty one, also above the first that is not blank, whose number of fields
    /// decides.
    pub(super) fn row(&mut self, record: &Record<'_>) -> Result<u32, ReadError> {
        let expected = *self.fields.get_or_insert(record.len());
        if record.len() != expected && !self.pad {
            return Err(ReadError::Ragged { line: record.line, fields: record.len(), expected });
        }
        if expected == 1 && record.len() == 1 {
            self.rows = self.rows.saturating_add(record.blank_lines);
        }
        if self.rows >= MAX_ROWS {
            return Err(ReadError::TooManyRows { line: record.line });
        }
        let row = self.rows;
        self.rows = self.rows.saturating_add(1);
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_at_their_limit() {
        let mut records = Records::new(&b"a\n\n\nb\n"[..], b',').unwrap();
        let mut shape = Shape::new(false);
        shape.rows = MAX_ROWS - 1;
        let record = records.next().unwrap().unwrap();
        assert_eq!(shape.row(&record).unwrap(), MAX_ROWS - 1);
        let record = records.next().unwrap().unwrap();
        assert!(matches!(shape.row(&record), Err(ReadError::TooManyRows { line: 4 })));
    }
}
