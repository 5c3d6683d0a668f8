//! Imports over HTTP: chunks are uploaded, checked, appended as a sheet, and read with and without
//! snapshots.

mod hostile;
mod life;
mod refusals;
mod sheet;

use std::collections::BTreeMap;

use cellar_api::cost::Cost;
use cellar_api::{
    wire::AppendReply, wire::AppendRequest, wire::CellsReply, wire::ChunkUpload, wire::CreateReply,
    wire::CreateRequest, wire::ImportCheckReply, wire::ImportCheckRequest,
    wire::ImportUploadsReply, wire::ImportUploadsRequest, wire::NewChunk, wire::Problem,
    wire::ProblemKind, wire::SentMutation, wire::UploadedChunk, wire::hexadecimal,
};
use cellar_base::limits::MAX_IMPORT_OBJECTS;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_engine::ports::{BlobKey, Blobs as _};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::Operation;
use cellar_snapshot::chunk::decode;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::packed::{Bounds, PackedObject, pack, unpack};
use cellar_tests::cloud::TestCloud;
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

pub(crate) use sheet::Written;

/// Client id of the importer.
const CLIENT: &str = "client";

/// A person who imports into a spreadsheet.
pub(crate) struct Importer {
    pub(crate) cloud: TestCloud,
    http: reqwest::Client,
    created: CreateReply,
    token: String,
}

impl Importer {
    pub(crate) async fn on(cloud: TestCloud) -> Self {
        let request = CreateRequest::new("imports".to_owned());
        let created = cloud.client("alice").create(&request).await.unwrap();
        let token = cloud.token("alice", Role::Editor);
        Self { cloud, http: reqwest::Client::new(), created, token }
    }

    async fn post(&self, path: &str, body: &impl serde::Serialize) -> Response {
        let url = format!("{}/v1/spreadsheets/{}/{path}", self.cloud.url, self.created.id);
        let request = self.http.post(url).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json");
        request.body(serde_json::to_vec(body).unwrap()).send().await.unwrap()
    }

    async fn grant(&self, objects: &[PackedObject]) -> Vec<ChunkUpload> {
        let chunks = objects.iter().map(|object| new_chunk(object.chunk.hash, &object.stored));
        let request =
            ImportUploadsRequest { client_id: CLIENT.to_owned(), chunks: chunks.collect() };
        let reply: ImportUploadsReply = answer(self.post("imports/uploads", &request).await).await;
        reply.uploads
    }

    async fn put(&self, upload: &ChunkUpload, bytes: &[u8]) -> StatusCode {
        let mut request = self.http.request(upload.method.parse().unwrap(), &upload.url);
        for (name, value) in &upload.headers {
            request = request.header(name, value);
        }
        request.body(bytes.to_vec()).send().await.unwrap().status()
    }

    /// Uploads the missing objects.
    async fn upload(&self, objects: &[PackedObject]) {
        for batch in objects.chunks(MAX_IMPORT_OBJECTS) {
            for (upload, object) in self.grant(batch).await.iter().zip(batch) {
                let status = self.put(upload, &object.stored).await;
                let is_there = [StatusCode::OK, StatusCode::PRECONDITION_FAILED].contains(&status);
                assert!(is_there, "{status}");
            }
        }
    }

    async fn check(&self, request: &ImportCheckRequest) -> Response {
        self.post("imports/checks", request).await
    }

    async fn checked(&self, request: &ImportCheckRequest) -> u32 {
        let reply: ImportCheckReply = answer(self.check(request).await).await;
        reply.checked
    }

    /// Uploads a whole sheet, and checks it from the tiles up.
    pub(crate) async fn prepare(&self, sheet: &Written) {
        for objects in [&sheet.texts, &sheet.tiles, &sheet.chunks] {
            self.upload(objects).await;
        }
        for tile in sheet.tiles.iter().filter(|tile| names_texts(tile)) {
            self.checked(&of_tiles(std::slice::from_ref(tile))).await;
        }
        for object in &sheet.chunks {
            self.checked(&of_index(object)).await;
        }
    }

    pub(crate) fn request(
        &self,
        first_id: u64,
        base: Position,
        operations: Vec<Operation>,
    ) -> AppendRequest {
        let mutations = (first_id..).zip(operations);
        AppendRequest {
            client_id: CLIENT.to_owned(),
            incarnation: self.created.incarnation,
            acked_id: first_id - 1,
            refuse_unchanged: false,
            mutations: mutations.map(|(id, op)| SentMutation { id, base, op }).collect(),
        }
    }

    pub(crate) async fn append(&self, request: &AppendRequest) -> AppendReply {
        answer(self.post("entries", request).await).await
    }

    async fn problem(&self, response: Response) -> Problem {
        let status = response.status();
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        let problem: Problem = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        assert_eq!(problem.status, status.as_u16());
        problem
    }

    /// Returns the cells of a sheet within a rectangle at a position.
    async fn cells(
        &self,
        sheet: &str,
        rectangle: Rectangle,
        at: Position,
    ) -> BTreeMap<(u32, u32), Value> {
        let (mut cells, mut from) = (BTreeMap::new(), String::new());
        loop {
            let path = format!("cells?sheet={sheet}&range={rectangle}&at={}{from}", at.pack());
            let reply: CellsReply = answer(self.get(&path).await).await;
            cells.extend(reply.cells.into_iter().map(|c| ((c.row, c.column), c.cell.value)));
            match reply.next {
                Some(next) => from = format!("&cursor={next}"),
                None => return cells,
            }
        }
    }

    async fn get(&self, path: &str) -> Response {
        let url = format!("{}/v1/spreadsheets/{}/{path}", self.cloud.url, self.created.id);
        self.http.get(url).bearer_auth(&self.token).send().await.unwrap()
    }

    fn key(&self, hash: ChunkHash) -> BlobKey {
        BlobKey::new(chunk_key(self.created.id, hash)).unwrap()
    }

    async fn is_published(&self, object: &PackedObject) -> bool {
        self.cloud.blobs().0.head(&self.key(object.chunk.hash)).await.unwrap().is_some()
    }

    pub(crate) async fn head(&self) -> Position {
        self.cloud.client("alice").spreadsheet(self.created.id).head().await.unwrap().head
    }
}

async fn answer<T: DeserializeOwned>(response: Response) -> T {
    let status = response.status();
    let bytes = response.bytes().await.unwrap();
    assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(&bytes));
    serde_json::from_slice(&bytes).unwrap()
}

fn new_chunk(hash: ChunkHash, bytes: &[u8]) -> NewChunk {
    let sha256: [u8; 32] = Sha256::digest(bytes).into();
    let length = u32::try_from(bytes.len()).unwrap();
    NewChunk { hash: hash.to_string(), bytes: length, sha256: hexadecimal(&sha256) }
}

fn uploaded(object: &PackedObject) -> UploadedChunk {
    UploadedChunk { hash: object.chunk.hash.to_string(), bytes: object.chunk.bytes }
}

fn of_index(object: &PackedObject) -> ImportCheckRequest {
    ImportCheckRequest {
        client_id: CLIENT.to_owned(),
        tiles: vec![],
        tile_index_chunk: Some(uploaded(object)),
    }
}

fn of_tiles(tiles: &[PackedObject]) -> ImportCheckRequest {
    let tiles = tiles.iter().map(uploaded).collect();
    ImportCheckRequest { client_id: CLIENT.to_owned(), tiles, tile_index_chunk: None }
}

fn names_texts(tile: &PackedObject) -> bool {
    let bytes = unpack(tile.chunk.hash, &tile.stored, Bounds::CHUNK).unwrap();
    !decode(&bytes).unwrap().named_texts().is_empty()
}

fn rectangle(rows: std::ops::Range<u32>, columns: std::ops::Range<u32>) -> Rectangle {
    Rectangle {
        first: CellName { row: rows.start, column: columns.start },
        last: CellName { row: rows.end - 1, column: columns.end - 1 },
    }
}

fn cost(response: &Response) -> Cost {
    let header = &response.headers()[cellar_api::cost::HEADER];
    Cost::from_header(header.to_str().unwrap()).unwrap()
}

/// Returns the kind and the text of a problem.
async fn refused(importer: &Importer, response: Response) -> (ProblemKind, String) {
    let problem = importer.problem(response).await;
    (problem.kind, problem.detail)
}
