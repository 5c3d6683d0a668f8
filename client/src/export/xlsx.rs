//! Exports sheets as an XLSX file.

use std::io::{Seek, Write};
use std::path::Path;

use cellar_api::{wire::CellAt, wire::NameView, wire::SheetView, wire::SheetsReply};
use cellar_base::limits::MAX_READ_BEGINNINGS;
use cellar_base::position::Position;
use cellar_exchange::{CellToWrite, EXCEL_COLUMNS, EXCEL_ROWS, Spill, WriteError, XlsxWriter};
use cellar_sheet::a1::{CellName, Range};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{Extent, SheetNumbers, Tabs};
use cellar_sheet::operation::{SetName, SheetId};
use cellar_snapshot::cells::visible_cells;

use super::{
    ExportError, Exported, ExportedSheet, is_object_missing, write_error, write_output_file,
};
use crate::reader::{Reader, SheetPart, StoredBand};
use crate::sheet_deletion::find_sheet;
use crate::{CellsQuery, Spreadsheet};

/// A workbook with the cells at one position, stored in temporary files.
pub struct XlsxExport {
    writer: XlsxWriter,
    /// Numbers of the exported sheets and their names in the file.
    sheets: Vec<(SheetId, String)>,
    exported: Exported,
}

/// Reads all cells at one position and stores them in temporary files. If `query` selects a sheet,
/// only the cells of this sheet are read. `report_progress` is called with the number of cells read
/// so far.
///
/// The cells are read from the chunks of the snapshot. If an earlier position cannot be read from
/// chunks, the server reads it.
///
/// # Errors
///
/// Returns an [`ExportError`] if a request fails or a temporary file cannot be written.
pub async fn fetch_xlsx(
    spreadsheet: &Spreadsheet,
    query: CellsQuery,
    mut report_progress: impl FnMut(u64),
) -> Result<XlsxExport, ExportError> {
    // The futures are large, so that they are not part of those of the callers.
    let sheet = query.sheet.as_deref();
    if let Some(at) = query.at.filter(|_| query.selects_whole_sheet())
        && let Some(mut reader) = Reader::open_whole_at(spreadsheet, at).await?
    {
        let export =
            Box::pin(read_chunks(spreadsheet, &mut reader, sheet, &mut report_progress)).await;
        if !is_object_missing(&export) {
            return export;
        }
    }
    if query.at.is_some() || !query.selects_whole_sheet() {
        return Box::pin(fetch_xlsx_pages(spreadsheet, query, report_progress)).await;
    }
    let mut reader = Reader::open_whole(spreadsheet, query.min_position).await?;
    let mut beginnings_left = MAX_READ_BEGINNINGS;
    loop {
        let export =
            Box::pin(read_chunks(spreadsheet, &mut reader, sheet, &mut report_progress)).await;
        if !is_object_missing(&export) || !reader.begin_again(&mut beginnings_left).await? {
            return export;
        }
    }
}

/// Reads all cells like [`fetch_xlsx`], but always from the server.
///
/// # Errors
///
/// Returns an [`ExportError`] if a request fails or a temporary file cannot be written.
pub async fn fetch_xlsx_pages(
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
            export.add_cells(&page.cells)?;
            report_progress(export.cell_count());
        }
    }
    export.add_names(&reply);
    Ok(export)
}

async fn read_chunks(
    spreadsheet: &Spreadsheet,
    reader: &mut Reader,
    selected_sheet: Option<&str>,
    mut report_progress: impl FnMut(u64),
) -> Result<XlsxExport, ExportError> {
    let reply = spreadsheet.request_sheets(Some(reader.position()), None).await?;
    let mut export = XlsxExport::new(reader.position(), reader.incarnation())?;
    for SheetView { sheet, name, .. } in selected_sheets(&reply, selected_sheet) {
        export.start_sheet(sheet, &name)?;
        let add = |part: SheetPart<Vec<CellAt>>| {
            let (SheetPart::Encoded(cells) | SheetPart::Displayed(cells)) = part;
            export.add_cells(&cells)?;
            report_progress(export.cell_count());
            Ok::<(), ExportError>(())
        };
        reader.read_sheet(Some(&name), displayed_cells, add).await?;
    }
    export.add_names(&reply);
    Ok(export)
}

fn displayed_cells(band: &StoredBand<'_>) -> Vec<CellAt> {
    visible_cells(band.tile, band.formats).into_iter().map(CellAt::from).collect()
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

fn spill_of(cell: &CellAt) -> Spill {
    let fills = cell.fills.as_ref().and_then(|cells| cells.parse::<Range>().ok());
    match fills.map(|range| range.rectangle) {
        Some(cells) => Spill::Anchor {
            rows: cells.last.row - cells.first.row + 1,
            columns: cells.last.column - cells.first.column + 1,
        },
        None if cell.filled_by.is_some() => Spill::Spilled,
        None => Spill::None,
    }
}

impl XlsxExport {
    fn new(position: Position, incarnation: u32) -> Result<Self, ExportError> {
        let writer = XlsxWriter::new(None).map_err(temporary_file_error)?;
        let exported =
            Exported { position, incarnation, sheets: Vec::new(), names: 0, omitted_names: 0 };
        Ok(Self { writer, sheets: Vec::new(), exported })
    }

    fn start_sheet(&mut self, sheet: SheetId, name: &str) -> Result<(), ExportError> {
        let name_in_file = self.writer.start_sheet(name).map_err(temporary_file_error)?;
        self.sheets.push((sheet, name_in_file.clone()));
        self.exported.sheets.push(ExportedSheet {
            sheet,
            name: name_in_file,
            rows: 0,
            columns: 0,
            cells: 0,
            formulas: 0,
            stale_formulas: 0,
            formula_like_texts: 0,
        });
        Ok(())
    }

    fn add_cells(&mut self, cells: &[CellAt]) -> Result<(), ExportError> {
        let Some(sheet) = self.exported.sheets.last_mut() else { return Ok(()) };
        for shown in cells {
            let CellAt { row, column, cell, stale, .. } = shown;
            let out_cell = CellToWrite {
                value: &cell.value,
                formula: cell.formula.as_deref(),
                format: cell.format.as_deref(),
                spill: spill_of(shown),
            };
            self.writer.write_cell(*row, *column, &out_cell).map_err(temporary_file_error)?;
            sheet.rows = u64::from(*row) + 1;
            sheet.columns = sheet.columns.max(u64::from(*column) + 1);
            sheet.cells += 1;
            sheet.formulas += u64::from(cell.formula.is_some());
            sheet.stale_formulas += u64::from(*stale);
        }
        Ok(())
    }

    /// Adds the names whose cells are in the file.
    fn add_names(&mut self, reply: &SheetsReply) {
        let sheets = reply.sheets.iter().map(|sheet| (sheet.sheet, sheet.name.clone()));
        let tabs = Tabs::from_parts(sheets.collect(), SheetNumbers::default());
        let tabs_in_file = Tabs::from_parts(self.sheets.clone(), SheetNumbers::default());
        for NameView { name, formula } in &reply.names {
            match formula_in_file(name, formula, &tabs, &tabs_in_file) {
                Some(formula) => {
                    self.writer.define_name(name, &formula);
                    self.exported.names += 1;
                }
                None => self.exported.omitted_names += 1,
            }
        }
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

/// Returns `None` if the formula refers to sheets that are not exported, or to cells outside the
/// sheets of Excel.
fn formula_in_file(name: &str, formula: &str, tabs: &Tabs, tabs_in_file: &Tabs) -> Option<String> {
    const ANY_CELL: CellName = CellName { row: 0, column: 0 };
    let set = SetName::restored(name, formula, tabs)?;
    let template = set.template()?;
    let is_in_file = set.sheets.values().all(|sheet| tabs_in_file.name(*sheet).is_some());
    let are_in_excel = template.references_at(ANY_CELL).all(|reference| {
        let ends_before = |axis, limit| {
            let ends = reference.area.ends(axis);
            ends.is_none_or(|ends| ends.last.index < limit)
        };
        ends_before(Axis::Rows, EXCEL_ROWS) && ends_before(Axis::Columns, EXCEL_COLUMNS)
    });
    (is_in_file && are_in_excel).then(|| template.text_at(ANY_CELL, tabs_in_file))
}

fn temporary_file_error(error: WriteError) -> ExportError {
    write_error(Path::new("a temporary file"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_with_the_sheets_of_the_file_or_left_out() {
        let tabs = |sheets: &[(u32, &str)]| {
            let sheets = sheets.iter().map(|(number, name)| (SheetId(*number), (*name).to_owned()));
            Tabs::from_parts(sheets.collect(), SheetNumbers::default())
        };
        let (here, in_file) = (tabs(&[(0, "a"), (3, "b")]), tabs(&[(3, "b (2)")]));
        for (formula, expected) in [
            ("=0.19", Some("=0.19")),
            ("=SUM(b!$B$2:$B$10)", Some("=SUM('b (2)'!$B$2:$B$10)")),
            ("=b!$A:$B", Some("='b (2)'!$A:$B")),
            ("=b!$XFD$1048576", Some("='b (2)'!$XFD$1048576")),
            ("=#REF!", Some("=#REF!")),
            ("=b!$XFE$1", None),
            ("=b!$A$1:$A$1048577", None),
            ("=b!$A$1+a!$A$1", None),
        ] {
            let written = formula_in_file("x", formula, &here, &in_file);
            assert_eq!(written.as_deref(), expected, "{formula}");
        }
    }
}
