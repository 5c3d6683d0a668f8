//! Announces which cells a client has selected, and reads what others have announced.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_log::presence::{
    self, OtherClient, Presence, Selection, ShownTimes, StoredPresence, leave, slots_to_try,
};

use crate::ports::{Clock, PortError, PresenceOutcome, Presences, Random, ReadConsistency};
use crate::retry::retry_with_jitter;

/// Announces and reads presence.
pub struct PresenceStore {
    presences: Arc<dyn Presences>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

/// A selection that a client announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    pub client: ClientKey,
    pub author: String,
    pub selection: Selection,
}

impl PresenceStore {
    #[must_use]
    pub fn new(
        presences: Arc<dyn Presences>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { presences, clock, random }
    }

    /// Stores the selection of a client and returns the other clients. If all slots are taken, the
    /// selection is not stored.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a request fails.
    pub async fn announce(
        &self,
        log_id: LogId,
        announcement: Announcement,
    ) -> Result<Vec<OtherClient>, PortError> {
        let Announcement { client, author, selection } = announcement;
        let now_ms = self.clock.now_ms();
        let stored = self.read(log_id, ReadConsistency::Eventual).await?;
        let presence = Presence { client, author, selection, seen_ms: now_ms };
        for slot in slots_to_try(&stored, client, now_ms) {
            let in_slot = StoredPresence { slot, presence: presence.clone() };
            if self.put(log_id, &in_slot, now_ms).await? == PresenceOutcome::Stored {
                break;
            }
        }
        Ok(presence::others(&stored, client, now_ms))
    }

    /// Removes the selection of a client that leaves, and returns the other clients. The read is
    /// strongly consistent, because the client does not leave a second time.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a request fails.
    pub async fn leave(
        &self,
        log_id: LogId,
        client: ClientKey,
    ) -> Result<Vec<OtherClient>, PortError> {
        let now_ms = self.clock.now_ms();
        let stored = self.read(log_id, ReadConsistency::Strong).await?;
        for left in leave(&stored, client, now_ms) {
            self.put(log_id, &left, now_ms).await?;
        }
        Ok(presence::others(&stored, client, now_ms))
    }

    /// Returns the clients other than `client`.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    pub async fn others(
        &self,
        log_id: LogId,
        client: ClientKey,
    ) -> Result<Vec<OtherClient>, PortError> {
        let stored = self.read(log_id, ReadConsistency::Eventual).await?;
        Ok(presence::others(&stored, client, self.clock.now_ms()))
    }

    async fn read(
        &self,
        log_id: LogId,
        consistency: ReadConsistency,
    ) -> Result<Vec<StoredPresence>, PortError> {
        let read = || self.presences.presences(log_id, consistency);
        retry_with_jitter(self.clock.as_ref(), self.random.as_ref(), read).await
    }

    async fn put(
        &self,
        log_id: LogId,
        stored: &StoredPresence,
        now_ms: u64,
    ) -> Result<PresenceOutcome, PortError> {
        let shown = ShownTimes::at(now_ms);
        let put = || self.presences.put_presence(log_id, stored, shown);
        retry_with_jitter(self.clock.as_ref(), self.random.as_ref(), put).await
    }
}
