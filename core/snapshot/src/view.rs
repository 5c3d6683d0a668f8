//! Reads a window of a sheet from a root's levels and newer entries.

use std::ops::Range;
use std::sync::Arc;

use super::chunk;
use super::error::SnapshotError;
use super::fold::FoldedLevel;
use super::index::{PackedLevel, Places};
use super::level::{Region, SheetMoves, StoredTile};
use super::merge::{Below, Part, PlaceSize, Source, Window, level_sources, merge_window};
use super::objects::{Fetch, Missing, ObjectKind, Objects, to_fetch};
use super::root::{ClientMap, Root};
use super::root_parts::{load_clients, load_metadata};
use super::tile::Tile;
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Returns the workbook metadata of a root.
///
/// # Errors
/// [`SnapshotError`] if parts of the root are inconsistent.
pub fn metadata(root: &Root, objects: &Objects) -> Result<Fetch<WorkbookMetadata>, SnapshotError> {
    let mut missing = Missing::default();
    let metadata = load_metadata(root, objects, &mut missing)?;
    Ok(missing.ready_or_need(|| metadata))
}

/// Returns the last mutation of each client in a root.
#[must_use]
pub fn clients(root: &Root, objects: &Objects) -> Fetch<ClientMap> {
    let mut missing = Missing::default();
    let clients = load_clients(root, objects, &mut missing);
    missing.ready_or_need(|| clients)
}

/// Returns the cells of a window after applying the entries in `tail` to `root`, or to the empty
/// state if there is no root. All missing objects of the same index depth are requested together.
///
/// # Errors
/// [`SnapshotError`] if an object does not match the reference to it.
pub fn window(
    root: Option<&Root>,
    tail: &FoldedLevel,
    sheet: SheetId,
    window: &Window,
    objects: &Objects,
) -> Result<Fetch<Tile>, SnapshotError> {
    let mut missing = Missing::default();
    let levels = load_sheet_levels(root, tail, sheet, objects, &mut missing)?;
    if !missing.is_empty() {
        return Ok(missing.ready_or_need(Tile::default));
    }
    let tail_sheet = tail.sheets.iter().find(|folded| folded.sheet == sheet);
    let tail_moves = tail_sheet.map(|folded| &folded.moves);
    let moves: Vec<&SheetMoves> =
        levels.iter().map(|(_, moves)| *moves).chain(tail_moves).collect();
    let sources = level_sources(&moves);
    let mut tiles: Vec<LoadedTile<'_>> = Vec::new();
    for ((level, _), source) in levels.iter().zip(&sources) {
        let region = source_region(source, window);
        let places = level.tiles(sheet, &region, &|hash: &_| objects.index.get(hash))?;
        let places = missing.take_ready(to_fetch(places, ObjectKind::Index)).unwrap_or_default();
        load_tiles(source, places, objects, &mut missing, &mut tiles)?;
    }
    let mut parts: Vec<Part<'_>> = tiles.iter().map(LoadedTile::to_part).collect();
    if let (Some(folded), Some(source)) = (tail_sheet, sources.last()) {
        parts.push(Part::whole_sheet(&folded.tile, source));
    }
    Ok(missing.ready_or_need(|| merge_window(&parts, window, Below::Nothing)))
}

/// Returns all levels that contain the sheet and their moves, oldest first.
fn load_sheet_levels<'a>(
    root: Option<&'a Root>,
    tail: &'a FoldedLevel,
    sheet: SheetId,
    objects: &'a Objects,
    missing: &mut Missing,
) -> Result<Vec<(&'a PackedLevel, &'a SheetMoves)>, SnapshotError> {
    let mut levels = Vec::new();
    let stored_levels = root.into_iter().flat_map(Root::all_levels).map(|level| &level.level);
    for level in stored_levels.chain([&tail.imported]) {
        let moves = level.moves(sheet, &|hash: &_| objects.index.get(hash))?;
        let moves = missing.take_ready(to_fetch(moves, ObjectKind::Index)).flatten();
        levels.extend(moves.map(|moves| (level, moves)));
    }
    Ok(levels)
}

/// Returns the part of a level visible in the window, in the coordinates of the level.
fn source_region(source: &Source, window: &Window) -> Region {
    let map_back = |map: &AxisMap, range: &Range<u32>| {
        let count = range.end.saturating_sub(range.start);
        map.reversed().kept_spans(&Spans::one(range.start, count))
    };
    Region {
        rows: map_back(&source.rows, &window.rows),
        columns: map_back(&source.columns, &window.columns),
    }
}

/// A decoded tile, placed in the coordinates of its level.
struct LoadedTile<'a> {
    source: &'a Source,
    rows: Span,
    columns: Span,
    tile: Arc<Tile>,
}

impl LoadedTile<'_> {
    fn to_part(&self) -> Part<'_> {
        Part {
            tile: &self.tile,
            first_row: self.rows.first,
            first_column: self.columns.first,
            place: PlaceSize { rows: self.rows.count, columns: self.columns.count },
            source: self.source,
        }
    }
}

/// Appends the tiles at `places` to `tiles`, or adds them to `missing` if they are not loaded.
fn load_tiles<'a>(
    source: &'a Source,
    places: Places,
    objects: &Objects,
    missing: &mut Missing,
    tiles: &mut Vec<LoadedTile<'a>>,
) -> Result<(), SnapshotError> {
    const BAD_TILE: SnapshotError = SnapshotError::Shape("a tile in the root cannot be read");
    for (columns, place) in places {
        let tile = match &place.stored {
            StoredTile::Inline(bytes) => Arc::new(chunk::decode(bytes).map_err(|_| BAD_TILE)?),
            StoredTile::Chunk(reference) => {
                let Some(tile) = objects.tile(&reference.hash) else {
                    missing.add(ObjectKind::Tile, *reference);
                    continue;
                };
                Arc::clone(tile)
            }
        };
        tiles.push(LoadedTile { source, rows: place.rows, columns, tile });
    }
    Ok(())
}
