//! Transforms definitions of names.

use super::space_map::{SheetMap, SpaceMap};
use cellar_sheet::operation::SetName;

/// Moves the references of a definition. A reference to a sheet that was not added is deleted.
pub(super) fn transform_name(set: &SetName, map: &SpaceMap) -> SetName {
    set.moved(|sheet| {
        let SheetMap { target, rows, columns } = map.sheet_map(sheet);
        (target, rows, columns)
    })
}
