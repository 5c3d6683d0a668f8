//! An imported sheet from its upload to a snapshot.

use cellar_api::{wire::MutationStatus, wire::SheetsReply};
use cellar_local::Ports;
use cellar_sheet::operation::{CellEdit, InsertBefore, SetCells, SheetId};
use cellar_tests::snapshots::wait_for_root;

use super::*;

const NAME: &str = "Imported";

fn number(sheet: u32, row: u32, column: u32, number: f64) -> Operation {
    let value = Some(Value::Number(number));
    let cells = vec![CellEdit { row, column, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sheet_of_many_tiles_is_imported_edited_and_read_with_and_without_a_snapshot() {
    let configured =
        TestCloud::start_configured(Ports::default(), |config| config.snapshots.entries = 10);
    let importer = Importer::on(configured.await).await;
    // Two stripes; the first has a tile for each row, and its rows are split into parts.
    let sheet = Written::new(200, &[0, 1, 2, 5, 127, 128, 129], 5);
    assert!(sheet.tiles.len() > 200 && sheet.chunks.len() > 1, "{}", sheet.tiles.len());
    importer.prepare(&sheet).await;
    let before = importer.head().await;
    let request = importer.request(1, before, vec![sheet.operation(1, NAME, None)]);
    let mut positions = Vec::new();
    for status in [MutationStatus::Appended, MutationStatus::Duplicate] {
        let reply = importer.append(&request).await;
        assert_eq!(reply.results[0].status, status);
        positions.push(reply.results[0].position.unwrap());
    }
    let imported = positions[0];
    assert_eq!(positions[1], imported);
    for object in sheet.tiles.iter().chain(&sheet.texts).chain(&sheet.chunks) {
        assert!(importer.is_published(object).await);
    }

    // Edits of the imported sheet: an inserted row, and a cell after it.
    let insert = InsertBefore { sheet: SheetId(1), before: 100, count: 1 };
    let edits = [Operation::InsertRows(insert), number(1, 101, 7, -1.0)];
    let edited = importer.append(&importer.request(2, imported, edits.to_vec())).await.head;
    let mut expected: BTreeMap<(u32, u32), Value> = sheet
        .cells
        .iter()
        .map(|((row, column), value)| ((row + u32::from(*row >= 100), *column), value.clone()))
        .collect();
    expected.insert((101, 7), Value::Number(-1.0));

    let all = rectangle(0..500, 0..200);
    assert_eq!(importer.cells(NAME, all, imported).await, sheet.cells);
    assert_eq!(importer.cells(NAME, all, edited).await, expected);
    // Enough entries for two snapshots, with further edits.
    let mut base = edited;
    for id in 4..30 {
        let edit = number(1, 450, u32::try_from(id).unwrap(), 1.0);
        base = importer.append(&importer.request(id, base, vec![edit])).await.head;
        expected.insert((450, u32::try_from(id).unwrap()), Value::Number(1.0));
    }
    wait_for_root(&importer.cloud.client("alice"), importer.created.id, imported).await;
    let newest = importer.head().await;
    assert_eq!(importer.cells(NAME, all, newest).await, expected);
    assert_eq!(importer.cells(NAME, all, imported).await, sheet.cells);
    let part = importer.cells(NAME, rectangle(90..120, 120..130), imported).await;
    assert_eq!(part, sheet.part(90..120, 120..130));
    let absent = importer.get(&format!("cells?sheet={NAME}&at={}", before.pack())).await;
    assert_eq!(refused(&importer, absent).await.0, ProblemKind::SheetNotFound);
    assert!(importer.cloud.queue("SnapshotDeadLetters").is_empty().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sheets_in_one_entry_one_of_them_in_the_place_of_another() {
    let importer = Importer::on(TestCloud::start_without_snapshots().await).await;
    let (one, two) = (Written::new(60, &[0, 1, 2], 100), Written::new(7, &[0, 300], 500));
    // A small sheet is inline in the operation, and the append checks it.
    assert!(one.chunks.is_empty() && two.chunks.is_empty());
    importer.upload(&one.texts).await;
    let texts = one.texts.iter().chain(&two.texts);
    importer.upload(&texts.cloned().collect::<Vec<_>>()).await;
    for sheet in [&one, &two] {
        importer.prepare(sheet).await;
    }
    let operations =
        vec![one.operation(1, "One", Some(SheetId::FIRST)), two.operation(2, "Two", None)];
    let request = importer.request(1, importer.created.head, operations);
    let response = importer.post("entries", &request).await;
    let told = cost(&response);
    let tiles = || one.tiles.iter().chain(&two.tiles);
    let naming = u64::try_from(tiles().filter(|tile| names_texts(tile)).count()).unwrap();
    let objects = u64::try_from(tiles().count()).unwrap();
    // Each tile is read and published. A tile with long texts is first looked up, because it was
    // already checked.
    assert_eq!((told.object_gets, told.object_puts), (objects + naming, objects));
    assert_eq!(told.object_tags, 0);
    let reply: AppendReply = answer(response).await;
    assert_eq!(reply.results[0].position, reply.results[1].position, "one entry");
    for object in one.tiles.iter().chain(&two.tiles) {
        assert!(importer.is_published(object).await);
    }
    let sheets: SheetsReply = answer(importer.get("sheets").await).await;
    let names: Vec<&str> = sheets.sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    assert_eq!(names, ["One", "Two"]);
    let all = rectangle(0..100, 0..400);
    assert_eq!(importer.cells("One", all, reply.head).await, one.cells);
    assert_eq!(importer.cells("Two", all, reply.head).await, two.cells);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_is_answered_though_its_chunks_are_gone() {
    let importer = Importer::on(TestCloud::start_without_snapshots().await).await;
    let sheet = Written::new(5, &[0, 1, 2], 100);
    importer.prepare(&sheet).await;
    let request = importer.request(1, importer.created.head, vec![sheet.operation(1, NAME, None)]);
    let first = importer.append(&request).await;
    let (blobs, _) = importer.cloud.blobs();
    for object in &sheet.tiles {
        blobs.delete(&importer.key(object.chunk.hash)).await.unwrap();
    }
    // Also in a process without cached state.
    let another = importer.cloud.another_api(&importer.cloud.database_url).await;
    for url in [&importer.cloud.url, &another] {
        let url = format!("{url}/v1/spreadsheets/{}/entries", importer.created.id);
        let reply = importer.http.post(url).bearer_auth(&importer.token).json(&request);
        let reply: AppendReply = answer(reply.send().await.unwrap()).await;
        assert_eq!(reply.results[0].status, MutationStatus::Duplicate);
        assert_eq!(reply.results[0].position, first.results[0].position);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_requests_of_an_import_cost() {
    let importer = Importer::on(TestCloud::start_without_snapshots().await).await;
    let sheet = Written::new(200, &[3, 4], 2);
    for objects in [&sheet.texts, &sheet.tiles, &sheet.chunks] {
        importer.upload(objects).await;
    }
    let grants = sheet.tiles[..3].iter().map(|it| new_chunk(it.chunk.hash, &it.stored));
    let request = ImportUploadsRequest { client_id: CLIENT.to_owned(), chunks: grants.collect() };
    let told = cost(&importer.post("imports/uploads", &request).await);
    assert_eq!((told.object_gets, told.object_puts, told.object_tags), (0, 0, 0));
    assert!(told.read_units() <= 1.0, "{told:?}");
    for object in &sheet.chunks {
        let response = importer.check(&of_index(object)).await;
        let told = cost(&response);
        let reply: ImportCheckReply = answer(response).await;
        let read = u64::from(reply.checked);
        assert!(told.object_gets >= read && told.object_gets <= 2 * read, "{told:?}");
        assert!(told.object_puts <= 2 * read && told.object_tags == 0, "{told:?}");
    }
}
