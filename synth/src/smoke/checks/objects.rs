//! What goes by way of the bucket: large entries, and snapshots.

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

use super::super::report::CheckOutcome;
use super::Checked;
use super::edits::{edit, expect, set, value_at};
use crate::error::SynthError;

/// How long a snapshot may take: the stream, the relay, the queue and two functions that start.
const SNAPSHOT_PATIENCE: Duration = Duration::from_secs(120);
const SNAPSHOT_POLL: Duration = Duration::from_millis(250);
/// The columns of what is large.
const EXTERNAL_COLUMN: u32 = 1;
const SNAPSHOT_COLUMN: u32 = 2;
/// Cells by which a snapshot becomes due.
const SNAPSHOT_CELLS: usize = 6;
/// All that the smoke test ever sets.
const USED_ROWS: u32 = 16;
const USED_COLUMNS: u32 = 4;

/// An entry whose body is an object in the bucket, uploaded with a presigned request, is read back.
pub(super) async fn large_entry(client: &Client, id: LogId) -> Checked {
    let text = Uuid::new_v4().to_string().repeat(1_000);
    let operation = set(EXTERNAL_COLUMN, std::slice::from_ref(&text));
    let not_encoded = |why: String| SynthError::Process(std::io::Error::other(why));
    let object =
        encode_external_body(&[operation]).map_err(|error| not_encoded(error.to_string()))?;
    let bytes = u64::try_from(object.len()).unwrap_or(u64::MAX);
    let sha256 = hexadecimal(&Sha256::digest(&object));
    let head = client.head(id, None).await?;
    let request = UploadRequest { bytes, sha256: sha256.clone() };
    let grant = client.request_upload(id, &request).await?;
    client.upload(&grant, object).await?;
    let name = format!("smoke-{}", Uuid::new_v4());
    let (incarnation, base) = (head.incarnation, head.head);
    let completion = CompleteRequest {
        client_id: name,
        incarnation,
        acked_id: 0,
        first_id: 1,
        base,
        bytes,
        sha256,
    };
    let reply = client.complete_upload(id, grant.upload_id, &completion).await?;
    let there = value_at(client, id, "B1", None, reply.head).await?;
    Ok(expect("B1", &Value::Text(text), &there))
}

/// So much is appended that a snapshot is due; the stream, the queue and the worker have to make it,
/// and the spreadsheet loads from it.
pub(super) async fn snapshot(client: &Client, id: LogId) -> Checked {
    let word = Uuid::new_v4().to_string();
    let bytes = usize::try_from(SNAPSHOT_BYTES).unwrap_or(usize::MAX);
    let text = word.repeat(bytes / (SNAPSHOT_CELLS * word.len()).max(1) + 1);
    // One mutation may not be so large.
    let half = vec![text.clone(); SNAPSHOT_CELLS / 2];
    edit(client, id, set(SNAPSHOT_COLUMN, &half)).await?;
    let position = edit(client, id, set(SNAPSHOT_COLUMN + 1, &half)).await?;
    let Some(due) = snapshot_entry(client, id, position).await? else {
        let why = "the configuration makes snapshots later than that, or none";
        return Ok(CheckOutcome::Skipped(why.to_owned()));
    };
    let begun = Instant::now();
    loop {
        let made = client.stats(id, Some(due)).await?.snapshot;
        if made.is_some_and(|snapshot| snapshot.position >= due) {
            break;
        }
        if begun.elapsed() >= SNAPSHOT_PATIENCE {
            let seconds = SNAPSHOT_PATIENCE.as_secs();
            return Ok(CheckOutcome::Failed(format!(
                "the snapshot at {due} was not made within {seconds} s: look at the logs of the relay \
                 and of the snapshot function, and at their dead letters"
            )));
        }
        sleep(SNAPSHOT_POLL).await;
    }
    let loaded = client.load(id, Some(due)).await?;
    if loaded.root.is_none() || loaded.root_url.is_none() {
        return Ok(CheckOutcome::Failed("a load does not name the snapshot's root".to_owned()));
    }
    let there = value_at(client, id, "D1", None, due).await?;
    Ok(expect("D1", &Value::Text(text), &there))
}

/// The Snapshot entry behind a position, if there is one.
async fn snapshot_entry(
    client: &Client,
    id: LogId,
    position: Position,
) -> Result<Option<Position>, SynthError> {
    let behind = match client.entries(id, position).await {
        Ok(update) => update.entries,
        // Others roll the log of the smoke test just now.
        Err(error) if is_reload(&error) => client.load(id, Some(position)).await?.entries,
        Err(error) => return Err(error.into()),
    };
    let snapshot = behind.iter().find(|entry| entry.kind == EntryKind::Snapshot);
    Ok(snapshot.map(|entry| entry.position))
}

fn is_reload(error: &ClientError) -> bool {
    error.problem_kind() == Some(ProblemKind::ReloadRequired)
}

/// Clears every cell that the smoke test has set.
pub(super) async fn clean_up(client: &Client, id: LogId) -> Checked {
    let (rows, columns) = (Spans::one(0, USED_ROWS), Spans::one(0, USED_COLUMNS));
    let clear = ClearRange { sheet: SheetId::FIRST, rows, columns };
    let position = edit(client, id, Operation::ClearRange(clear)).await?;
    for cell in ["A1", "B1", "C1", "D1"] {
        let there = value_at(client, id, cell, None, position).await?;
        if there != Value::default() {
            return Ok(expect(cell, &Value::default(), &there));
        }
    }
    Ok(CheckOutcome::Passed)
}
