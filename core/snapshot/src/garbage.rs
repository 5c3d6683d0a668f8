//! Garbage collection: identifies snapshot objects that can be deleted. The logs of a family (a log
//! and its forks) share snapshot objects.
//!
//! An object is kept if it is reachable from a root or an import of a live log. A recently written
//! object is also kept, because it may belong to an unfinished snapshot or to an import whose entry
//! is not committed yet.
//!
//! A writer that needs an old unreferenced object writes it again as a new version. It is therefore
//! safe to delete the listed versions despite concurrent writes.

use std::collections::HashSet;

use crate::keys::{parse_chunk_key, parse_root_key};
use crate::level::ChunkHash;
use crate::pending_snapshot::PendingSnapshot;
use cellar_base::identity::LogId;
use cellar_base::limits::{GARBAGE_AGE_S, MAX_JOB_AGE_S};

/// Objects that the logs of a family reference.
#[derive(Debug, Clone, Default)]
pub struct ReferencedObjects {
    roots: HashSet<ChunkHash>,
    chunks: HashSet<ChunkHash>,
}

impl ReferencedObjects {
    /// Adds a root to the referenced objects. Returns `false` if the root was already added.
    pub fn add_root(&mut self, hash: ChunkHash) -> bool {
        self.roots.insert(hash)
    }

    /// Adds a chunk or a long text to the referenced objects. Returns `false` if the object was
    /// already added.
    pub fn add_chunk(&mut self, hash: ChunkHash) -> bool {
        self.chunks.insert(hash)
    }

    /// Returns whether an object is kept regardless of its age. This applies to referenced objects,
    /// and to all keys that are not snapshot objects of this log family.
    fn must_keep(&self, family: LogId, key: &str) -> bool {
        if let Ok(chunk) = parse_chunk_key(key)
            && chunk.log == family
        {
            return self.chunks.contains(&chunk.hash);
        }
        if let Ok(root) = parse_root_key(key)
            && root.log == family
        {
            return self.roots.contains(&root.hash);
        }
        true
    }
}

/// A sweep, which identifies garbage among the object versions of a log family. The versions of a
/// key must be passed one after another, newest first.
#[derive(Debug)]
pub struct GarbageSweep {
    family: LogId,
    referenced: ReferencedObjects,
    /// Objects that were written at or after this time are kept, in seconds since the Unix epoch.
    keep_since_s: u64,
    /// Key of the previous version, and whether the versions of this key are garbage.
    previous_key: Option<KeyDecision>,
}

#[derive(Debug)]
struct KeyDecision {
    key: String,
    is_garbage: bool,
}

impl GarbageSweep {
    /// Starts a sweep at the time `now_s`, in seconds since the Unix epoch.
    #[must_use]
    pub fn new(family: LogId, referenced: ReferencedObjects, now_s: u64) -> Self {
        let keep_since_s = now_s.saturating_sub(GARBAGE_AGE_S);
        Self { family, referenced, keep_since_s, previous_key: None }
    }

    /// Returns whether a version is garbage. The newest version of a key decides for all versions
    /// of the key, because the bucket expires noncurrent versions.
    pub fn is_garbage(&mut self, key: &str, modified_s: u64) -> bool {
        if let Some(previous) = &self.previous_key
            && previous.key == key
        {
            return previous.is_garbage;
        }
        let is_old = modified_s < self.keep_since_s;
        let is_garbage = is_old && !self.referenced.must_keep(self.family, key);
        self.previous_key = Some(KeyDecision { key: key.to_owned(), is_garbage });
        is_garbage
    }
}

/// Returns whether an unfinished snapshot is so old that a sweep may classify its objects as
/// garbage.
#[must_use]
pub fn is_overdue(record: &PendingSnapshot, now_s: u64) -> bool {
    record.created_s.saturating_add(MAX_JOB_AGE_S) < now_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{chunk_key, root_key};
    use crate::snapshot_job::SnapshotJob;
    use cellar_base::position::Position;

    const NOW_S: u64 = 1_795_246_133;

    fn log(number: u128) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(number))
    }

    fn hash(byte: u8) -> ChunkHash {
        ChunkHash([byte; 32])
    }

    fn sweep() -> GarbageSweep {
        let mut referenced = ReferencedObjects::default();
        assert!(referenced.add_root(hash(1)) && referenced.add_chunk(hash(2)));
        assert!(!referenced.add_root(hash(1)) && !referenced.add_chunk(hash(2)));
        GarbageSweep::new(log(1), referenced, NOW_S)
    }

    #[test]
    fn old_unreferenced_objects_are_garbage() {
        let (mut sweep, old_s) = (sweep(), NOW_S - GARBAGE_AGE_S - 1);
        for (key, modified_s, goes) in [
            (chunk_key(log(1), hash(1)), old_s, true),
            (chunk_key(log(1), hash(2)), old_s, false),
            (chunk_key(log(1), hash(3)), old_s, true),
            (chunk_key(log(1), hash(4)), old_s + 1, false),
            (root_key(log(1), hash(1)), old_s, false),
            (root_key(log(1), hash(2)), old_s, true),
            (root_key(log(1), hash(3)), old_s + 1, false),
            (chunk_key(log(2), hash(3)), old_s, false),
            (format!("sheets/{}/readme", log(1)), old_s, false),
        ] {
            assert_eq!(sweep.is_garbage(&key, modified_s), goes, "{key}");
        }
    }

    #[test]
    fn the_newest_version_decides_for_all_of_its_key() {
        let (mut sweep, old_s) = (sweep(), NOW_S - GARBAGE_AGE_S - 1);
        let [renewed, old] = [hash(3), hash(4)].map(|hash| chunk_key(log(1), hash));
        assert!(!sweep.is_garbage(&renewed, NOW_S), "it was written again");
        assert!(
            !sweep.is_garbage(&renewed, old_s),
            "the old version would be the only version if the new version were lost"
        );
        assert!(sweep.is_garbage(&old, old_s) && sweep.is_garbage(&old, old_s - 9));
    }

    #[test]
    fn a_pending_snapshot_is_overdue_after_a_day() {
        let record = |created_s| PendingSnapshot {
            job: SnapshotJob { log: log(1), position: Position::FIRST },
            created_s,
            modified_s: NOW_S,
            active: true,
            increment: 1,
            progress: vec![],
            rebuild: None,
        };
        assert!(!is_overdue(&record(NOW_S - MAX_JOB_AGE_S), NOW_S));
        assert!(is_overdue(&record(NOW_S - MAX_JOB_AGE_S - 1), NOW_S));
    }
}
