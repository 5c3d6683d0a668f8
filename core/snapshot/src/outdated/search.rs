//! Follows the readers of outdated cells.

use std::collections::BTreeSet;

use super::OutdatedAreas;
use super::changes::{Changes, moves_of};
use super::formula_areas::{FormulaArea, Parts};
use crate::dependents::{SearchedState, names_may_be_called};
use crate::error::SnapshotError;
use crate::fold::FoldedLevel;
use crate::objects::{Fetch, MissingObjects, Objects};
use crate::root::Root;
use crate::window_formulas::WindowFormulas;
use cellar_base::limits::{
    MAX_OUTDATED_CANDIDATES, MAX_OUTDATED_LOADED_TILES, MAX_OUTDATED_PASSES, MAX_SHEET_READ_AREAS,
};
use cellar_formula::changes::MovedLines;
use cellar_formula::expression::FormulaTraits;
use cellar_formula::{ReadAreas, TemplateRun};
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::SheetId;

/// Formulas whose values are never stored: they are others at each position, or they depend on
/// cells that only a calculation knows. A formula that names an unknown sheet may read cells of a
/// newer sheet with this name.
const UNSTORED: FormulaTraits = FormulaTraits::TIME
    .with(FormulaTraits::RANDOM_NUMBERS)
    .with(FormulaTraits::CALCULATED_REFERENCES)
    .with(FormulaTraits::UNKNOWN_SHEETS)
    .with(FormulaTraits::UNLISTED_AREAS);

/// Why stored values are outdated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutdatedBy {
    /// The entries after the root have changed something, or the values were outdated before.
    Changes,
    /// The formulas, or others that they read, never have stored values.
    UnstoredInputs,
    /// One of both. A reader calculates these formulas.
    Any,
}

/// Returns the cells whose formulas may have other values than those that are stored, in the
/// coordinates of the state. `filled` are the cells that the results of formulas fill: stored values
/// are those that formulas have without them.
///
/// # Errors
/// Returns a [`SnapshotError`] if an object does not match the reference to it.
pub fn find_outdated(
    state: SearchedState<'_>,
    cause: OutdatedBy,
    filled: &[SheetArea],
    objects: &Objects,
) -> Result<Fetch<OutdatedAreas>, SnapshotError> {
    let Some(root) = state.root else { return Ok(Fetch::Ready(OutdatedAreas::everything())) };
    let mut missing = MissingObjects::default();
    let areas = areas_of_levels(root, state.metadata, objects, &mut missing)?;
    if !missing.is_empty() {
        return Ok(missing.into_fetch(OutdatedAreas::default));
    }
    let mut search = OutdatedSearch::new(root, &state, cause);
    filled.iter().for_each(|area| search.outdated.add(*area));
    search.run(areas, objects, &mut missing)?;
    Ok(missing.into_fetch(|| search.outdated))
}

/// Returns the cells of `outdated` that may contain formulas in the levels of a root.
///
/// # Errors
/// Returns a [`SnapshotError`] if an object does not match the reference to it.
pub fn areas_of_formulas(
    root: &Root,
    metadata: &WorkbookMetadata,
    outdated: &OutdatedAreas,
    objects: &Objects,
) -> Result<Fetch<OutdatedAreas>, SnapshotError> {
    let mut missing = MissingObjects::default();
    let mut found = OutdatedAreas::default();
    for area in areas_of_levels(root, metadata, objects, &mut missing)? {
        let Some(parts) = &area.parts else { continue };
        if !outdated.overlap(&SheetArea { sheet: parts.sheet(), cells: Rectangle::EVERYTHING }) {
            continue;
        }
        for tile in parts.load(objects, &mut missing)? {
            let cells = tile.cells.into_iter().flat_map(|cells| outdated.parts_of(cells));
            cells.for_each(|cells| found.add(cells));
        }
    }
    Ok(missing.into_fetch(|| found))
}

/// Returns the sheets of all levels that have formulas.
fn areas_of_levels<'a>(
    root: &'a Root,
    metadata: &WorkbookMetadata,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> Result<Vec<FormulaArea<'a>>, SnapshotError> {
    let mut packed_sheets = root.all_levels().flat_map(|level| &level.level.sheets);
    if packed_sheets.all(|packed| packed.formulas == Some(0)) {
        return Ok(Vec::new());
    }
    let sheets: BTreeSet<SheetId> = root.sheets.iter().map(|sheet| sheet.sheet).collect();
    let no_entries = FoldedLevel::default();
    let of_root = WindowFormulas {
        root: Some(root),
        tail: &no_entries,
        tabs: &metadata.tabs,
        sheet: SheetId::FIRST,
    };
    let moves_by_level = of_root.load_moves_to_newest(&sheets, objects, missing)?;
    let mut areas = Vec::new();
    for (level, moves) in root.all_levels().zip(&moves_by_level) {
        for packed in &level.level.sheets {
            if metadata.sheets.contains_key(&packed.sheet) {
                areas.extend(FormulaArea::of_sheet(&level.level, packed, moves));
            }
        }
    }
    Ok(areas)
}

struct OutdatedSearch {
    cause: OutdatedBy,
    outdated: OutdatedAreas,
    changes: Changes,
    /// How the entries after the root move rows and columns.
    moves: MovedLines,
    /// The cells and other inputs of the formulas of all defined names.
    names: ReadAreas,
    names_may_be_called: bool,
    loaded_tiles: usize,
}

impl OutdatedSearch {
    fn new(root: &Root, state: &SearchedState<'_>, cause: OutdatedBy) -> Self {
        let moves = moves_of(state.tail);
        let changes = match cause {
            OutdatedBy::Changes | OutdatedBy::Any => Changes::of(root, state, &moves),
            OutdatedBy::UnstoredInputs => Changes::default(),
        };
        let mut names = ReadAreas::default();
        for name in state.metadata.names.iter() {
            let (first, sheet) = (CellName { row: 0, column: 0 }, SheetId::FIRST);
            names.add_traits(name.template().traits());
            let run = TemplateRun { template: name.template(), sheet, first, last_row: 0 };
            names.add_run(&run, MAX_SHEET_READ_AREAS);
        }
        Self {
            cause,
            outdated: changes.cells.clone(),
            changes,
            moves,
            names,
            names_may_be_called: names_may_be_called(&state.metadata.names, &state.metadata.tabs),
            loaded_tiles: 0,
        }
    }

    /// Considers all areas until none of the others reads an outdated cell. The direction
    /// alternates, because the formulas of a chain often follow each other.
    fn run<'a>(
        &mut self,
        mut areas: Vec<FormulaArea<'a>>,
        objects: &Objects,
        missing: &mut MissingObjects,
    ) -> Result<(), SnapshotError> {
        for _ in 0..MAX_OUTDATED_PASSES {
            let mut others = Vec::with_capacity(areas.len());
            let mut has_found = false;
            while let Some(area) = areas.pop() {
                if !self.is_outdated(&area) {
                    others.push(area);
                    continue;
                }
                has_found = true;
                let parts = area.parts.as_ref();
                match parts.filter(|parts| area.cells.is_none() || self.may_load(parts)) {
                    Some(parts) => areas.extend(parts.load(objects, missing)?.into_iter().rev()),
                    None => self.mark(&area),
                }
                if areas.len() + others.len() > MAX_OUTDATED_CANDIDATES {
                    self.outdated = OutdatedAreas::everything();
                }
                if self.outdated.is_everything() {
                    return Ok(());
                }
            }
            if !has_found {
                return Ok(());
            }
            areas = others;
        }
        self.outdated = OutdatedAreas::everything();
        Ok(())
    }

    /// Returns whether the runs of a tile may be considered. Tiles count also if they are loaded
    /// already, so that the result depends only on the state.
    fn may_load(&mut self, parts: &Parts<'_>) -> bool {
        if parts.are_in_chunk() {
            self.loaded_tiles += 1;
        }
        self.loaded_tiles <= MAX_OUTDATED_LOADED_TILES
    }

    fn mark(&mut self, area: &FormulaArea<'_>) {
        if let Some(cells) = area.cells.and_then(|cells| self.moves.moved_area(&cells)) {
            self.outdated.add(cells);
        }
    }

    fn is_outdated(&self, area: &FormulaArea<'_>) -> bool {
        let Some(reads) = &area.reads else { return true };
        let is_unstored = self.cause != OutdatedBy::Changes && self.has_trait(reads, UNSTORED);
        is_unstored || self.is_changed(reads) || self.reads_outdated_cells(reads)
    }

    fn has_trait(&self, reads: &ReadAreas, traits: FormulaTraits) -> bool {
        let of_names = self.may_use_names(reads) && self.names.traits().has_any(traits);
        of_names || reads.traits().has_any(traits)
    }

    fn may_use_names(&self, reads: &ReadAreas) -> bool {
        self.names_may_be_called || reads.traits().has_any(FormulaTraits::NAMES)
    }

    /// Returns whether something other than the contents of cells has changed.
    fn is_changed(&self, reads: &ReadAreas) -> bool {
        if self.cause == OutdatedBy::UnstoredInputs {
            return false;
        }
        let has_moved = !self.moves.is_identity();
        let depends_on_sheets = FormulaTraits::PLACES.with(FormulaTraits::UNKNOWN_SHEETS);
        (self.changes.sheets && self.has_trait(reads, depends_on_sheets))
            || (has_moved && self.has_trait(reads, FormulaTraits::PLACES))
            || (self.changes.names && self.may_use_names(reads))
            || self.has_trait(reads, FormulaTraits::UNLISTED_AREAS)
            || (has_moved && !reads.move_as_a_whole(&self.moves))
    }

    fn reads_outdated_cells(&self, reads: &ReadAreas) -> bool {
        let is_outdated = |area: &SheetArea| self.outdated.overlap(area);
        reads.moved(&self.moves).areas().iter().any(is_outdated)
            || (self.may_use_names(reads) && self.names.areas().iter().any(is_outdated))
    }
}
