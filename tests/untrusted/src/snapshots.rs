//! Objects of snapshots.

use cellar_base::limits::{MAX_DEPENDENT_TILES, MAX_TILE_CELLS, MAX_TILE_COLUMNS};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::chunk::{decode, is_read_or_refused};
use cellar_snapshot::dependents::{
    DependentBounds, DependentSearch, SearchStep, SearchedState, SheetArea,
};
use cellar_snapshot::fold::FoldedLevel;
use cellar_snapshot::index::{IndexChunk, InlineOrChunk, PackedLevel, PackedSheet, StripeIndex};
use cellar_snapshot::level::{ChunkHash, ChunkRef};
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::{Fetch, Objects};
use cellar_snapshot::packed::{Bounds, unpack};
use cellar_snapshot::root::StoredSheetNumbers;
use cellar_snapshot::root::{ClientMap, FormatRecords, Root};
use cellar_snapshot::view;

/// Reads a tile, which must be valid, within its limits, and encode to the same value.
pub(super) fn chunk(bytes: &[u8]) -> bool {
    assert!(is_read_or_refused(bytes));
    let Ok(tile) = decode(bytes) else { return false };
    assert!(tile.cell_count() <= MAX_TILE_CELLS && tile.columns.len() <= MAX_TILE_COLUMNS);
    true
}

/// Reads a part of an index. Levels that reference the part must load or fail cleanly, even if it
/// references itself.
pub(super) fn index(bytes: &[u8]) -> bool {
    let other = FormatRecords::decode(bytes).is_ok()
        || StoredSheetNumbers::decode(bytes).is_ok()
        || ClientMap::decode(bytes).is_ok();
    let Ok(chunk) = IndexChunk::decode(bytes) else { return other };
    assert!(!other, "it is one thing only");
    let reference = ChunkRef { hash: ChunkHash::of(bytes), bytes: 1 };
    let (sheet, moves) = (SheetId::FIRST, InlineOrChunk::Chunk(reference));
    let by_list = PackedSheet {
        sheet,
        moves,
        stripes: StripeIndex::Chunk(reference),
        formulas: None,
        reads: None,
    };
    let level = PackedLevel { sheets: vec![by_list] };
    let _ = level.load_all(&|_| Some(&chunk));
    let _ = level.load_all(&|_| None);
    true
}

/// Reads a root, which must encode to the same value, and whose levels must load or fail cleanly.
pub(super) fn root(bytes: &[u8]) -> bool {
    let Ok(root) = Root::decode(bytes) else { return false };
    let packed = root.pack().expect("what was read can be written");
    assert_eq!(Root::unpack(packed.chunk.hash, &packed.stored).as_ref(), Ok(&root));
    let objects = Objects::default();
    let _ = view::read_metadata(&root, &objects);
    let window = Window { rows: 0..50, columns: 0..20 };
    for sheet in root.sheets.iter().take(3) {
        let tail = FoldedLevel::default();
        let tabs = Tabs::default();
        let _ = view::read_window(Some(&root), &tail, &tabs, sheet.sheet, &window, &objects);
    }
    for level in root.all_levels() {
        let _ = level.level.load_level(&objects);
    }
    search_formulas(&root);
    true
}

/// Searches formulas until the first missing object.
fn search_formulas(root: &Root) {
    const MAX_FORMULAS: usize = 20;
    let mut objects = Objects::default();
    let Ok(Fetch::Ready(metadata)) = view::read_metadata(root, &objects) else { return };
    let tail = FoldedLevel::default();
    let state = SearchedState { root: Some(root), tail: &tail, metadata: &metadata };
    let area = SheetArea { sheet: SheetId::FIRST, cells: Rectangle::EVERYTHING };
    let bounds = DependentBounds { formulas: MAX_FORMULAS, tiles: MAX_DEPENDENT_TILES };
    let mut search = DependentSearch::new(state, &[area], bounds);
    if let Ok(SearchStep::Done(found)) = search.step(&mut objects) {
        assert!(found.formulas.len() <= MAX_FORMULAS);
    }
}

/// Checks that no object unpacks to more bytes than allowed, or to bytes with another hash.
pub(super) fn stored(bytes: &[u8]) -> bool {
    let other = ChunkHash([7; 32]);
    for bounds in [Bounds::CHUNK, Bounds::ROOT] {
        assert!(unpack(other, bytes, bounds).is_err(), "it has another name");
    }
    let Ok(plain) = zstd::bulk::decompress(bytes, Bounds::CHUNK.plain_bytes) else { return false };
    let read = unpack(ChunkHash::of(&plain), bytes, Bounds::CHUNK);
    assert!(read.is_err() || read.as_ref() == Ok(&plain));
    read.is_ok()
}
