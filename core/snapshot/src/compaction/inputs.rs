//! The merge inputs of each sheet.

use super::base::{CompactionBase, LevelZeroSheet};
use super::entries::FoldedEntries;
use crate::merge::{Below, LevelInput, SheetInput};
use cellar_sheet::operation::SheetId;

/// Returns the in-memory merge inputs of a sheet: level 0 first, then the folded entries.
pub(super) fn memory_inputs(
    base: &CompactionBase,
    folded: &FoldedEntries,
    sheet: SheetId,
) -> Vec<LevelInput> {
    let level_0 = base.level_0.get(&sheet).map(LevelZeroSheet::to_input);
    let entries = folded.sheet(sheet).cloned().map(LevelInput::folded);
    level_0.into_iter().chain(entries).collect()
}

/// Returns the merge input of a sheet. The merge combines `levels` into one level above the oldest
/// `kept_levels` levels of `base`.
pub(super) fn sheet_input(
    base: &CompactionBase,
    folded: &FoldedEntries,
    sheet: SheetId,
    kept_levels: usize,
    stripe_columns: u32,
    levels: Vec<LevelInput>,
) -> SheetInput {
    let metadata = folded.metadata.sheets.get(&sheet);
    let has_range_formats = metadata.is_some_and(|metadata| !metadata.formats.is_empty());
    let below = if base.has_sheet_in_oldest(sheet, kept_levels) {
        Below::Levels
    } else if has_range_formats {
        Below::Nothing
    } else {
        Below::NothingFormatted
    };
    let columns = metadata.map_or(0, |metadata| metadata.extent.columns);
    SheetInput { sheet, below, columns, stripe_columns, levels }
}
