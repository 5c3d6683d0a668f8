//! Handles snapshot jobs with ports that inject faults.

use std::sync::Arc;

use cellar_snapshot::pending_snapshot::SnapshotOutcome;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::ports::FaultyPorts;
use crate::ports::{Clock as _, Jobs, Received};
use crate::snapshots::Snapshots;

/// Timeout of the Lambda function in milliseconds.
const FUNCTION_MS: u64 = 300_000;
const QUEUE_VISIBILITY_S: u32 = 6 * 300;
/// Maximum duration in milliseconds until all jobs are handled. It exceeds the delay that any fault
/// causes.
const PATIENCE_MS: u64 = 4 * 60 * 60 * 1_000;

pub(crate) async fn handle_message(
    worker: Snapshots,
    ports: Arc<FaultyPorts>,
    message: Received,
    function_ms: u64,
) {
    let job = SnapshotJob::decode(&message.body).unwrap();
    let deadline_ms = ports.clock.now_ms() + function_ms;
    let outcome = worker.handle(job, &message.receipt, deadline_ms).await;
    if matches!(outcome, SnapshotOutcome::Done | SnapshotOutcome::Drop) {
        // If the deletion fails, the message is delivered again and dropped then.
        let _ = Jobs::delete(ports.as_ref(), &message.receipt).await;
    }
}

pub(crate) async fn handle_queued_jobs(worker: &Snapshots, ports: &Arc<FaultyPorts>) {
    let deadline_ms = ports.clock.now_ms() + PATIENCE_MS;
    while !ports.queue.is_empty() {
        assert!(ports.clock.now_ms() < deadline_ms, "the queue is not empty in time");
        match ports.queue.receive(1, QUEUE_VISIBILITY_S).await.unwrap().pop() {
            Some(message) => {
                handle_message(worker.clone(), Arc::clone(ports), message, FUNCTION_MS).await;
            }
            None => ports.clock.advance_ms(5_000),
        }
    }
}
