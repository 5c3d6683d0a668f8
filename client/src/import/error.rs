//! Import errors.

use std::path::PathBuf;

use cellar_base::count::{count, grouped};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_SHEETS;
use cellar_exchange::ReadError;
use cellar_sheet::a1::CellName;
use cellar_snapshot::SnapshotError;

use super::edits::{MAX_EDIT_FILE_BYTES, MAX_EDITED_CELLS};
use crate::ClientError;
use crate::files::FileError;
use crate::table::escape;

/// Hint for a file that is too large to import as edits.
const AS_NEW_SHEET: &str = "import it as a new sheet, of any size: omit --sheet and --cell";

/// Reason why an import failed.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    #[diagnostic(
        code(cellar::import::unreadable),
        help("check the path and the permissions of the file")
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Operating system error.
        source: std::io::Error,
    },
    /// The path is not a regular file. Imports read the file more than once, which other file types
    /// do not support.
    #[error("{} is {what}; an import needs a regular file", path.display())]
    #[diagnostic(
        code(cellar::import::no_file),
        help("write the data to a file first, then run cellar import FILE.csv")
    )]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// File type of the path, such as `a folder`.
        what: &'static str,
    },
    /// The file's contents cannot be imported.
    #[error("{}: {}", path.display(), escape(&source.to_string()))]
    #[diagnostic(code(cellar::import::file))]
    Read {
        /// The file.
        path: PathBuf,
        /// Description and location of the fault in the file.
        source: Box<ReadError>,
        /// Options that may help.
        #[help]
        advice: Option<String>,
    },
    /// A selected sheet does not exist in the file.
    #[error("the file has no sheet `{}`", escape(name))]
    #[diagnostic(code(cellar::import::not_in_file), help("{}", list_file_sheets(sheets)))]
    NotInFile {
        /// Name of the selected sheet.
        name: String,
        /// Names of the sheets in the file.
        sheets: Vec<String>,
    },
    /// An option requires a file with a single sheet, but the file has none or several.
    #[error("{option} imports one sheet, but the file has {}", grouped(*sheets))]
    #[diagnostic(code(cellar::import::one_sheet), help("select one sheet with --sheets NAME"))]
    OneSheet {
        /// The option.
        option: &'static str,
        /// Number of sheets.
        sheets: usize,
    },
    /// A part of one row exceeds the maximum chunk size.
    #[error("row {row} is too large, from column {column} on")]
    #[diagnostic(
        code(cellar::import::row_too_large),
        help("shorten the texts of the row, or split the row")
    )]
    RowTooLarge {
        /// The row, from 1.
        row: u64,
        /// First column of the part that is too large.
        column: String,
    },
    /// A sheet has more chunks than fit in a tile index.
    #[error("sheet `{}` is too large: {why}", escape(name))]
    #[diagnostic(
        code(cellar::import::sheet_too_large),
        help("split the file and import the parts")
    )]
    SheetTooLarge {
        /// Sheet name.
        name: String,
        /// The limit that is exceeded.
        why: SnapshotError,
    },
    /// The spreadsheet would have too many sheets.
    #[error("the spreadsheet would have {sheets} sheets; at most {MAX_SHEETS} are allowed")]
    #[diagnostic(
        code(cellar::import::too_many_sheets),
        help(
            "import into a new spreadsheet, or select sheets with --sheets; nothing was imported"
        )
    )]
    TooManySheets {
        /// Number of sheets after the import.
        sheets: usize,
    },
    /// The spreadsheet has no sheet with this name.
    #[error("sheet `{name}` does not exist in the spreadsheet")]
    #[diagnostic(
        code(cellar::import::unknown_sheet),
        help("the sheets are: {sheets}; `cellar sheets add NAME` adds a sheet")
    )]
    UnknownSheet {
        /// Sheet name, with control characters escaped.
        name: String,
        /// Names of the existing sheets.
        sheets: String,
    },
    /// The file is too large to import as edits.
    #[error("{} is larger than {} MB, the limit for edits", path.display(), MAX_EDIT_FILE_BYTES >> 20)]
    #[diagnostic(code(cellar::import::file_too_large), help("{AS_NEW_SHEET}"))]
    FileTooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file has too many cells to import as edits.
    #[error("the file has more than {} cells, the limit for edits", grouped(MAX_EDITED_CELLS))]
    #[diagnostic(code(cellar::import::too_many_cells), help("{AS_NEW_SHEET}"))]
    TooManyCells,
    /// The cells would exceed the last row or column of the sheet.
    #[error("the file does not fit in the sheet from the cell of --cell on")]
    #[diagnostic(code(cellar::import::outside_sheet), help("pass another cell with --cell"))]
    OutsideSheet,
    /// A cell's JSON is too long for one mutation.
    #[error("cell {cell} of the file is too long: {} bytes as JSON", grouped(*bytes))]
    #[diagnostic(
        code(cellar::import::encoded_too_long),
        help("shorten the text, or remove control characters, which need six bytes each")
    )]
    EncodedTooLong {
        /// Cell reference in the file.
        cell: CellName,
        /// JSON length of the cell.
        bytes: usize,
    },
    /// The sheet was deleted during the import, together with all imported cells.
    #[error(
        "the sheet was deleted during the import of {} into {spreadsheet}; nothing was imported",
        count(*cells, "cell", "cells")
    )]
    #[diagnostic(
        code(cellar::import::sheet_deleted),
        help("import the file into another sheet: --into {spreadsheet} --sheet NAME")
    )]
    SheetDeleted {
        /// The spreadsheet.
        spreadsheet: LogId,
        /// Number of cells in the file.
        cells: usize,
    },
    /// The journal of an interrupted run does not match this run's requests.
    #[error("{} is the journal of an import that was split differently", path.display())]
    #[diagnostic(
        code(cellar::import::journal_differs),
        help(
            "another version of cellar started this import: finish it with that version, or start over \
             with --restart"
        )
    )]
    JournalDiffers {
        /// The journal.
        path: PathBuf,
    },
    /// The file has changed since an interrupted run, whose import may have been committed.
    #[error(
        "the file has changed since an interrupted run of this import, which may have been committed"
    )]
    #[diagnostic(
        code(cellar::import::file_changed),
        help(
            "check with `cellar history -s {spreadsheet}` whether the import was committed; to import the \
             current file, use --restart"
        )
    )]
    FileChanged {
        /// Target spreadsheet of the import.
        spreadsheet: LogId,
    },
    /// The journal or its lock file cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A request failed while edits were being sent. Acknowledged edits and the journal are
    /// retained.
    #[error("{} of {} cells were imported: {source}", grouped(*acknowledged), grouped(*cells))]
    #[diagnostic(code(cellar::import::interrupted), help("{advice}"))]
    Interrupted {
        /// Number of imported cells.
        acknowledged: usize,
        /// Number of cells in the file.
        cells: usize,
        /// Hint for the user.
        advice: String,
        /// Error of the failed request.
        source: Box<ClientError>,
    },
    /// A request failed before anything was committed.
    #[error("nothing was imported: {source}")]
    #[diagnostic(code(cellar::import::nothing_imported), help("{advice}"))]
    NothingImported {
        /// Hint for the user.
        advice: String,
        /// Error of the failed request.
        source: Box<ClientError>,
    },
    /// The last request failed, but may have been committed.
    #[error("the outcome of the import is unknown: {source}")]
    #[diagnostic(code(cellar::import::uncertain), help("{advice}"))]
    Uncertain {
        /// Hint for the user.
        advice: String,
        /// Error of the last request.
        source: Box<ClientError>,
    },
    /// The server rejected an imported sheet.
    #[error("sheet `{name}` was rejected: {why}")]
    #[diagnostic(
        code(cellar::import::refused),
        help("resolve the cause and import the sheet again; the sheets before it were imported")
    )]
    Rejected {
        /// Sheet name, with control characters escaped.
        name: String,
        /// Reason given by the server, with control characters escaped.
        why: String,
    },
}

/// Lists a file's sheets for an error's help text.
fn list_file_sheets(sheets: &[String]) -> String {
    const MAX_LISTED: usize = 10;
    let mut names: Vec<String> = sheets.iter().take(MAX_LISTED).map(|name| escape(name)).collect();
    if sheets.len() > MAX_LISTED {
        names.push("…".to_owned());
    }
    match sheets {
        [] => "a csv file has one sheet without a name; omit --sheets".to_owned(),
        _ => format!("the sheets are: {}", names.join(", ")),
    }
}
