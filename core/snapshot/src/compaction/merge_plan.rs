//! Plans a merge of level 0, the folded entries and some of the newest levels into a single level.

use super::base::{CompactionBase, LevelZeroSheet};
use super::counts::count_changes;
use super::entries::FoldedEntries;
use super::inputs::{memory_inputs, sheet_input};
use super::next_root::{NextRoot, build_next_root, root_level};
use crate::error::SnapshotError;
use crate::index::pack_level;
use crate::level::Level;
use crate::merge::{LevelInput, SheetInput, compose_moves};
use crate::objects::{Fetch, Missing, ObjectKind, Objects, to_fetch};
use crate::packer::PackLimits;
use crate::policy::levels_to_merge;
use crate::root::RootLevel;
use cellar_base::limits::{MAX_LEVEL_CHANGES, MAX_LEVELS, MAX_STRIPE_COLUMNS, MIN_STRIPE_COLUMNS};
use cellar_sheet::operation::SheetId;

/// Estimated number of stored bytes per level 0 cell after a merge.
const MERGED_CELL_BYTES: u64 = 6;

/// Determines which levels to merge.
#[derive(Debug, Clone, PartialEq)]
pub struct MergePlan {
    /// Number of oldest levels left out of the merge.
    kept_levels: usize,
    /// Maximum stripe width of the merged level, in columns.
    stripe_columns: u32,
}

impl MergePlan {
    pub(super) fn new(base: &CompactionBase, folded: &FoldedEntries) -> Self {
        let new_bytes = estimate_new_bytes(base, folded);
        let level_bytes: Vec<u64> = base.levels.iter().map(|level| level.bytes).collect();
        let merged_levels = levels_to_merge(&level_bytes, new_bytes);
        let mut kept_levels = base.levels.len().saturating_sub(merged_levels);
        let levels_with_merged_and_level_0 = kept_levels.saturating_add(2);
        if levels_with_merged_and_level_0 > MAX_LEVELS {
            kept_levels = 0;
        }
        Self { kept_levels, stripe_columns: MAX_STRIPE_COLUMNS }
    }

    /// Returns the same plan with the narrowest stripes, for a sheet with a row that is too large
    /// for a chunk of a wide stripe ([`RowTooLarge`](crate::merge::RowTooLarge)). The default width
    /// is based on stored bytes only, which do not predict the longest row.
    #[must_use]
    pub fn narrowed(self) -> Self {
        Self { stripe_columns: MIN_STRIPE_COLUMNS, ..self }
    }

    /// Returns the merge inputs of each sheet, or the missing objects that must be loaded first.
    /// Falls back to merging all levels if the merged level would have too many moves.
    ///
    /// # Errors
    /// [`SnapshotError`] if a tile index is invalid.
    pub fn load_inputs(
        &mut self,
        base: &CompactionBase,
        folded: &FoldedEntries,
        objects: &Objects,
    ) -> Result<Fetch<Vec<SheetInput>>, SnapshotError> {
        let fetch = self.load_planned_inputs(base, folded, objects)?;
        if let Fetch::Ready(inputs) = &fetch
            && self.kept_levels > 0
            && has_too_many_changes(inputs)
        {
            self.kept_levels = 0;
            return self.load_planned_inputs(base, folded, objects);
        }
        Ok(fetch)
    }

    fn load_planned_inputs(
        &self,
        base: &CompactionBase,
        folded: &FoldedEntries,
        objects: &Objects,
    ) -> Result<Fetch<Vec<SheetInput>>, SnapshotError> {
        let mut missing = Missing::default();
        let mut levels: Vec<Level> = Vec::new();
        let merged_levels = base.levels.iter().skip(self.kept_levels).map(|level| &level.level);
        // An imported sheet has no older cells, so its level may be placed directly above the
        // merged levels.
        for level in merged_levels.chain([&folded.level.imported]) {
            let loaded = level.load_all(&|hash| objects.index.get(hash))?;
            levels.extend(missing.take_ready(to_fetch(loaded, ObjectKind::Index)));
        }
        let mut inputs: Vec<SheetInput> = Vec::new();
        for &sheet in folded.metadata.sheets.keys() {
            inputs.extend(self.sheet_input(base, folded, sheet, &levels)?);
        }
        Ok(missing.ready_or_need(|| inputs))
    }

    fn sheet_input(
        &self,
        base: &CompactionBase,
        folded: &FoldedEntries,
        sheet: SheetId,
        levels: &[Level],
    ) -> Result<Option<SheetInput>, SnapshotError> {
        const INLINE: SnapshotError =
            SnapshotError::Shape("a level other than level 0 has cells inside the root");
        let mut inputs = Vec::new();
        for level in levels {
            if let Some(stored) = level.sheets.iter().find(|stored| stored.sheet == sheet) {
                inputs.push(LevelInput::stored(stored.clone()).ok_or(INLINE)?);
            }
        }
        inputs.extend(memory_inputs(base, folded, sheet));
        if inputs.is_empty() {
            return Ok(None);
        }
        let (kept_levels, stripe_columns) = (self.kept_levels, self.stripe_columns);
        Ok(Some(sheet_input(base, folded, sheet, kept_levels, stripe_columns, inputs)))
    }

    /// Builds the next root, which references the merged level.
    ///
    /// # Errors
    /// [`SnapshotError`] if the next root would exceed a limit.
    pub fn finish(
        &self,
        base: &CompactionBase,
        folded: &FoldedEntries,
        merged: &Level,
    ) -> Result<NextRoot, SnapshotError> {
        let (packed, level_chunks) = pack_level(merged, PackLimits::LEVEL)?;
        let mut levels: Vec<RootLevel> =
            base.levels.iter().take(self.kept_levels).cloned().collect();
        levels.push(root_level(&levels, folded.last, packed, merged));
        let mut next = build_next_root(base, folded, levels, None)?;
        next.objects.splice(0..0, level_chunks);
        Ok(next)
    }
}

/// Estimates the stored size of level 0 and the folded entries, in bytes. Returns at least 1.
fn estimate_new_bytes(base: &CompactionBase, folded: &FoldedEntries) -> u64 {
    let level_0 = base.level_0.iter().filter(|(sheet, _)| folded.has_sheet(**sheet));
    let level_0_cells = level_0.map(|(_, sheet)| LevelZeroSheet::cells(sheet));
    let entries = folded.level.sheets.iter().filter(|sheet| folded.has_sheet(sheet.sheet));
    let new_cells = entries.map(|sheet| sheet.tile.cells());
    let cells = level_0_cells.chain(new_cells).fold(0, usize::saturating_add);
    u64::try_from(cells).unwrap_or(u64::MAX).saturating_mul(MERGED_CELL_BYTES).max(1)
}

/// Returns whether the merged level would exceed the limit of axis runs or cleared spans in any
/// sheet.
fn has_too_many_changes(inputs: &[SheetInput]) -> bool {
    inputs
        .iter()
        .filter(|input| !input.below.is_nothing())
        .any(|input| count_changes(&compose_moves(&input.moves())) > MAX_LEVEL_CHANGES)
}
