//! The space in which an author wrote: what was committed up to a base, and behind it the author's
//! own earlier mutations, wherever they stand in the log by now.

use std::collections::VecDeque;

use super::operation::transform;
use super::space_map::SpaceMap;
use crate::entry::Entry;
use crate::identity::ClientKey;
use crate::operation::Operation;
use crate::position::Position;

/// Something committed that moves cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Not known to the author at its base: others' operations, and what an undo was resolved to.
    Foreign {
        /// The entry it is in.
        position: Position,
        /// What was committed.
        operations: Vec<Operation>,
    },
    /// The author's own mutation.
    Own {
        /// The entry it is in.
        position: Position,
        /// The position its author had seen; never below that of an own mutation before it.
        base: Position,
        /// What its author meant, behind `base` and its own mutations before.
        authored: Operation,
        /// What was committed.
        committed: Vec<Operation>,
    },
}

/// The entries from a position on, as one author sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct Author {
    client: ClientKey,
    changes: Vec<Change>,
}

/// An own mutation on its way from base to base: nothing is left of some.
struct Pending {
    position: Position,
    operation: Option<Operation>,
}

impl Change {
    fn position(&self) -> Position {
        match self {
            Self::Foreign { position, .. } | Self::Own { position, .. } => *position,
        }
    }
}

impl Author {
    /// The author with this key, before any entry.
    #[must_use]
    pub fn new(client: ClientKey) -> Self {
        Self { client, changes: Vec::new() }
    }

    /// Learns the next entry.
    pub fn learn(&mut self, entry: &Entry) {
        let Some(edits) = entry.edits() else { return };
        let moves = |operation: &Operation| operation.moves_cells();
        for mutation in &edits.mutations {
            let committed = mutation.effective();
            if !committed.iter().any(moves) && !mutation.authored.moves_cells() {
                continue;
            }
            if edits.client == self.client {
                let authored = mutation.authored.clone();
                self.commit(entry.position, mutation.base, authored, committed.to_vec());
            } else {
                let operations = committed.iter().filter(|operation| moves(operation));
                let operations = operations.cloned().collect();
                self.changes.push(Change::Foreign { position: entry.position, operations });
            }
        }
    }

    /// Adds an own mutation that was, or is about to be, committed at `position`.
    pub fn commit(
        &mut self,
        position: Position,
        base: Position,
        authored: Operation,
        committed: Vec<Operation>,
    ) {
        // What an undo is resolved to is not known to whoever asks for it.
        if matches!(authored, Operation::Undo(_)) {
            self.changes.push(Change::Foreign { position, operations: committed });
            return;
        }
        if !authored.moves_cells() {
            return;
        }
        let base = base.max(self.last_own_base().unwrap_or(base));
        self.changes.push(Change::Own { position, base, authored, committed });
    }

    fn last_own_base(&self) -> Option<Position> {
        self.owns().next_back().map(|(_, base, _)| base)
    }

    /// How many changes are known: a measure of what a map costs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether nothing has moved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The map from the author's space behind `base` to the end of what was learned.
    #[must_use]
    pub fn map(&self, base: Position) -> SpaceMap {
        if self.changes.is_empty() {
            return SpaceMap::default();
        }
        // Who wrote something on a later base before has seen it.
        let pending = self.owns().filter(|(position, ..)| *position > base);
        let base = pending.map(|(_, base, _)| base).max().map_or(base, |later| later.max(base));
        let mut own = self.pending_at(base);
        self.walk(base, None, &mut own)
    }

    /// Everything that was committed behind `at`, whoever wrote it.
    #[must_use]
    pub fn committed_since(&self, at: Position) -> SpaceMap {
        let mut map = SpaceMap::default();
        for change in self.changes.iter().filter(|change| change.position() > at) {
            let (Change::Foreign { operations, .. } | Change::Own { committed: operations, .. }) =
                change;
            operations.iter().for_each(|operation| map.follow(operation));
        }
        map
    }

    /// The lowest base that [`Author::map`] starts from for a mutation on `base`: entries from here
    /// on must have been learned.
    #[must_use]
    pub fn needed_from(&self, base: Position) -> Position {
        let mut lowest = base;
        loop {
            let pending = self.owns().filter(|(position, ..)| *position > lowest);
            match pending.map(|(_, base, _)| base).min() {
                Some(lower) if lower < lowest => lowest = lower,
                _ => return lowest,
            }
        }
    }

    /// The own mutations behind `base`, in the space of `base` and of each other.
    fn pending_at(&self, base: Position) -> VecDeque<Pending> {
        let mut at = self.needed_from(base);
        let mut pending = self.authored_on(at);
        while at < base {
            let bases = self.owns().map(|(_, base, _)| base).filter(|next| *next > at);
            let next = bases.min().unwrap_or(base).min(base);
            let mut map = self.walk(at, Some(next), &mut pending);
            for own in &mut pending {
                let Some(authored) = own.operation.take() else { continue };
                let moved = transform(&authored, &map);
                let committed = moved.unwrap_or_else(|| vec![authored.clone()]);
                map.follow_own(&authored, &committed);
                own.operation = committed.into_iter().next();
            }
            pending.extend(self.authored_on(next));
            at = next;
        }
        pending
    }

    /// The own mutations written on `base`.
    fn authored_on(&self, base: Position) -> VecDeque<Pending> {
        let authored = self.owns().filter(|(position, on, _)| *on == base && *position > base);
        let pending = authored.map(|(position, _, operation)| Pending {
            position,
            operation: Some(operation.clone()),
        });
        pending.collect()
    }

    /// Walks what was committed behind `from` up to `to`, taking the author's own out of `pending`.
    fn walk(
        &self,
        from: Position,
        to: Option<Position>,
        pending: &mut VecDeque<Pending>,
    ) -> SpaceMap {
        let mut map = SpaceMap::default();
        let inside = |change: &&Change| {
            change.position() > from && to.is_none_or(|to| change.position() <= to)
        };
        for change in self.changes.iter().filter(inside) {
            match change {
                Change::Foreign { operations, .. } => {
                    operations.iter().for_each(|operation| map.follow(operation));
                }
                Change::Own { position, committed, .. } => {
                    let own = pending.pop_front().filter(|own| own.position == *position);
                    match own.and_then(|own| own.operation) {
                        Some(authored) => map.follow_own(&authored, committed),
                        None => committed.iter().for_each(|operation| map.follow(operation)),
                    }
                }
            }
        }
        map
    }

    fn owns(&self) -> impl DoubleEndedIterator<Item = (Position, Position, &Operation)> {
        self.changes.iter().filter_map(|change| match change {
            Change::Own { position, base, authored, .. } => Some((*position, *base, authored)),
            Change::Foreign { .. } => None,
        })
    }
}
