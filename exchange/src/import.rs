//! The interface of importing a file of any format.

use crate::{Block, ReadError};

/// A file that is being imported. The file is read on demand; to cancel, stop calling [`Import::next`].
pub trait Import {
    /// Returns the next piece: the start of each sheet, then its blocks from top to bottom. `None` means
    /// that the whole file has been read.
    ///
    /// A call does a bounded amount of work, except in long parts of a workbook without cells, which the
    /// limit of uncompressed bytes ends.
    ///
    /// # Errors
    /// [`ReadError`]. After an error, the import returns no further pieces.
    fn next(&mut self) -> Result<Option<Piece>, ReadError>;

    fn progress(&self) -> ImportProgress;
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// No cells yet: the import is still analysing the file.
    Working,
    /// A sheet starts; the previous one is complete.
    Sheet(SheetStart),
    /// The next rows of the current sheet.
    Block(Block),
    /// The current sheet starts again from its first row; discard the blocks received so far. Only csv
    /// files with [`CsvOptions::sample_bytes`](crate::CsvOptions::sample_bytes) restart, at most once.
    Restart,
}

/// The start of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetStart {
    /// Name of the sheet in the file; `None` for csv.
    pub name: Option<String>,
    /// Whether the file marks the sheet as hidden.
    pub hidden: bool,
}

/// Progress of an import in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportProgress {
    /// Bytes read so far. A csv file may be read twice.
    pub done: u64,
    /// Estimated total number of bytes to read.
    pub total: u64,
}
