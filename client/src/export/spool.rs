//! Rows put aside on disk until all of them, and so the width, are known.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _};

use serde::{Deserialize, Serialize};

/// The cells of one row that are not blank, by column.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct SparseRow {
    /// The row, from 0.
    pub(super) row: u32,
    /// Column, from 0, and text.
    pub(super) fields: Vec<(u32, String)>,
}

/// A temporary file of rows, without a name: it is gone with the process.
#[derive(Debug)]
pub(super) struct Spool {
    file: BufWriter<File>,
    row: SparseRow,
    last: Option<(u32, u32)>,
    rows: u64,
    columns: u64,
    cells: u64,
}

/// Why a cell could not be added.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is not behind the cell before it.
    OutOfOrder,
    /// The temporary file failed.
    Io(io::Error),
}

impl Spool {
    pub(super) fn new() -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile()?);
        Ok(Self { file, row: SparseRow::default(), last: None, rows: 0, columns: 0, cells: 0 })
    }

    /// Adds the text of the next cell, by row and column; empty texts leave no trace.
    pub(super) fn add(&mut self, row: u32, column: u32, text: String) -> Result<(), Fault> {
        if self.last.is_some_and(|last| last >= (row, column)) {
            return Err(Fault::OutOfOrder);
        }
        self.last = Some((row, column));
        if text.is_empty() {
            return Ok(());
        }
        if row != self.row.row {
            self.end_row().map_err(Fault::Io)?;
            self.row.row = row;
        }
        self.row.fields.push((column, text));
        self.rows = u64::from(row).saturating_add(1);
        self.columns = self.columns.max(u64::from(column).saturating_add(1));
        self.cells = self.cells.saturating_add(1);
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        if self.row.fields.is_empty() {
            return Ok(());
        }
        serde_json::to_writer(&mut self.file, &self.row)?;
        self.file.write_all(b"\n")?;
        self.row.fields.clear();
        Ok(())
    }

    /// Rows up to the last cell that is not blank.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Columns up to the last cell that is not blank.
    pub(super) fn columns(&self) -> u64 {
        self.columns
    }

    /// Cells that are not blank.
    pub(super) fn cells(&self) -> u64 {
        self.cells
    }

    /// Reads the rows back, in their order.
    pub(super) fn read(mut self) -> io::Result<impl Iterator<Item = io::Result<SparseRow>>> {
        self.end_row()?;
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        // JSON escapes line ends within texts: a line is a row.
        let lines = BufReader::new(file).lines();
        Ok(lines.map(|line| serde_json::from_str(&line?).map_err(io::Error::from)))
    }
}
