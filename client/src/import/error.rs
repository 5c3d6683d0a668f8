//! Why a file cannot be imported, each with the place and the way out.

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

/// What to do where a file is too large for edits.
const AS_SHEET: &str =
    "import it as a sheet of its own, of any size: leave out --sheet (and --cell)";

/// Why an import ended.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    #[diagnostic(code(cellar::import::unreadable), help("check the path and that you may read it"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A pipe, a device or a folder: a file is read twice, and again after an interruption.
    #[error("{} is {what}, and an import reads a file more than once", path.display())]
    #[diagnostic(
        code(cellar::import::no_file),
        help("write what comes out of it to a file first, then: cellar import FILE.csv")
    )]
    NoFile {
        /// The path.
        path: PathBuf,
        /// The kind of thing at the path, in words.
        what: &'static str,
    },
    /// What is in the file cannot be imported.
    #[error("{}: {}", path.display(), escape(&source.to_string()))]
    #[diagnostic(code(cellar::import::file))]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what to do.
        source: Box<ReadError>,
        /// Which options help.
        #[help]
        advice: Option<String>,
    },
    /// A sheet of the file that was asked for is not in it.
    #[error("the file has no sheet `{}`", escape(name))]
    #[diagnostic(code(cellar::import::not_in_file), help("{}", in_the_file(sheets)))]
    NotInFile {
        /// Its name.
        name: String,
        /// The names of those that are.
        sheets: Vec<String>,
    },
    /// A file with other than one sheet, where one is needed.
    #[error("{what} takes one sheet, and the file has {}", grouped(*sheets))]
    #[diagnostic(code(cellar::import::one_sheet), help("choose one of them with --sheets NAME"))]
    OneSheet {
        /// What takes one sheet.
        what: &'static str,
        /// How many there are.
        sheets: usize,
    },
    /// A row that fits no chunk.
    #[error("row {row} is too large to be stored, from column {column} on")]
    #[diagnostic(code(cellar::import::row_too_large), help("shorten its texts, or split it"))]
    RowTooLarge {
        /// The row, from 1.
        row: u64,
        /// The first column of the part that is too large.
        column: String,
    },
    /// A sheet with more chunks than an index can name.
    #[error("sheet `{}` is too large: {why}", escape(name))]
    #[diagnostic(code(cellar::import::sheet_too_large), help("import the file in parts"))]
    SheetTooLarge {
        /// Its name.
        name: String,
        /// What is too large.
        why: SnapshotError,
    },
    /// More sheets than a spreadsheet has.
    #[error(
        "with these sheets the spreadsheet would have {sheets}, at most {MAX_SHEETS} are allowed"
    )]
    #[diagnostic(
        code(cellar::import::too_many_sheets),
        help("import into a new spreadsheet, or choose some with --sheets; nothing was imported")
    )]
    TooManySheets {
        /// How many there would be.
        sheets: usize,
    },
    /// The spreadsheet has no sheet of this name.
    #[error("the spreadsheet has no sheet `{name}`")]
    #[diagnostic(
        code(cellar::import::unknown_sheet),
        help("there are {sheets}; `cellar sheets add NAME` adds one")
    )]
    UnknownSheet {
        /// The name, control characters escaped.
        name: String,
        /// The names of the sheets that there are.
        sheets: String,
    },
    /// More bytes than one import as edits takes.
    #[error("{} has more than {} MB", path.display(), MAX_EDIT_FILE_BYTES >> 20)]
    #[diagnostic(code(cellar::import::file_too_large), help("{AS_SHEET}"))]
    FileTooLarge {
        /// The file.
        path: PathBuf,
    },
    /// More cells than one import as edits takes.
    #[error("the file has more than {} cells, what goes in as edits", grouped(MAX_EDITED_CELLS))]
    #[diagnostic(code(cellar::import::too_many_cells), help("{AS_SHEET}"))]
    TooManyCells,
    /// The cells would go beyond the last row or column.
    #[error("the file does not fit into the sheet at that place")]
    #[diagnostic(code(cellar::import::outside_sheet), help("pass another cell with --cell"))]
    OutsideSheet,
    /// A cell that, written down for its way, is too long for one mutation.
    #[error("{cell} of the file takes {} bytes on its way, too many for an edit", grouped(*bytes))]
    #[diagnostic(
        code(cellar::import::encoded_too_long),
        help("control characters take six bytes each: shorten it or take them out")
    )]
    EncodedTooLong {
        /// The cell, as the file has it.
        cell: CellName,
        /// Its bytes as JSON.
        bytes: usize,
    },
    /// Others have deleted the sheet meanwhile: nothing of the import is left.
    #[error(
        "the sheet was deleted while {} were on their way into {spreadsheet}: nothing of the \
         import is there", count(*cells, "cell", "cells")
    )]
    #[diagnostic(
        code(cellar::import::sheet_deleted),
        help("import it again, into another sheet: --into {spreadsheet} --sheet NAME")
    )]
    SheetDeleted {
        /// The spreadsheet.
        spreadsheet: LogId,
        /// Cells of the file.
        cells: usize,
    },
    /// The journal of an interrupted run does not fit what is to be sent now.
    #[error("{} is the journal of an import that was cut differently", path.display())]
    #[diagnostic(
        code(cellar::import::journal_differs),
        help(
            "another version of cellar began this import: finish it with that one, or begin anew \
             with --restart"
        )
    )]
    JournalDiffers {
        /// The journal.
        path: PathBuf,
    },
    /// The file is not what an interrupted run of the same import was about to append.
    #[error(
        "the file has changed since an interrupted run of this import, and it is not known whether \
         that one got through"
    )]
    #[diagnostic(
        code(cellar::import::file_changed),
        help(
            "look whether it is there: cellar history -s {spreadsheet}; to import the file as it \
             is now: --restart"
        )
    )]
    FileChanged {
        /// Where it was to go.
        spreadsheet: LogId,
    },
    /// The journal or its lock cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A call failed while edits were sent; what had been acknowledged stays, the journal is kept.
    #[error("after {} of {} cells: {source}", grouped(*acknowledged), grouped(*cells))]
    #[diagnostic(code(cellar::import::interrupted), help("{advice}"))]
    Interrupted {
        /// Cells that are in the spreadsheet.
        acknowledged: usize,
        /// Cells of the file.
        cells: usize,
        /// What to do.
        advice: String,
        /// Why the call failed.
        source: Box<ClientError>,
    },
    /// A call failed before anything was in the log.
    #[error("nothing was imported: {source}")]
    #[diagnostic(code(cellar::import::nothing_imported), help("{advice}"))]
    NothingImported {
        /// What to do.
        advice: String,
        /// Why the call failed.
        source: Box<ClientError>,
    },
    /// The last call may have got through.
    #[error("it is not known whether the import got through: {source}")]
    #[diagnostic(code(cellar::import::uncertain), help("{advice}"))]
    Uncertain {
        /// What to do.
        advice: String,
        /// Why its answer is not known.
        source: Box<ClientError>,
    },
    /// The server has appended a sheet as one that changes nothing.
    #[error("sheet `{name}` was refused: {why}")]
    #[diagnostic(
        code(cellar::import::refused),
        help("import it again when that is solved; sheets before it are in the spreadsheet")
    )]
    Refused {
        /// The sheet, control characters escaped.
        name: String,
        /// What the server says, control characters escaped.
        why: String,
    },
}

fn in_the_file(sheets: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut names: Vec<String> = sheets.iter().take(SHOWN).map(|name| escape(name)).collect();
    if sheets.len() > SHOWN {
        names.push("…".to_owned());
    }
    match sheets {
        [] => "csv has one sheet without a name: leave out --sheets".to_owned(),
        _ => format!("there are {}", names.join(", ")),
    }
}
