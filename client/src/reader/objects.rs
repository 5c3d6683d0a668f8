//! Loading the objects of a spreadsheet's snapshots: what is kept on disk first, then all that is
//! missing, side by side.

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
use cellar_snapshot::objects::{Fetch, Objects, Wanted};
use cellar_snapshot::root::Root;
use tokio::task::{JoinError, JoinSet};

use super::ReaderError;
use super::cache::{CacheName, CacheNames, ChunkCache};
use super::error::{is_absence, is_refusal};
use crate::{Client, ClientError};

/// The objects of one spreadsheet.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) client: Client,
    pub(crate) log: LogId,
    /// Under which spreadsheet's prefix its objects are, once a root was named: that of the origin of
    /// all forks.
    family: OnceLock<LogId>,
    cache: Option<Arc<ChunkCache>>,
}

impl Source {
    pub(crate) fn new(client: Client, log: LogId, cache: Option<Arc<ChunkCache>>) -> Self {
        Self { client, log, family: OnceLock::new(), cache }
    }

    fn family(&self) -> LogId {
        self.family.get().copied().unwrap_or(self.log)
    }

    /// Forks of one family share what is kept.
    fn names(&self) -> CacheNames {
        CacheNames::new(self.client.identity(), self.family())
    }

    /// A root by its key, if it is kept on disk.
    pub(crate) fn kept_root(&self, named: ObjectKey) -> Option<Root> {
        self.family.get_or_init(|| named.log);
        let name = self.names().root(named.hash);
        self.kept(&name, MAX_STORED_ROOT_BYTES, |stored| Root::unpack(named.hash, stored))
    }

    /// A root by its key; `url` is where it is fetched from.
    pub(super) async fn root(&self, named: ObjectKey, url: &str) -> Result<Root, ReaderError> {
        let hash = named.hash;
        if let Some(root) = self.kept_root(named) {
            return Ok(root);
        }
        let (log, name, key) = (self.log, self.names().root(hash), root_key(named.log, hash));
        let unpack = |stored: &[u8]| Root::unpack(hash, stored).map_err(|why| why.to_string());
        let stored = match self.client.stored_object(url, MAX_STORED_ROOT_BYTES).await {
            Err(error) if is_refusal(&error) => return Err(ReaderError::Missing { log, key }),
            Err(ClientError::ReplyTooLarge { max_bytes, .. }) => {
                let why = format!("it has more than {max_bytes} bytes");
                return Err(ReaderError::Damaged { log, key, why });
            }
            stored => stored?,
        };
        let root = unpack(&stored).map_err(|why| ReaderError::Damaged { log, key, why })?;
        self.keep(&name, &stored);
        Ok(root)
    }

    /// Loads objects that were asked for.
    pub(super) async fn load(
        &self,
        wanted: &[Wanted],
        objects: &mut Objects,
    ) -> Result<(), ReaderError> {
        self.chunks(
            wanted,
            |wanted| wanted.hash,
            |wanted, stored| objects.insert(wanted, stored).map_err(|why| why.to_string()),
            |_, fault| Err(fault),
        )
        .await
    }

    /// Asks until nothing is missing.
    pub(super) async fn ready<T>(
        &self,
        objects: &mut Objects,
        ask: impl Fn(&Objects) -> Result<Fetch<T>, SnapshotError>,
    ) -> Result<T, ReaderError> {
        loop {
            match ask(objects).map_err(|error| ReaderError::shape(self.log, &error))? {
                Fetch::Ready(ready) => return Ok(ready),
                Fetch::Need(wanted) => self.load(&wanted, objects).await?,
            }
        }
    }

    /// Loads chunks. `take` verifies each and takes it in, or says what is wrong with it. `lost` gets each
    /// that is gone or damaged; its error ends the load, and `Ok` leaves the chunk out.
    pub(super) async fn chunks<W: Copy>(
        &self,
        wanted: &[W],
        hash: impl Fn(&W) -> ChunkHash,
        mut take: impl FnMut(&W, &[u8]) -> Result<(), String>,
        mut lost: impl FnMut(&W, ReaderError) -> Result<(), ReaderError>,
    ) -> Result<(), ReaderError> {
        let (mut missing, names) = (wanted.to_vec(), self.names());
        missing.retain(|wanted| {
            let name = names.chunk(hash(wanted));
            self.kept(&name, MAX_STORED_CHUNK_BYTES, |stored| take(wanted, stored)).is_none()
        });
        for part in missing.chunks(MAX_CHUNK_URLS) {
            let refused = self.fetch(part, &hash, &mut take, &mut lost).await?;
            if refused.is_empty() {
                continue;
            }
            let refused: Vec<W> = refused.into_iter().map(|refused| refused.wanted).collect();
            // A URL may have ended meanwhile: once more with new ones.
            for Refused { wanted, is_absent } in
                self.fetch(&refused, &hash, &mut take, &mut lost).await?
            {
                let (log, key) = (self.log, chunk_key(self.family(), hash(&wanted)));
                let missing = ReaderError::Missing { log, key };
                // A client without access cannot know whether the object exists.
                if !is_absent {
                    return Err(missing);
                }
                lost(&wanted, missing)?;
            }
        }
        Ok(())
    }

    /// Fetches chunks, at most `MAX_CHUNK_URLS`. Gives those that the store refuses.
    async fn fetch<W: Copy>(
        &self,
        wanted: &[W],
        hash: &impl Fn(&W) -> ChunkHash,
        take: &mut impl FnMut(&W, &[u8]) -> Result<(), String>,
        lost: &mut impl FnMut(&W, ReaderError) -> Result<(), ReaderError>,
    ) -> Result<Vec<Refused<W>>, ReaderError> {
        let hashes: Vec<ChunkHash> = wanted.iter().map(hash).collect();
        let urls = self.client.chunk_urls(self.log, &hashes).await?.urls;
        let mut refused = Vec::new();
        let get = |(number, url): (usize, String)| {
            let client = self.client.clone();
            async move { (number, client.stored_object(&url, MAX_STORED_CHUNK_BYTES).await) }
        };
        let done = |ended: Result<(usize, Result<Vec<u8>, ClientError>), JoinError>| -> Result<(), ReaderError> {
            // A task that ends without an answer is a fault in here.
            let (number, got) =
                ended.map_err(|error| ClientError::Setup { why: error.to_string() })?;
            let Some(wanted) = wanted.get(number) else { return Ok(()) };
            let damaged = |why| {
                let (log, key) = (self.log, chunk_key(self.family(), hash(wanted)));
                ReaderError::Damaged { log, key, why }
            };
            match got {
                Ok(stored) => match take(wanted, &stored) {
                    Ok(()) => self.keep(&self.names().chunk(hash(wanted)), &stored),
                    Err(why) => lost(wanted, damaged(why))?,
                },
                Err(error) if is_refusal(&error) => {
                    refused.push(Refused { wanted: *wanted, is_absent: is_absence(&error) });
                }
                Err(ClientError::ReplyTooLarge { max_bytes, .. }) => {
                    lost(wanted, damaged(format!("it has more than {max_bytes} bytes")))?;
                }
                Err(error) => return Err(error.into()),
            }
            Ok(())
        };
        side_by_side(CHUNK_GETS_AT_ONCE, urls.into_iter().enumerate(), get, done).await?;
        Ok(refused)
    }

    /// The mutations of a large entry.
    pub(super) async fn large_entry(
        &self,
        position: Position,
        external: &ExternalBody,
    ) -> Result<Vec<MutationView>, ReaderError> {
        let name = self.names().body(&external.sha256);
        let read = |stored: &[u8]| self.client.mutations_of(external, stored);
        if let Some(mutations) = self.kept(&name, MAX_UPLOAD_BYTES, read) {
            return Ok(mutations);
        }
        let object = match self.client.external_object(external).await {
            Err(error) if is_refusal(&error) => {
                return Err(ReaderError::LargeEntry { position, source: Box::new(error) });
            }
            object => object?,
        };
        let mutations = read(&object)?;
        self.keep(&name, &object);
        Ok(mutations)
    }

    /// What is kept on disk, if it is what it should be; otherwise it is removed.
    fn kept<T, E>(
        &self,
        name: &CacheName,
        max_bytes: usize,
        read: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Option<T> {
        let cache = self.cache.as_deref()?;
        let stored = cache.get(name, max_bytes)?;
        let read = read(&stored).ok();
        if read.is_none() {
            cache.remove(name);
        }
        read
    }

    fn keep(&self, name: &CacheName, stored: &[u8]) {
        if let Some(cache) = self.cache.as_deref() {
            cache.keep(name, stored);
        }
    }
}

/// A chunk that the store does not hand out.
struct Refused<W> {
    wanted: W,
    /// There is no such object.
    is_absent: bool,
}

/// Runs tasks, a bounded number at the same time, and hands over what each gives as soon as it is
/// there. The first fault ends them all.
async fn side_by_side<I, T: Send + 'static, F, E>(
    at_once: usize,
    items: impl IntoIterator<Item = I>,
    run: impl Fn(I) -> F,
    mut done: impl FnMut(Result<T, JoinError>) -> Result<(), E>,
) -> Result<(), E>
where
    F: Future<Output = T> + Send + 'static,
{
    let (mut items, mut running) = (items.into_iter(), JoinSet::new());
    for item in items.by_ref().take(at_once) {
        running.spawn(run(item));
    }
    while let Some(ended) = running.join_next().await {
        done(ended)?;
        items.next().into_iter().for_each(|item| {
            running.spawn(run(item));
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn as_many_run_at_once_as_may_and_not_one_more() {
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
            side_by_side(CHUNK_GETS_AT_ONCE, 0..count, run, done).await.unwrap();
            ended.sort_unstable();
            assert_eq!(ended, Vec::from_iter(0..count));
            assert_eq!(most.load(Ordering::SeqCst), count.min(CHUNK_GETS_AT_ONCE));
        }
    }

    #[tokio::test]
    async fn the_first_fault_ends_all() {
        let mut ended = 0;
        let done = |number: Result<usize, JoinError>| {
            ended += 1;
            if number.unwrap() == 2 { Err("no") } else { Ok(()) }
        };
        let run = |number| async move { number };
        assert_eq!(side_by_side(1, 0..9, run, done).await, Err("no"));
        assert_eq!(ended, 3);
    }
}
