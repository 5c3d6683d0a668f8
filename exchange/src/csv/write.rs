//! Writing csv, row by row.

use std::io::{BufWriter, Write};

use cellar_sheet::cell::{GENERAL, display};

use crate::{OutCell, WriteError};

/// Writes one sheet as csv. Each row is as wide as the caller says the sheet is; rows that are left
/// out become blank ones.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    target: BufWriter<W>,
    delimiter: u8,
    columns: u32,
    formulas: bool,
    next: (u32, u32),
}

impl<W: Write> CsvWriter<W> {
    /// Begins a file of so many columns; `delimiter` is an ASCII character. With `formulas`, a cell
    /// that has one is written as its formula's text; else all cells are as a person sees them.
    pub fn new(target: W, delimiter: u8, columns: u32, formulas: bool) -> Self {
        Self { target: BufWriter::new(target), delimiter, columns, formulas, next: (0, 0) }
    }

    /// Writes the next cell.
    ///
    /// # Errors
    /// [`WriteError::OutOfOrder`] if it does not come after the ones before, or is outside the
    /// columns; [`WriteError::Io`].
    pub fn cell(&mut self, row: u32, column: u32, cell: &OutCell<'_>) -> Result<(), WriteError> {
        if (row, column) < self.next || column >= self.columns {
            return Err(WriteError::OutOfOrder);
        }
        while self.next.0 < row {
            self.end_row()?;
        }
        while self.next.1 < column {
            self.field("")?;
        }
        match cell.formula {
            Some(formula) if self.formulas => self.field(formula),
            _ => self.field(&display(cell.value, cell.format.unwrap_or(GENERAL))),
        }
    }

    /// Ends the file, with its last row.
    ///
    /// # Errors
    /// [`WriteError::Io`].
    pub fn finish(mut self) -> Result<W, WriteError> {
        if self.next.1 > 0 {
            self.end_row()?;
        }
        self.target.into_inner().map_err(|error| WriteError::Io(error.into_error()))
    }

    fn end_row(&mut self) -> Result<(), WriteError> {
        while self.next.1 < self.columns {
            self.field("")?;
        }
        self.target.write_all(b"\n")?;
        self.next = (self.next.0.saturating_add(1), 0);
        Ok(())
    }

    fn field(&mut self, text: &str) -> Result<(), WriteError> {
        if self.next.1 > 0 {
            self.target.write_all(&[self.delimiter])?;
        }
        if self.needs_quotes(text) {
            self.target.write_all(b"\"")?;
            self.target.write_all(text.replace('"', "\"\"").as_bytes())?;
            self.target.write_all(b"\"")?;
        } else {
            self.target.write_all(text.as_bytes())?;
        }
        self.next.1 = self.next.1.saturating_add(1);
        Ok(())
    }

    fn needs_quotes(&self, text: &str) -> bool {
        // A blank line would be no row, and a file that begins like this something else.
        let blank_line = text.is_empty() && self.columns == 1;
        let mark = self.next == (0, 0) && (text.starts_with('\u{feff}') || text.starts_with("PK"));
        let special = |byte| byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        blank_line || mark || text.bytes().any(special)
    }
}
