//! Handles `GET /v1/spreadsheets/{id}/history` and `…/diff`, which list entries and compare two
//! positions.

use axum::extract::State;
use cellar_api::wire::{DiffReply, HistoryReply, PositionOrTime};
use cellar_base::limits::{
    MAX_PAGE_ENTRIES, MAX_REPLY_BYTES, MAX_REPLY_SPANS_BYTES, MAX_SPAN_JSON_BYTES,
};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_sheet::cell::{Cell, json_text_bytes};
use cellar_sheet::operation::Spans;
use cellar_sheet::workbook::{CellDiff, NameDiff, OrderDiff, SheetDiff, WorkbookDiff};
use serde::Deserialize;

use super::auth::Caller;
use super::entries::entry_views;
use super::extract::{Parameters, PathId, PathOther, check_page_limit};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Default number of entries per response.
const DEFAULT_ENTRIES: u32 = 100;
/// Estimated size of a cell in JSON, in bytes, without its strings.
const CELL_FRAME_BYTES: usize = 160;
/// Estimated size of a sheet in JSON, in bytes, without its name, spans and cells.
const SHEET_FRAME_BYTES: usize = 200;
/// Size of the quotes and the comma of a name in a list, in bytes.
const NAME_FRAME_BYTES: usize = 3;

/// Query parameters of `listHistory`.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryParameters {
    /// Newest position to return, or a time; defaults to the head.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    until: Option<PositionOrTime>,
    /// Maximum number of entries: 1 to 1,000, default 100.
    limit: Option<u32>,
}

/// List entries with author and time, newest first
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/history",
    operation_id = "listHistory",
    tag = "History",
    params(HistoryParameters),
    responses((status = 200, description = "One page of results", body = HistoryReply))
))]
pub(super) async fn list_history(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<HistoryParameters>,
) -> Result<Json<HistoryReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let limit = parameters.limit.unwrap_or(DEFAULT_ENTRIES);
    check_page_limit(limit, MAX_PAGE_ENTRIES)?;
    let until = find_position(&state, log_id, parameters.until, None).await?;
    let history = state.logs().history(log_id, until, limit).await?;
    let entries = entry_views(&state, &history.entries).await?;
    Ok(Json(HistoryReply { entries, next: history.next }))
}

/// Query parameters of `comparePositions`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct DiffParameters {
    /// Earlier position or time.
    #[serde(deserialize_with = "position_parameter::required")]
    from: PositionOrTime,
    /// Later position or time.
    #[serde(deserialize_with = "position_parameter::required")]
    to: PositionOrTime,
    /// `next` of the previous page.
    #[serde(default)]
    cursor: u64,
}

/// Compare the spreadsheet at two positions
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/diff",
    operation_id = "comparePositions",
    tag = "History",
    params(DiffParameters),
    responses((status = 200, description = "One page of results", body = DiffReply))
))]
pub(super) async fn compare_positions(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<DiffParameters>,
) -> Result<Json<DiffReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let DiffParameters { from, to, cursor } = parameters;
    let from = state.logs().find_position(log_id, from, None).await?;
    let to = state.logs().find_position(log_id, to, None).await?;
    let diff = state.logs().diff(log_id, from, to).await?;
    Ok(Json(diff_page((from, to), diff, cursor)))
}

/// Compare the spreadsheet with another one that shares its history
///
/// One of them must be a fork of the other, or both must come from one spreadsheet. Rows and columns that both had when
/// they separated are compared by identity. Rows that both inserted at the same place are compared one by one if they
/// are equally many.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/diff/{other_id}",
    operation_id = "compareSpreadsheets",
    tag = "History",
    params(
        ("other_id" = cellar_base::identity::LogId, Path, description = "Id of the spreadsheet with the later state"),
        BranchDiffParameters,
    ),
    responses((status = 200, description = "One page of results", body = DiffReply))
))]
pub(super) async fn compare_spreadsheets(
    State(state): State<ApiState>,
    caller: Caller,
    PathOther { spreadsheet_id, other_id }: PathOther,
    Parameters(parameters): Parameters<BranchDiffParameters>,
) -> Result<Json<DiffReply>, Failure> {
    let from_log = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let to_log = caller.authorize(&state, &other_id, Need::Read).await?;
    let BranchDiffParameters { from, to, cursor } = parameters;
    let from = state.logs().find_position(from_log, from, None).await?;
    let to = state.logs().find_position(to_log, to, None).await?;
    let diff = state.logs().diff_logs((from_log, from), (to_log, to)).await?;
    Ok(Json(diff_page((from, to), diff, cursor)))
}

/// Query parameters of `compareSpreadsheets`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct BranchDiffParameters {
    /// Position or time in the spreadsheet.
    #[serde(deserialize_with = "position_parameter::required")]
    from: PositionOrTime,
    /// Position or time in the other spreadsheet.
    #[serde(deserialize_with = "position_parameter::required")]
    to: PositionOrTime,
    /// `next` of the previous page.
    #[serde(default)]
    cursor: u64,
}

fn diff_page((from, to): (Position, Position), mut diff: WorkbookDiff, cursor: u64) -> DiffReply {
    let Truncation { spans_truncated, next } = DiffPage::new(cursor).truncate(&mut diff);
    let WorkbookDiff { sheets, names, order, formulas_incomplete } = diff;
    DiffReply { from, to, sheets, names, order, spans_truncated, formulas_incomplete, next }
}

/// Limits one page of a comparison to the maximum response size.
struct DiffPage {
    /// Number of changed cells on earlier pages.
    earlier_cell_count: u64,
    /// Number of changed cells that have been counted so far, including those on earlier pages.
    cell_count: u64,
    /// Estimated size in bytes of the page so far.
    reply_bytes: usize,
    is_full: bool,
}

/// The parts that a page omits to limit its size.
#[derive(Debug, PartialEq)]
struct Truncation {
    /// Whether row or column spans were omitted. They are not part of later pages either.
    spans_truncated: bool,
    /// Cursor of the next page.
    next: Option<u64>,
}

impl DiffPage {
    fn new(earlier_cell_count: u64) -> Self {
        Self { earlier_cell_count, cell_count: 0, reply_bytes: 0, is_full: false }
    }

    /// Removes the spans, cells, names and order that do not belong to this page. Every page contains
    /// all sheets, and at least one cell that is not on an earlier page.
    fn truncate(mut self, diff: &mut WorkbookDiff) -> Truncation {
        let WorkbookDiff { sheets, names, order, .. } = diff;
        let is_first_page = self.earlier_cell_count == 0;
        if !is_first_page {
            names.clear();
            *order = None;
        }
        self.reply_bytes = sheets.iter().map(sheet_frame_bytes).sum::<usize>()
            + names.iter().map(name_bytes).sum::<usize>()
            + order.as_ref().map_or(0, order_bytes);
        let spans_truncated = if is_first_page {
            self.truncate_spans(sheets)
        } else {
            remove_spans(sheets);
            false
        };
        for sheet in sheets {
            sheet.cells.retain(|diff| self.try_add_cell(cell_diff_bytes(diff)));
            sheet.deleted_cells.retain(|deleted| self.try_add_cell(cell_bytes(&deleted.cell)));
        }
        let next = if self.is_full { Some(self.cell_count) } else { None };
        Truncation { spans_truncated, next }
    }

    /// Removes row and column spans for which there is no space on the page. Returns whether any
    /// spans were removed.
    fn truncate_spans(&mut self, sheets: &mut [SheetDiff]) -> bool {
        let mut spans_truncated = false;
        for spans in sheets.iter_mut().flat_map(sheet_spans) {
            let free_bytes = MAX_REPLY_SPANS_BYTES.saturating_sub(self.reply_bytes);
            let max_span_count = free_bytes / MAX_SPAN_JSON_BYTES;
            if spans.len() > max_span_count {
                spans_truncated = true;
                *spans = Spans::from_sorted(spans.iter().take(max_span_count).collect());
            }
            self.reply_bytes += spans.len() * MAX_SPAN_JSON_BYTES;
        }
        spans_truncated
    }

    /// Counts the next changed cell. Returns whether it belongs to this page.
    fn try_add_cell(&mut self, cell_bytes: usize) -> bool {
        if self.is_full {
            return false;
        }
        if self.cell_count < self.earlier_cell_count {
            self.cell_count += 1;
            return false;
        }
        // A page contains at least one cell, even if the cell is too large. Otherwise, clients
        // would request the same page forever.
        let is_first_cell = self.cell_count == self.earlier_cell_count;
        let reply_bytes = self.reply_bytes + cell_bytes;
        if !is_first_cell && reply_bytes > MAX_REPLY_BYTES {
            self.is_full = true;
            return false;
        }
        self.reply_bytes = reply_bytes;
        self.cell_count += 1;
        true
    }
}

/// Removes all row and column spans. Only the first page contains spans.
fn remove_spans(sheets: &mut [SheetDiff]) {
    for spans in sheets.iter_mut().flat_map(sheet_spans) {
        *spans = Spans::default();
    }
}

fn sheet_frame_bytes(sheet: &SheetDiff) -> usize {
    SHEET_FRAME_BYTES + json_text_bytes(&sheet.name)
}

fn name_bytes(diff: &NameDiff) -> usize {
    let formula_bytes = |formula: &Option<String>| formula.as_deref().map_or(0, json_text_bytes);
    SHEET_FRAME_BYTES
        + json_text_bytes(&diff.name)
        + formula_bytes(&diff.before)
        + formula_bytes(&diff.after)
}

fn order_bytes(order: &OrderDiff) -> usize {
    let names = order.before.iter().chain(&order.after);
    SHEET_FRAME_BYTES + names.map(|name| NAME_FRAME_BYTES + json_text_bytes(name)).sum::<usize>()
}

fn sheet_spans(sheet: &mut SheetDiff) -> [&mut Spans; 4] {
    let (rows, columns) = (&mut sheet.rows, &mut sheet.columns);
    [&mut rows.inserted, &mut rows.deleted, &mut columns.inserted, &mut columns.deleted]
}

fn cell_diff_bytes(diff: &CellDiff) -> usize {
    cell_bytes(&diff.before) + cell_bytes(&diff.after)
}

fn cell_bytes(cell: &Cell) -> usize {
    let formula_bytes = cell.formula.as_deref().map_or(0, json_text_bytes);
    let format_bytes = cell.format.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES + cell.value.json_bytes() + formula_bytes + format_bytes
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellAt;
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::SheetId;
    use cellar_sheet::workbook::{AxisDiff, SheetChange};

    use super::*;

    #[test]
    fn every_cell_is_on_one_page() {
        let third = MAX_REPLY_BYTES / 3;
        let (mut cursor, mut pages, mut cells) = (Some(0), 0, Vec::new());
        while let Some(earlier_cell_count) = cursor {
            let mut page = DiffPage::new(earlier_cell_count);
            cells.extend((0..8).filter(|_| page.try_add_cell(third)));
            cursor = page.is_full.then_some(page.cell_count);
            pages += 1;
        }
        assert_eq!(cells, (0..8).collect::<Vec<_>>());
        assert_eq!(pages, 3);
        assert!(DiffPage::new(0).try_add_cell(MAX_REPLY_BYTES + 1), "one cell at least");
    }

    /// Builds a sheet with `spans` deleted row spans and `cells` changed cells that contain `text`.
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
            deleted_cells: vec![CellAt::new(0, number, cell(text))],
        }
    }

    #[test]
    fn limits_the_spans_and_reports_truncation() {
        let max_spans =
            (MAX_REPLY_SPANS_BYTES - sheet_frame_bytes(&sheet(1, 0, 0, ""))) / MAX_SPAN_JSON_BYTES;
        let max_spans = u32::try_from(max_spans).unwrap();
        // `sheet` also adds one column span, so only `max_spans - 1` row spans fit.
        let diff_of = |sheet| WorkbookDiff { sheets: vec![sheet], ..WorkbookDiff::default() };
        let mut fits = diff_of(sheet(1, max_spans - 1, 1, ""));
        let all = fits.clone();
        let complete = Truncation { spans_truncated: false, next: None };
        assert_eq!(DiffPage::new(0).truncate(&mut fits), complete);
        assert_eq!(fits, all);
        let mut more = diff_of(sheet(1, max_spans, 1, ""));
        let truncated = Truncation { spans_truncated: true, next: None };
        assert_eq!(DiffPage::new(0).truncate(&mut more), truncated);
        let more = more.sheets;
        assert_eq!(more[0].rows.deleted.len(), usize::try_from(max_spans).unwrap());
        assert!(more[0].columns.inserted.is_empty());
        assert_eq!(more[0].cells.len(), 1, "spans leave room for cells");
    }

    #[test]
    fn every_page_fits_a_reply_and_only_the_first_has_spans() {
        let text = "\u{1}".repeat(64 * 1024);
        // More sheets, spans and cells than one response can contain.
        let few = |number| sheet(number, 20, 0, "");
        let mut all: Vec<SheetDiff> = (0..2_000).map(few).collect();
        all.push(sheet(2_000, 40_000, 20, &text));
        let names: Vec<String> = all.iter().take(100).map(|sheet| sheet.name.clone()).collect();
        let order = Some(OrderDiff { before: names.clone(), after: names });
        let all_diff = WorkbookDiff { sheets: all.clone(), order, ..WorkbookDiff::default() };
        let (mut cursor, mut pages, mut cells) = (Some(0), 0, 0);
        while let Some(earlier_cell_count) = cursor {
            let (from, to) = (Position::FIRST, Position::FIRST);
            let reply = diff_page((from, to), all_diff.clone(), earlier_cell_count);
            let DiffReply { mut sheets, spans_truncated, next, .. } = reply.clone();
            let spans = sheets.iter_mut().flat_map(sheet_spans).filter(|spans| !spans.is_empty());
            let is_first = pages == 0;
            assert_eq!((spans_truncated, spans.count() > 0), (is_first, is_first), "page {pages}");
            assert_eq!(sheets.len(), all.len());
            let on_page = sheets.iter().map(|sheet| sheet.cells.len() + sheet.deleted_cells.len());
            cells += on_page.sum::<usize>();
            assert_eq!(reply.order.is_some(), is_first, "page {pages}");
            let bytes = serde_json::to_string(&reply).unwrap().len();
            assert!(bytes <= MAX_REPLY_BYTES, "page {pages} has {bytes} bytes");
            cursor = next;
            pages += 1;
        }
        assert_eq!(cells, 2_000 + 21);
        assert!(pages > 3, "{pages}");
    }
}
