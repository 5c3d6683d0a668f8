//! A workbook as xlsx: its sheets one after the other, cells as they come.

use std::io::{Seek, Write};
use std::path::Path;

use cellar_api::{wire::CellsReply, wire::SheetView, wire::SheetsReply};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_exchange::{OutCell, WriteError, XlsxWriter};
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::Extent;

use super::{ExportError, Exported, ExportedSheet, pages, put_in_place, unwritten};
use crate::sheet_deletion::find_sheet;
use crate::{CellsQuery, Client};

/// A workbook at one position, put aside on disk.
pub struct XlsxExport {
    writer: XlsxWriter,
    exported: Exported,
}

/// Reads all sheets, or the one in `query`, at one position. `progress` is told the cells so far.
///
/// # Errors
/// [`ExportError`].
pub async fn fetch_xlsx(
    client: &Client,
    spreadsheet: LogId,
    query: CellsQuery,
    mut progress: impl FnMut(u64),
) -> Result<XlsxExport, ExportError> {
    let all = client.sheets(spreadsheet, query.at, query.min_position).await?;
    let position = all.position;
    let mut export = XlsxExport::new(position, all.incarnation)?;
    for SheetView { sheet, name, .. } in chosen(&all, query.sheet.as_deref()) {
        export.begin(sheet, &name)?;
        let of = CellsQuery { sheet: Some(name), at: Some(position), ..CellsQuery::default() };
        pages(client, spreadsheet, of, |page| {
            export.page(page)?;
            progress(export.cells());
            Ok(())
        })
        .await?;
    }
    Ok(export)
}

/// The sheets that are wanted. One that is not there is asked for all the same: the server's answer
/// says what to do.
fn chosen(all: &SheetsReply, name: Option<&str>) -> Vec<SheetView> {
    let Some(name) = name else { return all.sheets.clone() };
    let absent =
        || SheetView { sheet: SheetId::FIRST, name: name.to_owned(), extent: Extent::default() };
    vec![find_sheet(&all.sheets, name).cloned().unwrap_or_else(absent)]
}

impl XlsxExport {
    fn new(position: Position, incarnation: u32) -> Result<Self, ExportError> {
        let writer = XlsxWriter::new(None).map_err(put_aside)?;
        Ok(Self { writer, exported: Exported { position, incarnation, sheets: Vec::new() } })
    }

    fn begin(&mut self, sheet: SheetId, name: &str) -> Result<(), ExportError> {
        let name = self.writer.sheet(name).map_err(put_aside)?;
        self.exported.sheets.push(ExportedSheet {
            sheet,
            name,
            rows: 0,
            columns: 0,
            cells: 0,
            formulas: 0,
            formula_like_texts: 0,
        });
        Ok(())
    }

    fn page(&mut self, page: &CellsReply) -> Result<(), ExportError> {
        let Some(sheet) = self.exported.sheets.last_mut() else { return Ok(()) };
        for placed in &page.cells {
            let cell = &placed.cell;
            let (formula, format) = (cell.formula.as_deref(), cell.format.as_deref());
            let out = OutCell { value: &cell.value, formula, format };
            self.writer.cell(placed.row, placed.column, &out).map_err(put_aside)?;
            sheet.rows = u64::from(placed.row).saturating_add(1);
            sheet.columns = sheet.columns.max(u64::from(placed.column).saturating_add(1));
            sheet.cells = sheet.cells.saturating_add(1);
            sheet.formulas += u64::from(cell.formula.is_some());
        }
        Ok(())
    }

    fn cells(&self) -> u64 {
        self.exported.sheets.iter().map(|sheet| sheet.cells).sum()
    }

    /// Writes it to a target that can be written at any place.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn write_to(self, target: impl Write + Seek + Send) -> Result<Exported, ExportError> {
        self.write(target, Path::new("the output"))
    }

    /// Writes a file, as [`crate::user_file::write_user_file`] does.
    ///
    /// # Errors
    /// [`ExportError::Exists`] unless `force`, or [`ExportError::Unwritable`].
    pub fn write_file(self, path: &Path, force: bool) -> Result<Exported, ExportError> {
        put_in_place(path, force, |file| self.write(file, path))
    }

    fn write(self, target: impl Write + Seek + Send, path: &Path) -> Result<Exported, ExportError> {
        self.writer.finish(target).map_err(|error| unwritten(path, error))?;
        Ok(self.exported)
    }
}

/// A fault of what is put aside until all is there.
fn put_aside(error: WriteError) -> ExportError {
    unwritten(Path::new("a temporary file"), error)
}
