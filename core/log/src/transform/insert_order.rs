//! Order of two inserts at the same place.

use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{InsertBefore, SheetId};

/// Transforms an insert of rows or columns to `target_sheet`, to the later coordinates of `map`.
///
/// The insert directly precedes the first remaining row at or after its place. If others inserted
/// rows at the same place, the insert that is committed later therefore follows theirs.
pub(super) fn transform_insert(
    insert: &InsertBefore,
    target_sheet: SheetId,
    map: &AxisMap,
) -> InsertBefore {
    let before = map.insertion_point(insert.before);
    InsertBefore { sheet: target_sheet, before, count: insert.count }
}
