//! Transforms definitions of names.

use super::space_map::{SheetMap, SpaceMap};
use cellar_sheet::operation::SetName;

/// Moves the references in the definition of a name. References to a sheet that does not exist in
/// the later state become `#REF!`.
pub(super) fn transform_name(set: &SetName, map: &SpaceMap) -> SetName {
    set.moved(|sheet| {
        let SheetMap { target, rows, columns } = map.sheet_map(sheet);
        (target, rows, columns)
    })
}
