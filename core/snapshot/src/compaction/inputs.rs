//! Merge inputs of each sheet.

use super::base::{CompactionBase, LevelZeroSheet};
use super::entries::FoldedEntries;
use super::merge_plan::MergePlan;
use crate::merge::{LevelInput, OlderLevels, SheetInput};
use cellar_sheet::operation::SheetId;

/// Returns the merge inputs of a sheet that are in memory: level 0, then the folded entries.
pub(super) fn memory_inputs(
    base: &CompactionBase,
    folded: &FoldedEntries,
    sheet_id: SheetId,
) -> Vec<LevelInput> {
    let level_0_input = base.level_0.get(&sheet_id).map(LevelZeroSheet::to_input);
    let folded_input = folded.sheet(sheet_id).cloned().map(LevelInput::from_folded);
    level_0_input.into_iter().chain(folded_input).collect()
}

/// `levels` contains the sheet's changes in each level that the plan merges, oldest first.
pub(super) fn build_sheet_input(
    base: &CompactionBase,
    folded: &FoldedEntries,
    sheet_id: SheetId,
    plan: &MergePlan,
    levels: Vec<LevelInput>,
) -> SheetInput {
    let metadata = folded.metadata.sheets.get(&sheet_id);
    let has_range_formats = metadata.is_some_and(|metadata| !metadata.formats.is_empty());
    let older_levels = if base.has_sheet_in_oldest(sheet_id, plan.kept_level_count) {
        OlderLevels::Present
    } else if has_range_formats {
        OlderLevels::Absent
    } else {
        OlderLevels::AbsentWithoutRangeFormats
    };
    SheetInput {
        sheet: sheet_id,
        older_levels,
        written_columns: metadata.map_or(0, |metadata| metadata.extent.columns),
        max_stripe_columns: plan.max_stripe_columns,
        levels,
    }
}
