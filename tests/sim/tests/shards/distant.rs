//! A feed index with the latency of a table in an AWS region.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cellar_catalog::feed::{Checkpoint, Feed, Item, Mark};
use cellar_catalog::stream::StreamName;
use cellar_engine::memory::MemoryFeed;
use cellar_engine::ports::{
    Clock, FeedTable, FeedWriteOutcome, PortError, Random, ReadConsistency,
};
use tokio::time::{Instant, sleep};

/// Latency in each direction, in microseconds: a request takes 4 to 9 ms.
const ONE_WAY_US: std::ops::Range<u64> = 2_000..4_500;

/// A delayed feed index that counts its requests. It is also the clock and the randomness of the
/// indexers.
pub(super) struct DistantIndex {
    index: MemoryFeed,
    random: Mutex<fastrand::Rng>,
    begun: Instant,
    pub(super) puts: AtomicU64,
    pub(super) items: AtomicU64,
    pub(super) marks: AtomicU64,
    pub(super) reads: AtomicU64,
}

impl DistantIndex {
    pub(super) fn new(seed: u64) -> Self {
        let random = Mutex::new(fastrand::Rng::with_seed(seed));
        let (index, begun) = (MemoryFeed::default(), Instant::now());
        let [puts, items, marks, reads] = [0; 4].map(AtomicU64::new);
        Self { index, random, begun, puts, items, marks, reads }
    }

    async fn travel(&self) {
        let one_way_us = self.random.lock().unwrap().u64(ONE_WAY_US);
        sleep(Duration::from_micros(one_way_us)).await;
    }

    async fn ask<T>(&self, counter: &AtomicU64, request: impl Future<Output = T>) -> T {
        counter.fetch_add(1, Ordering::Relaxed);
        self.travel().await;
        let answer = request.await;
        self.travel().await;
        answer
    }
}

#[async_trait]
impl FeedTable for DistantIndex {
    async fn newest_partition(
        &self,
        consistency: ReadConsistency,
    ) -> Result<Option<(u64, Feed)>, PortError> {
        self.ask(&self.reads, self.index.newest_partition(consistency)).await
    }

    async fn begin_partition(&self, partition: u64, feed: Feed) -> FeedWriteOutcome {
        self.ask(&self.marks, self.index.begin_partition(partition, feed)).await
    }

    async fn last_item(&self, partition: u64) -> Result<Option<(u64, Item)>, PortError> {
        self.ask(&self.reads, self.index.last_item(partition)).await
    }

    async fn put_item(&self, at: Checkpoint, item: &Item) -> FeedWriteOutcome {
        let outcome = self.ask(&self.puts, self.index.put_item(at, item)).await;
        if outcome == FeedWriteOutcome::Done {
            self.items.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    }

    async fn items(
        &self,
        from: Checkpoint,
        limit: u32,
        consistency: ReadConsistency,
    ) -> Result<Vec<(u64, Item)>, PortError> {
        self.ask(&self.reads, self.index.items(from, limit, consistency)).await
    }

    async fn mark(&self, stream: &StreamName) -> Result<Option<Mark>, PortError> {
        self.ask(&self.reads, self.index.mark(stream)).await
    }

    async fn raise_mark(&self, stream: &StreamName, mark: Mark) -> Result<(), PortError> {
        self.ask(&self.marks, self.index.raise_mark(stream, mark)).await
    }
}

#[async_trait]
impl Clock for DistantIndex {
    fn now_ms(&self) -> u64 {
        1_795_246_133_000 + u64::try_from(self.begun.elapsed().as_millis()).unwrap()
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        sleep(Duration::from_millis(delay_ms)).await;
    }
}

impl Random for DistantIndex {
    fn next(&self) -> u64 {
        self.random.lock().unwrap().u64(..)
    }
}
