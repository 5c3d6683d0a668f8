//! In-memory PendingSnapshots table.

use std::collections::BTreeMap;
use std::ops::RangeBounds;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::Item;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::records::pending_snapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::ports::{PendingSnapshots, PortError, WriteOutcome};

type Key = (LogId, Position);

/// In-memory PendingSnapshots table. Records are encoded as in DynamoDB.
#[derive(Debug, Default)]
pub struct MemoryPendingSnapshots {
    records: Mutex<BTreeMap<Key, Item>>,
}

impl MemoryPendingSnapshots {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Item>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an independent copy of the table.
    #[cfg(test)]
    pub(crate) fn copied(&self) -> Self {
        Self { records: Mutex::new(self.lock().clone()) }
    }

    /// Returns all records.
    #[cfg(test)]
    pub(crate) fn records(&self) -> Vec<PendingSnapshot> {
        self.lock().values().map(|item| pending_snapshot::decode(item).unwrap()).collect()
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns whether the table has no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn first(&self, keys: impl RangeBounds<Key>) -> Result<Option<PendingSnapshot>, PortError> {
        let records = self.lock();
        let first = records.range(keys).next();
        first.map(|(_, item)| Ok(pending_snapshot::decode(item)?)).transpose()
    }

    fn write(
        &self,
        record: &PendingSnapshot,
        holds: impl FnOnce(Option<&Item>) -> Result<bool, PortError>,
    ) -> Result<bool, PortError> {
        let item = pending_snapshot::encode(record)?;
        let mut records = self.lock();
        let key = (record.job.log, record.job.position);
        let holds = holds(records.get(&key))?;
        if holds {
            records.insert(key, item);
        }
        Ok(holds)
    }
}

fn outcome(written: Result<bool, PortError>) -> WriteOutcome {
    match written {
        Ok(true) => WriteOutcome::Written,
        Ok(false) => WriteOutcome::Refused,
        Err(error) => WriteOutcome::Failed(error),
    }
}

#[async_trait]
impl PendingSnapshots for MemoryPendingSnapshots {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.first((job.log, Position::FIRST)..=(job.log, job.position))
    }

    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        use std::ops::Bound::{Excluded, Unbounded};
        let next = self.first((Excluded((job.log, job.position)), Unbounded))?;
        Ok(next.filter(|next| next.job.log == job.log))
    }

    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        outcome(self.write(record, |there| Ok(there.is_none())))
    }

    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let holds = |there: Option<&Item>| {
            let there = there.map(pending_snapshot::decode).transpose()?;
            Ok(there.is_some_and(|there| there.increment == increment))
        };
        outcome(self.write(record, holds))
    }

    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError> {
        let (mut records, key) = (self.lock(), (job.log, job.position));
        let there = records.get(&key).map(pending_snapshot::decode).transpose()?;
        if there.is_some_and(|there| there.rebuild.map(|rebuild| rebuild.run) == run) {
            records.remove(&key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[tokio::test]
    async fn memory_passes_the_contract() {
        contract::pending_snapshots(&MemoryPendingSnapshots::default()).await;
    }
}
