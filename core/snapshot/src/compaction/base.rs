//! Base of a compaction step: a snapshot root, loaded completely except for cells stored in chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::chunk;
use crate::error::SnapshotError;
use crate::level::{LevelSheet, StoredTile, Stripe};
use crate::merge::LevelInput;
use crate::objects::{Fetch, MissingObjects, ObjectKind, Objects, to_fetch};
use crate::root::{ClientMap, Root, RootLevel};
use crate::root_parts::{load_clients, load_metadata};
use crate::tile::Tile;
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::SheetId;

/// Root on which a compaction step builds. The default is the empty state before a log's first
/// entry.
#[derive(Debug, Clone, Default)]
pub struct CompactionBase {
    /// Position of the last entry covered by the root; `None` if the root covers no entries.
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
    /// Id and moves of the sheet. Its stripes are omitted, because its cells are in memory.
    sheet: LevelSheet,
    tile: Arc<Tile>,
    /// Length of the sheet's encoded tile in the root, in bytes.
    tile_bytes: usize,
}

impl LevelZeroSheet {
    /// Returns the sheet as a merge input.
    #[must_use]
    pub fn to_input(&self) -> LevelInput {
        LevelInput::from_memory(self.sheet.clone(), Arc::clone(&self.tile))
    }

    /// Returns the number of cells.
    pub(super) fn cell_count(&self) -> usize {
        self.tile.cells()
    }

    /// Returns the length of the sheet's encoded tile in the root, in bytes.
    pub(super) fn tile_bytes(&self) -> usize {
        self.tile_bytes
    }
}

impl CompactionBase {
    /// Creates a base from a root, or returns the missing objects that must be loaded first.
    ///
    /// # Errors
    /// [`SnapshotError`] if parts of the root are inconsistent.
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

    /// Returns whether any of the oldest `level_count` levels contains `sheet`.
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
    let fetched_level = root_level.level.load_all(&|hash| objects.index.get(hash))?;
    let Some(level) = missing.take_ready(to_fetch(fetched_level, ObjectKind::Index)) else {
        return Ok(level_zero_sheets);
    };
    for level_sheet in level.sheets {
        let (tile, tile_bytes) = decode_inline_tile(&level_sheet.stripes)?;
        let sheet = LevelSheet { stripes: Vec::new(), ..level_sheet };
        let level_zero_sheet = LevelZeroSheet { tile: Arc::new(tile), tile_bytes, sheet };
        level_zero_sheets.insert(level_sheet.sheet, level_zero_sheet);
    }
    Ok(level_zero_sheets)
}

/// Decodes the only tile of a level 0 sheet, and returns the tile and its encoded length. If the
/// sheet has no stripes, the tile is empty.
fn decode_inline_tile(stripes: &[Stripe]) -> Result<(Tile, usize), SnapshotError> {
    const NOT_ONE_INLINE_TILE: SnapshotError =
        SnapshotError::Shape("a sheet of level 0 is not stored as a single tile inside the root");
    let stripe = match stripes {
        [] => return Ok((Tile::default(), 0)),
        [stripe] => stripe,
        _ => return Err(NOT_ONE_INLINE_TILE),
    };
    let [stripe_tile] = stripe.tiles.as_slice() else { return Err(NOT_ONE_INLINE_TILE) };
    let starts_at_top_left = stripe.columns.first == 0 && stripe_tile.rows.first == 0;
    let StoredTile::Inline(encoded_tile) = &stripe_tile.stored else {
        return Err(NOT_ONE_INLINE_TILE);
    };
    if !starts_at_top_left {
        return Err(NOT_ONE_INLINE_TILE);
    }
    let tile = chunk::decode(encoded_tile).map_err(|_| NOT_ONE_INLINE_TILE)?;
    Ok((tile, encoded_tile.len()))
}
