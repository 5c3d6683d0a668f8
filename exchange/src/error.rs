//! Why a file cannot be read or written, each with the place and the way out.

use std::io;

use cellar_base::count::grouped;
use cellar_base::limits::{
    MAX_FORMULA_BYTES, MAX_IDLE_XML_EVENTS, MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_ROWS,
    MAX_SHARED_TEXT_BYTES, MAX_SHEETS, MAX_TEXT_BYTES, MAX_WORKBOOK_BYTES, MAX_WORKBOOK_PARTS,
    MAX_WORKBOOK_STYLES, MAX_XLSX_CELLS, MAX_XLSX_UNPACKED_BYTES, MAX_XML_EVENT_BYTES,
};

/// Why reading ended. Lines and columns are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is not what it was when reading began.
    #[error("the file changed while it was read: import it again when nothing writes to it")]
    Changed,
    /// Nothing in it.
    #[error("the file is empty: there is nothing to import")]
    Empty,
    /// A workbook, given as csv.
    #[error("this is an Excel or OpenDocument workbook, not csv: import it as what it is")]
    Workbook,
    /// UTF-16 text.
    #[error(
        "the file is UTF-16, not UTF-8: convert it: iconv -f UTF-16 -t UTF-8 FILE > converted.csv"
    )]
    Utf16,
    /// Bytes that are not UTF-8.
    #[error(
        "line {line}: the file is not UTF-8 text, at byte {byte} (of the file, from 0): convert it: \
         iconv -f LATIN1 -t UTF-8 FILE > converted.csv (or -f WINDOWS-1252, if it came from Excel)"
    )]
    NotUtf8 {
        /// The line.
        line: u64,
        /// The offset of the first byte that is wrong.
        byte: u64,
    },
    /// A delimiter that is not one.
    #[error("the delimiter must be an ASCII character other than a quote or a line end")]
    Delimiter,
    /// A quote that is opened and never closed.
    #[error(
        "line {line}, column {column}: a quote is opened here and never closed; a quote inside a \
         quoted field is written twice: \"say \"\"hello\"\"\""
    )]
    UnclosedQuote {
        /// The line where it is opened.
        line: u64,
        /// The column.
        column: u64,
    },
    /// Text behind a closing quote.
    #[error(
        "line {line}, column {column}: there is text between a closing quote and the end of its \
         field; a quote inside a quoted field is written twice (\"say \"\"hello\"\"\"), or perhaps \
         a quote is missing on a line above"
    )]
    TextAfterQuote {
        /// The line.
        line: u64,
        /// The column.
        column: u64,
    },
    /// A row with another number of fields than the first.
    #[error(
        "line {line}: the number of fields is {fields} here, and {expected} in the first row: \
         correct the line, or have short rows filled with empty cells; is the delimiter right?"
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
        "line {line}, column {column}: the text has more than {MAX_TEXT_BYTES} bytes, what a cell \
         holds: shorten it; if it is many lines long, a quote may be missing at its end"
    )]
    TextTooLong {
        /// The line where the row begins.
        line: u64,
        /// The column.
        column: u64,
    },
    /// More text in a row than is held in memory.
    #[error(
        "line {line}: the row has more than {MAX_IMPORT_ROW_BYTES} bytes: split it into several \
         rows; is a quote missing?"
    )]
    RowTooLong {
        /// The line where the row begins.
        line: u64,
    },
    /// More columns than a file may have.
    #[error(
        "line {line}: the row has more than {} fields: import the file in parts, column by column; \
         is the delimiter right?",
        grouped(MAX_IMPORT_COLUMNS)
    )]
    TooManyColumns {
        /// The line.
        line: u64,
    },
    /// More rows than a sheet has.
    #[error("line {line}: a sheet has at most {} rows: split the file", grouped(MAX_ROWS))]
    TooManyRows {
        /// The line.
        line: u64,
    },
    /// Something is wrong with a workbook.
    #[error(transparent)]
    InWorkbook(#[from] WorkbookError),
}

/// What is wrong with a workbook. `part` names a file inside it, `sheet` a sheet, `cell` as in `B2`.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    /// A file that is no workbook.
    #[error(
        "this is not an xlsx, xlsb or ods workbook: save it as one of them, or as csv (UTF-8), and \
         import that"
    )]
    Unknown,
    /// An old binary workbook, or an encrypted one: both are of the same container.
    #[error(
        "this is an Excel 97-2003 (xls) or a password-protected workbook: open it, save it as xlsx \
         without a password, and import that"
    )]
    Compound,
    /// An encrypted OpenDocument file.
    #[error("the workbook is protected with a password: save it without one and import that")]
    Encrypted,
    /// The file is too large.
    #[error(
        "the workbook has {bytes} bytes, more than the {MAX_WORKBOOK_BYTES} that are read: save its \
         sheets as csv, which may be of any size"
    )]
    FileTooLarge {
        /// Its bytes.
        bytes: u64,
    },
    /// The archive cannot be opened.
    #[error("the workbook is damaged or was cut off: {why}; save it again and import that")]
    Archive {
        /// What is wrong.
        why: String,
    },
    /// More parts than a workbook has.
    #[error(
        "the workbook has more than {MAX_WORKBOOK_PARTS} parts: it is not one that Excel wrote"
    )]
    TooManyParts,
    /// More than may be unpacked.
    #[error(
        "the workbook has more than {MAX_XLSX_UNPACKED_BYTES} bytes when it is unpacked: save its \
         sheets as csv, which may be of any size"
    )]
    UnpacksTooLarge,
    /// A part that has to be there.
    #[error("the workbook has no part `{part}`: it is damaged; save it again and import that")]
    MissingPart {
        /// The part.
        part: String,
    },
    /// A part that is not as it has to be.
    #[error("part `{part}` of the workbook is damaged: {why}; save it again and import that")]
    Damaged {
        /// The part.
        part: String,
        /// What is wrong.
        why: String,
    },
    /// A tag or a text that is too long to be one.
    #[error("part `{part}`: a tag or a text has more than {MAX_XML_EVENT_BYTES} bytes")]
    EventTooLong {
        /// The part.
        part: String,
    },
    /// More cells than are read from a workbook.
    #[error(
        "sheet `{sheet}`: the workbook has more than {} cells: save its sheets as csv, which may \
         be of any size",
        grouped(MAX_XLSX_CELLS)
    )]
    TooManyCells {
        /// The sheet with the first cell that is too many.
        sheet: String,
    },
    /// More sheets than a spreadsheet has.
    #[error("the workbook has more than {MAX_SHEETS} sheets: split it")]
    TooManySheets,
    /// More text than the sheets may share.
    #[error(
        "the sheets share more than {MAX_SHARED_TEXT_BYTES} bytes of texts: save them as csv, \
         which may be of any size"
    )]
    SharedTextsTooLarge,
    /// Tags without end, and nothing in them.
    #[error(
        "`{part}` has more than {} tags with nothing in them: it is no workbook that somebody made; \
         save it again, and import that",
        grouped(MAX_IDLE_XML_EVENTS)
    )]
    NothingInTags {
        /// The part.
        part: String,
    },
    /// More styles than a workbook has.
    #[error("the workbook has more than {MAX_WORKBOOK_STYLES} styles or shared formulas")]
    TooManyStyles,
    /// A cell outside every sheet.
    #[error("sheet `{sheet}`: there is no cell `{cell}`: the workbook is damaged")]
    NoSuchCell {
        /// The sheet.
        sheet: String,
        /// What it has instead of a cell's name.
        cell: String,
    },
    /// Cells that do not follow each other.
    #[error(
        "sheet `{sheet}`: cell {cell} comes after one that is further down or to the right: the \
         workbook is damaged; save it again and import that"
    )]
    OutOfOrder {
        /// The sheet.
        sheet: String,
        /// The cell.
        cell: String,
    },
    /// A text that is too long for a cell.
    #[error(
        "sheet `{sheet}`, cell {cell}: the text has more than {MAX_TEXT_BYTES} bytes: shorten it"
    )]
    TextTooLong {
        /// The sheet.
        sheet: String,
        /// The cell.
        cell: String,
    },
    /// A formula that is too long.
    #[error(
        "sheet `{sheet}`, cell {cell}: the formula has more than {MAX_FORMULA_BYTES} bytes: shorten it"
    )]
    FormulaTooLong {
        /// The sheet.
        sheet: String,
        /// The cell.
        cell: String,
    },
    /// A row with too much text.
    #[error(
        "sheet `{sheet}`, row {row}: the texts have more than {MAX_IMPORT_ROW_BYTES} bytes: shorten \
         them"
    )]
    RowTooLong {
        /// The sheet.
        sheet: String,
        /// The row, from 1.
        row: u64,
    },
    /// A value that is none.
    #[error("sheet `{sheet}`, cell {cell}: `{value}` is not {expected}: the workbook is damaged")]
    BadValue {
        /// The sheet.
        sheet: String,
        /// The cell.
        cell: String,
        /// What it has.
        value: String,
        /// What its type says that it has.
        expected: &'static str,
    },
}

/// Why writing ended.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The target cannot be written.
    #[error("the file cannot be written: {0}")]
    Io(#[from] io::Error),
    /// Cells that do not come row by row, from left to right.
    #[error("cells must come row by row, each further to the right than the one before")]
    OutOfOrder,
    /// More than Excel has.
    #[error(
        "sheet `{sheet}`: an Excel sheet has at most 1,048,576 rows and 16,384 columns, and this one \
         has a cell in row {row}, column {column}: export it as csv, which has no such limit"
    )]
    OutsideExcel {
        /// The sheet.
        sheet: String,
        /// The row, from 1.
        row: u64,
        /// The column, from 1.
        column: u64,
    },
    /// A text that is too long for Excel.
    #[error(
        "sheet `{sheet}`, row {row}, column {column}: a cell of Excel holds at most 32,767 \
         characters, and this one has {characters}: export it as csv, which has no such limit"
    )]
    TextTooLong {
        /// The sheet.
        sheet: String,
        /// The row, from 1.
        row: u64,
        /// The column, from 1.
        column: u64,
        /// Its characters, as Excel counts them.
        characters: usize,
    },
    /// More number formats than Excel has.
    #[error("the workbook has more number formats than Excel can hold: export its sheets as csv")]
    TooManyFormats,
    /// The library that writes workbooks refuses.
    #[error("the workbook cannot be written: {why}")]
    Workbook {
        /// What it says.
        why: String,
    },
}
