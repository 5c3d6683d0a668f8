//! The driver of the relay: from changes of the Entry table to jobs and tags.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::record::Item;
use cellar_snapshot::relay::{RelayAction, RelayError, decide_relay_action};

use crate::ports::{Jobs, PendingTags, PortError};

/// One record of the Entry table's stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its place in the stream; what is reported if it fails.
    pub sequence_number: String,
    /// Its kind, as the stream names it: `INSERT` and others.
    pub name: String,
    /// The entry's attributes, or at least those of [`cellar_snapshot::relay::ATTRIBUTES`].
    pub image: Item,
}

/// Why a record was not relayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelayFailure {
    /// The record cannot be understood.
    #[error(transparent)]
    Record(#[from] RelayError),
    /// A port did not do it.
    #[error(transparent)]
    Port(#[from] PortError),
    /// An entry names an external body that is not there: its data is lost. Never silently.
    #[error(
        "the external body `{key}` is gone though an entry names it: restore it from its version"
    )]
    ObjectGone {
        /// The object's key.
        key: String,
    },
}

impl RelayFailure {
    /// Whether the same record may succeed later, as it may if a service did not answer.
    fn temporary(&self) -> bool {
        matches!(self, Self::Port(PortError { temporary: true, .. }))
    }
}

/// The relay: it does nothing heavy, and everything it does may be repeated.
#[derive(Clone)]
pub struct Relay {
    jobs: Arc<dyn Jobs>,
    pending_tags: Arc<dyn PendingTags>,
}

impl Relay {
    /// A relay to this queue and these objects.
    #[must_use]
    pub fn new(jobs: Arc<dyn Jobs>, pending_tags: Arc<dyn PendingTags>) -> Self {
        Self { jobs, pending_tags }
    }

    /// Relays a batch in its order. Gives the sequence number of the first record that failed: the
    /// stream repeats from there.
    ///
    /// What stands behind a record that can never succeed is relayed all the same: if the batch is
    /// given up, nothing is lost but that record. Behind one that may succeed later nothing is
    /// tried: the service that did not answer would not answer the next one.
    pub async fn batch(&self, changes: &[Change]) -> Option<String> {
        let mut first_failed = None;
        for change in changes {
            let Err(failure) = self.one(change).await else { continue };
            let sequence_number = change.sequence_number.as_str();
            tracing::error!(sequence_number, error = %failure, "a record was not relayed");
            let first = first_failed.get_or_insert_with(|| sequence_number.to_owned());
            if failure.temporary() {
                return Some(first.clone());
            }
        }
        first_failed
    }

    async fn one(&self, change: &Change) -> Result<(), RelayFailure> {
        match decide_relay_action(&change.name, &change.image)? {
            RelayAction::Ignore => Ok(()),
            RelayAction::SendJob(job) => Ok(self.jobs.send(&job.encode()).await?),
            RelayAction::RemovePendingTag { key } => {
                let there = self.pending_tags.remove_pending_tag(&key).await?;
                if there { Ok(()) } else { Err(RelayFailure::ObjectGone { key }) }
            }
        }
    }
}
