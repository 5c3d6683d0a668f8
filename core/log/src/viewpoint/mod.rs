//! The log as one client sees it: the committed entries up to a base, followed by the client's own
//! mutations. [`Viewpoint::map_from`] returns the map from the state that the client saw to the
//! latest state. The client's next mutation is transformed with this map.

mod change;
#[cfg(test)]
mod cost;
mod map_builder;
mod tab_changes;

use std::collections::{BTreeMap, VecDeque};

use crate::entry::{Entry, Mutation};
use crate::transform::{SpaceMap, transform};
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_TRANSFORM_CHANGES;
use cellar_base::position::Position;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{Operation, SheetId};
use change::Change;
use map_builder::{GROUP_COST, MapBuilder};
use tab_changes::TabChanges;

/// The changes after a position, as one client sees them. The client's own mutations are in log
/// order, and their bases never decrease.
#[derive(Debug, Clone, PartialEq)]
pub struct Viewpoint {
    client: ClientKey,
    changes: Vec<Change>,
    /// Indices of the client's own mutations in `changes`.
    own_indexes: Vec<usize>,
    cost: usize,
    /// Sheets that any client deleted or replaced, with the position of the deletion or
    /// replacement.
    deleted_sheets: BTreeMap<SheetId, Position>,
    tab_changes: TabChanges,
}

/// Error if the total cost of the changes exceeds `MAX_TRANSFORM_CHANGES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyChanges;

#[derive(Debug, Clone, Copy)]
struct OwnMutation<'a> {
    position: Position,
    base: Position,
    authored: &'a Operation,
}

/// The client's own mutations that were committed after a base, in order. Each is in the
/// coordinates after the base and the preceding mutations. A mutation without an effect is `None`.
type PendingMutations = VecDeque<Option<Operation>>;

impl Viewpoint {
    /// Creates the viewpoint of a client before any entry was added.
    #[must_use]
    pub fn new(client: ClientKey) -> Self {
        Self {
            client,
            changes: Vec::new(),
            own_indexes: Vec::new(),
            cost: 0,
            deleted_sheets: BTreeMap::new(),
            tab_changes: TabChanges::default(),
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

    /// Adds the next mutation of the entry at `position`. `is_own` is set if the client itself
    /// wrote the mutation. If `committed` is `None`, the mutation was committed as authored.
    /// Mutations that only set cells may be omitted.
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
            self.tab_changes.add(position, None, committed);
            self.add_foreign_operations(position, committed);
        }
    }

    /// Adds one of the client's own mutations that was committed, or is about to be committed, at
    /// `position`.
    pub fn add_own_mutation(
        &mut self,
        position: Position,
        base: Position,
        authored: &Operation,
        committed: &[Operation],
    ) {
        self.record_deleted_sheets(position, committed);
        let seen_operation = Some(authored).filter(|authored| !authored.is_resolved_on_append());
        self.tab_changes.add(position, seen_operation, committed);
        if authored.is_resolved_on_append() {
            // The client has never seen the operations computed for its undo or revert.
            self.add_foreign_operations(position, committed);
        } else if authored.moves_cells() {
            let base = self.last_own_mutation().map_or(base, |last| last.base.max(base));
            self.add_change(Change::Own {
                position,
                base,
                authored: authored.clone(),
                committed: committed.to_vec(),
            });
        }
    }

    fn add_foreign_operations(&mut self, position: Position, committed: &[Operation]) {
        let moving_operations: Vec<Operation> =
            committed.iter().filter(|operation| operation.moves_cells()).cloned().collect();
        if !moving_operations.is_empty() {
            self.add_change(Change::Foreign { position, operations: moving_operations });
        }
    }

    /// Adds a change. If the total cost then exceeds the limit, drops all changes to save memory.
    fn add_change(&mut self, change: Change) {
        self.cost = self.cost.saturating_add(change.cost());
        if self.exceeds_transform_limit() {
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
        for operation in committed {
            let deleted_sheet = match operation {
                Operation::DeleteSheet(delete) => Some(delete.sheet),
                Operation::ImportSheet(import) => import.replaces,
                _ => None,
            };
            if let Some(sheet) = deleted_sheet {
                self.deleted_sheets.insert(sheet, position);
            }
        }
    }

    /// Returns whether an entry after `base` deleted or replaced a sheet.
    #[must_use]
    pub fn was_deleted_after(&self, base: Position, sheet: SheetId) -> bool {
        self.deleted_sheets.get(&sheet).is_some_and(|deleted_at| *deleted_at > base)
    }

    /// Returns whether the total cost of the changes exceeds `MAX_TRANSFORM_CHANGES`. If it does,
    /// no map can be built.
    #[must_use]
    pub fn exceeds_transform_limit(&self) -> bool {
        self.cost > MAX_TRANSFORM_CHANGES
    }

    /// Returns the map from the client's coordinates after `base` to the coordinates after the
    /// latest entry.
    ///
    /// # Errors
    /// Returns [`TooManyChanges`] if the total cost exceeds `MAX_TRANSFORM_CHANGES`.
    pub fn map_from(&self, base: Position) -> Result<SpaceMap, TooManyChanges> {
        if self.exceeds_transform_limit() {
            return Err(TooManyChanges);
        }
        let seen_base = self.seen_base(base);
        let mut pending_mutations = self.pending_at(seen_base)?;
        Ok(self.build_map(seen_base, None, &mut pending_mutations))
    }

    /// Returns the latest position that the client had seen when it wrote a mutation on `base`. It
    /// may be later than `base`: a client that sends a mutation with a base has received all
    /// entries up to that base.
    fn seen_base(&self, base: Position) -> Position {
        match self.last_own_mutation() {
            Some(last_own) if last_own.position > base => last_own.base.max(base),
            _ => base,
        }
    }

    /// Returns whether any change after `position` moves cells or changes the names of sheets.
    #[must_use]
    pub fn has_changes_after(&self, position: Position) -> bool {
        let moves_cells = self.changes.last().is_some_and(|last| last.position() > position);
        moves_cells || self.tab_changes.last_position() > Some(position)
    }

    /// Returns the tabs that the client saw when it wrote a mutation on `base`, and the tabs after
    /// the latest entry. `start_tabs` are the tabs at the position `start`, which must not be after
    /// `base`.
    #[must_use]
    pub fn tabs_from(&self, start: Position, start_tabs: &Tabs, base: Position) -> (Tabs, Tabs) {
        self.tab_changes.seen_and_latest(start, start_tabs, self.seen_base(base))
    }

    /// Returns the position of the first entry that [`Viewpoint::map_from`] needs for a mutation on
    /// `base`. All entries starting at this position must have been added.
    ///
    /// This position may be before `base`: to map the client's own mutations that were committed
    /// after `base`, the entries after their bases are needed as well. The search therefore
    /// continues backward through these bases.
    #[must_use]
    pub fn first_needed_position(&self, base: Position) -> Position {
        let mut lowest_base = base;
        loop {
            // Bases never decrease from one of the client's mutations to the next. The first of
            // them that was committed after `lowest_base` therefore has the lowest base.
            match self.own_mutation(self.first_own_index_after(lowest_base)) {
                Some(own) if own.base < lowest_base => lowest_base = own.base,
                _ => return lowest_base,
            }
        }
    }

    /// Returns the client's own mutations that were committed after `base`, in the coordinates that
    /// the client saw at `base`. The result for a base depends on the results for lower bases, so
    /// those are computed first.
    fn pending_at(&self, base: Position) -> Result<PendingMutations, TooManyChanges> {
        let mut current_base = self.first_needed_position(base);
        let mut pending_at_lower_bases = BTreeMap::new();
        let mut total_cost = 0;
        loop {
            let pending =
                self.rebase_pending(current_base, &pending_at_lower_bases, &mut total_cost)?;
            if current_base >= base {
                return Ok(pending);
            }
            pending_at_lower_bases.insert(current_base, pending);
            let next_own_base = self.lowest_own_base_after(current_base);
            current_base = next_own_base.map_or(base, |own_base| own_base.min(base));
        }
    }

    /// Returns the client's own mutations that were committed after `target_base`, in the
    /// coordinates that the client saw at `target_base`. `pending_at_lower_bases` must contain the
    /// results for all lower bases of the client's mutations. Adds the cost to `total_cost`.
    ///
    /// As in a commit, each mutation is transformed in a single step from its own base.
    /// Transforming it in several steps could lose track of the row before which rows were
    /// inserted. They would then end up on the wrong side of rows that others inserted at the same
    /// position.
    fn rebase_pending(
        &self,
        target_base: Position,
        pending_at_lower_bases: &BTreeMap<Position, PendingMutations>,
        total_cost: &mut usize,
    ) -> Result<PendingMutations, TooManyChanges> {
        let mut rebased = PendingMutations::new();
        let first_own_index = self.first_own_index_after(target_base);
        while let Some(own) = self.own_mutation(first_own_index + rebased.len())
            && own.base <= target_base
        {
            let Some(pending_at_own_base) = pending_at_lower_bases.get(&own.base) else {
                // The client wrote the mutation with the base `target_base` itself.
                rebased.push_back(Some(own.authored.clone()));
                continue;
            };
            let change_count = self.change_count_between(own.base, target_base);
            *total_cost += pending_at_own_base.len() + change_count / GROUP_COST;
            if *total_cost > MAX_TRANSFORM_CHANGES {
                return Err(TooManyChanges);
            }
            let mut pending = pending_at_own_base.clone();
            let map = self.build_map(own.base, Some(target_base), &mut pending);
            append_rebased(&mut rebased, pending, map);
        }
        Ok(rebased)
    }

    /// Builds the map of the committed changes after `after_position`, up to and including
    /// `last_position`. If `last_position` is `None`, includes all later changes. Removes the
    /// client's own mutations among these changes from the front of `pending`.
    fn build_map(
        &self,
        after_position: Position,
        last_position: Option<Position>,
        pending: &mut PendingMutations,
    ) -> SpaceMap {
        let mut builder = MapBuilder::default();
        for change in self.changes.iter().skip(self.first_change_index_after(after_position)) {
            if last_position.is_some_and(|last| change.position() > last) {
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

    /// Returns the number of changes after `lower`, up to and including `higher`.
    fn change_count_between(&self, lower: Position, higher: Position) -> usize {
        let first_index = self.first_change_index_after(lower);
        self.first_change_index_after(higher).saturating_sub(first_index)
    }

    fn first_change_index_after(&self, position: Position) -> usize {
        self.changes.partition_point(|change| change.position() <= position)
    }

    fn own_mutation(&self, own_index: usize) -> Option<OwnMutation<'_>> {
        let change_index = *self.own_indexes.get(own_index)?;
        match self.changes.get(change_index)? {
            Change::Own { position, base, authored, .. } => {
                Some(OwnMutation { position: *position, base: *base, authored })
            }
            Change::Foreign { .. } => None,
        }
    }

    fn last_own_mutation(&self) -> Option<OwnMutation<'_>> {
        self.own_mutation(self.own_indexes.len().checked_sub(1)?)
    }

    fn first_own_index_after(&self, position: Position) -> usize {
        self.own_indexes.partition_point(|index| {
            self.changes.get(*index).is_some_and(|change| change.position() <= position)
        })
    }

    fn lowest_own_base_after(&self, position: Position) -> Option<Position> {
        let own_index = self.own_indexes.partition_point(|change_index| {
            self.changes.get(*change_index).and_then(Change::own_base) <= Some(position)
        });
        Some(self.own_mutation(own_index)?.base)
    }
}

/// Transforms the `pending` mutations with `map` and appends them to `rebased`. Mutations that
/// `rebased` already contains are only added to the map.
fn append_rebased(rebased: &mut PendingMutations, pending: PendingMutations, mut map: SpaceMap) {
    for (index, operation) in pending.into_iter().enumerate() {
        match (operation, rebased.get(index)) {
            (Some(operation), Some(rebased_operation)) => {
                map.add_own(&operation, rebased_operation.as_slice());
            }
            (None, Some(_)) => {}
            (Some(operation), None) => {
                let transformed =
                    transform(&operation, &map).unwrap_or_else(|| vec![operation.clone()]);
                map.add_own(&operation, &transformed);
                rebased.push_back(transformed.into_iter().next());
            }
            (None, None) => rebased.push_back(None),
        }
    }
}
