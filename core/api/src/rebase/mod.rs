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

/// An edit from this client that may not be committed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingMutation {
    /// Mutation id.
    pub id: u64,
    /// Base of the edit: the latest position that the client had seen when the user made the edit.
    /// It never changes.
    pub base: Position,
    /// The operation as the user made it, in the row and column numbers after earlier edits.
    pub operation: Operation,
    /// Size of the uploaded body in bytes, if the edit is sent as an uploaded object.
    pub object_bytes: Option<u64>,
}

/// The predicted result of a pending edit, provided that no other client's edit is committed first.
#[derive(Debug, Clone, PartialEq)]
pub enum Outlook {
    /// The edit will be committed as these operations. The list is empty if the edit will have no
    /// effect.
    Committed(Vec<Operation>),
    /// Reason why the edit will be rejected.
    Rejected(Rejection),
    /// The edit is an undo or revert, whose result only the server can compute.
    Unknown,
}

impl Outlook {
    /// Returns the operations that will take effect, or an empty slice if the edit will be rejected
    /// or its result is unknown.
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
    /// unknown, entries are recognized only after [`OwnEntries::add_position`] was called with
    /// their positions.
    #[must_use]
    pub fn new(client: Option<ClientKey>) -> Self {
        Self { client, positions: BTreeSet::new() }
    }

    /// Adds the position of an entry that contains a mutation from this client. No-op if the client
    /// key is known.
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

/// A pending edit that was found in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Acknowledged {
    /// Mutation id.
    pub id: u64,
    /// Position of the entry.
    pub position: Position,
    /// The reason why the edit was rejected, or `None` if it was not rejected.
    pub rejection: Option<Rejection>,
    /// The committed operations, or `None` if they equal the operation that the client sent.
    pub committed: Option<Vec<Operation>>,
}

/// Returns the mutations in one of this client's entries whose ids are greater than `last_id`.
pub fn acknowledged(entry: &EntryView, last_id: u64) -> impl Iterator<Item = Acknowledged> + '_ {
    let position = entry.position;
    let new_ids =
        entry.mutation_ids().map(|(first, last)| first.max(last_id.saturating_add(1))..=last);
    new_ids.into_iter().flatten().map(move |id| {
        // Entries with an uploaded body do not list their mutations.
        let mutation = entry.mutations.iter().find(|mutation| mutation.id == id);
        let rejection = mutation.and_then(MutationView::rejection).cloned();
        let committed = match (&rejection, mutation) {
            (None, Some(mutation)) => mutation.committed.clone(),
            _ => None,
        };
        Acknowledged { id, position, rejection, committed }
    })
}

/// The pending edits cannot be rebased until earlier entries are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "rebasing requires the entries after {after}; load them, or send the edits without rebasing"
)]
pub struct EntriesNeeded {
    /// Position after which all entries are needed.
    pub after: Position,
}

/// The part of the log that a client has loaded.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Position after which all entries up to the last loaded entry are available.
    pub after: Position,
    /// The loaded entries, which are contiguous and in order. The first entry may precede `after`.
    pub entries: &'a [EntryView],
    /// Workbook metadata after the last loaded entry. Without the metadata, the rebase does not
    /// predict every rejection and every edit without effect.
    pub state: Option<&'a WorkbookMetadata>,
}

/// Predicts the results of a client's pending edits. Edits can be added one at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebase {
    committer: Committer,
}

impl Rebase {
    /// Predicts the result of each pending edit. `pending` must be sorted by id. The returned
    /// [`Rebase`] predicts the results of further edits.
    ///
    /// # Errors
    /// Returns [`EntriesNeeded`] if the base of an edit precedes the loaded entries.
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
            .with_state(known.state.map(KnownState::from_metadata))
            // The names at the bases are not known. A formula with the old name of a sheet that was
            // renamed since is shown with this name until it is committed.
            .with_tabs(known.state.map(|state| (canonical_position, state.tabs.clone())));
        let mut rebase = Self { committer };
        let outlooks = pending.iter().map(|mutation| rebase.add_pending(mutation)).collect();
        Ok((rebase, outlooks))
    }

    /// Adds a pending edit and returns its predicted result. The base of the edit must be the
    /// position of the last loaded entry or the base of an earlier edit.
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

    /// Returns the predicted result of an edit that is sent as an uploaded object. Uploaded objects
    /// only set cells, so they do not affect the coordinates of later edits.
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

/// Builds the log as this client sees it, for mutations whose bases are not before `lowest_base`.
/// Also returns the position of the first entry that was included. The server includes the same
/// entries when it commits the mutations.
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
