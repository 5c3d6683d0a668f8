//! Exports sheets as an XLSX file.

use std::io::{Seek, Write};
use std::path::Path;

use cellar_api::{wire::CellAt, wire::CellsReply, wire::SheetView, wire::SheetsReply};
use cellar_base::position::Position;
use cellar_exchange::{CellToWrite, WriteError, XlsxWriter};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;

use super::{ExportError, Exported, ExportedSheet, write_error, write_output_file};
use crate::sheet_deletion::find_sheet;
use crate::{CellsQuery, Spreadsheet};

/// A workbook with the cells at one position, stored in temporary files.
pub struct XlsxExport {
    writer: XlsxWriter,
    exported: Exported,
}

/// Reads all cells at one position and stores them in temporary files. If `query` selects a sheet,
/// only the cells of this sheet are read. `report_progress` is called with the number of cells read
/// so far.
///
/// # Errors
///
/// Returns an [`ExportError`] if a request fails or a temporary file cannot be written.
pub async fn fetch_xlsx(
    spreadsheet: &Spreadsheet,
    query: CellsQuery,
    mut report_progress: impl FnMut(u64),
) -> Result<XlsxExport, ExportError> {
    let reply = spreadsheet.request_sheets(query.at, query.min_position).await?;
    let position = reply.position;
    let mut export = XlsxExport::new(position, reply.incarnation)?;
    for SheetView { sheet, name, .. } in selected_sheets(&reply, query.sheet.as_deref()) {
        export.start_sheet(sheet, &name)?;
        let sheet_query =
            CellsQuery { sheet: Some(name), at: Some(position), ..CellsQuery::default() };
        let mut pages = spreadsheet.cell_pages(sheet_query);
        while let Some(page) = pages.try_next().await? {
            export.add_page(&page)?;
            report_progress(export.cell_count());
        }
    }
    Ok(export)
}

/// The given name is returned even if no sheet has this name, so that the server's error is
/// reported when the cells are requested.
fn selected_sheets(reply: &SheetsReply, selected_name: Option<&str>) -> Vec<SheetView> {
    let Some(selected_name) = selected_name else { return reply.sheets.clone() };
    let selected_sheet = match find_sheet(&reply.sheets, selected_name) {
        Some(sheet) => sheet.clone(),
        None => SheetView {
            sheet: SheetId::FIRST,
            name: selected_name.to_owned(),
            extent: Extent::default(),
        },
    };
    vec![selected_sheet]
}

impl XlsxExport {
    fn new(position: Position, incarnation: u32) -> Result<Self, ExportError> {
        let writer = XlsxWriter::new(None).map_err(temporary_file_error)?;
        Ok(Self { writer, exported: Exported { position, incarnation, sheets: Vec::new() } })
    }

    fn start_sheet(&mut self, sheet: SheetId, name: &str) -> Result<(), ExportError> {
        let name_in_file = self.writer.start_sheet(name).map_err(temporary_file_error)?;
        self.exported.sheets.push(ExportedSheet {
            sheet,
            name: name_in_file,
            rows: 0,
            columns: 0,
            cells: 0,
            formulas: 0,
            formula_like_texts: 0,
        });
        Ok(())
    }

    fn add_page(&mut self, page: &CellsReply) -> Result<(), ExportError> {
        let Some(sheet) = self.exported.sheets.last_mut() else { return Ok(()) };
        for CellAt { row, column, cell } in &page.cells {
            let out_cell = CellToWrite {
                value: &cell.value,
                formula: cell.formula.as_deref(),
                format: cell.format.as_deref(),
            };
            self.writer.write_cell(*row, *column, &out_cell).map_err(temporary_file_error)?;
            sheet.rows = u64::from(*row) + 1;
            sheet.columns = sheet.columns.max(u64::from(*column) + 1);
            sheet.cells += 1;
            sheet.formulas += u64::from(cell.formula.is_some());
        }
        Ok(())
    }

    fn cell_count(&self) -> u64 {
        self.exported.sheets.iter().map(|sheet| sheet.cells).sum()
    }

    /// Writes the XLSX file to a target that supports seeking.
    ///
    /// # Errors
    ///
    /// Returns an [`ExportError`] if the target cannot be written.
    pub fn write_to(self, target: impl Write + Seek + Send) -> Result<Exported, ExportError> {
        self.write(target, Path::new("the output"))
    }

    /// Writes a file with [`crate::user_file::write_user_file`].
    ///
    /// # Errors
    ///
    /// Returns [`ExportError::Exists`] if the file exists and `force` is not set, or
    /// [`ExportError::Unwritable`] if the file cannot be written.
    pub fn write_file(self, path: &Path, force: bool) -> Result<Exported, ExportError> {
        write_output_file(path, force, |file| self.write(file, path))
    }

    fn write(self, target: impl Write + Seek + Send, path: &Path) -> Result<Exported, ExportError> {
        self.writer.finish(target).map_err(|error| write_error(path, error))?;
        Ok(self.exported)
    }
}

fn temporary_file_error(error: WriteError) -> ExportError {
    write_error(Path::new("a temporary file"), error)
}
