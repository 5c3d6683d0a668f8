//! Crash tests of the snapshot worker. Requests fail before or after they take effect, or never
//! return.

mod rebuild;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::{EARLIER_WAIT_S, LEASE_S};
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;

use super::*;
use crate::crashes::{Fault, FaultyPorts};
use crate::memory::{ManualClock, MemoryBlobs, MemoryTables};
use crate::ports::{CreateOutcome, PutOutcome, ReadConsistency};

const FAULTS: [Fault; 4] = [Fault::Refused, Fault::ReplyLost, Fault::DiesBefore, Fault::DiesAfter];

/// Ports and a builder with injected faults.
struct World {
    ports: Arc<FaultyPorts>,
    clock: Arc<ManualClock>,
    steps: AtomicU32,
    /// Jobs that the builder received, each with the length of its progress in bytes.
    seen: Mutex<Vec<(SnapshotJob, usize)>>,
}

/// Number of units of work that the builder performs before it finishes a snapshot.
const PROGRESS_WRITES: usize = 2;
const STEP_MS: u64 = 5_000;

#[async_trait]
impl SnapshotBuilder for World {
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, PortError> {
        self.steps.fetch_add(1, Ordering::SeqCst);
        self.seen.lock().unwrap().push((*job, progress.len()));
        self.clock.advance_ms(STEP_MS);
        let page = self
            .ports
            .tables
            .page(job.log, job.position.segment_start(), ReadConsistency::Strong)
            .await
            .unwrap();
        let unfinished = page
            .entries
            .iter()
            .find(|entry| matches!(entry.content, Content::Snapshot { root: None, .. }));
        let work = async {
            match unfinished.map(|entry| entry.position) {
                Some(earlier) if earlier < job.position => BuildStep::EarlierSnapshot(earlier),
                _ if progress.len() < PROGRESS_WRITES => {
                    BuildStep::Progress(vec![1; progress.len() + 1])
                }
                _ => BuildStep::Finished { root: root(job) },
            }
        };
        let failed = |error: PortError| Err(error);
        self.ports.faults.send_with_fault(async { Ok(work.await) }, failed).await
    }
}

fn log() -> LogId {
    LogId::derive(&SubjectKey::new("snapshots", "test"), "log").unwrap()
}

fn job(num: u32) -> SnapshotJob {
    SnapshotJob { log: log(), position: Position::new(0, num).unwrap() }
}

fn root(job: &SnapshotJob) -> String {
    format!("sheets/{}/roots/{}", job.log, job.position)
}

impl World {
    /// Creates a log whose entries 0 and 1 are Snapshot entries. The ports inject the given faults.
    async fn new(planned: Vec<(usize, Fault)>) -> Arc<Self> {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let tables = MemoryTables::default();
        let first = Entry::first(log(), None, 0);
        let segment = Segment {
            log: log(),
            num: 0,
            created_s: 0,
            last_snapshot: None,
            offloaded: None,
            lineage: None,
        };
        assert_eq!(tables.create(&segment, &first).await, CreateOutcome::Created);
        let second = Entry { position: job(1).position, ..first };
        assert_eq!(tables.put(&second).await, PutOutcome::Accepted);
        let blobs = MemoryBlobs::new(clock.clone());
        Arc::new(Self {
            ports: FaultyPorts::new(planned, tables, blobs, clock.clone()),
            clock,
            steps: AtomicU32::default(),
            seen: Mutex::default(),
        })
    }

    /// Invokes a function with the next visible message, as Lambda does. Returns `None` if no
    /// message is visible.
    async fn call(self: &Arc<Self>, function_ms: u64) -> Option<Option<SnapshotOutcome>> {
        // The default visibility timeout of the queue is six times the function timeout.
        let message = self.ports.queue.receive(1, 6 * 300).await.unwrap().pop()?;
        let job = SnapshotJob::decode(&message.body).unwrap();
        let deadline_ms = self.clock.now_ms() + function_ms;
        let snapshots = self.ports.snapshots(self.clone());
        let outcome = tokio::select! {
            biased;
            outcome = snapshots.handle(job, &message.receipt, deadline_ms) => Some(outcome),
            () = self.ports.faults.died.notified() => None,
        };
        if matches!(outcome, Some(SnapshotOutcome::Done | SnapshotOutcome::Drop)) {
            self.ports.queue.delete(&message.receipt).await.unwrap();
        }
        Some(outcome)
    }

    /// Invokes functions until the queue is empty. Returns how many minutes have passed on the
    /// clock.
    async fn run(self: &Arc<Self>, function_ms: u64) -> u64 {
        let began_ms = self.clock.now_ms();
        while !self.ports.queue.is_empty() {
            if self.call(function_ms).await.is_none() {
                self.clock.advance_ms(5_000);
            }
            let took_ms = self.clock.now_ms() - began_ms;
            assert!(took_ms < 4 * 60 * 60 * 1_000, "it does not come to an end");
        }
        (self.clock.now_ms() - began_ms) / 60_000
    }

    async fn assert_made(&self, nums: &[u32], what: &str) {
        for num in nums {
            let entry = self.ports.tables.get(log(), job(*num).position).await.unwrap().unwrap();
            let Content::Snapshot { root: Some(stands), .. } = &entry.content else {
                panic!("{what}: {num} has no root")
            };
            assert_eq!(*stands, root(&job(*num)), "{what}");
        }
        let segment =
            self.ports.tables.segment(log(), 0, ReadConsistency::Strong).await.unwrap().unwrap();
        assert_eq!(segment.last_snapshot, nums.last().copied(), "{what}");
        assert!(self.ports.pending.is_empty(), "{what}: a record is left");
    }
}

const FUNCTION_MS: u64 = 300_000;

#[tokio::test]
async fn a_snapshot_needs_a_minimum_of_requests() {
    let world = World::new(vec![]).await;
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(SnapshotOutcome::Done)));
    world.assert_made(&[0], "alone").await;
    // The first requests are: hide, find, read, create, read. Three units of work follow. Each unit
    // consists of a build, a hide except in the first unit, and a write except in the last unit.
    // The last requests set the snapshot root, record the snapshot as the latest in its segment,
    // delete the pending record, and find the next pending record.
    assert_eq!(world.ports.faults.requests(), 5 + 2 + 3 + 2 + 4);
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(SnapshotOutcome::Drop)), "a late message");
}

#[tokio::test]
async fn a_function_that_ends_soon_hands_over_after_each_progress() {
    let world = World::new(vec![]).await;
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    for _ in 0..PROGRESS_WRITES {
        assert_eq!(world.call(1).await, Some(Some(SnapshotOutcome::HandOver)));
    }
    assert_eq!(world.call(1).await, Some(Some(SnapshotOutcome::Done)));
    world.assert_made(&[0], "handed over").await;
}

#[tokio::test]
async fn an_earlier_snapshot_whose_message_is_lost_is_woken() {
    let world = World::new(vec![]).await;
    world.ports.queue.send(&job(1).encode()).await.unwrap();
    let waits = SnapshotOutcome::Wait { wait_s: EARLIER_WAIT_S };
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(waits)));
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(SnapshotOutcome::Done)), "the earlier one");
    world.assert_made_first().await;
    // The worker sent the job of the next snapshot again when it finished. The first message of
    // that job is still hidden.
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(SnapshotOutcome::Done)));
    world.assert_made(&[0, 1], "both").await;
    world.run(FUNCTION_MS).await;
}

impl World {
    async fn assert_made_first(&self) {
        let segment =
            self.ports.tables.segment(log(), 0, ReadConsistency::Strong).await.unwrap().unwrap();
        assert_eq!(segment.last_snapshot, Some(0));
        assert_eq!(self.ports.pending.len(), 1, "the later one's record");
    }
}

#[tokio::test]
async fn a_dead_worker_is_replaced_after_its_lease_and_its_progress_is_resumed() {
    // The requests are: hide, find, read, create, read, build, write, hide. The worker dies in the
    // second unit of work.
    let world = World::new(vec![(8, Fault::DiesBefore)]).await;
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    assert_eq!(world.call(FUNCTION_MS).await, Some(None));
    // A second message for the same job waits until the dead worker's lease expires.
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    let rest_s = u32::try_from(LEASE_S - STEP_MS / 1_000).unwrap();
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(SnapshotOutcome::Wait { wait_s: rest_s })));
    assert_eq!(world.run(FUNCTION_MS).await, 1, "minutes");
    world.assert_made(&[0], "replaced").await;
    let ranks: Vec<usize> = world.seen.lock().unwrap().iter().map(|(_, rank)| *rank).collect();
    assert_eq!(ranks, [0, 1, 1, 2], "only the lost piece is repeated");
}

#[tokio::test]
async fn a_permanent_failure_of_the_builder_does_not_prevent_retries() {
    let world = World::new(vec![(5, Fault::Refused)]).await;
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    let failed = SnapshotOutcome::Failed { wait_s: cellar_base::limits::FAILED_WAIT_S };
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(failed)));
    assert_eq!(world.run(FUNCTION_MS).await, 1);
    world.assert_made(&[0], "tried again").await;
}

/// Order of messages in which the later snapshot comes first.
const ONCE: [u32; 2] = [1, 0];
/// Order of messages in which each message is delivered twice.
const TWICE: [u32; 4] = [1, 0, 1, 0];

/// Sends messages for the given snapshots and invokes functions until both snapshots are built.
async fn survives(planned: Vec<(usize, Fault)>, messages: &[u32], function_ms: u64) -> usize {
    let what = format!("{planned:?}");
    let world = World::new(planned).await;
    for num in messages {
        world.ports.queue.send(&job(*num).encode()).await.unwrap();
    }
    world.run(function_ms).await;
    world.assert_made(&[0, 1], &what).await;
    let seen = world.seen.lock().unwrap();
    for num in [0, 1] {
        let of_job = seen.iter().filter(|(its, _)| *its == job(num));
        let ranks: Vec<usize> = of_job.map(|(_, rank)| *rank).collect();
        assert!(ranks.is_sorted(), "{what}: the progress of snapshot {num} decreased: {ranks:?}");
    }
    world.ports.faults.requests()
}

#[tokio::test]
async fn snapshots_survive_a_fault_at_any_request() {
    let twice = TWICE.as_slice();
    for (messages, function_ms) in [(twice, FUNCTION_MS), (twice, 1), (&ONCE, FUNCTION_MS)] {
        let requests = survives(vec![], messages, function_ms).await;
        assert!(requests > 30);
        for at in 0..requests {
            for fault in FAULTS {
                survives(vec![(at, fault)], messages, function_ms).await;
            }
        }
    }
}

#[tokio::test]
#[ignore = "a minute: the long run"]
async fn long_snapshots_survive_any_two_faults() {
    let requests = survives(vec![], &TWICE, FUNCTION_MS).await;
    for first in 0..requests {
        for second in first + 1..requests + 10 {
            for (one, other) in FAULTS.into_iter().flat_map(|one| FAULTS.map(|two| (one, two))) {
                survives(vec![(first, one), (second, other)], &TWICE, FUNCTION_MS).await;
                survives(vec![(first, one), (second, other)], &ONCE, FUNCTION_MS).await;
            }
        }
    }
}
