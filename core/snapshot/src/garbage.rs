//! Which objects of snapshots nobody needs any more.
//!
//! The logs of a family share the objects of their snapshots. What can be reached from a root or an import of a
//! log in use stays. So does what was written a short time ago: it may be of a snapshot that is on its way, or of
//! an import that no entry names yet. Whoever needs an older object again without having it from a root writes it
//! again, which makes a version of its own: so those that were listed can go, whatever is written meanwhile.

use std::collections::HashSet;

use crate::keys::{parse_chunk_key, parse_root_key};
use crate::level::ChunkHash;
use crate::pending_snapshot::PendingSnapshot;
use cellar_base::identity::LogId;
use cellar_base::limits::{GARBAGE_AGE_S, MAX_JOB_AGE_S};

/// What of a family's objects is in use.
#[derive(Debug, Clone, Default)]
pub struct InUse {
    roots: HashSet<ChunkHash>,
    chunks: HashSet<ChunkHash>,
}

impl InUse {
    /// Adds a root; true if it was not known.
    pub fn add_root(&mut self, hash: ChunkHash) -> bool {
        self.roots.insert(hash)
    }

    /// Adds any other object; true if it was not known.
    pub fn add_chunk(&mut self, hash: ChunkHash) -> bool {
        self.chunks.insert(hash)
    }

    /// Whether an object of the family stays, whatever its age: what is none of a snapshot does.
    fn keeps(&self, family: LogId, key: &str) -> bool {
        match (parse_chunk_key(key), parse_root_key(key)) {
            (Ok(chunk), _) if chunk.log == family => self.chunks.contains(&chunk.hash),
            (_, Ok(root)) if root.log == family => self.roots.contains(&root.hash),
            _ => true,
        }
    }
}

/// Goes through all versions of a family's objects, those of one key one behind the other, the newest first.
#[derive(Debug)]
pub struct GarbageSweep {
    family: LogId,
    in_use: InUse,
    /// What was written since stays, Unix seconds.
    since_s: u64,
    /// The key of the last version, and whether its versions go.
    last: Option<(String, bool)>,
}

impl GarbageSweep {
    /// A sweep that begins now.
    #[must_use]
    pub fn new(family: LogId, in_use: InUse, now_s: u64) -> Self {
        let since_s = now_s.saturating_sub(GARBAGE_AGE_S);
        Self { family, in_use, since_s, last: None }
    }

    /// Whether a version goes. One that is older than one that stays does, too: the bucket forgets it by itself.
    pub fn goes(&mut self, key: &str, modified_s: u64) -> bool {
        if let Some((last, goes)) = &self.last
            && last == key
        {
            return *goes;
        }
        let goes = modified_s < self.since_s && !self.in_use.keeps(self.family, key);
        self.last = Some((key.to_owned(), goes));
        goes
    }
}

/// Whether a snapshot has been on its way for so long that its objects may seem to be garbage.
#[must_use]
pub fn is_under_way_too_long(record: &PendingSnapshot, now_s: u64) -> bool {
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
        let mut in_use = InUse::default();
        assert!(in_use.add_root(hash(1)) && in_use.add_chunk(hash(2)));
        assert!(!in_use.add_root(hash(1)) && !in_use.add_chunk(hash(2)));
        GarbageSweep::new(log(1), in_use, NOW_S)
    }

    #[test]
    fn what_nobody_names_goes_when_it_is_old() {
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
            assert_eq!(sweep.goes(&key, modified_s), goes, "{key}");
        }
    }

    #[test]
    fn the_newest_version_decides_for_all_of_its_key() {
        let (mut sweep, old_s) = (sweep(), NOW_S - GARBAGE_AGE_S - 1);
        let [renewed, old] = [hash(3), hash(4)].map(|hash| chunk_key(log(1), hash));
        assert!(!sweep.goes(&renewed, NOW_S), "it was written again");
        assert!(!sweep.goes(&renewed, old_s), "and would be the only one if the new one were lost");
        assert!(sweep.goes(&old, old_s) && sweep.goes(&old, old_s - 9));
    }

    #[test]
    fn a_snapshot_is_under_way_too_long_after_a_day() {
        let record = |created_s| PendingSnapshot {
            job: SnapshotJob { log: log(1), position: Position::FIRST },
            created_s,
            modified_s: NOW_S,
            active: true,
            increment: 1,
            progress: vec![],
            rebuild: None,
        };
        assert!(!is_under_way_too_long(&record(NOW_S - MAX_JOB_AGE_S), NOW_S));
        assert!(is_under_way_too_long(&record(NOW_S - MAX_JOB_AGE_S - 1), NOW_S));
    }
}
