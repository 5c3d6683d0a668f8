//! Merge inputs of each sheet.

use std::sync::Arc;

use super::base::CompactionBase;
use super::entries::FoldedEntries;
use super::merge_plan::MergePlan;
use crate::merge::{LevelInput, OlderLevels, SheetInput};
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::SheetId;

/// Returns the merge inputs of a sheet that are in memory: level 0, then the folded entries.
pub(super) fn memory_inputs(
    base: &CompactionBase,
    folded: &FoldedEntries,
    sheet_id: SheetId,
) -> Vec<LevelInput> {
    let level_0_index = base.level_0_index();
    let level_0_sheet = base.level_0.get(&sheet_id);
    let level_0_input = level_0_sheet.map(|sheet| sheet.to_input(level_0_index));
    let folded_sheet = folded.sheet(sheet_id).cloned();
    let folded_input = folded_sheet.map(|sheet| LevelInput::from_folded(sheet, level_0_index + 1));
    level_0_input.into_iter().chain(folded_input).collect()
}

/// Parts that the inputs of all sheets of a merge share.
pub(super) struct MergeContext<'a> {
    base: &'a CompactionBase,
    folded: &'a FoldedEntries,
    plan: &'a MergePlan,
    has_older_formulas: bool,
    tabs: Arc<Tabs>,
}

impl<'a> MergeContext<'a> {
    pub(super) fn new(
        base: &'a CompactionBase,
        folded: &'a FoldedEntries,
        plan: &'a MergePlan,
    ) -> Self {
        let has_older_formulas =
            base.may_have_formulas_in_oldest(plan.kept_level_count, &folded.metadata);
        let tabs = Arc::new(folded.metadata.tabs.clone());
        Self { base, folded, plan, has_older_formulas, tabs }
    }
}

/// `levels` contains the sheet's changes in each level that the plan merges, oldest first.
pub(super) fn build_sheet_input(
    context: &MergeContext<'_>,
    sheet_id: SheetId,
    levels: Vec<LevelInput>,
) -> SheetInput {
    let MergeContext { base, folded, plan, has_older_formulas, tabs } = context;
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
        has_older_formulas: *has_older_formulas,
        tabs: Arc::clone(tabs),
    }
}
