//! Rows and columns that were deleted and replaced by as many between two rows that still exist.

use std::collections::{BTreeMap, BTreeSet};

use super::LineId;
use super::sheet::{Line, PlainSheet};
use crate::axis_map::Axis;

impl PlainSheet {
    /// Returns the sheet in which replaced rows and columns have the ids that they had in `earlier`, and
    /// whether there are any.
    pub(super) fn with_replaced_ids(&self, earlier: &Self) -> (Self, bool) {
        let rows = replaced_ids(earlier, self, Axis::Rows);
        let columns = replaced_ids(earlier, self, Axis::Columns);
        let has_replaced_lines = !rows.is_empty() || !columns.is_empty();
        (self.with_ids(&rows, &columns), has_replaced_lines)
    }
}

/// Maps the new ids to those in the earlier sheet.
fn replaced_ids(from: &PlainSheet, to: &PlainSheet, axis: Axis) -> BTreeMap<LineId, LineId> {
    let ids = |lines: &[Line]| lines.iter().map(|line| line.id).collect::<Vec<LineId>>();
    let (from_ids, to_ids) = (ids(from.lines(axis)), ids(to.lines(axis)));
    let (old, new): (BTreeSet<LineId>, BTreeSet<LineId>) =
        (from_ids.iter().copied().collect(), to_ids.iter().copied().collect());
    let kept_in = |ids: &[LineId]| {
        ids.iter().copied().filter(|id| old.contains(id) && new.contains(id)).collect::<Vec<_>>()
    };
    let kept = kept_in(&from_ids);
    if kept != kept_in(&to_ids) {
        return BTreeMap::new();
    }
    let mut replaced = BTreeMap::new();
    let (mut from_rest, mut to_rest) = (from_ids.into_iter(), to_ids.into_iter());
    for kept_id in kept {
        let deleted: Vec<LineId> = from_rest.by_ref().take_while(|id| *id != kept_id).collect();
        let inserted: Vec<LineId> = to_rest.by_ref().take_while(|id| *id != kept_id).collect();
        if deleted.len() == inserted.len() {
            replaced.extend(inserted.into_iter().zip(deleted));
        }
    }
    replaced
}
