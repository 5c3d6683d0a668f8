//! Materialised cells at any position in history, by replay.

use cellar_core::a1::{CellName, Rectangle};
use cellar_core::api::PlacedCell;
use cellar_core::cell::{Cell, json_text_bytes};
use cellar_core::identity::LogId;
use cellar_core::limits::MAX_REPLY_BYTES;
use cellar_core::operation::SheetId;
use cellar_core::position::Position;
use cellar_core::workbook::{Extent, RangeFormat, Sheet};

use super::{LogError, Logs};

/// About how many bytes of JSON a cell takes besides its texts.
const CELL_FRAME_BYTES: usize = 96;

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
    /// The epoch there.
    pub epoch: u32,
    /// The sheet's number.
    pub sheet: SheetId,
    /// Its name.
    pub name: String,
    /// How far the sheet was ever written to.
    pub extent: Extent,
    /// The formats of ranges that meet the rectangle, oldest first.
    pub formats: Vec<RangeFormat>,
    /// The cells, by row and column.
    pub cells: Vec<PlacedCell>,
    /// If the cells were cut: the first cell that is not in this reply.
    pub next: Option<CellName>,
}

impl Logs {
    /// Reads cells by replaying the log from its beginning.
    ///
    /// # Errors
    /// [`LogError::UnknownSheet`]; otherwise as [`Logs::workbook`].
    pub async fn cells(&self, log: LogId, query: &CellsQuery) -> Result<CellsRead, LogError> {
        let read = self.workbook(log, query.at, query.seen).await?;
        let id = match &query.sheet {
            SheetName::First => read.workbook.sheets().next().map(|(id, _)| id),
            SheetName::Number(id) => Some(*id),
            SheetName::Name(name) => read.workbook.sheet_named(name),
        };
        let found = id.and_then(|id| Some((id, read.workbook.sheet(id)?)));
        let (id, sheet) = found.ok_or_else(|| LogError::UnknownSheet {
            sheet: match &query.sheet {
                SheetName::First => String::new(),
                SheetName::Number(id) => id.0.to_string(),
                SheetName::Name(name) => name.clone(),
            },
        })?;
        let (cells, next) = page(sheet, query);
        Ok(CellsRead {
            position: read.position,
            epoch: read.epoch,
            sheet: id,
            name: sheet.name().to_owned(),
            extent: sheet.extent(),
            formats: sheet.formats().in_rectangle(query.rectangle),
            cells,
            next,
        })
    }
}

/// The cells from where the page before ended, and where this one ends.
fn page(sheet: &Sheet, query: &CellsQuery) -> (Vec<PlacedCell>, Option<CellName>) {
    let start = query.from.map_or((0, 0), |cell| (cell.row, cell.column));
    let mut rectangle = query.rectangle;
    rectangle.first.row = rectangle.first.row.max(start.0);
    let (mut cells, mut bytes) = (Vec::new(), 0_usize);
    for ((row, column), cell) in sheet.cells_in(rectangle).filter(|(place, _)| *place >= start) {
        bytes = bytes.saturating_add(weight_bytes(&cell));
        if bytes > MAX_REPLY_BYTES && !cells.is_empty() {
            return (cells, Some(CellName { row, column }));
        }
        cells.push(PlacedCell { row, column, cell });
    }
    (cells, None)
}

fn weight_bytes(cell: &Cell) -> usize {
    let length = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES + cell.value.json_bytes() + length(&cell.formula) + length(&cell.format)
}
