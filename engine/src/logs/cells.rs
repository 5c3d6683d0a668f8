//! Materialised cells at any position in history.

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

/// About how many bytes of JSON a cell takes besides its texts.
const CELL_FRAME_BYTES: usize = 96;
/// Cells of the first band that is read for a page: about as many as fit one.
const BAND_CELLS: u32 = 32 * 1024;
/// Cells of a band that is said to be sparse.
const SPARSE_BAND_CELLS: usize = 8 * 1024;

/// A sheet, by number or by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SheetName {
    /// The first tab.
    First,
    /// By its number.
    Number(SheetId),
    /// By its name, whatever the case of its letters.
    Name(String),
}

/// Which cells to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellsQuery {
    /// The sheet.
    pub sheet: SheetName,
    /// The rectangle.
    pub rectangle: Rectangle,
    /// The position in history; the newest if none.
    pub at: Option<Position>,
    /// Cells before this one, row by row, were in earlier pages.
    pub from: Option<CellName>,
    /// The answer is never older than this.
    pub seen: Option<Position>,
}

/// The cells that are not blank, as many as fit one reply.
#[derive(Debug, Clone, PartialEq)]
pub struct CellsRead {
    /// The position at which these are the cells.
    pub position: Position,
    /// The incarnation there.
    pub incarnation: u32,
    /// The sheet's number.
    pub sheet: SheetId,
    /// Its name.
    pub name: String,
    /// How far the sheet was ever written to.
    pub extent: Extent,
    /// The formats of ranges that meet the rectangle, oldest first; on the first page only.
    pub formats: Vec<RangeFormat>,
    /// Whether the oldest formats are missing, because there are more than fit one reply.
    pub formats_cut: bool,
    /// The cells, by row and column.
    pub cells: Vec<CellAt>,
    /// If the cells were cut: the first cell that is not in this reply.
    pub next: Option<CellName>,
}

impl Logs {
    /// Reads cells: from the nearest snapshot and the entries behind it.
    ///
    /// # Errors
    /// [`LogError::UnknownSheet`]; otherwise as [`Logs::view`].
    pub async fn cells(&self, log: LogId, query: &CellsQuery) -> Result<CellsRead, LogError> {
        let mut view = self.view(log, query.at, query.seen).await?;
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
        let formats = formats(&sheet.formats, query);
        let page = page(&mut view, id, extent, query, formats.bytes).await;
        let (cells, next) = self.roots.heed(log, page)?;
        Ok(CellsRead {
            position: view.position,
            incarnation: view.incarnation,
            sheet: id,
            name,
            extent,
            formats: formats.newest,
            formats_cut: formats.cut,
            cells,
            next,
        })
    }
}

/// The formats that a page sends. Every page would have the same: only the first has any.
fn formats(formats: &FormatLayer, query: &CellsQuery) -> ReplyFormats {
    match query.from {
        None => ReplyFormats::newest_of(formats.in_rectangle(query.rectangle)),
        Some(_) => ReplyFormats::default(),
    }
}

/// The cells from where the page before ended, and where this one ends; `bytes` of it are taken. Read
/// band by band, so that no more tiles are loaded than the page has room for.
async fn page(
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
        // Where there is little, more rows at once.
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
    let length = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES + cell.value.json_bytes() + length(&cell.formula) + length(&cell.format)
}
