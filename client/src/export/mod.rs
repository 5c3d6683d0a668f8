//! Cells into files of other programs: all of one position, whole or not at all.
//!
//! The pages are read at one position and put aside on disk: for csv row by row, because its width is
//! known with the last of them; for xlsx in the form that they have there. Only when all are there is
//! the file put together, beside its target, and moved into place.

mod csv;
mod spool;
mod xlsx;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use cellar_api::wire::CellsReply;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_exchange::WriteError;
use cellar_sheet::operation::SheetId;

pub use csv::{CsvExport, CsvStyle, fetch_csv};
pub use xlsx::{XlsxExport, fetch_xlsx};

use crate::table::escape;
use crate::user_file::{UserFileError, write_user_file};
use crate::{CellsQuery, Client, ClientError};

/// Fields of one exported csv file, blank ones included: a single cell far away must not fill a disk
/// with commas.
pub const EXPORT_MAX_FIELDS: u64 = 200_000_000;

/// Why an export ended. The target is as it was.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ExportError {
    /// A call failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(#[from] ClientError),
    /// The target exists.
    #[error("{} exists already", path.display())]
    #[diagnostic(code(cellar::export::exists), help("give --force to replace it"))]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target, or a temporary file, cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    #[diagnostic(
        code(cellar::export::unwritable),
        help("check that you may write there and that the disk has room")
    )]
    Unwritable {
        /// The target.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A cell so far away that the file would be mostly commas.
    #[error(
        "the sheet spans {rows} rows and {columns} columns: more than {EXPORT_MAX_FIELDS} fields, \
         blank ones included"
    )]
    #[diagnostic(
        code(cellar::export::too_wide),
        help(
            "a cell far away, probably by mistake, makes it so large: clear that cell first, or \
             export to .xlsx, where blank cells take nothing"
        )
    )]
    TooManyFields {
        /// Rows up to the last cell.
        rows: u64,
        /// Columns up to the last cell.
        columns: u64,
    },
    /// Something that the format cannot hold.
    #[error("{}", escape(&source.to_string()))]
    #[diagnostic(code(cellar::export::format))]
    Format {
        /// What it is, where, and what to do.
        source: WriteError,
    },
    /// The pages do not follow each other: a fault of the server.
    #[error("the server's pages do not follow each other: {why}")]
    #[diagnostic(code(cellar::export::pages))]
    Pages {
        /// What is wrong.
        why: &'static str,
    },
}

/// A finished export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The position it is of.
    pub position: Position,
    /// Its incarnation.
    pub incarnation: u32,
    /// The sheets.
    pub sheets: Vec<ExportedSheet>,
}

/// A sheet of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedSheet {
    /// The sheet.
    pub sheet: SheetId,
    /// Its name in the file; in csv, that of the spreadsheet.
    pub name: String,
    /// Rows up to the last cell that is not blank.
    pub rows: u64,
    /// Columns up to the last cell that is not blank.
    pub columns: u64,
    /// Cells that are not blank.
    pub cells: u64,
    /// Cells that have a formula.
    pub formulas: u64,
    /// Texts in csv that other programs may take for a formula, and that were written as they are.
    pub formula_like_texts: u64,
}

/// Reads all pages of a sheet, at one position; gives the first without its cells.
async fn pages(
    client: &Client,
    spreadsheet: LogId,
    mut query: CellsQuery,
    mut take: impl FnMut(&CellsReply) -> Result<(), ExportError>,
) -> Result<CellsReply, ExportError> {
    loop {
        let page = client.cells(spreadsheet, &query).await?;
        take(&page)?;
        let Some(next) = &page.next else {
            return Ok(CellsReply { cells: Vec::new(), ..page });
        };
        if query.cursor.as_ref() == Some(next) || page.cells.is_empty() {
            return Err(ExportError::Pages { why: "a page does not go on" });
        }
        if query.at.is_some_and(|at| at != page.position) {
            return Err(ExportError::Pages { why: "a page is of another position" });
        }
        query.at = Some(page.position);
        query.cursor = Some(next.clone());
    }
}

/// Writes the file that the user named.
fn put_in_place<T>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut File) -> Result<T, ExportError>,
) -> Result<T, ExportError> {
    write_user_file(path, force, write).map_err(|error| match error {
        UserFileError::Exists => ExportError::Exists { path: path.to_owned() },
        UserFileError::Io(source) => ExportError::Unwritable { path: path.to_owned(), source },
        UserFileError::Content(error) => error,
    })
}

fn temporary(source: io::Error) -> ExportError {
    ExportError::Unwritable { path: "a temporary file".into(), source }
}

/// A fault of a writer whose target is at `path`.
fn unwritten(path: &Path, error: WriteError) -> ExportError {
    match error {
        WriteError::Io(source) => ExportError::Unwritable { path: path.to_owned(), source },
        WriteError::OutOfOrder => ExportError::Pages { why: "cells are out of order" },
        source => ExportError::Format { source },
    }
}
