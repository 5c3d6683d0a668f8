//! Lambda handler of the snapshot function. Processes the snapshot jobs in queue messages, and
//! reports which messages Lambda must return to the queue.

mod event;
mod ports;

pub use event::{ItemFailure, QueueEvent, QueueMessage, QueueResponse};
pub use ports::{BuilderPorts, SnapshotClients, build_handler, levels_builder};

use cellar_base::limits::BROKEN_WAIT_S;
use cellar_engine::ports::Receipt;
use cellar_engine::snapshots::Snapshots;
use cellar_snapshot::pending_snapshot::SnapshotOutcome;
use cellar_snapshot::snapshot_job::SnapshotJob;

/// A snapshot job failed, and its message returns to the queue. Operators see this error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotFailure {
    #[error("the message `{id}` is not a snapshot job: {why}")]
    Message { id: String, why: String },
    /// The snapshot could not be built. The cause has already been logged.
    #[error("the snapshot of {log} at {at} failed; it is retried in {wait_s} s")]
    Failed {
        log: String,
        /// Position of the Snapshot entry.
        at: String,
        wait_s: u32,
    },
}

/// Handles snapshot job messages.
#[derive(Clone)]
pub struct SnapshotHandler {
    snapshots: Snapshots,
}

impl SnapshotHandler {
    #[must_use]
    pub fn new(snapshots: Snapshots) -> Self {
        Self { snapshots }
    }

    /// Opens a connection to the tables, so that the first job does not have to wait for it.
    pub async fn warm_up(&self) {
        if !self.snapshots.reachable().await {
            tracing::warn!("the tables do not respond");
        }
    }

    /// Processes a batch of messages in an invocation that ends at `deadline_ms`, in milliseconds
    /// since the Unix epoch. The template configures a batch size of one message.
    ///
    /// The response lists the messages that return to the queue. Their visibility timeouts have
    /// already been set. Lambda deletes all other messages.
    ///
    /// # Errors
    ///
    /// Returns the [`SnapshotFailure`] of the last message that failed. The function's error alarm
    /// counts the failure, and all messages of the batch return to the queue. Repeating a finished
    /// job is harmless.
    pub async fn handle(
        &self,
        event: QueueEvent,
        deadline_ms: u64,
    ) -> Result<QueueResponse, SnapshotFailure> {
        let mut response = QueueResponse::default();
        let mut last_failure = None;
        for message in event.records {
            let item_identifier = message.message_id.clone();
            match self.handle_message(message, deadline_ms).await {
                Ok(SnapshotOutcome::Done | SnapshotOutcome::Drop) => {}
                // The job must wait, or another worker continues it. Lambda would delete the
                // message, so report it as failed to return it to the queue.
                Ok(_) => response.batch_item_failures.push(ItemFailure { item_identifier }),
                Err(error) => {
                    tracing::error!(%error, "a snapshot job failed");
                    last_failure = Some(error);
                }
            }
        }
        match last_failure {
            Some(failure) => Err(failure),
            None => Ok(response),
        }
    }

    async fn handle_message(
        &self,
        message: QueueMessage,
        deadline_ms: u64,
    ) -> Result<SnapshotOutcome, SnapshotFailure> {
        let receipt = Receipt(message.receipt_handle);
        let job = match SnapshotJob::decode(&message.body) {
            Ok(job) => job,
            Err(error) => {
                // Keep the message in the queue, because a later version of Cellar may be able to
                // parse it.
                self.snapshots.hide(&receipt, BROKEN_WAIT_S).await;
                let id = message.message_id;
                return Err(SnapshotFailure::Message { id, why: error.to_string() });
            }
        };
        match self.snapshots.handle(job, &receipt, deadline_ms).await {
            SnapshotOutcome::Failed { wait_s } | SnapshotOutcome::Unexpected { wait_s, .. } => {
                let (log, at) = (job.log.to_string(), job.position.to_string());
                Err(SnapshotFailure::Failed { log, at, wait_s })
            }
            outcome => Ok(outcome),
        }
    }
}

#[cfg(test)]
mod tests;
