//! Reads cells at any position in history.

use cellar_api::{wire::CellAt, wire::ReplyFormats};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, json_text_bytes};
use cellar_sheet::metadata::{Extent, FormatLayer, RangeFormat};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::merge::Window;

use super::{LogError, Logs, View};

/// Approximate JSON size of a cell in bytes, excluding its texts.
const CELL_FRAME_BYTES: usize = 96;
/// Number of cells in the first band of rows that a page reads.
const BAND_CELLS: u32 = 32 * 1024;
/// Number of non-blank cells below which a band is sparse. After a sparse band, the band height is
/// doubled.
const SPARSE_BAND_CELLS: usize = 8 * 1024;

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

/// Request for the cells of a rectangle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellsQuery {
    pub sheet: SheetName,
    pub rectangle: Rectangle,
    /// Position in history to read; defaults to the latest position.
    pub at: Option<Position>,
    /// First cell to return, in row order. Earlier cells were returned by earlier pages.
    pub from: Option<CellName>,
    /// Minimum position of the state to read.
    pub min_position: Option<Position>,
}

/// Non-blank cells of a rectangle, limited to one response.
#[derive(Debug, Clone, PartialEq)]
pub struct CellsRead {
    /// Position of the state that was read.
    pub position: Position,
    /// Incarnation (restore counter) of the tables at `position`.
    pub incarnation: u32,
    pub sheet: SheetId,
    pub name: String,
    /// Used range of the sheet.
    pub extent: Extent,
    /// Range formats that intersect the rectangle, oldest first. Only the first page contains
    /// formats.
    pub formats: Vec<RangeFormat>,
    /// Whether the oldest formats were dropped because the formats exceed the maximum response
    /// size.
    pub formats_cut: bool,
    /// Cells in row order.
    pub cells: Vec<CellAt>,
    /// First cell of the next page, or `None` on the last page.
    pub next: Option<CellName>,
}

impl Logs {
    /// Reads cells from the nearest snapshot and the entries after it.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::UnknownSheet`] if the sheet does not exist, and the same errors as
    /// [`Logs::view`].
    pub async fn cells(&self, log: LogId, query: &CellsQuery) -> Result<CellsRead, LogError> {
        let mut view = self.view(log, query.at, query.min_position).await?;
        let tabs = &view.metadata.tabs;
        let id = match &query.sheet {
            SheetName::First => tabs.order().first().copied(),
            SheetName::Number(id) => Some(*id),
            SheetName::Name(name) => tabs.named(name),
        };
        let found = id.and_then(|id| Some((id, tabs.name(id)?, view.metadata.sheets.get(&id)?)));
        let (id, name, sheet) = found.ok_or_else(|| LogError::UnknownSheet {
            sheet: match &query.sheet {
                SheetName::First => String::new(),
                SheetName::Number(id) => id.0.to_string(),
                SheetName::Name(name) => name.clone(),
            },
        })?;
        let (name, extent) = (name.to_owned(), sheet.extent);
        let formats = page_formats(&sheet.formats, query);
        let page = read_page(&mut view, id, extent, query, formats.bytes).await;
        let (cells, next) = self.roots.invalidate_on_error(log, page)?;
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

/// Returns the formats for a page. Only the first page includes them, since they are the same for
/// all pages.
fn page_formats(formats: &FormatLayer, query: &CellsQuery) -> ReplyFormats {
    match query.from {
        None => ReplyFormats::newest_of(formats.in_rectangle(query.rectangle)),
        Some(_) => ReplyFormats::default(),
    }
}

/// Reads one page of cells and returns them with the first cell of the next page. `bytes` is the
/// size of the response so far. Cells are read in bands of rows, to avoid loading many tiles that
/// do not fit on the page.
async fn read_page(
    view: &mut View,
    sheet: SheetId,
    extent: Extent,
    query: &CellsQuery,
    mut bytes: usize,
) -> Result<(Vec<CellAt>, Option<CellName>), LogError> {
    let start = query.from.map_or((0, 0), |cell| (cell.row, cell.column));
    let Rectangle { first, last } = query.rectangle;
    let columns = first.column..last.column.saturating_add(1).min(extent.columns);
    let end = last.row.saturating_add(1).min(extent.rows);
    let mut row = first.row.max(start.0);
    let mut band_rows =
        (BAND_CELLS / u32::try_from(columns.len()).unwrap_or(u32::MAX).max(1)).max(1);
    let mut cells = Vec::new();
    while row < end && !columns.is_empty() {
        let band_end = row.saturating_add(band_rows).min(end);
        let window = Window { rows: row..band_end, columns: columns.clone() };
        let found = view.cells(sheet, &window).await?;
        // In sparse regions, read more rows at a time.
        if found.len() < SPARSE_BAND_CELLS {
            band_rows = band_rows.saturating_mul(2);
        }
        for placed in found.into_iter().filter(|placed| (placed.row, placed.column) >= start) {
            let (row, column, cell) = (placed.row, placed.column, placed.cell);
            bytes = bytes.saturating_add(weight_bytes(&cell));
            if bytes > MAX_REPLY_BYTES && !cells.is_empty() {
                return Ok((cells, Some(CellName { row, column })));
            }
            cells.push(CellAt { row, column, cell });
        }
        row = band_end;
    }
    Ok((cells, None))
}

fn weight_bytes(cell: &Cell) -> usize {
    let text_bytes = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES
        + cell.value.json_bytes()
        + text_bytes(&cell.formula)
        + text_bytes(&cell.format)
}
