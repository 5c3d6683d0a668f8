//! Polls one change stream shard for one event source.

use std::sync::Arc;

use cellar_engine::ports::{Clock, Jobs, PortError};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::batch::{AfterInvocation, BatchOutcome, GiveUpReason, PendingRecords};
use super::dead_letter::build_dead_letter;
use super::function::{self, EventFunction};
use super::mapping::Mapping;
use super::stream::Shard;
use crate::store::EventStore;

/// Minimum and maximum poll interval while a shard has no new records. The interval doubles after
/// each empty poll.
const IDLE_MS: u64 = 100;
const IDLE_MAX_MS: u64 = 2_000;
/// Minimum and maximum backoff before a failed batch is retried. The backoff doubles after each
/// attempt.
const RETRY_MS: u64 = 100;
const RETRY_MAX_MS: u64 = 30_000;
/// Delay between a write and the poll it triggers, so that several writes trigger one poll.
const GATHER_MS: u64 = 25;
/// Number of filtered records after which the position is persisted even if no record was
/// processed.
const SKIPPED_MAX: usize = 1_000;

/// A shard and the event source that processes it.
pub(super) struct Poller {
    mapping: Mapping,
    shard: Shard,
    store: Arc<EventStore>,
    function: Arc<dyn EventFunction>,
    dead_letters: Option<Arc<dyn Jobs>>,
    clock: Arc<dyn Clock>,
    /// Position up to which the shard was processed. `None` until loaded.
    position: Option<Position>,
    pending: Option<PendingRecords>,
    skipped: usize,
}

/// A shard's processed sequence numbers. `None` if no record was processed yet.
struct Position {
    current: Option<String>,
    /// The persisted position.
    stored: Option<String>,
}

/// Outcome of one poll step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollStep {
    /// Records were read or processed; there may be more.
    Worked,
    /// The shard has no new records.
    Idle,
    /// An invocation failed and must be retried after this backoff, in milliseconds.
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

/// Returns the backoff after `attempts` earlier attempts: `first_ms`, doubled with each attempt, up
/// to `max_ms`.
fn backoff_ms(first_ms: u64, attempts: u32, max_ms: u64) -> u64 {
    first_ms.saturating_mul(1_u64.checked_shl(attempts).unwrap_or(u64::MAX)).min(max_ms)
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

    /// Polls until `stop` becomes true.
    pub(super) async fn run(
        mut self,
        mut stop: watch::Receiver<bool>,
        mut written: watch::Receiver<()>,
    ) {
        let (mut idle_polls, mut faults) = (0, 0);
        while !*stop.borrow() {
            let wait_ms = match self.step().await {
                Ok(PollStep::Worked) => {
                    (idle_polls, faults) = (0, 0);
                    continue;
                }
                Ok(PollStep::Wait(wait_ms)) => {
                    (idle_polls, faults) = (0, 0);
                    wait_ms
                }
                Ok(PollStep::Idle) => {
                    (idle_polls, faults) = (idle_polls + 1, 0);
                    backoff_ms(IDLE_MS, idle_polls - 1, IDLE_MAX_MS)
                }
                Err(error) => {
                    let source = self.mapping.id.as_str();
                    tracing::error!(source, %error, "an event source is blocked");
                    self.discard_progress();
                    (idle_polls, faults) = (0, faults + 1);
                    backoff_ms(RETRY_MS, faults - 1, RETRY_MAX_MS)
                }
            };
            let is_idle = idle_polls > 0;
            tokio::select! {
                stopped = stop.changed() => if stopped.is_err() { return },
                // A write shortens an idle source's wait, but not the backoff after a failure.
                Ok(()) = written.changed(), if is_idle => self.clock.sleep_ms(GATHER_MS).await,
                () = self.clock.sleep_ms(wait_ms) => {}
            }
        }
    }

    /// Discards pending records, to be read again from the persisted position.
    fn discard_progress(&mut self) {
        self.pending = None;
        self.position = None;
    }

    /// Reads new records, or processes one batch of records that were already read.
    ///
    /// The position advances only past processed or discarded records. A discarded batch is sent to
    /// the dead letter queue before the position advances past it. A crash therefore loses no
    /// records, but records may be delivered more than once.
    pub(super) async fn step(&mut self) -> Result<PollStep, PortError> {
        let now_ms = self.clock.now_ms();
        let Some(mut pending) = self.pending.take() else { return self.read().await };
        let step = if pending.split_expired(now_ms) {
            self.give_up(&mut pending, GiveUpReason::RecordAgeExceeded, false).await?;
            PollStep::Worked
        } else if let Some(batch) = pending.first() {
            let records: Vec<&Value> = batch.records.iter().map(|record| &record.event).collect();
            let event = json!({ "Records": records });
            self.invoke(&mut pending, event).await?
        } else {
            PollStep::Worked
        };
        let position = pending.position().map(str::to_owned);
        if pending.first().is_some() {
            self.pending = Some(pending);
        }
        if let Some(position) = position {
            self.advance(position).await?;
        }
        Ok(step)
    }

    /// Invokes the function with the first pending batch and applies the outcome.
    async fn invoke(
        &mut self,
        pending: &mut PendingRecords,
        event: Value,
    ) -> Result<PollStep, PortError> {
        let timeout = self.mapping.timeout;
        let response = function::invoke_with_timeout(&self.function, event, timeout).await;
        if let Err(error) = &response {
            let source = self.mapping.id.as_str();
            tracing::warn!(source, error, "a function failed");
        }
        let reports_failures = self.mapping.rules.reports_failures;
        let outcome = function::read_batch_outcome(&response, reports_failures);
        match pending.apply_outcome(&outcome) {
            AfterInvocation::Continue => Ok(PollStep::Worked),
            AfterInvocation::Retry(invocations) => {
                Ok(PollStep::Wait(backoff_ms(RETRY_MS, invocations - 1, RETRY_MAX_MS)))
            }
            AfterInvocation::GiveUp => {
                let has_error = outcome == BatchOutcome::Failed;
                self.give_up(pending, GiveUpReason::RetryAttemptsExhausted, has_error).await?;
                Ok(PollStep::Worked)
            }
        }
    }

    /// Sends the first pending batch to the dead letter queue and removes it.
    async fn give_up(
        &self,
        pending: &mut PendingRecords,
        reason: GiveUpReason,
        has_function_error: bool,
    ) -> Result<(), PortError> {
        let Some(batch) = pending.first() else { return Ok(()) };
        let cause = (reason, has_function_error);
        let now_ms = self.clock.now_ms();
        let message = build_dead_letter(&self.mapping, &self.shard, batch, cause, now_ms);
        let source = self.mapping.id.as_str();
        tracing::error!(source, %message, "gave up records");
        if let Some(dead_letters) = &self.dead_letters {
            dead_letters.send(&message.to_string()).await?;
        }
        pending.finish_first();
        Ok(())
    }

    /// Reads the next records. Records that pass the filters become pending.
    async fn read(&mut self) -> Result<PollStep, PortError> {
        let after = self.load_position().await?;
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
            self.pending = Some(PendingRecords::new(matching, read_to, self.mapping.rules));
        }
        Ok(PollStep::Worked)
    }

    /// Returns the position up to which the shard was processed.
    async fn load_position(&mut self) -> Result<Option<String>, PortError> {
        if let Some(position) = &self.position {
            return Ok(position.current.clone());
        }
        let stored = self.store.position(&self.mapping.id, &self.shard.id).await?;
        self.position = Some(Position { current: stored.clone(), stored: stored.clone() });
        Ok(stored)
    }

    /// Advances the position past filtered records. The position is persisted only occasionally,
    /// because reading filtered records again is harmless.
    async fn skip(&mut self, count: usize, to: String) -> Result<(), PortError> {
        self.skipped = self.skipped.saturating_add(count);
        if self.skipped >= SKIPPED_MAX {
            return self.advance(to).await;
        }
        if let Some(position) = &mut self.position {
            position.current = Some(to);
        }
        Ok(())
    }

    /// Advances the position past processed records and persists it.
    async fn advance(&mut self, to: String) -> Result<(), PortError> {
        let stored = self.position.as_ref().and_then(|position| position.stored.as_ref());
        if stored != Some(&to) {
            self.store.set_position(&self.mapping.id, &self.shard.id, &to).await?;
        }
        self.skipped = 0;
        self.position = Some(Position { current: Some(to.clone()), stored: Some(to) });
        Ok(())
    }
}
