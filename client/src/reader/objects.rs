//! Loads a spreadsheet's snapshot objects from the disk cache. Objects that are not cached are
//! downloaded concurrently from the object store (S3).

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use cellar_api::wire::{EntryView, ExternalBody, MutationView};
use cellar_base::identity::LogId;
use cellar_base::limits::{
    CHUNK_GETS_AT_ONCE, MAX_CHUNK_URLS, MAX_STORED_CHUNK_BYTES, MAX_STORED_ROOT_BYTES,
    MAX_UPLOAD_BYTES,
};
use cellar_base::position::Position;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::keys::{ObjectKey, chunk_key, root_key};
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::objects::{Fetch, ObjectRequest, Objects};
use cellar_snapshot::root::Root;

use super::ReaderError;
use super::cache::{CacheName, CacheNames, ChunkCache};
use super::error::{HTTP_FORBIDDEN, HTTP_NOT_FOUND, is_refusal};
use crate::concurrent::run_concurrently;
use crate::{Client, ClientError, Spreadsheet};

#[derive(Debug)]
pub(crate) struct SnapshotSource {
    pub(crate) spreadsheet: Spreadsheet,
    /// The spreadsheet whose id is the prefix of the object keys. For a fork, this is the original
    /// spreadsheet from which the fork descends. It is known when the first snapshot root has been
    /// loaded.
    family: OnceLock<LogId>,
    cache: Option<Arc<ChunkCache>>,
    stores_in_cache: bool,
}

impl SnapshotSource {
    pub(crate) fn new(spreadsheet: Spreadsheet, cache: Option<Arc<ChunkCache>>) -> Self {
        Self { spreadsheet, family: OnceLock::new(), cache, stores_in_cache: true }
    }

    /// Does not store objects in the cache. A whole sheet would evict everything else.
    pub(crate) fn read_only(spreadsheet: Spreadsheet, cache: Option<Arc<ChunkCache>>) -> Self {
        Self { stores_in_cache: false, ..Self::new(spreadsheet, cache) }
    }

    pub(super) fn log(&self) -> LogId {
        self.spreadsheet.id()
    }

    fn client(&self) -> &Client {
        self.spreadsheet.client()
    }

    fn family(&self) -> LogId {
        self.family.get().copied().unwrap_or(self.log())
    }

    /// The cache files of a spreadsheet and all of its forks have the same names.
    fn cache_names(&self) -> CacheNames {
        CacheNames::new(self.client().identity(), self.family())
    }

    pub(crate) fn cached_root(&self, key: ObjectKey) -> Option<Root> {
        self.family.get_or_init(|| key.log);
        let cache_name = self.cache_names().root(key.hash);
        let unpack = |stored: &[u8]| Root::unpack(key.hash, stored);
        self.read_cached(&cache_name, MAX_STORED_ROOT_BYTES, unpack)
    }

    pub(super) async fn load_root(&self, key: ObjectKey, url: &str) -> Result<Root, ReaderError> {
        if let Some(root) = self.cached_root(key) {
            return Ok(root);
        }
        let path = root_key(key.log, key.hash);
        let damaged = |why| ReaderError::Damaged { log: self.log(), key: path.clone(), why };
        let stored = match self.client().download_object(url, MAX_STORED_ROOT_BYTES).await {
            Ok(stored) => stored,
            Err(error) if is_refusal(&error) => {
                return Err(ReaderError::Missing { log: self.log(), key: path });
            }
            Err(ClientError::ReplyTooLarge { max_bytes, .. }) => {
                return Err(damaged(too_large_message(max_bytes)));
            }
            Err(error) => return Err(error.into()),
        };
        let root = Root::unpack(key.hash, &stored).map_err(|error| damaged(error.to_string()))?;
        self.store_in_cache(&self.cache_names().root(key.hash), &stored);
        Ok(root)
    }

    /// Calls `read` until it no longer requests missing objects, and returns its value. Requested
    /// objects are loaded before the next call.
    pub(super) async fn load_until_ready<T>(
        &self,
        objects: &mut Objects,
        read: impl Fn(&Objects) -> Result<Fetch<T>, SnapshotError>,
    ) -> Result<T, ReaderError> {
        loop {
            match read(objects).map_err(|error| ReaderError::inconsistent(self.log(), &error))? {
                Fetch::Ready(value) => return Ok(value),
                Fetch::Missing(requests) => self.load_chunks(&requests, objects).await?,
            }
        }
    }

    pub(super) async fn load_chunks<R: ChunkReceiver>(
        &self,
        requests: &[R::Request],
        receiver: &mut R,
    ) -> Result<(), ReaderError> {
        let missing_requests = self.receive_cached_chunks(requests, receiver);
        for batch in missing_requests.chunks(MAX_CHUNK_URLS) {
            for undelivered in self.download_with_one_retry(batch, receiver).await? {
                self.report_undelivered(&undelivered, receiver)?;
            }
        }
        Ok(())
    }

    /// If chunks could not be downloaded, requests new URLs and tries once more, because the first
    /// URLs may have expired. Returns the chunks that are still missing.
    async fn download_with_one_retry<R: ChunkReceiver>(
        &self,
        requests: &[R::Request],
        receiver: &mut R,
    ) -> Result<Vec<UndeliveredChunk<R::Request>>, ReaderError> {
        let undelivered = self.download_chunks(requests, receiver).await?;
        if undelivered.is_empty() {
            return Ok(undelivered);
        }
        let retried_requests: Vec<R::Request> =
            undelivered.iter().map(|chunk| chunk.request).collect();
        self.download_chunks(&retried_requests, receiver).await
    }

    /// Returns an error if access to the chunk was refused, because it is then unknown whether the
    /// chunk exists.
    fn report_undelivered<R: ChunkReceiver>(
        &self,
        undelivered: &UndeliveredChunk<R::Request>,
        receiver: &mut R,
    ) -> Result<(), ReaderError> {
        let UndeliveredChunk { request, reason } = undelivered;
        let key = chunk_key(self.family(), R::hash_of(request));
        let error = ReaderError::Missing { log: self.log(), key };
        match reason {
            UndeliveredReason::NotFound => receiver.handle_unavailable(request, error),
            UndeliveredReason::AccessRefused => Err(error),
        }
    }

    /// Returns the requests for chunks that are not cached.
    fn receive_cached_chunks<R: ChunkReceiver>(
        &self,
        requests: &[R::Request],
        receiver: &mut R,
    ) -> Vec<R::Request> {
        let cache_names = self.cache_names();
        let mut missing_requests = Vec::new();
        for request in requests {
            let cache_name = cache_names.chunk(R::hash_of(request));
            let accept = |stored: &[u8]| receiver.accept(request, stored);
            if self.read_cached(&cache_name, MAX_STORED_CHUNK_BYTES, accept).is_none() {
                missing_requests.push(*request);
            }
        }
        missing_requests
    }

    /// Downloads at most `MAX_CHUNK_URLS` chunks. Returns the chunks that could not be downloaded.
    async fn download_chunks<R: ChunkReceiver>(
        &self,
        requests: &[R::Request],
        receiver: &mut R,
    ) -> Result<Vec<UndeliveredChunk<R::Request>>, ReaderError> {
        let hashes: Vec<ChunkHash> = requests.iter().map(R::hash_of).collect();
        let urls = self.spreadsheet.chunk_urls(&hashes).await?.urls;
        let download = |(request, url): (R::Request, String)| {
            let client = self.client().clone();
            async move { (request, client.download_object(&url, MAX_STORED_CHUNK_BYTES).await) }
        };
        let mut undelivered = Vec::new();
        let handle_result = |(request, result): (R::Request, DownloadResult)| {
            undelivered.extend(self.receive_download(request, result, receiver)?);
            Ok::<(), ReaderError>(())
        };
        let requests_with_urls = requests.iter().copied().zip(urls);
        run_concurrently(CHUNK_GETS_AT_ONCE, requests_with_urls, download, handle_result).await?;
        Ok(undelivered)
    }

    /// Returns the chunk if it could not be downloaded.
    fn receive_download<R: ChunkReceiver>(
        &self,
        request: R::Request,
        result: DownloadResult,
        receiver: &mut R,
    ) -> Result<Option<UndeliveredChunk<R::Request>>, ReaderError> {
        let undelivered = |reason| Ok(Some(UndeliveredChunk { request, reason }));
        let received = match result {
            Ok(stored) => self.accept_and_cache(request, &stored, receiver),
            Err(ClientError::UnexpectedStatus { status: HTTP_FORBIDDEN, .. }) => {
                return undelivered(UndeliveredReason::AccessRefused);
            }
            Err(ClientError::UnexpectedStatus { status: HTTP_NOT_FOUND, .. }) => {
                return undelivered(UndeliveredReason::NotFound);
            }
            Err(ClientError::ReplyTooLarge { max_bytes, .. }) => Err(too_large_message(max_bytes)),
            Err(error) => return Err(error.into()),
        };
        if let Err(why) = received {
            let key = chunk_key(self.family(), R::hash_of(&request));
            let damaged = ReaderError::Damaged { log: self.log(), key, why };
            receiver.handle_unavailable(&request, damaged)?;
        }
        Ok(None)
    }

    /// The receiver verifies the chunk. The error states why the chunk is corrupt.
    fn accept_and_cache<R: ChunkReceiver>(
        &self,
        request: R::Request,
        stored: &[u8],
        receiver: &mut R,
    ) -> Result<(), String> {
        receiver.accept(&request, stored)?;
        self.store_in_cache(&self.cache_names().chunk(R::hash_of(&request)), stored);
        Ok(())
    }

    /// Downloads the body of a large entry if it is not cached.
    pub(super) async fn mutations_of<'e>(
        &self,
        entry: &'e EntryView,
    ) -> Result<Cow<'e, [MutationView]>, ReaderError> {
        match &entry.external_body {
            None => Ok(Cow::Borrowed(&entry.mutations)),
            Some(body) => Ok(Cow::Owned(self.load_external_body(entry.position, body).await?)),
        }
    }

    async fn load_external_body(
        &self,
        position: Position,
        external: &ExternalBody,
    ) -> Result<Vec<MutationView>, ReaderError> {
        let cache_name = self.cache_names().body(&external.sha256);
        let decode = |stored: &[u8]| self.client().verified_mutations(external, stored);
        if let Some(mutations) = self.read_cached(&cache_name, MAX_UPLOAD_BYTES, decode) {
            return Ok(mutations);
        }
        let object = match self.client().download_external_body(external).await {
            Ok(object) => object,
            Err(error) if is_refusal(&error) => {
                return Err(ReaderError::LargeEntry { position, source: Box::new(error) });
            }
            Err(error) => return Err(error.into()),
        };
        let mutations = decode(&object)?;
        self.store_in_cache(&cache_name, &object);
        Ok(mutations)
    }

    /// An object that cannot be decoded is removed from the cache.
    fn read_cached<T, E>(
        &self,
        name: &CacheName,
        max_bytes: usize,
        decode: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Option<T> {
        let cache = self.cache.as_deref()?;
        let stored = cache.get(name, max_bytes)?;
        let decoded = decode(&stored).ok();
        if decoded.is_none() {
            cache.remove(name);
        }
        decoded
    }

    fn store_in_cache(&self, name: &CacheName, stored: &[u8]) {
        if let Some(cache) = self.cache.as_deref().filter(|_| self.stores_in_cache) {
            cache.insert(name, stored);
        }
    }
}

pub(super) trait ChunkReceiver {
    type Request: Copy + Send + Sync + 'static;

    fn hash_of(request: &Self::Request) -> ChunkHash;

    /// Verifies and stores a chunk. The error states why the chunk is corrupt.
    fn accept(&mut self, request: &Self::Request, stored: &[u8]) -> Result<(), String>;

    /// If this method returns an error, loading stops. Otherwise, the chunk is skipped.
    fn handle_unavailable(
        &mut self,
        request: &Self::Request,
        error: ReaderError,
    ) -> Result<(), ReaderError>;
}

impl ChunkReceiver for Objects {
    type Request = ObjectRequest;

    fn hash_of(request: &ObjectRequest) -> ChunkHash {
        request.hash
    }

    fn accept(&mut self, request: &ObjectRequest, stored: &[u8]) -> Result<(), String> {
        self.insert(request, stored).map_err(|error| error.to_string())
    }

    fn handle_unavailable(
        &mut self,
        _: &ObjectRequest,
        error: ReaderError,
    ) -> Result<(), ReaderError> {
        Err(error)
    }
}

type DownloadResult = Result<Vec<u8>, ClientError>;

struct UndeliveredChunk<Request> {
    request: Request,
    reason: UndeliveredReason,
}

enum UndeliveredReason {
    NotFound,
    /// The URL has expired or grants no access.
    AccessRefused,
}

fn too_large_message(max_bytes: usize) -> String {
    format!("the object is larger than the limit of {max_bytes} bytes")
}
