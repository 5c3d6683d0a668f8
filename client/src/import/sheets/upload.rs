//! Uploads the objects of an import. The objects are uploaded concurrently in batches, and are then
//! verified by the server.

use std::collections::HashSet;

use cellar_api::{
    wire::ChunkUpload, wire::ImportCheckRequest, wire::ImportUploadsRequest, wire::NewChunk,
    wire::UploadedChunk,
};

use cellar_base::limits::MAX_IMPORT_OBJECTS;
use cellar_snapshot::level::{ChunkHash, ChunkRef};
use cellar_snapshot::packed::PackedObject;
use tokio::task::JoinSet;

use super::progress::ProgressMonitor;
use super::read::PackedChunk;
use super::requests::IndexObject;
use super::upload_order::UploadOrder;
use crate::client::sha256;
use crate::concurrent::{run_concurrently, task_error};
use crate::{ClientError, Spreadsheet};

/// Total size at which a batch of objects is uploaded, in bytes. A batch is also uploaded when it
/// contains as many objects as one request for upload URLs allows. If batches were larger, more
/// would be left to upload after the file has been read.
const BATCH_BYTES: usize = 1024 * 1024;
const MAX_CONCURRENT_UPLOADS: usize = 8;
/// The number is low, because the server reads many objects for each request.
const MAX_CONCURRENT_CHECKS: usize = 4;
/// More than one URL may be necessary, because a URL expires after a few minutes.
const MAX_UPLOAD_URLS: u32 = 3;

#[derive(Debug)]
pub(super) struct UploadQueue {
    client_id: String,
    progress: ProgressMonitor,
    batch: Vec<PackedChunk>,
    batch_bytes: usize,
    running_uploads: JoinSet<Result<UploadedObject, ClientError>>,
    /// Contains the leaf chunks of the tile index.
    order: UploadOrder,
    tiles_with_texts: Vec<TileWithTexts>,
    running_checks: JoinSet<Result<(), ClientError>>,
    /// Hashes of all chunks of the tile index that have been added.
    added_indexes: HashSet<ChunkHash>,
    /// Verified in this order, after the leaf chunks.
    inner_indexes: Vec<UploadedChunk>,
}

#[derive(Debug, Clone)]
struct Uploader {
    spreadsheet: Spreadsheet,
    client_id: String,
}

#[derive(Debug)]
struct TileWithTexts {
    tile: UploadedChunk,
    long_text_count: usize,
}

/// Uploaded chunks that the server verifies in one request.
#[derive(Debug)]
struct ChunkCheck {
    tiles: Vec<UploadedChunk>,
    index: Option<UploadedChunk>,
}

impl ChunkCheck {
    fn of_tiles(tiles: Vec<UploadedChunk>) -> Self {
        Self { tiles, index: None }
    }

    fn of_index(index: UploadedChunk) -> Self {
        Self { tiles: Vec::new(), index: Some(index) }
    }
}

#[derive(Debug)]
struct UploadedObject {
    number: u64,
    chunk: ChunkRef,
    long_text_count: usize,
}

impl UploadQueue {
    pub(super) fn new(client_id: String, progress: ProgressMonitor) -> Self {
        Self {
            client_id,
            progress,
            batch: Vec::new(),
            batch_bytes: 0,
            running_uploads: JoinSet::new(),
            order: UploadOrder::default(),
            tiles_with_texts: Vec::new(),
            running_checks: JoinSet::new(),
            added_indexes: HashSet::new(),
            inner_indexes: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, object: PackedChunk) {
        self.batch_bytes = self.batch_bytes.saturating_add(object.packed.stored.len());
        self.batch.push(object);
        self.order.add_object();
    }

    /// The chunks to which the index refers must have been added before. An index that has been added
    /// before is ignored.
    pub(super) fn add_index(&mut self, index: IndexObject) {
        let IndexObject { packed, is_leaf } = index;
        if !self.added_indexes.insert(packed.chunk.hash) {
            return;
        }
        let chunk = to_uploaded_chunk(packed.chunk);
        if is_leaf {
            self.order.add_part(chunk);
        } else {
            self.inner_indexes.push(chunk);
        }
        self.add(PackedChunk { packed, long_text_count: 0 });
    }

    pub(super) fn is_batch_full(&self) -> bool {
        self.batch.len() >= MAX_IMPORT_OBJECTS || self.batch_bytes >= BATCH_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batch.is_empty()
            && self.running_uploads.is_empty()
            && self.tiles_with_texts.is_empty()
            && self.running_checks.is_empty()
            && !self.order.has_parts()
            && self.inner_indexes.is_empty()
    }

    /// Returns before the uploads are complete. Also starts to verify chunks of the tile index.
    pub(super) async fn start_batch_uploads(
        &mut self,
        spreadsheet: &Spreadsheet,
    ) -> Result<(), ClientError> {
        let uploader = self.uploader(spreadsheet);
        self.batch_bytes = 0;
        let mut remaining_objects = std::mem::take(&mut self.batch);
        while !remaining_objects.is_empty() {
            let request_length = remaining_objects.len().min(MAX_IMPORT_OBJECTS);
            let objects: Vec<PackedChunk> = remaining_objects.drain(..request_length).collect();
            let new_chunks = objects.iter().map(|object| to_new_chunk(&object.packed)).collect();
            let upload_urls = uploader.request_upload_urls(new_chunks).await?;
            for (object, upload_url) in objects.into_iter().zip(upload_urls) {
                while self.running_uploads.len() >= MAX_CONCURRENT_UPLOADS {
                    self.wait_for_upload().await?;
                }
                let number = self.order.start_upload();
                self.running_uploads.spawn(uploader.clone().upload(number, upload_url, object));
            }
        }
        self.start_ready_checks(&uploader)
    }

    /// Returns the error of a check that has failed.
    fn start_ready_checks(&mut self, uploader: &Uploader) -> Result<(), ClientError> {
        while let Some(joined) = self.running_checks.try_join_next() {
            joined.map_err(|error| task_error(&error))??;
        }
        // Tiles with long texts are verified before the index, in groups.
        while self.tiles_with_texts.is_empty()
            && self.running_checks.len() < MAX_CONCURRENT_CHECKS
            && let Some(chunk) = self.order.next_uploaded_part()
        {
            self.running_checks.spawn(uploader.clone().check(ChunkCheck::of_index(chunk)));
        }
        Ok(())
    }

    fn uploader(&self, spreadsheet: &Spreadsheet) -> Uploader {
        Uploader { spreadsheet: spreadsheet.clone(), client_id: self.client_id.clone() }
    }

    /// A tile index chunk is verified after the chunks to which it refers.
    pub(super) async fn finish_and_check(
        &mut self,
        spreadsheet: &Spreadsheet,
    ) -> Result<(), ClientError> {
        self.start_batch_uploads(spreadsheet).await?;
        while !self.running_uploads.is_empty() {
            self.wait_for_upload().await?;
        }
        while let Some(joined) = self.running_checks.join_next().await {
            joined.map_err(|error| task_error(&error))??;
        }
        let uploader = self.uploader(spreadsheet);
        let tile_groups = group_tiles_by_check(std::mem::take(&mut self.tiles_with_texts));
        uploader.check_concurrently(tile_groups.into_iter().map(ChunkCheck::of_tiles)).await?;
        let leaf_indexes = std::iter::from_fn(|| self.order.next_uploaded_part());
        uploader.check_concurrently(leaf_indexes.map(ChunkCheck::of_index)).await?;
        for inner_index in std::mem::take(&mut self.inner_indexes) {
            uploader.clone().check(ChunkCheck::of_index(inner_index)).await?;
        }
        Ok(())
    }

    async fn wait_for_upload(&mut self) -> Result<(), ClientError> {
        let Some(joined) = self.running_uploads.join_next().await else { return Ok(()) };
        let UploadedObject { number, chunk, long_text_count } =
            joined.map_err(|error| task_error(&error))??;
        self.order.finish_upload(number);
        self.progress.add_uploaded(chunk.bytes);
        if long_text_count > 0 {
            let tile = to_uploaded_chunk(chunk);
            self.tiles_with_texts.push(TileWithTexts { tile, long_text_count });
        }
        Ok(())
    }
}

/// The tiles and long texts of a group are at most `MAX_IMPORT_OBJECTS` objects, except that a tile
/// with more long texts has a group of its own.
fn group_tiles_by_check(tiles: Vec<TileWithTexts>) -> Vec<Vec<UploadedChunk>> {
    let mut groups: Vec<Vec<UploadedChunk>> = Vec::new();
    // Number of objects that can still be added to the last group.
    let mut free_objects = 0_usize;
    for TileWithTexts { tile, long_text_count } in tiles {
        let tile_objects = long_text_count.saturating_add(1);
        match groups.last_mut() {
            Some(last_group) if tile_objects <= free_objects => {
                last_group.push(tile);
                free_objects -= tile_objects;
            }
            _ => {
                groups.push(vec![tile]);
                free_objects = MAX_IMPORT_OBJECTS.saturating_sub(tile_objects);
            }
        }
    }
    groups
}

impl Uploader {
    async fn request_upload_urls(
        &self,
        chunks: Vec<NewChunk>,
    ) -> Result<Vec<ChunkUpload>, ClientError> {
        let request = ImportUploadsRequest { client_id: self.client_id.clone(), chunks };
        self.spreadsheet.request_import_uploads(request).await
    }

    async fn check_concurrently(
        &self,
        checks: impl Iterator<Item = ChunkCheck>,
    ) -> Result<(), ClientError> {
        let send_check = |check| self.clone().check(check);
        run_concurrently(MAX_CONCURRENT_CHECKS, checks, send_check, |result| result).await
    }

    async fn check(self, check: ChunkCheck) -> Result<(), ClientError> {
        let request = ImportCheckRequest {
            client_id: self.client_id,
            tiles: check.tiles,
            tile_index_chunk: check.index,
        };
        self.spreadsheet.check_import(&request).await?;
        Ok(())
    }

    /// If the upload URL has expired, requests a new one.
    async fn upload(
        self,
        number: u64,
        mut upload_url: ChunkUpload,
        object: PackedChunk,
    ) -> Result<UploadedObject, ClientError> {
        let PackedChunk { packed, long_text_count } = object;
        let client = self.spreadsheet.client();
        let mut urls_left = MAX_UPLOAD_URLS - 1;
        loop {
            match client.upload_chunk(&upload_url, packed.stored.clone()).await {
                Ok(()) => {
                    return Ok(UploadedObject { number, chunk: packed.chunk, long_text_count });
                }
                Err(error) if urls_left > 0 && needs_new_url(&error) => urls_left -= 1,
                Err(error) => return Err(error),
            }
            // The response contains one URL, because one was requested.
            let mut new_urls = self.request_upload_urls(vec![to_new_chunk(&packed)]).await?;
            if let Some(new_url) = new_urls.pop() {
                upload_url = new_url;
            }
        }
    }
}

/// A new URL is needed if the URL has expired (403), or if the object was uploaded twice at the
/// same time (409).
fn needs_new_url(error: &ClientError) -> bool {
    matches!(error, ClientError::UnexpectedStatus { status: 403 | 409, .. })
}

fn to_new_chunk(packed: &PackedObject) -> NewChunk {
    let UploadedChunk { hash, bytes } = to_uploaded_chunk(packed.chunk);
    NewChunk { hash, bytes, sha256: sha256(&packed.stored) }
}

fn to_uploaded_chunk(chunk: ChunkRef) -> UploadedChunk {
    UploadedChunk { hash: chunk.hash.to_string(), bytes: chunk.bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_tiles_at_the_limit_of_objects() {
        let most = MAX_IMPORT_OBJECTS;
        let tile = |long_text_count: usize| {
            let tile = UploadedChunk { hash: long_text_count.to_string(), bytes: 1 };
            TileWithTexts { tile, long_text_count }
        };
        let counts = |tiles: &[usize]| -> Vec<usize> {
            group_tiles_by_check(tiles.iter().copied().map(tile).collect())
                .iter()
                .map(Vec::len)
                .collect()
        };
        assert_eq!(counts(&[]), [] as [usize; 0]);
        assert_eq!(counts(&[1, 1, 1]), [3]);
        assert_eq!(counts(&[most - 3, 1, 1]), [2, 1]);
        assert_eq!(counts(&[most / 2 - 1, most / 2 - 1, 1]), [2, 1]);
        assert_eq!(counts(&[2_000, 1, 2_000, 1, 1]), [1, 1, 1, 2]);
        assert_eq!(counts(&vec![0; most + 1]), [most, 1]);
    }
}
