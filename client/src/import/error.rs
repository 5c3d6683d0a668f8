//! Why a file cannot be imported, each with the place and the way out.

use std::path::PathBuf;

use cellar_core::count::{count, grouped};
use cellar_core::identity::LogId;
use cellar_core::limits::{MAX_COLUMNS, MAX_ROWS, MAX_TEXT_BYTES};

use super::{IMPORT_MAX_BYTES, IMPORT_MAX_CELLS};
use crate::ClientError;
use crate::files::FileError;

/// Why an import ended. Lines are counted from 1; columns are named as in the file, from 1.
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
    /// More bytes than one import takes.
    #[error("{} has more than {IMPORT_MAX_BYTES} bytes (16 MB)", path.display())]
    #[diagnostic(
        code(cellar::import::file_too_large),
        help("larger files are not supported yet: split this one, and import each part")
    )]
    FileTooLarge {
        /// The file.
        path: PathBuf,
    },
    /// More cells than one import takes.
    #[error(
        "line {line}: the file has more than {} cells that are not empty",
        grouped(IMPORT_MAX_CELLS)
    )]
    #[diagnostic(
        code(cellar::import::too_many_cells),
        help("larger files are not supported yet: split this one, and import each part")
    )]
    TooManyCells {
        /// The line of the first cell that is too many.
        line: u64,
    },
    /// Not text, but a workbook.
    #[error("this is an Excel or OpenDocument workbook, not CSV")]
    #[diagnostic(
        code(cellar::import::workbook),
        help("save it as CSV (UTF-8) first: that is one of the choices of \"Save as\"")
    )]
    Workbook,
    /// UTF-16 text.
    #[error("the file is UTF-16, not UTF-8")]
    #[diagnostic(
        code(cellar::import::utf16),
        help("convert it: iconv -f UTF-16 -t UTF-8 FILE > converted.csv")
    )]
    Utf16,
    /// Bytes that are not UTF-8.
    #[error("line {line}: the file is not UTF-8 text, at byte {byte} (of the file, from 0)")]
    #[diagnostic(
        code(cellar::import::not_utf8),
        help(
            "convert it: iconv -f LATIN1 -t UTF-8 FILE > converted.csv (or -f WINDOWS-1252, if \
             it came from Excel)"
        )
    )]
    NotUtf8 {
        /// The line.
        line: u64,
        /// The offset of the first byte that is wrong.
        byte: usize,
    },
    /// Nothing in it.
    #[error("the file is empty: there is nothing to import")]
    #[diagnostic(code(cellar::import::empty))]
    Empty,
    /// A quote that is opened and never closed.
    #[error("line {line}: a quote is opened here and never closed")]
    #[diagnostic(
        code(cellar::import::unclosed_quote),
        help("close it; a quote inside a quoted field is written twice: \"say \"\"hello\"\"\"")
    )]
    UnclosedQuote {
        /// The line where it is opened.
        line: u64,
    },
    /// Text behind a closing quote.
    #[error("line {line}: there is text between a closing quote and the end of its field")]
    #[diagnostic(
        code(cellar::import::text_after_quote),
        help(
            "a quote inside a quoted field is written twice (\"say \"\"hello\"\"\"); perhaps a \
             quote is missing on a line above"
        )
    )]
    TextAfterQuote {
        /// The line.
        line: u64,
    },
    /// A row with another number of fields than the first.
    #[error("line {line}: the number of fields is {fields} here, and {expected} in the first row")]
    #[diagnostic(
        code(cellar::import::ragged),
        help(
            "correct the line, or give `--ragged pad` to fill short rows with empty cells; is \
             --delimiter right?"
        )
    )]
    Ragged {
        /// The line.
        line: u64,
        /// Its fields.
        fields: usize,
        /// The fields of the first row.
        expected: usize,
    },
    /// A field that is too long for a cell.
    #[error(
        "line {line}, column {column}: the text has {bytes} bytes, a cell holds at most \
         {MAX_TEXT_BYTES}"
    )]
    #[diagnostic(
        code(cellar::import::text_too_long),
        help("shorten it; if it is many lines long, a quote may be missing at its end")
    )]
    TextTooLong {
        /// The line where its row begins.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// Its bytes.
        bytes: usize,
    },
    /// A field of control characters, which take six bytes each on their way.
    #[error(
        "line {line}, column {column}: the text has too many control characters to be sent \
         ({bytes} bytes as JSON)"
    )]
    #[diagnostic(code(cellar::import::text_too_long_encoded), help("is this a text file?"))]
    EncodedTooLong {
        /// The line where its row begins.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// Its bytes as JSON.
        bytes: usize,
    },
    /// The file does not fit the sheet, from the cell where it is to begin.
    #[error("the file reaches beyond the last row ({MAX_ROWS}) or column ({MAX_COLUMNS})")]
    #[diagnostic(code(cellar::import::outside_sheet), help("begin further up or left: --at"))]
    OutsideSheet,
    /// The CSV reader gave up.
    #[error("the file cannot be read as CSV: {why}")]
    #[diagnostic(code(cellar::import::csv))]
    Csv {
        /// What it says.
        why: String,
    },
    /// A sheet that the spreadsheet does not have.
    #[error("there is no sheet `{name}`; there are {sheets}")]
    #[diagnostic(
        code(cellar::unknown_sheet),
        help("nothing was sent; `cellar sheets` lists the sheets")
    )]
    UnknownSheet {
        /// The name.
        name: String,
        /// The sheets that there are.
        sheets: String,
    },
    /// Others have deleted the sheet meanwhile: nothing of the import is left.
    #[error(
        "the sheet was deleted while {} were on their way into {spreadsheet}: nothing of the \
         import is there", count(u64::try_from(*cells).unwrap_or(u64::MAX), "cell", "cells")
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
    /// The journal or its lock cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A call failed; what had been acknowledged stays, the journal is kept.
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
}
