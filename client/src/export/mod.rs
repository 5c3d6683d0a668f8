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

use cellar_core::api::CellsReply;
use cellar_core::identity::LogId;
use cellar_core::operation::SheetId;
use cellar_core::position::Position;
use cellar_exchange::WriteError;

pub use csv::{CsvExport, CsvStyle, fetch_csv};
pub use xlsx::{XlsxExport, fetch_xlsx};

use crate::files::sync_folder;
use crate::table::escape;
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
    /// Its epoch.
    pub epoch: u32,
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
        if query.from.as_ref() == Some(next) || page.cells.is_empty() {
            return Err(ExportError::Pages { why: "a page does not go on" });
        }
        if query.at.is_some_and(|at| at != page.position) {
            return Err(ExportError::Pages { why: "a page is of another position" });
        }
        query.at = Some(page.position);
        query.from = Some(next.clone());
    }
}

/// Writes a file beside its target, and moves it there: what is at `path` is the old or the new file,
/// whole, whatever happens.
fn put_in_place<T>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut File) -> Result<T, ExportError>,
) -> Result<T, ExportError> {
    let fault = |source| ExportError::Unwritable { path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cellar-export-");
    // The mode of any new file, not the private one of a temporary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(fault)?;
    let written = write(file.as_file_mut())?;
    file.as_file().sync_all().map_err(fault)?;
    let moved = if force { file.persist(path) } else { file.persist_noclobber(path) };
    moved.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => ExportError::Exists { path: path.to_owned() },
        _ => fault(error.error),
    })?;
    sync_folder(folder).map_err(fault)?;
    Ok(written)
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
