//! Rebase: how a client's own edits that are not committed yet look on what others have committed
//! meanwhile.
//!
//! Pending edits keep their ids and bases. What they are shown as is what the append machine would
//! commit if they arrived now: both go by `append::commit`, on the same viewpoint. So what is shown is
//! what is committed, as long as nothing else comes first; and what comes first, is learned and the
//! edits are shown anew.
//!
//! An undo or a revert is resolved by the server on the state as it is: until it is committed, nothing
//! is shown of it ([`Outlook::Unknown`]).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::{wire::EntryView, wire::MutationView};
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::append::NewMutation;
use cellar_log::append::commit::Committer;
use cellar_log::append::effect::KnownState;
use cellar_log::append::request::RequestMutation;
use cellar_log::entry::ExternalEdits;
use cellar_log::transform::SpaceMap;
use cellar_log::viewpoint::Viewpoint;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, Rejection};

/// An own edit that is not known to be in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingMutation {
    /// Its id.
    pub id: u64,
    /// The position its author had seen; never changes.
    pub base: Position,
    /// What it does, behind the author's own mutations before.
    pub operation: Operation,
    /// Bytes of its object, if it goes as a large entry.
    pub object_bytes: Option<u64>,
}

/// What becomes of a pending edit if nothing else arrives before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Outlook {
    /// These operations take effect, one after the other; none if nothing of it is left.
    Committed(Vec<Operation>),
    /// It will change nothing, for this reason.
    Rejected(Rejection),
    /// Only the server can tell: it is an undo or a revert.
    Unknown,
}

impl Outlook {
    /// The operations that will take effect, as far as that is known.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        match self {
            Self::Committed(operations) => operations,
            Self::Rejected(_) | Self::Unknown => &[],
        }
    }
}

/// Which entries are a client's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnEntries {
    client: Option<ClientKey>,
    positions: BTreeSet<Position>,
}

impl OwnEntries {
    /// Those that carry the client's key, if it knows that.
    #[must_use]
    pub fn new(client: Option<ClientKey>) -> Self {
        Self { client, positions: BTreeSet::new() }
    }

    /// Takes note of where an answer says that an own mutation stands: without a key, nothing else
    /// tells.
    pub fn answered(&mut self, position: Position) {
        if self.client.is_none() {
            self.positions.insert(position);
        }
    }

    /// Whether an entry is the client's own.
    #[must_use]
    pub fn has(&self, entry: &EntryView) -> bool {
        match self.client {
            Some(client) => entry.client_key == Some(client),
            None => self.positions.contains(&entry.position),
        }
    }
}

/// What an own entry says of a pending edit: it is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Acknowledged {
    /// Its id.
    pub id: u64,
    /// Where it stands.
    pub position: Position,
    /// Why it changed nothing and never will, if so.
    pub rejection: Option<Rejection>,
    /// What it was committed as, if that is not what its author meant and stands in the entry.
    pub committed: Option<Vec<Operation>>,
}

/// The edits with ids above `last_id` that an own entry acknowledges.
pub fn acknowledged(entry: &EntryView, last_id: u64) -> impl Iterator<Item = Acknowledged> + '_ {
    let position = entry.position;
    let ids = entry.mutation_ids().map(|(first, last)| first.max(last_id.saturating_add(1))..=last);
    ids.into_iter().flatten().map(move |id| {
        let mutation = entry.mutations.iter().find(|mutation| mutation.id == id);
        let rejection = mutation.and_then(MutationView::rejection).cloned();
        let committed = mutation.and_then(|mutation| mutation.committed.clone());
        Acknowledged {
            id,
            position,
            committed: committed.filter(|_| rejection.is_none()),
            rejection,
        }
    })
}

/// The entries that are known begin too late to tell where pending edits stand now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the entries after {after} are needed: load them, or send the edits, which needs none")]
pub struct EntriesNeeded {
    /// The position behind which they are needed.
    pub after: Position,
}

/// What a client knows of the log.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// All entries behind this position are known.
    pub after: Position,
    /// They, without a gap, up to the canonical position; those up to `after` may be among them.
    pub entries: &'a [EntryView],
    /// The canonical state, if it is known: pending edits without an effect on it are shown as such.
    pub state: Option<&'a WorkbookMetadata>,
}

/// Pending edits of one client on the canonical state, one behind the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebase {
    committer: Committer,
}

impl Rebase {
    /// Begins behind the entries that are known, of which `own` are the client's. Gives what becomes
    /// of each pending edit, which are in the order of their ids; the client knows none of them to be
    /// in the log.
    ///
    /// # Errors
    /// [`EntriesNeeded`] if a base needs more entries.
    pub fn begin(
        known: Known<'_>,
        own: &OwnEntries,
        pending: &[PendingMutation],
    ) -> Result<(Self, Vec<Outlook>), EntriesNeeded> {
        let moved = pending.iter().filter(|mutation| !mutation.operation.is_resolved_on_append());
        let tail = known.entries.last().map_or(known.after, |last| last.position);
        let lowest = moved.map(|mutation| mutation.base).min().unwrap_or(tail);
        let (viewpoint, start) = learned(known, own, lowest)?;
        let next = match known.entries.last() {
            Some(last) => last.next_position(),
            None => tail.next_in_segment(),
        };
        let next = next.unwrap_or(tail);
        let state = known.state.map(KnownState::from_metadata);
        let mut rebase =
            Self { committer: Committer::new(viewpoint, start, next, 0).with_state(state) };
        let outlooks = pending.iter().map(|mutation| rebase.place(mutation)).collect();
        Ok((rebase, outlooks))
    }

    /// What becomes of one more pending edit, behind those before. Its base is the canonical position
    /// or one that an edit before it has.
    pub fn place(&mut self, pending: &PendingMutation) -> Outlook {
        let PendingMutation { id, base, operation, object_bytes } = pending;
        if operation.is_resolved_on_append() {
            return Outlook::Unknown;
        }
        if let Some(bytes) = *object_bytes {
            return self.place_object(pending, bytes);
        }
        let (id, base, operation) = (*id, *base, operation.clone());
        let asked = RequestMutation::new(NewMutation { id, base, operation });
        let committed = self.committer.commit(&asked);
        self.committer.add_committed(&committed);
        match committed.rejection() {
            Some(rejection) => Outlook::Rejected(rejection.clone()),
            None => Outlook::Committed(committed.effective().to_vec()),
        }
    }

    /// A large entry moves nothing: it sets cells only.
    fn place_object(&self, pending: &PendingMutation, bytes: u64) -> Outlook {
        let authored = ExternalEdits {
            client: ClientKey([0; 8]),
            first_id: pending.id,
            count: 1,
            base: pending.base,
            object: String::new(),
            bytes,
            sha256: [0; 32],
            map: SpaceMap::default(),
        };
        match self.committer.commit_external(authored, std::slice::from_ref(&pending.operation)) {
            Err(rejection) => Outlook::Rejected(rejection),
            Ok(object) => {
                let authored = || vec![pending.operation.clone()];
                let committed = object.committed(&pending.operation);
                Outlook::Committed(committed.unwrap_or_else(authored))
            }
        }
    }
}

/// What an author has to go past for mutations on bases from `lowest` on, and where that begins: as
/// the append machine reads it, no entry more.
fn learned(
    known: Known<'_>,
    own: &OwnEntries,
    lowest: Position,
) -> Result<(Viewpoint, Position), EntriesNeeded> {
    let mut start = lowest;
    loop {
        if start < known.after {
            return Err(EntriesNeeded { after: start });
        }
        let mut viewpoint = Viewpoint::new(ClientKey([0; 8]));
        for entry in known.entries.iter().skip_while(|entry| entry.position < start) {
            let own = own.has(entry);
            for MutationView { base, op, committed, .. } in &entry.mutations {
                viewpoint.add_mutation(entry.position, own, *base, op, committed.as_deref());
            }
        }
        let needed = viewpoint.first_needed_position(lowest);
        if needed >= start {
            return Ok((viewpoint, start));
        }
        start = needed;
    }
}
