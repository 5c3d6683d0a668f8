//! The space in which an author wrote: what was committed up to a base, and behind it the author's
//! own earlier mutations, wherever they stand in the log by now.

use std::collections::{BTreeMap, VecDeque};

use super::operation::transform;
use super::space_map::SpaceMap;
use crate::entry::{Entry, Mutation};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_TRANSFORM_CHANGES;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};

/// Something committed that moves cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Not known to the author at its base: others' operations, and what an undo or a revert was
    /// resolved to.
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
///
/// The order of the author's mutations is that of their entries, so that neither their positions
/// nor their bases ever fall.
#[derive(Debug, Clone, PartialEq)]
pub struct Author {
    client: ClientKey,
    changes: Vec<Change>,
    /// Which of the changes are its own.
    owns: Vec<usize>,
    /// What the changes cost to go past: each its spans, at least one.
    parts: usize,
    /// The positions at which sheets were deleted or replaced, by any author.
    deleted: BTreeMap<SheetId, Position>,
}

/// What an own change costs beside its spans: maps of others' changes are composed in groups.
const OWN_PARTS: usize = 16;
/// Parts of a group of others' changes, composed before they meet the whole map.
const GROUP_PARTS: usize = 128;

/// More has changed than is worth going past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyChanges;

/// An own mutation, seen from where its author stands.
#[derive(Debug, Clone, Copy)]
struct Own<'a> {
    position: Position,
    base: Position,
    authored: &'a Operation,
}

/// Own mutations on their way from base to base: nothing is left of some.
type Pending = VecDeque<Option<Operation>>;

impl Change {
    fn position(&self) -> Position {
        match self {
            Self::Foreign { position, .. } | Self::Own { position, .. } => *position,
        }
    }

    fn parts(&self) -> usize {
        let sum = |operations: &[Operation]| {
            operations.iter().map(Operation::parts).fold(0, usize::saturating_add)
        };
        match self {
            Self::Foreign { operations, .. } => sum(operations),
            Self::Own { authored, committed, .. } => {
                sum(committed).max(authored.parts()).saturating_add(OWN_PARTS)
            }
        }
    }
}

impl Author {
    /// The author with this key, before any entry.
    #[must_use]
    pub fn new(client: ClientKey) -> Self {
        let (changes, owns, deleted) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { client, changes, owns, parts: 0, deleted }
    }

    /// Learns the next entry.
    pub fn learn(&mut self, entry: &Entry) {
        let Some(edits) = entry.edits() else { return };
        let own = edits.client == self.client;
        for Mutation { base, authored, committed } in &edits.mutations {
            self.learn_mutation(entry.position, own, *base, authored, committed.as_deref());
        }
    }

    /// Learns the next mutation of the entry at `position`: `own` if it is the author's, `committed`
    /// if that is not what was authored. What sets cells only may be left out.
    pub fn learn_mutation(
        &mut self,
        position: Position,
        own: bool,
        base: Position,
        authored: &Operation,
        committed: Option<&[Operation]>,
    ) {
        let committed = committed.unwrap_or(std::slice::from_ref(authored));
        match own {
            true => self.commit(position, base, authored, committed),
            false => {
                self.note_deleted(position, committed);
                self.foreign(position, committed);
            }
        }
    }

    /// Where a sheet was deleted or replaced, if that was learned.
    #[must_use]
    pub fn deleted_at(&self, sheet: SheetId) -> Option<Position> {
        self.deleted.get(&sheet).copied()
    }

    fn note_deleted(&mut self, position: Position, committed: &[Operation]) {
        let sheets = committed.iter().filter_map(|operation| match operation {
            Operation::DeleteSheet(delete) => Some(delete.sheet),
            Operation::ImportSheet(import) => import.replaces,
            _ => None,
        });
        self.deleted.extend(sheets.map(|sheet| (sheet, position)));
    }

    /// Adds an own mutation that was, or is about to be, committed at `position`.
    pub fn commit(
        &mut self,
        position: Position,
        base: Position,
        authored: &Operation,
        committed: &[Operation],
    ) {
        self.note_deleted(position, committed);
        // What it is resolved to is not known to whoever asks for it.
        if authored.is_resolved_on_append() {
            self.foreign(position, committed);
        } else if authored.moves_cells() {
            let base = self.last_own().map_or(base, |last| last.base.max(base));
            let (authored, committed) = (authored.clone(), committed.to_vec());
            self.push(Change::Own { position, base, authored, committed });
        }
    }

    fn foreign(&mut self, position: Position, committed: &[Operation]) {
        let moving = committed.iter().filter(|operation| operation.moves_cells());
        let operations: Vec<Operation> = moving.cloned().collect();
        if !operations.is_empty() {
            self.push(Change::Foreign { position, operations });
        }
    }

    /// Keeps a change; what is too much to go past is not kept, so that it takes no memory.
    fn push(&mut self, change: Change) {
        self.parts = self.parts.saturating_add(change.parts());
        if self.is_too_long() {
            self.changes = Vec::new();
            self.owns = Vec::new();
            return;
        }
        if matches!(change, Change::Own { .. }) {
            self.owns.push(self.changes.len());
        }
        self.changes.push(change);
    }

    /// Whether more has changed than `MAX_TRANSFORM_CHANGES`: there are no maps then.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.parts > MAX_TRANSFORM_CHANGES
    }

    /// The map from the author's space behind `base` to the end of what was learned.
    ///
    /// # Errors
    /// [`TooManyChanges`] beyond `MAX_TRANSFORM_CHANGES`.
    pub fn map(&self, base: Position) -> Result<SpaceMap, TooManyChanges> {
        if self.is_too_long() {
            return Err(TooManyChanges);
        }
        // Who wrote something on a later base before has seen it.
        let later = self.last_own().filter(|own| own.position > base);
        let base = later.map_or(base, |own| own.base.max(base));
        let mut own = self.pending_at(base)?;
        Ok(self.walk(base, None, &mut own))
    }

    /// The lowest base that [`Author::map`] starts from for a mutation on `base`: entries from here
    /// on must have been learned.
    ///
    /// An own mutation behind `base` was written on what its author had seen then: that base, and
    /// behind it the own mutations of that time, which were written on theirs.
    #[must_use]
    pub fn needed_from(&self, base: Position) -> Position {
        let mut lowest = base;
        // Bases never fall: the first behind `lowest` has the lowest of them.
        while let Some(own) = self.own(self.first_own_behind(lowest)).filter(|o| o.base < lowest) {
            lowest = own.base;
        }
        lowest
    }

    /// The own mutations behind `base`, in the space of `base` and of each other: what its author was
    /// shown of them there.
    fn pending_at(&self, base: Position) -> Result<Pending, TooManyChanges> {
        let mut at = self.needed_from(base);
        let mut before = BTreeMap::new();
        let mut moves = 0;
        loop {
            let pending = self.shown_at(at, &before, &mut moves)?;
            if at >= base {
                return Ok(pending);
            }
            let next = self.owns.partition_point(|index| self.base_of(*index) <= Some(at));
            before.insert(at, pending);
            at = self.own(next).map_or(base, |own| own.base.min(base));
        }
    }

    /// The own mutations behind `at`, in the space of `at` and of each other; `before` has those of
    /// all bases below.
    ///
    /// Each is moved at once from the base that it was written on, as its author is shown it
    /// (`rebase`) and as it is committed: on the way, from base to base, it could lose what it stands
    /// in front of, and would come to stand on another side of what was inserted there.
    fn shown_at(
        &self,
        at: Position,
        before: &BTreeMap<Position, Pending>,
        moves: &mut usize,
    ) -> Result<Pending, TooManyChanges> {
        let mut shown = Pending::new();
        let first = self.first_own_behind(at);
        while let Some(own) = self.own(first.saturating_add(shown.len())) {
            if own.base > at {
                break;
            }
            let Some(written) = before.get(&own.base) else {
                shown.push_back(Some(own.authored.clone()));
                continue;
            };
            let mut written = written.clone();
            // Each counts by itself, and the way that all of them go by its groups.
            let way = self.first_behind(at).saturating_sub(self.first_behind(own.base));
            *moves = moves.saturating_add(written.len()).saturating_add(way / GROUP_PARTS);
            if *moves > MAX_TRANSFORM_CHANGES {
                return Err(TooManyChanges);
            }
            let mut map = self.walk(own.base, Some(at), &mut written);
            for (number, authored) in written.into_iter().enumerate() {
                match (shown.get(number), authored) {
                    (Some(there), Some(authored)) => map.follow_own(&authored, there.as_slice()),
                    (Some(_), None) => {}
                    (None, authored) => shown.push_back(authored.and_then(|authored| {
                        let moved = transform(&authored, &map);
                        let there = moved.unwrap_or_else(|| vec![authored.clone()]);
                        map.follow_own(&authored, &there);
                        there.into_iter().next()
                    })),
                }
            }
        }
        Ok(shown)
    }

    /// Walks what was committed behind `from` up to `to`, taking the author's own out of `pending`.
    fn walk(&self, from: Position, to: Option<Position>, pending: &mut Pending) -> SpaceMap {
        let mut walk = Walk::default();
        let inside = |change: &&Change| to.is_none_or(|to| change.position() <= to);
        for change in self.behind(from).take_while(inside) {
            match change {
                Change::Foreign { operations, .. } => walk.follow(operations),
                Change::Own { committed, .. } => match pending.pop_front().flatten() {
                    Some(authored) => walk.follow_own(&authored, committed),
                    None => walk.follow(committed),
                },
            }
        }
        walk.end()
    }

    /// The changes behind a position.
    fn behind(&self, position: Position) -> impl Iterator<Item = &Change> {
        self.changes.iter().skip(self.first_behind(position))
    }

    /// The number of the first change behind a position.
    fn first_behind(&self, position: Position) -> usize {
        self.changes.partition_point(|change| change.position() <= position)
    }

    fn own(&self, number: usize) -> Option<Own<'_>> {
        match self.changes.get(*self.owns.get(number)?)? {
            Change::Own { position, base, authored, .. } => {
                Some(Own { position: *position, base: *base, authored })
            }
            Change::Foreign { .. } => None,
        }
    }

    fn base_of(&self, index: usize) -> Option<Position> {
        match self.changes.get(index)? {
            Change::Own { base, .. } => Some(*base),
            Change::Foreign { .. } => None,
        }
    }

    fn last_own(&self) -> Option<Own<'_>> {
        self.own(self.owns.len().checked_sub(1)?)
    }

    /// The number of the first own mutation behind a position.
    fn first_own_behind(&self, position: Position) -> usize {
        self.owns.partition_point(|index| {
            self.changes.get(*index).is_some_and(|change| change.position() <= position)
        })
    }
}

/// A map on its way, with the newest changes of others in a small map of their own: to compose
/// costs as much as both maps are long.
#[derive(Default)]
struct Walk {
    map: SpaceMap,
    group: SpaceMap,
    group_parts: usize,
}

impl Walk {
    fn follow(&mut self, operations: &[Operation]) {
        for operation in operations {
            self.group.follow(operation);
            self.group_parts = self.group_parts.saturating_add(operation.parts());
            if self.group_parts >= GROUP_PARTS {
                self.close_group();
            }
        }
    }

    fn follow_own(&mut self, authored: &Operation, committed: &[Operation]) {
        self.close_group();
        self.map.follow_own(authored, committed);
    }

    fn close_group(&mut self) {
        self.map.follow_map(&std::mem::take(&mut self.group));
        self.group_parts = 0;
    }

    fn end(mut self) -> SpaceMap {
        self.close_group();
        self.map
    }
}
