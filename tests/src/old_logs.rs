//! Logs that have several segments, and a manual clock that makes the logs old.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_engine::logs::Logs;
use cellar_engine::memory::ManualClock;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock as _, Entries as _, ReadConsistency, Retention, Segments as _};
use cellar_engine::retention::{Offloader, PlannedSegment};
use cellar_engine::snapshots::{BuildStep, LevelsBuilder, SnapshotBuilder as _};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_log::append::{Appended, NewMutation, Request};
use cellar_log::entry::{Entry, FIRST_INCARNATION};
use cellar_log::retention::Policy;
use cellar_log::roll::Rolled;
use cellar_runtime::dynamodb::DynamoTables;
use cellar_runtime::s3::S3Blobs;
use cellar_sheet::operation::Operation;
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::cloud::TestCloud;
use crate::edits::log;

/// Milliseconds in a day.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// The policy that offloads everything that may be offloaded.
pub const AS_LITTLE_AS_ALLOWED: Policy = Policy { offload_after_days: 0, keep_segments: 0 };

/// A local stack with a manual clock.
pub struct OldLogs {
    /// The cloud.
    pub cloud: TestCloud,
    /// The cloud's tables.
    pub tables: Arc<DynamoTables>,
    /// The cloud's bucket.
    pub blobs: Arc<S3Blobs>,
    /// Meter of the tables' consumed request units.
    pub meter: Arc<Meter>,
    /// The manual clock, which starts at the current time.
    pub clock: Arc<ManualClock>,
}

/// A log to which one client appends.
pub struct Growing {
    /// Id of the log.
    pub log: LogId,
    /// The log service that appends to the log.
    pub logs: Logs,
    /// The newest position.
    pub tail: Position,
    next_id: u64,
}

impl OldLogs {
    /// Starts a cloud.
    pub async fn start() -> Self {
        Self::on(TestCloud::start_without_snapshots().await)
    }

    /// Uses a running cloud.
    pub fn on(cloud: TestCloud) -> Self {
        let (tables, meter) = cloud.tables_at(&cloud.database_url);
        let (blobs, _) = cloud.blobs();
        let clock = Arc::new(ManualClock::at(SystemClock.now_ms()));
        Self { cloud, tables, blobs: Arc::new(blobs), meter, clock }
    }

    /// Returns a log service with an empty cache.
    pub fn logs(&self) -> Logs {
        let (entries, segments) = (Arc::clone(&self.tables), Arc::clone(&self.tables));
        let (blobs, clock) = (Arc::clone(&self.blobs), Arc::clone(&self.clock));
        Logs::new(entries, segments, blobs, clock, Arc::new(SystemRandom))
    }

    /// Returns an offloader for the stack's tables.
    pub fn offloader(&self) -> Offloader {
        self.offloader_over(Arc::clone(&self.tables) as Arc<dyn Retention>)
    }

    /// Returns an offloader that uses the given retention port.
    pub fn offloader_over(&self, retention: Arc<dyn Retention>) -> Offloader {
        let (entries, blobs) = (Arc::clone(&self.tables), Arc::clone(&self.blobs));
        Offloader::new(entries, retention, blobs, Arc::clone(&self.clock) as _)
    }

    /// Returns the offloader's plan for a log.
    pub async fn plans(&self, log: LogId, policy: Policy) -> Vec<PlannedSegment> {
        let mut plans = Vec::new();
        self.offloader().plan_all_logs(policy, |planned| plans.push(planned)).await.unwrap();
        plans.retain(|planned| planned.segment.log == log);
        plans
    }

    /// Creates a log.
    pub async fn create(&self, nonce: &str) -> Growing {
        let (logs, log) = (self.logs(), log(nonce));
        logs.create(log, Some("alice".into())).await.unwrap();
        Growing { log, logs, tail: Position::FIRST, next_id: 1 }
    }

    /// Builds the snapshot of the newest segment, then closes the segment and opens the next one.
    pub async fn roll(&self, growing: &mut Growing) {
        self.finish_snapshot(growing.log, growing.tail.segment()).await;
        let tail = self.entry(growing.log, growing.tail).await.unwrap();
        let segment = growing.tail.segment() + 1;
        let rolled = growing.logs.roll(tail).await.unwrap();
        assert_eq!(rolled, Rolled::Into { segment });
        growing.tail = Position::new(segment, 0).unwrap();
    }

    /// Builds the snapshot at a segment's first entry.
    pub async fn finish_snapshot(&self, log: LogId, segment: u32) {
        make_snapshot(self.logs(), &self.tables, &self.blobs, log, segment).await;
    }

    /// Returns the entry that the table contains at the given position.
    pub async fn entry(&self, log: LogId, at: Position) -> Option<Arc<Entry>> {
        self.tables.get(log, at).await.unwrap()
    }

    /// Returns the numbers of the entries that the table contains for a segment.
    pub async fn stored(&self, log: LogId, segment: u32) -> Vec<u32> {
        let mut from = Position::new(segment, 0).unwrap();
        let mut stored = Vec::new();
        loop {
            let page = self.tables.page(log, from, ReadConsistency::Strong).await.unwrap();
            stored.extend(page.entries.iter().map(|entry| entry.position.entry_number()));
            if !page.more {
                return stored;
            }
            from = Position::new(segment, stored.last().unwrap() + 1).unwrap();
        }
    }
}

/// Builds the snapshot at a segment's first entry in the same way as a worker.
pub async fn make_snapshot(
    logs: Logs,
    tables: &DynamoTables,
    blobs: &Arc<S3Blobs>,
    log: LogId,
    segment: u32,
) {
    let at = Position::new(segment, 0).unwrap();
    let job = SnapshotJob { log, position: at };
    let builder = LevelsBuilder::new(Arc::new(logs), Arc::clone(blobs) as _);
    let mut progress = Vec::new();
    let root = loop {
        match builder.step(&job, &progress).await.unwrap() {
            BuildStep::Progress(next) => progress = next,
            BuildStep::Finished { root } => break root,
            BuildStep::EarlierSnapshot(earlier) => panic!("{earlier} has none"),
        }
    };
    tables.set_root(log, at, &root).await.unwrap();
    tables.raise_last_snapshot(log, at).await.unwrap();
}

impl Growing {
    /// Appends an operation based on the newest position.
    pub async fn append(&mut self, operation: Operation) -> Appended {
        self.append_on(self.tail, operation).await
    }

    /// Appends an operation based on the given older position.
    pub async fn append_on(&mut self, base: Position, operation: Operation) -> Appended {
        let (id, log) = (self.next_id, self.log);
        let appended = self.logs.append(edit(log, 3, id, base, operation)).await.unwrap();
        self.next_id += 1;
        self.tail = appended.tail;
        appended
    }
}

/// Returns a request that contains one mutation from the given client.
pub fn edit(log: LogId, client: u8, id: u64, base: Position, operation: Operation) -> Request {
    let mutations = vec![NewMutation { id, base, operation }];
    Request::new(log, ClientKey([client; 8]), None, FIRST_INCARNATION, id - 1, mutations).unwrap()
}
