//! Rows and columns that were deleted and replaced by as many at the same place.

use crate::axis_map::{Axis, AxisMap, Run};

/// Adds runs to a map for the deleted rows or columns that were replaced by as many at the same
/// place. If an undo of another entry has restored them, they are the same rows with new ids.
pub(super) fn with_replaced_lines(map: AxisMap, axis: Axis) -> AxisMap {
    if !map.keeps_order() {
        return map;
    }
    let mut filled = AxisMap::empty(axis);
    let (mut src_end, mut dst_end) = (0_u32, 0_u32);
    for run in map.runs() {
        let deleted_len = run.src.saturating_sub(src_end);
        if deleted_len == run.dst.saturating_sub(dst_end) {
            filled.push(Run { src: src_end, dst: dst_end, len: deleted_len });
        }
        filled.push(*run);
        src_end = run.src.saturating_add(run.len);
        dst_end = run.dst.saturating_add(run.len);
    }
    filled
}
