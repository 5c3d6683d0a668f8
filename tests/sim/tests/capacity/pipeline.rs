//! Work after an append: snapshots through relay and queue, and the feed through the change stream.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cellar_base::identity::LogId;
use cellar_catalog::feed::Span;
use cellar_catalog::stream::{Kind, StreamName};
use cellar_engine::feed::{Indexer, NoReactions};
use cellar_engine::memory::MemoryStreams;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::distant_index::DistantIndex;
use super::limits::Limits;
use super::region::Region;

/// Lambda reads each shard four times a second: "Using AWS Lambda with Amazon DynamoDB".
const SHARD_READ_US: std::ops::Range<u64> = 0..250_000;
/// Run time and memory of the relay for a Snapshot entry, as in `synth cost`.
const RELAY_MS: u64 = 50;
const RELAY_MEMORY_MB: f64 = 256.0;
/// Run time and memory of a snapshot job of 1,000 edits, as in `synth cost`.
pub(super) const SNAPSHOT_S: f64 = 1.0;
const SNAPSHOT_MEMORY_MB: f64 = 1_769.0;
/// Units of a snapshot (`docs/cost.md`), without the Snapshot entry, which the API writes.
const SNAPSHOT_WRITES: f64 = 3.0;
const SNAPSHOT_READS: f64 = 3.5;
const READS_PER_ENTRY: f64 = 0.013;
const SNAPSHOT_OBJECTS: u64 = 3;
const QUEUE_REQUESTS: u64 = 3;
/// Batching window and batch size of `IndexerEntrySource` (`stacks/src/cellar/indexer.rs`).
const WINDOW_MS: u64 = 5_000;
const BATCH_SIZE: usize = 1_000;
const INDEXER_MEMORY_MB: f64 = 256.0;

/// An entry in a shard of the change stream.
struct Record {
    written_s: f64,
    sheet: LogId,
}

pub(super) struct Pipeline {
    jobs: Semaphore,
    /// The records of each shard that the indexer has not read. A partition has one shard.
    shards: Vec<Mutex<VecDeque<Record>>>,
    pub(super) index: Mutex<Option<Arc<DistantIndex>>>,
}

impl Pipeline {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            jobs: Semaphore::new(usize::try_from(limits.snapshot_jobs).unwrap()),
            shards: (0..limits.partitions).map(|_| Mutex::default()).collect(),
            index: Mutex::default(),
        }
    }

    pub(super) fn record_entry(&self, partition: usize, written_s: f64, sheet: LogId) {
        self.shards[partition].lock().unwrap().push_back(Record { written_s, sheet });
    }

    fn take_batch(&self, shard: usize) -> Vec<Record> {
        let mut records = self.shards[shard].lock().unwrap();
        let count = records.len().min(BATCH_SIZE);
        records.drain(..count).collect()
    }

    fn waiting(&self, shard: usize) -> usize {
        self.shards[shard].lock().unwrap().len()
    }
}

impl Region {
    /// Builds the snapshot of a Snapshot entry that was just written.
    pub(super) async fn build_snapshot(self: Arc<Self>) {
        let requested_s = self.now_s();
        self.meters().snapshots_requested += 1;
        self.travel(SHARD_READ_US).await;
        let relay_s = self.run_in_background(sleep(Duration::from_millis(RELAY_MS))).await;
        let job = self.pipeline.jobs.acquire().await.unwrap();
        let job_s = self.run_in_background(sleep(Duration::from_secs_f64(SNAPSHOT_S))).await;
        drop(job);
        let delay_s = self.now_s() - requested_s;
        let mut meters = self.meters();
        meters.other_invocations += 2;
        meters.megabyte_seconds += relay_s * RELAY_MEMORY_MB + job_s * SNAPSHOT_MEMORY_MB;
        meters.write_units += SNAPSHOT_WRITES;
        let entries = f64::from(self.limits.snapshot_entries);
        meters.read_units += SNAPSHOT_READS + READS_PER_ENTRY * entries;
        meters.object_puts += SNAPSHOT_OBJECTS;
        meters.object_gets += SNAPSHOT_OBJECTS;
        meters.queue_requests += QUEUE_REQUESTS;
        meters.snapshot_delays_s.push(delay_s);
    }

    /// Starts the indexer of each shard, as with `feed: everything`.
    pub(super) fn start_indexers(self: &Arc<Self>) {
        let index = Arc::new(DistantIndex::new(2));
        *self.pipeline.index.lock().unwrap() = Some(Arc::clone(&index));
        for shard in 0..self.pipeline.shards.len() {
            tokio::spawn(Arc::clone(self).run_shard(shard, Arc::clone(&index)));
        }
    }

    async fn run_shard(self: Arc<Self>, shard: usize, index: Arc<DistantIndex>) {
        let time = (Arc::clone(&index) as _, Arc::clone(&index) as _);
        let streams = Arc::new(MemoryStreams::default());
        let indexer = Indexer::new(index, streams, Arc::new(NoReactions), time, 0);
        let mut next_by_sheet = BTreeMap::new();
        loop {
            self.wait_for_batch(shard).await;
            let batch = self.pipeline.take_batch(shard);
            let spans = spans_of(&batch, &mut next_by_sheet);
            let work = async {
                while let Err(error) = indexer.index(spans.clone()).await {
                    assert!(error.is_temporary(), "{error}");
                }
            };
            let run_s = self.run_in_background(work).await;
            let now_s = self.now_s();
            let mut meters = self.meters();
            meters.feed_invocations += 1;
            meters.feed_megabyte_seconds += run_s * INDEXER_MEMORY_MB;
            meters.feed_delays_s.extend(batch.iter().map(|record| now_s - record.written_s));
        }
    }

    /// Waits until a batch is full, or the batching window of its first record has passed.
    async fn wait_for_batch(&self, shard: usize) {
        let mut waited_ms = 0;
        while waited_ms < WINDOW_MS && self.pipeline.waiting(shard) < BATCH_SIZE {
            let is_begun = self.pipeline.waiting(shard) > 0;
            let step_ms = SHARD_READ_US.end / 1_000;
            sleep(Duration::from_millis(step_ms)).await;
            if is_begun {
                waited_ms += step_ms;
            }
        }
    }
}

/// Returns the events of a batch. `next_by_sheet` has the index of the next entry of each sheet.
fn spans_of(batch: &[Record], next_by_sheet: &mut BTreeMap<LogId, u64>) -> Vec<Span> {
    let span = |record: &Record| {
        let next = next_by_sheet.entry(record.sheet).or_default();
        let stream = StreamName::new("Log", &format!("{}.0", record.sheet)).unwrap();
        let span = Span { stream, first: *next, kinds: vec![Kind::new("Edits").unwrap()] };
        *next += 1;
        span
    };
    batch.iter().map(span).collect()
}
