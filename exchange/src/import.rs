//! Interface for importing files of any format.

use crate::{Block, ReadError};

/// An import in progress. The file is read on demand. To cancel the import, stop calling
/// [`Import::next_step`].
pub trait Import {
    /// Returns the next step, or `None` if the whole file has been read. For each sheet, the start
    /// of the sheet is returned first, followed by the sheet's blocks from top to bottom.
    ///
    /// The work per call is bounded, except if a long part of a workbook contains no cells: a single
    /// call then reads this part up to the limit on uncompressed bytes.
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file cannot be read. After an error, the import returns no
    /// further steps.
    fn next_step(&mut self) -> Result<Option<ImportStep>, ReadError>;

    fn progress(&self) -> ImportProgress;
}

/// A step of an import.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportStep {
    /// The import is still analysing the file. There are no new cells.
    Working,
    /// A new sheet starts, so the previous sheet is complete.
    Sheet(SheetStart),
    /// The next rows of the current sheet.
    Block(Block),
    /// The current sheet restarts from its first row. Discard all blocks of this sheet that were
    /// returned before.
    ///
    /// A sheet restarts at most once. Only a csv file that is read with
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
    /// Number of bytes that have been read so far. A csv file may be read twice.
    pub done: u64,
    /// Estimated total number of bytes that will be read.
    pub total: u64,
}
