//! The relay. For each change in the Entry table, it sends a snapshot job or removes a pending tag
//! if required.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::record::Item;
use cellar_snapshot::relay::{RelayAction, RelayError, decide_relay_action};

use crate::ports::{Jobs, PendingTags, PortError};

/// A record from the change stream of the Entry table.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryChange {
    /// Sequence number in the change stream. Reported if the record cannot be relayed.
    pub sequence_number: String,
    /// DynamoDB's event name, such as `INSERT`.
    pub name: String,
    /// Entry attributes, including at least [`cellar_snapshot::relay::ATTRIBUTES`].
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
    /// The object of the external body does not exist, so the entry's data is lost.
    #[error(
        "the external body `{key}` is missing, but an entry references it; restore an older version \
         of the object"
    )]
    ObjectMissing { key: String },
}

impl RelayFailure {
    /// Whether a retry of the record may succeed.
    fn is_temporary(&self) -> bool {
        matches!(self, Self::Port(PortError { temporary: true, .. }))
    }
}

/// Relays change records from the Entry table. All operations are short and idempotent.
#[derive(Clone)]
pub struct Relay {
    jobs: Arc<dyn Jobs>,
    pending_tags: Arc<dyn PendingTags>,
}

impl Relay {
    /// Creates a relay that sends snapshot jobs to the queue `jobs` and removes the pending tags of
    /// uploaded objects.
    #[must_use]
    pub fn new(jobs: Arc<dyn Jobs>, pending_tags: Arc<dyn PendingTags>) -> Self {
        Self { jobs, pending_tags }
    }

    /// Relays a batch of records in order. If a record fails, returns the sequence number of the
    /// first failed record, from which the change stream retries.
    ///
    /// After a permanent failure, the remaining records are still relayed. Thus only the failed
    /// records are lost if the change stream discards the batch. After a temporary failure, the
    /// remaining records are not relayed, since they would probably fail as well.
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
