//! Validation errors of operations.

use cellar_base::limits::{MAX_COLUMNS, MAX_INSERT, MAX_ROWS, MAX_SPANS};

/// Reason why an operation is invalid, regardless of the spreadsheet's state.
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
    /// A cell is outside the largest sheet.
    #[error(
        "row {row}, column {column} is outside the sheet: rows are below {rows} and columns \
         below {columns}, both counted from 0"
    )]
    OutsideSheet {
        /// Row, from 0.
        row: u32,
        /// Column, from 0.
        column: u32,
        /// Number of rows in the largest sheet.
        rows: u32,
        /// Number of columns in the largest sheet.
        columns: u32,
    },
    /// A text, formula or number format is too long.
    #[error("{cell}: the {what} has {length} bytes; at most {max} are allowed")]
    TooLong {
        /// Cell, in A1 notation.
        cell: String,
        /// The part that is too long: `text`, `formula` or `format`.
        what: &'static str,
        /// Length in bytes.
        length: usize,
        /// Maximum length in bytes.
        max: usize,
    },
    /// An edit has a formula without a value, or neither a value nor a format.
    #[error("{cell}: {why}")]
    EmptyEdit {
        /// Cell, in A1 notation.
        cell: String,
        /// Reason.
        why: &'static str,
    },
    /// A number is infinite or NaN.
    #[error("{cell}: the number is not finite")]
    NotFinite {
        /// Cell, in A1 notation.
        cell: String,
    },
    /// The list of spans is empty, or a span is empty.
    #[error(
        "the operation has no {what} or an empty span; at least one span with a count of 1 or more is required"
    )]
    EmptySpan {
        /// `rows` or `columns`.
        what: &'static str,
    },
    /// Too many spans.
    #[error("the operation has {count} spans of {what}; at most {MAX_SPANS} are allowed; split it")]
    TooManySpans {
        /// `rows` or `columns`.
        what: &'static str,
        /// Number of spans.
        count: usize,
    },
    /// Rows or columns are outside the largest sheet.
    #[error("{count} {what} from {first} are outside the sheet; {what} must be below {max}")]
    SpanOutsideSheet {
        /// `rows` or `columns`.
        what: &'static str,
        /// First row or column, from 0.
        first: u32,
        /// Number of rows or columns.
        count: u32,
        /// Number of rows or columns in the largest sheet.
        max: u32,
    },
    /// The number of inserted rows or columns is zero or too large.
    #[error("cannot insert {count} {what}; 1 to {MAX_INSERT} are allowed")]
    InsertCount {
        /// `rows` or `columns`.
        what: &'static str,
        /// Number of rows or columns.
        count: u32,
    },
    /// An invalid sheet name.
    #[error("`{name}` is not a valid sheet name: {why}")]
    SheetName {
        /// The invalid name, possibly truncated.
        name: String,
        /// Reason.
        why: &'static str,
    },
    /// The number of a new sheet is invalid.
    #[error(
        "a new sheet cannot have the number {sheet}; use the number after the largest number ever used"
    )]
    SheetNumber {
        /// Number of the sheet.
        sheet: u32,
    },
    /// An imported sheet is larger than the largest sheet.
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
    /// The operation is a rejection, which only the server may write.
    #[error("clients cannot send rejections")]
    NotForClients,
}
