//! A compaction step that merges level 0 with some of the newest.

use super::level_0::sheet_input;
use super::next::{NextRoot, next_root};
use super::{Base, FoldedEntries, counts};
use crate::SnapshotError;
use crate::index::{PackedLevel, pack_level};
use crate::level::Level;
use crate::merge::{LevelInput, SheetInput, composed};
use crate::objects::{Fetch, Missing, ObjectKind, Objects, fetch};
use crate::packer::PackLimits;
use crate::policy::levels_to_merge;
use crate::root::RootLevel;
use cellar_base::limits::{MAX_LEVEL_CHANGES, MAX_LEVELS, MAX_STRIPE_COLUMNS, MIN_STRIPE_COLUMNS};
use cellar_base::position::Position;
use cellar_sheet::operation::SheetId;

/// Which levels are merged.
#[derive(Debug, Clone, PartialEq)]
pub struct MergePlan {
    /// How many of the oldest stay as they are.
    kept: usize,
    /// How many columns a stripe has at most.
    stripe_columns: u32,
}

impl MergePlan {
    pub(super) fn new(base: &Base, folded: &FoldedEntries) -> Self {
        /// What a cell of level 0 will take, about.
        const CELL_BYTES: u64 = 6;
        let lives = |sheet: &SheetId| folded.metadata.sheets.contains_key(sheet);
        let level_0 = base.level_0.iter().filter(|(sheet, _)| lives(sheet));
        let level_0 = level_0.map(|(_, level_0)| level_0.size().0);
        let new = folded.level.sheets.iter().filter(|sheet| lives(&sheet.sheet));
        let cells =
            level_0.chain(new.map(|sheet| sheet.tile.cells())).fold(0, usize::saturating_add);
        let cells = u64::try_from(cells).unwrap_or(u64::MAX);
        let level_0_bytes = cells.saturating_mul(CELL_BYTES).max(1);
        let sizes: Vec<u64> = base.levels.iter().map(|level| level.bytes).collect();
        let merged = levels_to_merge(&sizes, level_0_bytes);
        let kept = base.levels.len().saturating_sub(merged);
        // Room for the merged level and level 0.
        let kept = if kept.saturating_add(2) > MAX_LEVELS { 0 } else { kept };
        Self { kept, stripe_columns: MAX_STRIPE_COLUMNS }
    }

    /// The same merge into the narrowest stripes: for a sheet with a row that fits no chunk of a wide
    /// one ([`RowTooLarge`](crate::merge::RowTooLarge)). How wide stripes should be is told by
    /// their bytes as stored, which say nothing of the longest row.
    #[must_use]
    pub fn narrowed(self) -> Self {
        Self { stripe_columns: MIN_STRIPE_COLUMNS, ..self }
    }

    /// The levels that become one, sheet by sheet.
    ///
    /// # Errors
    /// [`SnapshotError`] if an index makes no sense.
    pub fn inputs(
        &mut self,
        base: &Base,
        folded: &FoldedEntries,
        objects: &Objects,
    ) -> Result<Fetch<Vec<SheetInput>>, SnapshotError> {
        loop {
            match self.inputs_above(base, folded, objects)? {
                Fetch::Ready(inputs) if self.kept > 0 && too_many_changes(&inputs) => self.kept = 0,
                fetch => return Ok(fetch),
            }
        }
    }

    fn inputs_above(
        &self,
        base: &Base,
        folded: &FoldedEntries,
        objects: &Objects,
    ) -> Result<Fetch<Vec<SheetInput>>, SnapshotError> {
        let mut missing = Missing::default();
        let mut levels: Vec<Level> = Vec::new();
        for level in base.levels.iter().skip(self.kept) {
            let all = level.level.load_all(&|hash| objects.index.get(hash))?;
            levels.extend(missing.take(fetch(all, ObjectKind::Index)));
        }
        // Of a sheet that was imported, there is nothing older.
        let imported = folded.level.imported.load_all(&|hash| objects.index.get(hash))?;
        levels.extend(missing.take(fetch(imported, ObjectKind::Index)));
        let mut found: Vec<SheetInput> = Vec::new();
        for sheet in folded.metadata.sheets.keys() {
            found.extend(self.sheet_inputs(base, folded, *sheet, &levels)?);
        }
        found.iter_mut().for_each(|input| input.stripe_columns = self.stripe_columns);
        Ok(missing.or(|| found))
    }

    fn sheet_inputs(
        &self,
        base: &Base,
        folded: &FoldedEntries,
        sheet: SheetId,
        levels: &[Level],
    ) -> Result<Option<SheetInput>, SnapshotError> {
        const INLINE: SnapshotError = SnapshotError::Shape("a level has its cells in the root");
        let of = |level: &Level| level.sheets.iter().find(|s| s.sheet == sheet).cloned();
        let mut inputs = Vec::new();
        for level in levels.iter().filter_map(of) {
            inputs.push(LevelInput::stored(level).ok_or(INLINE)?);
        }
        inputs.extend(base.level_0.get(&sheet).map(super::base::LevelZeroSheet::input));
        let new = folded.level.sheets.iter().find(|folded| folded.sheet == sheet).cloned();
        inputs.extend(new.map(LevelInput::folded));
        let some = !inputs.is_empty();
        Ok(some.then(|| sheet_input(base, folded, sheet, self.kept, inputs)))
    }

    /// The next root, with the merged level.
    ///
    /// # Errors
    /// [`SnapshotError`] if it would be beyond a limit.
    pub fn finish(
        &self,
        base: &Base,
        folded: &FoldedEntries,
        merged: &Level,
    ) -> Result<NextRoot, SnapshotError> {
        let mut levels: Vec<RootLevel> = base.levels.iter().take(self.kept).cloned().collect();
        let (level, objects) = pack_level(merged, PackLimits::LEVEL)?;
        let after = levels.last().map(|level| level.last);
        levels.push(root_level(after, folded.last, level, merged));
        let mut next = next_root(base, folded, levels, None)?;
        next.objects.splice(0..0, objects);
        Ok(next)
    }
}

/// Whether a sheet would have more runs or regions than a level should.
fn too_many_changes(inputs: &[SheetInput]) -> bool {
    inputs
        .iter()
        .filter(|input| !input.below.is_nothing())
        .any(|input| counts::changes(&composed(&input.moves())) > MAX_LEVEL_CHANGES)
}

/// A level as the root has it.
pub(super) fn root_level(
    after: Option<Position>,
    last: Position,
    level: PackedLevel,
    of: &Level,
) -> RootLevel {
    let (cells, bytes) = counts::level_totals(of);
    RootLevel { after, last, cells, bytes, level }
}
