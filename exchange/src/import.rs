//! Format-independent interface for importing files.

use crate::{Block, ReadError};

/// An import in progress, which reads the file on demand. To cancel the import, stop calling
/// [`Import::next_step`].
pub trait Import {
    /// Returns the next step: for each sheet its start, followed by its blocks from top to bottom.
    /// Returns `None` after the whole file has been read.
    ///
    /// Each call does a bounded amount of work. Only a long part of a workbook without cells can
    /// exceed this bound, up to the limit on uncompressed bytes.
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
    /// The import is still analysing the file; no new cells are available.
    Working,
    /// A new sheet starts, and the previous sheet is complete.
    Sheet(SheetStart),
    /// The next rows of the current sheet.
    Block(Block),
    /// The current sheet restarts from its first row. Discard the blocks of the sheet that were
    /// returned before. Only csv files with
    /// [`CsvOptions::sample_bytes`](crate::CsvOptions::sample_bytes) restart, at most once.
    Restart,
}

/// The start of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetStart {
    /// Sheet name in the file, or `None` for csv.
    pub name: Option<String>,
    /// Whether the sheet is hidden.
    pub hidden: bool,
}

/// Import progress in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportProgress {
    /// Number of bytes read so far. A csv file may be read twice.
    pub done: u64,
    /// Estimated total number of bytes to read.
    pub total: u64,
}
