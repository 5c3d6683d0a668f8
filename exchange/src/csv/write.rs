//! Writes csv row by row.

use std::io::{BufWriter, Write};

use cellar_sheet::cell::{GENERAL, display, display_result};

use super::delimiter::CANDIDATES;
use crate::{CellToWrite, WriteError};

/// Writes a sheet as csv. All rows have the same number of fields. Skipped rows and cells are
/// written as empty fields.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    target: BufWriter<W>,
    delimiter: u8,
    columns: u32,
    writes_formulas: bool,
    next_row: u32,
    next_column: u32,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer for rows with `columns` fields. `delimiter` must be an ASCII character.
    ///
    /// If `writes_formulas` is true, a cell with a formula is written as its formula. All other
    /// cells are written as they are displayed.
    pub fn new(target: W, delimiter: u8, columns: u32, writes_formulas: bool) -> Self {
        let target = BufWriter::new(target);
        Self { target, delimiter, columns, writes_formulas, next_row: 0, next_column: 0 }
    }

    /// Writes the next cell.
    ///
    /// # Errors
    /// Returns [`WriteError::OutOfOrder`] if the cell does not follow the previous cell or is
    /// beyond the last column. Returns [`WriteError::Io`] if writing fails.
    pub fn write_cell(
        &mut self,
        row: u32,
        column: u32,
        cell: &CellToWrite<'_>,
    ) -> Result<(), WriteError> {
        let next_position = (self.next_row, self.next_column);
        if (row, column) < next_position || column >= self.columns {
            return Err(WriteError::OutOfOrder);
        }
        while self.next_row < row {
            self.end_row()?;
        }
        while self.next_column < column {
            self.write_field("")?;
        }
        let format = cell.format.unwrap_or(GENERAL);
        match cell.formula {
            Some(formula) if self.writes_formulas => self.write_field(formula),
            Some(_) => self.write_field(&display_result(cell.value, format)),
            None => self.write_field(&display(cell.value, format)),
        }
    }

    /// Completes the last row and flushes the file.
    ///
    /// # Errors
    /// Returns [`WriteError::Io`] if writing fails.
    pub fn finish(mut self) -> Result<W, WriteError> {
        if self.next_column > 0 {
            self.end_row()?;
        }
        self.target.into_inner().map_err(|error| WriteError::Io(error.into_error()))
    }

    fn end_row(&mut self) -> Result<(), WriteError> {
        while self.next_column < self.columns {
            self.write_field("")?;
        }
        self.target.write_all(b"\n")?;
        self.next_row = self.next_row.saturating_add(1);
        self.next_column = 0;
        Ok(())
    }

    fn write_field(&mut self, text: &str) -> Result<(), WriteError> {
        if self.next_column > 0 {
            self.target.write_all(&[self.delimiter])?;
        }
        if self.needs_quotes(text) {
            self.target.write_all(b"\"")?;
            self.target.write_all(text.replace('"', "\"\"").as_bytes())?;
            self.target.write_all(b"\"")?;
        } else {
            self.target.write_all(text.as_bytes())?;
        }
        self.next_column += 1;
        Ok(())
    }

    fn needs_quotes(&self, text: &str) -> bool {
        // If a row has only one field, and this field is empty, the field is quoted, because many
        // programs skip blank lines.
        let is_blank_line = text.is_empty() && self.columns == 1;
        // If a file started with one of these characters, it would be detected as another format.
        let is_first_field = self.next_row == 0 && self.next_column == 0;
        let is_file_mark =
            is_first_field && (text.starts_with('\u{feff}') || text.starts_with("PK"));
        // Another delimiter is quoted, so that nothing that detects the delimiter takes it for one.
        let needs_quotes = |byte| {
            byte == self.delimiter
                || CANDIDATES.contains(&byte)
                || matches!(byte, b'"' | b'\n' | b'\r')
        };
        is_blank_line || is_file_mark || text.bytes().any(needs_quotes)
    }
}
