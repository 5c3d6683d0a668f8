//! Reads cells at any position of a log.

use std::fmt;

use cellar_api::{wire::CellAt, wire::ReplyFormats};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, json_text_bytes};
use cellar_sheet::metadata::{Extent, FormatLayer, RangeFormat, WorkbookMetadata};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::merge::Window;

use super::row_bands::RowBands;
use super::{LogError, Logs, View};

/// Approximate size in bytes of a cell in a JSON response, excluding its texts.
const CELL_FRAME_BYTES: usize = 96;

/// Selects a sheet by number or by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SheetName {
    /// The first sheet in tab order.
    First,
    /// The sheet with this number.
    Number(SheetId),
    /// The sheet with this name, ignoring case.
    Name(String),
}

impl fmt::Display for SheetName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => Ok(()),
            Self::Number(sheet_id) => write!(formatter, "{}", sheet_id.0),
            Self::Name(name) => formatter.write_str(name),
        }
    }
}

/// Request for the cells in a rectangle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellsQuery {
    pub sheet: SheetName,
    pub rectangle: Rectangle,
    /// Position of the state to read, or `None` for the latest state.
    pub at: Option<Position>,
    /// First cell of the page, in row order. Earlier cells are on earlier pages.
    pub from: Option<CellName>,
    /// Position that the log is known to contain. If a read ends before this position, it is stale
    /// and is repeated.
    pub min_position: Option<Position>,
    /// Whether each cell has the text that it displays.
    pub with_texts: bool,
}

/// Non-blank cells in a rectangle, limited to one response.
#[derive(Debug, Clone, PartialEq)]
pub struct CellsRead {
    /// Position of the state that was read.
    pub position: Position,
    /// How many times the tables had been restored when the entry at `position` was written.
    pub incarnation: u32,
    pub sheet: SheetId,
    pub name: String,
    /// Used range of the sheet, with the cells that results of formulas fill.
    pub extent: Extent,
    /// Range formats that intersect the rectangle, oldest first. Empty on all pages except the
    /// first.
    pub formats: Vec<RangeFormat>,
    /// Whether the oldest formats were omitted because not all formats fit into the response.
    pub formats_cut: bool,
    /// Cells in row order.
    pub cells: Vec<CellAt>,
    /// First cell of the next page, or `None` on the last page.
    pub next: Option<CellName>,
}

impl Logs {
    /// Returns the cells in a rectangle, read from the nearest snapshot and the entries after it.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::UnknownSheet`] if the sheet does not exist, or another [`LogError`] if
    /// the log cannot be read.
    pub async fn cells(&self, log_id: LogId, query: &CellsQuery) -> Result<CellsRead, LogError> {
        let mut view = self.open_view(log_id, query.at, query.min_position).await?;
        let QueriedSheet { id, name, formats } = find_sheet(&view.metadata, query)?;
        let extent = self.roots.invalidate_on_error(log_id, view.used_range(id).await)?;
        let page = read_cell_page(&mut view, id, extent, query, formats.bytes).await;
        let CellPage { cells, next } = self.roots.invalidate_on_error(log_id, page)?;
        Ok(CellsRead {
            position: view.position,
            incarnation: view.incarnation,
            sheet: id,
            name,
            extent,
            formats: formats.newest,
            formats_cut: formats.truncated,
            cells,
            next,
        })
    }
}

struct QueriedSheet {
    id: SheetId,
    name: String,
    formats: ReplyFormats,
}

/// Returns `None` if the sheet does not exist.
pub(super) fn sheet_number(metadata: &WorkbookMetadata, name: &SheetName) -> Option<SheetId> {
    let tabs = &metadata.tabs;
    let sheet_id = match name {
        SheetName::First => tabs.order().first().copied(),
        SheetName::Number(sheet_id) => Some(*sheet_id),
        SheetName::Name(name) => tabs.named(name),
    };
    sheet_id.filter(|id| metadata.sheets.contains_key(id))
}

fn find_sheet(metadata: &WorkbookMetadata, query: &CellsQuery) -> Result<QueriedSheet, LogError> {
    let queried_sheet = sheet_number(metadata, &query.sheet).and_then(|id| {
        let name = metadata.tabs.name(id)?.to_owned();
        let sheet = metadata.sheets.get(&id)?;
        let formats = page_formats(&sheet.formats, query);
        Some(QueriedSheet { id, name, formats })
    });
    queried_sheet.ok_or_else(|| LogError::UnknownSheet { sheet: query.sheet.to_string() })
}

/// All formats are sent on the first page, so other pages contain none.
fn page_formats(formats: &FormatLayer, query: &CellsQuery) -> ReplyFormats {
    match query.from {
        None => ReplyFormats::newest_of(formats.in_rectangle(query.rectangle)),
        Some(_) => ReplyFormats::default(),
    }
}

struct CellPage {
    cells: Vec<CellAt>,
    next: Option<CellName>,
}

/// `reply_bytes` is the size of the response without the cells. Reads a band of rows at a time, so
/// that few tiles are loaded whose cells do not fit on the page.
async fn read_cell_page(
    view: &mut View,
    sheet: SheetId,
    extent: Extent,
    query: &CellsQuery,
    mut reply_bytes: usize,
) -> Result<CellPage, LogError> {
    let Rectangle { first, last } = query.rectangle;
    let page_start = query.from.unwrap_or(first);
    let columns = first.column..last.column.saturating_add(1).min(extent.columns);
    let page_rows = first.row.max(page_start.row)..last.row.saturating_add(1).min(extent.rows);
    let mut cells = Vec::new();
    if columns.is_empty() {
        return Ok(CellPage { cells, next: None });
    }
    let mut bands = RowBands::new(page_rows, columns.end - columns.start);
    while let Some(rows) = bands.next_rows() {
        let window = Window { rows, columns: columns.clone() };
        let band_cells = view.cells(sheet, &window).await?;
        bands.adapt_height(band_cells.len());
        for tile_cell in band_cells {
            let TileCell { row, column, .. } = tile_cell;
            if (row, column) < (page_start.row, page_start.column) {
                continue;
            }
            reply_bytes =
                reply_bytes.saturating_add(weight_bytes(&tile_cell.cell) + note_bytes(&tile_cell));
            let text = query.with_texts.then(|| tile_cell.cell.text());
            reply_bytes = reply_bytes.saturating_add(text.as_deref().map_or(0, text_bytes));
            let is_page_full = reply_bytes > MAX_REPLY_BYTES && !cells.is_empty();
            if is_page_full {
                return Ok(CellPage { cells, next: Some(CellName { row, column }) });
            }
            cells.push(CellAt { text, ..tile_cell.into() });
        }
    }
    Ok(CellPage { cells, next: None })
}

fn text_bytes(text: &str) -> usize {
    const TEXT_BYTES: usize = ",\"text\":".len();
    TEXT_BYTES + json_text_bytes(text)
}

pub(super) fn note_bytes(cell: &TileCell) -> usize {
    const STALE_BYTES: usize = ",\"stale\":true,\"note\":".len();
    const FILLED_BYTES: usize = ",\"filled_by\":\"AAAAAA1073741824\"".len();
    const FILLS_BYTES: usize = 2 * FILLED_BYTES;
    let note_bytes = cell.note.as_deref().map_or(0, |note| STALE_BYTES + json_text_bytes(note));
    let filled_bytes = if cell.filled_by.is_some() { FILLED_BYTES } else { 0 };
    let fills_bytes = if cell.fills.is_some() { FILLS_BYTES } else { 0 };
    note_bytes + filled_bytes + fills_bytes
}

fn weight_bytes(cell: &Cell) -> usize {
    let text_bytes = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES
        + cell.value.json_bytes()
        + text_bytes(&cell.formula)
        + text_bytes(&cell.format)
}
