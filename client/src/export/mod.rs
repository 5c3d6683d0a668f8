//! Exports the cells at one position to files of other programs.
//!
//! All cells are read first, and then the output file is written atomically. For CSV, `spool` keeps
//! the `rows`, because the number of columns is not known before all cells were read. For XLSX, a
//! temporary file already has the output format.

mod csv;
mod rows;
mod spool;
mod xlsx;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use cellar_base::count::{count, grouped};
use cellar_base::position::Position;
use cellar_exchange::WriteError;
use cellar_sheet::operation::SheetId;

pub use csv::{CsvExport, CsvStyle, fetch_csv, fetch_csv_pages};
pub use xlsx::{XlsxExport, fetch_xlsx, fetch_xlsx_pages};

use crate::ClientError;
use crate::reader::ReaderError;
use crate::text::escape;
use crate::user_file::{UserFileError, write_user_file};

/// Maximum number of blank fields in an exported CSV file, in addition to those that
/// [`EXPORT_BLANK_FIELDS_PER_CELL`] allows. Without a limit, a single cell far from the others could
/// fill the disk with delimiters.
pub const EXPORT_MAX_BLANK_FIELDS: u64 = 200_000_000;

/// Number of blank fields in an exported CSV file that are allowed for each non-blank cell, in
/// addition to [`EXPORT_MAX_BLANK_FIELDS`]. A sheet of any size can be exported if a tenth of its
/// cells is not blank.
pub const EXPORT_BLANK_FIELDS_PER_CELL: u64 = 10;

/// An export failed. If the output file already existed, it has not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A request failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The snapshot or the entries after it cannot be read.
    #[error(transparent)]
    Reader(ReaderError),
    /// The file already exists and must not be overwritten.
    #[error("{} already exists", path.display())]
    Exists {
        /// Path of the file.
        path: PathBuf,
    },
    /// The output file or a temporary file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Operating system error.
        source: io::Error,
    },
    /// The CSV file would have too many blank fields.
    #[error(
        "the file would have more than {} blank fields: {} in {} and {}",
        grouped(max_blank_fields(*cells)),
        count(*cells, "cell", "cells"),
        count(*rows, "row", "rows"),
        count(*columns, "column", "columns")
    )]
    TooManyBlankFields {
        /// Number of rows up to the last cell.
        rows: u64,
        /// Number of columns up to the last cell.
        columns: u64,
        /// Number of non-blank cells.
        cells: u64,
    },
    /// A cell or sheet cannot be represented in the file format.
    #[error("{}", escape(&source.to_string()))]
    Format {
        /// Description of the cell or sheet and of the problem.
        source: WriteError,
    },
    /// The server returned inconsistent pages.
    #[error("the server returned inconsistent pages: {why}")]
    Pages {
        /// Description of the inconsistency.
        why: &'static str,
    },
}

impl From<ReaderError> for ExportError {
    fn from(error: ReaderError) -> Self {
        match error {
            ReaderError::Client(error) => Self::Client(error),
            error => Self::Reader(error),
        }
    }
}

/// Result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// Position of the exported cells.
    pub position: Position,
    /// Table incarnation of the position.
    pub incarnation: u32,
    /// The exported sheets.
    pub sheets: Vec<ExportedSheet>,
    /// Number of names for formulas in an XLSX file.
    pub names: usize,
    /// Number of names that were left out, because they refer to sheets that were not exported, or
    /// to cells outside the sheets of Excel.
    pub omitted_names: usize,
}

/// An exported sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportedSheet {
    /// Sheet number.
    pub sheet: SheetId,
    /// Sheet name. For XLSX, this is the name in the file. For CSV, it is the name in the
    /// spreadsheet.
    pub name: String,
    /// Number of rows, up to the last row with a non-blank cell.
    pub rows: u64,
    /// Number of columns, up to the last column with a non-blank cell.
    pub columns: u64,
    /// Number of non-blank cells.
    pub cells: u64,
    /// Number of cells with a formula.
    pub formulas: u64,
    /// Number of formulas that were not calculated. The value that is stored beside the formula was
    /// written, or none.
    pub stale_formulas: u64,
    /// Number of texts in a CSV file that other programs may interpret as formulas.
    pub formula_like_texts: u64,
}

/// Returns the maximum number of blank fields in a CSV file with `cells` non-blank cells.
fn max_blank_fields(cells: u64) -> u64 {
    EXPORT_MAX_BLANK_FIELDS.saturating_add(cells.saturating_mul(EXPORT_BLANK_FIELDS_PER_CELL))
}

/// Returns whether reading again from a newer snapshot may succeed.
fn is_object_missing<T>(result: &Result<T, ExportError>) -> bool {
    matches!(result, Err(ExportError::Reader(error)) if error.unreadable_object().is_some())
}

fn write_output_file<T>(
    path: &Path,
    force: bool,
    write_contents: impl FnOnce(&mut File) -> Result<T, ExportError>,
) -> Result<T, ExportError> {
    write_user_file(path, force, write_contents).map_err(|error| match error {
        UserFileError::Exists => ExportError::Exists { path: path.to_owned() },
        UserFileError::Io(source) => ExportError::Unwritable { path: path.to_owned(), source },
        UserFileError::Content(error) => error,
    })
}

fn temporary_file_error(source: io::Error) -> ExportError {
    ExportError::Unwritable { path: "a temporary file".into(), source }
}

fn write_error(path: &Path, error: WriteError) -> ExportError {
    match error {
        WriteError::Io(source) => ExportError::Unwritable { path: path.to_owned(), source },
        WriteError::OutOfOrder => cells_out_of_order_error(),
        source => ExportError::Format { source },
    }
}

fn cells_out_of_order_error() -> ExportError {
    ExportError::Pages { why: "the cells are out of order" }
}
