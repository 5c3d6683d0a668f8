//! Orders two inserts at the same place.

use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{InsertBefore, SheetId};

/// Transforms an insert of rows or columns to the later coordinates of `map` in `target_sheet`.
///
/// The insert is moved to directly before the first remaining row at or after its position. If
/// other clients inserted rows at the same position, the rows committed later follow the rows
/// committed earlier.
pub(super) fn transform_insert(
    insert: &InsertBefore,
    target_sheet: SheetId,
    map: &AxisMap,
) -> InsertBefore {
    let before = map.insertion_point(insert.before);
    InsertBefore { sheet: target_sheet, before, count: insert.count }
}
