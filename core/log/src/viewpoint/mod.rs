//! The log as seen by one client: the committed entries up to a base, followed by the client's own
//! mutations.
//!
//! [`Viewpoint::map_from`] returns the map that transforms the client's next mutation to the latest
//! position.

mod change;
#[cfg(test)]
mod cost;
mod map_builder;

use std::collections::{BTreeMap, VecDeque};

use crate::entry::{Entry, Mutation};
use crate::transform::{SpaceMap, transform};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_TRANSFORM_CHANGES;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};
use change::Change;
use map_builder::{GROUP_COST, MapBuilder};

/// The changes after a position, as seen by one client.
///
/// The client's own mutations are in log order. Both their positions and their bases are
/// non-decreasing.
#[derive(Debug, Clone, PartialEq)]
pub struct Viewpoint {
    client: ClientKey,
    changes: Vec<Change>,
    /// Indexes of the client's own mutations in `changes`.
    own_indexes: Vec<usize>,
    /// Cost of a transform past all changes.
    cost: usize,
    /// Deleted or replaced sheets, with the position at which any client deleted or replaced them.
    deleted_sheets: BTreeMap<SheetId, Position>,
}

/// The total cost of the changes exceeds `MAX_TRANSFORM_CHANGES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyChanges;

/// The client's own mutation.
#[derive(Debug, Clone, Copy)]
struct OwnMutation<'a> {
    position: Position,
    base: Position,
    authored: &'a Operation,
}

/// The client's own mutations that were committed after a base, in order. Each is in coordinates of
/// the base and the preceding mutations. `None` if a mutation has no effect.
type PendingMutations = VecDeque<Option<Operation>>;

impl Viewpoint {
    /// Creates a client's viewpoint before any entry.
    #[must_use]
    pub fn new(client: ClientKey) -> Self {
        Self {
            client,
            changes: Vec::new(),
            own_indexes: Vec::new(),
            cost: 0,
            deleted_sheets: BTreeMap::new(),
        }
    }

    /// Adds the next log entry.
    pub fn add_entry(&mut self, entry: &Entry) {
        let Some(edits) = entry.edits() else { return };
        let is_own = edits.client == self.client;
        for Mutation { base, authored, committed } in &edits.mutations {
            self.add_mutation(entry.position, is_own, *base, authored, committed.as_deref());
        }
    }

    /// Adds the next mutation of the entry at `position`. `is_own` is set for the client's own
    /// mutation. `committed` is `None` if the mutation was committed as authored. Mutations that
    /// only set cells may be omitted.
    pub fn add_mutation(
        &mut self,
        position: Position,
        is_own: bool,
        base: Position,
        authored: &Operation,
        committed: Option<&[Operation]>,
    ) {
        let committed = committed.unwrap_or(std::slice::from_ref(authored));
        if is_own {
            self.add_own_mutation(position, base, authored, committed);
        } else {
            self.record_deleted_sheets(position, committed);
            self.add_foreign_operations(position, committed);
        }
    }

    /// Adds the client's own mutation that is, or is about to be, committed at `position`.
    pub fn add_own_mutation(
        &mut self,
        position: Position,
        base: Position,
        authored: &Operation,
        committed: &[Operation],
    ) {
        self.record_deleted_sheets(position, committed);
        if authored.is_resolved_on_append() {
            // The client never saw the operations that its undo or revert was resolved to.
            self.add_foreign_operations(position, committed);
        } else if authored.moves_cells() {
            let base = self.last_own().map_or(base, |last| last.base.max(base));
            let (authored, committed) = (authored.clone(), committed.to_vec());
            self.add_change(Change::Own { position, base, authored, committed });
        }
    }

    fn add_foreign_operations(&mut self, position: Position, committed: &[Operation]) {
        let moving = committed.iter().filter(|operation| operation.moves_cells());
        let operations: Vec<Operation> = moving.cloned().collect();
        if !operations.is_empty() {
            self.add_change(Change::Foreign { position, operations });
        }
    }

    /// Adds a change. Drops all changes if the total cost becomes too high, to bound memory.
    fn add_change(&mut self, change: Change) {
        self.cost = self.cost.saturating_add(change.cost());
        if self.is_too_long() {
            self.changes = Vec::new();
            self.own_indexes = Vec::new();
            return;
        }
        if matches!(change, Change::Own { .. }) {
            self.own_indexes.push(self.changes.len());
        }
        self.changes.push(change);
    }

    fn record_deleted_sheets(&mut self, position: Position, committed: &[Operation]) {
        let sheets = committed.iter().filter_map(|operation| match operation {
            Operation::DeleteSheet(delete) => Some(delete.sheet),
            Operation::ImportSheet(import) => import.replaces,
            _ => None,
        });
        self.deleted_sheets.extend(sheets.map(|sheet| (sheet, position)));
    }

    /// Returns the position of an added entry that deleted or replaced a sheet, if any.
    #[must_use]
    pub fn deleted_at(&self, sheet: SheetId) -> Option<Position> {
        self.deleted_sheets.get(&sheet).copied()
    }

    /// Whether the total cost of the changes exceeds `MAX_TRANSFORM_CHANGES`, so that no map can be
    /// built.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.cost > MAX_TRANSFORM_CHANGES
    }

    /// Returns the map from the client's coordinates after `base` to those of the latest entry.
    ///
    /// # Errors
    /// Returns [`TooManyChanges`] if the total cost exceeds `MAX_TRANSFORM_CHANGES`.
    pub fn map_from(&self, base: Position) -> Result<SpaceMap, TooManyChanges> {
        if self.is_too_long() {
            return Err(TooManyChanges);
        }
        // A client that has written a mutation on a later base has seen that base.
        let base = match self.last_own() {
            Some(own) if own.position > base => own.base.max(base),
            _ => base,
        };
        let mut pending = self.pending_at(base)?;
        Ok(self.build_map(base, None, &mut pending))
    }

    /// Returns the position of the first entry that [`Viewpoint::map_from`] needs for a mutation on
    /// `base`. All entries starting at this position must have been added.
    ///
    /// Own mutations committed after `base` were written on top of their own bases and of earlier
    /// own mutations, so the search goes back through these bases.
    #[must_use]
    pub fn first_needed_position(&self, base: Position) -> Position {
        let mut lowest = base;
        loop {
            // Bases are non-decreasing, so the first own mutation after `lowest` has the lowest
            // base.
            match self.own(self.first_own_after(lowest)) {
                Some(own) if own.base < lowest => lowest = own.base,
                _ => return lowest,
            }
        }
    }

    /// Returns the own mutations after `base`, in the coordinates in which the client saw them on
    /// `base`.
    ///
    /// Starts at the lowest required base and proceeds through each higher base of an own mutation,
    /// because mutations on a higher base were written on top of those on lower bases.
    fn pending_at(&self, base: Position) -> Result<PendingMutations, TooManyChanges> {
        let mut current = self.first_needed_position(base);
        let mut pending_at_lower_bases = BTreeMap::new();
        let mut cost = 0;
        loop {
            let pending = self.rebase_pending(current, &pending_at_lower_bases, &mut cost)?;
            if current >= base {
                return Ok(pending);
            }
            pending_at_lower_bases.insert(current, pending);
            let next_own = self.first_own_on_base_after(current);
            current = next_own.map_or(base, |own| own.base.min(base));
        }
    }

    /// Returns the own mutations after `target`, in the coordinates in which the client saw them on
    /// `target`. `pending_at_lower_bases` must contain the results for all lower bases of own
    /// mutations. The cost is added to `cost`.
    ///
    /// Like in a commit, each mutation is moved in a single step from the base on which it was
    /// written. Moving it from base to base could lose the row before which it inserts; its rows
    /// would then end up on the wrong side of rows that others inserted at the same place.
    fn rebase_pending(
        &self,
        target: Position,
        pending_at_lower_bases: &BTreeMap<Position, PendingMutations>,
        cost: &mut usize,
    ) -> Result<PendingMutations, TooManyChanges> {
        let mut rebased = PendingMutations::new();
        let first = self.first_own_after(target);
        while let Some(own) = self.own(first + rebased.len()) {
            if own.base > target {
                break;
            }
            let Some(pending_at_base) = pending_at_lower_bases.get(&own.base) else {
                // The mutation was written on `target` itself.
                rebased.push_back(Some(own.authored.clone()));
                continue;
            };
            let distance = self.first_after(target).saturating_sub(self.first_after(own.base));
            *cost += pending_at_base.len() + distance / GROUP_COST;
            if *cost > MAX_TRANSFORM_CHANGES {
                return Err(TooManyChanges);
            }
            let mut pending = pending_at_base.clone();
            let map = self.build_map(own.base, Some(target), &mut pending);
            rebase_onto(map, pending, &mut rebased);
        }
        Ok(rebased)
    }

    /// Builds the map of the committed changes in (`from`, `to`]. Removes own mutations in this
    /// range from the front of `pending`.
    fn build_map(
        &self,
        from: Position,
        to: Option<Position>,
        pending: &mut PendingMutations,
    ) -> SpaceMap {
        let mut builder = MapBuilder::default();
        for change in self.changes.iter().skip(self.first_after(from)) {
            if to.is_some_and(|to| change.position() > to) {
                break;
            }
            match change {
                Change::Foreign { operations, .. } => builder.add_foreign(operations),
                Change::Own { committed, .. } => match pending.pop_front().flatten() {
                    Some(authored) => builder.add_own(&authored, committed),
                    None => builder.add_foreign(committed),
                },
            }
        }
        builder.finish()
    }

    /// Returns the index of the first change after a position.
    fn first_after(&self, position: Position) -> usize {
        self.changes.partition_point(|change| change.position() <= position)
    }

    /// Returns the own mutation with this index.
    fn own(&self, number: usize) -> Option<OwnMutation<'_>> {
        match self.changes.get(*self.own_indexes.get(number)?)? {
            Change::Own { position, base, authored, .. } => {
                Some(OwnMutation { position: *position, base: *base, authored })
            }
            Change::Foreign { .. } => None,
        }
    }

    fn last_own(&self) -> Option<OwnMutation<'_>> {
        self.own(self.own_indexes.len().checked_sub(1)?)
    }

    /// Returns the index of the first own mutation committed after a position.
    fn first_own_after(&self, position: Position) -> usize {
        self.own_indexes.partition_point(|index| {
            self.changes.get(*index).is_some_and(|change| change.position() <= position)
        })
    }

    /// Returns the first own mutation with a base after a position.
    fn first_own_on_base_after(&self, position: Position) -> Option<OwnMutation<'_>> {
        let number = self.own_indexes.partition_point(|index| {
            self.changes.get(*index).and_then(Change::own_base) <= Some(position)
        });
        self.own(number)
    }
}

/// Moves pending mutations by `map` and appends them to `rebased`. Mutations that `rebased` already
/// contains only advance the map.
fn rebase_onto(mut map: SpaceMap, pending: PendingMutations, rebased: &mut PendingMutations) {
    for (number, operation) in pending.into_iter().enumerate() {
        let Some(operation) = operation else {
            if number >= rebased.len() {
                rebased.push_back(None);
            }
            continue;
        };
        if let Some(moved) = rebased.get(number) {
            map.add_own(&operation, moved.as_slice());
            continue;
        }
        let moved = transform(&operation, &map).unwrap_or_else(|| vec![operation.clone()]);
        map.add_own(&operation, &moved);
        rebased.push_back(moved.into_iter().next());
    }
}
