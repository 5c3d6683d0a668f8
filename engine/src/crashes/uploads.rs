//! Fault injection scenarios for uploads and imports. Objects are uploaded, verified, referenced by
//! an entry, and protected from expiry.

use std::sync::Arc;

use cellar_base::identity::ClientKey;
use cellar_log::entry::{FIRST_INCARNATION, encode_external_body};
use cellar_snapshot::index::IndexChunk;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::packed::{Bounds, PackedObject, unpack};
use uuid::Uuid;

use super::relayed::{entry_changes, relay};
use super::run::Crashes;
use super::scenario::{MutationPlace, Retry, Scenario, mutation_places, retry};
use super::stored::Stored;
use super::{FaultyPorts, at, edit_request, log, ports_with_edits, set_text};
use crate::logs::tests::imports::{DEEP, Sheet};
use crate::logs::{ChunkToUpload, Completion, Logs};
use crate::ports::PresignedRequest;
use crate::relay::RelayedBatch;
use crate::sha256::sha256;

struct Uploading {
    upload: UploadKind,
}

enum UploadKind {
    /// A large entry whose operations are uploaded as a separate object.
    Body(Vec<u8>),
    Sheet(Box<Sheet>),
}

struct Process {
    ports: Arc<FaultyPorts>,
    logs: Logs,
}

/// Number of edits in the log before the sheet is imported.
const EDITS: usize = 2;
const CLIENT: ClientKey = ClientKey([1; 8]);
const UPLOAD: Uuid = Uuid::from_bytes([5; 16]);

/// Appends a large entry to a log that was created by [`ports_with_edits`](super::ports_with_edits)
/// with at least one edit.
pub(super) async fn append_large(ports: &Arc<FaultyPorts>) {
    let body = encode_external_body(&[set_text(0, "large"), set_text(1, "larger")]).unwrap();
    let process = Process { ports: Arc::clone(ports), logs: ports.logs() };
    process.grant_body(&body).await.unwrap();
    process.complete_upload(&body).await.unwrap();
}

impl Process {
    /// The object may already exist.
    fn send(&self, granted: PresignedRequest, bytes: &[u8]) {
        let status = self.ports.upload(granted, bytes);
        assert!([200, 412].contains(&status), "{status}");
    }

    async fn complete_upload(&self, body: &[u8]) -> Result<Vec<MutationPlace>, Retry> {
        let completion = Completion {
            upload: UPLOAD,
            bytes: body.len() as u64,
            sha256: sha256(body),
            client: CLIENT,
            author: Some("alice".to_owned()),
            incarnation: FIRST_INCARNATION,
            acknowledged: 0,
            first_id: 1,
            base: at(0, 1),
        };
        let appended = self.logs.complete_upload(log(), completion).await.map_err(retry)?;
        Ok(mutation_places(appended))
    }

    async fn grant_body(&self, body: &[u8]) -> Result<Vec<MutationPlace>, Retry> {
        let (bytes, sha256) = (body.len() as u64, sha256(body));
        let granted = self.logs.grant_upload(log(), UPLOAD, bytes, sha256).await;
        self.send(granted.map_err(retry)?, body);
        Ok(vec![])
    }

    async fn grant_sheet(&self, sheet: &Sheet) -> Result<Vec<MutationPlace>, Retry> {
        let objects: Vec<&PackedObject> = sheet.objects().collect();
        let chunks: Vec<ChunkToUpload> = objects
            .iter()
            .map(|object| ChunkToUpload { chunk: object.chunk, sha256: sha256(&object.stored) })
            .collect();
        let upload_requests =
            self.logs.grant_chunks(log(), CLIENT, &chunks).await.map_err(retry)?;
        for (upload_request, object) in upload_requests.into_iter().zip(objects) {
            self.send(upload_request, &object.stored);
        }
        Ok(vec![])
    }

    /// Requests the verification of each tile index chunk, starting with the lowest level of the
    /// index.
    async fn verify_chunks(&self, sheet: &Sheet) -> Result<Vec<MutationPlace>, Retry> {
        for object in &sheet.chunks {
            self.logs
                .publish_chunks(log(), CLIENT, &[], Some(&object.chunk))
                .await
                .map_err(retry)?;
        }
        Ok(vec![])
    }

    async fn import(&self, sheet: &Sheet) -> Result<Vec<MutationPlace>, Retry> {
        let request =
            edit_request(log(), 1, 1, at(0, 1), vec![set_text(8, "and"), sheet.operation()]);
        Ok(mutation_places(self.logs.append(request).await.map_err(retry)?))
    }
}

fn assert_kept_body_has_entry(stored: &Stored, context: &str) {
    let has_kept_body = stored.objects.values().any(|(_, is_pending)| !is_pending);
    let has_entry = stored.entries_of(log()).any(|entry| entry.position > at(0, 3));
    assert!(
        has_entry || !has_kept_body,
        "{context}: a body that no entry references has lost its pending tag"
    );
}

fn assert_referenced_chunks_published(sheet: &Sheet, stored: &Stored, context: &str) {
    let is_published = |hash: ChunkHash| stored.objects.contains_key(&chunk_key(log(), hash));
    for index_chunk in &sheet.chunks {
        if !is_published(index_chunk.chunk.hash) {
            continue;
        }
        for hash in child_hashes(index_chunk) {
            assert!(
                is_published(hash),
                "{context}: {} is referenced but not published",
                chunk_key(log(), hash)
            );
        }
    }
    let is_imported = stored.entries.len() > EDITS + 1;
    let all_published = sheet.objects().all(|object| is_published(object.chunk.hash));
    assert!(
        !is_imported || all_published,
        "{context}: an entry references a chunk that is not published"
    );
}

fn child_hashes(index_chunk: &PackedObject) -> Vec<ChunkHash> {
    let bytes = unpack(index_chunk.chunk.hash, &index_chunk.stored, Bounds::CHUNK).unwrap();
    let children = IndexChunk::decode(&bytes).unwrap().children().unwrap().unwrap();
    let tiles = children.tiles.iter().map(|tile| tile.chunk.hash);
    tiles.chain(children.index.iter().map(|index| index.chunk.hash)).collect()
}

impl Scenario for Uploading {
    type Process = Process;
    type Caller = ();
    type Answer = Vec<MutationPlace>;

    fn step_count(&self) -> usize {
        match self.upload {
            UploadKind::Body(_) => 2,
            UploadKind::Sheet(_) => 3,
        }
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Process {
        Process { ports: Arc::clone(ports), logs: ports.logs() }
    }

    async fn step(
        &self,
        process: &Process,
        (): &(),
        step: usize,
    ) -> Result<Vec<MutationPlace>, Retry> {
        match (&self.upload, step) {
            (UploadKind::Body(body), 0) => process.grant_body(body).await,
            (UploadKind::Body(body), _) => process.complete_upload(body).await,
            (UploadKind::Sheet(sheet), 0) => process.grant_sheet(sheet).await,
            (UploadKind::Sheet(sheet), 1) => process.verify_chunks(sheet).await,
            (UploadKind::Sheet(sheet), _) => process.import(sheet).await,
        }
    }

    /// Asserts that every object that an entry or a published index chunk references is published.
    fn assert_after_failure(&self, stored: &Stored, context: &str) {
        match &self.upload {
            UploadKind::Body(_) => assert_kept_body_has_entry(stored, context),
            UploadKind::Sheet(sheet) => assert_referenced_chunks_published(sheet, stored, context),
        }
    }

    async fn finish_other_work(&self, ports: Arc<FaultyPorts>) {
        let relayed = relay(&ports).relay_batch(&entry_changes(&ports)).await;
        assert_eq!(relayed, RelayedBatch::default());
    }
}

async fn body() -> Crashes<Uploading> {
    let body = encode_external_body(&[set_text(0, "large"), set_text(1, "larger")]).unwrap();
    Crashes::new(Uploading { upload: UploadKind::Body(body) }, ports_with_edits(3).await).await
}

async fn sheet() -> Crashes<Uploading> {
    let sheet = Box::new(Sheet::new(2, 2, DEEP));
    Crashes::new(
        Uploading { upload: UploadKind::Sheet(sheet) },
        ports_with_edits(EDITS as u64).await,
    )
    .await
}

#[tokio::test]
async fn a_large_entry_survives() {
    let crashes = body().await;
    assert!(crashes.stored().objects.values().all(|(_, pending)| !pending), "each is kept");
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn an_import_survives() {
    let crashes = sheet().await;
    let (staged, published): (Vec<_>, Vec<_>) =
        crashes.stored().objects.values().partition(|(_, pending)| *pending);
    assert_eq!(staged.len(), published.len(), "each chunk is published, and its upload expires");
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_uploads_survive_whatever_two_requests_fail() {
    body().await.inject_each_pair_of_faults().await;
    sheet().await.inject_each_pair_of_faults().await;
}
