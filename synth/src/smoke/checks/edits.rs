//! Edit checks: edits are applied exactly once, to the intended cells, and are readable at every
//! log position.

use cellar::{CellsQuery, Client};
use cellar_api::{wire::AppendRequest, wire::Head, wire::MutationStatus, wire::SentMutation};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use uuid::Uuid;

use crate::error::SynthError;
use crate::smoke::report::{CheckOutcome, CheckResult};

/// Returns a new client's request to append a single mutation.
pub(super) fn append_request(head: Head, op: Operation) -> AppendRequest {
    AppendRequest {
        client_id: format!("smoke-{}", Uuid::new_v4()),
        incarnation: head.incarnation,
        acked_id: 0,
        mutations: vec![SentMutation { id: 1, base: head.head, op }],
    }
}

/// Creates an operation that writes `texts` to the first cells of a column.
pub(super) fn set_column(column: u32, texts: &[String]) -> Operation {
    let set_cell = |(row, text): (u32, &String)| {
        let value = Some(Value::Text(text.clone()));
        CellEdit { row, column, value, formula: None, format: None }
    };
    let cells = (0..).zip(texts).map(set_cell).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Appends an operation based on the current log head. Returns the position of the new entry.
pub(super) async fn append_operation(
    client: &Client,
    id: LogId,
    op: Operation,
) -> Result<Position, SynthError> {
    let head = client.spreadsheet(id).head(None).await?;
    let reply = client.spreadsheet(id).append(&append_request(head, op)).await?;
    Ok(reply.results.first().and_then(|result| result.position).unwrap_or(reply.head))
}

/// Checks that an edit moves with its row if another client inserts a row above. Deletes the
/// inserted row afterwards.
pub(super) async fn edit_follows_row(client: &Client, id: LogId) -> CheckResult {
    let (sheet, before, count) = (SheetId::FIRST, 0, 1);
    let head = client.spreadsheet(id).head(None).await?;
    let insert = Operation::InsertRows(InsertBefore { sheet, before, count });
    client.spreadsheet(id).append(&append_request(head, insert)).await?;
    let set_cell = set_column(0, &["followed".to_owned()]);
    let late_reply = client.spreadsheet(id).append(&append_request(head, set_cell)).await?;
    let new_head = Head { head: late_reply.head, incarnation: head.incarnation };
    let delete = DeleteSpans { sheet, spans: Spans::one(before, count) };
    client.spreadsheet(id).append(&append_request(new_head, Operation::DeleteRows(delete))).await?;
    let committed = late_reply.results.first().and_then(|result| result.committed.clone());
    // Concurrent smoke tests of the same stack may have moved the row further.
    let has_moved = match committed.as_deref() {
        Some([Operation::SetCells(set)]) => set.cells.iter().all(|edit| edit.row > 0),
        _ => false,
    };
    Ok(CheckOutcome::from_condition(has_moved, || {
        format!("the edit was committed as {committed:?}")
    }))
}

/// Appends a request and checks that the response contains a log position. Returns position and
/// request.
pub(super) async fn append(
    client: &Client,
    id: LogId,
    request: &AppendRequest,
) -> Result<((Position, AppendRequest), CheckOutcome), SynthError> {
    let reply = client.spreadsheet(id).append(request).await?;
    let position = reply.results.first().and_then(|result| result.position);
    let (position, outcome) = match position {
        Some(position) => (position, CheckOutcome::Passed),
        None => (reply.head, CheckOutcome::Failed("the response contains no position".to_owned())),
    };
    Ok(((position, request.clone()), outcome))
}

/// Resends the same append request and checks that the API reports a duplicate at `position`.
pub(super) async fn append_again(
    client: &Client,
    id: LogId,
    request: &AppendRequest,
    position: Position,
) -> CheckResult {
    let reply = client.spreadsheet(id).append(request).await?;
    let is_duplicate = reply.results.first().is_some_and(|result| {
        result.status == MutationStatus::Duplicate && result.position == Some(position)
    });
    Ok(CheckOutcome::from_condition(is_duplicate, || format!("expected a duplicate at {position}")))
}

/// Reads a cell value at position `at`, or at the latest position if `None`, from a state no older
/// than `min_position`.
pub(super) async fn cell_value(
    client: &Client,
    id: LogId,
    cell: &str,
    at: Option<Position>,
    min_position: Position,
) -> Result<Value, SynthError> {
    let (range, seen) = (Some(cell.to_owned()), Some(min_position));
    let query = CellsQuery { range, at, min_position: seen, ..CellsQuery::default() };
    let reply = client.spreadsheet(id).cells_page(&query).await?;
    Ok(reply.cells.into_iter().next().map(|placed| placed.cell.value).unwrap_or_default())
}

/// Passes if the cell has the expected value.
pub(super) fn compare_values(cell: &str, expected: &Value, found: &Value) -> CheckOutcome {
    CheckOutcome::from_condition(expected == found, || {
        format!("{cell} is {}, expected {}", shorten(found), shorten(expected))
    })
}

fn shorten(value: &Value) -> String {
    const SHOWN_CHARACTERS: usize = 60;
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
