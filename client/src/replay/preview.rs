//! Predicts how the edits of a replay will be committed. The prediction uses the same transform as
//! the server.

use cellar_api::{wire::EntryView, wire::MutationView};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry, FIRST_INCARNATION, Header, Mutation};
use cellar_log::transform::{SpaceMap, transform};
use cellar_log::viewpoint::Viewpoint;
use cellar_sheet::operation::{Operation, Rejection, RejectionReason};

use super::pieces::{OperationPiece, SettledPiece};
use super::{ForkReplay, ReplayError};

/// The actual client keys do not matter.
const SOURCE_KEY: ClientKey = ClientKey([0; 8]);
const OWN_KEY: ClientKey = ClientKey([1; 8]);

pub(super) async fn predict_outcomes(
    replay: &ForkReplay,
    pieces: &[OperationPiece],
) -> Result<Vec<SettledPiece>, ReplayError> {
    let mut viewpoint = Viewpoint::new(OWN_KEY);
    for entry in read_moving_entries(replay).await? {
        viewpoint.add_entry(&entry);
    }
    // The changes past which the remaining operations are transformed. `None` if there are too many
    // changes, because the server then rejects the remaining operations.
    let mut usable_map = viewpoint.map_from(replay.from).ok().filter(is_within_run_limit);
    let mut settled_pieces = Vec::with_capacity(pieces.len());
    for OperationPiece { mutation_index, operation, .. } in pieces {
        let committed = match &mut usable_map {
            None => Some(vec![Operation::Rejected(too_far_behind())]),
            Some(map) => transform_own_operation(operation, map),
        };
        usable_map = usable_map.filter(is_within_run_limit);
        settled_pieces.push(SettledPiece {
            mutation_index: *mutation_index,
            sent: operation.clone(),
            committed,
        });
    }
    Ok(settled_pieces)
}

fn is_within_run_limit(map: &SpaceMap) -> bool {
    !map.exceeds_run_limit()
}

/// Adds the operation's own changes to `map`, because later operations are based on them. Returns
/// the committed operations, or `None` if they are equal to the requested operation.
fn transform_own_operation(operation: &Operation, map: &mut SpaceMap) -> Option<Vec<Operation>> {
    let committed = transform(operation, map);
    let effective = committed.as_deref().unwrap_or(std::slice::from_ref(operation));
    map.add_own(operation, effective);
    committed
}

fn too_far_behind() -> Rejection {
    let detail = "too many rows, columns or sheets have moved since the fork was created";
    Rejection::new(RejectionReason::TooFarBehind, detail)
}

/// Returns only mutations that move cells, oldest first. The bodies of large entries are not read,
/// because large entries never move cells.
async fn read_moving_entries(replay: &ForkReplay) -> Result<Vec<Entry>, ReplayError> {
    let source = replay.client.spreadsheet(replay.source);
    let mut moving_entries = Vec::new();
    let mut total_bytes = 0_usize;
    let mut entries_newest_first = source.long_history(Some(replay.onto));
    while let Some(entry) = entries_newest_first.try_next().await? {
        if entry.position <= replay.from {
            break;
        }
        let EntryView { position, mutations, .. } = entry;
        let moving_mutations: Vec<Mutation> =
            mutations.into_iter().filter_map(to_moving_mutation).collect();
        for operation in moving_mutations.iter().flat_map(Mutation::committed_operations) {
            total_bytes = total_bytes.saturating_add(operation.weight_bytes());
        }
        if total_bytes > MAX_REPLAY_BYTES {
            return Err(ReplayError::TooLarge { max_bytes: MAX_REPLAY_BYTES });
        }
        if !moving_mutations.is_empty() {
            moving_entries.push(source_entry(replay, position, moving_mutations));
        }
    }
    // Oldest first.
    moving_entries.reverse();
    Ok(moving_entries)
}

fn to_moving_mutation(view: MutationView) -> Option<Mutation> {
    if !view.committed_operations().iter().any(Operation::moves_cells) {
        return None;
    }
    let MutationView { base, op, committed, .. } = view;
    Some(Mutation { base, authored: op, committed })
}

fn source_entry(replay: &ForkReplay, position: Position, mutations: Vec<Mutation>) -> Entry {
    Entry {
        log: replay.source,
        position,
        created_s: 0,
        author: None,
        header: Header::first(FIRST_INCARNATION),
        content: Content::Edits(Edits {
            client: SOURCE_KEY,
            name: None,
            merged: None,
            first_id: 1,
            mutations,
        }),
    }
}
