//! Progress of building a snapshot, and the format in which it is stored.

use cellar_base::position::Position;
use cellar_sheet::operation::Span;
use cellar_snapshot::TileFormulas;
use cellar_snapshot::level::{self, ChunkHash, ChunkRef, StripeTile};
use cellar_snapshot::merge::{MergeCursor, MergedTile};
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;
/// Version number for a rebuild. The layout is the same as for [`VERSION`].
const VERSION_REBUILD: u8 = 2;
/// Version number for a rebuild that has not started yet. Its layout differs from all other
/// versions.
const VERSION_REBUILD_START: u8 = 3;
/// Version number for a compaction step whose tiles have as few columns as possible. The layout is
/// the same as for [`VERSION`].
const VERSION_NARROW: u8 = 4;
/// Version number for a rebuild whose tiles have as few columns as possible. The layout is the same
/// as for [`VERSION`].
const VERSION_REBUILD_NARROW: u8 = 5;
/// Maximum number of finished tiles that are stored in the progress itself. Older tiles are stored
/// in a linked list of objects.
pub(super) const MAX_RECENT_TILES: usize = 40;
/// Maximum stored length of the numbers and areas of the formulas of these tiles, in bytes.
const MAX_RECENT_FORMULA_BYTES: usize = 1_024;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct BuildProgress {
    /// Key of the root from which the current compaction step starts, or `None` if it starts at the
    /// beginning of the log.
    pub(super) root: Option<String>,
    /// Progress of the merge, or `None` if the merge has not finished a tile yet.
    pub(super) merge: Option<MergeProgress>,
    /// A rebuild does not wait for earlier snapshots.
    pub(super) is_rebuild: bool,
    /// Whether tiles have as few columns as possible. Set if a row did not fit into a chunk with
    /// more columns.
    pub(super) has_narrow_stripes: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum StoredProgress {
    /// Work that has started.
    InProgress(BuildProgress),
    /// A rebuild that has not started yet. It starts from the snapshot at `base`, or from the first
    /// entry of the log if `base` is `None`.
    RebuildStart { base: Option<Position> },
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MergeProgress {
    pub(super) cursor: MergeCursor,
    /// First object in the linked list of objects that store older finished tiles.
    pub(super) chain: Option<ChunkRef>,
    /// Finished tiles that are not stored in the linked list yet.
    pub(super) recent: Vec<MergedTile>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct TileChain {
    /// Next object in the list, which contains older tiles.
    pub(super) previous: Option<ChunkRef>,
    pub(super) tiles: Vec<MergedTile>,
}

#[derive(Serialize, Deserialize)]
struct StoredBuildProgress {
    version: u8,
    root: Option<String>,
    merge: Option<StoredMergeProgress>,
}

#[derive(Serialize, Deserialize)]
struct StoredRebuildStart {
    version: u8,
    base: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct StoredMergeProgress {
    cursor: MergeCursor,
    tiles: StoredChain,
}

#[derive(Serialize, Deserialize)]
struct StoredChain {
    previous: Option<StoredRef>,
    tiles: Vec<StoredMergedTile>,
}

#[derive(Serialize, Deserialize)]
struct StoredRef {
    hash: [u8; 32],
    bytes: u32,
}

#[derive(Serialize, Deserialize)]
struct StoredMergedTile {
    sheet: u32,
    stripe: u32,
    first_row: u32,
    row_count: u32,
    cells: u32,
    chunk: StoredRef,
}

impl From<ChunkRef> for StoredRef {
    fn from(chunk: ChunkRef) -> Self {
        Self { hash: chunk.hash.0, bytes: chunk.bytes }
    }
}

impl From<StoredRef> for ChunkRef {
    fn from(stored: StoredRef) -> Self {
        Self { hash: ChunkHash(stored.hash), bytes: stored.bytes }
    }
}

impl StoredMergedTile {
    /// A finished tile is always stored in a separate chunk.
    fn from_merged(merged_tile: &MergedTile) -> Option<Self> {
        let tile = &merged_tile.tile;
        let level::StoredTile::Chunk(chunk) = tile.stored else { return None };
        Some(Self {
            sheet: merged_tile.sheet,
            stripe: merged_tile.stripe,
            first_row: tile.rows.first,
            row_count: tile.rows.count,
            cells: tile.cells,
            chunk: chunk.into(),
        })
    }

    fn into_merged(self) -> MergedTile {
        let tile = StripeTile {
            rows: Span { first: self.first_row, count: self.row_count },
            cells: self.cells,
            stored: level::StoredTile::Chunk(self.chunk.into()),
            formulas: None,
        };
        MergedTile { sheet: self.sheet, stripe: self.stripe, tile }
    }
}

/// Encodes the formulas of tiles.
fn encode_formulas(tiles: &[MergedTile]) -> Vec<u8> {
    let formulas = tiles.iter().map(|merged_tile| merged_tile.tile.formulas.as_ref());
    let numbers: Vec<Option<Vec<u32>>> =
        formulas.map(|formulas| formulas.map(TileFormulas::numbers)).collect();
    postcard::to_allocvec(&numbers).unwrap_or_default()
}

/// `bytes` are empty if an older release has written the tiles. It reads no bytes after the other
/// data.
fn read_formulas(bytes: &[u8], tiles: &mut [MergedTile]) -> Result<(), postcard::Error> {
    if bytes.is_empty() {
        return Ok(());
    }
    let stored: Vec<Option<Vec<u32>>> = postcard::from_bytes(bytes)?;
    for (merged_tile, numbers) in tiles.iter_mut().zip(stored) {
        merged_tile.tile.formulas = match numbers {
            None => None,
            Some(numbers) => {
                let formulas = TileFormulas::from_numbers(&numbers);
                Some(formulas.ok_or(postcard::Error::SerdeDeCustom)?)
            }
        };
    }
    Ok(())
}

impl MergeProgress {
    /// Returns whether the finished tiles take too much space in the record.
    pub(super) fn has_excess_tiles(&self) -> bool {
        self.recent.len() > MAX_RECENT_TILES
            || encode_formulas(&self.recent).len() > MAX_RECENT_FORMULA_BYTES
    }
}

impl From<&TileChain> for StoredChain {
    fn from(chain: &TileChain) -> Self {
        let tiles = chain.tiles.iter().filter_map(StoredMergedTile::from_merged);
        Self { previous: chain.previous.map(StoredRef::from), tiles: tiles.collect() }
    }
}

impl From<StoredChain> for TileChain {
    fn from(stored: StoredChain) -> Self {
        let tiles = stored.tiles.into_iter().map(StoredMergedTile::into_merged);
        Self { previous: stored.previous.map(ChunkRef::from), tiles: tiles.collect() }
    }
}

impl TileChain {
    pub(super) fn encode(&self) -> Vec<u8> {
        // Serializing plain structs to memory cannot fail.
        let mut bytes = postcard::to_allocvec(&StoredChain::from(self)).unwrap_or_default();
        bytes.extend(encode_formulas(&self.tiles));
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let (stored, formulas) = postcard::take_from_bytes::<StoredChain>(bytes)?;
        let mut chain = Self::from(stored);
        read_formulas(formulas, &mut chain.tiles)?;
        Ok(chain)
    }
}

impl BuildProgress {
    pub(super) fn encode(&self) -> Vec<u8> {
        let merge = self.merge.as_ref().map(|merge| {
            let chain = TileChain { previous: merge.chain, tiles: merge.recent.clone() };
            StoredMergeProgress { cursor: merge.cursor, tiles: StoredChain::from(&chain) }
        });
        let version = match (self.is_rebuild, self.has_narrow_stripes) {
            (false, false) => VERSION,
            (true, false) => VERSION_REBUILD,
            (false, true) => VERSION_NARROW,
            (true, true) => VERSION_REBUILD_NARROW,
        };
        let stored_progress = StoredBuildProgress { version, root: self.root.clone(), merge };
        let mut bytes = postcard::to_allocvec(&stored_progress).unwrap_or_default();
        if let Some(merge) = &self.merge {
            bytes.extend(encode_formulas(&merge.recent));
        }
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let (stored_progress, formulas) = postcard::take_from_bytes::<StoredBuildProgress>(bytes)?;
        let (is_rebuild, has_narrow_stripes) = match stored_progress.version {
            VERSION => (false, false),
            VERSION_REBUILD => (true, false),
            VERSION_NARROW => (false, true),
            VERSION_REBUILD_NARROW => (true, true),
            _ => return Err(postcard::Error::SerdeDeCustom),
        };
        let merge = stored_progress.merge.map(|stored_merge| {
            let mut chain = TileChain::from(stored_merge.tiles);
            read_formulas(formulas, &mut chain.tiles)?;
            Ok(MergeProgress {
                cursor: stored_merge.cursor,
                chain: chain.previous,
                recent: chain.tiles,
            })
        });
        let merge: Option<MergeProgress> = merge.transpose()?;
        Ok(Self { root: stored_progress.root, merge, is_rebuild, has_narrow_stripes })
    }
}

impl StoredProgress {
    pub(super) fn encode_rebuild_start(base: Option<Position>) -> Vec<u8> {
        let base = base.map(Position::pack);
        let start = StoredRebuildStart { version: VERSION_REBUILD_START, base };
        postcard::to_allocvec(&start).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let is_rebuild_start = bytes.first() == Some(&VERSION_REBUILD_START);
        if !is_rebuild_start {
            return BuildProgress::decode(bytes).map(Self::InProgress);
        }
        let start: StoredRebuildStart = postcard::from_bytes(bytes)?;
        let base = match start.base {
            Some(packed_position) => Some(
                Position::unpack(packed_position).map_err(|_| postcard::Error::SerdeDeCustom)?,
            ),
            None => None,
        };
        Ok(Self::RebuildStart { base })
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::{MAX_PROGRESS_BYTES, MAX_ROWS};
    use cellar_snapshot::level::StoredTile;

    use super::*;

    /// Gives formulas to tiles until one more tile would make them too long for the record.
    fn add_areas_until_full(tiles: &mut [MergedTile]) {
        let areas = (0..8).flat_map(|sheet| [u32::MAX - 8 + sheet, MAX_ROWS - 1, 1, 1 << 21, 1]);
        let numbers: Vec<u32> = [u32::MAX, 3].into_iter().chain(areas).collect();
        let formulas = TileFormulas::from_numbers(&numbers).unwrap();
        let mut with_areas = 0;
        while encode_formulas(tiles).len() <= MAX_RECENT_FORMULA_BYTES {
            tiles[with_areas].tile.formulas = Some(formulas.clone());
            with_areas += 1;
        }
        let recent = tiles.to_vec();
        assert!(MergeProgress { recent, ..MergeProgress::default() }.has_excess_tiles());
        assert!(with_areas > 3);
        tiles[with_areas - 1].tile.formulas = Some(TileFormulas::default());
    }

    #[test]
    fn the_largest_progress_reads_back_and_fits_its_record() {
        let chunk = ChunkRef { hash: ChunkHash([0xFF; 32]), bytes: u32::MAX };
        let rows = Span { first: u32::MAX, count: u32::MAX };
        let tile = StripeTile {
            rows,
            cells: u32::MAX,
            stored: StoredTile::Chunk(chunk),
            formulas: Some(TileFormulas { count: u32::MAX, ..TileFormulas::default() }),
        };
        let tile = MergedTile { sheet: u32::MAX, stripe: u32::MAX, tile };
        let cursor =
            MergeCursor { sheet: u32::MAX, stripe: u32::MAX, row: u32::MAX, density: u32::MAX };
        let mut recent = vec![tile; MAX_RECENT_TILES];
        add_areas_until_full(&mut recent);
        let merge = MergeProgress { cursor, chain: Some(chunk), recent: recent.clone() };
        assert!(!merge.has_excess_tiles());
        let merge = Some(merge);
        let root = Some(format!("sheets/{}/roots/{}", "0".repeat(36), "f".repeat(64)));
        for (is_rebuild, has_narrow_stripes) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            let (root, merge) = (root.clone(), merge.clone());
            let progress = BuildProgress { root, merge, is_rebuild, has_narrow_stripes };
            let bytes = progress.encode();
            assert!(bytes.len() <= MAX_PROGRESS_BYTES, "{}", bytes.len());
            assert_eq!(StoredProgress::decode(&bytes), Ok(StoredProgress::InProgress(progress)));
            let formulas_start = bytes.len() - encode_formulas(&recent).len();
            for cut in 0..bytes.len() {
                let decoded = StoredProgress::decode(&bytes[..cut]);
                assert_eq!(decoded.is_ok(), cut == formulas_start);
                let Ok(StoredProgress::InProgress(BuildProgress { merge, .. })) = decoded else {
                    continue;
                };
                // An older release has written no formulas.
                let recent = merge.unwrap().recent;
                assert!(recent.iter().all(|merged_tile| merged_tile.tile.formulas.is_none()));
            }
            let mut later = bytes;
            later[0] = VERSION_REBUILD_NARROW + 1;
            assert!(StoredProgress::decode(&later).is_err());
        }
    }

    #[test]
    fn the_start_of_a_rebuild_reads_back() {
        for base in [None, Some(Position::FIRST), Position::new(7, u32::MAX).ok()] {
            let bytes = StoredProgress::encode_rebuild_start(base);
            assert_eq!(StoredProgress::decode(&bytes), Ok(StoredProgress::RebuildStart { base }));
            for cut in 0..bytes.len() {
                assert!(StoredProgress::decode(&bytes[..cut]).is_err());
            }
        }
        let nowhere = StoredRebuildStart { version: VERSION_REBUILD_START, base: Some(u64::MAX) };
        assert!(StoredProgress::decode(&postcard::to_allocvec(&nowhere).unwrap()).is_err());
    }

    /// Later releases must be able to resume snapshots that this release started.
    #[test]
    fn the_released_encodings_do_not_change() {
        let root = Some("r".to_owned());
        let encode = |is_rebuild, has_narrow_stripes| {
            let root = root.clone();
            BuildProgress { root, merge: None, is_rebuild, has_narrow_stripes }.encode()
        };
        assert_eq!(encode(false, false), [1, 1, 1, b'r', 0]);
        assert_eq!(encode(true, false), [2, 1, 1, b'r', 0]);
        assert_eq!(encode(false, true), [4, 1, 1, b'r', 0]);
        assert_eq!(encode(true, true), [5, 1, 1, b'r', 0]);
        assert_eq!(
            StoredProgress::encode_rebuild_start(Position::new(0, 300).ok()),
            [3, 1, 0xAC, 2]
        );
    }
}
