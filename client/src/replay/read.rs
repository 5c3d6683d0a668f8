//! Reads what entries did, backwards over the history.

use cellar_api::{wire::EntryView, wire::MutationView};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_PAGE_ENTRIES, MAX_REPLAY_BYTES};
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

use super::{OwnMutation, ReplayError};
use crate::Client;

/// Visits entries from `newest` backwards, as long as the visitor says.
pub(super) async fn backwards(
    client: &Client,
    id: LogId,
    newest: Position,
    mut visit: impl AsyncFnMut(EntryView) -> Result<bool, ReplayError>,
) -> Result<(), ReplayError> {
    let mut from = newest;
    loop {
        let page = client.history(id, Some(from), Some(MAX_PAGE_ENTRIES)).await?;
        for entry in page.entries {
            if !visit(entry).await? {
                return Ok(());
            }
        }
        // A page that does not go on would be asked for again for ever.
        match page.next.filter(|next| *next < from) {
            Some(next) => from = next,
            None => return Ok(()),
        }
    }
}

/// The mutations of an entry, wherever its body is.
pub(super) async fn mutations(
    client: &Client,
    entry: EntryView,
) -> Result<Vec<MutationView>, ReplayError> {
    match &entry.external_body {
        None => Ok(entry.mutations),
        Some(external) => Ok(client.external_mutations(external).await?),
    }
}

/// The mutations of a fork's own entries that did something, the oldest first.
pub(super) async fn own_mutations(
    client: &Client,
    fork: LogId,
    from: Position,
    head: Position,
) -> Result<Vec<OwnMutation>, ReplayError> {
    let (mut own, mut bytes) = (Vec::new(), 0_usize);
    backwards(client, fork, head, async |entry| {
        if entry.position.segment() <= from.segment() {
            return Ok(false);
        }
        let EntryView { position, author, created_s: created, .. } = entry.clone();
        for mutation in mutations(client, entry).await?.into_iter().rev() {
            let operations = taking_effect(mutation.effective());
            let weight = operations.iter().map(Operation::weight_bytes);
            bytes = weight.fold(bytes, usize::saturating_add);
            if bytes > MAX_REPLAY_BYTES {
                return Err(ReplayError::TooLarge { max_bytes: MAX_REPLAY_BYTES });
            }
            if !operations.is_empty() {
                own.push(OwnMutation { position, author: author.clone(), created, operations });
            }
        }
        Ok(true)
    })
    .await?;
    own.reverse();
    Ok(own)
}

fn taking_effect(effective: &[Operation]) -> Vec<Operation> {
    let does = |operation: &&Operation| !matches!(operation, Operation::Rejected(_));
    effective.iter().filter(does).cloned().collect()
}
