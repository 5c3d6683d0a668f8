//! Where the work on a snapshot goes on.

use cellar_base::position::Position;
use cellar_snapshot::level::{ChunkHash, ChunkRef};
use cellar_snapshot::merge::{MergeCursor, MergedTile};
use serde::{Deserialize, Serialize};

/// The version of the layout.
const VERSION: u8 = 1;
/// The same layout, of a snapshot that is made anew.
const VERSION_ANEW: u8 = 2;
/// The layout of where such work begins, before anything of it is done.
const VERSION_ANEW_START: u8 = 3;
/// The first layout, of a round that is merged into narrow stripes.
const VERSION_NARROW: u8 = 4;
/// The same, of a snapshot that is made anew.
const VERSION_ANEW_NARROW: u8 = 5;
/// Tiles that progress names itself; older ones are in a chain of objects.
pub(super) const MAX_RECENT_TILES: usize = 40;

/// Where the work goes on.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct BuildProgress {
    /// Key of the root that the round begins from; none at the beginning of a log.
    pub(super) root: Option<String>,
    /// How far the round's merge is; none before it has given a tile.
    pub(super) merge: Option<MergeProgress>,
    /// Whether the snapshot is made anew: what is not made before it is not waited for.
    pub(super) anew: bool,
    /// Whether the round is merged into the narrowest stripes: a row was too large for wide ones.
    pub(super) narrow: bool,
}

/// What progress's bytes say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Begin {
    /// Go on from there.
    At(BuildProgress),
    /// Make the snapshot anew on the one that stands there, or from the log's first entry on.
    Anew { behind: Option<Position> },
}

/// How far a merge is.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MergeProgress {
    pub(super) cursor: MergeCursor,
    /// The newest object of the chain of its older tiles.
    pub(super) chain: Option<ChunkRef>,
    pub(super) recent: Vec<MergedTile>,
}

/// A part of the tiles that a merge has given: those before it, and these.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TileChain {
    pub(super) before: Option<ChunkRef>,
    pub(super) tiles: Vec<MergedTile>,
}

#[derive(Serialize, Deserialize)]
struct StoredCheckpoint {
    version: u8,
    root: Option<String>,
    merge: Option<StoredProgress>,
}

#[derive(Serialize, Deserialize)]
struct StoredStart {
    version: u8,
    /// A packed position.
    behind: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct StoredProgress {
    cursor: MergeCursor,
    tiles: StoredChain,
}

#[derive(Serialize, Deserialize)]
struct StoredChain {
    before: Option<StoredRef>,
    tiles: Vec<StoredTile>,
}

#[derive(Serialize, Deserialize)]
struct StoredRef {
    hash: [u8; 32],
    bytes: u32,
}

#[derive(Serialize, Deserialize)]
struct StoredTile {
    sheet: u32,
    stripe: u32,
    first: u32,
    count: u32,
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

impl From<&TileChain> for StoredChain {
    fn from(chain: &TileChain) -> Self {
        use cellar_snapshot::level::StoredTile::Chunk;
        let tiles = chain.tiles.iter().filter_map(|tile| {
            let Chunk(chunk) = tile.place.stored else { return None };
            let (rows, cells) = (tile.place.rows, tile.place.cells);
            let (sheet, stripe, chunk) = (tile.sheet, tile.stripe, chunk.into());
            Some(StoredTile { sheet, stripe, first: rows.first, count: rows.count, cells, chunk })
        });
        Self { before: chain.before.map(StoredRef::from), tiles: tiles.collect() }
    }
}

impl From<StoredChain> for TileChain {
    fn from(stored: StoredChain) -> Self {
        use cellar_sheet::operation::Span;
        use cellar_snapshot::level::{StoredTile::Chunk, TilePlace};
        let tiles = stored.tiles.into_iter().map(|tile| {
            let rows = Span { first: tile.first, count: tile.count };
            let place = TilePlace { rows, cells: tile.cells, stored: Chunk(tile.chunk.into()) };
            MergedTile { sheet: tile.sheet, stripe: tile.stripe, place }
        });
        Self { before: stored.before.map(ChunkRef::from), tiles: tiles.collect() }
    }
}

impl TileChain {
    /// The bytes of its object.
    pub(super) fn encode(&self) -> Vec<u8> {
        // Plain structures in memory: the encoder has nothing to refuse.
        postcard::to_allocvec(&StoredChain::from(self)).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        postcard::from_bytes::<StoredChain>(bytes).map(Self::from)
    }
}

impl BuildProgress {
    /// The bytes of a pending record's progress.
    pub(super) fn encode(&self) -> Vec<u8> {
        let merge = self.merge.as_ref().map(|merge| {
            let chain = TileChain { before: merge.chain, tiles: merge.recent.clone() };
            StoredProgress { cursor: merge.cursor, tiles: StoredChain::from(&chain) }
        });
        let version = match (self.anew, self.narrow) {
            (false, false) => VERSION,
            (true, false) => VERSION_ANEW,
            (false, true) => VERSION_NARROW,
            (true, true) => VERSION_ANEW_NARROW,
        };
        let stored = StoredCheckpoint { version, root: self.root.clone(), merge };
        postcard::to_allocvec(&stored).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let stored: StoredCheckpoint = postcard::from_bytes(bytes)?;
        let (anew, narrow) = match stored.version {
            VERSION => (false, false),
            VERSION_ANEW => (true, false),
            VERSION_NARROW => (false, true),
            VERSION_ANEW_NARROW => (true, true),
            _ => return Err(postcard::Error::SerdeDeCustom),
        };
        let merge = stored.merge.map(|merge| {
            let chain = TileChain::from(merge.tiles);
            MergeProgress { cursor: merge.cursor, chain: chain.before, recent: chain.tiles }
        });
        Ok(Self { root: stored.root, merge, anew, narrow })
    }
}

impl Begin {
    /// The bytes of a pending record's first progress.
    pub(super) fn anew(behind: Option<Position>) -> Vec<u8> {
        let start = StoredStart { version: VERSION_ANEW_START, behind: behind.map(Position::pack) };
        postcard::to_allocvec(&start).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        if bytes.first() != Some(&VERSION_ANEW_START) {
            return BuildProgress::decode(bytes).map(Self::At);
        }
        let start: StoredStart = postcard::from_bytes(bytes)?;
        let behind = start.behind.map(Position::unpack).transpose();
        let behind = behind.map_err(|_| postcard::Error::SerdeDeCustom)?;
        Ok(Self::Anew { behind })
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_PROGRESS_BYTES;
    use cellar_sheet::operation::Span;
    use cellar_snapshot::level::{StoredTile, TilePlace};

    use super::*;

    #[test]
    fn the_largest_progress_reads_back_and_fits_its_record() {
        let chunk = ChunkRef { hash: ChunkHash([0xFF; 32]), bytes: u32::MAX };
        let rows = Span { first: u32::MAX, count: u32::MAX };
        let place = TilePlace { rows, cells: u32::MAX, stored: StoredTile::Chunk(chunk) };
        let tile = MergedTile { sheet: u32::MAX, stripe: u32::MAX, place };
        let cursor =
            MergeCursor { sheet: u32::MAX, stripe: u32::MAX, row: u32::MAX, density: u32::MAX };
        let recent = vec![tile; MAX_RECENT_TILES];
        let merge = Some(MergeProgress { cursor, chain: Some(chunk), recent });
        let root = Some(format!("sheets/{}/roots/{}", "0".repeat(36), "f".repeat(64)));
        for (anew, narrow) in [(false, false), (true, false), (false, true), (true, true)] {
            let (root, merge) = (root.clone(), merge.clone());
            let progress = BuildProgress { root, merge, anew, narrow };
            let bytes = progress.encode();
            assert!(bytes.len() <= MAX_PROGRESS_BYTES, "{}", bytes.len());
            assert_eq!(Begin::decode(&bytes), Ok(Begin::At(progress)));
            for cut in 0..bytes.len() {
                assert!(Begin::decode(&bytes[..cut]).is_err());
            }
            let mut later = bytes;
            later[0] = VERSION_ANEW_NARROW + 1;
            assert!(Begin::decode(&later).is_err());
        }
    }

    #[test]
    fn where_work_anew_begins_reads_back() {
        for behind in [None, Some(Position::FIRST), Position::new(7, u32::MAX).ok()] {
            let bytes = Begin::anew(behind);
            assert_eq!(Begin::decode(&bytes), Ok(Begin::Anew { behind }));
            for cut in 0..bytes.len() {
                assert!(Begin::decode(&bytes[..cut]).is_err());
            }
        }
        let nowhere = StoredStart { version: VERSION_ANEW_START, behind: Some(u64::MAX) };
        assert!(Begin::decode(&postcard::to_allocvec(&nowhere).unwrap()).is_err());
    }

    /// Work is under way while a later build is deployed.
    #[test]
    fn the_released_layouts_do_not_change() {
        let root = Some("r".to_owned());
        let of =
            |anew, narrow| BuildProgress { root: root.clone(), merge: None, anew, narrow }.encode();
        assert_eq!(of(false, false), [1, 1, 1, b'r', 0]);
        assert_eq!(of(true, false), [2, 1, 1, b'r', 0]);
        assert_eq!(of(false, true), [4, 1, 1, b'r', 0]);
        assert_eq!(of(true, true), [5, 1, 1, b'r', 0]);
        assert_eq!(Begin::anew(Position::new(0, 300).ok()), [3, 1, 0xAC, 2]);
    }
}
