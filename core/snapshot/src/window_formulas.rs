//! Moves the formulas of a window from their levels to the state after the newest entries.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::error::SnapshotError;
use super::fold::FoldedLevel;
use super::merge::{FormulaMapping, PlacedTile, Window};
use super::objects::{MissingObjects, ObjectKind, Objects, to_fetch};
use super::root::Root;
use super::view::packed_levels;
use cellar_formula::changes::MovedLines;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::SheetId;

/// The levels of a root, the entries after it, and the sheets after these entries.
pub(super) struct WindowFormulas<'a> {
    pub(super) root: Option<&'a Root>,
    pub(super) tail: &'a FoldedLevel,
    pub(super) tabs: &'a Tabs,
    /// Sheet of the window.
    pub(super) sheet: SheetId,
}

impl WindowFormulas<'_> {
    /// Returns how the formulas of each tile move, or nothing if there are no formulas in the
    /// window. Tiles after those that `level_indices` contains are those of the newest entries.
    ///
    /// Adds the chunks with the moves of sheets that the formulas name to `missing` if they are not
    /// loaded.
    pub(super) fn load_mappings(
        &self,
        tiles: &[PlacedTile<'_>],
        level_indices: &[usize],
        window: &Window,
        objects: &Objects,
        missing: &mut MissingObjects,
    ) -> Result<Vec<FormulaMapping>, SnapshotError> {
        let mut named_sheets = BTreeSet::new();
        let mut has_formulas = false;
        for tile in tiles {
            has_formulas |=
                tile.add_named_sheets(window, (self.sheet, self.tabs), &mut named_sheets);
        }
        if !has_formulas {
            return Ok(Vec::new());
        }
        let moves_by_level = self.load_moves_to_newest(&named_sheets, objects, missing)?;
        let tabs = Arc::new(self.tabs.clone());
        let mappings = level_indices.iter().map(|level_index| {
            let moves = moves_by_level.get(*level_index).cloned().unwrap_or_default();
            self.level_mapping(*level_index, moves, &tabs)
        });
        let of_tail = self.level_mapping(usize::MAX, Arc::default(), &tabs);
        Ok(mappings.chain([of_tail]).collect())
    }

    /// Returns how the formulas of a level move. The index of the entries after the root is
    /// `usize::MAX`.
    pub(super) fn level_mapping(
        &self,
        level_index: usize,
        moves: Arc<MovedLines>,
        tabs: &Arc<Tabs>,
    ) -> FormulaMapping {
        let imported_level = packed_levels(self.root, self.tail).count().checked_sub(1);
        let is_imported = imported_level == Some(level_index);
        let imported = self.tail.imported_formulas.get(&self.sheet).filter(|_| is_imported);
        FormulaMapping {
            sheet: self.sheet,
            moves,
            tabs: Arc::clone(tabs),
            file: imported.map(|formulas| Arc::clone(&formulas.file)),
        }
    }

    /// Returns how the rows and columns of some sheets move from each level, oldest first, to the
    /// state after the newest entries.
    pub(super) fn load_moves_to_newest(
        &self,
        sheets: &BTreeSet<SheetId>,
        objects: &Objects,
        missing: &mut MissingObjects,
    ) -> Result<Vec<Arc<MovedLines>>, SnapshotError> {
        let imported = self.tail.imported_formulas.get(&self.sheet);
        let imported_moves = imported.map(|formulas| &formulas.moves);
        let mut newer_moves = Arc::new(self.moves_of_tail(sheets));
        let mut moves_newest_first = vec![imported_moves.cloned().unwrap_or_default()];
        for level in packed_levels(self.root, self.tail).rev().skip(1) {
            moves_newest_first.push(Arc::clone(&newer_moves));
            let mut own_moves = MovedLines::default();
            for &sheet in sheets {
                let lookup = level.moves(sheet, &|hash| objects.index.get(hash))?;
                let moves = missing.ready_or_record_missing(to_fetch(lookup, ObjectKind::Index));
                if let Some(moves) = moves.flatten() {
                    own_moves.insert(sheet, moves.lines());
                }
            }
            newer_moves = Arc::new(own_moves.then(&newer_moves));
        }
        moves_newest_first.reverse();
        Ok(moves_newest_first)
    }

    fn moves_of_tail(&self, sheets: &BTreeSet<SheetId>) -> MovedLines {
        let folded = self.tail.sheets.iter().filter(|folded| sheets.contains(&folded.sheet));
        folded.map(|folded| (folded.sheet, folded.moves.lines())).collect()
    }
}
