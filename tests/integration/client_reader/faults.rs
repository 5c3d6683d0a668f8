//! Damaged, missing, expired or replaced objects: never wrong cells, and no errors because of the
//! cache.

use std::collections::BTreeSet;

use cellar::ClientError;
use cellar::cli::CommandAdvice as _;
use cellar::reader::ReaderError;
use cellar_api::wire::ProblemKind;
use cellar_catalog::access::Role;
use cellar_engine::ports::{BlobKey, Blobs as _};
use cellar_sheet::cell::ErrorCode;
use cellar_sheet::operation::AddSheet;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::packed::{Bounds, pack};

use super::proxy::Proxy;
use super::*;

const EVERYTHING: &str = "A:AZ";

/// Returns the damaged contents of a file, given its index and all files.
type Damage<'a> = &'a dyn Fn(usize, &[Vec<u8>]) -> Vec<u8>;

/// Deletes the chunks of the log that match. Returns their keys.
async fn delete_chunks(world: &World, gone: impl Fn(&str) -> bool) -> Vec<String> {
    let (blobs, _) = world.cloud.blobs();
    let page = blobs.list(&format!("sheets/{}/chunks/", world.log), None, 1_000).await.unwrap();
    let keys = page.blobs.into_iter().map(|blob| blob.key);
    let keys: Vec<String> = keys.filter(|key| gone(key.rsplit('/').next().unwrap())).collect();
    for key in &keys {
        blobs.delete(&BlobKey::new(key.as_str()).unwrap()).await.unwrap();
    }
    keys
}

fn through(proxy: &Proxy, world: &World) -> Client {
    Client::new(&proxy.url, Some(&world.cloud.token("bob", Role::Viewer))).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_cache_is_loaded_anew() {
    let world = World::with_snapshots().await;
    let (whole, fetched) = world.read(None, EVERYTHING).await;
    assert!(fetched >= 2, "{fetched}");
    let another = |number: usize, all: &[Vec<u8>]| all[(number + 1) % all.len()].clone();
    let flipped = |number: usize, all: &[Vec<u8>]| {
        let mut bytes = all[number].clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        bytes
    };
    let half = |number: usize, all: &[Vec<u8>]| all[number][..all[number].len() / 2].to_vec();
    let nothing = |_: usize, _: &[Vec<u8>]| Vec::new();
    let damages: [Damage<'_>; 4] = [&another, &flipped, &half, &nothing];
    for damage in damages {
        let files = cache_files(world.folder.path());
        assert_eq!(files.len(), usize::try_from(fetched).unwrap());
        let all: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
        for (number, file) in files.iter().enumerate() {
            std::fs::write(file, damage(number, &all)).unwrap();
        }
        // The chunk is loaded again, which repairs the cache.
        for gets in [fetched, 0] {
            let again = world.read(None, EVERYTHING).await;
            assert_same(&again.0, &whole);
            assert_eq!(again.1, gets);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_can_be_kept_reading_goes_on() {
    let world = World::with_snapshots().await;
    let state = world.folder.path().join(".cellar");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("chunks"), "no folder").unwrap();
    let (first, fetched) = world.read(None, EVERYTHING).await;
    let (second, again) = world.read(None, EVERYTHING).await;
    assert_same(&second, &first);
    assert_eq!(again, fetched);
    assert_same(&first, &world.shown(None, EVERYTHING, first.position).await);
    assert!(state.join("chunks").is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_in_the_store_is_named_and_the_rest_still_reads() {
    let world = World::with_snapshots().await;
    let sheet = SheetId(1);
    world.apply(Operation::AddSheet(AddSheet { sheet, name: "Other".into(), before: None })).await;
    world.apply(noise(sheet, 99)).await;
    world.settle().await;
    let whole = world.read(None, EVERYTHING).await.0;
    let gone = delete_chunks(&world, |_| true).await;
    assert!(!gone.is_empty());

    // Objects in the disk cache are still available.
    let (kept, gets) = world.read(None, EVERYTHING).await;
    assert_same(&kept, &whole);
    assert_eq!(gets, 0);
    let nothing_kept = Reader::open(world.reader_client().spreadsheet(world.log), None, None).await;
    let mut reader = nothing_kept.unwrap();
    let error = reader.cells(None, rectangle(EVERYTHING)).await.unwrap_err();
    let ReaderError::Missing { key, .. } = &error else { panic!("{error}") };
    assert!(gone.contains(key), "{key}");
    let help = error.help().unwrap().to_string();
    assert!(
        help.contains(&format!("`synth reprocess --rebuild --spreadsheet {}`", world.log)),
        "{help}"
    );
    world.check(&mut reader, Some("other"), "A1:AD900").await;

    let unknown = reader.cells(Some("Nowhere"), rectangle("A1")).await.unwrap_err();
    let ReaderError::Client(ClientError::Problem { problem, .. }) = &unknown else {
        panic!("{unknown}")
    };
    assert_eq!(problem.kind, ProblemKind::SheetNotFound);
    let query = CellsQuery::of_sheet("Nowhere");
    let servers = world.client.spreadsheet(world.log).cells_page(&query).await.unwrap_err();
    assert_eq!(unknown.to_string(), servers.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_object_in_the_store_is_named() {
    let world = World::with_snapshots().await;
    let (blobs, _) = world.cloud.blobs();
    let page = blobs.list(&format!("sheets/{}/chunks/", world.log), None, 1_000).await.unwrap();
    let s3 = world.cloud.s3_client();
    for blob in &page.blobs {
        let (bucket, body) = (&world.cloud.settings.bucket, b"damaged".to_vec().into());
        s3.put_object().bucket(bucket).key(&blob.key).body(body).send().await.unwrap();
    }
    let mut reader = world.open(&world.reader_client()).await;
    let error = reader.cells(None, rectangle(EVERYTHING)).await.unwrap_err();
    let ReaderError::Damaged { key, .. } = &error else { panic!("{error}") };
    assert!(page.blobs.iter().any(|blob| blob.key == *key), "{key}");
    let kept = cache_files(world.folder.path());
    assert_eq!(kept.len(), 1, "only the root is cached, not the damaged object");
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_that_have_ended_are_asked_for_once_more() {
    let world = World::with_snapshots().await;
    let proxy = Proxy::start(&world.cloud.url).await;
    // The first spoiled reply has the URL of the root, the next the URLs of chunks.
    proxy.seen().to_spoil = 1;
    let mut reader = world.open(&through(&proxy, &world)).await;
    assert_eq!(proxy.seen().to_spoil, 0);
    proxy.seen().to_spoil = 1;
    world.check(&mut reader, None, EVERYTHING).await;
    let asked = proxy.seen().asked.clone();
    assert!(asked.len() >= 2 && asked[0] == asked[1], "{asked:?}");

    // All URLs have expired: the reader reports it and does not retry for ever.
    proxy.seen().to_spoil = usize::MAX;
    let opened = Reader::open(through(&proxy, &world).spreadsheet(world.log), None, None).await;
    assert!(matches!(opened, Err(ReaderError::Missing { .. })), "{opened:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_that_is_replaced_while_it_is_read_is_left_for_the_newest() {
    let world = World::with_snapshots().await;
    let client = world.reader_client();
    let open = || Reader::open(client.spreadsheet(world.log), None, None);
    let (mut reader, mut another) = (open().await.unwrap(), open().await.unwrap());
    let before = reader.position();
    for seed in 100..160 {
        world.apply(noise(SheetId::FIRST, seed)).await;
    }
    world.settle().await;
    // The reader stays at its position as long as its chunks exist.
    world.check(&mut another, None, "A1:B9").await;
    assert_eq!(another.position(), before);

    // The objects of the newest snapshot are kept; all others are collected.
    let proxy = Proxy::start(&world.cloud.url).await;
    let newest = Reader::open(through(&proxy, &world).spreadsheet(world.log), None, None).await;
    newest.unwrap().cells(None, rectangle(EVERYTHING)).await.unwrap();
    let needed: BTreeSet<String> = proxy.seen().asked.concat().into_iter().collect();
    let gone = delete_chunks(&world, |hash| !needed.contains(hash)).await;
    assert!(!needed.is_empty() && !gone.is_empty());
    let reply = reader.cells(None, rectangle(EVERYTHING)).await.unwrap();
    assert!(reply.position > before && reader.position() == reply.position);
    assert_same(&reply, &world.shown(None, EVERYTHING, reply.position).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_is_never_older_than_what_was_seen_and_asks_the_server_who_may_read() {
    let world = World::with_snapshots().await;
    let edited = world.apply(noise(SheetId::FIRST, 77)).await;
    let client = world.reader_client();
    let reader =
        Reader::open(client.spreadsheet(world.log), Some(edited), world.cache()).await.unwrap();
    assert!(reader.position() >= edited);
    world.read(None, EVERYTHING).await;
    // All objects are in the disk cache, but a read still needs a token for the spreadsheet.
    let other = LogId::from_uuid(uuid::Uuid::from_bytes([5; 16]));
    let token = world.cloud.token_for("eve", Role::Viewer, vec![other]);
    let client = Client::new(&world.cloud.url, Some(&token)).unwrap();
    let refused =
        Reader::open(client.spreadsheet(world.log), None, world.cache()).await.unwrap_err();
    let ReaderError::Client(error) = refused else { panic!("{refused}") };
    assert_eq!(error.problem_kind(), Some(ProblemKind::NotFound));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_text_is_an_error_in_its_cell_for_the_server_and_the_reader() {
    let world = World::start().await;
    let texts = [1, 2, 3].map(|number| format!("{number} ").repeat(3_000));
    let edit = |(row, text): (u32, &String)| {
        let value = Some(Value::Text(text.clone()));
        CellEdit { row, column: 0, value, formula: None, format: None }
    };
    // Below all cells of `noise`.
    let cells = (1_000..).zip(&texts).map(edit).collect();
    world.apply(Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })).await;
    for seed in 0..20 {
        world.apply(noise(SheetId::FIRST, seed)).await;
    }
    world.settle().await;
    let key = |text: &String| chunk_key(world.log, ChunkHash::of(text.as_bytes()));
    let (blobs, _) = world.cloud.blobs();
    blobs.delete(&BlobKey::new(key(&texts[0])).unwrap()).await.unwrap();
    let (bucket, body) = (&world.cloud.settings.bucket, b"damaged".to_vec().into());
    let s3 = world.cloud.s3_client();
    s3.put_object().bucket(bucket).key(key(&texts[1])).body(body).send().await.unwrap();

    let mut reader = world.open(&world.reader_client()).await;
    world.check(&mut reader, None, EVERYTHING).await;
    let shown = reader.cells(None, rectangle("A1001:A1003")).await.unwrap();
    let values: Vec<&Value> = shown.cells.iter().map(|placed| &placed.cell.value).collect();
    let (lost, whole) = (Value::Error(ErrorCode::Lost), Value::Text(texts[2].clone()));
    assert_eq!(values, [&lost, &lost, &whole]);

    // The error is temporary: a text whose object exists again is read.
    let packed = pack(texts[0].as_bytes(), Bounds::TEXT).unwrap();
    let put = s3.put_object().bucket(bucket).key(key(&texts[0])).body(packed.stored.into());
    put.send().await.unwrap();
    let mut reader = world.open(&world.reader_client()).await;
    let again = reader.cells(None, rectangle("A1001")).await.unwrap();
    assert_eq!(again.cells[0].cell.value, Value::Text(texts[0].clone()));
    world.check(&mut reader, None, EVERYTHING).await;
}
