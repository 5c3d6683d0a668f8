//! Smoke test checks, each building on the results of the previous ones.

mod access;
mod edits;
mod objects;

use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::wire::CreateRequest;
use cellar_base::identity::LogId;
use cellar_sheet::cell::Value;
use tokio::time::sleep;
use uuid::Uuid;

use super::report::{CheckOutcome, CheckResult, SmokeReport};
use super::target::Target;
use crate::error::SynthError;

/// Nonce (creation key) of the smoke test's spreadsheet, fixed so that all runs share one
/// spreadsheet.
const NONCE: &str = "cellar-smoke-test";
/// Polling interval until a new stack responds.
const STARTUP_POLL: Duration = Duration::from_secs(1);

/// Runs the checks until one fails, and clears all cells set by the checks.
pub(crate) async fn run(target: &Target<'_>) -> SmokeReport {
    let mut report = SmokeReport::default();
    let Some((client, id)) = open_spreadsheet(target, &mut report).await else { return report };
    let _ = run_checks(target, &client, id, &mut report).await;
    let _ = check(&mut report, "clean up", objects::clean_up(&client, id)).await;
    report
}

/// Checks the health of the stack and creates the spreadsheet. Returns `None` if either check
/// fails.
async fn open_spreadsheet(
    target: &Target<'_>,
    report: &mut SmokeReport,
) -> Option<(Client, LogId)> {
    let client = check_with_value(report, "health", async {
        let client = target.client(Some(target.token))?;
        let outcome = wait_until_healthy(target, &client).await?;
        Ok((client, outcome))
    })
    .await?;
    let created = check_with_value(report, "create", async {
        let created = client.create(&CreateRequest::new(NONCE.to_owned())).await?;
        Ok((created, CheckOutcome::Passed))
    })
    .await?;
    Some((client, created.id))
}

/// Runs the checks that use the spreadsheet. Returns `None` after the first failure.
async fn run_checks(
    target: &Target<'_>,
    client: &Client,
    id: LogId,
    report: &mut SmokeReport,
) -> Option<()> {
    let text = Uuid::new_v4().to_string();
    let (position, request) = check_with_value(report, "append", async {
        let head = client.spreadsheet(id).head(None).await?;
        let set_cell = edits::set_column(0, std::slice::from_ref(&text));
        let request = edits::append_request(head, set_cell);
        edits::append(client, id, &request).await
    })
    .await?;
    let repeated = edits::append_again(client, id, &request, position);
    check(report, "a repeated append changes nothing", repeated).await?;
    let value = Value::Text(text);
    check(report, "read back", async {
        let found = edits::cell_value(client, id, "A1", None, position).await?;
        Ok(edits::compare_values("A1", &value, &found))
    })
    .await?;
    check(report, "read the position before", async {
        let base = request.mutations.first().map(|mutation| mutation.base);
        let found = edits::cell_value(client, id, "A1", base, position).await?;
        Ok(CheckOutcome::from_condition(found != value, || {
            "the edit is visible at the position before it".to_owned()
        }))
    })
    .await?;
    check(report, "an edit follows its row", edits::edit_follows_row(client, id)).await?;
    check(report, "a large entry", objects::large_entry(client, id)).await?;
    check(report, "a snapshot is made and loaded", objects::snapshot(client, id)).await?;
    check(report, "no token, no entry", access::rejects_missing_token(target, id)).await?;
    let viewer = access::rejects_edits_of_viewer(target, id, &request);
    check(report, "a viewer cannot write", viewer).await?;
    let hidden = access::hides_other_spreadsheets(target, id);
    check(report, "other spreadsheets are hidden", hidden).await
}

/// Runs a check and reports its outcome. Returns `None` if the check failed.
async fn check(
    report: &mut SmokeReport,
    name: &'static str,
    result: impl Future<Output = CheckResult>,
) -> Option<()> {
    check_with_value(report, name, async { result.await.map(|outcome| ((), outcome)) }).await
}

/// Runs and reports a check that returns a value for later checks, or `None` if it failed.
async fn check_with_value<T>(
    report: &mut SmokeReport,
    name: &'static str,
    result: impl Future<Output = Result<(T, CheckOutcome), SynthError>>,
) -> Option<T> {
    let started = Instant::now();
    match result.await {
        Ok((value, outcome)) => {
            let passed = report.add(name, outcome, started.elapsed());
            if passed { Some(value) } else { None }
        }
        Err(error) => {
            report.add(name, CheckOutcome::Failed(error.to_string()), started.elapsed());
            None
        }
    }
}

/// Polls the stack until it is healthy or the startup timeout expires, because a new URL takes a
/// while to become reachable.
async fn wait_until_healthy(target: &Target<'_>, client: &Client) -> CheckResult {
    let started = Instant::now();
    loop {
        let health = check_health(client).await;
        let is_healthy = matches!(health, Ok(CheckOutcome::Passed));
        if is_healthy || started.elapsed() >= target.startup_timeout {
            return health;
        }
        sleep(STARTUP_POLL).await;
    }
}

async fn check_health(client: &Client) -> CheckResult {
    let health = client.health().await?;
    Ok(CheckOutcome::from_condition(health.ok, || {
        let failing: Vec<_> = health.dependencies.iter().filter(|table| !table.ok).collect();
        format!("these tables do not respond: {failing:?}")
    }))
}
