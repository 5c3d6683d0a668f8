//! Edits: once, where they were meant, and at every position.

use cellar::{CellsQuery, Client};
use cellar_api::{wire::AppendRequest, wire::Head, wire::MutationStatus, wire::SentMutation};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use uuid::Uuid;

use super::super::report::CheckOutcome;
use super::Checked;
use crate::error::SynthError;

/// One mutation of a client that nobody else is.
pub(super) fn request(head: Head, op: Operation) -> AppendRequest {
    AppendRequest {
        client_id: format!("smoke-{}", Uuid::new_v4()),
        incarnation: head.incarnation,
        acked_id: 0,
        mutations: vec![SentMutation { id: 1, base: head.head, op }],
    }
}

/// Sets cells of one column, from its first row on.
pub(super) fn set(column: u32, texts: &[String]) -> Operation {
    let edit = |(row, text): (u32, &String)| {
        let value = Some(Value::Text(text.clone()));
        CellEdit { row, column, value, formula: None, format: None }
    };
    let cells = (0..).zip(texts).map(edit).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Appends one mutation at the newest position; gives where it stands.
pub(super) async fn edit(
    client: &Client,
    id: LogId,
    op: Operation,
) -> Result<Position, SynthError> {
    let head = client.head(id, None).await?;
    let reply = client.append(id, &request(head, op)).await?;
    Ok(reply.results.first().and_then(|result| result.position).unwrap_or(reply.head))
}

/// A row is inserted above a cell that another client is about to set, and deleted again.
pub(super) async fn follows(client: &Client, id: LogId) -> Checked {
    let (sheet, before, count) = (SheetId::FIRST, 0, 1);
    let head = client.head(id, None).await?;
    let insert = Operation::InsertRows(InsertBefore { sheet, before, count });
    client.append(id, &request(head, insert)).await?;
    let late = client.append(id, &request(head, set(0, &["followed".to_owned()]))).await?;
    let after = Head { head: late.head, incarnation: head.incarnation };
    let delete = DeleteSpans { sheet, spans: Spans::one(before, count) };
    client.append(id, &request(after, Operation::DeleteRows(delete))).await?;
    let committed = late.results.first().and_then(|result| result.committed.clone());
    let failed = || CheckOutcome::Failed(format!("the edit was committed as {committed:?}"));
    // By more than one row if somebody else checks the same stack just now.
    let below = |set: &SetCells| set.cells.iter().all(|edit| edit.row > 0);
    let moved = matches!(committed.as_deref(), Some([Operation::SetCells(set)]) if below(set));
    Ok(if moved { CheckOutcome::Passed } else { failed() })
}

/// An append is answered with its position.
pub(super) async fn append(
    client: &Client,
    id: LogId,
    request: &AppendRequest,
) -> Result<((Position, AppendRequest), CheckOutcome), SynthError> {
    let reply = client.append(id, request).await?;
    let position = reply.results.first().and_then(|result| result.position);
    let (position, outcome) = match position {
        Some(position) => (position, CheckOutcome::Passed),
        None => (reply.head, CheckOutcome::Failed("the reply names no position".to_owned())),
    };
    Ok(((position, request.clone()), outcome))
}

/// The same append again is answered as the duplicate that it is.
pub(super) async fn repeated(
    client: &Client,
    id: LogId,
    request: &AppendRequest,
    position: Position,
) -> Checked {
    let reply = client.append(id, request).await?;
    let same = reply.results.first().is_some_and(|result| {
        result.status == MutationStatus::Duplicate && result.position == Some(position)
    });
    let failed = || CheckOutcome::Failed(format!("expected a duplicate at {position}"));
    Ok(if same { CheckOutcome::Passed } else { failed() })
}

/// What the first cell of a column holds.
pub(super) async fn value_at(
    client: &Client,
    id: LogId,
    cell: &str,
    at: Option<Position>,
    seen: Position,
) -> Result<Value, SynthError> {
    let (range, seen) = (Some(cell.to_owned()), Some(seen));
    let query = CellsQuery { range, at, min_position: seen, ..CellsQuery::default() };
    let reply = client.cells(id, &query).await?;
    Ok(reply.cells.into_iter().next().map(|placed| placed.cell.value).unwrap_or_default())
}

/// Passed, if it is what it should be. Long texts are not shown.
pub(super) fn expect(what: &str, expected: &Value, found: &Value) -> CheckOutcome {
    match expected == found {
        true => CheckOutcome::Passed,
        false => {
            let (found, expected) = (shown(found), shown(expected));
            CheckOutcome::Failed(format!("{what} is {found}, expected {expected}"))
        }
    }
}

fn shown(value: &Value) -> String {
    const SHOWN: usize = 60;
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
