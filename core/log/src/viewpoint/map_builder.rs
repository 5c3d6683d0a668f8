//! Composes the maps of many changes.

use crate::transform::SpaceMap;
use cellar_sheet::operation::Operation;

/// Maximum cost of a group of other clients' operations. A group that reaches this cost is composed
/// with the map of all changes.
pub(super) const GROUP_COST: usize = 128;

/// A transform map under construction. Composing two maps takes time in proportion to the length of
/// both. The latest operations of other clients are therefore first composed into a small map (the
/// group), which is then composed with the large map.
#[derive(Default)]
pub(super) struct MapBuilder {
    map: SpaceMap,
    group: SpaceMap,
    group_cost: usize,
}

impl MapBuilder {
    /// Adds committed operations that the client has not seen.
    pub(super) fn add_foreign(&mut self, operations: &[Operation]) {
        for operation in operations {
            self.group.add_foreign(operation);
            self.group_cost = self.group_cost.saturating_add(operation.transform_cost());
            if self.group_cost >= GROUP_COST {
                self.close_group();
            }
        }
    }

    /// Adds the client's own mutation. `committed` is its committed form.
    pub(super) fn add_own(&mut self, authored: &Operation, committed: &[Operation]) {
        self.close_group();
        self.map.add_own(authored, committed);
    }

    /// Returns the finished map.
    pub(super) fn finish(mut self) -> SpaceMap {
        self.close_group();
        self.map
    }

    fn close_group(&mut self) {
        self.map.add_foreign_map(&std::mem::take(&mut self.group));
        self.group_cost = 0;
    }
}
