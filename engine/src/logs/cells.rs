//! Materialised cells at any position in history, by replay.

use std::ops::ControlFlow;

use cellar_core::a1::{CellName, Rectangle};
use cellar_core::api::PlacedCell;
use cellar_core::cell::{Cell, json_text_bytes};
use cellar_core::identity::LogId;
use cellar_core::limits::MAX_REPLY_BYTES;
use cellar_core::operation::SheetId;
use cellar_core::position::Position;
use cellar_core::replay::{Extent, Replay};

use super::{LogError, Logs};

/// About how many bytes of JSON a cell takes besides its texts.
const CELL_FRAME_BYTES: usize = 96;

/// Which cells to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellsQuery {
    /// The sheet.
    pub sheet: SheetId,
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
    /// How far the sheet was ever written to.
    pub extent: Extent,
    /// The cells, by row and column.
    pub cells: Vec<PlacedCell>,
    /// If the cells were cut: the first cell that is not in this reply.
    pub next: Option<CellName>,
}

impl Logs {
    /// Reads cells by replaying the log from its beginning.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::NoSuchPosition`], [`LogError::TooManyCells`],
    /// [`LogError::Corrupt`], [`LogError::Store`].
    pub async fn cells(&self, log: LogId, query: CellsQuery) -> Result<CellsRead, LogError> {
        let mut replay = Replay::new(query.sheet, query.rectangle);
        let mut newest = None;
        // Not even an empty log is believed to be absent on a stale read.
        let must_reach = query.at.max(query.seen).max(Some(Position::FIRST));
        self.walk(log, Position::FIRST, must_reach, |entry| {
            if query.at.is_some_and(|at| entry.position > at) {
                return Ok(ControlFlow::Break(()));
            }
            newest = Some((entry.position, entry.header.epoch));
            replay.apply(entry)?;
            let there = query.at == Some(entry.position);
            Ok(if there { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .await?;
        let (position, epoch) = newest.ok_or(LogError::NotFound)?;
        match query.at {
            // Beyond the end, or between the end of one segment and the next.
            Some(at) if position < at => Err(LogError::NoSuchPosition { at, newest: position }),
            _ => Ok(page(&replay, query.from, position, epoch)),
        }
    }
}

fn page(replay: &Replay, from: Option<CellName>, position: Position, epoch: u32) -> CellsRead {
    let start = from.map_or((0, 0), |cell| (cell.row, cell.column));
    let (mut cells, mut next, mut bytes) = (Vec::new(), None, 0_usize);
    for ((row, column), cell) in replay.cells().range(start..) {
        bytes = bytes.saturating_add(weight_bytes(cell));
        if bytes > MAX_REPLY_BYTES && !cells.is_empty() {
            next = Some(CellName { row: *row, column: *column });
            break;
        }
        cells.push(PlacedCell { row: *row, column: *column, cell: cell.clone() });
    }
    CellsRead { position, epoch, extent: replay.extent(), cells, next }
}

fn weight_bytes(cell: &Cell) -> usize {
    let length = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES + cell.value.json_bytes() + length(&cell.formula) + length(&cell.format)
}
