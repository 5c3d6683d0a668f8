//! The worker on snapshots as a Lambda: messages of the queue in, those that are not done out.

mod event;
mod ports;

pub use event::{ItemFailure, QueueEvent, QueueMessage, QueueResponse};
pub use ports::{BuilderPorts, SnapshotClients, handler, levels};

use cellar_base::limits::BROKEN_WAIT_S;
use cellar_engine::ports::Receipt;
use cellar_engine::snapshots::Snapshots;
use cellar_snapshot::pending_snapshot::SnapshotOutcome;
use cellar_snapshot::snapshot_job::SnapshotJob;

/// A snapshot was not made, for a reason that somebody should look at. The message comes back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotFailure {
    /// The message cannot be a job.
    #[error("the message `{id}` is no job of a snapshot: {why}")]
    Message {
        /// The message's id.
        id: String,
        /// What is wrong with it.
        why: String,
    },
    /// The work on it failed; the reason is in the log.
    #[error("the snapshot of {log} at {at} was not made and is tried again in {wait_s} s")]
    NotMade {
        /// The log.
        log: String,
        /// The position of its Snapshot entry.
        at: String,
        /// Seconds until then.
        wait_s: u32,
    },
}

/// Handles messages of the queue of snapshot jobs.
#[derive(Clone)]
pub struct SnapshotHandler {
    snapshots: Snapshots,
}

impl SnapshotHandler {
    /// A handler over these workers.
    #[must_use]
    pub fn new(snapshots: Snapshots) -> Self {
        Self { snapshots }
    }

    /// Makes the first call to the tables, so that the first job finds a connection open.
    pub async fn warm_up(&self) {
        if !self.snapshots.reachable().await {
            tracing::warn!("the tables do not answer");
        }
    }

    /// Handles one batch (in the template: one message) in a function that ends at `deadline_ms`
    /// (Unix milliseconds). The answer names what comes back, and is hidden for as long as it should
    /// be; Lambda deletes the rest.
    ///
    /// # Errors
    /// [`SnapshotFailure`] of the last message that failed: the whole batch comes back then, and the
    /// alarm on the function's errors sees it. What was done of it is done again at no cost.
    pub async fn handle(
        &self,
        event: QueueEvent,
        deadline_ms: u64,
    ) -> Result<QueueResponse, SnapshotFailure> {
        let mut response = QueueResponse::default();
        let mut failure = None;
        for message in event.records {
            let item_identifier = message.message_id.clone();
            match self.one(message, deadline_ms).await {
                Ok(SnapshotOutcome::Done | SnapshotOutcome::Drop) => {}
                // Neither waiting nor handing over is failing, but so Lambda keeps the message.
                Ok(_) => response.batch_item_failures.push(ItemFailure { item_identifier }),
                Err(error) => {
                    tracing::error!(%error, "a snapshot failed");
                    failure = Some(error);
                }
            }
        }
        failure.map_or(Ok(response), Err)
    }

    async fn one(
        &self,
        message: QueueMessage,
        deadline_ms: u64,
    ) -> Result<SnapshotOutcome, SnapshotFailure> {
        let receipt = Receipt(message.receipt_handle);
        let job = match SnapshotJob::decode(&message.body) {
            Ok(job) => job,
            Err(error) => {
                // A later build may read it.
                self.snapshots.hide(&receipt, BROKEN_WAIT_S).await;
                let id = message.message_id;
                return Err(SnapshotFailure::Message { id, why: error.to_string() });
            }
        };
        match self.snapshots.handle(job, &receipt, deadline_ms).await {
            SnapshotOutcome::Failed { wait_s } => {
                let (log, at) = (job.log.to_string(), job.position.to_string());
                Err(SnapshotFailure::NotMade { log, at, wait_s })
            }
            outcome => Ok(outcome),
        }
    }
}

#[cfg(test)]
mod tests;
