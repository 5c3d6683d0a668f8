//! Invalid imports: each is rejected, nothing is appended, and nothing invalid is published.

use cellar_base::limits::{
    MAX_CHUNK_BYTES, MAX_IMPORT_OBJECT_BYTES, MAX_IMPORT_OBJECTS, MAX_STORED_CHUNK_BYTES,
};
use cellar_log::entry::encode_external_body;
use uuid::Uuid;

use cellar_sheet::axis_map::{Axis, AxisMap};

use super::*;

/// Limits with stripes in chunks, and their list in the operation.
const LIST: PackLimits = PackLimits {
    inline_bytes: 60,
    inline_total_bytes: 200,
    chunk_bytes: 4_096,
    referenced_bytes: u64::MAX,
};

/// A sheet of one tile.
fn one_tile(chunk: ChunkRef, limits: PackLimits) -> Sheet {
    Sheet::of(vec![Stripe { columns: columns(0), tiles: vec![place(0, chunk)] }], limits)
}

/// A sheet with one tile in two places.
fn twice(one: ChunkRef, two: ChunkRef) -> Sheet {
    Sheet::of(
        vec![Stripe { columns: columns(0), tiles: vec![place(0, one), place(ROWS, two)] }],
        FLAT,
    )
}

fn object(bytes: &[u8]) -> PackedObject {
    pack(bytes, Bounds::CHUNK).unwrap()
}

/// Tries an uploaded chunk in the place of a tile, both in the operation and in an index chunk.
async fn refused_as_tile(world: &World, chunk: ChunkRef) -> ImportFault {
    let in_operation = fault(world.append(vec![one_tile(chunk, FLAT).operation()]).await);
    let deep = one_tile(chunk, DEEP);
    let index = &deep.chunks[0];
    if world.state(index.chunk.hash).await.is_none() {
        world.upload(index).await;
    }
    assert_eq!(fault(world.check(index.chunk).await), in_operation);
    assert_eq!(world.state(index.chunk.hash).await, Some(State::Staged), "it was published");
    assert_ne!(world.state(chunk.hash).await, Some(State::Published), "it was published");
    assert_eq!(world.head().await, Position::FIRST);
    in_operation
}

#[tokio::test]
async fn rejects_a_chunk_that_is_not_a_tile() {
    let world = World::new().await;
    let good = tile(1);
    let bomb = zstd_bomb();
    let index = one_tile(good.chunk, DEEP).chunks.remove(0);
    let noise: Vec<u8> = (0..300_u32).map(|at| (at * at % 251) as u8).collect();
    let noise = object(&noise);
    let cut = &noise.stored[..noise.stored.len() - 1];
    let plain = b"not compressed".to_vec();
    for (what, hash, stored, why) in [
        ("another tile", ChunkHash([1; 32]), good.stored.clone(), "does not match its hash"),
        ("no tile", noise.chunk.hash, noise.stored.clone(), "not a chunk"),
        ("an index", index.chunk.hash, index.stored.clone(), "not a chunk"),
        ("half a frame", ChunkHash([2; 32]), cut.to_vec(), "not a single complete zstd frame"),
        ("no frame", ChunkHash::of(&plain), plain, "not a single complete zstd frame"),
        ("a bomb", bomb.chunk.hash, bomb.stored, "at most"),
    ] {
        let bytes = u32::try_from(stored.len()).unwrap();
        assert_eq!(world.upload_as(hash, &stored).await, 200, "{what}");
        let fault = refused_as_tile(&world, ChunkRef { hash, bytes }).await;
        let ImportFault::Unreadable { hash: named, why: said } = &fault else {
            panic!("{fault:?}")
        };
        assert!(*named == hash && said.contains(why), "{what}: {said}");
    }
    let hash = ChunkHash([9; 32]);
    let missing = refused_as_tile(&world, ChunkRef { hash, bytes: 100 }).await;
    assert_eq!(missing, ImportFault::Missing { hash });
}

/// A zstd frame of zeros that decompresses to more bytes than any object may have.
fn zstd_bomb() -> PackedObject {
    let zeros = vec![0; MAX_CHUNK_BYTES + 1];
    let bounds = Bounds { plain_bytes: zeros.len(), ..Bounds::CHUNK };
    let bomb = pack(&zeros, bounds).unwrap();
    assert!(bomb.stored.len() < 2_000);
    bomb
}

#[tokio::test]
async fn rejects_a_tile_that_differs_from_the_index() {
    let world = World::new().await;
    let good = tile(1);
    world.upload(&good).await;
    let ChunkRef { hash, bytes } = good.chunk;
    let longest = u32::try_from(MAX_STORED_CHUNK_BYTES).unwrap();
    let with = |change: fn(&mut StripeTile)| {
        let mut place = place(0, ChunkRef { hash, bytes });
        change(&mut place);
        Sheet::of(vec![Stripe { columns: columns(0), tiles: vec![place] }], FLAT)
    };
    for (sheet, why) in [
        (with(|place| place.rows.count = ROWS - 1), "outside the bounds declared"),
        (with(|place| place.cells = 2), "number of cells in a tile"),
        (one_tile(ChunkRef { hash, bytes: 3 * bytes + 65 }, FLAT), "bytes"),
        (one_tile(ChunkRef { hash, bytes: longest }, FLAT), "bytes"),
        (
            twice(good.chunk, ChunkRef { hash, bytes: longest }),
            "length does not match the tile index",
        ),
    ] {
        let fault = fault(world.append(vec![sheet.operation()]).await);
        let ImportFault::Unreadable { why: said, .. } = &fault else { panic!("{fault:?}") };
        assert!(said.contains(why), "{said}");
    }
    // The stated length is less than half of the actual length.
    let large = large_tile();
    world.upload(&large).await;
    let short = ChunkRef { bytes: large.chunk.bytes / 2 - 33, ..large.chunk };
    assert!(matches!(
        fault(world.append(vec![one_tile(short, FLAT).operation()]).await),
        ImportFault::Unreadable { .. }
    ));
    assert_eq!(world.head().await, Position::FIRST);
    // A small difference is accepted, since another release may compress differently.
    let about = ChunkRef { bytes: bytes + 9, hash };
    world.append(vec![one_tile(about, FLAT).operation()]).await.unwrap();
}

/// A tile whose chunk is incompressible.
fn large_tile() -> PackedObject {
    let mut column = TileColumn::new(0);
    let noise = ChunkHash::of(b"large").to_string().repeat(9);
    column.values.push_text(0, &noise);
    let hashes = (0..40_u32).map(|at| ChunkHash::of(&at.to_le_bytes()).to_string());
    (1..).zip(hashes).for_each(|(row, text)| column.values.push_text(row, &text));
    packed_tile(&Tile { columns: vec![column] })
}

#[tokio::test]
async fn rejects_a_column_outside_of_its_stripe() {
    let world = World::new().await;
    let wide = |column: u32| {
        let mut wide = TileColumn::new(column);
        wide.values.push(0, TileValue::Bool(true));
        packed_tile(&Tile { columns: vec![wide] })
    };
    let (inside, outside) = (wide(MIN_STRIPE_COLUMNS - 1), wide(MIN_STRIPE_COLUMNS));
    world.upload(&inside).await;
    world.upload(&outside).await;
    let fault_of = async |sheet: Sheet| fault(world.append(vec![sheet.operation()]).await);
    let refused = fault_of(one_tile(outside.chunk, FLAT)).await;
    assert!(matches!(refused, ImportFault::Unreadable { .. }), "{refused:?}");
    for columns in [Span { first: 0, count: 256 }, Span { first: 64, count: 128 }] {
        let tiles = || vec![place(0, inside.chunk), place(ROWS, inside.chunk)];
        let stripe = || vec![Stripe { columns, tiles: tiles() }];
        let refused = fault_of(Sheet::of(stripe(), FLAT)).await;
        assert!(matches!(refused, ImportFault::Index { .. }), "{refused:?}");
        let deep = Sheet::of(stripe(), LIST);
        let [index] = deep.chunks.as_slice() else { panic!("{:?}", deep.chunks) };
        world.upload(index).await;
        let refused = fault(world.check(index.chunk).await);
        assert!(matches!(refused, ImportFault::Unreadable { .. }), "{refused:?}");
        // Even if a snapshot worker has stored the chunk for a level.
        world.put(index).await;
        let refused = fault_of(deep).await;
        assert!(matches!(refused, ImportFault::Unreadable { .. }), "{refused:?}");
    }
    world.append(vec![one_tile(inside.chunk, FLAT).operation()]).await.unwrap();
}

#[tokio::test]
async fn chunks_of_an_index_are_checked_from_the_bottom_up() {
    let (world, sheet) = (World::new().await, Sheet::new(9, 9, DEEP));
    for object in &sheet.tiles {
        world.upload(object).await;
    }
    let top = sheet.chunks.last().unwrap().chunk;
    let StripeIndex::Chunk(named) = &sheet.stripes else { panic!("{:?}", sheet.stripes) };
    assert_eq!(*named, top);
    let unchecked = ImportFault::Unchecked { hash: top.hash };
    assert_eq!(fault(world.append(vec![sheet.operation()]).await), unchecked);
    for object in &sheet.chunks {
        world.upload(object).await;
    }
    // From the top down, only lists of tiles can be checked.
    for object in sheet.chunks.iter().rev() {
        let is_list = kind_of(object) == "tiles";
        let checked = world.check(object.chunk).await;
        assert_eq!(checked.is_ok(), is_list, "{checked:?}");
        if !is_list {
            assert!(matches!(fault(checked), ImportFault::Unchecked { .. }));
            assert_eq!(world.state(object.chunk.hash).await, Some(State::Staged));
        }
    }
    assert_eq!(fault(world.append(vec![sheet.operation()]).await), unchecked);
    assert_eq!(world.head().await, Position::FIRST);
    world.check_all(&sheet).await.unwrap();
    // A missing chunk in the middle is reported, even if the top was checked.
    let list = sheet.chunks.iter().find(|object| kind_of(object) == "tiles").unwrap();
    world.delete(list.chunk.hash).await;
    let above = sheet.chunks.iter().filter(|object| kind_of(object) == "stripes");
    let mut missed = 0;
    for object in above {
        if let Err(error) = world.check(object.chunk).await {
            assert_eq!(error, ImportFault::Unchecked { hash: list.chunk.hash }.into());
            missed += 1;
        }
    }
    assert_eq!(missed, 1);
    world.upload(list).await;
    world.check_all(&sheet).await.unwrap();
    world.append(vec![sheet.operation()]).await.unwrap();
    assert_eq!(world.shown().await, sheet.numbers());
}

fn kind_of(object: &PackedObject) -> &'static str {
    super::appends::kind(object)
}

#[tokio::test]
async fn rejects_an_index_chunk_in_another_place() {
    let (world, sheet) = (World::new().await, Sheet::new(9, 9, DEEP));
    world.upload_all(&sheet).await;
    world.check_all(&sheet).await.unwrap();
    let good = tile(0).chunk;
    let moves = pack_level(&moving_level(), DEEP).unwrap().1.remove(0);
    let inline = one_inline_tile();
    for object in [&moves, &inline] {
        world.put(object).await;
    }
    // Only a list of parts is valid as the top of a sheet's index.
    let mut refused = 0;
    for chunk in [good, moves.chunk].into_iter().chain(sheet.chunks.iter().map(|it| it.chunk)) {
        let top = Sheet { stripes: StripeIndex::Chunk(chunk), ..sheet.clone() };
        match world.append(vec![top.operation()]).await {
            Ok(_) => assert_eq!(chunk, sheet.chunks.last().unwrap().chunk),
            error => {
                assert!(matches!(fault(error), ImportFault::Unreadable { .. }));
                refused += 1;
            }
        }
    }
    assert_eq!(refused, sheet.chunks.len() + 1);
    // Only chunks of an import's index are accepted alone.
    for chunk in [good, moves.chunk, inline.chunk] {
        let refused = fault(world.check(chunk).await);
        assert!(matches!(refused, ImportFault::Unreadable { .. }), "{refused:?}");
    }
}

/// A level whose moves are stored in a chunk.
fn moving_level() -> Level {
    let gone: Vec<Span> = (0..40).map(|at| Span { first: at * 10, count: 5 }).collect();
    let rows = AxisMap::delete(Axis::Rows, &cellar_sheet::operation::Spans::from_sorted(gone));
    let moves = SheetMoves { rows, ..SheetMoves::default() };
    assert!(!moves.has_no_effect());
    Level { sheets: vec![LevelSheet { sheet: SHEET, moves, stripes: vec![] }] }
}

/// An index chunk with an inline tile, as small levels have.
fn one_inline_tile() -> PackedObject {
    let rows = Span { first: 0, count: ROWS };
    let stored = StoredTile::Inline(vec![7; 100]);
    let tiles = vec![StripeTile { rows, cells: 1, stored, formulas: None }];
    Sheet::of(vec![Stripe { columns: columns(0), tiles }], DEEP).chunks.remove(0)
}

#[tokio::test]
async fn an_upload_replaces_no_object() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 9, DEEP));
    world.upload_all(&sheet).await;
    for state in [State::Staged, State::Published] {
        for object in sheet.objects() {
            assert_eq!(world.state(object.chunk.hash).await, Some(state));
            for bytes in [&object.stored[..], b"other bytes"] {
                assert_eq!(world.upload_as(object.chunk.hash, bytes).await, 412);
            }
        }
        world.check_all(&sheet).await.unwrap();
    }
    // After its upload has expired, a client may upload other bytes, which are not read.
    world.expire(&sheet).await;
    for object in sheet.objects() {
        assert_eq!(world.upload_as(object.chunk.hash, b"other bytes").await, 200);
    }
    let other = Sheet { tiles: vec![], chunks: vec![], ..sheet.clone() };
    assert!(world.append(vec![other.operation()]).await.is_ok());
    assert_eq!(world.shown().await, sheet.numbers());
}

#[tokio::test]
async fn a_request_is_bounded() {
    let world = World::new().await;
    let chunk = |at: usize, bytes: usize| ChunkRef {
        hash: ChunkHash::of(&at.to_le_bytes()),
        bytes: u32::try_from(bytes).unwrap(),
    };
    let uploads = |count: usize, bytes: usize| {
        let upload = |at| ChunkToUpload { chunk: chunk(at, bytes), sha256: [0; 32] };
        (0..count).map(upload).collect::<Vec<_>>()
    };
    let grant =
        async |uploads: Vec<ChunkToUpload>| world.logs.grant_chunks(log(), CLIENT, &uploads).await;
    let most = grant(uploads(MAX_IMPORT_OBJECTS, MAX_STORED_CHUNK_BYTES)).await.unwrap();
    assert_eq!(most.len(), MAX_IMPORT_OBJECTS);
    let objects = MAX_IMPORT_OBJECTS + 1;
    assert_eq!(fault(grant(uploads(objects, 1)).await), ImportFault::TooMany { objects });
    assert_eq!(fault(grant(vec![]).await), ImportFault::Nothing);
    for bytes in [0, MAX_STORED_CHUNK_BYTES + 1] {
        let refused = fault(grant(uploads(1, bytes)).await);
        assert!(matches!(refused, ImportFault::ChunkLength { .. }), "{refused:?}");
        let refused = world.logs.publish_chunks(log(), CLIENT, &[chunk(0, bytes)], None).await;
        assert!(matches!(fault(refused), ImportFault::ChunkLength { .. }));
        assert!(matches!(
            fault(world.check(chunk(0, bytes)).await),
            ImportFault::ChunkLength { .. }
        ));
    }
    let tiles = |count| (0..count).map(|at| chunk(at, 1)).collect::<Vec<_>>();
    let check =
        async |tiles: Vec<ChunkRef>| world.logs.publish_chunks(log(), CLIENT, &tiles, None).await;
    assert!(matches!(fault(check(tiles(MAX_IMPORT_OBJECTS)).await), ImportFault::Missing { .. }));
    assert_eq!(fault(check(tiles(objects)).await), ImportFault::TooMany { objects });
    assert_eq!(fault(check(vec![]).await), ImportFault::Nothing);
}

#[tokio::test]
async fn an_index_is_bounded_alone_and_all_imports_of_a_request_together() {
    let world = World::new().await;
    let longest = u32::try_from(MAX_STORED_CHUNK_BYTES).unwrap();
    let of = |tiles: u32, bytes: u32, limits| {
        let chunk = |at: u32| ChunkRef { hash: ChunkHash::of(&at.to_le_bytes()), bytes };
        let tiles = (0..tiles).map(|at| place(at * ROWS, chunk(at))).collect();
        Sheet::of(vec![Stripe { columns: columns(0), tiles }], limits)
    };
    let wide = PackLimits {
        inline_bytes: 16_000,
        inline_total_bytes: 16_000,
        chunk_bytes: 16_000,
        referenced_bytes: u64::MAX,
    };
    let in_chunk = PackLimits { inline_bytes: 60, ..wide };
    let count = u32::try_from(MAX_IMPORT_OBJECTS).unwrap();
    let most_bytes = u32::try_from(MAX_IMPORT_OBJECT_BYTES).unwrap() / longest;
    // Chunks within the bounds are looked up and reported as missing.
    for (tiles, bytes, bounded) in [
        (count, 1, true),
        (count + 1, 1, false),
        (most_bytes, longest, true),
        (most_bytes + 1, longest, false),
    ] {
        let inline = of(tiles, bytes, wide);
        assert!(inline.chunks.is_empty());
        let refused = fault(world.append(vec![inline.operation()]).await);
        assert_eq!(matches!(refused, ImportFault::Missing { .. }), bounded, "{refused:?}");
        let chunk = of(tiles, bytes, in_chunk).chunks.pop().unwrap();
        world.upload(&chunk).await;
        let refused = fault(world.check(chunk.chunk).await);
        assert_eq!(matches!(refused, ImportFault::Missing { .. }), bounded, "{refused:?}");
    }
    let half = |tiles| of(tiles, 1, wide).operation();
    let together = fault(world.append(vec![half(count / 2), half(count / 2)]).await);
    assert!(matches!(together, ImportFault::Missing { .. }), "{together:?}");
    let objects = MAX_IMPORT_OBJECTS + 1;
    let together = fault(world.append(vec![half(count / 2), half(count / 2 + 1)]).await);
    assert_eq!(together, ImportFault::TooMany { objects });
}

#[tokio::test]
async fn an_incomplete_import_rejects_the_whole_request() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 2, FLAT));
    world.upload_all(&sheet).await;
    let hash = ChunkHash([9; 32]);
    let missing = one_tile(ChunkRef { hash, bytes: 50 }, FLAT).operation_for(SheetId(2));
    let mixed = vec![set(0, "an edit"), sheet.operation(), missing];
    assert_eq!(fault(world.append(mixed).await), ImportFault::Missing { hash });
    assert_eq!(world.head().await, Position::FIRST);
    world.append(vec![set(0, "an edit"), sheet.operation()]).await.unwrap();
    assert_eq!(world.shown().await, sheet.numbers());
}

#[tokio::test]
async fn rejects_an_import_in_an_uploaded_body() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 1, FLAT));
    world.upload_all(&sheet).await;
    let bytes = encode_external_body(&[sheet.operation()]).unwrap();
    let (length, sha256) = (bytes.len() as u64, sha256(&bytes));
    let upload = Uuid::from_bytes([5; 16]);
    let granted = world.logs.grant_upload(log(), upload, length, sha256).await.unwrap();
    assert_eq!(world.blobs.upload(granted, &bytes), 200);
    let completion = Completion {
        upload,
        bytes: length,
        sha256,
        client: ClientKey([1; 8]),
        author: None,
        incarnation: FIRST_INCARNATION,
        acknowledged: 0,
        first_id: 1,
        base: Position::FIRST,
    };
    let refused = world.logs.complete_upload(log(), completion).await;
    assert!(matches!(refused, Err(LogError::Upload(UploadFault::Unreadable(_)))), "{refused:?}");
    assert_eq!(world.head().await, Position::FIRST);
}

#[tokio::test]
async fn a_missing_log_is_reported_before_any_check() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 1, DEEP));
    let other = LogId::derive(&SubjectKey::new("cellar", "alice"), "another").unwrap();
    let chunk = sheet.chunks[0].chunk;
    let upload = ChunkToUpload { chunk, sha256: [0; 32] };
    assert_eq!(world.logs.grant_chunks(other, CLIENT, &[upload]).await, Err(LogError::NotFound));
    assert_eq!(
        world.logs.publish_chunks(other, CLIENT, &[], Some(&chunk)).await,
        Err(LogError::NotFound)
    );
    let mutation = NewMutation { id: 1, base: Position::FIRST, operation: sheet.operation() };
    let request =
        Request::new(other, ClientKey([1; 8]), None, FIRST_INCARNATION, 0, vec![mutation]).unwrap();
    assert_eq!(world.logs.append(request).await, Err(LogError::NotFound));
}
