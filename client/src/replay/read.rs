//! Reads the mutations of log entries, newest first.

use cellar_api::{wire::EntryView, wire::MutationView};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_PAGE_ENTRIES, MAX_REPLAY_BYTES};
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

use super::{OwnMutation, ReplayError};
use crate::Client;

/// Visits entries in reverse order, starting at `newest`, until `visit` returns `false`.
pub(super) async fn visit_backwards(
    client: &Client,
    id: LogId,
    newest: Position,
    mut visit: impl AsyncFnMut(EntryView) -> Result<bool, ReplayError>,
) -> Result<(), ReplayError> {
    let mut page_start = newest;
    loop {
        let page = client.history(id, Some(page_start), Some(MAX_PAGE_ENTRIES)).await?;
        for entry in page.entries {
            if !visit(entry).await? {
                return Ok(());
            }
        }
        match page.next {
            Some(next) if next < page_start => page_start = next,
            // Stop: a bad `next` from the server would cause an endless loop.
            _ => return Ok(()),
        }
    }
}

/// Returns an entry's mutations. Downloads a large entry's body.
pub(super) async fn load_mutations(
    client: &Client,
    entry: EntryView,
) -> Result<Vec<MutationView>, ReplayError> {
    match &entry.external_body {
        None => Ok(entry.mutations),
        Some(external) => Ok(client.external_mutations(external).await?),
    }
}

/// Reads a fork's mutations that took effect, oldest first. `from` is the source position at which
/// the fork was created.
pub(super) async fn read_own_mutations(
    client: &Client,
    fork: LogId,
    from: Position,
    head: Position,
) -> Result<Vec<OwnMutation>, ReplayError> {
    let mut mutations_newest_first = Vec::new();
    let mut total_bytes = 0_usize;
    visit_backwards(client, fork, head, async |entry| {
        let is_entry_of_source = entry.position.segment() <= from.segment();
        if is_entry_of_source {
            return Ok(false);
        }
        let EntryView { position, author, created_s: created, .. } = entry.clone();
        for mutation in load_mutations(client, entry).await?.into_iter().rev() {
            let operations = without_rejections(mutation.committed_operations());
            for operation in &operations {
                total_bytes = total_bytes.saturating_add(operation.weight_bytes());
            }
            if total_bytes > MAX_REPLAY_BYTES {
                return Err(ReplayError::TooLarge { max_bytes: MAX_REPLAY_BYTES });
            }
            if !operations.is_empty() {
                let author = author.clone();
                mutations_newest_first.push(OwnMutation { position, author, created, operations });
            }
        }
        Ok(true)
    })
    .await?;
    mutations_newest_first.reverse();
    Ok(mutations_newest_first)
}

fn without_rejections(operations: &[Operation]) -> Vec<Operation> {
    let is_not_rejected = |operation: &&Operation| !matches!(operation, Operation::Rejected(_));
    operations.iter().filter(is_not_rejected).cloned().collect()
}
