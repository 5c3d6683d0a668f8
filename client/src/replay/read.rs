//! Reads the mutations of log entries, newest first.

use cellar_api::{wire::EntryView, wire::MutationView};
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

use super::{OwnMutation, ReplayError};
use crate::{Client, Spreadsheet};

async fn load_mutations(
    client: &Client,
    entry: EntryView,
) -> Result<Vec<MutationView>, ReplayError> {
    match &entry.external_body {
        None => Ok(entry.mutations),
        Some(external) => Ok(client.external_mutations(external).await?),
    }
}

/// Oldest first. `from` is the position of the source at which the fork was created.
pub(super) async fn read_own_mutations(
    fork: &Spreadsheet,
    from: Position,
    head: Position,
) -> Result<Vec<OwnMutation>, ReplayError> {
    let mut mutations_newest_first = Vec::new();
    let mut total_bytes = 0_usize;
    let mut entries_newest_first = fork.long_history(Some(head));
    while let Some(entry) = entries_newest_first.try_next().await? {
        let is_entry_of_source = entry.position.segment() <= from.segment();
        if is_entry_of_source {
            break;
        }
        let EntryView { position, author, created_s: created, .. } = entry.clone();
        for mutation in load_mutations(fork.client(), entry).await?.into_iter().rev() {
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
    }
    mutations_newest_first.reverse();
    Ok(mutations_newest_first)
}

fn without_rejections(operations: &[Operation]) -> Vec<Operation> {
    let is_not_rejected = |operation: &&Operation| !matches!(operation, Operation::Rejected(_));
    operations.iter().filter(is_not_rejected).cloned().collect()
}
