//! The first pass over a csv file: how large it is, and what each of its columns is.

use std::io::Read;

use cellar_base::limits::MAX_ROWS;

use super::CsvOptions;
use super::records::{Record, Records};
use crate::typing::{Evidence, Looked};
use crate::{ColumnTypes, ColumnTyping, ReadError};

/// What is known of a file once all of it was looked at.
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

/// What is known of the rows so far.
#[derive(Debug)]
pub(super) struct Tally {
    shape: Shape,
    types: ColumnTypes,
    columns: Vec<Evidence>,
    cells: u64,
    first_row: Option<u32>,
}

/// A field that is not empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) column: u32,
    pub(super) text: &'a str,
    pub(super) looked: Looked,
    pub(super) in_first_row: bool,
}

impl Tally {
    pub(super) fn new(options: &CsvOptions) -> Self {
        Self {
            shape: Shape::new(options.pad),
            types: options.types.clone(),
            columns: Vec::new(),
            cells: 0,
            first_row: None,
        }
    }

    /// For the same rows once more: what is known of the columns stays.
    pub(super) fn again(&self) -> Self {
        Self {
            shape: Shape::new(self.shape.pad),
            types: self.types.clone(),
            columns: self.columns.clone(),
            cells: 0,
            first_row: self.first_row,
        }
    }

    /// Rows so far.
    pub(super) fn rows(&self) -> u32 {
        self.shape.rows
    }

    /// The row of the next record.
    pub(super) fn row(&mut self, record: &Record<'_>) -> Result<u32, ReadError> {
        let row = self.shape.row(record)?;
        for column in (0_u32..).take(record.len()).skip(self.columns.len()) {
            self.columns.push(Evidence::of(self.types.of(column)));
        }
        Ok(row)
    }

    /// Looks at its fields, one by one.
    pub(super) fn fields<'a>(
        &mut self,
        row: u32,
        record: &Record<'a>,
    ) -> impl Iterator<Item = Seen<'a>> {
        let Self { columns, cells, first_row, .. } = self;
        let filled = (0_u32..).zip(record.iter()).zip(columns);
        filled.filter(|((_, text), _)| !text.is_empty()).map(move |((column, text), evidence)| {
            *cells = cells.saturating_add(1);
            let in_first_row = *first_row.get_or_insert(row) == row;
            Seen { column, text, looked: evidence.look(text, in_first_row), in_first_row }
        })
    }

    /// What all columns are, as far as is known.
    pub(super) fn typings(&self) -> Vec<ColumnTyping> {
        self.columns.iter().map(|evidence| evidence.typing()).collect()
    }

    pub(super) fn finish(&self) -> Result<Survey, ReadError> {
        Ok(Survey {
            rows: self.shape.rows,
            columns: u32::try_from(self.columns.len()).unwrap_or(u32::MAX),
            cells: self.cells,
            first_row: self.first_row.ok_or(ReadError::Empty)?,
            typings: self.typings(),
        })
    }
}

/// A survey under way.
#[derive(Debug)]
pub(super) struct Surveyor<R> {
    pub(super) records: Records<R>,
    pub(super) tally: Tally,
}

impl<R: Read> Surveyor<R> {
    /// Goes on for about as many bytes; `true` once all is read.
    pub(super) fn step(&mut self, bytes: u64) -> Result<bool, ReadError> {
        let goal = self.records.bytes().saturating_add(bytes);
        while self.records.bytes() < goal {
            let Some(record) = self.records.next()? else {
                return Ok(true);
            };
            let row = self.tally.row(&record)?;
            self.tally.fields(row, &record).for_each(drop);
        }
        Ok(false)
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
