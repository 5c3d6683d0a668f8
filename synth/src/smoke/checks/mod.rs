//! Checks of the smoke test. Each check builds on the results of the previous checks.

mod access;
mod edits;
mod objects;
mod queries;

use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::wire::CreateRequest;
use cellar_base::identity::LogId;
use cellar_sheet::cell::Value;
use tokio::time::sleep;
use uuid::Uuid;

use self::edits::AppendedRequest;
use super::report::{CheckFailed, CheckOutcome, CheckResult, SmokeReport};
use super::target::SmokeTarget;
use crate::error::SynthError;

/// The nonce is fixed, so that all runs share one spreadsheet.
const NONCE: &str = "cellar-smoke-test";
/// Explains the spreadsheet to a person whose own token the smoke test had to use.
const NAME: &str = "Smoke test of synth";
const STARTUP_POLL: Duration = Duration::from_secs(1);

/// Runs the checks until one fails, and then clears all cells that the checks set.
pub(crate) async fn run_checks(target: &SmokeTarget<'_>) -> SmokeReport {
    let mut report = SmokeReport::default();
    let Ok((client, log_id)) = open_spreadsheet(target, &mut report).await else { return report };
    // Ignore the error, because the report already contains the failed check.
    let _ = check_spreadsheet(target, &client, log_id, &mut report).await;
    let _ = run_check(&mut report, "clean up", objects::clean_up(&client, log_id)).await;
    report
}

async fn open_spreadsheet(
    target: &SmokeTarget<'_>,
    report: &mut SmokeReport,
) -> Result<(Client, LogId), CheckFailed> {
    let client = run_check_with_value(report, "health", async {
        let client = target.client(Some(&target.editor_token()?))?;
        let outcome = wait_until_healthy(target, &client).await?;
        Ok((client, outcome))
    })
    .await?;
    let created = run_check_with_value(report, "create", async {
        let request = CreateRequest { nonce: NONCE.to_owned(), name: Some(NAME.to_owned()) };
        let created = client.create(&request).await?;
        Ok((created, CheckOutcome::Passed))
    })
    .await?;
    Ok((client, created.id))
}

async fn check_spreadsheet(
    target: &SmokeTarget<'_>,
    client: &Client,
    log_id: LogId,
    report: &mut SmokeReport,
) -> Result<(), CheckFailed> {
    let appended = check_append_and_read(client, log_id, report).await?;
    run_check(report, "an edit follows its row", edits::edit_follows_row(client, log_id)).await?;
    run_check(report, "a large entry", objects::check_large_entry(client, log_id)).await?;
    let query_check = queries::accepts_spaces_in_queries(target);
    run_check(report, "a query with spaces", query_check).await?;
    let snapshot_check = objects::check_snapshot(client, log_id);
    run_check(report, "a snapshot is made and loaded", snapshot_check).await?;
    run_check(report, "no token, no entry", access::rejects_missing_token(target, log_id)).await?;
    let viewer_check = access::rejects_edits_of_viewer(target, log_id, &appended.request);
    run_check(report, "a viewer cannot write", viewer_check).await?;
    let hidden_check = access::hides_other_spreadsheets(target, log_id);
    run_check(report, "other spreadsheets are hidden", hidden_check).await
}

/// Appends a request twice, and then reads the cell at the position of the edit and at the position
/// before it.
async fn check_append_and_read(
    client: &Client,
    log_id: LogId,
    report: &mut SmokeReport,
) -> Result<AppendedRequest, CheckFailed> {
    let cell_text = Uuid::new_v4().to_string();
    let appended = run_check_with_value(report, "append", async {
        let head = client.spreadsheet(log_id).head().await?;
        let set_cell = edits::set_column(0, std::slice::from_ref(&cell_text));
        edits::send_append(client, log_id, edits::append_request(head, set_cell)).await
    })
    .await?;
    let repeated_append = edits::append_again(client, log_id, &appended);
    run_check(report, "a repeated append changes nothing", repeated_append).await?;
    let position = appended.position;
    let appended_value = Value::Text(cell_text);
    run_check(report, "read back", async {
        let value = edits::latest_cell_value(client, log_id, "A1", position).await?;
        Ok(edits::compare_values("A1", &appended_value, &value))
    })
    .await?;
    run_check(report, "read the position before", async {
        let base = appended.request.mutations.first().map(|mutation| mutation.base);
        let value = edits::earlier_cell_value(client, log_id, "A1", base, position).await?;
        Ok(CheckOutcome::from_condition(value != appended_value, || {
            "the edit is visible at the position before it".to_owned()
        }))
    })
    .await?;
    Ok(appended)
}

async fn run_check(
    report: &mut SmokeReport,
    name: &'static str,
    outcome_of_check: impl Future<Output = CheckResult>,
) -> Result<(), CheckFailed> {
    run_check_with_value(report, name, async { Ok(((), outcome_of_check.await?)) }).await
}

async fn run_check_with_value<T>(
    report: &mut SmokeReport,
    name: &'static str,
    outcome_of_check: impl Future<Output = Result<(T, CheckOutcome), SynthError>>,
) -> Result<T, CheckFailed> {
    let started = Instant::now();
    let (value, outcome) = match outcome_of_check.await {
        Ok((value, outcome)) => (Some(value), outcome),
        Err(error) => (None, CheckOutcome::Failed(error.to_string())),
    };
    report.add_check(name, outcome, started.elapsed())?;
    value.ok_or(CheckFailed)
}

/// Polling is needed because a new URL is not reachable at once.
async fn wait_until_healthy(target: &SmokeTarget<'_>, client: &Client) -> CheckResult {
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
        let failed_services = health.dependencies.iter().filter(|service| !service.ok);
        let names: Vec<&str> = failed_services.map(|service| service.name.as_str()).collect();
        format!("these services do not respond: {}", names.join(", "))
    }))
}
