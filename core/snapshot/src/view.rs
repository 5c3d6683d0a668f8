//! Reads a window of a sheet from the levels of a root and from newer entries.

use std::ops::Range;
use std::sync::Arc;

use super::error::SnapshotError;
use super::fold::FoldedLevel;
use super::index::{LocatedTile, PackedLevel};
use super::level::{Region, SheetMoves, StripeTile};
use super::merge::{
    FormulaMapping, LevelMapping, OlderLevels, PlacedTile, TileSize, Window, map_levels_to_newest,
    merge_window, with_formula_texts,
};
use super::objects::{Fetch, MissingObjects, ObjectKind, Objects, to_fetch};
use super::root::{ClientMap, Root};
use super::root_parts::{load_clients, load_metadata};
use super::tile::Tile;
use super::window_formulas::WindowFormulas;
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::metadata::{Tabs, WorkbookMetadata};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Returns a root's workbook metadata.
///
/// # Errors
/// Returns a [`SnapshotError`] if parts of the root are inconsistent.
pub fn read_metadata(
    root: &Root,
    objects: &Objects,
) -> Result<Fetch<WorkbookMetadata>, SnapshotError> {
    let mut missing = MissingObjects::default();
    let metadata = load_metadata(root, objects, &mut missing)?;
    Ok(missing.into_fetch(|| metadata))
}

/// Returns the last mutation of each client, as stored in a root.
#[must_use]
pub fn read_clients(root: &Root, objects: &Objects) -> Fetch<ClientMap> {
    let mut missing = MissingObjects::default();
    let clients = load_clients(root, objects, &mut missing);
    missing.into_fetch(|| clients)
}

/// Returns the cells of a window after the entries in `tail` are applied to `root`. Without a root,
/// applies the entries to the empty state. Requests missing objects at the same depth of an index
/// together.
///
/// Formulas are texts that are valid after the entries: their references have followed inserted and
/// deleted rows, columns and sheets. `tabs` are the sheets after the entries.
///
/// # Errors
/// Returns a [`SnapshotError`] if an object does not match the reference to it.
pub fn read_window(
    root: Option<&Root>,
    tail: &FoldedLevel,
    tabs: &Tabs,
    sheet_id: SheetId,
    window: &Window,
    objects: &Objects,
) -> Result<Fetch<Tile>, SnapshotError> {
    let merged = read_window_with_templates(root, tail, tabs, sheet_id, window, objects)?;
    Ok(match merged {
        Fetch::Missing(requests) => Fetch::Missing(requests),
        Fetch::Ready(tile) => Fetch::Ready(with_formula_texts(tile, tabs)),
    })
}

/// Returns the cells of a window like [`read_window`], but with the templates of their formulas. A
/// formula that has no template is a text.
///
/// # Errors
/// Returns a [`SnapshotError`] if an object does not match the reference to it.
pub fn read_window_with_templates(
    root: Option<&Root>,
    tail: &FoldedLevel,
    tabs: &Tabs,
    sheet_id: SheetId,
    window: &Window,
    objects: &Objects,
) -> Result<Fetch<Tile>, SnapshotError> {
    read_newest_levels((root, tail), tabs, sheet_id, window, 0, objects)
}

/// Returns the cells of a window that the levels from the index `oldest_level` on contain, with the
/// templates of their formulas. Levels are counted from the oldest one; after those of the root,
/// there is the level of imported sheets, and then the entries.
pub(super) fn read_newest_levels(
    (root, tail): (Option<&Root>, &FoldedLevel),
    tabs: &Tabs,
    sheet_id: SheetId,
    window: &Window,
    oldest_level: usize,
    objects: &Objects,
) -> Result<Fetch<Tile>, SnapshotError> {
    let mut missing = MissingObjects::default();
    let mut levels = load_sheet_levels(root, tail, sheet_id, objects, &mut missing)?;
    levels.retain(|level| level.level_index >= oldest_level);
    if !missing.is_empty() {
        return Ok(missing.into_fetch(Tile::default));
    }
    let tail_sheet = tail.sheets.iter().find(|folded| folded.sheet == sheet_id);
    let mut moves_by_level: Vec<&SheetMoves> = levels.iter().map(|level| level.moves).collect();
    moves_by_level.extend(tail_sheet.map(|folded| &folded.moves));
    let mappings = map_levels_to_newest(&moves_by_level);
    let loaded_tiles =
        load_visible_tiles(&levels, &mappings, sheet_id, window, objects, &mut missing)?;
    if !missing.is_empty() {
        return Ok(missing.into_fetch(Tile::default));
    }
    let tail_tile = tail_sheet.zip(mappings.last()).map(|(folded, newest_mapping)| {
        PlacedTile::of_whole_sheet(&folded.tile, newest_mapping, FormulaMapping::unmoved())
    });
    let placed_tiles = loaded_tiles.iter().map(LoadedTile::to_placed);
    let mut placed_tiles: Vec<PlacedTile<'_>> = placed_tiles.chain(tail_tile).collect();
    let level_indices = loaded_tiles.iter().map(|tile| tile.level_index);
    let level_indices: Vec<usize> = level_indices.collect();
    let formulas = WindowFormulas { root, tail, tabs, sheet: sheet_id };
    let formula_mappings =
        formulas.load_mappings(&placed_tiles, &level_indices, window, objects, &mut missing)?;
    for (tile, mapping) in placed_tiles.iter_mut().zip(&formula_mappings) {
        tile.formulas = mapping;
    }
    Ok(missing.into_fetch(|| merge_window(&placed_tiles, window, OlderLevels::Absent)))
}

pub(super) struct SheetLevel<'a> {
    /// Index among all levels of the root and the level of imported sheets, oldest first.
    pub(super) level_index: usize,
    pub(super) packed_level: &'a PackedLevel,
    /// Effect of the level on the sheet's older cells: how rows and columns move, and which cells
    /// are hidden.
    pub(super) moves: &'a SheetMoves,
}

/// Levels are ordered oldest first.
pub(super) fn load_sheet_levels<'a>(
    root: Option<&'a Root>,
    tail: &'a FoldedLevel,
    sheet_id: SheetId,
    objects: &'a Objects,
    missing: &mut MissingObjects,
) -> Result<Vec<SheetLevel<'a>>, SnapshotError> {
    let mut sheet_levels = Vec::new();
    for (level_index, packed_level) in packed_levels(root, tail).enumerate() {
        let lookup = packed_level.moves(sheet_id, &|hash| objects.index.get(hash))?;
        let moves_if_changed =
            missing.ready_or_record_missing(to_fetch(lookup, ObjectKind::Index)).flatten();
        if let Some(moves) = moves_if_changed {
            sheet_levels.push(SheetLevel { level_index, packed_level, moves });
        }
    }
    Ok(sheet_levels)
}

/// Returns the levels of the root and the level of imported sheets, oldest first.
pub(super) fn packed_levels<'a>(
    root: Option<&'a Root>,
    tail: &'a FoldedLevel,
) -> impl DoubleEndedIterator<Item = &'a PackedLevel> {
    let root_levels = root.into_iter().flat_map(Root::all_levels).map(|level| &level.level);
    root_levels.chain([&tail.imported])
}

/// Returns the loaded tiles of the levels that overlap the window, oldest level first. Adds the
/// index chunks and tiles that are not loaded to `missing`.
fn load_visible_tiles<'a>(
    levels: &[SheetLevel<'_>],
    mappings: &'a [LevelMapping],
    sheet_id: SheetId,
    window: &Window,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> Result<Vec<LoadedTile<'a>>, SnapshotError> {
    let mut loaded_tiles = Vec::new();
    for (level, mapping) in levels.iter().zip(mappings) {
        let region = visible_region(mapping, window);
        let lookup =
            level.packed_level.tiles(sheet_id, &region, &|hash| objects.index.get(hash))?;
        if let Some(located_tiles) =
            missing.ready_or_record_missing(to_fetch(lookup, ObjectKind::Index))
        {
            let place = (level.level_index, mapping);
            loaded_tiles.extend(load_tiles(place, located_tiles, objects, missing)?);
        }
    }
    Ok(loaded_tiles)
}

/// Returns the part of a level that is visible in the window, in the coordinates of the level.
pub(super) fn visible_region(mapping: &LevelMapping, window: &Window) -> Region {
    Region {
        rows: map_back(&mapping.row_map, &window.rows),
        columns: map_back(&mapping.column_map, &window.columns),
    }
}

/// Returns the rows or columns that an axis map maps into `range`.
fn map_back(map: &AxisMap, range: &Range<u32>) -> Spans {
    let count = range.end.saturating_sub(range.start);
    map.reversed().kept_spans(&Spans::one(range.start, count))
}

struct LoadedTile<'a> {
    level_index: usize,
    mapping: &'a LevelMapping,
    rows: Span,
    columns: Span,
    tile: Arc<Tile>,
}

impl LoadedTile<'_> {
    fn to_placed(&self) -> PlacedTile<'_> {
        PlacedTile {
            tile: &self.tile,
            first_row: self.rows.first,
            first_column: self.columns.first,
            size: TileSize { rows: self.rows.count, columns: self.columns.count },
            mapping: self.mapping,
            formulas: FormulaMapping::unmoved(),
        }
    }
}

fn load_tiles<'a>(
    (level_index, mapping): (usize, &'a LevelMapping),
    located_tiles: Vec<LocatedTile>,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> Result<Vec<LoadedTile<'a>>, SnapshotError> {
    let mut loaded_tiles = Vec::with_capacity(located_tiles.len());
    for LocatedTile { columns, tile: StripeTile { rows, stored, .. } } in located_tiles {
        let Some(tile) = missing.ready_or_record_missing(objects.stored_tile(&stored)?) else {
            continue;
        };
        loaded_tiles.push(LoadedTile { level_index, mapping, rows, columns, tile });
    }
    Ok(loaded_tiles)
}
