//! Interface for importing csv files and workbooks.

use crate::{Block, ReadError};

/// An import in progress. The file is read on demand. To cancel the import, stop calling
/// [`Import::next_step`].
pub trait Import {
    /// Returns the next step, or `None` at the end of the file. For each sheet, the import first
    /// returns the start of the sheet and then the sheet's blocks from top to bottom.
    ///
    /// Each call performs a limited amount of work. As an exception, a long part of a workbook
    /// without any cells is read in a single call, up to the limit on uncompressed bytes.
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file cannot be read. After an error, the import returns
    /// `None`.
    fn next_step(&mut self) -> Result<Option<ImportStep>, ReadError>;

    /// Sets the number of cells after which the next blocks end.
    fn set_block_cells(&mut self, cells: usize);

    fn progress(&self) -> ImportProgress;
}

/// A step of an import.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportStep {
    /// The import is still analysing the file. There are no new cells.
    Working,
    /// A new sheet starts. The previous sheet is complete.
    Sheet(SheetStart),
    /// The next rows of the current sheet.
    Block(Block),
    /// The current sheet starts again from its first row. Discard all earlier blocks of this sheet.
    ///
    /// A sheet restarts at most once. Only csv files that are read with
    /// [`CsvOptions::sample_bytes`](crate::CsvOptions::sample_bytes) can restart.
    Restart,
}

/// The start of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetStart {
    /// Name of the sheet in the file, or `None` for csv.
    pub name: Option<String>,
    /// Whether the sheet is hidden.
    pub hidden: bool,
}

/// Import progress in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportProgress {
    /// Number of bytes that have been read so far. If a csv file is read twice, its bytes count
    /// twice.
    pub done: u64,
    /// Estimated total number of bytes that will be read.
    pub total: u64,
}
