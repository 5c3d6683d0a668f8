//! The event source between a shard of a table's stream and a function: it delivers batches in
//! order, splits failed batches, and drops records that are too old or failed too often.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cellar_engine::ports::Clock as _;

use super::{PollDelay, Shared};
use crate::process::Process;
use crate::rare::RareEvent;
use crate::stream::{Record, SHARDS, Stream};
use crate::world::World;

/// Maximum records of one batch.
const BATCH: usize = 100;
/// Age at which a record is dropped, in milliseconds.
const RECORD_AGE_MS: u64 = 12 * 60 * 60 * 1_000;
/// Timeout of an invocation, in milliseconds.
pub(super) const TIMEOUT_MS: u64 = 60_000;
/// Maximum wait before a batch is retried, in milliseconds.
const RETRY_MAX_MS: u64 = 30_000;
/// Default number of retries of a failed batch.
pub(super) const RETRIES: u32 = 10;

/// A function that is attached to the stream of a table.
pub(super) trait StreamFunction: Send + Sync {
    /// Returns the function's name.
    fn name(&self) -> &'static str;

    /// Returns the table's stream.
    fn stream<'a>(&self, world: &'a World) -> &'a Stream;

    /// Applies the event filter of the template.
    fn matches_filter(&self, record: &Record) -> bool;

    /// Returns how often a failed batch is retried; `None` retries until its records are too old.
    /// With a limit, failed batches are also split.
    fn retries(&self) -> Option<u32>;

    /// Starts an instance of the function.
    fn begin(&self, process: &Process) -> Arc<dyn Handler>;
}

/// An instance of a function.
#[async_trait]
pub(super) trait Handler: Send + Sync {
    /// Processes a batch; returns the number of records that succeeded.
    async fn handle(&self, records: &[Record]) -> usize;
}

/// The last number read of each shard. A function and its position in each shard.
pub(super) type ReadTo = [AtomicU64; SHARDS];

/// A function and its sources.
pub(super) struct Source {
    pub(super) shared: Arc<Shared>,
    pub(super) function: Arc<dyn StreamFunction>,
    pub(super) read_to: Arc<ReadTo>,
}

/// A process of the function and its handler.
struct Instance {
    process: Process,
    handler: Arc<dyn Handler>,
}

/// Returns whether all records of a stream were read.
pub(super) fn is_read(stream: &Stream, read_to: &ReadTo) -> bool {
    stream.is_read_to(std::array::from_fn(|shard| {
        read_to.get(shard).map_or(0, |read| read.load(Ordering::SeqCst))
    }))
}

impl Source {
    /// Reads one shard forever.
    pub(super) async fn run(self: Arc<Self>, shard: usize) {
        let shared = &self.shared;
        let (mut instance, mut idle) = (self.instance(), PollDelay::new());
        loop {
            shared.wait_until_available().await;
            let Some(read_to) = self.read_to.get(shard) else { return };
            let (after, now_ms) = (read_to.load(Ordering::SeqCst), shared.world.time.now_ms());
            let stream = self.function.stream(&shared.world);
            let (records, forgotten) = stream.read(shard, after, BATCH, now_ms);
            (0..forgotten).for_each(|_| shared.record_loss(RareEvent::RecordExpired));
            let Some(last) = records.last().map(|last| last.number) else {
                idle.wait(&shared.world).await;
                continue;
            };
            idle.reset();
            let wanted: Vec<Record> =
                records.into_iter().filter(|record| self.function.matches_filter(record)).collect();
            if !wanted.is_empty() {
                self.process_records(&mut instance, wanted.clone()).await;
                if shared.random.happens(shared.world.plan().repeated) {
                    shared.world.count(RareEvent::BatchRepeated);
                    self.process_records(&mut instance, wanted).await;
                }
            }
            read_to.store(last, Ordering::SeqCst);
        }
    }

    fn instance(&self) -> Instance {
        let process = self.shared.process(self.function.name());
        Instance { handler: self.function.begin(&process), process }
    }

    async fn process_records(&self, instance: &mut Instance, records: Vec<Record>) {
        let shared = &self.shared;
        let mut batches = VecDeque::from([(records, 0_u32)]);
        while let Some((mut records, calls)) = batches.pop_front() {
            shared.wait_until_available().await;
            expire(shared, &mut records);
            if records.is_empty() {
                continue;
            }
            let failed_at = self.call(instance, &records).await;
            let rest = records.split_off(failed_at.min(records.len()));
            let retries = self.function.retries();
            match (records.is_empty(), rest.is_empty()) {
                (_, true) => {}
                // The batch made progress, so the rest counts as untried.
                (false, false) => batches.push_front((rest, 0)),
                (true, false) if rest.len() > 1 && retries.is_some() => {
                    shared.world.count(RareEvent::BatchSplit);
                    let (one, other) = rest.split_at(rest.len() / 2);
                    batches.push_front((other.to_vec(), 0));
                    batches.push_front((one.to_vec(), 0));
                }
                (true, false) if retries.is_some_and(|retries| calls >= retries) => {
                    shared.record_loss(RareEvent::DeadLetter);
                }
                (true, false) => {
                    let wait_ms = (1_000_u64 << calls.min(5)).min(RETRY_MAX_MS);
                    shared.world.sleep_ms(wait_ms).await;
                    batches.push_front((rest, calls.saturating_add(1)));
                }
            }
        }
    }

    /// Invokes the function; returns the number of records that succeeded.
    async fn call(&self, instance: &mut Instance, records: &[Record]) -> usize {
        if instance.process.is_dead() {
            *instance = self.instance();
        }
        let (handler, batch) = (Arc::clone(&instance.handler), records.to_vec());
        let called = instance.process.run(async move { handler.handle(&batch).await });
        match tokio::time::timeout(Duration::from_millis(TIMEOUT_MS), called).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => 0,
            Err(_) => {
                self.shared.world.count(RareEvent::FunctionTimedOut);
                instance.process.die();
                0
            }
        }
    }
}

fn expire(shared: &Shared, records: &mut Vec<Record>) {
    let now_ms = shared.world.time.now_ms();
    let is_old = |record: &Record| now_ms > record.created_ms + RECORD_AGE_MS;
    let old = records.iter().take_while(|record| is_old(record)).count();
    records.drain(..old);
    (0..old).for_each(|_| shared.record_loss(RareEvent::RecordExpired));
}
