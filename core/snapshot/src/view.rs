//! Reading a window of a sheet: from the levels of a root, and what entries behind it did.

use std::sync::Arc;

use super::SnapshotError;
use super::chunk;
use super::compaction;
use super::fold::FoldedLevel;
use super::index::{PackedLevel, Places};
use super::level::{Region, SheetMoves, StoredTile};
use super::merge::{Below, Part, Place, Source, Window, merge_window, sources};
use super::objects::{Fetch, Missing, ObjectKind, Objects, fetch};
use super::root::{ClientMap, Root};
use super::tile::Tile;
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{SheetId, Span, Spans};

/// The metadata that a root has.
///
/// # Errors
/// [`SnapshotError`] if its parts do not fit each other.
pub fn metadata(root: &Root, objects: &Objects) -> Result<Fetch<WorkbookMetadata>, SnapshotError> {
    let mut missing = Missing::default();
    let metadata = compaction::metadata(root, objects, &mut missing)?;
    Ok(missing.or(|| metadata))
}

/// The last mutations of clients that a root has.
#[must_use]
pub fn clients(root: &Root, objects: &Objects) -> Fetch<ClientMap> {
    let mut missing = Missing::default();
    let clients = compaction::clients(root, objects, &mut missing);
    missing.or(|| clients)
}

/// The cells of a window at the position of a root, and of entries behind it. No root: the state of
/// an empty log. What is missing is asked for in as few rounds as an index has levels.
///
/// # Errors
/// [`SnapshotError`] if an object is not what refers to it says.
pub fn window(
    root: Option<&Root>,
    tail: &FoldedLevel,
    sheet: SheetId,
    window: &Window,
    objects: &Objects,
) -> Result<Fetch<Tile>, SnapshotError> {
    let mut missing = Missing::default();
    let index = |hash: &_| objects.index.get(hash);
    let mut levels: Vec<(&PackedLevel, &SheetMoves)> = Vec::new();
    let stored = root.into_iter().flat_map(Root::all_levels).map(|level| &level.level);
    for level in stored.chain([&tail.imported]) {
        let moves = fetch(level.moves(sheet, &index)?, ObjectKind::Index);
        levels.extend(missing.take(moves).flatten().map(|moves| (level, moves)));
    }
    if !missing.is_empty() {
        return Ok(missing.or(Tile::default));
    }
    let newest = tail.sheets.iter().find(|folded| folded.sheet == sheet);
    let tail_moves = newest.map(|folded| &folded.moves);
    let moves: Vec<&SheetMoves> =
        levels.iter().map(|(_, moves)| *moves).chain(tail_moves).collect();
    let sources = sources(&moves);
    let mut tiles: Vec<LoadedTile> = Vec::new();
    for (number, ((level, _), source)) in levels.iter().zip(&sources).enumerate() {
        let region = region(source, window);
        let places = level.tiles(sheet, &region, &index)?;
        let places = missing.take(fetch(places, ObjectKind::Index)).unwrap_or_default();
        load(number, places, objects, &mut missing, &mut tiles)?;
    }
    Ok(missing.or(|| {
        let mut parts: Vec<Part<'_>> = tiles
            .iter()
            .filter_map(|loaded| {
                let LoadedTile { level, rows, columns, tile } = loaded;
                let source = sources.get(*level)?;
                let place = Place { rows: rows.count, columns: columns.count };
                let (first_row, first_column) = (rows.first, columns.first);
                Some(Part { tile, first_row, first_column, place, source })
            })
            .collect();
        if let (Some(folded), Some(source)) = (newest, sources.last()) {
            let place = Place::SHEET;
            parts.push(Part { tile: &folded.tile, first_row: 0, first_column: 0, place, source });
        }
        merge_window(&parts, window, Below::Nothing)
    }))
}

/// Where the rows and columns of a window are in a level's own space.
fn region(source: &Source, window: &Window) -> Region {
    let back = |map: &AxisMap, first: u32, end: u32| {
        map.reversed().kept(&Spans::one(first, end.saturating_sub(first)))
    };
    Region {
        rows: back(&source.rows, window.rows.start, window.rows.end),
        columns: back(&source.columns, window.columns.start, window.columns.end),
    }
}

/// A tile of a level, and where it stands there.
struct LoadedTile {
    level: usize,
    rows: Span,
    columns: Span,
    tile: Arc<Tile>,
}

/// The tiles of a level, as far as they are there.
fn load(
    level: usize,
    places: Places,
    objects: &Objects,
    missing: &mut Missing,
    tiles: &mut Vec<LoadedTile>,
) -> Result<(), SnapshotError> {
    const BAD_TILE: SnapshotError = SnapshotError::Shape("a tile in the root cannot be read");
    for (columns, place) in places {
        let tile = match &place.stored {
            StoredTile::Inline(bytes) => {
                Some(Arc::new(chunk::decode(bytes).map_err(|_| BAD_TILE)?))
            }
            StoredTile::Chunk(reference) => {
                let tile = objects.tile(&reference.hash).cloned();
                if tile.is_none() {
                    missing.need(ObjectKind::Tile, *reference);
                }
                tile
            }
        };
        let rows = place.rows;
        tiles.extend(tile.map(|tile| LoadedTile { level, rows, columns, tile }));
    }
    Ok(())
}
