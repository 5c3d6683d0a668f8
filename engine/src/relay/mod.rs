//! The relay. For each new entry, it sends a snapshot job or removes the pending tag of an uploaded
//! object, if required.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::record::Item;
use cellar_snapshot::relay::{RelayAction, RelayError, decide_relay_action};

use crate::dead_letters::DeadLetter;
use crate::ports::{Jobs, PendingTags, PortError};

/// A record from the change stream of the Entry table.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryChange {
    /// Sequence number in the change stream. It is returned if the record cannot be relayed.
    pub sequence_number: String,
    /// DynamoDB's event name, such as `INSERT`.
    pub name: String,
    /// Attributes of the entry, including at least those in [`cellar_snapshot::relay::ATTRIBUTES`].
    pub image: Item,
}

/// Reason why a record was not relayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelayFailure {
    /// The record is invalid.
    #[error(transparent)]
    Record(#[from] RelayError),
    /// A queue or bucket request failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The object that contains the entry's operations does not exist, so the entry's data is lost.
    #[error(
        "the object `{key}` with the operations of an entry is missing; restore its last version"
    )]
    ObjectMissing { key: String },
}

/// The records of a batch that were not relayed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RelayedBatch {
    /// Records that can never be relayed. The caller sends them to a dead-letter queue.
    pub dead_letters: Vec<DeadLetter>,
    /// Sequence number of the first record whose queue or bucket request failed. The change stream
    /// must deliver this record and all later records again.
    pub retry_from: Option<String>,
}

/// Processes change stream records of the Entry table. All requests are short and idempotent.
#[derive(Clone)]
pub struct Relay {
    jobs: Arc<dyn Jobs>,
    pending_tags: Arc<dyn PendingTags>,
}

impl Relay {
    /// Creates a relay that sends snapshot jobs to the queue `jobs`, and removes pending tags of
    /// uploaded objects.
    #[must_use]
    pub fn new(jobs: Arc<dyn Jobs>, pending_tags: Arc<dyn PendingTags>) -> Self {
        Self { jobs, pending_tags }
    }

    /// Processes a batch of change stream records in order. Stops at the first record whose queue
    /// or bucket request fails, because later requests would probably fail as well.
    pub async fn relay_batch(&self, changes: &[EntryChange]) -> RelayedBatch {
        let mut relayed = RelayedBatch::default();
        for change in changes {
            let Err(failure) = self.relay_change(change).await else { continue };
            let sequence_number = change.sequence_number.clone();
            if let RelayFailure::Port(error) = failure {
                tracing::error!(sequence_number, %error, "a record was not relayed");
                relayed.retry_from = Some(sequence_number);
                break;
            }
            relayed.dead_letters.push(DeadLetter::new(sequence_number, &failure));
        }
        relayed
    }

    async fn relay_change(&self, change: &EntryChange) -> Result<(), RelayFailure> {
        match decide_relay_action(&change.name, &change.image)? {
            RelayAction::Ignore => Ok(()),
            RelayAction::SendJob(job) => Ok(self.jobs.send(&job.encode()).await?),
            RelayAction::RemovePendingTag { key } => {
                if self.pending_tags.remove_pending_tag(&key).await? {
                    Ok(())
                } else {
                    Err(RelayFailure::ObjectMissing { key })
                }
            }
        }
    }
}
