//! Members who upload wrong objects, which must not affect others.

use cellar_api::{wire::ForkRequest, wire::ShareRequest};
use cellar_local::Ports;
use cellar_sheet::operation::{CellEdit, SetCells, SheetId};
use cellar_snapshot::level::ChunkRef;
use cellar_snapshot::tile::{Tile, TileColumn, preview};
use cellar_tests::snapshots::wait_for_root;

use super::*;

const NAME: &str = "Imported";

/// Credentials and client of one member's requests.
struct Member {
    token: String,
    created: CreateReply,
}

impl Importer {
    fn act_as(&mut self, member: &Member) {
        (self.token, self.created) = (member.token.clone(), member.created);
    }

    fn owner(&self) -> Member {
        Member { token: self.token.clone(), created: self.created }
    }

    async fn share(&self, person: &str, role: Role) {
        let request = ShareRequest { subject: person.to_owned(), issuer: None, role };
        self.cloud
            .client("alice")
            .spreadsheet(self.created.id)
            .share(&request, None)
            .await
            .unwrap();
    }

    /// Adds an editor of the spreadsheet.
    async fn editor(&self) -> Member {
        self.share("eve", Role::Editor).await;
        Member { token: self.cloud.token_of("eve"), created: self.created }
    }

    /// Adds a viewer of the spreadsheet, who has a fork of it in the same family.
    async fn viewer_in_a_fork(&self) -> Member {
        self.share("vera", Role::Viewer).await;
        let token = self.cloud.token_of("vera");
        let vera = cellar::Client::new(&self.cloud.url, Some(&token)).unwrap();
        let request = ForkRequest::new("hers".to_owned(), None);
        let fork = vera.spreadsheet(self.created.id).fork(&request).await.unwrap();
        let created = CreateReply { id: fork.id, head: fork.head, ..self.created };
        Member { token, created }
    }
}

/// Returns wrong bytes under the name of an object.
fn garbage(name: &PackedObject) -> PackedObject {
    let stored = b"not what the name says".to_vec();
    let bytes = u32::try_from(stored.len()).unwrap();
    PackedObject { chunk: ChunkRef { bytes, ..name.chunk }, stored }
}

/// Returns a sheet of one cell, whose text is a separate object.
fn sheet_with(text: &str) -> (Written, PackedObject) {
    let mut column = TileColumn::new(0);
    let (hash, bytes) = (ChunkHash::of(text.as_bytes()), u32::try_from(text.len()).unwrap());
    column.values.push_long_text(0, preview(text), hash.0, bytes);
    let cells = [((0, 0), Value::Text(text.to_owned()))];
    let sheet = Written::of(Tile { columns: vec![column] }, cells.into_iter().collect());
    (sheet, pack(text.as_bytes(), Bounds::TEXT).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_keeps_an_import_out_by_uploading_other_bytes_under_its_names() {
    let mut importer = Importer::on(TestCloud::start_without_snapshots().await).await;
    let sheet = Written::new(200, &[0, 1, 2], 20);
    let objects = || sheet.texts.iter().chain(&sheet.tiles).chain(&sheet.chunks);
    let owner = importer.owner();
    for member in [importer.editor().await, importer.viewer_in_a_fork().await] {
        importer.act_as(&member);
        let wrong: Vec<PackedObject> = objects().map(garbage).collect();
        for batch in wrong.chunks(MAX_IMPORT_OBJECTS) {
            for (upload, object) in importer.grant(batch).await.iter().zip(batch) {
                assert_eq!(importer.put(upload, &object.stored).await, StatusCode::OK);
            }
        }
        for object in [wrong.first().unwrap(), wrong.last().unwrap()] {
            for request in [of_tiles(std::slice::from_ref(object)), of_index(object)] {
                let response = importer.check(&request).await;
                assert_eq!(refused(&importer, response).await.0, ProblemKind::InvalidImport);
            }
        }
        importer.act_as(&owner);
    }
    for object in objects() {
        assert!(!importer.is_published(object).await);
    }
    importer.prepare(&sheet).await;
    let request = importer.request(1, importer.created.head, vec![sheet.operation(1, NAME, None)]);
    let head = importer.append(&request).await.head;
    assert_eq!(importer.cells(NAME, rectangle(0..500, 0..200), head).await, sheet.cells);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_appends_no_import_that_nobody_can_read() {
    let mut importer = Importer::on(TestCloud::start_without_snapshots().await).await;
    importer.act_as(&importer.editor().await);
    let (sheet, text) = sheet_with(&"x".repeat(20_000));
    importer.upload(&sheet.tiles).await;
    let request = importer.request(1, importer.created.head, vec![sheet.operation(1, NAME, None)]);
    let in_every_way = async |importer: &Importer, expected: ProblemKind| {
        let response = importer.check(&of_tiles(&sheet.tiles)).await;
        assert_eq!(refused(importer, response).await.0, expected);
        let response = importer.post("entries", &request).await;
        assert_eq!(refused(importer, response).await.0, expected);
        assert_eq!(importer.head().await, importer.created.head);
    };
    in_every_way(&importer, ProblemKind::IncompleteImport).await;
    importer.upload(&[garbage(&text)]).await;
    in_every_way(&importer, ProblemKind::InvalidImport).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_poisons_no_read_of_the_owner() {
    let configured =
        TestCloud::start_configured(Ports::default(), |config| config.snapshots.entries = 10);
    let mut importer = Importer::on(configured.await).await;
    let owner = importer.owner();
    let secret = "a text that the owner is about to write ".repeat(500);
    let (sheet, text) = sheet_with(&secret);
    // A fork of the spreadsheet references the text, with wrong bytes under its name.
    importer.act_as(&importer.viewer_in_a_fork().await);
    importer.upload(&sheet.tiles).await;
    importer.upload(&[garbage(&text)]).await;
    let request = importer.request(1, importer.created.head, vec![sheet.operation(1, NAME, None)]);
    let response = importer.post("entries", &request).await;
    assert_eq!(refused(&importer, response).await.0, ProblemKind::InvalidImport);
    importer.get(&format!("cells?sheet={NAME}&range=A1:A1")).await;

    importer.act_as(&owner);
    let (mut base, mut id) = (importer.created.head, 1);
    for row in 0..14 {
        let value = Some(Value::Text(if row == 0 { secret.clone() } else { row.to_string() }));
        let cells = vec![CellEdit { row, column: 0, value, formula: None, format: None }];
        let edit = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
        base = importer.append(&importer.request(id, base, vec![edit])).await.head;
        id += 1;
    }
    let least = Position::new(0, 10).unwrap();
    wait_for_root(&importer.cloud.client("alice"), importer.created.id, least).await;
    let sheets: cellar_api::wire::SheetsReply = answer(importer.get("sheets").await).await;
    let shown = importer.cells(&sheets.sheets[0].name, rectangle(0..1, 0..1), base).await;
    assert_eq!(shown[&(0, 0)], Value::Text(secret));
}
