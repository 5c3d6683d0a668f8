//! The checks, each building on the one before.

use std::time::Instant;

use cellar::{CellsQuery, Client, ClientError};
use cellar_core::access::Role;
use cellar_core::api::{
    AppendRequest, CreateReply, CreateRequest, Head, MutationStatus, ProblemKind, SentMutation,
};
use cellar_core::cell::Value;
use cellar_core::identity::LogId;
use cellar_core::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use cellar_core::position::Position;
use uuid::Uuid;

use super::Target;
use super::report::{Outcome, SmokeReport};
use crate::error::SynthError;

/// The same each time: the smoke test's own spreadsheet.
const NONCE: &str = "cellar-smoke-test";
const NO_KEY: &str = "the private key is not here, so no other token can be made";

type Checked = Result<Outcome, SynthError>;

/// Runs the checks in order, up to the first that fails.
pub(super) async fn all(target: &Target<'_>) -> SmokeReport {
    let mut report = SmokeReport::default();
    // Each check ends the run if it fails; what it found out is for the next.
    let _ = run(target, &mut report).await;
    report
}

async fn run(target: &Target<'_>, report: &mut SmokeReport) -> Option<()> {
    let client = check(report, "health", async {
        let client = target.client(Some(target.token))?;
        let outcome = health(&client).await?;
        Ok((client, outcome))
    })
    .await?;
    let created = check(report, "create", async {
        Ok((client.create(&CreateRequest { nonce: NONCE.to_owned() }).await?, Outcome::Passed))
    })
    .await?;
    let text = Uuid::new_v4().to_string();
    let request = append_request(&client, created, &text).await;
    let before = request.as_ref().ok().and_then(|request| Some(request.mutations.first()?.base));
    let position = check(report, "append", async { append(&client, created.id, &request?).await });
    let (position, request) = position.await?;
    check(report, "a repeated append changes nothing", async {
        repeated(&client, created.id, &request, position).await.map(|outcome| ((), outcome))
    })
    .await?;
    check(report, "read back", async {
        let there = value_at(&client, created.id, None, position).await?;
        Ok(((), expect("A1", &Value::Text(text.clone()), &there)))
    })
    .await?;
    check(report, "read the position before", async {
        let there = value_at(&client, created.id, before, position).await?;
        let same = there == Value::Text(text.clone());
        let failed = || Outcome::Failed("the edit is visible before it was made".to_owned());
        Ok(((), if same { failed() } else { Outcome::Passed }))
    })
    .await?;
    check(report, "an edit follows its row", async {
        follows(&client, created).await.map(|outcome| ((), outcome))
    })
    .await?;
    check(report, "no token, no entry", async {
        let stranger = target.client(None)?;
        Ok(((), refused(stranger.head(created.id, None).await, ProblemKind::Unauthorized)))
    })
    .await?;
    check(report, "a viewer cannot write", async {
        viewer(target, created.id, &request).await.map(|outcome| ((), outcome))
    })
    .await?;
    check(report, "other spreadsheets are hidden", async {
        hidden(target, created.id).await.map(|outcome| ((), outcome))
    })
    .await
}

/// Runs one check and reports it; `None` if it failed.
async fn check<T>(
    report: &mut SmokeReport,
    name: &'static str,
    check: impl Future<Output = Result<(T, Outcome), SynthError>>,
) -> Option<T> {
    let started = Instant::now();
    match check.await {
        Ok((found, outcome)) => report.add(name, outcome, started.elapsed()).then_some(found),
        Err(error) => {
            report.add(name, Outcome::Failed(error.to_string()), started.elapsed());
            None
        }
    }
}

async fn health(client: &Client) -> Checked {
    let health = client.health().await?;
    let silent: Vec<_> = health.reachable.iter().filter(|table| !table.ok).collect();
    let failed = || Outcome::Failed(format!("these tables do not answer: {silent:?}"));
    Ok(if health.ok { Outcome::Passed } else { failed() })
}

async fn append_request(
    client: &Client,
    created: CreateReply,
    text: &str,
) -> Result<AppendRequest, SynthError> {
    let head = client.head(created.id, None).await?;
    Ok(request(head, set(0, text)))
}

/// One mutation of a client that nobody else is.
fn request(head: Head, op: Operation) -> AppendRequest {
    AppendRequest {
        client: format!("smoke-{}", Uuid::new_v4()),
        epoch: head.epoch,
        ack: 0,
        mutations: vec![SentMutation { id: 1, base: head.head, op }],
    }
}

fn set(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

/// A row is inserted above a cell that another client is about to set, and deleted again.
async fn follows(client: &Client, created: CreateReply) -> Checked {
    let (sheet, before, count) = (SheetId::FIRST, 0, 1);
    let head = client.head(created.id, None).await?;
    let insert = Operation::InsertRows(InsertBefore { sheet, before, count });
    client.append(created.id, &request(head, insert)).await?;
    let late = client.append(created.id, &request(head, set(0, "followed"))).await?;
    let after = Head { head: late.head, epoch: head.epoch };
    let delete = DeleteSpans { sheet, spans: Spans::one(before, count) };
    client.append(created.id, &request(after, Operation::DeleteRows(delete))).await?;
    let committed = late.results.first().and_then(|result| result.committed.clone());
    let failed = || Outcome::Failed(format!("the edit was committed as {committed:?}"));
    // By more than one row if somebody else checks the same stack just now.
    let below = |set: &SetCells| set.cells.iter().all(|edit| edit.row > 0);
    let moved = matches!(committed.as_deref(), Some([Operation::SetCells(set)]) if below(set));
    Ok(if moved { Outcome::Passed } else { failed() })
}

async fn append(
    client: &Client,
    id: LogId,
    request: &AppendRequest,
) -> Result<((Position, AppendRequest), Outcome), SynthError> {
    let reply = client.append(id, request).await?;
    let position = reply.results.first().and_then(|result| result.position);
    let (position, outcome) = match position {
        Some(position) => (position, Outcome::Passed),
        None => (reply.head, Outcome::Failed("the reply names no position".to_owned())),
    };
    Ok(((position, request.clone()), outcome))
}

async fn repeated(
    client: &Client,
    id: LogId,
    request: &AppendRequest,
    position: Position,
) -> Checked {
    let reply = client.append(id, request).await?;
    let same = reply.results.first().is_some_and(|result| {
        result.status == MutationStatus::Duplicate && result.position == Some(position)
    });
    let failed = || Outcome::Failed(format!("expected a duplicate at {position}"));
    Ok(if same { Outcome::Passed } else { failed() })
}

async fn value_at(
    client: &Client,
    id: LogId,
    at: Option<Position>,
    seen: Position,
) -> Result<Value, SynthError> {
    let (range, seen) = (Some("A1".to_owned()), Some(seen));
    let query = CellsQuery { range, at, seen, ..CellsQuery::default() };
    let reply = client.cells(id, &query).await?;
    Ok(reply.cells.into_iter().next().map(|placed| placed.cell.value).unwrap_or_default())
}

fn expect(what: &str, expected: &Value, found: &Value) -> Outcome {
    match expected == found {
        true => Outcome::Passed,
        false => Outcome::Failed(format!("{what} is {found:?}, expected {expected:?}")),
    }
}

fn refused<T>(reply: Result<T, ClientError>, kind: ProblemKind) -> Outcome {
    match reply {
        Err(error) if error.problem_kind() == Some(kind) => Outcome::Passed,
        Err(error) => Outcome::Failed(format!("expected {}, got: {error}", kind.status())),
        Ok(_) => Outcome::Failed(format!("expected {}, but it was allowed", kind.status())),
    }
}

async fn viewer(target: &Target<'_>, id: LogId, request: &AppendRequest) -> Checked {
    let Some(token) = target.token_for(id, Role::Viewer)? else {
        return Ok(Outcome::Skipped(NO_KEY.to_owned()));
    };
    let viewer = target.client(Some(&token))?;
    viewer.head(id, None).await?;
    Ok(refused(viewer.append(id, request).await, ProblemKind::Forbidden))
}

async fn hidden(target: &Target<'_>, id: LogId) -> Checked {
    let other = LogId::from_uuid(Uuid::new_v4());
    let Some(token) = target.token_for(other, Role::Owner)? else {
        return Ok(Outcome::Skipped(NO_KEY.to_owned()));
    };
    let stranger = target.client(Some(&token))?;
    Ok(refused(stranger.head(id, None).await, ProblemKind::NotFound))
}
