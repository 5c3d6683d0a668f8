//! A disk cache of snapshot objects, which are immutable.
//!
//! Cache errors are never reported. An object that cannot be read is loaded as if it were not
//! cached, and an object that cannot be written is not cached. Callers verify the hash of each
//! object and remove corrupt objects from the cache. Processes may share a cache directory, because
//! files are created by atomic renames and may be evicted by any process.

use std::fs::{DirEntry, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CHUNK_CACHE_BYTES;
use cellar_snapshot::level::ChunkHash;

use crate::files::{STATE_FOLDER, create_folder};

pub(crate) const FOLDER: &str = "chunks";
/// The part of the maximum cache size that an eviction frees, as a divisor. Freeing more than
/// necessary avoids an eviction on every write.
const EVICTION_DIVISOR: u64 = 16;
/// Number of writes between two scans of the directory. A scan also finds files written by other
/// processes.
const WRITES_BETWEEN_SCANS: u32 = 256;

/// A disk cache of snapshot objects. If its size exceeds the limit, the least recently used objects
/// are evicted. Files written by other processes are counted only by the next directory scan, so
/// the cache may temporarily exceed its limit.
#[derive(Debug)]
pub struct ChunkCache {
    folder: PathBuf,
    max_bytes: u64,
    usage: Mutex<CacheUsage>,
}

#[derive(Debug, Default)]
struct CacheUsage {
    /// Total size of the files as found by the last scan, plus the files written since then, in
    /// bytes.
    bytes: u64,
    writes_until_scan: u32,
}

/// A hash of the stack, the spreadsheet and the object's hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheName(String);

#[derive(Debug, Clone)]
pub(super) struct CacheNames {
    /// The stack and the spreadsheet, which are hashed as part of each name.
    owner: String,
}

impl CacheNames {
    pub(super) fn new(identity: &str, log: LogId) -> Self {
        Self { owner: format!("{identity}\n{log}") }
    }

    pub(super) fn chunk(&self, hash: ChunkHash) -> CacheName {
        self.name("chunk", &hash.to_string())
    }

    pub(super) fn root(&self, hash: ChunkHash) -> CacheName {
        self.name("root", &hash.to_string())
    }

    pub(super) fn body(&self, sha256: &str) -> CacheName {
        self.name("body", sha256)
    }

    fn name(&self, kind: &str, hash: &str) -> CacheName {
        let key = format!("{}\n{kind}\n{hash}", self.owner);
        CacheName(blake3::hash(key.as_bytes()).to_hex().to_string())
    }
}

struct CachedFile {
    last_used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

impl CachedFile {
    /// Returns `None` if the directory entry is not a regular file.
    fn of_entry(entry: &DirEntry) -> Option<Self> {
        let metadata = entry.metadata().ok()?;
        if !metadata.is_file() {
            return None;
        }
        let last_used = metadata.modified().ok()?;
        Some(Self { last_used, bytes: metadata.len(), path: entry.path() })
    }
}

/// Returns `None` if the file cannot be read, or if it is longer than `max_bytes`.
fn read_at_most(file: &mut File, max_bytes: usize) -> Option<Vec<u8>> {
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let mut contents = Vec::new();
    file.take(limit).read_to_end(&mut contents).ok()?;
    (contents.len() <= max_bytes).then_some(contents)
}

impl ChunkCache {
    /// Returns the cache in `dir/.cellar/chunks/` with the default size limit. The directory is
    /// created on the first write.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self::with_max_bytes(dir, MAX_CHUNK_CACHE_BYTES)
    }

    /// Like [`ChunkCache::new`], but limits the cache to `max_bytes`.
    #[must_use]
    pub fn with_max_bytes(dir: &Path, max_bytes: u64) -> Self {
        let folder = dir.join(STATE_FOLDER).join(FOLDER);
        Self { folder, max_bytes, usage: Mutex::default() }
    }

    /// Reads an object without verifying it. The file's modification time is set to the current
    /// time, because it records when the object was last used. An object that is longer than
    /// `max_bytes` is removed.
    pub(super) fn get(&self, name: &CacheName, max_bytes: usize) -> Option<Vec<u8>> {
        let path = self.path(name);
        // Open only regular files, because opening a pipe would block.
        let is_regular = std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        if !is_regular {
            return None;
        }
        // If the file is read-only, the object is returned, but the time of its use is not
        // recorded.
        let writable_file = OpenOptions::new().read(true).write(true).open(&path);
        let mut file = writable_file.or_else(|_| File::open(&path)).ok()?;
        let Some(stored) = read_at_most(&mut file, max_bytes) else {
            self.remove(name);
            return None;
        };
        let _ = file.set_modified(SystemTime::now());
        Some(stored)
    }

    /// Stores a verified object. No-op if the object is larger than the maximum cache size.
    pub(super) fn insert(&self, name: &CacheName, stored: &[u8]) {
        let bytes = u64::try_from(stored.len()).unwrap_or(u64::MAX);
        if bytes > self.max_bytes || self.write(name, stored).is_none() {
            return;
        }
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        usage.bytes = usage.bytes.saturating_add(bytes);
        if usage.bytes > self.max_bytes || usage.writes_until_scan == 0 {
            usage.bytes = self.scan_and_evict();
            usage.writes_until_scan = WRITES_BETWEEN_SCANS;
        }
        usage.writes_until_scan = usage.writes_until_scan.saturating_sub(1);
    }

    pub(super) fn remove(&self, name: &CacheName) {
        let _ = std::fs::remove_file(self.path(name));
    }

    fn path(&self, name: &CacheName) -> PathBuf {
        self.folder.join(&name.0)
    }

    /// The file may be corrupt after a system crash, which is harmless because readers verify it.
    fn write(&self, name: &CacheName, stored: &[u8]) -> Option<()> {
        create_folder(&self.folder).ok()?;
        // The temporary file has mode 0600, which the rename preserves.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).ok()?;
        file.write_all(stored).ok()?;
        // Set the modification time explicitly, so that it is as precise as after a cache hit.
        let _ = file.as_file().set_modified(SystemTime::now());
        file.persist(self.path(name)).ok().map(|_| ())
    }

    /// If the size exceeds the limit, evicts the least recently used files. Returns the total size
    /// of the remaining files, in bytes.
    fn scan_and_evict(&self) -> u64 {
        let mut files = self.list_files();
        let mut total_bytes: u64 = files.iter().map(|file| file.bytes).fold(0, u64::saturating_add);
        if total_bytes <= self.max_bytes {
            return total_bytes;
        }
        files.sort_unstable_by(|left, right| {
            left.last_used.cmp(&right.last_used).then_with(|| left.path.cmp(&right.path))
        });
        let target_bytes = self.max_bytes - self.max_bytes / EVICTION_DIVISOR;
        for file in files {
            if total_bytes <= target_bytes {
                break;
            }
            // If the file is already missing, another process has removed it. A file that cannot be
            // removed still counts towards the size.
            let is_removed = std::fs::remove_file(&file.path).is_ok() || !file.path.exists();
            if is_removed {
                total_bytes = total_bytes.saturating_sub(file.bytes);
            }
        }
        total_bytes
    }

    /// Includes temporary files of processes that were killed.
    fn list_files(&self) -> Vec<CachedFile> {
        let Ok(folder_entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        folder_entries.flatten().filter_map(|entry| CachedFile::of_entry(&entry)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const BOUND: u64 = 64;

    fn names() -> CacheNames {
        CacheNames::new("cloud", LogId::from_uuid(uuid::Uuid::from_bytes([1; 16])))
    }

    fn name(number: u8) -> CacheName {
        names().chunk(ChunkHash([number; 32]))
    }

    fn cache(dir: &tempfile::TempDir) -> ChunkCache {
        ChunkCache::with_max_bytes(dir.path(), BOUND)
    }

    /// Returns which of the first `count` objects exist. Does not count as a use of these objects.
    fn existing(cache: &ChunkCache, count: u8) -> Vec<u8> {
        (0..count).filter(|number| cache.path(&name(*number)).exists()).collect()
    }

    fn bytes(cache: &ChunkCache) -> u64 {
        cache.list_files().iter().map(|kept| kept.bytes).sum()
    }

    /// Sets the time of an object's last use to `seconds` ago.
    fn age(cache: &ChunkCache, number: u8, seconds: u64) {
        let file = OpenOptions::new().write(true).open(cache.path(&name(number))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn objects_are_found_only_by_stack_log_kind_and_hash() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        assert_eq!(cache.get(&name(1), 10), None);
        cache.insert(&name(1), b"cells");
        assert_eq!(cache.get(&name(1), 5), Some(b"cells".to_vec()));
        let (log, hash) = (LogId::from_uuid(uuid::Uuid::from_bytes([1; 16])), ChunkHash([1; 32]));
        let another = LogId::from_uuid(uuid::Uuid::from_bytes([2; 16]));
        for other in [
            CacheNames::new("cloud", another).chunk(hash),
            CacheNames::new("another", log).chunk(hash),
            names().root(hash),
            names().body(&hash.to_string()),
            name(2),
        ] {
            assert_eq!(cache.get(&other, 10), None, "{other:?}");
        }
        cache.remove(&name(1));
        assert_eq!(cache.get(&name(1), 10), None);
    }

    #[test]
    fn a_file_longer_than_its_object_may_be_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        cache.insert(&name(1), b"cells");
        assert_eq!(cache.get(&name(1), 4), None);
        assert!(existing(&cache, 2).is_empty());
        std::fs::create_dir(cache.path(&name(1))).unwrap();
        assert_eq!(cache.get(&name(1), 10), None, "a folder");
    }

    #[test]
    fn exceeding_the_limit_evicts_the_least_recently_used() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        for number in 0..4 {
            cache.insert(&name(number), &[number; 16]);
            age(&cache, number, 100 - u64::from(number));
        }
        assert_eq!((existing(&cache, 5), bytes(&cache)), (vec![0, 1, 2, 3], BOUND));
        // A cache hit makes the object the most recently used one.
        assert!(cache.get(&name(0), 16).is_some());
        cache.insert(&name(4), &[4]);
        assert_eq!(existing(&cache, 5), [0, 2, 3, 4]);
        cache.insert(&name(5), &[5; 15]);
        assert_eq!(bytes(&cache), BOUND, "{:?}", existing(&cache, 6));
        cache.insert(&name(6), &[6]);
        assert_eq!(existing(&cache, 7), [0, 3, 4, 5, 6]);
    }

    #[test]
    fn the_size_limit_of_an_object_is_inclusive() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        let whole = vec![7; usize::try_from(BOUND).unwrap()];
        cache.insert(&name(0), &whole);
        cache.insert(&name(1), &[whole.as_slice(), &[7]].concat());
        assert_eq!(existing(&cache, 2), [0]);
    }

    #[test]
    fn concurrent_processes_keep_files_intact_and_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (cache(&dir), cache(&dir));
        std::thread::scope(|scope| {
            for cache in [&one, &two] {
                scope.spawn(move || {
                    for round in 0..2_000_u32 {
                        let number = u8::try_from(round % 7).unwrap();
                        cache.insert(&name(number), &[number; 16]);
                        let found = cache.get(&name(6 - number), 16);
                        let whole = vec![6 - number; 16];
                        assert!(found.is_none_or(|stored| stored == whole));
                    }
                });
            }
        });
        // A new cache scans the directory on its first write and counts all files.
        ChunkCache::with_max_bytes(dir.path(), BOUND).insert(&name(8), &[8]);
        assert!(bytes(&one) <= BOUND, "{}", bytes(&one));
        assert!(existing(&one, 9).contains(&8));
        let left = std::fs::read_dir(&one.folder).unwrap().count();
        assert_eq!(left, existing(&one, 9).len(), "a temporary file was left");
    }

    #[test]
    fn files_of_other_processes_are_counted_at_the_next_scan() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (cache(&dir), cache(&dir));
        one.insert(&name(0), &[0]);
        (1..5).for_each(|number| two.insert(&name(number), &[number; 12]));
        // `one` has counted only one byte so far; repeated writes trigger the next scan.
        (0..WRITES_BETWEEN_SCANS).for_each(|_| one.insert(&name(9), b""));
        two.insert(&name(5), &[5; 15]);
        assert!(bytes(&one) <= BOUND);
        age(&one, 1, 100);
        std::fs::write(one.folder.join(".tmp-left"), [0; 30]).unwrap();
        (0..=WRITES_BETWEEN_SCANS).for_each(|_| one.insert(&name(9), b""));
        assert!(bytes(&one) <= BOUND, "{}", bytes(&one));
    }

    #[cfg(unix)]
    #[test]
    fn files_are_private_and_a_missing_folder_disables_the_cache() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let kept = cache(&dir);
        kept.insert(&name(1), b"cells");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&kept.folder), mode(&kept.path(&name(1)))), (0o700, 0o600));
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(STATE_FOLDER)).unwrap();
        std::fs::write(dir.path().join(STATE_FOLDER).join(FOLDER), "no folder").unwrap();
        let none = cache(&dir);
        none.insert(&name(1), b"cells");
        assert_eq!(none.get(&name(1), 10), None);
        none.remove(&name(1));
    }
}
