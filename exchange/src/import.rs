//! What reading a file yields, whatever its format.

use crate::{Block, ReadError};

/// A file that is being read. It is read as far as it is pulled: to cancel, stop pulling.
pub trait Import {
    /// The next piece: each sheet's beginning, then its blocks from top to bottom; `None` once all is
    /// read. A pull does little work, except where a workbook has long stretches without any cell:
    /// those end with its limit of unpacked bytes.
    ///
    /// # Errors
    /// [`ReadError`] with the place and what to do. Nothing more comes after it.
    fn next(&mut self) -> Result<Option<Piece>, ReadError>;

    /// How far it is.
    fn progress(&self) -> ImportProgress;
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Nothing yet: a file is looked through before its first cells come.
    Working,
    /// A sheet begins; the one before is complete.
    Sheet(SheetStart),
    /// The next rows of the sheet.
    Block(Block),
    /// The sheet begins anew: the blocks that came of it are not what it has. Only csv files do it,
    /// once at most, and only if [`CsvOptions::sample_bytes`](crate::CsvOptions::sample_bytes) says
    /// that they may.
    Restart,
}

/// A sheet of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetStart {
    /// Its name as the file has it; csv has none.
    pub name: Option<String>,
    /// Not shown by the program that wrote it.
    pub hidden: bool,
}

/// How much of the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportProgress {
    /// Bytes that have been read; those of a csv file may be read twice.
    pub done: u64,
    /// Bytes that there are to read, as far as it is known.
    pub total: u64,
}
