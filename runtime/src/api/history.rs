//! `GET /v1/spreadsheets/{id}/history` and `…/diff`.

use axum::Json;
use axum::extract::State;
use cellar_api::{wire::CellAt, wire::DiffReply, wire::HistoryReply};
use cellar_base::limits::{
    MAX_PAGE_ENTRIES, MAX_REPLY_BYTES, MAX_REPLY_SPANS_BYTES, MAX_SPAN_JSON_BYTES,
};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_sheet::cell::{Cell, json_text_bytes};
use cellar_sheet::operation::Spans;
use cellar_sheet::workbook::{CellDiff, SheetDiff};
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
/// About how many bytes of JSON a sheet takes besides its name, its spans and its cells.
const SHEET_FRAME_BYTES: usize = 200;

/// Which entries.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryParameters {
    until: Option<Position>,
    limit: Option<u32>,
}

/// List entries with author and time, newest first
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/history",
    operation_id = "listHistory",
    tag = "History",
    params(
        ("until" = Option<Position>, Query, description = "Newest position to return; defaults to the head"),
        ("limit" = Option<u32>, Query, description = "Maximum number of entries: 1 to 1,000, default 100"),
    ),
    responses((status = 200, description = "One page of results", body = HistoryReply))
))]
pub(super) async fn history(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<HistoryParameters>,
) -> Result<Json<HistoryReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let limit = parameters.limit.unwrap_or(DEFAULT_ENTRIES).min(MAX_PAGE_ENTRIES);
    let history = state.logs().history(log, parameters.until, limit).await?;
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
    cursor: u64,
}

/// Compare the spreadsheet at two positions
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/diff",
    operation_id = "comparePositions",
    tag = "History",
    params(
        ("from" = Position, Query, description = "Earlier position"),
        ("to" = Position, Query, description = "Later position"),
        ("cursor" = Option<u64>, Query, description = "`next` of the previous page"),
    ),
    responses((status = 200, description = "One page of results", body = DiffReply))
))]
pub(super) async fn diff(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<DiffParameters>,
) -> Result<Json<DiffReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let DiffParameters { from, to, cursor } = parameters;
    let mut sheets = state.logs().diff(log, from, to).await?.sheets;
    let Cut { spans_cut, next } = Page::new(cursor).cut(&mut sheets);
    Ok(Json(DiffReply { from, to, sheets, spans_truncated: spans_cut, next }))
}

/// Weighs a reply and counts its cells: some were in earlier pages, some come in later ones.
struct Page {
    skip: u64,
    seen: u64,
    bytes: usize,
    full: bool,
}

/// What is not on a page.
#[derive(Debug, PartialEq)]
struct Cut {
    /// Spans that fit no page.
    spans_cut: bool,
    /// Where the next page begins.
    next: Option<u64>,
}

impl Page {
    fn new(skip: u64) -> Self {
        Self { skip, seen: 0, bytes: 0, full: false }
    }

    /// Leaves what is on this page. Every page has every sheet, and at least one more cell.
    fn cut(mut self, sheets: &mut [SheetDiff]) -> Cut {
        self.bytes = sheets.iter().map(frame_bytes).fold(0, usize::saturating_add);
        let spans_cut = self.cut_spans(sheets);
        for sheet in sheets {
            sheet.cells.retain(|cell| self.takes(weight_bytes(cell)));
            sheet.deleted_cells.retain(|placed: &CellAt| self.takes(cell_bytes(&placed.cell)));
        }
        Cut { spans_cut, next: self.full.then_some(self.seen) }
    }

    /// Every page would have the same spans: only the first has any, before all cells. Whether
    /// there are more than fit.
    fn cut_spans(&mut self, sheets: &mut [SheetDiff]) -> bool {
        let mut spans_cut = false;
        for spans in sheets.iter_mut().flat_map(spans_of) {
            if self.skip > 0 {
                *spans = Spans::default();
                continue;
            }
            let room = MAX_REPLY_SPANS_BYTES.saturating_sub(self.bytes) / MAX_SPAN_JSON_BYTES;
            if spans.len() > room {
                spans_cut = true;
                *spans = Spans::from_sorted(spans.iter().take(room).collect());
            }
            let bytes = spans.len().saturating_mul(MAX_SPAN_JSON_BYTES);
            self.bytes = self.bytes.saturating_add(bytes);
        }
        spans_cut
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
        if self.seen > self.skip && self.bytes.saturating_add(bytes) > MAX_REPLY_BYTES {
            self.full = true;
            return false;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.seen += 1;
        true
    }
}

fn frame_bytes(sheet: &SheetDiff) -> usize {
    SHEET_FRAME_BYTES + json_text_bytes(&sheet.name)
}

fn spans_of(sheet: &mut SheetDiff) -> [&mut Spans; 4] {
    let (rows, columns) = (&mut sheet.rows, &mut sheet.columns);
    [&mut rows.inserted, &mut rows.deleted, &mut columns.inserted, &mut columns.deleted]
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
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::SheetId;
    use cellar_sheet::workbook::{AxisDiff, SheetChange};

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

    /// A sheet with so many spans of deleted rows and so many cells of `text`.
    fn sheet(number: u32, spans: u32, cells: u32, text: &str) -> SheetDiff {
        let rows = (0..spans).map(|span| u32::MAX - 2 * spans + 2 * span);
        let cell = |text: &str| Cell { value: Value::Text(text.into()), ..Cell::default() };
        let differs =
            |row| CellDiff { row, column: number, before: cell(text), after: Cell::default() };
        SheetDiff {
            sheet: SheetId(number),
            name: "\u{1}".repeat(31),
            change: SheetChange::Renamed,
            rows: AxisDiff { inserted: Spans::default(), deleted: Spans::of(rows) },
            columns: AxisDiff { inserted: Spans::one(u32::MAX - 1, 1), deleted: Spans::default() },
            formats_changed: false,
            cells: (0..cells).map(differs).collect(),
            deleted_cells: vec![CellAt { row: 0, column: number, cell: cell(text) }],
        }
    }

    #[test]
    fn spans_end_at_their_limit_and_say_so() {
        let room = (MAX_REPLY_SPANS_BYTES - frame_bytes(&sheet(1, 0, 0, ""))) / MAX_SPAN_JSON_BYTES;
        let room = u32::try_from(room).unwrap();
        // One span is of columns.
        let mut fits = [sheet(1, room - 1, 1, "")];
        let all = fits.clone();
        assert_eq!(Page::new(0).cut(&mut fits), Cut { spans_cut: false, next: None });
        assert_eq!(fits, all);
        let mut more = [sheet(1, room, 1, "")];
        assert_eq!(Page::new(0).cut(&mut more), Cut { spans_cut: true, next: None });
        assert_eq!(more[0].rows.deleted.len(), usize::try_from(room).unwrap());
        assert!(more[0].columns.inserted.is_empty());
        assert_eq!(more[0].cells.len(), 1, "spans leave room for cells");
    }

    #[test]
    fn every_page_fits_a_reply_and_only_the_first_has_spans() {
        let text = "\u{1}".repeat(64 * 1024);
        // As many sheets as can differ, and more spans and cells than fit.
        let few = |number| sheet(number, 20, 0, "");
        let mut all: Vec<SheetDiff> = (0..2_000).map(few).collect();
        all.push(sheet(2_000, 40_000, 20, &text));
        let (mut skip, mut pages, mut cells) = (Some(0), 0, 0);
        while let Some(from) = skip {
            let mut sheets = all.clone();
            let Cut { spans_cut, next } = Page::new(from).cut(&mut sheets);
            let spans = sheets.iter_mut().flat_map(spans_of).filter(|spans| !spans.is_empty());
            assert_eq!((spans_cut, spans.count() > 0), (pages == 0, pages == 0), "page {pages}");
            assert_eq!(sheets.len(), all.len());
            let taken = sheets.iter().map(|sheet| sheet.cells.len() + sheet.deleted_cells.len());
            cells += taken.sum::<usize>();
            let (from, to) = (Position::FIRST, Position::FIRST);
            let reply = DiffReply { from, to, sheets, spans_truncated: spans_cut, next };
            let bytes = serde_json::to_string(&reply).unwrap().len();
            assert!(bytes <= MAX_REPLY_BYTES, "page {pages} has {bytes} bytes");
            skip = next;
            pages += 1;
        }
        assert_eq!(cells, 2_000 + 21);
        assert!(pages > 3, "{pages}");
    }
}
