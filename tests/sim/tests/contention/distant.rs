//! Tables with the latency of DynamoDB in the same region.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::memory::MemoryTables;
use cellar_engine::ports::{Clock, Entries, Page, PortError, PutOutcome, Random, ReadConsistency};
use cellar_log::entry::Entry;
use tokio::time::{Instant, sleep};

/// Latency of a write in each direction, in microseconds: a write takes 4 to 6 ms.
const WRITE_ONE_WAY_US: std::ops::Range<u64> = 2_000..3_000;
/// Latency of a read in each direction, in microseconds: a read takes 2 to 4 ms.
const READ_ONE_WAY_US: std::ops::Range<u64> = 1_000..2_000;

/// A delayed Entry table that counts its requests. It is also the clock and the randomness of the
/// processes.
pub(super) struct DistantTables {
    pub(super) tables: Arc<MemoryTables>,
    random: Mutex<fastrand::Rng>,
    begun: Instant,
    pub(super) puts: AtomicU64,
    pub(super) reads: AtomicU64,
}

impl DistantTables {
    pub(super) fn new(seed: u64) -> Self {
        let random = Mutex::new(fastrand::Rng::with_seed(seed));
        let (tables, begun) = (Arc::default(), Instant::now());
        Self { tables, random, begun, puts: AtomicU64::new(0), reads: AtomicU64::new(0) }
    }

    async fn travel(&self, one_way_us: std::ops::Range<u64>) {
        let delay_us = self.random.lock().unwrap().u64(one_way_us);
        sleep(Duration::from_micros(delay_us)).await;
    }

    async fn read<T>(&self, request: impl Future<Output = T>) -> T {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.travel(READ_ONE_WAY_US).await;
        let reply = request.await;
        self.travel(READ_ONE_WAY_US).await;
        reply
    }
}

#[async_trait]
impl Entries for DistantTables {
    async fn page(
        &self,
        log_id: LogId,
        from: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        self.read(self.tables.page(log_id, from, consistency)).await
    }

    async fn page_back(
        &self,
        log_id: LogId,
        from: Position,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        self.read(self.tables.page_back(log_id, from, limit, consistency)).await
    }

    async fn last(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        self.read(self.tables.last(log_id, segment, consistency)).await
    }

    async fn get(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        self.read(self.tables.get(log_id, position)).await
    }

    async fn put(&self, entry: &Entry) -> PutOutcome {
        self.puts.fetch_add(1, Ordering::Relaxed);
        self.travel(WRITE_ONE_WAY_US).await;
        let outcome = self.tables.put(entry).await;
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

#[async_trait]
impl Clock for DistantTables {
    fn now_ms(&self) -> u64 {
        1_795_246_133_000 + u64::try_from(self.begun.elapsed().as_millis()).unwrap()
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        sleep(Duration::from_millis(delay_ms)).await;
    }
}

impl Random for DistantTables {
    fn next(&self) -> u64 {
        self.random.lock().unwrap().u64(..)
    }
}
