//! `GET /v1/spreadsheets/{id}/history` and `…/diff`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::Need;
use cellar_core::api::{DiffReply, HistoryReply, PlacedCell, Problem};
use cellar_core::cell::{Cell, json_text_bytes};
use cellar_core::identity::LogId;
use cellar_core::limits::{MAX_PAGE_ENTRIES, MAX_REPLY_BYTES};
use cellar_core::position::Position;
use cellar_core::workbook::{CellDiff, SheetDiff};
use serde::Deserialize;

use super::auth::Caller;
use super::entries::views;
use super::extract::{Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Entries of one reply if the caller does not say.
const DEFAULT_ENTRIES: u32 = 100;
/// About how many bytes of JSON a cell takes besides its texts.
const CELL_FRAME_BYTES: usize = 160;

/// Which entries.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryParameters {
    from: Option<Position>,
    limit: Option<u32>,
}

/// Entries with author and time, newest first.
#[utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/history",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("from" = Option<Position>, Query, description = "The newest wanted; the head if absent"),
        ("limit" = Option<u32>, Query, description = "How many at most, up to 1,000; 100 if absent"),
    ),
    responses(
        (status = 200, description = "The entries", body = HistoryReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
)]
pub(super) async fn history(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<HistoryParameters>,
) -> Result<Json<HistoryReply>, Failure> {
    let log = caller.log(&id, Need::Read)?;
    let limit = parameters.limit.unwrap_or(DEFAULT_ENTRIES).min(MAX_PAGE_ENTRIES);
    let history = state.logs().history(log, parameters.from, limit).await?;
    let entries = views(&state, &history.entries).await?;
    Ok(Json(HistoryReply { entries, next: history.next }))
}

/// Between which positions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffParameters {
    from: Position,
    to: Position,
    #[serde(default)]
    skip: u64,
}

/// What differs between the states at two positions.
#[utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/diff",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("from" = Position, Query, description = "The one position"),
        ("to" = Position, Query, description = "The other"),
        ("skip" = Option<u64>, Query, description = "The `next` of the page before"),
    ),
    responses(
        (status = 200, description = "The differences", body = DiffReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
)]
pub(super) async fn diff(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<DiffParameters>,
) -> Result<Json<DiffReply>, Failure> {
    let log = caller.log(&id, Need::Read)?;
    let DiffParameters { from, to, skip } = parameters;
    let mut sheets = state.logs().diff(log, from, to).await?.sheets;
    let next = Page::new(skip).cut(&mut sheets);
    Ok(Json(DiffReply { from, to, sheets, next }))
}

/// Counts the cells of a reply: some were in earlier pages, some come in later ones.
struct Page {
    skip: u64,
    seen: u64,
    bytes: usize,
    full: bool,
}

impl Page {
    fn new(skip: u64) -> Self {
        Self { skip, seen: 0, bytes: 0, full: false }
    }

    /// Leaves the cells of this page; gives where the next begins.
    fn cut(mut self, sheets: &mut [SheetDiff]) -> Option<u64> {
        for sheet in sheets {
            sheet.cells.retain(|cell| self.takes(weight_bytes(cell)));
            sheet.deleted.retain(|placed: &PlacedCell| self.takes(cell_bytes(&placed.cell)));
        }
        self.full.then_some(self.seen)
    }

    fn takes(&mut self, bytes: usize) -> bool {
        if self.full {
            return false;
        }
        if self.seen < self.skip {
            self.seen += 1;
            return false;
        }
        // At least one, however large, so that every reply makes progress.
        if self.bytes > 0 && self.bytes.saturating_add(bytes) > MAX_REPLY_BYTES {
            self.full = true;
            return false;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.seen += 1;
        true
    }
}

fn weight_bytes(diff: &CellDiff) -> usize {
    cell_bytes(&diff.before).saturating_add(cell_bytes(&diff.after))
}

fn cell_bytes(cell: &Cell) -> usize {
    let length = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES + cell.value.json_bytes() + length(&cell.formula) + length(&cell.format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_every_cell_once() {
        let third = MAX_REPLY_BYTES / 3;
        let (mut skip, mut pages, mut taken) = (Some(0), 0, Vec::new());
        while let Some(from) = skip {
            let mut page = Page::new(from);
            taken.extend((0..8).filter(|_| page.takes(third)));
            skip = page.full.then_some(page.seen);
            pages += 1;
        }
        assert_eq!(taken, (0..8).collect::<Vec<_>>());
        assert_eq!(pages, 3);
        assert!(Page::new(0).takes(MAX_REPLY_BYTES + 1), "one at least");
    }
}
