//! Determines the order of rows or columns that several clients insert at the same position.

use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{InsertBefore, SheetId};

/// The insert moves to directly before the first remaining row at or after its original position.
/// If several clients inserted rows at the same position, the rows are in commit order from top to
/// bottom.
pub(super) fn transform_insert(
    insert: &InsertBefore,
    target_sheet: SheetId,
    map: &AxisMap,
) -> InsertBefore {
    let before = map.insertion_point(insert.before);
    InsertBefore { sheet: target_sheet, before, count: insert.count }
}
