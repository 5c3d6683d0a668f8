//! Invariants I3 and I4: each client's mutations take effect once and in order, and are never lost.

use std::collections::BTreeMap;
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

/// A mutation and the entry that contains it.
struct StoredMutation {
    mutation: MutationId,
    at: Position,
    /// Whether the mutation was accepted (not rejected).
    effective: bool,
}

/// Checks I3: no mutation in `history` takes effect twice.
///
/// # Errors
/// Returns [`Violation::Twice`] for the first duplicated mutation.
pub fn check_once(history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut positions = BTreeMap::new();
    for StoredMutation { mutation, at, effective } in stored_mutations(history) {
        if !effective {
            continue;
        }
        if let Some(first) = positions.insert(mutation, at) {
            return Err(Violation::Twice { mutation, first, again: at });
        }
    }
    Ok(())
}

/// Checks I3: each client's mutations take effect in id order, after the preceding mutation was
/// committed or rejected.
///
/// # Errors
/// Returns [`Violation::OutOfOrder`] for the first out-of-order mutation.
pub fn check_order(history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut last_ids = BTreeMap::<ClientKey, u64>::new();
    for StoredMutation { mutation, at, effective } in stored_mutations(history) {
        let last_id = last_ids.entry(mutation.client).or_default();
        if effective && mutation.id != last_id.saturating_add(1) {
            return Err(Violation::OutOfOrder { mutation, at });
        }
        *last_id = mutation.id.max(*last_id);
    }
    Ok(())
}

/// Checks I4: every acknowledged mutation takes effect in the [`readable`](super::readable)
/// entries.
///
/// # Errors
/// Returns [`Violation::Lost`] for the first lost mutation.
pub fn check_acknowledged(
    readable: &[Arc<Entry>],
    acknowledged: impl IntoIterator<Item = MutationId>,
) -> Result<(), Violation> {
    let took_effect = |id: &MutationId| {
        stored_mutations(readable).any(|stored| stored.effective && stored.mutation == *id)
    };
    match acknowledged.into_iter().find(|id| !took_effect(id)) {
        Some(mutation) => Err(Violation::Lost { mutation }),
        None => Ok(()),
    }
}

fn stored_mutations(history: &[Arc<Entry>]) -> impl Iterator<Item = StoredMutation> + '_ {
    history.iter().flat_map(|entry| {
        let ids = entry.mutation_ids();
        let mutations = ids.into_iter().flat_map(|(client, first_id, last_id)| {
            (first_id..=last_id).map(move |id| (first_id, MutationId { client, id }))
        });
        mutations.map(|(first_id, mutation)| StoredMutation {
            mutation,
            at: entry.position,
            effective: is_effective(&entry.content, mutation.id.saturating_sub(first_id)),
        })
    })
}

fn is_effective(content: &Content, index: u64) -> bool {
    let Content::Edits(edits) = content else { return true };
    let mutation = usize::try_from(index).ok().and_then(|index| edits.mutations.get(index));
    mutation.is_some_and(|mutation| !matches!(mutation.authored, Operation::Rejected(_)))
}
