//! Base of a compaction step: a snapshot root, completely loaded except for cells that are stored
//! in chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::chunk;
use crate::error::SnapshotError;
use crate::level::{LevelSheet, SheetMoves, StoredTile, Stripe};
use crate::merge::{LevelCells, LevelInput};
use crate::objects::{Fetch, MissingObjects, Objects};
use crate::root::{ClientMap, Root, RootLevel};
use crate::root_parts::{load_clients, load_metadata};
use crate::tile::Tile;
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::SheetId;

/// Root on which a compaction step builds. By default, the empty state before the first entry of a
/// log.
#[derive(Debug, Clone, Default)]
pub struct CompactionBase {
    /// Position of the last entry that the root covers, or `None` if the root covers no entries.
    pub position: Option<Position>,
    /// Number of entries covered by the root.
    pub entry_count: u64,
    /// Workbook metadata: everything except cells.
    pub metadata: WorkbookMetadata,
    /// Last mutation of each client.
    pub clients: ClientMap,
    /// Levels stored in chunks, oldest first.
    pub levels: Vec<RootLevel>,
    /// Sheets of level 0 with their cells, keyed by sheet id.
    pub level_0: BTreeMap<SheetId, LevelZeroSheet>,
}

/// A level 0 sheet with its cells in memory.
#[derive(Debug, Clone)]
pub struct LevelZeroSheet {
    moves: SheetMoves,
    tile: Arc<Tile>,
    tile_bytes: usize,
}

impl LevelZeroSheet {
    /// A sheet without stripes has no cells.
    fn decode(level_sheet: LevelSheet) -> Result<Self, SnapshotError> {
        let mut tile = Tile::default();
        let mut tile_bytes = 0;
        if !level_sheet.stripes.is_empty() {
            let encoded_tile = only_inline_tile(&level_sheet.stripes).ok_or(NOT_ONE_INLINE_TILE)?;
            tile = chunk::decode(encoded_tile).map_err(|_| NOT_ONE_INLINE_TILE)?;
            tile_bytes = encoded_tile.len();
        }
        Ok(Self { moves: level_sheet.moves, tile: Arc::new(tile), tile_bytes })
    }

    /// Returns the sheet as a merge input. `level_index` is the index of level 0 among the merged
    /// levels.
    #[must_use]
    pub fn to_input(&self, level_index: usize) -> LevelInput {
        let cells = LevelCells::InMemory(Arc::clone(&self.tile));
        LevelInput::new(self.moves.clone(), cells, level_index)
    }

    pub(super) fn cell_count(&self) -> usize {
        self.tile.cell_count()
    }

    pub(super) fn tile_bytes(&self) -> usize {
        self.tile_bytes
    }
}

impl CompactionBase {
    /// Creates a base from a root, or returns the missing objects that must be loaded first.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if parts of the root are inconsistent.
    pub fn open(root: &Root, objects: &Objects) -> Result<Fetch<Self>, SnapshotError> {
        let mut missing = MissingObjects::default();
        let metadata = load_metadata(root, objects, &mut missing)?;
        let clients = load_clients(root, objects, &mut missing);
        let level_0 = load_level_0(root, objects, &mut missing)?;
        Ok(missing.into_fetch(|| Self {
            position: Some(root.position),
            entry_count: root.entries,
            metadata,
            clients,
            levels: root.levels.clone(),
            level_0,
        }))
    }

    /// Returns whether any sheet of `metadata` may have formulas in the oldest `level_count` levels.
    pub(super) fn may_have_formulas_in_oldest(
        &self,
        level_count: usize,
        metadata: &WorkbookMetadata,
    ) -> bool {
        let levels = self.levels.iter().take(level_count);
        let mut sheets = levels.flat_map(|level| &level.level.sheets);
        sheets.any(|sheet| sheet.formulas != Some(0) && metadata.sheets.contains_key(&sheet.sheet))
    }

    /// Returns the index of level 0 among all levels, oldest first. An imported sheet is a level
    /// directly below it.
    pub(super) fn level_0_index(&self) -> usize {
        self.levels.len() + 1
    }

    /// Returns whether any of the oldest `level_count` levels contains the sheet.
    #[must_use]
    pub fn has_sheet_in_oldest(&self, sheet_id: SheetId, level_count: usize) -> bool {
        self.levels.iter().take(level_count).any(|level| level.level.sheet(sheet_id).is_some())
    }
}

fn load_level_0(
    root: &Root,
    objects: &Objects,
    missing: &mut MissingObjects,
) -> Result<BTreeMap<SheetId, LevelZeroSheet>, SnapshotError> {
    let mut level_zero_sheets = BTreeMap::new();
    let Some(root_level) = &root.level_0 else { return Ok(level_zero_sheets) };
    let Some(level) = missing.ready_or_record_missing(root_level.level.load_level(objects)?) else {
        return Ok(level_zero_sheets);
    };
    for level_sheet in level.sheets {
        level_zero_sheets.insert(level_sheet.sheet, LevelZeroSheet::decode(level_sheet)?);
    }
    Ok(level_zero_sheets)
}

const NOT_ONE_INLINE_TILE: SnapshotError =
    SnapshotError::Shape("a sheet of level 0 is not stored as a single tile inside the root");

/// Returns `None` unless the stripes consist of a single inline tile that starts at the top left
/// corner of the sheet.
fn only_inline_tile(stripes: &[Stripe]) -> Option<&[u8]> {
    let [stripe] = stripes else { return None };
    let [tile] = stripe.tiles.as_slice() else { return None };
    match &tile.stored {
        StoredTile::Inline(bytes) if stripe.columns.first == 0 && tile.rows.first == 0 => {
            Some(bytes)
        }
        StoredTile::Inline(_) | StoredTile::Chunk(_) => None,
    }
}
