//! The event source that connects a shard of a table's stream to a function. It delivers batches in
//! order, splits failed batches, and drops records that are too old or have failed too often.

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

/// Maximum number of records per batch.
const MAX_BATCH_RECORDS: usize = 100;
/// Age above which a record is dropped, in milliseconds.
const RECORD_AGE_MS: u64 = 12 * 60 * 60 * 1_000;
/// Timeout of an invocation, in milliseconds.
pub(super) const TIMEOUT_MS: u64 = 60_000;
/// Maximum wait before a batch is retried, in milliseconds.
const RETRY_MAX_MS: u64 = 30_000;
/// Default number of retries per failed batch.
pub(super) const RETRIES: u32 = 10;

/// A function attached to a table's stream.
pub(super) trait StreamFunction: Send + Sync {
    /// Returns the function's name.
    fn name(&self) -> &'static str;

    /// Returns the table's stream.
    fn stream<'a>(&self, world: &'a World) -> &'a Stream;

    /// Returns whether a record passes the event filter in the template.
    fn matches_filter(&self, record: &Record) -> bool;

    /// Returns the maximum number of retries per failed batch. With `None`, a batch is retried
    /// until its records are too old. With a limit, failed batches are also split.
    fn retries(&self) -> Option<u32>;

    /// Starts an instance of the function.
    fn begin(&self, process: &Process) -> Arc<dyn Handler>;
}

/// An instance of a function.
#[async_trait]
pub(super) trait Handler: Send + Sync {
    /// Processes a batch. Returns the number of records that succeeded.
    async fn handle(&self, records: &[Record]) -> usize;
}

/// For each shard, the number of the last record that the function has read.
pub(super) type ReadTo = [AtomicU64; SHARDS];

/// A function and its sources.
pub(super) struct Source {
    pub(super) shared: Arc<Shared>,
    pub(super) function: Arc<dyn StreamFunction>,
    pub(super) read_to: Arc<ReadTo>,
}

/// A process of the function, and the process's handler.
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
    pub(super) async fn process_shard(self: Arc<Self>, shard: usize) {
        let shared = &self.shared;
        let mut instance = self.new_instance();
        let mut poll_delay = PollDelay::new();
        loop {
            shared.wait_until_available().await;
            let Some(read_to) = self.read_to.get(shard) else { return };
            let last_read = read_to.load(Ordering::SeqCst);
            let now_ms = shared.world.time.now_ms();
            let stream = self.function.stream(&shared.world);
            let (mut records, expired_count) =
                stream.read(shard, last_read, MAX_BATCH_RECORDS, now_ms);
            for _ in 0..expired_count {
                shared.record_loss(RareEvent::RecordExpired);
            }
            let Some(last_number) = records.last().map(|last_record| last_record.number) else {
                poll_delay.wait(&shared.world).await;
                continue;
            };
            poll_delay.reset();
            records.retain(|record| self.function.matches_filter(record));
            if !records.is_empty() {
                self.process_records(&mut instance, records.clone()).await;
                if shared.random.happens(shared.world.plan().repeated) {
                    shared.world.count(RareEvent::BatchRepeated);
                    self.process_records(&mut instance, records).await;
                }
            }
            read_to.store(last_number, Ordering::SeqCst);
        }
    }

    fn new_instance(&self) -> Instance {
        let process = self.shared.process(self.function.name());
        Instance { handler: self.function.begin(&process), process }
    }

    async fn process_records(&self, instance: &mut Instance, records: Vec<Record>) {
        let shared = &self.shared;
        let mut batches = VecDeque::from([Batch { records, failed_calls: 0 }]);
        while let Some(mut batch) = batches.pop_front() {
            shared.wait_until_available().await;
            drop_expired_records(shared, &mut batch.records);
            if batch.records.is_empty() {
                continue;
            }
            let processed_count = self.call(instance, &batch.records).await;
            let has_progress = processed_count > 0;
            let unprocessed = batch.records.split_off(processed_count.min(batch.records.len()));
            let max_retries = self.function.retries();
            if unprocessed.is_empty() {
                continue;
            }
            if has_progress {
                // Some records succeeded, so the remaining records count as untried.
                batches.push_front(Batch { records: unprocessed, failed_calls: 0 });
            } else if unprocessed.len() > 1 && max_retries.is_some() {
                shared.world.count(RareEvent::BatchSplit);
                let (first_half, second_half) = unprocessed.split_at(unprocessed.len() / 2);
                batches.push_front(Batch { records: second_half.to_vec(), failed_calls: 0 });
                batches.push_front(Batch { records: first_half.to_vec(), failed_calls: 0 });
            } else if max_retries.is_some_and(|max_retries| batch.failed_calls >= max_retries) {
                shared.record_loss(RareEvent::DeadLetter);
            } else {
                let wait_ms = (1_000_u64 << batch.failed_calls.min(5)).min(RETRY_MAX_MS);
                shared.world.sleep_ms(wait_ms).await;
                let failed_calls = batch.failed_calls.saturating_add(1);
                batches.push_front(Batch { records: unprocessed, failed_calls });
            }
        }
    }

    /// Invokes the function. Returns the number of records that succeeded.
    async fn call(&self, instance: &mut Instance, records: &[Record]) -> usize {
        if instance.process.is_dead() {
            *instance = self.new_instance();
        }
        let handler = Arc::clone(&instance.handler);
        let batch_records = records.to_vec();
        let call = instance.process.run(async move { handler.handle(&batch_records).await });
        match tokio::time::timeout(Duration::from_millis(TIMEOUT_MS), call).await {
            Ok(Ok(processed_count)) => processed_count,
            Ok(Err(_)) => 0,
            Err(_) => {
                self.shared.world.count(RareEvent::FunctionTimedOut);
                instance.process.die();
                0
            }
        }
    }
}

fn drop_expired_records(shared: &Shared, records: &mut Vec<Record>) {
    let now_ms = shared.world.time.now_ms();
    let is_expired = |record: &Record| now_ms > record.created_ms + RECORD_AGE_MS;
    let expired_count = records.iter().take_while(|record| is_expired(record)).count();
    records.drain(..expired_count);
    for _ in 0..expired_count {
        shared.record_loss(RareEvent::RecordExpired);
    }
}

/// The records for one call, and the number of failed calls with exactly these records.
struct Batch {
    records: Vec<Record>,
    failed_calls: u32,
}
