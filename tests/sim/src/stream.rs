//! A table's change stream. It returns the changes of each shard in order and retains them for a
//! day.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::record::Item;
use cellar_log::entry::Entry;
use cellar_log::records::entry;
use cellar_snapshot::relay::INSERT;

/// Number of shards per stream. Each partition belongs to one shard.
pub const SHARDS: usize = 3;
/// Retention of a record, in milliseconds.
pub const STREAM_RETENTION_MS: u64 = 24 * 60 * 60 * 1_000;
/// Name of a change that is not an insertion.
pub const MODIFY: &str = "MODIFY";

/// A change of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Number of the record in its shard. Numbers ascend.
    pub number: u64,
    /// Time at which the item was written, in Unix milliseconds.
    pub created_ms: u64,
    /// Kind of the change.
    pub name: &'static str,
    /// The item after the change.
    pub image: Item,
}

/// A table's change stream.
#[derive(Debug, Default)]
pub struct Stream {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Debug, Default)]
struct Shard {
    last: u64,
    records: VecDeque<Record>,
}

impl Stream {
    fn shard(&self, number: usize) -> Option<MutexGuard<'_, Shard>> {
        self.shards.get(number).map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds the change of an entry.
    pub fn changed(&self, now_ms: u64, entry: &Arc<Entry>, is_new: bool) {
        let Ok(image) = entry::encode(entry) else { return };
        let key = entry::partition(entry.log, entry.position.segment());
        self.push(&key, now_ms, if is_new { INSERT } else { MODIFY }, image);
    }

    /// Adds the change of an item to the shard of the item's partition.
    pub fn push(&self, partition: &[u8], created_ms: u64, name: &'static str, image: Item) {
        let hash =
            partition.iter().fold(0_usize, |hash, byte| hash.wrapping_mul(31) + usize::from(*byte));
        let Some(mut shard) = self.shard(hash % SHARDS) else { return };
        shard.last += 1;
        let number = shard.last;
        shard.records.push_back(Record { number, created_ms, name, image });
    }

    /// Returns at most `max` records of a shard, starting after the given number. Also returns the
    /// number of records that expired before they were read.
    #[must_use]
    pub fn read(&self, shard: usize, after: u64, max: usize, now_ms: u64) -> (Vec<Record>, u64) {
        let Some(mut shard) = self.shard(shard) else { return (Vec::new(), 0) };
        let is_old = |record: &Record| now_ms > record.created_ms + STREAM_RETENTION_MS;
        let mut forgotten = 0;
        while let Some(first) = shard.records.pop_front() {
            if !is_old(&first) && first.number > after {
                shard.records.push_front(first);
                break;
            }
            forgotten += u64::from(first.number > after);
        }
        (shard.records.iter().take(max).cloned().collect(), forgotten)
    }

    /// Returns whether all records were read, given the number of the last read record per shard.
    #[must_use]
    pub fn is_read_to(&self, numbers: [u64; SHARDS]) -> bool {
        let at_end = |(number, read): (usize, u64)| {
            self.shard(number).is_none_or(|shard| shard.last <= read || shard.records.is_empty())
        };
        numbers.into_iter().enumerate().all(at_end)
    }
}
