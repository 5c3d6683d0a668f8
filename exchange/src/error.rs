//! Errors while reading and writing files. Each message contains the position of the error in the
//! file, and says how to correct the file.

use std::io;

use cellar_base::count::grouped;
use cellar_base::limits::{
    MAX_FORMULA_BYTES, MAX_IDLE_XML_EVENTS, MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_ROWS,
    MAX_SHARED_TEXT_BYTES, MAX_SHEETS, MAX_TEXT_BYTES, MAX_WORKBOOK_BYTES, MAX_WORKBOOK_CELLS,
    MAX_WORKBOOK_PARTS, MAX_WORKBOOK_STYLES, MAX_WORKBOOK_UNPACKED_BYTES, MAX_XML_EVENT_BYTES,
};

/// Reason why a file could not be imported. Lines and columns are one-based.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The file changed between the two passes.
    #[error("the file changed while it was read: import it again when no program writes to it")]
    Changed,
    #[error("the file is empty: it has no cells to import")]
    Empty,
    /// The file is a workbook, but was opened as csv.
    #[error("the file is an Excel or OpenDocument workbook, not csv: import it as a workbook")]
    Workbook,
    #[error(
        "line {line}: invalid UTF-8 at byte {byte} of the file (from 0): state the encoding of the file, \
         which is windows-1252 if an older program on Windows wrote it"
    )]
    NotUtf8 {
        line: u64,
        /// Zero-based offset of the first invalid byte in the file.
        byte: u64,
    },
    /// The file is not text in the encoding that was chosen, or that its byte order mark indicates.
    #[error(
        "byte {byte} of the file (from 0) is not {encoding} text: state the encoding of the file"
    )]
    NotInEncoding {
        encoding: &'static str,
        /// Zero-based offset of the first invalid byte in the file.
        byte: u64,
    },
    #[error("the delimiter must be an ASCII character other than a quote or a line end")]
    Delimiter,
    #[error(
        "line {line}, column {column}: a quoted field starts here, but has no closing quote; write a \
         quote inside a quoted field twice: \"say \"\"hello\"\"\""
    )]
    UnclosedQuote {
        /// Line of the opening quote.
        line: u64,
        column: u64,
    },
    #[error(
        "line {line}, column {column}: text follows the closing quote of a field; write a quote \
         inside a quoted field twice (\"say \"\"hello\"\"\"), or check an earlier line for a missing \
         quote"
    )]
    TextAfterQuote { line: u64, column: u64 },
    #[error(
        "line {line}: the row has {fields} fields, but the first row has {expected}: correct the line, \
         check the delimiter, or choose to fill short rows with empty cells"
    )]
    Ragged {
        line: u64,
        fields: usize,
        /// Number of fields in the first row.
        expected: usize,
    },
    #[error(
        "line {line}, column {column}: the text has more than {MAX_TEXT_BYTES} bytes, the maximum of a \
         cell: shorten it, or check for a missing quote if it has many lines"
    )]
    TextTooLong {
        /// First line of the row.
        line: u64,
        column: u64,
    },
    /// A row's text exceeds the memory limit.
    #[error(
        "line {line}: the row has more than {MAX_IMPORT_ROW_BYTES} bytes: split it into several \
         rows, or check for a missing quote"
    )]
    RowTooLong {
        /// First line of the row.
        line: u64,
    },
    #[error(
        "line {line}: the row has more than {} fields: split the file by columns, or check the \
         delimiter",
        grouped(MAX_IMPORT_COLUMNS)
    )]
    TooManyColumns { line: u64 },
    #[error(
        "line {line}: the file has more than {} rows, the maximum of a sheet: split the file",
        grouped(MAX_ROWS)
    )]
    TooManyRows { line: u64 },
    #[error(transparent)]
    InWorkbook(#[from] WorkbookError),
}

/// Reason why a workbook could not be read.
///
/// `part` is the name of a file inside the workbook, `sheet` is a sheet's name, and `cell` is a
/// cell's name, such as `B2`.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    #[error(
        "the file is not an xlsx, xlsb or ods workbook: save it in one of these formats or as csv \
         (UTF-8), and import the saved file"
    )]
    Unknown,
    /// The file is an old binary workbook (xls) or an encrypted workbook. Both are stored in the
    /// same container format.
    #[error(
        "the file is an Excel 97-2003 (xls) or password-protected workbook: save it as xlsx without \
         a password, and import the saved file"
    )]
    Compound,
    /// The file is an encrypted OpenDocument file.
    #[error(
        "the workbook is protected with a password: save it without a password, and import the saved file"
    )]
    Encrypted,
    #[error(
        "the workbook has {bytes} bytes, but at most {MAX_WORKBOOK_BYTES} are allowed: save its sheets \
         as csv, which has no size limit"
    )]
    FileTooLarge { bytes: u64 },
    /// The zip archive cannot be opened.
    #[error(
        "the workbook is damaged or truncated: {why}; save it again, and import the saved file"
    )]
    Archive { why: String },
    #[error(
        "the workbook has more than {MAX_WORKBOOK_PARTS} parts: open it in Excel or LibreOffice, save it again, and import the saved file"
    )]
    TooManyParts,
    #[error(
        "the workbook has more than {MAX_WORKBOOK_UNPACKED_BYTES} bytes of uncompressed contents: save its \
         sheets as csv, which has no size limit"
    )]
    UnpacksTooLarge,
    #[error(
        "the workbook is damaged: the part `{part}` is missing; save it again, and import the saved file"
    )]
    MissingPart { part: String },
    #[error(
        "part `{part}` of the workbook is damaged: {why}; save it again, and import the saved file"
    )]
    Damaged { part: String, why: String },
    #[error(
        "part `{part}` of the workbook contains a tag or text of more than {MAX_XML_EVENT_BYTES} bytes: save \
         the sheets as csv"
    )]
    EventTooLong { part: String },
    #[error(
        "sheet `{sheet}`: the workbook has more than {} cells: save its sheets as csv, which has no \
         size limit",
        grouped(MAX_WORKBOOK_CELLS)
    )]
    TooManyCells {
        /// Name of the sheet whose cells exceeded the limit.
        sheet: String,
    },
    #[error("the workbook has more than {MAX_SHEETS} sheets: split it into several workbooks")]
    TooManySheets,
    #[error(
        "the shared texts of the workbook have more than {MAX_SHARED_TEXT_BYTES} bytes: save its \
         sheets as csv, which has no size limit"
    )]
    SharedTextsTooLarge,
    /// A part of the workbook has too many consecutive XML tags without any cell or text.
    #[error(
        "part `{part}` of the workbook has more than {} tags without contents: save the workbook again, \
         and import the saved file",
        grouped(MAX_IDLE_XML_EVENTS)
    )]
    NothingInTags { part: String },
    #[error(
        "the workbook has more than {MAX_WORKBOOK_STYLES} styles, shared formulas or records of cell metadata: save its sheets as csv"
    )]
    TooManyStyles,
    /// The name of a cell is invalid, or the cell is outside of the largest supported sheet.
    #[error("sheet `{sheet}`: invalid cell `{cell}`: the workbook is damaged or too large")]
    NoSuchCell {
        sheet: String,
        /// The invalid cell name, or a description of the cell's position.
        cell: String,
    },
    /// The cells of a sheet are not sorted by row and column.
    #[error(
        "sheet `{sheet}`: cell {cell} follows a cell that is further down or to the right: the \
         workbook is damaged; save it again, and import the saved file"
    )]
    OutOfOrder { sheet: String, cell: String },
    #[error(
        "sheet `{sheet}`, cell {cell}: the text has more than {MAX_TEXT_BYTES} bytes: shorten it"
    )]
    TextTooLong { sheet: String, cell: String },
    #[error(
        "sheet `{sheet}`, cell {cell}: the formula has more than {MAX_FORMULA_BYTES} bytes: shorten it"
    )]
    FormulaTooLong { sheet: String, cell: String },
    #[error(
        "sheet `{sheet}`, row {row}: the row has more than {MAX_IMPORT_ROW_BYTES} bytes of text: \
         shorten it"
    )]
    RowTooLong { sheet: String, row: u64 },
    /// The cell's value does not match its declared type.
    #[error(
        "sheet `{sheet}`, cell {cell}: `{value}` is not {expected}: the workbook is damaged; save it again, and import the saved file"
    )]
    BadValue {
        sheet: String,
        cell: String,
        value: String,
        /// The declared type.
        expected: &'static str,
    },
}

/// Reason why a file could not be written. Rows and columns are one-based.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("the file cannot be written: {0}")]
    Io(#[from] io::Error),
    /// A cell was not written after the previous cell in row order, or its column exceeds the
    /// declared number of columns.
    #[error("cells must be written row by row, from left to right, within the declared columns")]
    OutOfOrder,
    #[error(
        "sheet `{sheet}`: the sheet has a cell in row {row}, column {column}, but an Excel sheet has at \
         most 1,048,576 rows and 16,384 columns: export it as csv, which has no such limit"
    )]
    OutsideExcel { sheet: String, row: u64, column: u64 },
    #[error(
        "sheet `{sheet}`, row {row}, column {column}: the text has {characters} characters, but an \
         Excel cell has at most 32,767: export it as csv, which has no such limit"
    )]
    TextTooLong {
        sheet: String,
        row: u64,
        column: u64,
        /// Length of the text in UTF-16 code units, which Excel counts as characters.
        characters: usize,
    },
    #[error(
        "sheet `{sheet}`: the sheet has more than 4 GB of cells, the maximum of an xlsx file: export it as csv, which has no such limit"
    )]
    SheetTooLarge { sheet: String },
    #[error("the workbook has more number formats than Excel supports: export its sheets as csv")]
    TooManyFormats,
    /// The library that writes archives returned an error.
    #[error("the workbook cannot be written: {why}")]
    Workbook { why: String },
}
