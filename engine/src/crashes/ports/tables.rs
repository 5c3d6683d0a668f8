//! The Entry and Segment tables, with injected faults.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::presence::{ShownTimes, StoredPresence};
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::{FaultyPorts, after};
use crate::ports::{
    CreateOutcome, Entries, ForkPage, ForkRecords, Page, PortError, PresenceOutcome, Presences,
    PutOutcome, ReadConsistency, Retention, ScanKey, SegmentPage, Segments,
};

fn put_failed(error: PortError) -> PutOutcome {
    if error.temporary { PutOutcome::Unknown(error) } else { PutOutcome::Failed(error) }
}

fn create_failed(error: PortError) -> CreateOutcome {
    if error.temporary { CreateOutcome::Unknown(error) } else { CreateOutcome::Failed(error) }
}

impl FaultyPorts {
    async fn table_read<T>(&self, reply: impl Future<Output = T>) -> T {
        after(&self.latencies.table_ms, reply).await
    }
}

#[async_trait]
impl Entries for FaultyPorts {
    async fn page(
        &self,
        log_id: LogId,
        from: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        self.faults.read(self.table_read(self.tables.page(log_id, from, consistency))).await
    }
    async fn page_back(
        &self,
        log_id: LogId,
        from: Position,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        self.faults
            .read(self.table_read(self.tables.page_back(log_id, from, limit, consistency)))
            .await
    }
    async fn last(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        self.faults.read(self.table_read(self.tables.last(log_id, segment, consistency))).await
    }
    async fn get(&self, log_id: LogId, at: Position) -> Result<Option<Arc<Entry>>, PortError> {
        self.faults.read(self.table_read(self.tables.get(log_id, at))).await
    }
    async fn put(&self, entry: &Entry) -> PutOutcome {
        self.faults.send_with_fault(self.tables.put(entry), put_failed).await
    }
    async fn set_root(&self, log_id: LogId, at: Position, root: &str) -> Result<String, PortError> {
        let set = async {
            let stands = self.tables.set_root(log_id, at, root).await?;
            self.roots.lock().unwrap().push((at, root.to_owned(), stands.clone()));
            Ok(stands)
        };
        self.faults.send_with_fault(set, Err).await
    }
    async fn replace_root(
        &self,
        log_id: LogId,
        at: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        self.faults.send_with_fault(self.tables.replace_root(log_id, at, replaces, root), Err).await
    }
    async fn reachable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Segments for FaultyPorts {
    async fn newest(
        &self,
        log_id: LogId,
        limit: u8,
        consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, PortError> {
        self.faults.read(self.table_read(self.tables.newest(log_id, limit, consistency))).await
    }
    async fn segment(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError> {
        self.faults.read(self.table_read(self.tables.segment(log_id, segment, consistency))).await
    }
    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        self.faults.send_with_fault(self.tables.roll(transaction), create_failed).await
    }
    async fn raise_last_snapshot(&self, log_id: LogId, at: Position) -> Result<(), PortError> {
        self.faults.send_with_fault(self.tables.raise_last_snapshot(log_id, at), Err).await
    }
    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        self.faults.send_with_fault(self.tables.create(segment, entry), create_failed).await
    }
    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        self.faults.send_with_fault(self.tables.fork(records), create_failed).await
    }
    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        self.faults.read(self.tables.forks(source, after, limit)).await
    }
    async fn reachable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Retention for FaultyPorts {
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError> {
        self.faults.read(self.tables.all_segments(after)).await
    }
    async fn set_offloaded(&self, log_id: LogId, segment: u32, key: &str) -> Result<(), PortError> {
        self.faults.send_with_fault(self.tables.set_offloaded(log_id, segment, key), Err).await
    }
    async fn mark_trimmed(
        &self,
        log_id: LogId,
        segment: u32,
        trimmed_s: u64,
    ) -> Result<(), PortError> {
        self.faults.send_with_fault(self.tables.mark_trimmed(log_id, segment, trimmed_s), Err).await
    }
    async fn delete(&self, log_id: LogId, positions: &[Position]) -> Result<(), PortError> {
        // Delete each entry in a separate request, so that a fault can occur between any two
        // deletions.
        for position in positions {
            let deleted = self.tables.delete(log_id, std::slice::from_ref(position));
            self.faults.send_with_fault(deleted, Err).await?;
        }
        Ok(())
    }
    async fn delete_segment(&self, log_id: LogId, segment: u32) -> Result<(), PortError> {
        self.faults.send_with_fault(self.tables.delete_segment(log_id, segment), Err).await
    }
    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError> {
        self.faults.send_with_fault(self.tables.delete_listed(source, number), Err).await
    }
}

#[async_trait]
impl Presences for FaultyPorts {
    async fn presences(
        &self,
        log_id: LogId,
        consistency: ReadConsistency,
    ) -> Result<Vec<StoredPresence>, PortError> {
        self.faults.read(self.tables.presences(log_id, consistency)).await
    }
    async fn put_presence(
        &self,
        log_id: LogId,
        stored: &StoredPresence,
        shown: ShownTimes,
    ) -> Result<PresenceOutcome, PortError> {
        self.faults.send_with_fault(self.tables.put_presence(log_id, stored, shown), Err).await
    }
    async fn delete_presence(&self, log_id: LogId, slot: u32) -> Result<(), PortError> {
        self.faults.send_with_fault(self.tables.delete_presence(log_id, slot), Err).await
    }
}
