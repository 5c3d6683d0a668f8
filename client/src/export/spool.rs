//! Stores rows until all have been read, because the number of columns is known only then.

use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};

use tempfile::SpooledTempFile;

use super::rows::{CellCounts, EncodedRows};
use super::{ExportError, cells_out_of_order_error, temporary_file_error};

/// More bytes are stored in a temporary file.
const MAX_SPOOL_MEMORY_BYTES: usize = 4 * 1024 * 1024;
const READ_BUFFER_BYTES: usize = 256 * 1024;
const NUMBER_BYTES: usize = 4;

/// Encoded rows, in memory or in an anonymous temporary file, which is deleted when the process ends.
#[derive(Debug)]
pub(super) struct RowSpool {
    file: SpooledTempFile,
    counts: CellCounts,
}

/// A row that was read from a spool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SpooledRow<'a> {
    pub(super) row: u32,
    pub(super) field_count: u32,
    pub(super) csv: &'a [u8],
}

impl RowSpool {
    pub(super) fn new() -> Self {
        let file = tempfile::spooled_tempfile(MAX_SPOOL_MEMORY_BYTES);
        Self { file, counts: CellCounts::default() }
    }

    /// Fails if the rows do not follow the previous ones, or if the temporary file cannot be written.
    pub(super) fn append(&mut self, rows: &EncodedRows) -> Result<(), ExportError> {
        if rows.first_row.is_some_and(|row| u64::from(row) < self.counts.rows) {
            return Err(cells_out_of_order_error());
        }
        self.counts.add(&rows.counts);
        self.file.write_all(&rows.bytes).map_err(temporary_file_error)
    }

    pub(super) fn counts(&self) -> &CellCounts {
        &self.counts
    }

    /// Calls `handle` with each row.
    pub(super) fn for_each_row(
        mut self,
        mut handle: impl FnMut(&SpooledRow<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.file.rewind().map_err(temporary_file_error)?;
        let mut reader = BufReader::with_capacity(READ_BUFFER_BYTES, self.file);
        let mut csv = Vec::new();
        while !reader.fill_buf().map_err(temporary_file_error)?.is_empty() {
            let mut read_number = || read_number(&mut reader).map_err(temporary_file_error);
            let (row, field_count, csv_bytes) = (read_number()?, read_number()?, read_number()?);
            csv.resize(csv_bytes as usize, 0);
            reader.read_exact(&mut csv).map_err(temporary_file_error)?;
            handle(&SpooledRow { row, field_count, csv: &csv })?;
        }
        Ok(())
    }
}

fn read_number(reader: &mut impl io::Read) -> io::Result<u32> {
    let mut bytes = [0; NUMBER_BYTES];
    reader.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
