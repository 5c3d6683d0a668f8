//! Long texts of imports: a tile is published only after all texts that it references.

use cellar_base::limits::{MAX_IMPORT_OBJECTS, MAX_TEXT_BYTES, MAX_TILE_LONG_TEXTS};
use cellar_snapshot::tile::{NamedText, preview};

use super::*;

/// Returns a tile that references these texts in one column.
pub(crate) fn naming(texts: &[NamedText]) -> PackedObject {
    let mut column = TileColumn::new(0);
    for (row, text) in (0..).zip(texts) {
        column.values.push_long_text(row, &text.preview, text.hash.0, text.bytes);
    }
    packed_tile(&Tile { columns: vec![column] })
}

pub(crate) fn named(text: &str) -> NamedText {
    NamedText {
        hash: ChunkHash::of(text.as_bytes()),
        bytes: u32::try_from(text.len()).unwrap(),
        preview: preview(text).to_owned(),
    }
}

pub(crate) fn long(number: usize) -> String {
    format!("{number} ").repeat(5_000)
}

/// A sheet of one tile.
pub(crate) fn sheet_of(tile: &PackedObject, cells: usize, limits: PackLimits) -> Sheet {
    let rows = Span { first: 0, count: u32::try_from(cells).unwrap() };
    let stored = StoredTile::Chunk(tile.chunk);
    let place = StripeTile { rows, cells: rows.count, stored, formulas: None };
    Sheet::of(vec![Stripe { columns: columns(0), tiles: vec![place] }], limits)
}

impl World {
    /// Tries a tile with texts in every way in which it could become part of the log.
    async fn refused_in_every_way(&self, tile: &PackedObject, cells: usize) -> ImportFault {
        let refused = fault(self.append(vec![sheet_of(tile, cells, FLAT).operation()]).await);
        let deep = sheet_of(tile, cells, DEEP);
        let index = &deep.chunks[0];
        if self.state(index.chunk.hash).await.is_none() {
            self.upload(index).await;
        }
        assert_eq!(fault(self.check(index.chunk).await), refused);
        assert_eq!(fault(self.check_tile(tile.chunk).await), refused);
        for object in [tile, index] {
            assert_ne!(self.state(object.chunk.hash).await, Some(State::Published));
        }
        assert_eq!(self.head().await, Position::FIRST);
        refused
    }

    async fn check_tile(&self, tile: ChunkRef) -> Result<u32, LogError> {
        self.logs.publish_chunks(log(), CLIENT, &[tile], None).await
    }
}

#[tokio::test]
async fn rejects_a_tile_with_a_missing_text() {
    let world = World::new().await;
    let (there, missing) = (long(1), long(2));
    let tile = naming(&[named(&there), named(&missing)]);
    world.upload(&tile).await;
    world.upload(&pack(there.as_bytes(), Bounds::TEXT).unwrap()).await;
    let hash = named(&missing).hash;
    assert_eq!(world.refused_in_every_way(&tile, 2).await, ImportFault::Missing { hash });
    // Uploads of another client, or to another log, do not count.
    let text = pack(missing.as_bytes(), Bounds::TEXT).unwrap();
    let other = ChunkToUpload { chunk: text.chunk, sha256: sha256(&text.stored) };
    let granted = world.logs.grant_chunks(log(), ClientKey([2; 8]), &[other]).await.unwrap();
    assert_eq!(world.blobs.upload(granted.into_iter().next().unwrap(), &text.stored), 200);
    assert_eq!(world.refused_in_every_way(&tile, 2).await, ImportFault::Missing { hash });
    world.upload(&text).await;
    world.append(vec![sheet_of(&tile, 2, FLAT).operation()]).await.unwrap();
    assert_eq!(world.shown().await, [there, missing]);
}

#[tokio::test]
async fn rejects_a_tile_with_a_different_text() {
    let world = World::new().await;
    let text = long(1);
    let packed = pack(text.as_bytes(), Bounds::TEXT).unwrap();
    world.upload(&packed).await;
    let (not_text, too_long) = (vec![0xff; 5_000], "x".repeat(MAX_TEXT_BYTES + 1));
    for bytes in [&not_text[..], too_long.as_bytes()] {
        world.upload(&pack(bytes, Bounds::CHUNK).unwrap()).await;
    }
    let garbage = ChunkHash([9; 32]);
    assert_eq!(world.upload_as(garbage, &packed.stored).await, 200);
    let good = named(&text);
    for (wrong, why) in [
        (NamedText { bytes: good.bytes + 1, ..good.clone() }, "a wrong length"),
        (NamedText { preview: "other".to_owned(), ..good.clone() }, "does not match the text"),
        (NamedText { hash: ChunkHash::of(&not_text), ..good.clone() }, "UTF-8"),
        (NamedText { hash: ChunkHash::of(too_long.as_bytes()), ..good.clone() }, "at most"),
        (NamedText { hash: garbage, ..good.clone() }, "does not match its hash"),
    ] {
        let tile = naming(&[good.clone(), wrong.clone()]);
        world.upload(&tile).await;
        let refused = world.refused_in_every_way(&tile, 2).await;
        let ImportFault::Unreadable { hash, why: said } = &refused else { panic!("{refused:?}") };
        assert!(*hash == wrong.hash && said.contains(why), "{said}");
        let is_published = world.state(wrong.hash).await == Some(State::Published);
        assert!(!is_published || wrong.hash == good.hash, "{why}");
    }
}

#[tokio::test]
async fn texts_of_a_published_tile_are_not_read_again() {
    let world = World::new().await;
    let texts: Vec<String> = (0..MAX_IMPORT_OBJECTS).map(long).collect();
    let named: Vec<NamedText> = texts.iter().map(|text| named(text)).collect();
    let tile = naming(&named);
    world.upload(&tile).await;
    for text in &texts {
        world.upload(&pack(text.as_bytes(), Bounds::TEXT).unwrap()).await;
    }
    let deep = sheet_of(&tile, texts.len(), DEEP);
    world.upload_all(&deep).await;
    // One text more than a request may check in addition to the tile.
    let (hash, count) = (tile.chunk.hash, texts.len());
    let refused = fault(world.check(deep.chunks[0].chunk).await);
    assert_eq!(refused, ImportFault::TooManyTexts { hash, texts: count, most: count - 1 });
    assert_eq!(world.check_tile(tile.chunk).await, Ok(1));
    let before = world.blobs.faults.requests();
    world.check(deep.chunks[0].chunk).await.unwrap();
    // The index is read and published; the published tile is read and published again.
    assert_eq!(world.blobs.faults.requests() - before, 5);
    world.check_all(&deep).await.unwrap();
    world.append(vec![deep.operation()]).await.unwrap();
    let first_page = world.shown().await;
    assert!(!first_page.is_empty() && texts.starts_with(&first_page));
}

#[tokio::test]
async fn bounds_the_texts_of_a_request() {
    let world = World::new().await;
    let text = |at: usize| NamedText {
        hash: ChunkHash::of(&at.to_le_bytes()),
        bytes: 5_000,
        preview: String::new(),
    };
    let tile_of = |texts: std::ops::Range<usize>| naming(&texts.map(text).collect::<Vec<_>>());
    for (count, is_bounded) in [(MAX_TILE_LONG_TEXTS, true), (MAX_TILE_LONG_TEXTS + 1, false)] {
        let tile = tile_of(0..count);
        world.upload(&tile).await;
        let refused = fault(world.check_tile(tile.chunk).await);
        assert_eq!(matches!(refused, ImportFault::Missing { .. }), is_bounded, "{refused:?}");
    }
    // Two tiles, and the remaining budget for their texts.
    let left = MAX_IMPORT_OBJECTS - 2;
    for (count, is_bounded) in [(left, true), (left + 1, false)] {
        let tiles = [tile_of(0..1), tile_of(1..count)];
        let chunks: Vec<ChunkRef> = tiles.iter().map(|tile| tile.chunk).collect();
        for tile in &tiles {
            if world.state(tile.chunk.hash).await.is_none() {
                world.upload(tile).await;
            }
        }
        let refused = fault(world.logs.publish_chunks(log(), CLIENT, &chunks, None).await);
        // Both tiles are read concurrently: either fault may be reported first.
        let expected = |refused: &ImportFault| match refused {
            ImportFault::Missing { .. } => true,
            ImportFault::TooManyTexts { .. } => !is_bounded,
            _ => false,
        };
        assert!(expected(&refused), "{refused:?}");
    }
}

#[tokio::test]
async fn texts_of_an_old_tile_are_renewed_with_it() {
    let world = World::new().await;
    let text = long(1);
    let (tile, packed) = (naming(&[named(&text)]), pack(text.as_bytes(), Bounds::TEXT).unwrap());
    let sheet = Sheet { tiles: vec![tile.clone(), packed.clone()], ..sheet_of(&tile, 1, FLAT) };
    world.upload_all(&sheet).await;
    world.check_tile(tile.chunk).await.unwrap();
    world.expire(&sheet).await;
    let published_s = world.modified_s(packed.chunk.hash).await;
    world.age_s(MAX_UPLOAD_AGE_S);
    world.check_tile(tile.chunk).await.unwrap();
    assert_eq!(world.modified_s(packed.chunk.hash).await, published_s, "a day is not old");
    world.age_s(1);
    world.append(vec![sheet.operation()]).await.unwrap();
    for object in sheet.objects() {
        let renewed_s = world.modified_s(object.chunk.hash).await;
        assert_eq!(renewed_s, published_s + MAX_UPLOAD_AGE_S + 1);
    }
    assert_eq!(world.shown().await, [text]);
}
