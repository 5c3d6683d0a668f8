//! Loads a spreadsheet's snapshot objects. Cache misses are downloaded concurrently from the object
//! store (S3).

use std::future::Future;
use std::sync::{Arc, OnceLock};

use cellar_api::{wire::ExternalBody, wire::MutationView};
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
use tokio::task::{JoinError, JoinSet};

use super::ReaderError;
use super::cache::{CacheName, CacheNames, ChunkCache};
use super::error::{is_not_found, is_refusal};
use crate::{Client, ClientError};

/// The snapshot objects and external entry bodies of one spreadsheet.
#[derive(Debug)]
pub(crate) struct SnapshotSource {
    pub(crate) client: Client,
    pub(crate) log: LogId,
    /// The spreadsheet whose id is the key prefix of the objects: all forks share the prefix of
    /// their origin. Set when the first snapshot root is loaded.
    family: OnceLock<LogId>,
    cache: Option<Arc<ChunkCache>>,
}

impl SnapshotSource {
    pub(crate) fn new(client: Client, log: LogId, cache: Option<Arc<ChunkCache>>) -> Self {
        Self { client, log, family: OnceLock::new(), cache }
    }

    fn family(&self) -> LogId {
        self.family.get().copied().unwrap_or(self.log)
    }

    /// Returns the file names of cached objects, which all forks of an origin share.
    fn cache_names(&self) -> CacheNames {
        CacheNames::new(self.client.identity(), self.family())
    }

    /// Reads a snapshot root from the disk cache.
    pub(crate) fn cached_root(&self, key: ObjectKey) -> Option<Root> {
        self.family.get_or_init(|| key.log);
        let name = self.cache_names().root(key.hash);
        let unpack = |stored: &[u8]| Root::unpack(key.hash, stored);
        self.read_cached(&name, MAX_STORED_ROOT_BYTES, unpack)
    }

    /// Loads a snapshot root from the disk cache or, on a cache miss, from `url`.
    pub(super) async fn load_root(&self, key: ObjectKey, url: &str) -> Result<Root, ReaderError> {
        let (hash, path) = (key.hash, root_key(key.log, key.hash));
        if let Some(root) = self.cached_root(key) {
            return Ok(root);
        }
        let damaged = |why| ReaderError::Damaged { log: self.log, key: path.clone(), why };
        let stored = match self.client.stored_object(url, MAX_STORED_ROOT_BYTES).await {
            Ok(stored) => stored,
            Err(error) if is_refusal(&error) => {
                return Err(ReaderError::Missing { log: self.log, key: path });
            }
            Err(ClientError::ReplyTooLarge { max_bytes, .. }) => {
                return Err(damaged(too_large(max_bytes)));
            }
            Err(error) => return Err(error.into()),
        };
        let root = Root::unpack(hash, &stored).map_err(|why| damaged(why.to_string()))?;
        self.store_in_cache(&self.cache_names().root(hash), &stored);
        Ok(root)
    }

    /// Loads objects into memory. Fails if an object is missing or corrupt.
    pub(super) async fn load(
        &self,
        wanted: &[ObjectRequest],
        objects: &mut Objects,
    ) -> Result<(), ReaderError> {
        self.load_chunks(
            wanted,
            |wanted| wanted.hash,
            |wanted, stored| objects.insert(wanted, stored).map_err(|why| why.to_string()),
            |_, error| Err(error),
        )
        .await
    }

    /// Calls `read` until it returns a value. Between calls, loads the objects that `read` has
    /// requested.
    pub(super) async fn load_until_ready<T>(
        &self,
        objects: &mut Objects,
        read: impl Fn(&Objects) -> Result<Fetch<T>, SnapshotError>,
    ) -> Result<T, ReaderError> {
        loop {
            match read(objects).map_err(|error| ReaderError::inconsistent(self.log, &error))? {
                Fetch::Ready(value) => return Ok(value),
                Fetch::Need(wanted) => self.load(&wanted, objects).await?,
            }
        }
    }

    /// Loads chunks. `accept` verifies and stores a chunk, or returns a description of the
    /// corruption. `on_unavailable` is called for each missing or corrupt chunk: `Err` aborts the
    /// load, `Ok` skips the chunk.
    pub(super) async fn load_chunks<W: Copy>(
        &self,
        wanted: &[W],
        hash: impl Fn(&W) -> ChunkHash,
        mut accept: impl FnMut(&W, &[u8]) -> Result<(), String>,
        mut on_unavailable: impl FnMut(&W, ReaderError) -> Result<(), ReaderError>,
    ) -> Result<(), ReaderError> {
        let names = self.cache_names();
        let mut missing = wanted.to_vec();
        missing.retain(|wanted| {
            let name = names.chunk(hash(wanted));
            self.read_cached(&name, MAX_STORED_CHUNK_BYTES, |stored| accept(wanted, stored))
                .is_none()
        });
        for batch in missing.chunks(MAX_CHUNK_URLS) {
            let refused =
                self.download_chunks(batch, &hash, &mut accept, &mut on_unavailable).await?;
            if refused.is_empty() {
                continue;
            }
            // The first URLs may have expired: retry once with new URLs.
            let retried: Vec<W> = refused.into_iter().map(|refused| refused.wanted).collect();
            let refused =
                self.download_chunks(&retried, &hash, &mut accept, &mut on_unavailable).await?;
            for RefusedChunk { wanted, is_not_found } in refused {
                let key = chunk_key(self.family(), hash(&wanted));
                let error = ReaderError::Missing { log: self.log, key };
                // After a refused download, the client cannot know whether the chunk exists.
                if !is_not_found {
                    return Err(error);
                }
                on_unavailable(&wanted, error)?;
            }
        }
        Ok(())
    }

    /// Downloads at most `MAX_CHUNK_URLS` chunks concurrently. Returns the chunks refused by the
    /// object store.
    async fn download_chunks<W: Copy>(
        &self,
        wanted: &[W],
        hash: &impl Fn(&W) -> ChunkHash,
        accept: &mut impl FnMut(&W, &[u8]) -> Result<(), String>,
        on_unavailable: &mut impl FnMut(&W, ReaderError) -> Result<(), ReaderError>,
    ) -> Result<Vec<RefusedChunk<W>>, ReaderError> {
        let hashes: Vec<ChunkHash> = wanted.iter().map(hash).collect();
        let urls = self.client.chunk_urls(self.log, &hashes).await?.urls;
        let download = |(index, url): (usize, String)| {
            let client = self.client.clone();
            async move { (index, client.stored_object(&url, MAX_STORED_CHUNK_BYTES).await) }
        };
        let mut refused = Vec::new();
        let handle_download = |joined: Result<(usize, Downloaded), JoinError>| {
            // Joining fails only if the task panicked, which is a bug.
            let (index, downloaded) =
                joined.map_err(|error| ClientError::Setup { why: error.to_string() })?;
            let Some(wanted) = wanted.get(index) else { return Ok(()) };
            let hash = hash(wanted);
            let damaged = |why| {
                let key = chunk_key(self.family(), hash);
                ReaderError::Damaged { log: self.log, key, why }
            };
            match downloaded {
                Ok(stored) => match accept(wanted, &stored) {
                    Ok(()) => self.store_in_cache(&self.cache_names().chunk(hash), &stored),
                    Err(why) => on_unavailable(wanted, damaged(why))?,
                },
                Err(error) if is_refusal(&error) => {
                    let is_not_found = is_not_found(&error);
                    refused.push(RefusedChunk { wanted: *wanted, is_not_found });
                }
                Err(ClientError::ReplyTooLarge { max_bytes, .. }) => {
                    on_unavailable(wanted, damaged(too_large(max_bytes)))?;
                }
                Err(error) => return Err(ReaderError::from(error)),
            }
            Ok(())
        };
        let numbered_urls = urls.into_iter().enumerate();
        run_concurrently(CHUNK_GETS_AT_ONCE, numbered_urls, download, handle_download).await?;
        Ok(refused)
    }

    /// Loads a large entry's mutations from the disk cache or, on a cache miss, from the object
    /// store.
    pub(super) async fn load_external_body(
        &self,
        position: Position,
        external: &ExternalBody,
    ) -> Result<Vec<MutationView>, ReaderError> {
        let name = self.cache_names().body(&external.sha256);
        let decode = |stored: &[u8]| self.client.mutations_of(external, stored);
        if let Some(mutations) = self.read_cached(&name, MAX_UPLOAD_BYTES, decode) {
            return Ok(mutations);
        }
        let object = match self.client.external_object(external).await {
            Ok(object) => object,
            Err(error) if is_refusal(&error) => {
                return Err(ReaderError::LargeEntry { position, source: Box::new(error) });
            }
            Err(error) => return Err(error.into()),
        };
        let mutations = decode(&object)?;
        self.store_in_cache(&name, &object);
        Ok(mutations)
    }

    /// Reads and decodes an object from the disk cache. Removes the object from the cache if
    /// decoding fails.
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
        if let Some(cache) = self.cache.as_deref() {
            cache.insert(name, stored);
        }
    }
}

/// Result of downloading one object.
type Downloaded = Result<Vec<u8>, ClientError>;

/// A chunk that the object store did not return.
struct RefusedChunk<W> {
    wanted: W,
    /// Whether the object store reported that the chunk does not exist, rather than refusing
    /// access.
    is_not_found: bool,
}

fn too_large(max_bytes: usize) -> String {
    format!("it is larger than the limit of {max_bytes} bytes")
}

/// Runs at most `limit` tasks concurrently and passes each result to `handle` as soon as it is
/// available. If `handle` returns an error, cancels the remaining tasks.
async fn run_concurrently<I, T: Send + 'static, F, E>(
    limit: usize,
    items: impl IntoIterator<Item = I>,
    task: impl Fn(I) -> F,
    mut handle: impl FnMut(Result<T, JoinError>) -> Result<(), E>,
) -> Result<(), E>
where
    F: Future<Output = T> + Send + 'static,
{
    let mut items = items.into_iter();
    let mut running = JoinSet::new();
    for item in items.by_ref().take(limit) {
        running.spawn(task(item));
    }
    while let Some(joined) = running.join_next().await {
        handle(joined)?;
        if let Some(item) = items.next() {
            running.spawn(task(item));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn runs_at_most_the_limit_of_tasks_concurrently() {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for count in [0, 1, CHUNK_GETS_AT_ONCE, CHUNK_GETS_AT_ONCE + 1, 100] {
            most.store(0, Ordering::SeqCst);
            let run = |number: usize| {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                async move {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    number
                }
            };
            let mut ended = Vec::new();
            let done = |number: Result<usize, JoinError>| {
                ended.push(number.unwrap());
                Ok::<(), ()>(())
            };
            run_concurrently(CHUNK_GETS_AT_ONCE, 0..count, run, done).await.unwrap();
            ended.sort_unstable();
            assert_eq!(ended, Vec::from_iter(0..count));
            assert_eq!(most.load(Ordering::SeqCst), count.min(CHUNK_GETS_AT_ONCE));
        }
    }

    #[tokio::test]
    async fn the_first_error_cancels_all_tasks() {
        let mut ended = 0;
        let done = |number: Result<usize, JoinError>| {
            ended += 1;
            if number.unwrap() == 2 { Err("no") } else { Ok(()) }
        };
        let run = |number| async move { number };
        assert_eq!(run_concurrently(1, 0..9, run, done).await, Err("no"));
        assert_eq!(ended, 3);
    }
}
