//! Checks of data in the bucket: large entries and snapshots.

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

use super::edits::{append_operation, cell_value, compare_values, set_column};
use crate::error::SynthError;
use crate::smoke::report::{CheckOutcome, CheckResult};

/// Timeout for a snapshot, including cold starts of the relay and snapshot functions.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(120);
/// Polling interval while a snapshot is being built.
const SNAPSHOT_POLL: Duration = Duration::from_millis(250);
/// Column index for the large entry check.
const EXTERNAL_COLUMN: u32 = 1;
/// First of the two column indexes for the snapshot check.
const SNAPSHOT_COLUMN: u32 = 2;
/// Number of cells that share the bytes needed to make a snapshot due.
const SNAPSHOT_CELLS: usize = 6;
/// Number of rows to clear after the smoke test, covering all its cells.
const USED_ROWS: u32 = 16;
/// Number of columns to clear after the smoke test, covering all its cells.
const USED_COLUMNS: u32 = 4;

/// Uploads a large entry body with a presigned request, and checks that the entry's cell is
/// readable.
pub(super) async fn large_entry(client: &Client, id: LogId) -> CheckResult {
    let text = Uuid::new_v4().to_string().repeat(1_000);
    let operation = set_column(EXTERNAL_COLUMN, std::slice::from_ref(&text));
    let body = encode_external_body(&[operation])
        .map_err(|error| SynthError::Process(std::io::Error::other(error.to_string())))?;
    let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
    let sha256 = hexadecimal(&Sha256::digest(&body));
    let head = client.spreadsheet(id).head(None).await?;
    let request = UploadRequest { bytes, sha256: sha256.clone() };
    let grant = client.spreadsheet(id).request_upload(&request).await?;
    client.upload(&grant, body).await?;
    let completion = CompleteRequest {
        client_id: format!("smoke-{}", Uuid::new_v4()),
        incarnation: head.incarnation,
        acked_id: 0,
        first_id: 1,
        base: head.head,
        bytes,
        sha256,
    };
    let reply = client.spreadsheet(id).complete_upload(grant.upload_id, &completion).await?;
    let found = cell_value(client, id, "B1", None, reply.head).await?;
    Ok(compare_values("B1", &Value::Text(text), &found))
}

/// Appends enough bytes to make a snapshot due, waits for the snapshot, and loads the spreadsheet
/// from it.
pub(super) async fn snapshot(client: &Client, id: LogId) -> CheckResult {
    let word = Uuid::new_v4().to_string();
    let bytes = usize::try_from(SNAPSHOT_BYTES).unwrap_or(usize::MAX);
    let text = word.repeat(bytes / (SNAPSHOT_CELLS * word.len()).max(1) + 1);
    // Split the bytes into two mutations, because one would exceed the size limit.
    let half = vec![text.clone(); SNAPSHOT_CELLS / 2];
    append_operation(client, id, set_column(SNAPSHOT_COLUMN, &half)).await?;
    let position = append_operation(client, id, set_column(SNAPSHOT_COLUMN + 1, &half)).await?;
    let Some(due) = snapshot_entry_after(client, id, position).await? else {
        let why = "the configuration disables snapshots, or creates them less often";
        return Ok(CheckOutcome::Skipped(why.to_owned()));
    };
    if !wait_for_snapshot(client, id, due).await? {
        return Ok(CheckOutcome::Failed(format!(
            "the snapshot at {due} was not built within {} s: check the logs of the relay and of the \
             snapshot function, and their dead letters",
            SNAPSHOT_TIMEOUT.as_secs()
        )));
    }
    let loaded = client.spreadsheet(id).load(Some(due)).await?;
    if loaded.root.is_none() || loaded.root_url.is_none() {
        let why = "the response to a load does not contain the snapshot's root";
        return Ok(CheckOutcome::Failed(why.to_owned()));
    }
    let found = cell_value(client, id, "D1", None, due).await?;
    Ok(compare_values("D1", &Value::Text(text), &found))
}

/// Waits for a snapshot at position `due` or later. Returns `false` after [`SNAPSHOT_TIMEOUT`].
async fn wait_for_snapshot(client: &Client, id: LogId, due: Position) -> Result<bool, SynthError> {
    let started = Instant::now();
    loop {
        let newest = client.spreadsheet(id).stats(Some(due)).await?.snapshot;
        if newest.is_some_and(|snapshot| snapshot.position >= due) {
            return Ok(true);
        }
        if started.elapsed() >= SNAPSHOT_TIMEOUT {
            return Ok(false);
        }
        sleep(SNAPSHOT_POLL).await;
    }
}

/// Returns the position of the first Snapshot entry after `position`, or `None` if the log has no
/// such entry.
async fn snapshot_entry_after(
    client: &Client,
    id: LogId,
    position: Position,
) -> Result<Option<Position>, SynthError> {
    let entries = match client.spreadsheet(id).entries_page(position).await {
        Ok(update) => update.entries,
        // Reload the entries if a concurrent smoke test has started a new log segment.
        Err(error) if requires_reload(&error) => {
            client.spreadsheet(id).load(Some(position)).await?.entries
        }
        Err(error) => return Err(error.into()),
    };
    let snapshot = entries.iter().find(|entry| entry.kind == EntryKind::Snapshot);
    Ok(snapshot.map(|entry| entry.position))
}

fn requires_reload(error: &ClientError) -> bool {
    error.problem_kind() == Some(ProblemKind::ReloadRequired)
}

/// Clears all cells set by the smoke test, and checks that they are blank.
pub(super) async fn clean_up(client: &Client, id: LogId) -> CheckResult {
    let (rows, columns) = (Spans::one(0, USED_ROWS), Spans::one(0, USED_COLUMNS));
    let clear = ClearRange { sheet: SheetId::FIRST, rows, columns };
    let position = append_operation(client, id, Operation::ClearRange(clear)).await?;
    for cell in ["A1", "B1", "C1", "D1"] {
        let found = cell_value(client, id, cell, None, position).await?;
        if found != Value::default() {
            return Ok(compare_values(cell, &Value::default(), &found));
        }
    }
    Ok(CheckOutcome::Passed)
}
