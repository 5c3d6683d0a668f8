//! In-memory ports that inject planned faults.

mod feed;
mod others;
mod streams;
mod tables;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use cellar_api::wire::WebhookDelivery;
use cellar_base::position::Position;
use cellar_snapshot::pending_snapshot::PendingSnapshot;

use super::faults::{Fault, FaultPlan};
use crate::contract::UrlRequest;
use crate::logs::Logs;
use crate::memory::{
    ManualClock, MemoryBlobs, MemoryFeed, MemoryPendingSnapshots, MemoryQueue, MemoryStreams,
    MemoryTables,
};
use crate::ports::{Clock as _, PresignedRequest, QueueRules, WriteOutcome};
use crate::snapshots::{LevelsBuilder, SnapshotBuilder, SnapshotPorts, Snapshots};

pub(crate) struct FaultyPorts {
    pub(crate) faults: FaultPlan,
    pub(crate) tables: MemoryTables,
    pub(crate) blobs: MemoryBlobs,
    pub(crate) pending: MemoryPendingSnapshots,
    pub(crate) queue: MemoryQueue,
    pub(crate) streams: MemoryStreams,
    pub(crate) index: MemoryFeed,
    pub(crate) received: Mutex<Vec<WebhookDelivery>>,
    pub(crate) clock: Arc<ManualClock>,
    /// Every attempt of a worker to set a snapshot root: the position, the requested root, and the
    /// root that was stored after the attempt.
    pub(crate) roots: Mutex<Vec<(Position, String, String)>>,
    /// Version counters of the pending snapshot records, in the order of the writes.
    pub(crate) increments: Mutex<Vec<(Position, u64)>>,
    pub(crate) latencies: Latencies,
}

/// Latencies of reads in milliseconds, 0 by default. Tests with latencies need a paused clock.
#[derive(Default)]
pub(crate) struct Latencies {
    pub(crate) table_ms: AtomicU64,
    pub(crate) bucket_ms: AtomicU64,
}

async fn after<T>(latency_ms: &AtomicU64, reply: impl Future<Output = T>) -> T {
    let latency_ms = latency_ms.load(Ordering::Relaxed);
    if latency_ms > 0 {
        tokio::time::sleep(Duration::from_millis(latency_ms)).await;
    }
    reply.await
}

impl FaultyPorts {
    /// Creates ports that share existing tables and objects and have an empty queue.
    pub(crate) fn new(
        planned_faults: Vec<(usize, Fault)>,
        tables: MemoryTables,
        blobs: MemoryBlobs,
        clock: Arc<ManualClock>,
    ) -> Arc<Self> {
        Arc::new(Self {
            faults: FaultPlan::planned(planned_faults),
            tables,
            blobs,
            pending: MemoryPendingSnapshots::default(),
            queue: MemoryQueue::new(clock.clone(), QueueRules::LONGEST),
            streams: MemoryStreams::default(),
            index: MemoryFeed::default(),
            received: Mutex::default(),
            clock,
            roots: Mutex::default(),
            increments: Mutex::default(),
            latencies: Latencies::default(),
        })
    }

    pub(crate) fn copied(&self, planned_faults: Vec<(usize, Fault)>) -> Arc<Self> {
        let clock = Arc::new(ManualClock::at(self.clock.now_ms()));
        Arc::new(Self {
            faults: FaultPlan::planned(planned_faults),
            tables: self.tables.copied(),
            blobs: self.blobs.copied(clock.clone()),
            pending: self.pending.copied(),
            queue: self.queue.copied(clock.clone()),
            streams: self.streams.copied(),
            index: self.index.copied(),
            received: Mutex::new(self.received.lock().unwrap().clone()),
            clock,
            roots: Mutex::default(),
            increments: Mutex::default(),
            latencies: Latencies::default(),
        })
    }

    pub(crate) fn logs(self: &Arc<Self>) -> Logs {
        let (entries, segments) = (Arc::clone(self) as _, Arc::clone(self) as _);
        let (blobs, clock) = (Arc::clone(self) as _, Arc::clone(&self.clock) as _);
        Logs::new(entries, segments, blobs, clock, Arc::clone(self) as _)
    }

    pub(crate) fn workers(self: &Arc<Self>) -> Snapshots {
        let builder = LevelsBuilder::new(Arc::new(self.logs()), Arc::clone(self) as _);
        self.snapshots(Arc::new(builder))
    }

    /// Returns the HTTP status.
    pub(crate) fn upload(&self, granted_request: PresignedRequest, bytes: &[u8]) -> u16 {
        let PresignedRequest { method, url, mut headers, .. } = granted_request;
        headers.retain(|(name, _)| name != "content-length");
        let body = Bytes::copy_from_slice(bytes);
        self.blobs.send(&UrlRequest { method, url, headers, body }).status
    }

    async fn record_write(
        &self,
        record: &PendingSnapshot,
        write: impl Future<Output = WriteOutcome>,
    ) -> WriteOutcome {
        let outcome = write.await;
        if outcome == WriteOutcome::Written {
            let written_increment = (record.job.position, record.increment);
            self.increments.lock().unwrap().push(written_increment);
        }
        outcome
    }

    /// The version counters must be consecutive, and all workers must build the same root for a
    /// snapshot.
    pub(crate) fn assert_nothing_was_lost(&self, context: &str) {
        for (position, requested_root, stored_root) in self.roots.lock().unwrap().iter() {
            assert_eq!(requested_root, stored_root, "{context}: two different roots at {position}");
        }
        let mut last_increments = HashMap::new();
        for (position, increment) in self.increments.lock().unwrap().iter() {
            let last_increment = last_increments.insert(*position, *increment).unwrap_or(0);
            let is_new_record = *increment == 1;
            assert!(
                *increment == last_increment + 1 || is_new_record,
                "{context}: the pending snapshot of {position} was overwritten: {last_increment}, {increment}"
            );
        }
    }

    pub(crate) fn snapshots(self: &Arc<Self>, builder: Arc<dyn SnapshotBuilder>) -> Snapshots {
        let ports = SnapshotPorts {
            entries: self.clone(),
            segments: self.clone(),
            pending: self.clone(),
            jobs: self.clone(),
            clock: self.clock.clone(),
            random: self.clone(),
        };
        Snapshots::new(ports, builder)
    }
}
