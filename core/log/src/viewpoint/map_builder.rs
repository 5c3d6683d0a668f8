//! Composes the maps of many changes.

use crate::transform::SpaceMap;
use cellar_sheet::operation::Operation;

/// Cost at which a group is composed with the map of all earlier changes.
pub(super) const GROUP_COST: usize = 128;

/// Composes the maps of changes. Composing two maps takes time proportional to the sum of their
/// lengths. The latest operations of other clients are therefore first composed into a small map
/// (the group), which is then composed with the large map.
#[derive(Default)]
pub(super) struct MapBuilder {
    map: SpaceMap,
    group: SpaceMap,
    group_cost: usize,
}

impl MapBuilder {
    pub(super) fn add_foreign(&mut self, operations: &[Operation]) {
        for operation in operations {
            self.group.add_foreign(operation);
            self.group_cost = self.group_cost.saturating_add(operation.transform_cost());
            if self.group_cost >= GROUP_COST {
                self.close_group();
            }
        }
    }

    pub(super) fn add_own(&mut self, authored: &Operation, committed: &[Operation]) {
        self.close_group();
        self.map.add_own(authored, committed);
    }

    pub(super) fn finish(mut self) -> SpaceMap {
        self.close_group();
        self.map
    }

    fn close_group(&mut self) {
        self.map.add_foreign_map(&std::mem::take(&mut self.group));
        self.group_cost = 0;
    }
}
