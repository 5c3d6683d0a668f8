//! Stores rows in a temporary file, because the number of columns is known only when all cells have
//! been read.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _};

use serde::{Deserialize, Serialize};

use super::{ExportError, cells_out_of_order_error, temporary_file_error};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct SparseRow {
    pub(super) row: u32,
    /// Column index and text of each cell.
    pub(super) fields: Vec<(u32, String)>,
}

/// Rows in an anonymous temporary file, which is deleted when the process ends.
#[derive(Debug)]
pub(super) struct RowSpool {
    file: BufWriter<File>,
    current_row: SparseRow,
    /// Row and column of the cell that was added last, including cells without text.
    last_cell: Option<(u32, u32)>,
    rows: u64,
    columns: u64,
    cells: u64,
}

impl RowSpool {
    pub(super) fn new() -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile()?);
        Ok(Self {
            file,
            current_row: SparseRow::default(),
            last_cell: None,
            rows: 0,
            columns: 0,
            cells: 0,
        })
    }

    /// Empty texts are not stored. Fails if the cell does not follow the previous one in row-major
    /// order, or if the temporary file cannot be written.
    pub(super) fn add_cell(
        &mut self,
        row: u32,
        column: u32,
        text: String,
    ) -> Result<(), ExportError> {
        let cell = (row, column);
        if self.last_cell.is_some_and(|last_cell| last_cell >= cell) {
            return Err(cells_out_of_order_error());
        }
        self.last_cell = Some(cell);
        if text.is_empty() {
            return Ok(());
        }
        if row != self.current_row.row {
            self.write_row().map_err(temporary_file_error)?;
            self.current_row.row = row;
        }
        self.current_row.fields.push((column, text));
        self.rows = u64::from(row) + 1;
        self.columns = self.columns.max(u64::from(column) + 1);
        self.cells += 1;
        Ok(())
    }

    fn write_row(&mut self) -> io::Result<()> {
        if self.current_row.fields.is_empty() {
            return Ok(());
        }
        serde_json::to_writer(&mut self.file, &self.current_row)?;
        self.file.write_all(b"\n")?;
        self.current_row.fields.clear();
        Ok(())
    }

    /// Counts up to the last row with a non-blank cell.
    pub(super) fn row_count(&self) -> u64 {
        self.rows
    }

    /// Counts up to the last column with a non-blank cell.
    pub(super) fn column_count(&self) -> u64 {
        self.columns
    }

    pub(super) fn cell_count(&self) -> u64 {
        self.cells
    }

    pub(super) fn into_rows(mut self) -> io::Result<impl Iterator<Item = io::Result<SparseRow>>> {
        self.write_row()?;
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        // Each row is a single line, because JSON escapes line breaks in texts.
        let lines = BufReader::new(file).lines();
        Ok(lines.map(|line| serde_json::from_str(&line?).map_err(io::Error::from)))
    }
}
