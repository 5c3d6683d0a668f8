//! Each mutation once, in its client's order, and never lost (I3, I4).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Violation;
use crate::entry::{Content, Entry};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_sheet::operation::Operation;

/// A mutation, over all logs' lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MutationId {
    /// Whose it is.
    pub client: ClientKey,
    /// Its number among the client's.
    pub id: u64,
}

/// A mutation in an entry.
struct Placed {
    mutation: MutationId,
    at: Position,
    /// It was not rejected.
    effective: bool,
}

/// I3: no mutation takes effect twice in all `history`.
///
/// # Errors
/// [`Violation::Twice`] with the first that does.
pub fn check_once(history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut places = BTreeMap::new();
    for Placed { mutation, at, .. } in placed(history).filter(|placed| placed.effective) {
        if let Some(first) = places.insert(mutation, at) {
            return Err(Violation::Twice { mutation, first, again: at });
        }
    }
    Ok(())
}

/// I3: a client's mutations take effect in the order of their numbers, none before the one before
/// it was committed or rejected.
///
/// # Errors
/// [`Violation::OutOfOrder`] with the first that does not.
pub fn check_order(history: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut last_ids = BTreeMap::<ClientKey, u64>::new();
    for Placed { mutation, at, effective } in placed(history) {
        let last_id = last_ids.entry(mutation.client).or_default();
        if effective && mutation.id != last_id.saturating_add(1) {
            return Err(Violation::OutOfOrder { mutation, at });
        }
        *last_id = mutation.id.max(*last_id);
    }
    Ok(())
}

/// I4: every acknowledged mutation takes effect in what is [`readable`](super::readable).
///
/// # Errors
/// [`Violation::Lost`] with the first that did not.
pub fn check_acknowledged(
    readable: &[Arc<Entry>],
    acknowledged: impl IntoIterator<Item = MutationId>,
) -> Result<(), Violation> {
    let effective = |lost: &MutationId| {
        placed(readable).any(|placed| placed.effective && placed.mutation == *lost)
    };
    match acknowledged.into_iter().find(|mutation| !effective(mutation)) {
        Some(mutation) => Err(Violation::Lost { mutation }),
        None => Ok(()),
    }
}

fn placed(history: &[Arc<Entry>]) -> impl Iterator<Item = Placed> + '_ {
    history.iter().flat_map(|entry| {
        let ids = entry.mutation_ids();
        let mutations = ids.into_iter().flat_map(|(client, first_id, last_id)| {
            (first_id..=last_id).map(move |id| (first_id, MutationId { client, id }))
        });
        mutations.map(|(first_id, mutation)| Placed {
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
