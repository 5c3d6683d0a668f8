//! The interface for importing a file of any format.

use crate::{Block, ReadError};

/// A file that is being imported. The file is read on demand. To cancel the import, stop calling
/// [`Import::next`].
pub trait Import {
    /// Returns the next piece: for each sheet its start, followed by its blocks from top to bottom.
    /// Returns `None` after the whole file has been read.
    ///
    /// A call does a bounded amount of work. The only exceptions are long parts of a workbook
    /// without cells, where only the limit on uncompressed bytes ends the call.
    ///
    /// # Errors
    /// [`ReadError`]. After an error, the import returns no further pieces.
    fn next(&mut self) -> Result<Option<Piece>, ReadError>;

    fn progress(&self) -> ImportProgress;
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// The import is still analysing the file, and no new cells are available.
    Working,
    /// A new sheet starts. The previous sheet is complete.
    Sheet(SheetStart),
    /// The next rows of the current sheet.
    Block(Block),
    /// The current sheet is returned again from its first row. Discard the blocks of the sheet that
    /// were returned before. Only csv files with
    /// [`CsvOptions::sample_bytes`](crate::CsvOptions::sample_bytes) restart, and at most once.
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

/// Progress of an import in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportProgress {
    /// Number of bytes read so far. A csv file may be read twice.
    pub done: u64,
    /// Estimated total number of bytes to read.
    pub total: u64,
}
