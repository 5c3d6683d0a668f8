//! Why an operation can never succeed.

use cellar_base::limits::{MAX_COLUMNS, MAX_INSERT, MAX_ROWS, MAX_SPANS};

/// Why an operation can never succeed, whatever the state of the spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOperation {
    /// No cells at all.
    #[error("the operation sets no cells; at least one is required")]
    NoCells,
    /// Too many cells.
    #[error("the operation sets {count} cells; at most {max} are allowed; split it")]
    TooManyCells {
        /// How many it sets.
        count: usize,
        /// How many are allowed.
        max: usize,
    },
    /// A cell outside the largest sheet.
    #[error(
        "row {row}, column {column} is outside the sheet: rows are below {rows} and columns \
         below {columns}, both counted from 0"
    )]
    OutsideSheet {
        /// The row, from 0.
        row: u32,
        /// The column, from 0.
        column: u32,
        /// Rows of the largest sheet.
        rows: u32,
        /// Columns of the largest sheet.
        columns: u32,
    },
    /// A text, formula or format that is too long.
    #[error("{cell}: the {what} has {length} bytes; at most {max} are allowed")]
    TooLong {
        /// The cell, in A1 notation.
        cell: String,
        /// `text`, `formula` or `format`.
        what: &'static str,
        /// Its bytes.
        length: usize,
        /// The bytes allowed.
        max: usize,
    },
    /// A formula without a value, or an edit that changes nothing.
    #[error("{cell}: {why}")]
    EmptyEdit {
        /// The cell, in A1 notation.
        cell: String,
        /// What is missing.
        why: &'static str,
    },
    /// A number that is infinite or not a number.
    #[error("{cell}: the number is not finite")]
    NotFinite {
        /// The cell, in A1 notation.
        cell: String,
    },
    /// No rows or columns.
    #[error("the operation names no {what}; at least one span with a count is required")]
    EmptySpan {
        /// `rows` or `columns`.
        what: &'static str,
    },
    /// Too many spans.
    #[error("the operation has {count} spans of {what}; at most {MAX_SPANS} are allowed; split it")]
    TooManySpans {
        /// `rows` or `columns`.
        what: &'static str,
        /// How many it has.
        count: usize,
    },
    /// Rows or columns outside the largest sheet.
    #[error("{count} {what} from {first} are outside the sheet; {what} must be below {max}")]
    SpanOutsideSheet {
        /// `rows` or `columns`.
        what: &'static str,
        /// The first, from 0.
        first: u32,
        /// How many.
        count: u32,
        /// How many the largest sheet has.
        max: u32,
    },
    /// None or too many inserted at once.
    #[error("cannot insert {count} {what}; 1 to {MAX_INSERT} are allowed")]
    InsertCount {
        /// `rows` or `columns`.
        what: &'static str,
        /// How many.
        count: u32,
    },
    /// A name that no sheet may have.
    #[error("`{name}` is not a valid sheet name: {why}")]
    SheetName {
        /// The name, or its beginning.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A number that no new sheet may have.
    #[error("a new sheet cannot have the number {sheet}; use the number after the greatest in use")]
    SheetNumber {
        /// The number.
        sheet: u32,
    },
    /// An imported sheet that is larger than any.
    #[error(
        "the import has {rows} rows and {columns} columns, at most {MAX_ROWS} and {MAX_COLUMNS} \
         are allowed"
    )]
    ImportExtent {
        /// Its rows.
        rows: u32,
        /// Its columns.
        columns: u32,
    },
    /// An operation that only the server makes.
    #[error("clients cannot send rejections")]
    NotForClients,
}
