//! The entries of the log, and what a read may see of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::sync::LookedUp;
use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, FIRST_INCARNATION};
use cellar_log::invariants::MutationId;

use crate::fingerprint::Hashed;
use crate::log::tables::log;

/// What is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Table {
    /// As they were written: with the incarnation of then.
    entries: BTreeMap<Position, Hashed<Entry>>,
    incarnation: u32,
    /// Every read sees all that was written up to here.
    settled: Position,
}

/// A mutation in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Which.
    pub mutation: MutationId,
    /// It has no effect.
    pub is_rejected: bool,
    /// The incarnation in which it was written.
    pub incarnation: u32,
}

impl Table {
    /// The table of a log that was just created.
    #[must_use]
    pub fn created() -> Self {
        let first = Hashed::new(Arc::new(Entry::first(log(), None, 0)));
        let entries = BTreeMap::from([(Position::FIRST, first)]);
        Self { entries, incarnation: FIRST_INCARNATION, settled: Position::FIRST }
    }

    /// The incarnation of the table: what is read of it has no lower one.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// How many entries there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The newest position.
    #[must_use]
    pub fn tail(&self) -> Position {
        self.entries.keys().next_back().copied().unwrap_or(Position::FIRST)
    }

    /// All entries, as they are read.
    #[must_use]
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.values().map(|entry| self.read_back(entry)).collect()
    }

    fn read_back(&self, entry: &Hashed<Entry>) -> Arc<Entry> {
        match entry.header.incarnation < self.incarnation {
            true => Arc::new(Entry::clone(entry).raise_incarnation(self.incarnation)),
            false => Arc::clone(entry.shared()),
        }
    }

    fn page(&self, from: Position) -> impl Iterator<Item = &Hashed<Entry>> {
        let of_segment = move |entry: &&Hashed<Entry>| entry.position.segment() == from.segment();
        self.entries.range(from..).map(|(_, entry)| entry).filter(of_segment)
    }

    /// The first `count` entries that a read from `from` finds in its segment.
    #[must_use]
    pub fn read(&self, from: Position, count: usize) -> Vec<Arc<Entry>> {
        self.page(from).take(count).map(|entry| self.read_back(entry)).collect()
    }

    /// How many entries an eventually consistent read from `from` may see instead of all.
    #[must_use]
    pub fn stale_counts(&self, from: Position) -> std::ops::Range<usize> {
        let settled = self.page(from).filter(|entry| entry.position <= self.settled).count();
        settled..self.page(from).count()
    }

    /// Puts an entry if its key is free.
    ///
    /// # Errors
    /// The winner.
    pub fn put(&mut self, entry: &Arc<Entry>) -> Result<(), Arc<Entry>> {
        match self.entries.get(&entry.position) {
            Some(winner) => Err(self.read_back(winner)),
            None => {
                self.entries.insert(entry.position, Hashed::new(Arc::clone(entry)));
                Ok(())
            }
        }
    }

    /// What a look-up of a client finds; of one that was forgotten, not the client.
    #[must_use]
    pub fn look_up(&self, client: ClientKey, is_forgotten: bool) -> LookedUp {
        let last_id = (!is_forgotten).then(|| self.last_id(client)).filter(|last| *last > 0);
        LookedUp { last_id, head: self.tail(), incarnation: self.incarnation }
    }

    /// A client's last mutation; 0 if it has none.
    #[must_use]
    pub fn last_id(&self, client: ClientKey) -> u64 {
        let ids = self.entries.values().filter_map(|entry| entry.mutation_ids());
        ids.filter(|(whose, ..)| *whose == client).map(|(.., last)| last).max().unwrap_or(0)
    }

    /// All mutations, in the order of the log.
    pub fn placed(&self) -> impl Iterator<Item = Placed> {
        self.entries.values().flat_map(|entry| {
            let incarnation = entry.header.incarnation;
            entry.edits().into_iter().flat_map(move |edits| {
                (edits.first_id..).zip(&edits.mutations).map(move |(id, mutation)| Placed {
                    mutation: MutationId { client: edits.client, id },
                    is_rejected: mutation.rejection().is_some(),
                    incarnation,
                })
            })
        })
    }

    /// Goes back to the first `count` entries, in the next incarnation.
    pub fn restore(&mut self, count: usize) {
        let gone: Vec<Position> = self.entries.keys().skip(count).copied().collect();
        gone.iter().for_each(|position| drop(self.entries.remove(position)));
        self.incarnation += 1;
        self.settled = self.tail();
    }
}
