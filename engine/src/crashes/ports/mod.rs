//! Ports in memory that fail as planned.

mod feed;
mod others;
mod streams;
mod tables;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use cellar_api::wire::WebhookDelivery;
use cellar_base::position::Position;
use cellar_snapshot::pending_snapshot::PendingSnapshot;

use super::trouble::{Fault, Trouble};
use crate::contract::UrlRequest;
use crate::logs::Logs;
use crate::memory::{
    ManualClock, MemoryBlobs, MemoryIndex, MemoryPendingSnapshots, MemoryQueue, MemoryStreams,
    MemoryTables, QueueRules,
};
use crate::ports::{Clock as _, PresignedRequest, WriteOutcome};
use crate::snapshots::{LevelsBuilder, SnapshotBuilder, SnapshotPorts, Snapshots};

/// Ports in trouble.
pub(crate) struct FaultyPorts {
    pub(crate) trouble: Trouble,
    pub(crate) tables: MemoryTables,
    pub(crate) blobs: MemoryBlobs,
    pub(crate) pending: MemoryPendingSnapshots,
    pub(crate) queue: MemoryQueue,
    pub(crate) streams: MemoryStreams,
    pub(crate) index: MemoryIndex,
    /// What the webhook's receiver has had.
    pub(crate) received: Mutex<Vec<WebhookDelivery>>,
    pub(crate) clock: Arc<ManualClock>,
    /// What was to become the root of which entry, and what stands there.
    pub(crate) roots: Mutex<Vec<(Position, String, String)>>,
    /// The increments of records as they were written, one after the other.
    pub(crate) increments: Mutex<Vec<(Position, u64)>>,
}

impl FaultyPorts {
    /// Over these tables and these objects, with an empty queue.
    pub(crate) fn new(
        planned: Vec<(usize, Fault)>,
        tables: MemoryTables,
        blobs: MemoryBlobs,
        clock: Arc<ManualClock>,
    ) -> Arc<Self> {
        Arc::new(Self {
            trouble: Trouble::planned(planned),
            tables,
            blobs,
            pending: MemoryPendingSnapshots::default(),
            queue: MemoryQueue::new(clock.clone(), QueueRules::LONGEST),
            streams: MemoryStreams::default(),
            index: MemoryIndex::default(),
            received: Mutex::default(),
            clock,
            roots: Mutex::default(),
            increments: Mutex::default(),
        })
    }

    /// Ports with the same in them, of which these requests go wrong.
    pub(crate) fn copied(&self, planned: Vec<(usize, Fault)>) -> Arc<Self> {
        let clock = Arc::new(ManualClock::at(self.clock.now_ms()));
        Arc::new(Self {
            trouble: Trouble::planned(planned),
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
        })
    }

    /// Logs over them, in a process that knows nothing yet.
    pub(crate) fn logs(self: &Arc<Self>) -> Logs {
        let (entries, segments) = (Arc::clone(self) as _, Arc::clone(self) as _);
        let (blobs, clock) = (Arc::clone(self) as _, Arc::clone(&self.clock) as _);
        Logs::new(entries, segments, blobs, clock, Arc::clone(self) as _)
    }

    /// Workers on snapshots over them, in a process that knows nothing yet.
    pub(crate) fn workers(self: &Arc<Self>) -> Snapshots {
        let builder = LevelsBuilder::new(Arc::new(self.logs()), Arc::clone(self) as _);
        self.snapshots(Arc::new(builder))
    }

    /// Uses a presigned URL to upload these bytes, as a client does; gives the status.
    pub(crate) fn upload(&self, granted: PresignedRequest, bytes: &[u8]) -> u16 {
        let PresignedRequest { method, url, mut headers, .. } = granted;
        headers.retain(|(name, _)| name != "content-length");
        let body = Bytes::copy_from_slice(bytes);
        self.blobs.send(&UrlRequest { method, url, headers, body }).status
    }

    async fn written(
        &self,
        record: &PendingSnapshot,
        write: impl Future<Output = WriteOutcome>,
    ) -> WriteOutcome {
        let outcome = write.await;
        if outcome == WriteOutcome::Written {
            let written = (record.job.position, record.increment);
            self.increments.lock().unwrap().push(written);
        }
        outcome
    }

    /// Asserts that no root and no record was ever written over by another's: each increment follows
    /// the last, and no two workers made different roots.
    pub(crate) fn assert_nothing_was_lost(&self, what: &str) {
        for (at, wanted, stands) in self.roots.lock().unwrap().iter() {
            assert_eq!(wanted, stands, "{what}: two roots of {at}");
        }
        let mut last = HashMap::new();
        for (at, increment) in self.increments.lock().unwrap().iter() {
            let before = last.insert(*at, *increment).unwrap_or(0);
            let follows = *increment == before + 1 || *increment == 1;
            assert!(follows, "{what}: a record of {at} written over: {before}, {increment}");
        }
    }

    /// Workers over them.
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
