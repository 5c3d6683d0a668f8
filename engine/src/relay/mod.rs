//! The relay. For each new entry, it sends a snapshot job or removes the pending tag of an uploaded
//! object, if required.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::record::Item;
use cellar_snapshot::relay::{RelayAction, RelayError, decide_relay_action};

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

impl RelayFailure {
    /// Whether the record should be retried, because another attempt may succeed.
    fn is_temporary(&self) -> bool {
        matches!(self, Self::Port(PortError { temporary: true, .. }))
    }
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

    /// Processes a batch of change stream records in order. Returns the sequence number of the
    /// first failed record, from which the change stream retries, or `None` if no record failed.
    ///
    /// After a permanent failure, the remaining records are still processed, so that only the
    /// failed record is lost if the change stream discards the batch. After a temporary failure,
    /// the remaining records are not processed, since they would probably fail as well.
    pub async fn relay_batch(&self, changes: &[EntryChange]) -> Option<String> {
        let mut first_failed = None;
        for change in changes {
            let Err(failure) = self.relay_change(change).await else { continue };
            let sequence_number = change.sequence_number.as_str();
            tracing::error!(sequence_number, error = %failure, "a record was not relayed");
            if first_failed.is_none() {
                first_failed = Some(sequence_number.to_owned());
            }
            if failure.is_temporary() {
                break;
            }
        }
        first_failed
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
