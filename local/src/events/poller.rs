//! Polls one shard of a change stream for one event source.

use std::sync::Arc;

use cellar_base::backoff::Backoff;
use cellar_engine::ports::{Clock, Jobs, PortError};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::batch::{AfterInvocation, BatchOutcome, DiscardReason, PendingRecords};
use super::dead_letter::{DiscardCause, build_dead_letter};
use super::function::{self, EventFunction};
use super::mapping::Mapping;
use super::stream::Shard;
use crate::store::EventStore;

/// Minimum and maximum poll interval while a shard has no new records. The interval doubles after
/// each empty poll.
const IDLE_BACKOFF: Backoff = Backoff { base_ms: 100, max_ms: 2_000 };
/// Minimum and maximum backoff before a function is invoked again with a failed batch. The backoff
/// doubles after each attempt.
const RETRY_BACKOFF: Backoff = Backoff { base_ms: 100, max_ms: 30_000 };
/// Delay between a write and the poll that it triggers, in milliseconds. Several writes within the
/// delay trigger only one poll.
const WRITE_POLL_DELAY_MS: u64 = 25;
/// Maximum number of records that are filtered out before the position in the shard is stored.
const MAX_SKIPPED_RECORDS: usize = 1_000;

pub(super) struct Poller {
    mapping: Mapping,
    shard: Shard,
    store: Arc<EventStore>,
    function: Arc<dyn EventFunction>,
    dead_letter_queue: Option<Arc<dyn Jobs>>,
    clock: Arc<dyn Clock>,
    /// `None` if the position has not been loaded yet.
    position: Option<Position>,
    pending: Option<PendingRecords>,
    /// Number of records that were filtered out since the position was last stored.
    skipped_count: usize,
}

/// The sequence number up to which the records of a shard were processed. `None` if no record has
/// been processed yet.
struct Position {
    current: Option<String>,
    stored: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollStep {
    /// The shard may contain more records.
    Worked,
    Idle,
    /// An invocation failed. The function must be invoked again after this backoff, in
    /// milliseconds.
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

impl Poller {
    pub(super) fn new(
        mapping: Mapping,
        shard: Shard,
        store: Arc<EventStore>,
        function: Arc<dyn EventFunction>,
        dead_letter_queue: Option<Arc<dyn Jobs>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            mapping,
            shard,
            store,
            function,
            dead_letter_queue,
            clock,
            position: None,
            pending: None,
            skipped_count: 0,
        }
    }

    pub(super) async fn run(
        mut self,
        mut stop: watch::Receiver<bool>,
        mut written: watch::Receiver<()>,
    ) {
        let mut idle_count = 0;
        let mut failure_count = 0;
        while !*stop.borrow() {
            let poll_result = self.step().await;
            let is_idle = matches!(poll_result, Ok(PollStep::Idle));
            idle_count = if is_idle { idle_count + 1 } else { 0 };
            failure_count = if poll_result.is_err() { failure_count + 1 } else { 0 };
            let wait_ms = match poll_result {
                Ok(PollStep::Worked) => continue,
                Ok(PollStep::Wait(wait_ms)) => wait_ms,
                Ok(PollStep::Idle) => IDLE_BACKOFF.longest_ms(idle_count),
                Err(error) => {
                    let source = self.mapping.id.as_str();
                    tracing::error!(source, %error, "an event source is blocked");
                    self.discard_progress();
                    RETRY_BACKOFF.longest_ms(failure_count)
                }
            };
            tokio::select! {
                stop_change = stop.changed() => if stop_change.is_err() { return },
                // A write wakes the event source only while it waits for new records. It does not
                // shorten the backoff after a failed invocation.
                Ok(()) = written.changed(), if is_idle => {
                    self.clock.sleep_ms(WRITE_POLL_DELAY_MS).await;
                }
                () = self.clock.sleep_ms(wait_ms) => {}
            }
        }
    }

    /// The dropped records are read again from the stored position.
    fn discard_progress(&mut self) {
        self.pending = None;
        self.position = None;
    }

    /// The position advances only past processed or discarded records. A discarded batch is sent to
    /// the dead letter queue before the position advances past it. A crash therefore loses no
    /// records, but records may be delivered more than once.
    pub(super) async fn step(&mut self) -> Result<PollStep, PortError> {
        // If this step fails, the pending records stay dropped, and the next step reads them again.
        let Some(mut pending) = self.pending.take() else {
            return self.read_records().await;
        };
        let step = self.process_first_batch(&mut pending).await?;
        let position = pending.position().map(str::to_owned);
        if pending.first_batch().is_some() {
            self.pending = Some(pending);
        }
        if let Some(position) = position {
            self.advance_to(position).await?;
        }
        Ok(step)
    }

    /// If the batch contains expired records, discards them instead.
    async fn process_first_batch(
        &self,
        pending: &mut PendingRecords,
    ) -> Result<PollStep, PortError> {
        let expired_count = pending.expired_count(self.clock.now_ms());
        if expired_count > 0 {
            pending.split_first_batch(expired_count);
            let reason = DiscardReason::RecordAgeExceeded;
            self.discard_first_batch(pending, DiscardCause { reason, has_function_error: false })
                .await?;
            return Ok(PollStep::Worked);
        }
        let Some(batch) = pending.first_batch() else { return Ok(PollStep::Worked) };
        let events: Vec<&Value> = batch.records.iter().map(|record| &record.event).collect();
        self.invoke_function(pending, json!({ "Records": events })).await
    }

    async fn invoke_function(
        &self,
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
                Ok(PollStep::Wait(RETRY_BACKOFF.longest_ms(invocations)))
            }
            AfterInvocation::Discard => {
                let reason = DiscardReason::RetryAttemptsExhausted;
                let has_function_error = outcome == BatchOutcome::Failed;
                self.discard_first_batch(pending, DiscardCause { reason, has_function_error })
                    .await?;
                Ok(PollStep::Worked)
            }
        }
    }

    async fn discard_first_batch(
        &self,
        pending: &mut PendingRecords,
        cause: DiscardCause,
    ) -> Result<(), PortError> {
        let Some(batch) = pending.first_batch() else { return Ok(()) };
        let now_ms = self.clock.now_ms();
        let message = build_dead_letter(&self.mapping, &self.shard, batch, cause, now_ms);
        let source = self.mapping.id.as_str();
        tracing::error!(source, %message, "discarded records");
        if let Some(dead_letter_queue) = &self.dead_letter_queue {
            dead_letter_queue.send(&message.to_string()).await?;
        }
        pending.finish_first_batch();
        Ok(())
    }

    async fn read_records(&mut self) -> Result<PollStep, PortError> {
        let position = self.load_position().await?;
        let mut records = self.shard.read(position.as_deref()).await?;
        let Some(last_record) = records.last() else { return Ok(PollStep::Idle) };
        let last_read = last_record.sequence_number.clone();
        let read_count = records.len();
        records.retain(|record| self.mapping.filters.accept(&record.event));
        if records.is_empty() {
            self.skip_to(last_read, read_count).await?;
        } else {
            self.pending = Some(PendingRecords::new(records, last_read, self.mapping.rules));
        }
        Ok(PollStep::Worked)
    }

    /// Loads the stored position on the first call.
    async fn load_position(&mut self) -> Result<Option<String>, PortError> {
        if let Some(position) = &self.position {
            return Ok(position.current.clone());
        }
        let stored_position = self.store.position(&self.mapping.id, &self.shard.id).await?;
        self.position =
            Some(Position { current: stored_position.clone(), stored: stored_position.clone() });
        Ok(stored_position)
    }

    /// The position is stored only after many filtered records, because reading them again does no
    /// harm.
    async fn skip_to(
        &mut self,
        sequence_number: String,
        record_count: usize,
    ) -> Result<(), PortError> {
        self.skipped_count += record_count;
        if self.skipped_count >= MAX_SKIPPED_RECORDS {
            return self.advance_to(sequence_number).await;
        }
        if let Some(position) = &mut self.position {
            position.current = Some(sequence_number);
        }
        Ok(())
    }

    async fn advance_to(&mut self, sequence_number: String) -> Result<(), PortError> {
        let stored = self.position.as_ref().and_then(|position| position.stored.as_ref());
        if stored != Some(&sequence_number) {
            self.store.set_position(&self.mapping.id, &self.shard.id, &sequence_number).await?;
        }
        self.skipped_count = 0;
        self.position = Some(Position {
            current: Some(sequence_number.clone()),
            stored: Some(sequence_number),
        });
        Ok(())
    }
}
