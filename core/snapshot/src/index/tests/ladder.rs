//! Which parts of a tile index are stored inline, depending on its size.

use super::*;

/// Returns a level of one sheet, with stripes of two columns and tiles of two rows.
pub(super) fn grid(stripes: u32, tiles: u32) -> Level {
    let rows: Vec<(u32, u32)> = (0..tiles).map(|tile| (tile * 2, tile * 2 + 2)).collect();
    let stripes = (0..stripes).map(|at| stripe(span(at * 2, at * 2 + 2), &rows)).collect();
    Level { sheets: vec![sheet_of(0, stripes)] }
}

/// Returns how the root stores a level, the kinds of its chunks, and the number of sequential
/// requests to load it.
fn rung(level: &Level, limits: PackLimits) -> (&'static str, Vec<&'static str>, usize) {
    let (packed, objects) = pack_level(level, limits).unwrap();
    let root = match &packed.sheets[0].stripes {
        StripeIndex::Inline(_) => "index",
        StripeIndex::Parts(_) => "parts",
        StripeIndex::Chunk(_) => "chunk",
    };
    let chunks = store(&objects);
    let kind = |object: &PackedObject| match &chunks[&object.chunk.hash] {
        IndexChunk::Moves(_) => "moves",
        IndexChunk::Parts(_) => "parts",
        IndexChunk::Stripes(_) => "stripes",
        IndexChunk::Tiles(_) => "tiles",
    };
    let mut kinds: Vec<&str> = objects.iter().map(kind).collect();
    kinds.dedup();
    let rounds = fetch(&chunks, |loaded| packed.load_all(loaded)).1;
    (root, kinds, rounds)
}

#[test]
fn larger_levels_use_deeper_packaging() {
    let limits = |inline, chunk_bytes| PackLimits {
        inline_bytes: inline,
        inline_total_bytes: inline,
        chunk_bytes,
        referenced_bytes: u64::MAX,
    };
    assert_eq!(rung(&grid(4, 10), ROOT), ("index", vec![], 0));
    // One part: a chunk of the index.
    assert_eq!(rung(&grid(4, 10), limits(100, 1 << 20)), ("parts", vec!["stripes"], 1));
    // Several parts, with their list in the root or in a chunk.
    assert_eq!(rung(&grid(4, 10), limits(300, 1_000)), ("parts", vec!["stripes"], 1));
    assert_eq!(rung(&grid(4, 10), limits(50, 1_000)), ("chunk", vec!["stripes", "parts"], 2));
    // Rows in parts of their own.
    let tall = ("chunk", vec!["tiles", "stripes", "parts"], 3);
    assert_eq!(rung(&grid(4, 100), limits(20, 1_000)), tall);
    // Axis maps in a chunk as well.
    let tall = ("chunk", vec!["moves", "tiles", "stripes", "parts"], 3);
    assert_eq!(rung(&grid(4, 100), limits(0, 1_000)), tall);
}

#[test]
fn realistic_levels_need_few_reads() {
    // 10 million cells at 40,000 per tile; 100 million; a billion.
    let cells = |tiles| rung(&grid(1, tiles), PackLimits::LEVEL);
    assert_eq!(cells(250), ("index", vec![], 0));
    assert_eq!(cells(2_500), ("parts", vec!["stripes"], 1));
    assert_eq!(cells(25_000), ("index", vec!["tiles"], 1));
    assert_eq!(rung(&grid(128, 2_000), PackLimits::LEVEL), ("parts", vec!["stripes"], 1));
}

#[test]
fn the_size_depends_on_occupied_columns_not_on_their_distance() {
    let apart = |step: u32| {
        let rows: Vec<(u32, u32)> = (0..100).map(|tile| (tile * step, tile * step + 1)).collect();
        let stripes = vec![stripe(span(0, 1), &rows)];
        let (packed, _) = pack_level(&Level { sheets: vec![sheet_of(0, stripes)] }, ROOT).unwrap();
        minicbor::to_vec(&packed).unwrap().len()
    };
    assert!(apart(2) <= 100 * 60 && apart(10_000_000) <= 100 * 60);
}

#[test]
fn loading_moves_takes_at_most_one_read() {
    let mut level = grid(1, 1);
    level.sheets[0].moves.rows = AxisMap::insert(Axis::Rows, 3, 2);
    let moves = level.sheets[0].moves.clone();
    let none = PackLimits {
        inline_bytes: 0,
        inline_total_bytes: 0,
        chunk_bytes: 0,
        referenced_bytes: u64::MAX,
    };
    for (limits, rounds) in [(ROOT, 0), (none, 1)] {
        let (packed, objects) = pack_level(&level, limits).unwrap();
        let store = store(&objects);
        let ask = |number: u32, loaded: bool| {
            let by_hash = |hash: &ChunkHash| store.get(hash).filter(|_| loaded);
            match packed.moves(SheetId(number), &by_hash).unwrap() {
                Lookup::Missing(need) => Err(need.len()),
                Lookup::Ready(moves) => Ok(moves.cloned()),
            }
        };
        let of = |number| (ask(number, false), ask(number, true));
        let at_first = if rounds == 0 { Ok(Some(moves.clone())) } else { Err(rounds) };
        assert_eq!(of(0), (at_first, Ok(Some(moves.clone()))));
        assert_eq!(of(1), (Ok(None), Ok(None)));
    }
}
