//! Validation errors of operations.

use cellar_base::limits::{
    MAX_COLUMNS, MAX_IMPORT_SHEET_NAMES_BYTES, MAX_INSERT, MAX_ROWS, MAX_SHEETS, MAX_SPANS,
};

use super::set_name::InvalidName;
use crate::cell::NumberFormatError;
use cellar_formula::syntax::SyntaxError;

/// The reason why an operation is invalid regardless of the state of the spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOperation {
    /// No cells.
    #[error("the operation sets no cells; at least one is required")]
    NoCells,
    /// Too many cells.
    #[error("the operation sets {count} cells; at most {max} are allowed; split it")]
    TooManyCells {
        /// Number of cells.
        count: usize,
        /// Largest allowed number.
        max: usize,
    },
    /// A cell is outside the largest possible sheet.
    #[error(
        "row {row}, column {column} is outside the sheet: rows are below {rows} and columns \
         below {columns}, both counted from 0"
    )]
    OutsideSheet {
        /// Row, from 0.
        row: u32,
        /// Column, from 0.
        column: u32,
        /// Maximum number of rows of a sheet.
        rows: u32,
        /// Maximum number of columns of a sheet.
        columns: u32,
    },
    /// Text, a formula or a number format is too long.
    #[error("{cell}: the {part} has {byte_length} bytes; at most {max_bytes} are allowed")]
    TooLong {
        /// Cell, in A1 notation.
        cell: String,
        /// The part that is too long: `text`, `formula` or `format`.
        part: &'static str,
        /// Length in bytes.
        byte_length: usize,
        /// Maximum length in bytes.
        max_bytes: usize,
    },
    /// A number format that Excel would not accept.
    #[error("{cell}: {} is not a number format: {fault}", .format.escape_debug())]
    NumberFormat {
        /// Cell in A1 notation, or `the range`.
        cell: String,
        /// The invalid number format.
        format: String,
        /// Position of the fault, and its correction.
        fault: NumberFormatError,
    },
    /// A formula with a syntax error, or with a reference that is not supported.
    #[error("{cell}: {} is not a formula: {error}", excerpt(formula))]
    Formula {
        /// Cell, in A1 notation.
        cell: String,
        /// The invalid formula.
        formula: String,
        /// Place of the error, and its correction.
        error: SyntaxError,
    },
    /// An edit has a formula but no value, or it has neither a value nor a format.
    #[error("{cell}: {reason}")]
    EmptyEdit {
        /// Cell, in A1 notation.
        cell: String,
        /// Reason.
        reason: &'static str,
    },
    /// A number is infinite or NaN.
    #[error("{cell}: the number is not finite")]
    NotFinite {
        /// Cell, in A1 notation.
        cell: String,
    },
    /// The list of spans is empty, or a span is empty.
    #[error(
        "the operation needs at least one span of {axis_name}, and the count of each span must be at least 1"
    )]
    EmptySpan {
        /// `rows` or `columns`.
        axis_name: &'static str,
    },
    /// Too many spans.
    #[error(
        "the operation has {count} spans of {axis_name}; at most {MAX_SPANS} are allowed; split the operation"
    )]
    TooManySpans {
        /// `rows` or `columns`.
        axis_name: &'static str,
        /// Number of spans.
        count: usize,
    },
    /// Rows or columns are outside the largest possible sheet.
    #[error(
        "{count} {axis_name} starting at index {first} extend past the end of the sheet, which can have {limit} {axis_name}"
    )]
    SpanOutsideSheet {
        /// `rows` or `columns`.
        axis_name: &'static str,
        /// Index of the first row or column, counted from 0.
        first: u32,
        /// Number of rows or columns.
        count: u32,
        /// Maximum number of rows or columns of a sheet.
        limit: u32,
    },
    /// The number of rows or columns to insert is zero or too large.
    #[error("cannot insert {count} {axis_name}; 1 to {MAX_INSERT} are allowed")]
    InsertCount {
        /// `rows` or `columns`.
        axis_name: &'static str,
        /// Number of rows or columns.
        count: u32,
    },
    /// An invalid sheet name.
    #[error("`{name}` is not a valid sheet name: {reason}")]
    SheetName {
        /// The invalid name, possibly truncated.
        name: String,
        /// Reason.
        reason: &'static str,
    },
    /// The number of a new sheet is invalid.
    #[error(
        "a new sheet cannot have the number {sheet}; use the number after the highest number ever used"
    )]
    SheetNumber {
        /// Number of the sheet.
        sheet: u32,
    },
    /// A revert names rows or columns, but no sheet.
    #[error("the revert has rows or columns but no sheet; add the number of the sheet")]
    RangeWithoutSheet,
    /// An imported sheet is larger than the largest possible sheet.
    #[error(
        "the import has {rows} rows and {columns} columns; at most {MAX_ROWS} and {MAX_COLUMNS} \
         are allowed"
    )]
    ImportExtent {
        /// Rows.
        rows: u32,
        /// Columns.
        columns: u32,
    },
    /// The names of sheets that the formulas of an import use are too many or too long, or two of them
    /// differ only in case.
    #[error(
        "the names in `sheets` of the import differ only in case, are more than {MAX_SHEETS}, or have \
         more than {MAX_IMPORT_SHEET_NAMES_BYTES} bytes; leave out the others"
    )]
    ImportSheetNames,
    /// A name or its formula is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A client sent a rejection, which only the server may create.
    #[error("clients cannot send rejections")]
    NotForClients,
}

/// Returns the start of a formula for an error message.
fn excerpt(formula: &str) -> String {
    const MAX_CHARACTERS: usize = 40;
    match formula.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", formula.get(..end).unwrap_or_default().escape_debug()),
        None => formula.escape_debug().to_string(),
    }
}
