//! Port for presence: the selections of the clients that have a spreadsheet open.

use async_trait::async_trait;
use cellar_base::consistency::ReadConsistency;
use cellar_base::identity::LogId;
use cellar_log::presence::{ShownTimes, StoredPresence};

use super::PortError;

/// Outcome of storing a presence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresenceOutcome {
    Stored,
    /// The slot has the presence of another client, which is still shown.
    Taken,
}

/// The presence in all logs, in the Segment table.
#[async_trait]
pub trait Presences: Send + Sync {
    /// Returns what is stored in the slots of a log, including what is no longer shown, in the order
    /// of the slots.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn presences(
        &self,
        log_id: LogId,
        consistency: ReadConsistency,
    ) -> Result<Vec<StoredPresence>, PortError>;

    /// Stores the presence of a client in its slot, unless the slot has the presence of another client
    /// whose announcement is within `shown`. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. The presence may then be stored.
    async fn put_presence(
        &self,
        log_id: LogId,
        stored: &StoredPresence,
        shown: ShownTimes,
    ) -> Result<PresenceOutcome, PortError>;

    /// Deletes what a slot contains. Idempotent. The API functions do not have permission for it.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn delete_presence(&self, log_id: LogId, slot: u32) -> Result<(), PortError>;
}
