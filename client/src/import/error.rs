//! Import errors.

use std::fmt;
use std::path::PathBuf;

use cellar_base::count::{count, grouped};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_SHEETS;
use cellar_exchange::{NotImported, ReadError};
use cellar_sheet::a1::CellName;
use cellar_snapshot::SnapshotError;

use super::edits::{MAX_EDIT_FILE_BYTES, MAX_EDITED_CELLS};
use crate::ClientError;
use crate::files::FileError;
use crate::text::escape;

/// Reason why an import failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Operating system error.
        source: std::io::Error,
    },
    /// The path is not a regular file. An import reads the file more than once, which is not
    /// possible for pipes and devices.
    #[error("{} is {what}; an import needs a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// File type of the path, such as `a folder`.
        what: &'static str,
    },
    /// The file's contents cannot be imported.
    #[error("{}: {}", path.display(), escape(&source.to_string()))]
    Read {
        /// The file.
        path: PathBuf,
        /// Description and location of the error in the file.
        source: Box<ReadError>,
    },
    /// The file has contents that imports do not take, and the caller requires all of them.
    #[error("these contents of the file cannot be imported: {not_imported}")]
    Incomplete {
        /// The contents.
        not_imported: Box<NotImported>,
    },
    /// A selected sheet does not exist in the file.
    #[error("the file has no sheet `{}`", escape(name))]
    NotInFile {
        /// Name of the selected sheet.
        name: String,
        /// Names of the sheets in the file.
        sheets: Vec<String>,
    },
    /// The import requires exactly one sheet, but the file has none or several.
    #[error("{purpose} imports one sheet, but the file has {}", grouped(*sheets))]
    OneSheet {
        /// The kind of import that requires a single sheet.
        purpose: OneSheetPurpose,
        /// Number of sheets.
        sheets: usize,
    },
    /// A part of a row does not fit in a chunk.
    #[error("row {row} is too large: the cells from column {column} on do not fit in a chunk")]
    RowTooLarge {
        /// The row, from 1.
        row: u64,
        /// Letters of the first column that does not fit.
        column: String,
    },
    /// A sheet has more chunks than a tile index can list.
    #[error("sheet `{}` is too large: {why}", escape(name))]
    SheetTooLarge {
        /// Sheet name.
        name: String,
        /// The limit that is exceeded.
        why: SnapshotError,
    },
    /// The import would exceed the maximum number of sheets.
    #[error("the spreadsheet would have {sheets} sheets; at most {MAX_SHEETS} are allowed")]
    TooManySheets {
        /// Number of sheets after the import.
        sheets: usize,
    },
    /// The spreadsheet has no sheet with this name.
    #[error("sheet `{name}` does not exist in the spreadsheet")]
    UnknownSheet {
        /// Sheet name, with control characters escaped.
        name: String,
        /// Names of the existing sheets.
        sheets: String,
    },
    /// The file is too large to import as edits.
    #[error("{} is larger than {} MB, the limit for an import into an existing sheet", path.display(), MAX_EDIT_FILE_BYTES >> 20)]
    FileTooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file has too many cells to import as edits.
    #[error(
        "the file has more than {} cells, the limit for an import into an existing sheet",
        grouped(MAX_EDITED_CELLS)
    )]
    TooManyCells,
    /// The import would extend beyond the last row or column of the sheet.
    #[error("the file does not fit in the sheet if the import starts at the target cell")]
    OutsideSheet,
    /// A cell is too long as JSON to fit in a mutation.
    #[error("cell {cell} of the file is too long: {} bytes as JSON", grouped(*bytes))]
    EncodedTooLong {
        /// Cell reference in the file.
        cell: CellName,
        /// JSON length of the cell.
        bytes: usize,
    },
    /// The sheet was deleted during the import, together with the cells that were already imported.
    #[error(
        "the sheet was deleted during the import of {} into {spreadsheet}; nothing was imported",
        count(*cells, "cell", "cells")
    )]
    SheetDeleted {
        /// The spreadsheet.
        spreadsheet: LogId,
        /// Number of cells in the file.
        cells: usize,
    },
    /// The journal of an interrupted import contains other requests than this import.
    #[error("{} is the journal of an import that was split into other requests", path.display())]
    JournalDiffers {
        /// The journal.
        path: PathBuf,
    },
    /// The file has changed since the import was interrupted, and the interrupted import may have
    /// been committed.
    #[error(
        "the file has changed since the import was interrupted, and the interrupted import may have been committed"
    )]
    FileChanged {
        /// Target spreadsheet of the import.
        spreadsheet: LogId,
    },
    /// The journal or its lock file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A request failed while edits were being sent. The edits that the server has acknowledged
    /// remain, and the journal is kept.
    #[error("{} of {} cells were imported: {source}", grouped(*acknowledged), grouped(*cells))]
    Interrupted {
        /// Number of imported cells.
        acknowledged: usize,
        /// Number of cells in the file.
        cells: usize,
        /// Whether an edit may have been sent. In this case, the import can be resumed.
        was_sent: bool,
        /// Error of the failed request.
        source: Box<ClientError>,
    },
    /// A request failed. Nothing was committed before it.
    #[error("nothing was imported: {source}")]
    NothingImported {
        /// Error of the failed request.
        source: Box<ClientError>,
    },
    /// The last request failed, but the server may nevertheless have committed the import.
    #[error("the outcome of the import is unknown: {source}")]
    Uncertain {
        /// Error of the last request.
        source: Box<ClientError>,
    },
    /// The server rejected an imported sheet.
    #[error("sheet `{name}` was rejected: {why}")]
    Rejected {
        /// Sheet name, with control characters escaped.
        name: String,
        /// Reason given by the server, with control characters escaped.
        why: String,
    },
}

/// A kind of import that requires a file with a single sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OneSheetPurpose {
    /// The cells are written into an existing sheet.
    Edits,
    /// The imported sheet replaces an existing sheet.
    Replacement,
}

impl fmt::Display for OneSheetPurpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Edits => "an import into an existing sheet",
            Self::Replacement => "an import that replaces a sheet",
        })
    }
}
