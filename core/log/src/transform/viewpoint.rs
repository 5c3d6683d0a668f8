//! The viewpoint of an author: the committed entries up to a base, followed by the author's own
//! earlier mutations, wherever they are in the log.

use std::collections::{BTreeMap, VecDeque};

use super::operation::transform;
use super::space_map::SpaceMap;
use crate::entry::{Entry, Mutation};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_TRANSFORM_CHANGES;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};

/// A committed change that moves cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Unknown to the author at its base: operations of others, and the resolved operations of an
    /// undo or revert.
    Foreign {
        /// Position of the entry.
        position: Position,
        /// Committed operations.
        operations: Vec<Operation>,
    },
    /// A mutation of the author.
    Own {
        /// Position of the entry.
        position: Position,
        /// Position that the author had seen; never below that of the author's preceding mutation.
        base: Position,
        /// Operation as authored, after `base` and the author's earlier mutations.
        authored: Operation,
        /// Operations as committed.
        committed: Vec<Operation>,
    },
}

/// The entries after a position, from the viewpoint of one author.
///
/// The author's mutations are in the order of their entries, so that neither their positions nor
/// their bases decrease.
#[derive(Debug, Clone, PartialEq)]
pub struct Viewpoint {
    client: ClientKey,
    changes: Vec<Change>,
    /// Indexes of the author's own changes.
    owns: Vec<usize>,
    /// Cost of transforming past all changes: each counts its spans, at least one.
    parts: usize,
    /// Positions at which sheets were deleted or replaced, by any author.
    deleted: BTreeMap<SheetId, Position>,
}

/// Cost of an own change in addition to its spans: it ends a group of composed maps.
const OWN_PARTS: usize = 16;
/// Cost of a group of others' changes that are composed before they are added to the whole map.
const GROUP_PARTS: usize = 128;

/// There are too many changes to transform past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyChanges;

/// An own mutation, from the author's viewpoint.
#[derive(Debug, Clone, Copy)]
struct Own<'a> {
    position: Position,
    base: Position,
    authored: &'a Operation,
}

/// Own mutations while they are moved from base to base; `None` if no effect remained.
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

impl Viewpoint {
    /// Creates the viewpoint of a client before any entry.
    #[must_use]
    pub fn new(client: ClientKey) -> Self {
        let (changes, owns, deleted) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { client, changes, owns, parts: 0, deleted }
    }

    /// Adds the next entry.
    pub fn add_entry(&mut self, entry: &Entry) {
        let Some(edits) = entry.edits() else { return };
        let own = edits.client == self.client;
        for Mutation { base, authored, committed } in &edits.mutations {
            self.add_mutation(entry.position, own, *base, authored, committed.as_deref());
        }
    }

    /// Adds the next mutation of the entry at `position`. `own` says whether it is the author's;
    /// `committed` is given if it differs from the authored operation. Operations that only set
    /// cells may be omitted.
    pub fn add_mutation(
        &mut self,
        position: Position,
        own: bool,
        base: Position,
        authored: &Operation,
        committed: Option<&[Operation]>,
    ) {
        let committed = committed.unwrap_or(std::slice::from_ref(authored));
        match own {
            true => self.add_own_mutation(position, base, authored, committed),
            false => {
                self.note_deleted(position, committed);
                self.foreign(position, committed);
            }
        }
    }

    /// Returns the position at which a sheet was deleted or replaced, if it was added here.
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
    pub fn add_own_mutation(
        &mut self,
        position: Position,
        base: Position,
        authored: &Operation,
        committed: &[Operation],
    ) {
        self.note_deleted(position, committed);
        // The author does not know the resolved operations.
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

    /// Adds a change, unless there are too many: then memory stays bounded.
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

    /// Returns whether the changes exceed `MAX_TRANSFORM_CHANGES`, so that there are no maps.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.parts > MAX_TRANSFORM_CHANGES
    }

    /// Returns the map from the author's coordinates after `base` to the newest entry.
    ///
    /// # Errors
    /// [`TooManyChanges`] above `MAX_TRANSFORM_CHANGES`.
    pub fn map_from(&self, base: Position) -> Result<SpaceMap, TooManyChanges> {
        if self.is_too_long() {
            return Err(TooManyChanges);
        }
        // An author who has written on a later base has seen it.
        let later = self.last_own().filter(|own| own.position > base);
        let base = later.map_or(base, |own| own.base.max(base));
        let mut own = self.pending_at(base)?;
        Ok(self.walk(base, None, &mut own))
    }

    /// Returns the lowest base from which [`Viewpoint::map_from`] starts for a mutation on `base`: entries
    /// from there on must have been added.
    ///
    /// An own mutation after `base` was written on the state that its author had seen then: its own
    /// base, followed by the own mutations of that time, which have bases in turn.
    #[must_use]
    pub fn first_needed_position(&self, base: Position) -> Position {
        let mut lowest = base;
        // Bases never decrease, so the first own mutation after `lowest` has the lowest base.
        while let Some(own) = self.own(self.first_own_behind(lowest)).filter(|o| o.base < lowest) {
            lowest = own.base;
        }
        lowest
    }

    /// Returns the own mutations after `base`, in coordinates of `base` and of each other, as their
    /// author saw them there.
    fn pending_at(&self, base: Position) -> Result<Pending, TooManyChanges> {
        let mut at = self.first_needed_position(base);
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

    /// Returns the own mutations after `at`, in coordinates of `at` and of each other; `before` has
    /// those of all lower bases.
    ///
    /// Each mutation is moved in one step from the base on which it was written, as its author sees
    /// it (`rebase`) and as it is committed. Moved from base to base, an insert could lose the row
    /// in front of which it is, and end up on the other side of rows inserted there.
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
            // Each own mutation costs its maps, and the way of all of them costs its groups.
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

    /// Follows the committed changes after `from` up to `to`, and removes the author's own from
    /// `pending`.
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

    /// Returns the changes after a position.
    fn behind(&self, position: Position) -> impl Iterator<Item = &Change> {
        self.changes.iter().skip(self.first_behind(position))
    }

    /// Returns the index of the first change after a position.
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

    /// Returns the index of the first own mutation after a position.
    fn first_own_behind(&self, position: Position) -> usize {
        self.owns.partition_point(|index| {
            self.changes.get(*index).is_some_and(|change| change.position() <= position)
        })
    }
}

/// A map under construction. The newest changes of others are in a small map of their own, because
/// composition costs the length of both maps.
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
