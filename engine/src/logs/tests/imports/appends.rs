//! Imports that succeed exactly once, whatever fails in between.

use cellar_base::limits::IMPORT_CHECKS_AT_ONCE;

use super::*;

#[tokio::test]
async fn a_sheet_is_uploaded_checked_appended_and_read() {
    // Everything in the operation; tall stripes in parts; stripes in parts; a list of parts.
    let mut kinds = Vec::new();
    for (stripes, tiles, limits) in [(2, 3, FLAT), (1, 9, DEEP), (9, 1, DEEP), (9, 9, DEEP)] {
        let (world, sheet) = (World::new().await, Sheet::new(stripes, tiles, limits));
        kinds.extend(sheet.chunks.iter().map(kind));
        world.upload_all(&sheet).await;
        world.check_all(&sheet).await.unwrap();
        let appended = world.append(vec![sheet.operation()]).await.unwrap();
        assert_eq!(appended.results[0].position, Some(at(0, 1)));
        assert_eq!(world.shown().await, sheet.numbers(), "{stripes} stripes of {tiles} tiles");
        for object in sheet.objects() {
            assert_eq!(world.state(object.chunk.hash).await, Some(State::Published));
        }
        // The sheet does not exist before the import.
        let query = CellsQuery { sheet: SheetName::Number(SHEET), ..everything(Some(at(0, 0))) };
        let before = world.logs.cells(log(), &query).await;
        assert_eq!(before, Err(LogError::UnknownSheet { sheet: "1".to_owned() }));
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, ["parts", "stripes", "tiles"]);
}

pub(super) fn kind(object: &PackedObject) -> &'static str {
    use cellar_snapshot::packed::unpack;
    let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
    match IndexChunk::decode(&bytes).unwrap() {
        IndexChunk::Moves(_) => "moves",
        IndexChunk::Parts(_) => "parts",
        IndexChunk::Stripes(_) => "stripes",
        IndexChunk::Tiles(_) => "tiles",
    }
}

#[tokio::test]
async fn an_import_survives_lost_and_repeated_requests() {
    let sheet = Sheet::new(3, 3, DEEP);
    let (mut call, mut last) = (0, 1);
    while call < last {
        for fault in [Fault::Refused, Fault::ReplyLost] {
            let world = World::with_fault(call, fault).await;
            world.upload_all(&sheet).await;
            // Each request is also sent twice.
            for _ in 0..2 {
                world.check_all(&sheet).await.unwrap();
            }
            let first = world.append(vec![sheet.operation()]).await.unwrap();
            let again = world.append(vec![sheet.operation()]).await.unwrap();
            assert_eq!(again.results[0].position, first.results[0].position);
            assert!(again.results[0].duplicate && !first.results[0].duplicate);
            last = world.blobs.faults.requests();
            // A lost reply of a read has no effect.
            if call < last {
                assert_eq!(world.shown().await, sheet.numbers());
            }
        }
        call += 1;
    }
    assert!(last > 50, "{last} requests, each of which failed once");
}

#[tokio::test]
async fn a_repeated_import_needs_no_chunks() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 3, FLAT));
    world.upload_all(&sheet).await;
    let two = || vec![sheet.operation(), sheet.operation_for(SheetId(2))];
    let first = world.append(two()).await.unwrap();
    for object in sheet.objects() {
        world.delete(object.chunk.hash).await;
    }
    let calls = world.blobs.faults.requests();
    for logs in [&world.logs, &world.another()] {
        let again = logs.append(import_request(two(), Position::FIRST)).await.unwrap();
        assert!(again.results.iter().all(|result| result.duplicate), "{again:?}");
        assert_eq!(again.results[1].position, first.results[1].position);
    }
    assert_eq!(world.blobs.faults.requests(), calls, "nothing was looked at");
    // A mutation after the import in the same request is new.
    let three = [two(), vec![sheet.operation_for(SheetId(3))]].concat();
    for logs in [&world.logs, &world.another()] {
        let behind = logs.append(import_request(three.clone(), Position::FIRST)).await;
        assert!(matches!(fault(behind), ImportFault::Missing { .. }));
    }
    // The first mutation of another client is new as well.
    let other = NewMutation { id: 1, base: Position::FIRST, operation: sheet.operation() };
    let other =
        Request::new(log(), ClientKey([2; 8]), None, FIRST_INCARNATION, 0, vec![other]).unwrap();
    assert!(matches!(fault(world.logs.append(other).await), ImportFault::Missing { .. }));
    assert_eq!(world.head().await, at(0, 1));
}

#[tokio::test]
async fn acknowledged_imports_are_not_checked() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 1, FLAT));
    world.upload_all(&sheet).await;
    world.append(vec![sheet.operation()]).await.unwrap();
    world.delete(sheet.tiles[0].chunk.hash).await;
    let base = at(0, 1);
    let mutation = NewMutation { id: 1, base, operation: sheet.operation() };
    let request =
        Request::new(log(), ClientKey([1; 8]), None, FIRST_INCARNATION, 1, vec![mutation]).unwrap();
    assert!(world.logs.append(request).await.unwrap().results[0].duplicate);
}

#[tokio::test]
async fn an_object_of_a_snapshot_worker_is_published() {
    let (world, sheet) = (World::new().await, Sheet::new(3, 3, DEEP));
    for object in sheet.objects() {
        world.put(object).await;
    }
    world.append(vec![sheet.operation()]).await.unwrap();
    assert_eq!(world.shown().await, sheet.numbers());
}

#[tokio::test]
async fn an_old_object_is_rewritten_before_it_is_referenced() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 9, DEEP));
    world.upload_all(&sheet).await;
    world.check_all(&sheet).await.unwrap();
    world.expire(&sheet).await;
    let (tile, part) = (sheet.tiles[0].chunk.hash, &sheet.chunks[0]);
    let uploaded_s = world.modified_s(tile).await;
    world.age_s(MAX_UPLOAD_AGE_S);
    world.check_all(&sheet).await.unwrap();
    assert_eq!(world.modified_s(tile).await, uploaded_s, "a day is not old");
    world.age_s(1);
    let later_s = uploaded_s + MAX_UPLOAD_AGE_S + 1;
    // The checked upload has expired: the import must be checked again.
    let hash = sheet.chunks.last().unwrap().chunk.hash;
    assert_eq!(fault(world.append(vec![sheet.operation()]).await), ImportFault::TooOld { hash });
    world.check(part.chunk).await.unwrap();
    for renewed in [tile, part.chunk.hash] {
        assert_eq!(world.modified_s(renewed).await, later_s);
        assert_eq!(world.state(renewed).await, Some(State::Published));
    }
    world.check_all(&sheet).await.unwrap();
    world.append(vec![sheet.operation()]).await.unwrap();
    assert_eq!(world.shown().await, sheet.numbers());
    // Stores the object like a snapshot worker.
    let GetOutcome::Found { head, bytes } =
        world.blobs.blobs.get(&super::key(tile), u64::MAX).await.unwrap()
    else {
        panic!("it is gone")
    };
    let expected = stored_by_worker(&sheet.tiles[0]);
    assert_eq!(
        (head.content_type, head.content_encoding),
        (expected.content_type, expected.content_encoding)
    );
    assert_eq!(bytes, expected.bytes);
}

#[tokio::test]
async fn an_old_pending_object_is_rewritten() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 2, FLAT));
    world.upload_all(&sheet).await;
    world.age_s(MAX_UPLOAD_AGE_S + 1);
    world.append(vec![sheet.operation()]).await.unwrap();
    for object in sheet.objects() {
        assert_eq!(world.state(object.chunk.hash).await, Some(State::Published));
    }
}

#[tokio::test]
async fn bounds_concurrent_reads_of_objects() {
    let (world, sheet) = (World::new().await, Sheet::new(1, 40, FLAT));
    world.upload_all(&sheet).await;
    world.append(vec![sheet.operation()]).await.unwrap();
    assert_eq!(world.blobs.faults.most_running(), IMPORT_CHECKS_AT_ONCE);
}

#[tokio::test]
async fn a_tile_in_many_places_is_read_once() {
    let (world, same) = (World::new().await, tile(7));
    let tiles = (0..20).map(|at| place(at * ROWS, same.chunk)).collect();
    let sheet = Sheet::of(vec![Stripe { columns: columns(0), tiles }], FLAT);
    world.upload(&same).await;
    let before = world.blobs.faults.requests();
    world.append(vec![sheet.operation()]).await.unwrap();
    assert_eq!(world.blobs.faults.requests() - before, 2, "read and published");
}
