//! Tests of the snapshot handler with events and responses in Lambda's wire format.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::FAILED_WAIT_S;
use cellar_base::position::Position;
use cellar_engine::memory::{ManualClock, MemoryPendingSnapshots, MemoryQueue, MemoryTables};
use cellar_engine::ports::{Clock, CreateOutcome, Entries, Jobs, PortError, QueueRules, Segments};
use cellar_engine::snapshots::{BuildStep, SnapshotBuilder, SnapshotPorts};
use cellar_engine::system::SystemRandom;
use cellar_log::entry::Entry;
use cellar_log::segment::Segment;
use serde_json::{Value, json};

use super::*;

const FUNCTION_MS: u64 = 300_000;

/// A builder that can build only the snapshot of the first entry, after reporting progress once.
/// For every other entry, the builder fails.
struct Scripted;

#[async_trait]
impl SnapshotBuilder for Scripted {
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, PortError> {
        if job.position != Position::FIRST {
            return Err(PortError::temporary("as asked"));
        }
        Ok(match progress {
            [] => BuildStep::Progress(vec![1]),
            _ => BuildStep::Finished { root: "sheets/a/roots/b".to_owned() },
        })
    }
}

struct World {
    clock: Arc<ManualClock>,
    queue: Arc<MemoryQueue>,
    handler: SnapshotHandler,
}

fn job(num: u32) -> SnapshotJob {
    let log = LogId::derive(&SubjectKey::new("snapshot", "test"), "log").unwrap();
    SnapshotJob { log, position: Position::new(0, num).unwrap() }
}

async fn world() -> World {
    let clock = Arc::new(ManualClock::at(1_795_246_133_000));
    let queue = Arc::new(MemoryQueue::new(clock.clone(), QueueRules::LONGEST));
    let tables = Arc::new(MemoryTables::default());
    let log = job(0).log;
    let segment =
        Segment { log, num: 0, created_s: 0, last_snapshot: None, offloaded: None, lineage: None };
    let first = Entry::first(log, None, 0);
    assert_eq!(Segments::create(&*tables, &segment, &first).await, CreateOutcome::Created);
    let second = Entry { position: job(1).position, ..first };
    tables.put(&second).await;
    let ports = SnapshotPorts {
        entries: tables.clone(),
        segments: tables,
        pending: Arc::new(MemoryPendingSnapshots::default()),
        jobs: queue.clone(),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
    };
    let handler = SnapshotHandler::new(Snapshots::new(ports, Arc::new(Scripted)));
    World { clock, queue, handler }
}

impl World {
    /// Invokes the handler with all visible messages, encoded as Lambda's JSON event.
    async fn call(&self, function_ms: u64) -> Result<Value, SnapshotFailure> {
        let messages = self.queue.receive(10, 1_800).await.unwrap();
        let records = messages.into_iter().map(|message| {
            json!({
                "messageId": message.id, "receiptHandle": message.receipt.0, "body": message.body,
                "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1795246133000"},
                "messageAttributes": {}, "md5OfBody": "x", "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-central-1:0:Q", "awsRegion": "eu-central-1",
            })
        });
        let event = json!({ "Records": records.collect::<Vec<_>>() });
        let event = serde_json::from_value(event).unwrap();
        let deadline_ms = self.clock.now_ms() + function_ms;
        let response = self.handler.handle(event, deadline_ms).await?;
        Ok(serde_json::to_value(response).unwrap())
    }
}

#[tokio::test]
async fn does_not_report_finished_jobs() {
    let world = world().await;
    world.queue.send(&job(0).encode()).await.unwrap();
    assert_eq!(world.call(FUNCTION_MS).await, Ok(json!({ "batchItemFailures": [] })));
    assert_eq!(world.call(FUNCTION_MS).await, Ok(json!({ "batchItemFailures": [] })), "nothing");
}

#[tokio::test]
async fn reports_a_handed_over_job_and_makes_it_visible_immediately() {
    let world = world().await;
    world.queue.send(&job(0).encode()).await.unwrap();
    let handed_over = world.call(1).await.unwrap();
    let id = handed_over["batchItemFailures"][0]["itemIdentifier"].as_str().unwrap();
    assert!(!id.is_empty());
    assert_eq!(world.call(1).await, Ok(json!({ "batchItemFailures": [] })), "it is done");
}

#[tokio::test]
async fn a_failed_job_fails_the_invocation_and_is_retried() {
    let world = world().await;
    world.queue.send(&job(1).encode()).await.unwrap();
    let error = world.call(FUNCTION_MS).await.unwrap_err();
    let (log, at) = (job(1).log.to_string(), "0.1".to_owned());
    assert_eq!(error, SnapshotFailure::Failed { log, at, wait_s: FAILED_WAIT_S });
    assert_eq!(world.queue.receive(1, 1).await, Ok(vec![]), "still hidden");
    world.clock.advance_ms(u64::from(FAILED_WAIT_S) * 1_000);
    assert_eq!(world.queue.receive(1, 1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_invalid_message_fails_the_invocation_and_is_retried_later() {
    let world = world().await;
    world.queue.send("{}").await.unwrap();
    let error = world.call(FUNCTION_MS).await.unwrap_err();
    assert!(matches!(error, SnapshotFailure::Message { .. }), "{error}");
    world.clock.advance_ms(u64::from(BROKEN_WAIT_S) * 1_000 - 1);
    assert_eq!(world.queue.receive(1, 1).await, Ok(vec![]));
    world.clock.advance_ms(1);
    assert_eq!(world.queue.receive(1, 1).await.unwrap().len(), 1);
}
