//! In-memory PendingSnapshots table.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};
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

/// An in-memory PendingSnapshots table. Records are encoded as in DynamoDB.
#[derive(Debug, Default)]
pub struct MemoryPendingSnapshots {
    records: Mutex<BTreeMap<Key, Item>>,
}

impl MemoryPendingSnapshots {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Item>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn copied(&self) -> Self {
        Self { records: Mutex::new(self.lock().clone()) }
    }

    #[cfg(test)]
    pub(crate) fn records(&self) -> Vec<PendingSnapshot> {
        self.lock().values().map(|item| pending_snapshot::decode(item).unwrap()).collect()
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn first_in(&self, keys: impl RangeBounds<Key>) -> Result<Option<PendingSnapshot>, PortError> {
        match self.lock().range(keys).next() {
            Some((_, item)) => Ok(Some(pending_snapshot::decode(item)?)),
            None => Ok(None),
        }
    }

    fn write_if(
        &self,
        record: &PendingSnapshot,
        condition: impl FnOnce(Option<&PendingSnapshot>) -> bool,
    ) -> WriteOutcome {
        match self.try_write_if(record, condition) {
            Ok(true) => WriteOutcome::Written,
            Ok(false) => WriteOutcome::Refused,
            Err(error) => WriteOutcome::Failed(error),
        }
    }

    fn try_write_if(
        &self,
        record: &PendingSnapshot,
        condition: impl FnOnce(Option<&PendingSnapshot>) -> bool,
    ) -> Result<bool, PortError> {
        let item = pending_snapshot::encode(record)?;
        let mut records = self.lock();
        let key = (record.job.log, record.job.position);
        let stored_record = records.get(&key).map(pending_snapshot::decode).transpose()?;
        let is_allowed = condition(stored_record.as_ref());
        if is_allowed {
            records.insert(key, item);
        }
        Ok(is_allowed)
    }
}

#[async_trait]
impl PendingSnapshots for MemoryPendingSnapshots {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.first_in((job.log, Position::FIRST)..=(job.log, job.position))
    }

    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        let after_job = (Bound::Excluded((job.log, job.position)), Bound::Unbounded);
        let next_record = self.first_in(after_job)?;
        Ok(next_record.filter(|record| record.job.log == job.log))
    }

    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        self.write_if(record, |stored_record| stored_record.is_none())
    }

    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        self.write_if(record, |stored_record| {
            stored_record.is_some_and(|stored_record| stored_record.increment == increment)
        })
    }

    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError> {
        let mut records = self.lock();
        let key = (job.log, job.position);
        let Some(item) = records.get(&key) else { return Ok(()) };
        let stored_run = pending_snapshot::decode(item)?.rebuild.map(|rebuild| rebuild.run);
        if stored_run == run {
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
