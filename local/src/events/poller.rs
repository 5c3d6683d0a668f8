//! Polls one shard for one event source.

use std::sync::Arc;

use cellar_engine::ports::{Clock, Jobs, PortError};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::batch::{BatchOutcome, Condition, Next, Pending};
use super::function::{self, EventFunction};
use super::letter::letter;
use super::mapping::Mapping;
use super::stream::Shard;
use crate::store::EventStore;

/// Milliseconds between two looks at a stream that has nothing new: doubled up to the longest.
const IDLE_MS: u64 = 100;
const IDLE_MAX_MS: u64 = 2_000;
/// Milliseconds before a failed batch is tried again: doubled up to the longest.
const RETRY_MS: u64 = 100;
const RETRY_MAX_MS: u64 = 30_000;
/// Milliseconds between a write and the look that it causes, so that many writes cause one.
const GATHER_MS: u64 = 25;
/// Records that were skipped by the filters before the position is written for them alone.
const SKIPPED_MAX: usize = 1_000;

/// One shard for one event source.
pub(super) struct Poller {
    mapping: Mapping,
    shard: Shard,
    store: Arc<EventStore>,
    function: Arc<dyn EventFunction>,
    dead_letters: Option<Arc<dyn Jobs>>,
    clock: Arc<dyn Clock>,
    /// How far the shard is done; a shard that has not begun is read from its oldest record.
    position: Option<Position>,
    pending: Option<Pending>,
    skipped: usize,
}

/// The position, and what of it is on the disk.
struct Position {
    now: Option<String>,
    stored: Option<String>,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollStep {
    /// Something; there may be more.
    Worked,
    /// Nothing: there is nothing new.
    Idle,
    /// A call failed, and is to be repeated after so many milliseconds.
    Wait(u64),
}

impl std::fmt::Debug for Poller {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mapping, shard, .. } = self;
        formatter
            .debug_struct("Poller")
            .field("mapping", mapping)
            .field("shard", shard)
            .finish_non_exhaustive()
    }
}

fn doubled_ms(first_ms: u64, times: u32, longest_ms: u64) -> u64 {
    first_ms.saturating_mul(1_u64.checked_shl(times).unwrap_or(u64::MAX)).min(longest_ms)
}

impl Poller {
    pub(super) fn new(
        mapping: Mapping,
        shard: Shard,
        store: Arc<EventStore>,
        function: Arc<dyn EventFunction>,
        dead_letters: Option<Arc<dyn Jobs>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (position, pending, skipped) = (None, None, 0);
        Self { mapping, shard, store, function, dead_letters, clock, position, pending, skipped }
    }

    /// Polls until it is told to stop.
    pub(super) async fn run(
        mut self,
        mut stop: watch::Receiver<bool>,
        mut written: watch::Receiver<()>,
    ) {
        let (mut idle, mut faults) = (0, 0);
        while !*stop.borrow() {
            let step = self.step().await;
            (idle, faults) = match &step {
                Ok(PollStep::Idle) => (idle + 1, 0),
                Ok(_) => (0, 0),
                Err(error) => {
                    let source = self.mapping.id.as_str();
                    tracing::error!(source, %error, "an event source stands still");
                    // What is pending is read again from where the disk says.
                    self.pending = None;
                    self.position = None;
                    (0, faults + 1)
                }
            };
            let wait_ms = match step {
                Ok(PollStep::Worked) => continue,
                Ok(PollStep::Idle) => doubled_ms(IDLE_MS, idle - 1, IDLE_MAX_MS),
                Ok(PollStep::Wait(wait_ms)) => wait_ms,
                Err(_) => doubled_ms(RETRY_MS, faults - 1, RETRY_MAX_MS),
            };
            let is_idle = idle > 0;
            tokio::select! {
                stopped = stop.changed() => if stopped.is_err() { return },
                // A write is news for a source that waits for some, and none for one that failed.
                Ok(()) = written.changed(), if is_idle => self.clock.sleep_ms(GATHER_MS).await,
                () = self.clock.sleep_ms(wait_ms) => {}
            }
        }
    }

    /// Reads, or handles one batch of what was read.
    ///
    /// What is given up is in its queue before the position moves past it, and the position moves
    /// only past what is done: whenever the process is killed, nothing is lost and some of it may
    /// come again.
    pub(super) async fn step(&mut self) -> Result<PollStep, PortError> {
        let now_ms = self.clock.now_ms();
        let Some(mut pending) = self.pending.take() else { return self.read().await };
        let step = if pending.expire(now_ms) {
            self.give_up(&mut pending, Condition::RecordAgeExceeded, false).await?;
            PollStep::Worked
        } else if let Some(batch) = pending.first() {
            let events: Vec<&Value> = batch.records.iter().map(|record| &record.event).collect();
            let event = json!({ "Records": events });
            self.call(&mut pending, event).await?
        } else {
            PollStep::Worked
        };
        let done = pending.position().map(str::to_owned);
        if pending.first().is_some() {
            self.pending = Some(pending);
        }
        if let Some(done) = done {
            self.advance(done).await?;
        }
        Ok(step)
    }

    async fn call(&mut self, pending: &mut Pending, event: Value) -> Result<PollStep, PortError> {
        let answer = function::call(&self.function, event, self.mapping.timeout).await;
        let source = self.mapping.id.as_str();
        if let Err(error) = &answer {
            tracing::warn!(source, error, "a function failed");
        }
        let outcome = function::outcome(&answer, self.mapping.rules.reports_failures);
        match pending.called(&outcome) {
            Next::GoOn => Ok(PollStep::Worked),
            Next::Retry(call) => Ok(PollStep::Wait(doubled_ms(RETRY_MS, call - 1, RETRY_MAX_MS))),
            Next::GiveUp => {
                let function_error = outcome == BatchOutcome::Failed;
                let condition = Condition::RetryAttemptsExhausted;
                self.give_up(pending, condition, function_error).await?;
                Ok(PollStep::Worked)
            }
        }
    }

    async fn give_up(
        &self,
        pending: &mut Pending,
        condition: Condition,
        function_error: bool,
    ) -> Result<(), PortError> {
        let Some(batch) = pending.first() else { return Ok(()) };
        let now_ms = self.clock.now_ms();
        let letter = letter(&self.mapping, &self.shard, batch, condition, function_error, now_ms);
        let source = self.mapping.id.as_str();
        tracing::error!(source, %letter, "records are given up");
        if let Some(dead_letters) = &self.dead_letters {
            dead_letters.send(&letter.to_string()).await?;
        }
        pending.finish_first();
        Ok(())
    }

    async fn read(&mut self) -> Result<PollStep, PortError> {
        let after = self.position().await?;
        let records = self.shard.read(after.as_deref()).await?;
        let Some(last) = records.last() else { return Ok(PollStep::Idle) };
        let read_to = last.sequence_number.clone();
        let count = records.len();
        let filters = &self.mapping.filters;
        let matching: Vec<_> =
            records.into_iter().filter(|record| filters.pass(&record.event)).collect();
        if matching.is_empty() {
            self.skip(count, read_to).await?;
        } else {
            self.pending = Some(Pending::new(matching, read_to, self.mapping.rules));
        }
        Ok(PollStep::Worked)
    }

    /// How far the shard is done.
    async fn position(&mut self) -> Result<Option<String>, PortError> {
        if let Some(position) = &self.position {
            return Ok(position.now.clone());
        }
        let stored = self.store.position(&self.mapping.id, &self.shard.id).await?;
        self.position = Some(Position { now: stored.clone(), stored: stored.clone() });
        Ok(stored)
    }

    /// Moves past records that nobody wants; they may be read again, so the disk need not know of
    /// each.
    async fn skip(&mut self, count: usize, to: String) -> Result<(), PortError> {
        self.skipped = self.skipped.saturating_add(count);
        if self.skipped >= SKIPPED_MAX {
            return self.advance(to).await;
        }
        if let Some(position) = &mut self.position {
            position.now = Some(to);
        }
        Ok(())
    }

    /// Moves past records that are done, durably.
    async fn advance(&mut self, to: String) -> Result<(), PortError> {
        let stored = self.position.as_ref().and_then(|position| position.stored.as_ref());
        if stored != Some(&to) {
            self.store.set_position(&self.mapping.id, &self.shard.id, &to).await?;
        }
        self.skipped = 0;
        self.position = Some(Position { now: Some(to.clone()), stored: Some(to) });
        Ok(())
    }
}
