//! The checks, each building on the one before.

mod access;
mod edits;
mod objects;

use std::time::Instant;

use cellar::Client;
use cellar_api::wire::CreateRequest;
use cellar_base::identity::LogId;
use cellar_sheet::cell::Value;
use tokio::time::sleep;
use uuid::Uuid;

use super::report::{CheckOutcome, SmokeReport};
use super::{SETTLE_POLL, Target};
use crate::error::SynthError;

/// The same each time: the smoke test's own spreadsheet.
const NONCE: &str = "cellar-smoke-test";

type Checked = Result<CheckOutcome, SynthError>;

/// Runs the checks in order, up to the first that fails, and clears what they have set.
pub(super) async fn all(target: &Target<'_>) -> SmokeReport {
    let mut report = SmokeReport::default();
    let Some((client, id)) = open(target, &mut report).await else { return report };
    // Each check ends the run if it fails; what it found out is for the next.
    let _ = run(target, &client, id, &mut report).await;
    let _ = only(&mut report, "clean up", objects::clean_up(&client, id)).await;
    report
}

async fn open(target: &Target<'_>, report: &mut SmokeReport) -> Option<(Client, LogId)> {
    let client = check(report, "health", async {
        let client = target.client(Some(target.token))?;
        let outcome = settled(target, &client).await?;
        Ok((client, outcome))
    })
    .await?;
    let created = check(report, "create", async {
        Ok((client.create(&CreateRequest::new(NONCE.to_owned())).await?, CheckOutcome::Passed))
    })
    .await?;
    Some((client, created.id))
}

async fn run(
    target: &Target<'_>,
    client: &Client,
    id: LogId,
    report: &mut SmokeReport,
) -> Option<()> {
    let text = Uuid::new_v4().to_string();
    let (position, request) = check(report, "append", async {
        let head = client.head(id, None).await?;
        let request = edits::request(head, edits::set(0, std::slice::from_ref(&text)));
        edits::append(client, id, &request).await
    })
    .await?;
    let repeated = edits::repeated(client, id, &request, position);
    only(report, "a repeated append changes nothing", repeated).await?;
    let text = Value::Text(text);
    only(report, "read back", async {
        Ok(edits::expect("A1", &text, &edits::value_at(client, id, "A1", None, position).await?))
    })
    .await?;
    only(report, "read the position before", async {
        let before = request.mutations.first().map(|mutation| mutation.base);
        let there = edits::value_at(client, id, "A1", before, position).await?;
        let failed = || CheckOutcome::Failed("the edit is visible before it was made".to_owned());
        Ok(if there == text { failed() } else { CheckOutcome::Passed })
    })
    .await?;
    only(report, "an edit follows its row", edits::follows(client, id)).await?;
    only(report, "a large entry", objects::large_entry(client, id)).await?;
    only(report, "a snapshot is made and loaded", objects::snapshot(client, id)).await?;
    only(report, "no token, no entry", access::stranger(target, id)).await?;
    only(report, "a viewer cannot write", access::viewer(target, id, &request)).await?;
    only(report, "other spreadsheets are hidden", access::hidden(target, id)).await
}

/// Runs one check and reports it; `None` if it failed.
async fn check<T>(
    report: &mut SmokeReport,
    name: &'static str,
    check: impl Future<Output = Result<(T, CheckOutcome), SynthError>>,
) -> Option<T> {
    let started = Instant::now();
    match check.await {
        Ok((found, outcome)) => report.add(name, outcome, started.elapsed()).then_some(found),
        Err(error) => {
            report.add(name, CheckOutcome::Failed(error.to_string()), started.elapsed());
            None
        }
    }
}

/// The same for one that finds nothing out that others need.
async fn only(
    report: &mut SmokeReport,
    name: &'static str,
    checked: impl Future<Output = Checked>,
) -> Option<()> {
    check(report, name, async { checked.await.map(|outcome| ((), outcome)) }).await
}

/// The health of the stack, once it has settled: a new URL takes a while until it is known everywhere.
async fn settled(target: &Target<'_>, client: &Client) -> Checked {
    let begun = Instant::now();
    loop {
        let health = health(client).await;
        if matches!(health, Ok(CheckOutcome::Passed)) || begun.elapsed() >= target.settle {
            return health;
        }
        sleep(SETTLE_POLL).await;
    }
}

async fn health(client: &Client) -> Checked {
    let health = client.health().await?;
    let silent: Vec<_> = health.dependencies.iter().filter(|table| !table.ok).collect();
    let failed = || CheckOutcome::Failed(format!("these tables do not answer: {silent:?}"));
    Ok(if health.ok { CheckOutcome::Passed } else { failed() })
}
