//! Rebase: predicts the results of a client's pending edits on top of newer entries.
//!
//! Pending edits keep their ids and bases. The rebase computes the operations that the append state
//! machine would commit if the edits arrived now. It uses the same code (`append::commit`) and the
//! same viewpoint (the log as this client sees it). If the server receives no entries from other
//! clients first, it commits exactly the predicted result. Otherwise, the client rebases its edits
//! again.
//!
//! The server determines the effect of an undo or revert when it appends the mutation. Until then,
//! the effect is unknown and not displayed ([`Outlook::Unknown`]).

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

/// An edit from this client that is not yet known to be committed.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingMutation {
    /// Mutation id.
    pub id: u64,
    /// Base of the edit: the latest position that the author had seen. Immutable.
    pub base: Position,
    /// Operation as authored, on top of the author's earlier mutations.
    pub operation: Operation,
    /// Size of the uploaded body in bytes, if the edit is sent as a large entry.
    pub object_bytes: Option<u64>,
}

/// Predicted result of a pending edit. The edit has this result if no other entries are committed
/// before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Outlook {
    /// Operations that will take effect, in order. Empty if the edit will have no effect.
    Committed(Vec<Operation>),
    /// Reason why the edit will be rejected.
    Rejected(Rejection),
    /// The edit is an undo or revert, so the server determines its result.
    Unknown,
}

impl Outlook {
    /// Returns the operations that will take effect. Empty if the edit will be rejected or its
    /// result is unknown.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        match self {
            Self::Committed(operations) => operations,
            Self::Rejected(_) | Self::Unknown => &[],
        }
    }
}

/// Recognizes the log entries that contain mutations from this client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnEntries {
    client: Option<ClientKey>,
    /// Positions of this client's entries, used only if the client key is unknown.
    positions: BTreeSet<Position>,
}

impl OwnEntries {
    /// Creates an instance that recognizes entries by the client key `client`. If the key is
    /// unknown, the positions of the client's entries must be added with
    /// [`OwnEntries::add_position`].
    #[must_use]
    pub fn new(client: Option<ClientKey>) -> Self {
        Self { client, positions: BTreeSet::new() }
    }

    /// Adds the position of an entry with a mutation from this client, as reported in a response.
    /// No-op if the client key is known.
    pub fn add_position(&mut self, position: Position) {
        if self.client.is_none() {
            self.positions.insert(position);
        }
    }

    /// Returns whether an entry contains mutations from this client.
    #[must_use]
    pub fn contains(&self, entry: &EntryView) -> bool {
        match self.client {
            Some(client) => entry.client_key == Some(client),
            None => self.positions.contains(&entry.position),
        }
    }
}

/// Acknowledgement of a pending edit: the edit was found in one of this client's entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Acknowledged {
    /// Mutation id.
    pub id: u64,
    /// Position of the entry.
    pub position: Position,
    /// Rejection, or `None` if the edit was not rejected.
    pub rejection: Option<Rejection>,
    /// Operations as committed. Set only if they differ from the authored operation, because only
    /// then does the entry contain them.
    pub committed: Option<Vec<Operation>>,
}

/// Returns the acknowledgements of all edits with ids above `last_id` in one of this client's
/// entries.
pub fn acknowledged(entry: &EntryView, last_id: u64) -> impl Iterator<Item = Acknowledged> + '_ {
    let position = entry.position;
    let new_ids =
        entry.mutation_ids().map(|(first, last)| first.max(last_id.saturating_add(1))..=last);
    new_ids.into_iter().flatten().map(move |id| {
        // A large entry does not contain individual mutations.
        let mutation = entry.mutations.iter().find(|mutation| mutation.id == id);
        let rejection = mutation.and_then(MutationView::rejection).cloned();
        let committed = match (&rejection, mutation) {
            (None, Some(mutation)) => mutation.committed.clone(),
            _ => None,
        };
        Acknowledged { id, position, rejection, committed }
    })
}

/// Error: earlier entries are needed to rebase the pending edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "rebasing requires the entries after {after}; load them, or send the edits without rebasing"
)]
pub struct EntriesNeeded {
    /// Position after which all entries must be loaded.
    pub after: Position,
}

/// The part of the log that a client has loaded.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Position after which the client has loaded all entries.
    pub after: Position,
    /// Loaded entries without gaps, up to the canonical position (the latest position that the
    /// client has loaded). The first entry may be at or before `after`.
    pub entries: &'a [EntryView],
    /// Workbook metadata at the canonical position, if known. With the metadata, the rebase
    /// predicts which edits will be rejected or will have no effect.
    pub state: Option<&'a WorkbookMetadata>,
}

/// Predicts the results of a client's pending edits, one edit at a time, on top of the loaded
/// entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebase {
    committer: Committer,
}

impl Rebase {
    /// Rebases the uncommitted edits `pending`, sorted by id, onto the known entries. Returns the
    /// predicted result of each edit, and a [`Rebase`] to which more edits can be added.
    ///
    /// # Errors
    /// Returns [`EntriesNeeded`] if the base of an edit requires earlier entries.
    pub fn begin(
        known: Known<'_>,
        own_entries: &OwnEntries,
        pending: &[PendingMutation],
    ) -> Result<(Self, Vec<Outlook>), EntriesNeeded> {
        const COMMITTED_BYTES: usize = 0;
        let canonical_position = known.entries.last().map_or(known.after, |last| last.position);
        let next_position = match known.entries.last() {
            Some(last_entry) => last_entry.next_position(),
            None => canonical_position.next_in_segment(),
        };
        let transformed_mutations =
            pending.iter().filter(|mutation| !mutation.operation.is_resolved_on_append());
        let lowest_base = transformed_mutations.map(|mutation| mutation.base).min();
        let (viewpoint, viewpoint_start) =
            build_viewpoint(known, own_entries, lowest_base.unwrap_or(canonical_position))?;
        let entry_position = next_position.unwrap_or(canonical_position);
        let committer = Committer::new(viewpoint, viewpoint_start, entry_position, COMMITTED_BYTES)
            .with_state(known.state.map(KnownState::from_metadata));
        let mut rebase = Self { committer };
        let outlooks = pending.iter().map(|mutation| rebase.add_pending(mutation)).collect();
        Ok((rebase, outlooks))
    }

    /// Adds a pending edit after the earlier edits and returns its predicted result. The edit's
    /// base must be either the canonical position or the base of an earlier edit.
    pub fn add_pending(&mut self, pending: &PendingMutation) -> Outlook {
        let PendingMutation { id, base, operation, object_bytes } = pending;
        if operation.is_resolved_on_append() {
            return Outlook::Unknown;
        }
        if let Some(bytes) = *object_bytes {
            return self.expect_large_entry(pending, bytes);
        }
        let (id, base, operation) = (*id, *base, operation.clone());
        let mutation = RequestMutation::validated_or_rejected(NewMutation { id, base, operation });
        let committed = self.committer.commit(&mutation);
        self.committer.add_committed(&committed);
        match committed.rejection() {
            Some(rejection) => Outlook::Rejected(rejection.clone()),
            None => Outlook::Committed(committed.committed_operations().to_vec()),
        }
    }

    /// Returns the predicted result of an edit that is sent as a large entry. Large entries only
    /// set cells, so later edits need not be transformed past them.
    fn expect_large_entry(&self, pending: &PendingMutation, bytes: u64) -> Outlook {
        let external = ExternalEdits {
            client: ClientKey([0; 8]),
            first_id: pending.id,
            count: 1,
            base: pending.base,
            object: String::new(),
            bytes,
            sha256: [0; 32],
            map: SpaceMap::default(),
        };
        match self.committer.commit_external(external, std::slice::from_ref(&pending.operation)) {
            Err(rejection) => Outlook::Rejected(rejection),
            Ok(external) => {
                let committed = external.committed_operations(&pending.operation);
                Outlook::Committed(committed.unwrap_or_else(|| vec![pending.operation.clone()]))
            }
        }
    }
}

/// Builds the author's viewpoint (the log as this client sees it) for mutations whose bases are not
/// before `lowest_base`. The viewpoint contains the entries that the append state machine would
/// read. Also returns the position of the first of these entries.
fn build_viewpoint(
    known: Known<'_>,
    own_entries: &OwnEntries,
    lowest_base: Position,
) -> Result<(Viewpoint, Position), EntriesNeeded> {
    let mut viewpoint_start = lowest_base;
    loop {
        if viewpoint_start < known.after {
            return Err(EntriesNeeded { after: viewpoint_start });
        }
        let mut viewpoint = Viewpoint::new(ClientKey([0; 8]));
        for entry in known.entries.iter().skip_while(|entry| entry.position < viewpoint_start) {
            let is_own = own_entries.contains(entry);
            for MutationView { base, op, committed, .. } in &entry.mutations {
                viewpoint.add_mutation(entry.position, is_own, *base, op, committed.as_deref());
            }
        }
        let first_needed = viewpoint.first_needed_position(lowest_base);
        if first_needed >= viewpoint_start {
            return Ok((viewpoint, viewpoint_start));
        }
        viewpoint_start = first_needed;
    }
}
