//! Writes csv row by row.

use std::io::{BufWriter, Write};

use crate::WriteError;

/// Bytes that are collected before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes a sheet as csv. All rows have the same number of fields. Skipped rows and fields are
/// written as blank fields.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    target: BufWriter<W>,
    /// The delimiters of a row, and the end of the line.
    delimiters: Vec<u8>,
    field_count: u32,
    next_row: u32,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer for rows with `field_count` fields. `delimiter` must be an ASCII character.
    pub fn new(target: W, delimiter: u8, field_count: u32) -> Self {
        let mut delimiters = vec![delimiter; field_count.saturating_sub(1) as usize];
        delimiters.push(b'\n');
        let target = BufWriter::with_capacity(BUFFER_BYTES, target);
        Self { target, delimiters, field_count, next_row: 0 }
    }

    /// Writes the next row, which [`super::CsvRow`] has encoded. `field_count` is the number of
    /// encoded fields.
    ///
    /// # Errors
    /// Returns [`WriteError::OutOfOrder`] if the row does not follow the previous row or has too many
    /// fields. Returns [`WriteError::Io`] if writing fails.
    pub fn write_row(
        &mut self,
        row: u32,
        field_count: u32,
        encoded: &[u8],
    ) -> Result<(), WriteError> {
        if row < self.next_row || field_count > self.field_count {
            return Err(WriteError::OutOfOrder);
        }
        for _ in self.next_row..row {
            self.write_padded(0, b"")?;
        }
        self.next_row = row.saturating_add(1);
        self.write_padded(field_count, encoded)
    }

    /// Adds the blank fields after the encoded ones, and the end of the line.
    fn write_padded(&mut self, field_count: u32, encoded: &[u8]) -> Result<(), WriteError> {
        // Many programs skip blank lines, so a single blank field is quoted.
        let is_blank_line = self.field_count == 1 && encoded.is_empty();
        self.target.write_all(if is_blank_line { b"\"\"" } else { encoded })?;
        let written_delimiters = field_count.saturating_sub(1) as usize;
        self.target.write_all(self.delimiters.get(written_delimiters..).unwrap_or_default())?;
        Ok(())
    }

    /// Flushes the file.
    ///
    /// # Errors
    /// Returns [`WriteError::Io`] if writing fails.
    pub fn finish(self) -> Result<W, WriteError> {
        self.target.into_inner().map_err(|error| WriteError::Io(error.into_error()))
    }
}
