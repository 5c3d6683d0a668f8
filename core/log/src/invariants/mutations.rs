//! Invariants I3 and I4: the mutations of each client take effect once and in order, and are never
//! lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

/// Identity of a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MutationId {
    /// Client that assigned the mutation id.
    pub client: ClientKey,
    /// Mutation id, unique per client.
    pub id: u64,
}

struct StoredMutation {
    mutation_id: MutationId,
    position: Position,
    is_rejected: bool,
}

/// Checks I3: no mutation in `history` takes effect twice.
///
/// # Errors
/// Returns [`Violation::Twice`] for the first duplicated mutation.
pub fn check_once(history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut first_positions = BTreeMap::new();
    for StoredMutation { mutation_id, position, is_rejected } in stored_mutations(history) {
        if is_rejected {
            continue;
        }
        if let Some(first) = first_positions.insert(mutation_id, position) {
            return Err(Violation::Twice { mutation: mutation_id, first, again: position });
        }
    }
    Ok(())
}

/// Checks I3: the mutations of each client take effect in the order of their ids. Before a mutation
/// takes effect, the client's preceding mutation must have been committed or rejected.
///
/// # Errors
/// Returns [`Violation::OutOfOrder`] for the first mutation that is out of order.
pub fn check_order(history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut last_ids = BTreeMap::<ClientKey, u64>::new();
    for StoredMutation { mutation_id, position, is_rejected } in stored_mutations(history) {
        let last_id = last_ids.entry(mutation_id.client).or_default();
        let is_next_id = mutation_id.id == last_id.saturating_add(1);
        if !is_rejected && !is_next_id {
            return Err(Violation::OutOfOrder { mutation: mutation_id, at: position });
        }
        *last_id = mutation_id.id.max(*last_id);
    }
    Ok(())
}

/// Checks I4: every acknowledged mutation takes effect in the entries that a reader sees (see
/// [`readable_entries`](super::readable_entries)).
///
/// # Errors
/// Returns [`Violation::Lost`] for the first lost mutation.
pub fn check_acknowledged(
    readable: &[Arc<Entry>],
    acknowledged: impl IntoIterator<Item = MutationId>,
) -> Result<(), Violation> {
    for mutation_id in acknowledged {
        let takes_effect = stored_mutations(readable)
            .any(|stored| stored.mutation_id == mutation_id && !stored.is_rejected);
        if !takes_effect {
            return Err(Violation::Lost { mutation: mutation_id });
        }
    }
    Ok(())
}

fn stored_mutations(entries: &[Arc<Entry>]) -> impl Iterator<Item = StoredMutation> + '_ {
    entries.iter().flat_map(|entry| mutations_of_entry(entry))
}

fn mutations_of_entry(entry: &Entry) -> Vec<StoredMutation> {
    let Some((client, first_id, last_id)) = entry.mutation_ids() else { return Vec::new() };
    let rejected_ids = rejected_ids(&entry.content);
    let mut stored_mutations = Vec::new();
    for id in first_id..=last_id {
        stored_mutations.push(StoredMutation {
            mutation_id: MutationId { client, id },
            position: entry.position,
            is_rejected: rejected_ids.contains(&id),
        });
    }
    stored_mutations
}

fn rejected_ids(content: &Content) -> BTreeSet<u64> {
    let Content::Edits(edits) = content else { return BTreeSet::new() };
    (edits.first_id..)
        .zip(&edits.mutations)
        .filter(|(_, mutation)| matches!(mutation.authored, Operation::Rejected(_)))
        .map(|(id, _)| id)
        .collect()
}
