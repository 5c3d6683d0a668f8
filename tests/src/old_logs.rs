//! Logs of several segments, and the time in which they become old.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_engine::logs::Logs;
use cellar_engine::memory::ManualClock;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock as _, Entries as _, Retention, Segments as _};
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

/// Milliseconds of a day.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Keeps as little as is allowed.
pub const AS_LITTLE_AS_ALLOWED: Policy = Policy { offload_after_days: 0, keep_segments: 0 };

/// A cloud, and a clock that is moved.
pub struct OldLogs {
    /// The cloud.
    pub cloud: TestCloud,
    /// Its tables.
    pub tables: Arc<DynamoTables>,
    /// Its bucket.
    pub blobs: Arc<S3Blobs>,
    /// What the tables consume.
    pub meter: Arc<Meter>,
    /// The time, which begins now.
    pub clock: Arc<ManualClock>,
}

/// A log that grows, by one client.
pub struct Growing {
    /// Which log.
    pub log: LogId,
    /// The service that appends to it.
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

    /// Over a cloud that runs.
    pub fn on(cloud: TestCloud) -> Self {
        let (tables, meter) = cloud.tables_at(&cloud.database_url);
        let (blobs, _) = cloud.blobs();
        let clock = Arc::new(ManualClock::at(SystemClock.now_ms()));
        Self { cloud, tables, blobs: Arc::new(blobs), meter, clock }
    }

    /// The service of a process that knows nothing yet.
    pub fn logs(&self) -> Logs {
        let (entries, segments) = (Arc::clone(&self.tables), Arc::clone(&self.tables));
        let (blobs, clock) = (Arc::clone(&self.blobs), Arc::clone(&self.clock));
        Logs::new(entries, segments, blobs, clock, Arc::new(SystemRandom))
    }

    /// The offloader.
    pub fn offloader(&self) -> Offloader {
        self.offloader_over(Arc::clone(&self.tables) as Arc<dyn Retention>)
    }

    /// The offloader over another port.
    pub fn offloader_over(&self, retention: Arc<dyn Retention>) -> Offloader {
        let (entries, blobs) = (Arc::clone(&self.tables), Arc::clone(&self.blobs));
        Offloader::new(entries, retention, blobs, Arc::clone(&self.clock) as _)
    }

    /// What the offloader plans for a log.
    pub async fn plans(&self, log: LogId, policy: Policy) -> Vec<PlannedSegment> {
        let mut plans = Vec::new();
        self.offloader().survey(policy, |planned| plans.push(planned)).await.unwrap();
        plans.retain(|planned| planned.segment.log == log);
        plans
    }

    /// A new log.
    pub async fn create(&self, nonce: &str) -> Growing {
        let (logs, log) = (self.logs(), log(nonce));
        logs.create(log, Some("alice".into())).await.unwrap();
        Growing { log, logs, tail: Position::FIRST, next_id: 1 }
    }

    /// Lets the segment at the tail have a finished snapshot, and rolls it.
    pub async fn roll(&self, growing: &mut Growing) {
        self.finish_snapshot(growing.log, growing.tail.segment()).await;
        let tail = self.entry(growing.log, growing.tail).await.unwrap();
        let segment = growing.tail.segment() + 1;
        let rolled = growing.logs.roll(tail).await.unwrap();
        assert_eq!(rolled, Rolled::Into { segment });
        growing.tail = Position::new(segment, 0).unwrap();
    }

    /// Makes the snapshot of the first entry of a segment.
    pub async fn finish_snapshot(&self, log: LogId, segment: u32) {
        make_snapshot(self.logs(), &self.tables, &self.blobs, log, segment).await;
    }

    /// The entry that the table has at a position.
    pub async fn entry(&self, log: LogId, at: Position) -> Option<Arc<Entry>> {
        self.tables.get(log, at).await.unwrap()
    }

    /// The numbers of the entries that the table has of a segment.
    pub async fn stored(&self, log: LogId, segment: u32) -> Vec<u32> {
        let mut from = Position::new(segment, 0).unwrap();
        let mut stored = Vec::new();
        loop {
            let page = self.tables.page(log, from, true).await.unwrap();
            stored.extend(page.entries.iter().map(|entry| entry.position.num()));
            if !page.more {
                return stored;
            }
            from = Position::new(segment, stored.last().unwrap() + 1).unwrap();
        }
    }
}

/// Makes the snapshot of the first entry of a segment, as a worker does.
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
    /// Appends at the tail.
    pub async fn append(&mut self, operation: Operation) -> Appended {
        self.append_on(self.tail, operation).await
    }

    /// Appends what was made on an older position.
    pub async fn append_on(&mut self, base: Position, operation: Operation) -> Appended {
        let (id, log) = (self.next_id, self.log);
        let appended = self.logs.append(edit(log, 3, id, base, operation)).await.unwrap();
        self.next_id += 1;
        self.tail = appended.tail;
        appended
    }
}

/// A request of one mutation by the client with this number.
pub fn edit(log: LogId, client: u8, id: u64, base: Position, operation: Operation) -> Request {
    let mutations = vec![NewMutation { id, base, operation }];
    Request::new(log, ClientKey([client; 8]), None, FIRST_INCARNATION, id - 1, mutations).unwrap()
}
