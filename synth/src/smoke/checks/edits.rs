//! Checks of edits: an edit is applied exactly once, to the intended cells, and is readable at
//! every log position.

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

pub(super) struct AppendedRequest {
    pub(super) request: AppendRequest,
    pub(super) position: Position,
}

/// Creates a request from a new client that appends a single mutation.
pub(super) fn append_request(head: Head, operation: Operation) -> AppendRequest {
    AppendRequest {
        client_id: format!("smoke-{}", Uuid::new_v4()),
        incarnation: head.incarnation,
        acked_id: 0,
        refuse_unchanged: false,
        mutations: vec![SentMutation { id: 1, base: head.head, op: operation }],
    }
}

pub(super) fn set_column(column: u32, texts: &[String]) -> Operation {
    let mut cells = Vec::with_capacity(texts.len());
    for (row, text) in (0..).zip(texts) {
        let value = Some(Value::Text(text.clone()));
        cells.push(CellEdit { row, column, value, formula: None, format: None });
    }
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Appends an edit that is based on the newest position of the log.
pub(super) async fn append_operation(
    client: &Client,
    log_id: LogId,
    operation: Operation,
) -> Result<Position, SynthError> {
    let spreadsheet = client.spreadsheet(log_id);
    let head = spreadsheet.head().await?;
    let reply = spreadsheet.append(&append_request(head, operation)).await?;
    Ok(reply.results.first().and_then(|result| result.position).unwrap_or(reply.head))
}

/// Checks that an edit moves with its row if another client inserts a row above. Afterwards,
/// deletes the inserted row.
pub(super) async fn edit_follows_row(client: &Client, log_id: LogId) -> CheckResult {
    let spreadsheet = client.spreadsheet(log_id);
    let head = spreadsheet.head().await?;
    let first_row = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    spreadsheet.append(&append_request(head, Operation::InsertRows(first_row))).await?;
    // This edit is based on a position before the row was inserted.
    let late_edit = set_column(0, &["followed".to_owned()]);
    let edit_reply = spreadsheet.append(&append_request(head, late_edit)).await?;
    let head_after_edit = Head { head: edit_reply.head, incarnation: head.incarnation };
    let delete_row = Operation::DeleteRows(DeleteSpans {
        sheet: SheetId::FIRST,
        spans: Spans::one(first_row.before, first_row.count),
    });
    spreadsheet.append(&append_request(head_after_edit, delete_row)).await?;
    let committed_edit = edit_reply.results.first().and_then(|result| result.committed.clone());
    // Other smoke tests on the same stack may have moved the row further.
    let has_moved = match committed_edit.as_deref() {
        Some([Operation::SetCells(set_cells)]) => set_cells.cells.iter().all(|edit| edit.row > 0),
        _ => false,
    };
    Ok(CheckOutcome::from_condition(has_moved, || {
        format!("the edit did not move with its row: it was committed as {committed_edit:?}")
    }))
}

pub(super) async fn send_append(
    client: &Client,
    log_id: LogId,
    request: AppendRequest,
) -> Result<(AppendedRequest, CheckOutcome), SynthError> {
    let reply = client.spreadsheet(log_id).append(&request).await?;
    let appended_position = reply.results.first().and_then(|result| result.position);
    let outcome = match appended_position {
        Some(_) => CheckOutcome::Passed,
        None => CheckOutcome::Failed("the response contains no position".to_owned()),
    };
    let position = appended_position.unwrap_or(reply.head);
    Ok((AppendedRequest { request, position }, outcome))
}

pub(super) async fn append_again(
    client: &Client,
    log_id: LogId,
    appended: &AppendedRequest,
) -> CheckResult {
    let reply = client.spreadsheet(log_id).append(&appended.request).await?;
    let position = appended.position;
    let is_duplicate = reply.results.first().is_some_and(|result| {
        result.status == MutationStatus::Duplicate && result.position == Some(position)
    });
    Ok(CheckOutcome::from_condition(is_duplicate, || format!("expected a duplicate at {position}")))
}

/// Reads the value of a cell from a state at `min_position` or later.
pub(super) async fn latest_cell_value(
    client: &Client,
    log_id: LogId,
    cell_name: &str,
    min_position: Position,
) -> Result<Value, SynthError> {
    let query = CellsQuery::of_range(cell_name).at_or_after(min_position);
    read_cell_value(client, log_id, &query).await
}

/// The stack answers from a log that contains at least `min_position`.
pub(super) async fn earlier_cell_value(
    client: &Client,
    log_id: LogId,
    cell_name: &str,
    position: Option<Position>,
    min_position: Position,
) -> Result<Value, SynthError> {
    let mut query = CellsQuery::of_range(cell_name).at_or_after(min_position);
    query.at = position;
    read_cell_value(client, log_id, &query).await
}

async fn read_cell_value(
    client: &Client,
    log_id: LogId,
    query: &CellsQuery,
) -> Result<Value, SynthError> {
    let reply = client.spreadsheet(log_id).cells_page(query).await?;
    Ok(reply.cells.into_iter().next().map(|cell| cell.cell.value).unwrap_or_default())
}

pub(super) fn compare_values(cell_name: &str, expected: &Value, actual: &Value) -> CheckOutcome {
    CheckOutcome::from_condition(expected == actual, || {
        format!("{cell_name} is {}, expected {}", shorten(actual), shorten(expected))
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
