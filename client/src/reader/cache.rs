//! Objects of snapshots that stay on disk: they never change under their names.
//!
//! A cache is a help and never a fault: what cannot be read or written is not there. Who reads an
//! object verifies it by its hash, and removes one that is not what it should be. Several processes may
//! use one folder at once: files come by renames, and go whenever somebody makes room.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CHUNK_CACHE_BYTES;
use cellar_snapshot::level::ChunkHash;

use crate::files::{STATE_FOLDER, create_folder};

/// The folder of the objects, in the folder for local state.
const FOLDER: &str = "chunks";
/// Of this many parts of the bound, one is freed when it is exceeded: not each further object looks
/// through the folder.
const FREED_PART: u64 = 16;
/// Objects that are written before the folder is looked through again: others may write there, too.
const WRITES_BETWEEN_LOOKS: u32 = 256;

/// Objects on disk, bounded; those that were used last stay.
///
/// Other processes' objects are counted when the folder is looked through, so for a short while all of
/// them together may have more.
#[derive(Debug)]
pub struct ChunkCache {
    folder: PathBuf,
    max_bytes: u64,
    known: Mutex<Known>,
}

/// What is known of the folder.
#[derive(Debug, Default)]
struct Known {
    /// Bytes of all files when it was looked through, and of what was written since.
    bytes: u64,
    /// Writes until it is looked through again.
    writes_left: u32,
}

/// The name under which an object is kept: by cloud, spreadsheet and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheName(String);

/// The names of one spreadsheet's objects.
#[derive(Debug, Clone)]
pub(super) struct CacheNames {
    owner: String,
}

impl CacheNames {
    /// For a spreadsheet of the cloud with this identity.
    pub(super) fn new(identity: &str, log: LogId) -> Self {
        Self { owner: format!("{identity}\n{log}") }
    }

    pub(super) fn chunk(&self, hash: ChunkHash) -> CacheName {
        self.name("chunk", &hash.to_string())
    }

    pub(super) fn root(&self, hash: ChunkHash) -> CacheName {
        self.name("root", &hash.to_string())
    }

    /// The body of a large entry, by its SHA-256.
    pub(super) fn body(&self, sha256: &str) -> CacheName {
        self.name("body", sha256)
    }

    fn name(&self, kind: &str, hash: &str) -> CacheName {
        let key = format!("{}\n{kind}\n{hash}", self.owner);
        CacheName(blake3::hash(key.as_bytes()).to_hex().to_string())
    }
}

/// A file of the folder.
struct Kept {
    used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

impl ChunkCache {
    /// The cache in `dir/.cellar/chunks/`, of at most `MAX_CHUNK_CACHE_BYTES`. Nothing is made before
    /// there is something to keep.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self::with_bound(dir, MAX_CHUNK_CACHE_BYTES)
    }

    /// As [`ChunkCache::new`], of at most so many bytes.
    #[must_use]
    pub fn with_bound(dir: &Path, max_bytes: u64) -> Self {
        let folder = dir.join(STATE_FOLDER).join(FOLDER);
        Self { folder, max_bytes, known: Mutex::default() }
    }

    /// An object of at most so many bytes, not verified. It counts as used now.
    pub(super) fn get(&self, name: &CacheName, max_bytes: usize) -> Option<Vec<u8>> {
        let path = self.path(name);
        // Nothing but a plain file is opened: a pipe would be waited for.
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if !is_file {
            return None;
        }
        // Where only reading is allowed, its time stays as it was.
        let writable = OpenOptions::new().read(true).write(true).open(&path);
        let mut file = writable.or_else(|_| File::open(&path)).ok()?;
        let max_bytes = u64::try_from(max_bytes).unwrap_or(u64::MAX);
        let mut stored = Vec::new();
        let read = (&mut file).take(max_bytes.saturating_add(1)).read_to_end(&mut stored);
        if read.is_err() || u64::try_from(stored.len()).unwrap_or(u64::MAX) > max_bytes {
            self.remove(name);
            return None;
        }
        let _ = file.set_modified(SystemTime::now());
        Some(stored)
    }

    /// Keeps an object that was verified, if there is room for it at all.
    pub(super) fn keep(&self, name: &CacheName, stored: &[u8]) {
        let bytes = u64::try_from(stored.len()).unwrap_or(u64::MAX);
        if bytes > self.max_bytes || self.write(name, stored).is_none() {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.bytes = known.bytes.saturating_add(bytes);
        if known.bytes > self.max_bytes || known.writes_left == 0 {
            *known = Known { bytes: self.make_room(), writes_left: WRITES_BETWEEN_LOOKS };
        }
        known.writes_left = known.writes_left.saturating_sub(1);
    }

    /// Removes an object that is not what it should be.
    pub(super) fn remove(&self, name: &CacheName) {
        let _ = std::fs::remove_file(self.path(name));
    }

    fn path(&self, name: &CacheName) -> PathBuf {
        self.folder.join(&name.0)
    }

    /// Writes a file whole or not at all. It need not survive a crash: it is verified when it is read.
    fn write(&self, name: &CacheName, stored: &[u8]) -> Option<()> {
        create_folder(&self.folder).ok()?;
        // Made with mode 0600, which the rename keeps.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).ok()?;
        file.write_all(stored).ok()?;
        // As exact as the time of a hit.
        let _ = file.as_file().set_modified(SystemTime::now());
        file.persist(self.path(name)).ok().map(|_| ())
    }

    /// Removes what was not used for longest, if there is too much, and gives the bytes that are left.
    fn make_room(&self) -> u64 {
        let mut kept = self.files();
        let mut bytes: u64 = kept.iter().map(|kept| kept.bytes).fold(0, u64::saturating_add);
        if bytes <= self.max_bytes {
            return bytes;
        }
        kept.sort_unstable_by(|one, two| (one.used, &one.path).cmp(&(two.used, &two.path)));
        let enough = self.max_bytes.saturating_sub(self.max_bytes / FREED_PART);
        for kept in kept {
            if bytes <= enough {
                break;
            }
            // Somebody else may have removed it; what cannot be removed still takes its room.
            let gone = std::fs::remove_file(&kept.path).is_ok() || !kept.path.exists();
            bytes = if gone { bytes.saturating_sub(kept.bytes) } else { bytes };
        }
        bytes
    }

    /// All files, whoever made them: also those that a killed process has left half-written.
    fn files(&self) -> Vec<Kept> {
        let Ok(files) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let kept = files.filter_map(|file| {
            let file = file.ok()?;
            let found = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some(Kept { used: found.modified().ok()?, bytes: found.len(), path: file.path() })
        });
        kept.collect()
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
        ChunkCache::with_bound(dir.path(), BOUND)
    }

    /// Which of the objects 0.. are there; not by reading them, which would renew them.
    fn there(cache: &ChunkCache, count: u8) -> Vec<u8> {
        (0..count).filter(|number| cache.path(&name(*number)).exists()).collect()
    }

    fn bytes(cache: &ChunkCache) -> u64 {
        cache.files().iter().map(|kept| kept.bytes).sum()
    }

    /// As if an object had been used so many seconds ago.
    fn age(cache: &ChunkCache, number: u8, seconds: u64) {
        let file = OpenOptions::new().write(true).open(cache.path(&name(number))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn what_is_kept_is_found_by_its_cloud_log_kind_and_hash_only() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        assert_eq!(cache.get(&name(1), 10), None);
        cache.keep(&name(1), b"cells");
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
    fn a_file_beyond_the_bound_of_its_object_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        cache.keep(&name(1), b"cells");
        assert_eq!(cache.get(&name(1), 4), None);
        assert!(there(&cache, 2).is_empty());
        std::fs::create_dir(cache.path(&name(1))).unwrap();
        assert_eq!(cache.get(&name(1), 10), None, "a folder");
    }

    #[test]
    fn the_bound_is_met_and_one_byte_more_takes_the_least_recently_used() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        for number in 0..4 {
            cache.keep(&name(number), &[number; 16]);
            age(&cache, number, 100 - u64::from(number));
        }
        assert_eq!((there(&cache, 5), bytes(&cache)), (vec![0, 1, 2, 3], BOUND));
        // A hit makes it the newest.
        assert!(cache.get(&name(0), 16).is_some());
        cache.keep(&name(4), &[4]);
        assert_eq!(there(&cache, 5), [0, 2, 3, 4]);
        cache.keep(&name(5), &[5; 15]);
        assert_eq!(bytes(&cache), BOUND, "{:?}", there(&cache, 6));
        cache.keep(&name(6), &[6]);
        assert_eq!(there(&cache, 7), [0, 3, 4, 5, 6]);
    }

    #[test]
    fn an_object_of_the_whole_bound_is_kept_and_one_beyond_it_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(&dir);
        let whole = vec![7; usize::try_from(BOUND).unwrap()];
        cache.keep(&name(0), &whole);
        cache.keep(&name(1), &[whole.as_slice(), &[7]].concat());
        assert_eq!(there(&cache, 2), [0]);
    }

    #[test]
    fn two_processes_at_once_keep_what_is_whole_and_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (cache(&dir), cache(&dir));
        std::thread::scope(|scope| {
            for cache in [&one, &two] {
                scope.spawn(move || {
                    for round in 0..2_000_u32 {
                        let number = u8::try_from(round % 7).unwrap();
                        cache.keep(&name(number), &[number; 16]);
                        let found = cache.get(&name(6 - number), 16);
                        let whole = vec![6 - number; 16];
                        assert!(found.is_none_or(|stored| stored == whole));
                    }
                });
            }
        });
        // Whoever looks next counts what both have written.
        ChunkCache::with_bound(dir.path(), BOUND).keep(&name(8), &[8]);
        assert!(bytes(&one) <= BOUND, "{}", bytes(&one));
        assert!(there(&one, 9).contains(&8));
        let left = std::fs::read_dir(&one.folder).unwrap().count();
        assert_eq!(left, there(&one, 9).len(), "a temporary file was left");
    }

    #[test]
    fn what_others_have_written_is_counted_before_long() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (cache(&dir), cache(&dir));
        one.keep(&name(0), &[0]);
        (1..5).for_each(|number| two.keep(&name(number), &[number; 12]));
        // `one` knows of one byte; it writes over its own file until it looks.
        (0..WRITES_BETWEEN_LOOKS).for_each(|_| one.keep(&name(9), b""));
        two.keep(&name(5), &[5; 15]);
        assert!(bytes(&one) <= BOUND);
        age(&one, 1, 100);
        std::fs::write(one.folder.join(".tmp-left"), [0; 30]).unwrap();
        (0..=WRITES_BETWEEN_LOOKS).for_each(|_| one.keep(&name(9), b""));
        assert!(bytes(&one) <= BOUND, "{}", bytes(&one));
    }

    #[cfg(unix)]
    #[test]
    fn files_are_private_and_a_folder_that_cannot_be_made_is_no_cache() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let kept = cache(&dir);
        kept.keep(&name(1), b"cells");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&kept.folder), mode(&kept.path(&name(1)))), (0o700, 0o600));
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(STATE_FOLDER)).unwrap();
        std::fs::write(dir.path().join(STATE_FOLDER).join(FOLDER), "no folder").unwrap();
        let none = cache(&dir);
        none.keep(&name(1), b"cells");
        assert_eq!(none.get(&name(1), 10), None);
        none.remove(&name(1));
    }
}
