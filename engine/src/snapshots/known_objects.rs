//! Objects of snapshots that a process keeps: they never change under their names.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_OBJECT_BYTES;
use cellar_snapshot::level::ChunkHash;

/// The objects that were read last, as they are stored. The oldest go first.
#[derive(Default)]
pub(crate) struct KnownObjects {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    bytes: usize,
    objects: HashMap<(LogId, ChunkHash), Bytes>,
    order: VecDeque<(LogId, ChunkHash)>,
}

impl KnownObjects {
    pub(crate) fn get(&self, log: LogId, hash: ChunkHash) -> Option<Bytes> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.objects.get(&(log, hash)).cloned()
    }

    pub(crate) fn keep(&self, log: LogId, hash: ChunkHash, stored: &Bytes) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.objects.insert((log, hash), stored.clone()).is_some() {
            return;
        }
        kept.order.push_back((log, hash));
        kept.bytes = kept.bytes.saturating_add(stored.len());
        while kept.bytes > MAX_CACHED_OBJECT_BYTES {
            let Some(oldest) = kept.order.pop_front() else { break };
            let gone = kept.objects.remove(&oldest).map_or(0, |stored| stored.len());
            kept.bytes = kept.bytes.saturating_sub(gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_of_one_log() {
        let (known, log) = (KnownObjects::default(), LogId::from_uuid(uuid::Uuid::from_u128(1)));
        let (one, two) = (ChunkHash([1; 32]), ChunkHash([2; 32]));
        let all = Bytes::from(vec![0; MAX_CACHED_OBJECT_BYTES]);
        known.keep(log, one, &all);
        known.keep(log, one, &all);
        assert_eq!(known.get(log, one), Some(all));
        assert_eq!(known.get(LogId::from_uuid(uuid::Uuid::from_u128(2)), one), None);
        known.keep(log, two, &Bytes::from_static(b"x"));
        assert_eq!((known.get(log, one), known.get(log, two).is_some()), (None, true));
    }
}
