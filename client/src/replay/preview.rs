//! What a replay would come to, by core's own transform, as the server does it.

use cellar_api::{wire::EntryView, wire::MutationView};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry, FIRST_INCARNATION, Header, Mutation};
use cellar_log::transform::transform;
use cellar_log::viewpoint::Viewpoint;
use cellar_sheet::operation::{Operation, Rejection, RejectionReason};

use super::append::{Piece, Settled};
use super::read::backwards;
use super::{ForkReplay, ReplayError};

/// Others, as seen by whoever replays.
const OTHERS: ClientKey = ClientKey([0; 8]);
const OWN: ClientKey = ClientKey([1; 8]);

/// What each operation would be committed as behind what the source did.
pub(super) async fn settle(
    replay: &ForkReplay,
    pieces: &[Piece],
) -> Result<Vec<Settled>, ReplayError> {
    let mut viewpoint = Viewpoint::new(OWN);
    for entry in since(replay).await? {
        viewpoint.add_entry(&entry);
    }
    let base = replay.from;
    let mut map = viewpoint.map_from(base).ok().filter(|map| !map.is_too_long());
    let mut settled = Vec::with_capacity(pieces.len());
    for Piece { of, operation, .. } in pieces {
        let committed = match &mut map {
            None => Some(vec![Operation::Rejected(too_far())]),
            Some(moved) => {
                let committed = transform(operation, moved);
                let effective = committed.as_deref().unwrap_or(std::slice::from_ref(operation));
                moved.add_own(operation, effective);
                map = map.filter(|map| !map.is_too_long());
                committed
            }
        };
        settled.push(Settled { of: *of, sent: operation.clone(), committed });
    }
    Ok(settled)
}

fn too_far() -> Rejection {
    let detail = "too many rows, columns or sheets have moved since it was forked";
    Rejection::new(RejectionReason::TooFarBehind, detail)
}

/// The entries of the source behind the fork up to where it is to go, the oldest first, with what moves
/// anything: large entries only set cells.
async fn since(replay: &ForkReplay) -> Result<Vec<Entry>, ReplayError> {
    let (mut entries, mut bytes) = (Vec::new(), 0_usize);
    backwards(&replay.client, replay.source, replay.onto, async |entry| {
        if entry.position <= replay.from {
            return Ok(false);
        }
        let EntryView { position, mutations, .. } = entry;
        let moving: Vec<Mutation> = mutations.iter().filter_map(moving).collect();
        let weight = moving.iter().flat_map(Mutation::effective).map(Operation::weight_bytes);
        bytes = weight.fold(bytes, usize::saturating_add);
        if bytes > MAX_REPLAY_BYTES {
            return Err(ReplayError::TooLarge { max_bytes: MAX_REPLAY_BYTES });
        }
        if !moving.is_empty() {
            entries.push(of_others(replay, position, moving));
        }
        Ok(true)
    })
    .await?;
    entries.reverse();
    Ok(entries)
}

fn moving(view: &MutationView) -> Option<Mutation> {
    let MutationView { base, op, committed, .. } = view.clone();
    let moves = view.effective().iter().any(Operation::moves_cells);
    moves.then_some(Mutation { base, authored: op, committed })
}

fn of_others(replay: &ForkReplay, position: Position, mutations: Vec<Mutation>) -> Entry {
    Entry {
        log: replay.source,
        position,
        created_s: 0,
        author: None,
        header: Header::first(FIRST_INCARNATION),
        content: Content::Edits(Edits { client: OTHERS, name: None, first_id: 1, mutations }),
    }
}
