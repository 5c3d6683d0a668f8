//! Cells into CSV: all of one position, whole or not at all.
//!
//! The pages are read at one position and put aside row by row; only when all are there, and with
//! them the width, is the file written, beside its target, and moved into place.

mod rows;
mod spool;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cellar_core::api::CellsReply;
use cellar_core::identity::LogId;
use cellar_core::operation::SheetId;
use cellar_core::position::Position;

use crate::files::sync_folder;
use crate::{CellsQuery, Client, ClientError};
use spool::Spool;

/// Fields of one exported file, blank ones included: a single cell far away must not fill a disk
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
        help("a cell far away, probably by mistake, makes it so large: clear that cell first")
    )]
    TooManyFields {
        /// Rows up to the last cell.
        rows: u64,
        /// Columns up to the last cell.
        columns: u64,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    /// The position it is of.
    pub position: Position,
    /// Its epoch.
    pub epoch: u32,
    /// The sheet.
    pub sheet: SheetId,
    /// Rows that were written.
    pub rows: u64,
    /// Fields of each row.
    pub columns: u64,
    /// Cells that are not blank.
    pub cells: u64,
}

/// Everything of a sheet at one position, put aside on disk.
#[derive(Debug)]
pub struct Fetched {
    spool: Spool,
    position: Position,
    epoch: u32,
    sheet: SheetId,
}

/// Reads all pages of the sheet in `query`, at one position. `progress` is told the cells so far.
///
/// # Errors
/// [`ExportError`].
pub async fn fetch(
    client: &Client,
    spreadsheet: LogId,
    mut query: CellsQuery,
    mut progress: impl FnMut(u64),
) -> Result<Fetched, ExportError> {
    let mut spool = Spool::new().map_err(temporary)?;
    loop {
        let page = client.cells(spreadsheet, &query).await?;
        add_page(&mut spool, &page)?;
        progress(spool.cells());
        let Some(next) = page.next else {
            let CellsReply { position, epoch, sheet, .. } = page;
            return Ok(Fetched { spool, position, epoch, sheet });
        };
        if query.from.as_ref() == Some(&next) || page.cells.is_empty() {
            return Err(ExportError::Pages { why: "a page does not go on" });
        }
        if query.at.is_some_and(|at| at != page.position) {
            return Err(ExportError::Pages { why: "a page is of another position" });
        }
        query.at = Some(page.position);
        query.from = Some(next);
    }
}

fn add_page(spool: &mut Spool, page: &CellsReply) -> Result<(), ExportError> {
    for placed in &page.cells {
        spool.add(placed.row, placed.column, placed.cell.text()).map_err(|fault| match fault {
            spool::Fault::OutOfOrder => ExportError::Pages { why: "cells are out of order" },
            spool::Fault::Io(source) => temporary(source),
        })?;
    }
    Ok(())
}

impl Fetched {
    /// Writes CSV to a stream, standard output for example.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn write_to(self, target: impl Write) -> Result<Exported, ExportError> {
        let fault = |source| ExportError::Unwritable { path: "the output".into(), source };
        let Self { spool, position, epoch, sheet } = self;
        let (rows, columns, cells) = (spool.rows(), spool.columns(), spool.cells());
        if rows.saturating_mul(columns) > EXPORT_MAX_FIELDS {
            return Err(ExportError::TooManyFields { rows, columns });
        }
        rows::write(spool.read().map_err(temporary)?, columns, target).map_err(fault)?;
        Ok(Exported { position, epoch, sheet, rows, columns, cells })
    }

    /// Writes a CSV file: what is at `path` is the old or the new file, whole, whatever happens.
    ///
    /// # Errors
    /// [`ExportError::Exists`] unless `force`, or [`ExportError::Unwritable`].
    pub fn write_file(self, path: &Path, force: bool) -> Result<Exported, ExportError> {
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
        let exported = self.write_to(io::BufWriter::new(file.as_file_mut()))?;
        file.as_file().sync_all().map_err(fault)?;
        let moved = if force { file.persist(path) } else { file.persist_noclobber(path) };
        moved.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => ExportError::Exists { path: path.to_owned() },
            _ => fault(error.error),
        })?;
        sync_folder(folder).map_err(fault)?;
        Ok(exported)
    }
}

fn temporary(source: io::Error) -> ExportError {
    ExportError::Unwritable { path: "a temporary file".into(), source }
}

#[cfg(test)]
mod tests {
    use cellar_core::api::PlacedCell;
    use cellar_core::cell::{Cell, Value};
    use cellar_core::workbook::Extent;

    use super::*;
    use crate::import::{ImportOptions, Plan};

    fn page(cells: Vec<PlacedCell>) -> CellsReply {
        CellsReply {
            sheet: SheetId::FIRST,
            name: "Sheet1".into(),
            position: Position::FIRST,
            epoch: 1,
            extent: Extent::default(),
            formats: Vec::new(),
            formats_cut: false,
            cells,
            next: None,
        }
    }

    fn text(row: u32, column: u32, text: &str) -> PlacedCell {
        let value = if text.is_empty() { Value::Empty } else { Value::Text(text.into()) };
        PlacedCell { row, column, cell: Cell { value, ..Cell::default() } }
    }

    fn fetched(pages: Vec<Vec<PlacedCell>>) -> Result<Fetched, ExportError> {
        let mut spool = Spool::new().unwrap();
        for cells in pages {
            add_page(&mut spool, &page(cells))?;
        }
        Ok(Fetched { spool, position: Position::FIRST, epoch: 1, sheet: SheetId::FIRST })
    }

    fn csv(pages: Vec<Vec<PlacedCell>>) -> String {
        let mut written = Vec::new();
        fetched(pages).unwrap().write_to(&mut written).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn pages_become_padded_rows_and_blank_ends_are_dropped() {
        let pages = vec![
            vec![text(0, 1, "a, \"b\""), text(2, 0, "c")],
            vec![text(2, 2, "d"), text(2, 5, ""), text(9, 0, "")],
        ];
        assert_eq!(csv(pages), ",\"a, \"\"b\"\"\",\n,,\nc,,d\n");
        assert_eq!(csv(vec![]), "");
        assert_eq!(csv(vec![vec![text(1, 0, "below a blank row")]]), "\"\"\nbelow a blank row\n");
    }

    #[test]
    fn pages_out_of_order_are_an_error() {
        for second in [text(0, 0, "again"), text(0, 1, "b")] {
            let pages = vec![vec![text(0, 1, "a")], vec![second]];
            assert!(matches!(fetched(pages), Err(ExportError::Pages { .. })));
        }
    }

    #[test]
    fn a_cell_far_away_does_not_fill_the_disk() {
        let mut written = Vec::new();
        let far = vec![vec![text(1 << 29, 1 << 21, "far")]];
        let error = fetched(far).unwrap().write_to(&mut written).unwrap_err();
        assert!(matches!(error, ExportError::TooManyFields { .. }));
        assert!(written.is_empty());
    }

    #[test]
    fn a_file_is_replaced_only_by_force_and_never_half() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let write = |content: &str, force| {
            fetched(vec![vec![text(0, 0, content)]]).unwrap().write_file(&path, force)
        };
        write("one", false).unwrap();
        assert!(matches!(write("two", false), Err(ExportError::Exists { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n");
        write("two", true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        let far = fetched(vec![vec![text(1 << 29, 1 << 21, "far")]]).unwrap();
        assert!(far.write_file(&path, true).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn real_files_come_out_as_they_went_in() {
        for name in ["airports.csv", "seattle-weather.csv", "us-employment.csv"] {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/");
            let original = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
            let plan = Plan::new(original.as_bytes(), &ImportOptions::default()).unwrap();
            let pages = plan.batches.iter().map(|batch| {
                let cell = |edit: &cellar_core::operation::CellEdit| {
                    let value = edit.value.clone().unwrap();
                    let cell = Cell { value, formula: None, format: edit.format.clone() };
                    PlacedCell { row: edit.row, column: edit.column, cell }
                };
                batch.iter().map(cell).collect()
            });
            let exported = csv(pages.collect());
            let records = |text: &str| -> Vec<csv::StringRecord> {
                let mut reader =
                    csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
                reader.records().map(Result::unwrap).collect()
            };
            assert_eq!(records(&exported), records(&original), "{name}");
        }
    }
}
