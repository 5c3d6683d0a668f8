//! The tiles of a sheet that may have formulas that read the searched cells.

use std::sync::Arc;

use super::SearchedState;
use super::searched_cells::SearchedCells;
use crate::error::SnapshotError;
use crate::index::LocatedTile;
use crate::level::{Region, SheetMoves};
use crate::merge::{FormulaMapping, LevelMapping, PlacedTile, TileSize, map_levels_to_newest};
use crate::objects::{Fetch, MissingObjects, ObjectKind, Objects, to_fetch};
use crate::tile::Tile;
use crate::view::{SheetLevel, load_sheet_levels, packed_levels};
use crate::window_formulas::WindowFormulas;
use cellar_formula::ReadAreas;
use cellar_formula::changes::MovedLines;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{SheetId, Span, Spans};

/// The levels of a sheet and their tiles that may have formulas.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Oldest first. The last one is that of the entries after the root.
    pub(super) levels: Vec<CandidateLevel>,
    /// By their first row in the newest level.
    pub(super) tiles: Vec<CandidateTile>,
}

/// A level and how it moves to the newest level.
#[derive(Debug)]
pub(super) struct CandidateLevel {
    /// Index among all levels, or `usize::MAX` for the entries after the root.
    pub(super) level_index: usize,
    mapping: LevelMapping,
    formulas: FormulaMapping,
}

/// A tile that may have formulas.
#[derive(Debug)]
pub(super) struct CandidateTile {
    /// First row in the newest level.
    pub(super) first_row: u32,
    /// Index in [`Candidates::levels`].
    pub(super) level: usize,
    pub(super) located: LocatedTile,
}

impl Candidates {
    pub(super) fn load(
        state: &SearchedState<'_>,
        sheet: SheetId,
        searched: &SearchedCells,
        objects: &Objects,
    ) -> Result<Fetch<Self>, SnapshotError> {
        let SearchedState { root, tail, metadata } = *state;
        let tabs = &metadata.tabs;
        let mut missing = MissingObjects::default();
        if searched.are_facts() && !may_have_facts(state, sheet, searched) {
            return Ok(Fetch::Ready(Self::default()));
        }
        let sheet_levels = load_sheet_levels(root, tail, sheet, objects, &mut missing)?;
        let tail_sheet = tail.sheets.iter().find(|folded| folded.sheet == sheet);
        let has_formulas = |level: &SheetLevel<'_>| {
            let packed_sheet = level.packed_level.sheet(sheet);
            packed_sheet.is_some_and(|packed| packed.formulas != Some(0))
        };
        let has_new_formulas = tail_sheet.is_some_and(|folded| folded.tile.formula_count() > 0);
        if !has_new_formulas && !sheet_levels.iter().any(has_formulas) {
            return Ok(missing.into_fetch(Self::default));
        }
        let formulas = WindowFormulas { root, tail, tabs, sheet };
        let moves = formulas.load_moves_to_newest(&searched.sheets(), objects, &mut missing)?;
        if !missing.is_empty() {
            return Ok(missing.into_fetch(Self::default));
        }
        let mut tiles_by_level = Vec::with_capacity(sheet_levels.len());
        for level in &sheet_levels {
            let unmoved = Arc::default();
            let moves = moves.get(level.level_index).unwrap_or(&unmoved);
            let may_read = |reads: &ReadAreas| searched.may_be_read_by(reads, moves);
            let mut tiles = candidate_tiles(level, sheet, may_read, objects, &mut missing)?;
            if searched.are_facts() {
                // Not even the number of formulas is known in tiles that older clients imported.
                tiles.retain(|located| located.tile.formulas.is_some());
            }
            tiles_by_level.push(tiles);
        }
        if !missing.is_empty() {
            return Ok(missing.into_fetch(Self::default));
        }
        let shared_tabs = Arc::new(tabs.clone());
        let to_level = |(level_index, mapping): (usize, LevelMapping)| CandidateLevel {
            level_index,
            mapping,
            formulas: formulas.level_mapping(
                level_index,
                moves.get(level_index).cloned().unwrap_or_default(),
                &shared_tabs,
            ),
        };
        let tail_moves = tail_sheet.map(|folded| &folded.moves);
        let level_moves = sheet_levels.iter().map(|level| level.moves).chain(tail_moves);
        let mappings = map_levels_to_newest(&level_moves.collect::<Vec<&SheetMoves>>());
        let indices = sheet_levels.iter().map(|level| level.level_index).chain([usize::MAX]);
        let levels = indices.zip(mappings).map(to_level).collect();
        Ok(Fetch::Ready(Self::new(levels, tiles_by_level)))
    }

    fn new(levels: Vec<CandidateLevel>, tiles_by_level: Vec<Vec<LocatedTile>>) -> Self {
        let mut tiles = Vec::new();
        for (index, (level, located_tiles)) in levels.iter().zip(tiles_by_level).enumerate() {
            tiles.extend(located_tiles.into_iter().filter_map(|located| {
                let first_row = level.first_visible_row(&located)?;
                Some(CandidateTile { first_row, level: index, located })
            }));
        }
        tiles.sort_by_key(|tile| (tile.first_row, tile.level, tile.located.columns.first));
        Self { levels, tiles }
    }
}

/// Returns whether a formula of a sheet may be searched because of its facts. Loads nothing, so that
/// a sheet without such formulas costs nothing.
fn may_have_facts(state: &SearchedState<'_>, sheet: SheetId, searched: &SearchedCells) -> bool {
    let unmoved = MovedLines::default();
    let may_read = |reads: &ReadAreas| searched.may_be_read_by(reads, &unmoved);
    let mut levels = packed_levels(state.root, state.tail);
    let in_level = levels.any(|level| {
        level.sheet(sheet).is_some_and(|packed| {
            packed.formulas != Some(0) && packed.reads.as_ref().is_none_or(may_read)
        })
    });
    let folded = state.tail.sheets.iter().find(|folded| folded.sheet == sheet);
    in_level || folded.is_some_and(|folded| folded.tile.formula_count() > 0)
}

/// Returns the tiles whose formulas may read the searched cells, as `may_read` says.
fn candidate_tiles(
    level: &SheetLevel<'_>,
    sheet: SheetId,
    may_read: impl Fn(&ReadAreas) -> bool,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> Result<Vec<LocatedTile>, SnapshotError> {
    // The root says of many sheets that no tile is a candidate.
    let packed_sheet = level.packed_level.sheet(sheet);
    let is_candidate = packed_sheet.is_some_and(|packed| {
        packed.formulas != Some(0) && packed.reads.as_ref().is_none_or(&may_read)
    });
    if !is_candidate {
        return Ok(Vec::new());
    }
    let whole_sheet = Region { rows: Spans::all(Axis::Rows), columns: Spans::all(Axis::Columns) };
    let lookup = level.packed_level.tiles(sheet, &whole_sheet, &|hash| objects.index.get(hash))?;
    let located = missing.ready_or_record_missing(to_fetch(lookup, ObjectKind::Index));
    let mut tiles = located.unwrap_or_default();
    tiles.retain(|LocatedTile { tile, .. }| {
        let reads = tile.formulas.as_ref().map(|formulas| &formulas.reads);
        tile.may_have_formulas() && reads.is_none_or(&may_read)
    });
    Ok(tiles)
}

impl CandidateLevel {
    /// Returns the first row of a tile in the newest level, or `None` if newer levels hide or
    /// delete all of it.
    fn first_visible_row(&self, located: &LocatedTile) -> Option<u32> {
        let LevelMapping { row_map, column_map, hidden_values, .. } = &self.mapping;
        let one = |span: Span| Spans::one(span.first, span.count);
        let region = Region {
            rows: row_map.covering_spans(&one(located.tile.rows)),
            columns: column_map.covering_spans(&one(located.columns)),
        };
        if region.is_empty() || hidden_values.iter().any(|hidden| hidden.covers(&region)) {
            return None;
        }
        Some(region.rows.iter().next()?.first)
    }

    /// Returns a loaded tile of the level with its place.
    pub(super) fn placed<'a>(&'a self, located: &LocatedTile, tile: &'a Tile) -> PlacedTile<'a> {
        let (rows, columns) = (located.tile.rows, located.columns);
        PlacedTile {
            tile,
            first_row: rows.first,
            first_column: columns.first,
            size: TileSize { rows: rows.count, columns: columns.count },
            mapping: &self.mapping,
            formulas: &self.formulas,
        }
    }

    /// Returns the cells of the entries after the root, whose level this is.
    pub(super) fn placed_tail<'a>(&'a self, tile: &'a Tile) -> PlacedTile<'a> {
        PlacedTile::of_whole_sheet(tile, &self.mapping, &self.formulas)
    }
}
