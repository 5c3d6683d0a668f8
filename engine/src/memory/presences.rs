//! In-memory presence, in the same tables as the segments.

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_log::presence::{ShownTimes, StoredPresence};
use cellar_log::records::presence;

use super::MemoryTables;
use crate::ports::{PortError, PresenceOutcome, Presences, ReadConsistency};

#[cfg(test)]
impl MemoryTables {
    pub(crate) fn all_presences(&self) -> Vec<(LogId, StoredPresence)> {
        let tables = self.lock();
        let items = tables.presences.iter();
        items.map(|((log_id, _), item)| (*log_id, presence::decode(item).unwrap())).collect()
    }
}

#[async_trait]
impl Presences for MemoryTables {
    async fn presences(
        &self,
        log_id: LogId,
        _consistency: ReadConsistency,
    ) -> Result<Vec<StoredPresence>, PortError> {
        let tables = self.lock();
        let items = tables.presences.range((log_id, 0)..=(log_id, u32::MAX));
        items.map(|(_, item)| presence::decode(item).map_err(PortError::from)).collect()
    }

    async fn put_presence(
        &self,
        log_id: LogId,
        stored: &StoredPresence,
        shown: ShownTimes,
    ) -> Result<PresenceOutcome, PortError> {
        let mut tables = self.lock();
        let key = (log_id, stored.slot);
        if let Some(item) = tables.presences.get(&key) {
            let earlier = presence::decode(item)?.presence;
            if !earlier.may_be_replaced_by(stored.presence.client, shown) {
                return Ok(PresenceOutcome::Taken);
            }
        }
        tables.presences.insert(key, presence::encode(log_id, stored));
        Ok(PresenceOutcome::Stored)
    }

    async fn delete_presence(&self, log_id: LogId, slot: u32) -> Result<(), PortError> {
        self.lock().presences.remove(&(log_id, slot));
        Ok(())
    }
}
