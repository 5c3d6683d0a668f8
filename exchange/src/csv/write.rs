//! Writing csv, row by row.

use std::io::{self, Write};

use cellar_core::cell::{GENERAL, display};

use crate::{OutCell, WriteError};

/// Writes one sheet as csv. Each row is as wide as the caller says the sheet is; rows that are left
/// out become blank ones.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    writer: csv::Writer<W>,
    columns: u32,
    formulas: bool,
    next: (u32, u32),
}

impl<W: Write> CsvWriter<W> {
    /// Begins a file of so many columns. With `formulas`, a cell that has one is written as its
    /// formula's text; else all cells are as a person sees them.
    pub fn new(target: W, delimiter: u8, columns: u32, formulas: bool) -> Self {
        let writer =
            csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(target);
        Self { writer, columns, formulas, next: (0, 0) }
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
        self.blank_up_to(column)?;
        match cell.formula {
            Some(formula) if self.formulas => self.field(formula)?,
            _ => self.field(&display(cell.value, cell.format.unwrap_or(GENERAL)))?,
        }
        self.next.1 = column.saturating_add(1);
        Ok(())
    }

    /// Ends the file, with its last row.
    ///
    /// # Errors
    /// [`WriteError::Io`].
    pub fn finish(mut self) -> Result<W, WriteError> {
        if self.next.1 > 0 {
            self.end_row()?;
        }
        self.writer.into_inner().map_err(|error| WriteError::Io(error.into_error()))
    }

    fn blank_up_to(&mut self, column: u32) -> Result<(), WriteError> {
        for _ in self.next.1..column {
            self.field("")?;
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), WriteError> {
        self.blank_up_to(self.columns)?;
        self.writer.write_record(None::<&[u8]>).map_err(io_error)?;
        self.next = (self.next.0.saturating_add(1), 0);
        Ok(())
    }

    fn field(&mut self, text: &str) -> Result<(), WriteError> {
        self.writer.write_field(text).map_err(io_error)
    }
}

/// The cause below a csv error, so that a broken pipe is still known as one.
fn io_error(error: csv::Error) -> WriteError {
    WriteError::Io(match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other("the csv writer failed"),
    })
}
