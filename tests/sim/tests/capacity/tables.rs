//! The ports of the engine: tables with the latency and the limits of DynamoDB.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::item_bytes;
use cellar_catalog::stream::{EventBatch, StreamName, Tip, Update};
use cellar_engine::ports::{
    CreateOutcome, Entries, ForkPage, ForkRecords, Page, PortError, PutOutcome, ReadConsistency,
    Segments, StreamOutcome, Streams,
};
use cellar_log::entry::Entry;
use cellar_log::records::entry as entry_record;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::limits::Limit;
use super::region::{READ_ONE_WAY_US, Region, WRITE_ONE_WAY_US};
use super::throughput::Throughput;

const WRITE_UNIT_BYTES: usize = 1_024;
const READ_UNIT_BYTES: usize = 4_096;
/// Size of the item with the members and the name of a sheet: at most one read unit.
const LISTING_BYTES: usize = 1_000;

fn bytes_of(entry: &Entry) -> usize {
    item_bytes(&entry_record::encode(entry).unwrap())
}

fn units(bytes: usize, unit_bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes.div_ceil(unit_bytes).max(1)).unwrap())
}

fn throttled(limit: Limit) -> PortError {
    PortError::temporary(format!("throttled: {limit}"))
}

impl Region {
    /// Reads from a table. `bytes_of` returns the size of the items that were read.
    async fn read<T>(
        &self,
        throughput: &Mutex<Throughput>,
        (sheet, consistency): (LogId, ReadConsistency),
        request: impl Future<Output = Result<T, PortError>>,
        bytes_of: impl Fn(&T) -> usize,
    ) -> Result<T, PortError> {
        self.travel(READ_ONE_WAY_US).await;
        let reply = request.await?;
        let units = units(bytes_of(&reply), READ_UNIT_BYTES);
        let units = if consistency.is_strong() { units } else { units / 2.0 };
        let admitted = throughput.lock().unwrap().read(self.now_s(), sheet, units);
        self.travel(READ_ONE_WAY_US).await;
        if let Err(limit) = admitted {
            self.count_throttle(limit);
            return Err(throttled(limit));
        }
        self.meters().read_units += units;
        Ok(reply)
    }
}

fn bytes_of_page(page: &Page) -> usize {
    page.entries.iter().map(|entry| bytes_of(entry)).sum()
}

fn bytes_of_one(entry: &Option<Arc<Entry>>) -> usize {
    entry.as_ref().map_or(0, |entry| bytes_of(entry))
}

#[async_trait]
impl Entries for Region {
    async fn page(
        &self,
        log_id: LogId,
        from: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let request = self.tables.page(log_id, from, consistency);
        self.read(&self.entry_throughput, (log_id, consistency), request, bytes_of_page).await
    }

    async fn page_back(
        &self,
        log_id: LogId,
        from: Position,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        let request = self.tables.page_back(log_id, from, limit, consistency);
        self.read(&self.entry_throughput, (log_id, consistency), request, bytes_of_page).await
    }

    async fn last(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let request = self.tables.last(log_id, segment, consistency);
        self.read(&self.entry_throughput, (log_id, consistency), request, bytes_of_one).await
    }

    async fn get(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let request = self.tables.get(log_id, position);
        let how = (log_id, ReadConsistency::Strong);
        self.read(&self.entry_throughput, how, request, bytes_of_one).await
    }

    async fn put(&self, entry: &Entry) -> PutOutcome {
        let units = units(bytes_of(entry), WRITE_UNIT_BYTES);
        self.travel(WRITE_ONE_WAY_US).await;
        let admitted = self.entry_throughput.lock().unwrap().write(self.now_s(), entry.log, units);
        if let Err(limit) = admitted {
            self.count_throttle(limit);
            self.travel(WRITE_ONE_WAY_US).await;
            return PutOutcome::Unknown(throttled(limit));
        }
        self.meters().write_units += units;
        let outcome = self.tables.put(entry).await;
        if outcome == PutOutcome::Accepted {
            let partition = self.entry_throughput.lock().unwrap().partition_of(entry.log);
            self.pipeline.record_entry(partition, self.now_s(), entry.log);
        }
        self.travel(WRITE_ONE_WAY_US).await;
        outcome
    }

    async fn set_root(
        &self,
        log_id: LogId,
        position: Position,
        root: &str,
    ) -> Result<String, PortError> {
        self.tables.set_root(log_id, position, root).await
    }

    async fn replace_root(
        &self,
        log_id: LogId,
        position: Position,
        replaces: Option<&str>,
        root: &str,
    ) -> Result<Option<String>, PortError> {
        self.tables.replace_root(log_id, position, replaces, root).await
    }

    async fn reachable(&self) -> bool {
        true
    }
}

/// No run creates, forks or rolls a log after its start, so that only reads take time.
#[async_trait]
impl Segments for Region {
    async fn newest(
        &self,
        log_id: LogId,
        limit: u8,
        consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, PortError> {
        let request = self.tables.newest(log_id, limit, consistency);
        self.read(&self.segment_throughput, (log_id, consistency), request, |_| 0).await
    }

    async fn segment(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError> {
        let request = self.tables.segment(log_id, segment, consistency);
        self.read(&self.segment_throughput, (log_id, consistency), request, |_| 0).await
    }

    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        self.tables.roll(transaction).await
    }

    async fn raise_last_snapshot(&self, log_id: LogId, at: Position) -> Result<(), PortError> {
        self.tables.raise_last_snapshot(log_id, at).await
    }

    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        Segments::create(self.tables.as_ref(), segment, entry).await
    }

    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        self.tables.fork(records).await
    }

    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        self.tables.forks(source, after, limit).await
    }

    async fn reachable(&self) -> bool {
        true
    }
}

/// The sheets' names and members. No run changes them.
#[async_trait]
impl Streams for Region {
    async fn tip(
        &self,
        name: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        let sheet = LogId::derive(&self.principal.subject, name.as_str()).unwrap();
        let request = self.streams.tip(name, consistency);
        let how = (sheet, consistency);
        self.read(&self.catalog_throughput, how, request, |_| LISTING_BYTES).await
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        self.streams.batches_before(name, below, consistency).await
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        self.streams.put_first(tip).await
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        self.streams.update(update).await
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        self.streams.split_off(batch, update).await
    }
}
