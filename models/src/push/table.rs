//! The entries of the log in memory, and the outdated views that reads may return.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::sync::LookedUp;
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, FIRST_INCARNATION};
use cellar_log::invariants::MutationId;

use crate::fingerprint::Hashed;
use crate::log::tables::log_id;

pub(super) fn client_key(client_index: usize) -> ClientKey {
    ClientKey([u8::try_from(client_index).unwrap_or(u8::MAX); 8])
}

/// Contents of the log's table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Table {
    /// Each entry contains the incarnation in which it was written.
    entries: BTreeMap<Position, Hashed<Entry>>,
    incarnation: u32,
    /// The position up to which every read returns all entries.
    settled_position: Position,
}

/// A mutation in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedMutation {
    /// Id of the mutation.
    pub mutation: MutationId,
    /// Whether the mutation was rejected, so that it has no effect.
    pub is_rejected: bool,
    /// The incarnation of the log when the mutation was written.
    pub incarnation: u32,
}

impl Table {
    /// Creates the table of a log that contains only its first entry.
    #[must_use]
    pub fn created() -> Self {
        let first = Hashed::new(Arc::new(Entry::first(log_id(), None, 0)));
        let entries = BTreeMap::from([(Position::FIRST, first)]);
        Self { entries, incarnation: FIRST_INCARNATION, settled_position: Position::FIRST }
    }

    /// Returns the incarnation, which counts how often the log was restored. A read raises the
    /// incarnation of older entries to this value.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Returns the newest position.
    #[must_use]
    pub fn tail(&self) -> Position {
        self.entries.keys().next_back().copied().unwrap_or(Position::FIRST)
    }

    /// Returns all entries as reads return them.
    #[must_use]
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.values().map(|entry| self.read_back(entry)).collect()
    }

    fn read_back(&self, entry: &Hashed<Entry>) -> Arc<Entry> {
        if entry.header.incarnation < self.incarnation {
            Arc::new(Entry::clone(entry).raise_incarnation(self.incarnation))
        } else {
            Arc::clone(entry.shared())
        }
    }

    fn segment_entries_from(&self, from: Position) -> impl Iterator<Item = &Hashed<Entry>> {
        let of_segment = move |entry: &&Hashed<Entry>| entry.position.segment() == from.segment();
        self.entries.range(from..).map(|(_, entry)| entry).filter(of_segment)
    }

    /// Returns at most `count` entries, from `from` to the end of its segment.
    #[must_use]
    pub fn read(&self, from: Position, count: usize) -> Vec<Arc<Entry>> {
        self.segment_entries_from(from).take(count).map(|entry| self.read_back(entry)).collect()
    }

    /// Returns how many entries an outdated read from `from` may return.
    #[must_use]
    pub fn stale_counts(&self, from: Position) -> std::ops::Range<usize> {
        let settled_count = self
            .segment_entries_from(from)
            .filter(|entry| entry.position <= self.settled_position)
            .count();
        settled_count..self.segment_entries_from(from).count()
    }

    /// Puts an entry if its key is free.
    ///
    /// # Errors
    /// Returns the existing entry if the key is taken.
    pub fn put(&mut self, entry: &Arc<Entry>) -> Result<(), Arc<Entry>> {
        match self.entries.get(&entry.position) {
            Some(winner) => Err(self.read_back(winner)),
            None => {
                self.entries.insert(entry.position, Hashed::new(Arc::clone(entry)));
                Ok(())
            }
        }
    }

    /// Looks up the last mutation id of a client. If `is_forgotten` is `true`, the client is
    /// reported as unknown.
    #[must_use]
    pub fn look_up(&self, client: ClientKey, is_forgotten: bool) -> LookedUp {
        let mut last_id = None;
        if !is_forgotten && self.last_id(client) > 0 {
            last_id = Some(self.last_id(client));
        }
        LookedUp { last_id, head: self.tail(), incarnation: self.incarnation }
    }

    /// Returns the last mutation id of a client, or 0 if the log contains none of its mutations.
    #[must_use]
    pub fn last_id(&self, client: ClientKey) -> u64 {
        let mutation_ids = self.entries.values().filter_map(|entry| entry.mutation_ids());
        let ids_of_client = mutation_ids.filter(|(author, ..)| *author == client);
        ids_of_client.map(|(.., last_id)| last_id).max().unwrap_or(0)
    }

    /// Returns all mutations in log order.
    pub fn logged_mutations(&self) -> impl Iterator<Item = LoggedMutation> {
        self.entries.values().flat_map(|entry| {
            let incarnation = entry.header.incarnation;
            entry.edits().into_iter().flat_map(move |edits| {
                (edits.first_id..).zip(&edits.mutations).map(move |(id, mutation)| LoggedMutation {
                    mutation: MutationId { client: edits.client, id },
                    is_rejected: mutation.rejection().is_some(),
                    incarnation,
                })
            })
        })
    }

    /// Restores the log to its first `entry_count` entries and increments the incarnation.
    pub fn restore(&mut self, entry_count: usize) {
        let all_entries = std::mem::take(&mut self.entries);
        self.entries = all_entries.into_iter().take(entry_count).collect();
        self.incarnation += 1;
        self.settled_position = self.tail();
    }
}
