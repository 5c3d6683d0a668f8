//! The state shared by all processes of a run: services, time, faults, and the trace.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_base::identity::LogId;
use cellar_base::limits::SNAPSHOT_RECEIVES;
use cellar_base::position::Position;
use cellar_catalog::feed::{Checkpoint, Feed, Item};
use cellar_catalog::records::feed::{encode_item, feed_partition_key};
use cellar_catalog::records::stream::{encode_event_batch, encode_tip};
use cellar_catalog::stream::{EventBatch, StreamName, Tip};
use cellar_engine::memory::{
    MemoryBlobs, MemoryFeed, MemoryPendingSnapshots, MemoryQueue, MemoryStreams, MemoryTables,
};
use cellar_engine::ports::{
    BlobKey, Blobs as _, Clock, Entries as _, QueueRules, ReadConsistency, Segments as _,
};
use cellar_log::entry::Entry;
use cellar_log::records::fork::ListedFork;
use cellar_log::segment::Segment;
use cellar_snapshot::relay::INSERT;
use tokio::time::{Duration, Instant};

use crate::plan::FaultPlan;
use crate::random::SimRandom;
use crate::rare::{RareCounts, RareEvent};
use crate::replica::Versions;
use crate::stream::{MODIFY, Stream};
use crate::trace::Trace;

/// Start time of every run, in Unix milliseconds.
pub const START_MS: u64 = 1_795_246_133_000;

/// The services' clock, which shows the true time. Processes cannot use it, because their own
/// clocks are skewed.
#[derive(Debug, Clone, Copy)]
pub struct TrueTime {
    began: Instant,
    start_ms: u64,
}

impl TrueTime {
    /// Returns the number of milliseconds since the start of the run.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[async_trait]
impl Clock for TrueTime {
    fn now_ms(&self) -> u64 {
        self.start_ms.saturating_add(self.elapsed_ms())
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    }
}

/// The state of the services, both as seen by strongly consistent reads and as seen by replicas.
pub struct World {
    /// The services' clock.
    pub time: TrueTime,
    /// Random numbers for the services and the network.
    pub random: SimRandom,
    /// The trace of the run.
    pub trace: Trace,
    /// Counters of rare events.
    pub rare: RareCounts,
    /// The Entry and Segment tables.
    pub tables: MemoryTables,
    /// The PendingSnapshots table.
    pub pending: MemoryPendingSnapshots,
    /// The bucket.
    pub blobs: MemoryBlobs,
    /// The queue of snapshot jobs.
    pub queue: MemoryQueue,
    /// The dead letters of the queue.
    pub dead_letters: Arc<MemoryQueue>,
    /// The stream of the Entry table.
    pub stream: Stream,
    /// The EventStream table.
    pub streams: MemoryStreams,
    /// The stream of the EventStream table.
    pub streams_stream: Stream,
    /// The Feed table.
    pub index: MemoryFeed,
    /// The stream of the Feed table.
    pub index_stream: Stream,
    /// The deliveries that the webhook's receiver has received.
    pub received: Mutex<Vec<WebhookDelivery>>,
    pub(crate) tips_shown: Versions<StreamName, Arc<Tip>>,
    pub(crate) items_shown: Versions<Checkpoint, Item>,
    pub(crate) partitions_shown: Versions<u64, Feed>,
    pub(crate) entries_shown: Versions<(LogId, Position), Arc<Entry>>,
    pub(crate) segments_shown: Versions<(LogId, u32), Segment>,
    pub(crate) forks_shown: Versions<(LogId, u64), ListedFork>,
    plan: Mutex<FaultPlan>,
    out_until_ms: AtomicU64,
    violations: Mutex<Vec<String>>,
}

/// The initial settings of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorldConfig {
    /// Start time of the services' clock, in Unix milliseconds.
    pub start_ms: u64,
    /// The fault plan.
    pub plan: FaultPlan,
    /// Number of times that the queue delivers a message before the message becomes a dead letter.
    pub receives: u32,
    /// Whether to keep the text of the trace.
    pub keep_text: bool,
}

impl WorldConfig {
    /// Creates settings with the given fault plan. The other settings are the same as in AWS.
    #[must_use]
    pub fn with(plan: FaultPlan) -> Self {
        Self { start_ms: START_MS, plan, receives: SNAPSHOT_RECEIVES, keep_text: false }
    }
}

/// Maximum number of violations that are recorded per run.
const MAX_VIOLATIONS: usize = 20;

impl World {
    /// Creates a world without data.
    #[must_use]
    pub fn new(random: SimRandom, beginning: WorldConfig) -> Arc<Self> {
        let WorldConfig { start_ms, plan, receives, keep_text } = beginning;
        let time = TrueTime { began: Instant::now(), start_ms };
        let clock: Arc<dyn Clock> = Arc::new(time);
        let dead_letters = Arc::new(MemoryQueue::new(Arc::clone(&clock), QueueRules::LONGEST));
        let rules = QueueRules { max_receive_count: Some(receives), ..QueueRules::LONGEST };
        let queue = MemoryQueue::new(Arc::clone(&clock), rules);
        Arc::new(Self {
            time,
            random,
            trace: Trace::new(keep_text),
            rare: RareCounts::default(),
            tables: MemoryTables::default(),
            pending: MemoryPendingSnapshots::default(),
            blobs: MemoryBlobs::new(clock),
            queue: queue.with_dead_letters(Arc::clone(&dead_letters)),
            dead_letters,
            stream: Stream::default(),
            streams: MemoryStreams::default(),
            streams_stream: Stream::default(),
            index: MemoryFeed::default(),
            index_stream: Stream::default(),
            received: Mutex::default(),
            tips_shown: Versions::default(),
            items_shown: Versions::default(),
            partitions_shown: Versions::default(),
            entries_shown: Versions::default(),
            segments_shown: Versions::default(),
            forks_shown: Versions::default(),
            plan: Mutex::new(plan),
            out_until_ms: AtomicU64::new(0),
            violations: Mutex::default(),
        })
    }

    /// Returns the current fault plan.
    #[must_use]
    pub fn plan(&self) -> FaultPlan {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the fault plan and ends an outage.
    pub fn set_plan(&self, plan: FaultPlan) {
        self.out_until_ms.store(0, Ordering::SeqCst);
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    /// Returns whether all services are down.
    pub(crate) fn is_out(&self) -> bool {
        self.time.elapsed_ms() < self.out_until_ms.load(Ordering::SeqCst)
    }

    /// Starts an outage of all services for `out_ms` milliseconds.
    pub(crate) fn begin_outage(&self, out_ms: u64) {
        self.count(RareEvent::Outage);
        self.event("world", format_args!("all services are down for {out_ms} ms"));
        let until_ms = self.time.elapsed_ms().saturating_add(out_ms);
        self.out_until_ms.fetch_max(until_ms, Ordering::SeqCst);
    }

    /// Adds an event to the trace.
    pub fn event(&self, whose: &str, what: fmt::Arguments<'_>) {
        self.trace.event(self.time.elapsed_ms(), whose, what);
    }

    /// Records a violation, which means that the run has failed.
    pub fn report_violation(&self, what: impl fmt::Display) {
        let what = what.to_string();
        self.event("VIOLATION", format_args!("{what}"));
        let mut violations = self.violations.lock().unwrap_or_else(PoisonError::into_inner);
        if violations.len() < MAX_VIOLATIONS {
            violations.push(what);
        }
    }

    /// Returns the recorded violations.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for a time measured by the services' clock.
    pub async fn sleep_ms(&self, delay_ms: u64) {
        self.time.sleep_ms(delay_ms).await;
    }

    /// Draws the time from which the replica shows a write.
    fn shows_ms(&self) -> u64 {
        let (plan, now_ms) = (self.plan(), self.time.elapsed_ms());
        match plan.stale.0 {
            0 => now_ms,
            _ => now_ms.saturating_add(self.random.draw_mostly_small(plan.lag_max_ms)),
        }
    }

    /// Records that an entry was written, changed or deleted. Replicas show the change later, and a
    /// record is added to the stream.
    pub(crate) async fn entry_changed(&self, log: LogId, at: Position, is_new: bool) {
        let entry = self.tables.get(log, at).await.unwrap_or_else(|error| {
            self.report_violation(format_args!("the leader cannot read {at} of {log}: {error}"));
            None
        });
        let now_ms = self.time.elapsed_ms();
        if let Some(entry) = &entry {
            self.stream.changed(self.time.now_ms(), entry, is_new);
        }
        self.entries_shown.write((log, at), now_ms, self.shows_ms(), entry);
    }

    /// Records that a segment record was written or changed.
    pub(crate) async fn segment_changed(&self, log: LogId, num: u32) {
        let segment = self.tables.segment(log, num, ReadConsistency::Strong).await.unwrap_or(None);
        self.segments_shown.write((log, num), self.time.elapsed_ms(), self.shows_ms(), segment);
    }

    /// Records that a fork was added to the list of forks.
    pub(crate) fn fork_listed(&self, listed: &ListedFork) {
        let (key, now_ms) = ((listed.source, listed.number), self.time.elapsed_ms());
        self.forks_shown.write(key, now_ms, self.shows_ms(), Some(listed.clone()));
    }

    /// Records that a fork was removed from the list of forks.
    pub(crate) fn fork_gone(&self, source: LogId, number: u64) {
        let now_ms = self.time.elapsed_ms();
        self.forks_shown.write((source, number), now_ms, self.shows_ms(), None);
    }

    /// Records that a stream's tip (newest events) was written. Replicas show the tip later, and a
    /// record is added to the table's stream.
    pub(crate) fn tip_changed(&self, tip: &Arc<Tip>) {
        let (key, now_ms) = (tip.name.as_str().as_bytes(), self.time.elapsed_ms());
        self.streams_stream.push(key, self.time.now_ms(), MODIFY, encode_tip(tip));
        let shown = Some(Arc::clone(tip));
        self.tips_shown.write(tip.name.clone(), now_ms, self.shows_ms(), shown);
    }

    /// Records that an event batch was written.
    pub(crate) fn record_batch(&self, batch: &EventBatch) {
        let key = batch.name.as_str().as_bytes();
        self.streams_stream.push(key, self.time.now_ms(), INSERT, encode_event_batch(batch));
    }

    /// Records that a feed item was written.
    pub(crate) fn item_put(&self, at: Checkpoint, item: &Item) {
        let record = match encode_item(at, item) {
            Ok(record) => record,
            Err(error) => {
                return self.report_violation(format_args!(
                    "an item of the feed cannot be encoded: {error}"
                ));
            }
        };
        let partition = feed_partition_key(at.partition());
        self.index_stream.push(partition.as_bytes(), self.time.now_ms(), INSERT, record);
        let (now_ms, item) = (self.time.elapsed_ms(), Some(item.clone()));
        self.items_shown.write(at, now_ms, self.shows_ms(), item);
    }

    /// Records that a feed partition was started.
    pub(crate) fn partition_begun(&self, partition: u64, feed: Feed) {
        self.partitions_shown.write(partition, self.time.elapsed_ms(), self.shows_ms(), Some(feed));
    }

    /// Deletes all snapshot objects.
    pub(crate) async fn lose_snapshots(&self) {
        self.event("world", format_args!("all objects of snapshots are lost"));
        loop {
            let listed = self.blobs.list("sheets/", None, u16::MAX).await.unwrap_or_default();
            if listed.blobs.is_empty() {
                return;
            }
            for key in listed.blobs.iter().filter_map(|blob| BlobKey::new(&blob.key).ok()) {
                if let Err(error) = self.blobs.delete(&key).await {
                    self.report_violation(format_args!("{key} cannot be deleted: {error}"));
                }
            }
        }
    }

    /// Counts a rare event.
    pub fn count(&self, rare: RareEvent) {
        self.rare.count(rare);
    }
}
