//! What a compaction step begins with: a root, with all that it keeps elsewhere but cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::SnapshotError;
use crate::chunk;
use crate::index::Kept;
use crate::level::{LevelSheet, StoredTile};
use crate::merge::LevelInput;
use crate::objects::{Fetch, Missing, ObjectKind, Objects, fetch};
use crate::root::{ClientMap, Root, RootLevel};
use crate::tile::Tile;
use cellar_base::position::Position;
use cellar_sheet::metadata::{SheetMetadata, WorkbookMetadata};
use cellar_sheet::metadata::{SheetNumbers, Tabs};
use cellar_sheet::operation::SheetId;

/// A root as a compaction step needs it; of nothing, at the beginning of a log.
#[derive(Debug, Clone, Default)]
pub struct Base {
    /// The last entry that it covers, if any.
    pub position: Option<Position>,
    /// How many entries it covers.
    pub entries: u64,
    /// All of the state but cells.
    pub metadata: WorkbookMetadata,
    /// The last mutations of clients.
    pub clients: ClientMap,
    /// The levels in chunks, oldest first.
    pub levels: Vec<RootLevel>,
    /// Level 0: its sheets, with their cells.
    pub level_0: BTreeMap<SheetId, LevelZeroSheet>,
}

/// A sheet of level 0.
#[derive(Debug, Clone)]
pub struct LevelZeroSheet {
    changes: LevelSheet,
    tile: Arc<Tile>,
    /// Bytes of the tile as it stands in the root.
    bytes: usize,
}

impl LevelZeroSheet {
    /// As an input of a merge.
    #[must_use]
    pub fn input(&self) -> LevelInput {
        LevelInput::in_memory(self.changes.clone(), Arc::clone(&self.tile))
    }

    /// Cells of its tile, and bytes of that as it stands in the root.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.tile.cells(), self.bytes)
    }
}

impl Base {
    /// Opens a root.
    ///
    /// # Errors
    /// [`SnapshotError`] for a root whose parts do not fit each other.
    pub fn open(root: &Root, objects: &Objects) -> Result<Fetch<Self>, SnapshotError> {
        let mut missing = Missing::default();
        let metadata = metadata(root, objects, &mut missing)?;
        let clients = clients(root, objects, &mut missing);
        let level_0 = level_0(root, objects, &mut missing)?;
        let (position, entries, levels) = (Some(root.position), root.entries, root.levels.clone());
        Ok(missing.or(|| Self { position, entries, metadata, clients, levels, level_0 }))
    }

    /// Whether a level other than level 0 has something of a sheet.
    #[must_use]
    pub fn is_below(&self, sheet: SheetId, levels: usize) -> bool {
        self.levels.iter().take(levels).any(|level| level.level.sheet(sheet).is_some())
    }
}

/// The last mutations of clients that a root has, as far as they are there.
pub(crate) fn clients(root: &Root, objects: &Objects, missing: &mut Missing) -> ClientMap {
    let Some(chunk) = &root.clients else { return ClientMap::default() };
    objects.clients.get(&chunk.hash).cloned().unwrap_or_else(|| {
        missing.need(ObjectKind::Clients, *chunk);
        ClientMap::default()
    })
}

/// The metadata that a root has, as far as it is there.
pub(crate) fn metadata(
    root: &Root,
    objects: &Objects,
    missing: &mut Missing,
) -> Result<WorkbookMetadata, SnapshotError> {
    let used = match &root.used {
        Kept::Inline(numbers) => numbers.0.clone(),
        Kept::Chunk(chunk) => match objects.numbers.get(&chunk.hash) {
            Some(numbers) => {
                root.check_numbers(numbers)?;
                numbers.clone()
            }
            None => {
                missing.need(ObjectKind::Numbers, *chunk);
                SheetNumbers::default()
            }
        },
    };
    let names = root.sheets.iter().map(|sheet| (sheet.sheet, sheet.name.clone()));
    let tabs = Tabs::from_parts(names.collect(), used);
    let mut sheets = BTreeMap::new();
    for sheet in &root.sheets {
        let layer = sheet.formats.layer(&|hash| objects.formats.get(hash))?;
        let formats = missing.take(fetch(layer, ObjectKind::Formats)).unwrap_or_default();
        sheets.insert(sheet.sheet, SheetMetadata { extent: sheet.extent, formats });
    }
    Ok(WorkbookMetadata { tabs, sheets })
}

const NOT_ONE_INLINE_TILE: SnapshotError =
    SnapshotError::Shape("a sheet of level 0 has its cells elsewhere");

fn level_0(
    root: &Root,
    objects: &Objects,
    missing: &mut Missing,
) -> Result<BTreeMap<SheetId, LevelZeroSheet>, SnapshotError> {
    let mut level_0 = BTreeMap::new();
    let Some(level) = &root.level_0 else { return Ok(level_0) };
    let all = level.level.load_all(&|hash| objects.index.get(hash))?;
    let Some(level) = missing.take(fetch(all, ObjectKind::Index)) else { return Ok(level_0) };
    for mut sheet in level.sheets {
        let (tile, bytes) = match std::mem::take(&mut sheet.stripes).as_slice() {
            [] => (Tile::default(), 0),
            [stripe] => match stripe.tiles.as_slice() {
                [tile] if stripe.columns.first == 0 && tile.rows.first == 0 => match &tile.stored {
                    StoredTile::Inline(bytes) => {
                        (chunk::decode(bytes).map_err(|_| NOT_ONE_INLINE_TILE)?, bytes.len())
                    }
                    StoredTile::Chunk(_) => return Err(NOT_ONE_INLINE_TILE),
                },
                _ => return Err(NOT_ONE_INLINE_TILE),
            },
            _ => return Err(NOT_ONE_INLINE_TILE),
        };
        let number = sheet.sheet;
        level_0.insert(number, LevelZeroSheet { changes: sheet, tile: Arc::new(tile), bytes });
    }
    Ok(level_0)
}
