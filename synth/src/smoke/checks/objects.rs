//! Checks of the data in the bucket: large entries and snapshots.

use std::time::Duration;

use cellar::{Client, ClientError};
use cellar_api::{
    wire::CompleteRequest, wire::EntryKind, wire::ProblemKind, wire::UploadRequest,
    wire::hexadecimal,
};
use cellar_base::identity::LogId;
use cellar_base::limits::SNAPSHOT_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::encode_external_body;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::Operation;
use cellar_sheet::operation::{ClearRange, SheetId, Spans};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::edits::{append_operation, compare_values, latest_cell_value, set_column};
use crate::error::SynthError;
use crate::smoke::report::{CheckOutcome, CheckResult};

/// Includes the cold starts of the relay function and the snapshot function.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(120);
const SNAPSHOT_POLL: Duration = Duration::from_millis(250);
const EXTERNAL_COLUMN: u32 = 1;
/// Index of the first of the two columns to which the snapshot check writes.
const SNAPSHOT_COLUMN: u32 = 2;
/// Together, the cells are large enough to make a snapshot due.
const SNAPSHOT_CELLS: usize = 6;
const SNAPSHOT_MUTATIONS: usize = 2;
/// Number of times that the large entry check repeats a 36-byte word in its cell.
const LARGE_TEXT_REPETITIONS: usize = 1_000;
/// Number of rows to clear after the smoke test. They include all cells that the test set.
const USED_ROWS: u32 = 16;
const USED_COLUMNS: u32 = 4;

/// Uploads the body of a large entry with a presigned request, and checks that the cell of the
/// entry is readable.
pub(super) async fn check_large_entry(client: &Client, log_id: LogId) -> CheckResult {
    let cell_text = Uuid::new_v4().to_string().repeat(LARGE_TEXT_REPETITIONS);
    let operation = set_column(EXTERNAL_COLUMN, std::slice::from_ref(&cell_text));
    let body = encode_external_body(&[operation])
        .map_err(|error| SynthError::Process(std::io::Error::other(error.to_string())))?;
    let byte_length = u64::try_from(body.len()).unwrap_or(u64::MAX);
    let sha256 = hexadecimal(&Sha256::digest(&body));
    let spreadsheet = client.spreadsheet(log_id);
    let head = spreadsheet.head().await?;
    let upload_request = UploadRequest { bytes: byte_length, sha256: sha256.clone() };
    let upload_grant = spreadsheet.request_upload(&upload_request).await?;
    client.upload(&upload_grant, body).await?;
    let completion = CompleteRequest {
        client_id: format!("smoke-{}", Uuid::new_v4()),
        incarnation: head.incarnation,
        acked_id: 0,
        first_id: 1,
        base: head.head,
        bytes: byte_length,
        sha256,
    };
    let reply = spreadsheet.complete_upload(upload_grant.upload_id, &completion).await?;
    let value = latest_cell_value(client, log_id, "B1", reply.head).await?;
    Ok(compare_values("B1", &Value::Text(cell_text), &value))
}

/// Appends enough bytes to make a snapshot due, waits for the snapshot, and loads the spreadsheet
/// from the snapshot.
pub(super) async fn check_snapshot(client: &Client, log_id: LogId) -> CheckResult {
    let cell_text = text_that_makes_snapshot_due();
    // Split the cells into two mutations, because a single mutation would exceed the size limit.
    let column_texts = vec![cell_text.clone(); SNAPSHOT_CELLS / SNAPSHOT_MUTATIONS];
    let first_column = set_column(SNAPSHOT_COLUMN, &column_texts);
    let second_column = set_column(SNAPSHOT_COLUMN + 1, &column_texts);
    append_operation(client, log_id, first_column).await?;
    let position = append_operation(client, log_id, second_column).await?;
    let Some(snapshot_position) = snapshot_entry_after(client, log_id, position).await? else {
        let reason = "the configuration disables snapshots, or creates them less often";
        return Ok(CheckOutcome::Skipped(reason.to_owned()));
    };
    if !is_snapshot_built_in_time(client, log_id, snapshot_position).await? {
        return Ok(CheckOutcome::Failed(format!(
            "the snapshot at {snapshot_position} was not built within {} s: check the logs of the \
             relay and of the snapshot function, and their dead letters",
            SNAPSHOT_TIMEOUT.as_secs()
        )));
    }
    let loaded = client.spreadsheet(log_id).load(Some(snapshot_position)).await?;
    if loaded.root.is_none() || loaded.root_url.is_none() {
        let reason = "the response to a load does not contain the snapshot's root";
        return Ok(CheckOutcome::Failed(reason.to_owned()));
    }
    let value = latest_cell_value(client, log_id, "D1", snapshot_position).await?;
    Ok(compare_values("D1", &Value::Text(cell_text), &value))
}

fn text_that_makes_snapshot_due() -> String {
    let word = Uuid::new_v4().to_string();
    let snapshot_bytes = usize::try_from(SNAPSHOT_BYTES).unwrap_or(usize::MAX);
    let bytes_per_repetition = SNAPSHOT_CELLS * word.len();
    word.repeat(snapshot_bytes / bytes_per_repetition.max(1) + 1)
}

/// Returns `false` if no snapshot is built within [`SNAPSHOT_TIMEOUT`].
async fn is_snapshot_built_in_time(
    client: &Client,
    log_id: LogId,
    snapshot_position: Position,
) -> Result<bool, SynthError> {
    let started = Instant::now();
    loop {
        let newest_snapshot =
            client.spreadsheet(log_id).stats(Some(snapshot_position)).await?.snapshot;
        if newest_snapshot.is_some_and(|snapshot| snapshot.position >= snapshot_position) {
            return Ok(true);
        }
        if started.elapsed() >= SNAPSHOT_TIMEOUT {
            return Ok(false);
        }
        sleep(SNAPSHOT_POLL).await;
    }
}

/// Returns `None` if the log has no such entry.
async fn snapshot_entry_after(
    client: &Client,
    log_id: LogId,
    position: Position,
) -> Result<Option<Position>, SynthError> {
    let entries = match client.spreadsheet(log_id).entries_page(position).await {
        Ok(update) => update.entries,
        // Reload the entries if another smoke test has started a new log segment.
        Err(error) if requires_reload(&error) => {
            client.spreadsheet(log_id).load(Some(position)).await?.entries
        }
        Err(error) => return Err(error.into()),
    };
    let snapshot_entry = entries.iter().find(|entry| entry.kind == EntryKind::Snapshot);
    Ok(snapshot_entry.map(|entry| entry.position))
}

fn requires_reload(error: &ClientError) -> bool {
    error.problem_kind() == Some(ProblemKind::ReloadRequired)
}

/// Clears all cells that the smoke test set, and checks that the cells are blank.
pub(super) async fn clean_up(client: &Client, log_id: LogId) -> CheckResult {
    let (rows, columns) = (Spans::one(0, USED_ROWS), Spans::one(0, USED_COLUMNS));
    let clear = ClearRange { sheet: SheetId::FIRST, rows, columns };
    let position = append_operation(client, log_id, Operation::ClearRange(clear)).await?;
    for cell in ["A1", "B1", "C1", "D1"] {
        let value = latest_cell_value(client, log_id, cell, position).await?;
        if value != Value::default() {
            return Ok(compare_values(cell, &Value::default(), &value));
        }
    }
    Ok(CheckOutcome::Passed)
}
