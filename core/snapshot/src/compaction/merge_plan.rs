//! Plans how to merge level 0, the folded entries and some of the newest levels into a single
//! level.

use super::base::CompactionBase;
use super::counts::count_changes;
use super::entries::FoldedEntries;
use super::inputs::{MergeContext, build_sheet_input, memory_inputs};
use super::next_root::{NextRoot, build_next_root, to_root_level};
use crate::error::SnapshotError;
use crate::index::pack_level;
use crate::level::Level;
use crate::merge::{LevelInput, SheetInput};
use crate::objects::{Fetch, MissingObjects, Objects};
use crate::packer::PackLimits;
use crate::policy::count_levels_to_merge;
use crate::root::RootLevel;
use crate::saturate::to_u64;
use cellar_base::limits::{MAX_LEVEL_CHANGES, MAX_LEVELS, MAX_STRIPE_COLUMNS, MIN_STRIPE_COLUMNS};
use cellar_sheet::operation::SheetId;

/// Estimated stored size in bytes of a level 0 cell after merging.
const MERGED_CELL_BYTES: u64 = 6;

/// Plan of a merge. It determines which levels are merged and how wide the stripes of the merged
/// level may be.
#[derive(Debug, Clone, PartialEq)]
pub struct MergePlan {
    /// Number of the oldest levels, which are not merged.
    pub(super) kept_level_count: usize,
    pub(super) max_stripe_columns: u32,
}

impl MergePlan {
    /// Creates a plan that merges only level 0 and the folded entries.
    pub(super) fn keep_all_levels(base: &CompactionBase) -> Self {
        Self { kept_level_count: base.levels.len(), max_stripe_columns: MAX_STRIPE_COLUMNS }
    }

    pub(super) fn choose_levels(base: &CompactionBase, folded: &FoldedEntries) -> Self {
        /// Levels that a merge adds: the merged level and the next level 0.
        const NEW_LEVELS: usize = 2;
        let new_bytes = estimate_new_bytes(base, folded);
        let level_bytes: Vec<u64> = base.levels.iter().map(|level| level.bytes).collect();
        let merged_level_count = count_levels_to_merge(&level_bytes, new_bytes);
        let mut kept_level_count = base.levels.len() - merged_level_count;
        if kept_level_count + NEW_LEVELS > MAX_LEVELS {
            kept_level_count = 0;
        }
        Self { kept_level_count, max_stripe_columns: MAX_STRIPE_COLUMNS }
    }

    /// Returns the same plan with the narrowest stripes. It is used if a row of a sheet is too
    /// large for a chunk of a wide stripe ([`RowTooLarge`](crate::merge::RowTooLarge)). The default
    /// stripe width depends only on stored bytes, which do not predict the length of the longest
    /// row.
    #[must_use]
    pub fn narrowed(self) -> Self {
        Self { max_stripe_columns: MIN_STRIPE_COLUMNS, ..self }
    }

    /// Returns the merge inputs of each sheet, or the missing objects that must be loaded first. If
    /// the merged level would exceed the limit on axis map runs or cleared spans, merges all levels
    /// instead of the planned ones.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if a tile index is invalid.
    pub fn load_inputs_or_merge_all(
        &mut self,
        base: &CompactionBase,
        folded: &FoldedEntries,
        objects: &Objects,
    ) -> Result<Fetch<Vec<SheetInput>>, SnapshotError> {
        let planned_inputs = self.load_planned_inputs(base, folded, objects)?;
        if let Fetch::Ready(inputs) = &planned_inputs
            && self.kept_level_count > 0
            && has_too_many_changes(inputs)
        {
            self.kept_level_count = 0;
            return self.load_planned_inputs(base, folded, objects);
        }
        Ok(planned_inputs)
    }

    fn load_planned_inputs(
        &self,
        base: &CompactionBase,
        folded: &FoldedEntries,
        objects: &Objects,
    ) -> Result<Fetch<Vec<SheetInput>>, SnapshotError> {
        let mut missing = MissingObjects::default();
        let mut loaded_levels: Vec<Level> = Vec::new();
        for level in base.levels.iter().skip(self.kept_level_count).map(|level| &level.level) {
            loaded_levels.extend(missing.ready_or_record_missing(level.load_level(objects)?));
        }
        let imported = missing.ready_or_record_missing(folded.level.imported.load_level(objects)?);
        let context = MergeContext::new(base, folded, self);
        let mut sheet_inputs: Vec<SheetInput> = Vec::new();
        for &sheet_id in folded.metadata.sheets.keys() {
            let mut level_inputs = chunk_inputs(&loaded_levels, sheet_id)?;
            level_inputs.extend(imported_input(imported.as_ref(), folded, base, sheet_id)?);
            level_inputs.extend(memory_inputs(base, folded, sheet_id));
            if !level_inputs.is_empty() {
                sheet_inputs.push(build_sheet_input(&context, sheet_id, level_inputs));
            }
        }
        Ok(missing.into_fetch(|| sheet_inputs))
    }

    /// Builds the next root, which references the merged level.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if the next root would exceed a limit.
    pub fn finish(
        &self,
        base: &CompactionBase,
        folded: &FoldedEntries,
        merged_level: &Level,
    ) -> Result<NextRoot, SnapshotError> {
        let (packed_level, level_chunks) = pack_level(merged_level, PackLimits::LEVEL)?;
        let mut levels: Vec<RootLevel> =
            base.levels.iter().take(self.kept_level_count).cloned().collect();
        levels.push(to_root_level(&levels, folded.last_position, packed_level, merged_level));
        let mut next_root = build_next_root(base, folded, levels, None)?;
        next_root.objects.splice(0..0, level_chunks);
        Ok(next_root)
    }
}

/// Returns a sheet's merge inputs from the levels that are stored in chunks, oldest first.
fn chunk_inputs(levels: &[Level], sheet_id: SheetId) -> Result<Vec<LevelInput>, SnapshotError> {
    let mut level_inputs = Vec::new();
    for (level_index, level) in levels.iter().enumerate() {
        level_inputs.extend(chunk_input(level, level_index, sheet_id)?);
    }
    Ok(level_inputs)
}

fn chunk_input(
    level: &Level,
    level_index: usize,
    sheet_id: SheetId,
) -> Result<Option<LevelInput>, SnapshotError> {
    const INLINE_CELLS: SnapshotError =
        SnapshotError::Shape("the root contains cells of a level other than level 0");
    let level_sheet = level.sheets.iter().find(|sheet| sheet.sheet == sheet_id);
    let Some(level_sheet) = level_sheet else { return Ok(None) };
    LevelInput::from_chunks(level_sheet.clone(), level_index).ok_or(INLINE_CELLS).map(Some)
}

/// Returns the merge input of an imported sheet. No older level contains cells of it, so that it may
/// be placed directly above the merged levels.
fn imported_input(
    imported: Option<&Level>,
    folded: &FoldedEntries,
    base: &CompactionBase,
    sheet_id: SheetId,
) -> Result<Option<LevelInput>, SnapshotError> {
    let Some(level) = imported else { return Ok(None) };
    let input = chunk_input(level, base.levels.len(), sheet_id)?;
    let imported_formulas = folded.level.imported_formulas.get(&sheet_id).cloned();
    Ok(input.map(|input| LevelInput { imported_formulas, ..input }))
}

/// Returns at least 1.
fn estimate_new_bytes(base: &CompactionBase, folded: &FoldedEntries) -> u64 {
    let mut cell_count = 0;
    for (sheet_id, level_zero_sheet) in &base.level_0 {
        if folded.has_sheet(*sheet_id) {
            cell_count += level_zero_sheet.cell_count();
        }
    }
    for folded_sheet in &folded.level.sheets {
        if folded.has_sheet(folded_sheet.sheet) {
            cell_count += folded_sheet.tile.cell_count();
        }
    }
    (to_u64(cell_count) * MERGED_CELL_BYTES).max(1)
}

fn has_too_many_changes(sheet_inputs: &[SheetInput]) -> bool {
    sheet_inputs
        .iter()
        .filter(|input| input.needs_moves())
        .any(|input| count_changes(&input.merged_moves()) > MAX_LEVEL_CHANGES)
}
