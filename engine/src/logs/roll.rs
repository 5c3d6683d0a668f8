//! Runs the roll state machine.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::roll::{Roll, RollAction, RollEvent, RollRefusal, Rolled, Transaction};

use super::{LogError, Logs};
use crate::ports::{CreateOutcome, PortError, ReadConsistency};
use crate::unexpected_event::log_unexpected;

impl Logs {
    /// Closes the segment whose latest known entry is `tail`, and opens the next segment.
    /// Idempotent. Several processes may call this function for the same log concurrently.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Roll`] if the state machine refuses, or [`LogError::Store`] if the store
    /// fails permanently.
    pub async fn roll(&self, tail: Arc<Entry>) -> Result<Rolled, LogError> {
        let log_id = tail.log;
        let (mut roll, mut action) = Roll::begin(tail);
        let mut driver = RollDriver { logs: self, log: log_id, last_store_error: None };
        loop {
            let event = match action {
                RollAction::ReadNewestSegment => driver.read_newest_segment().await,
                RollAction::Read { from } => driver.read_page(from).await,
                RollAction::Transact(transaction) => driver.transact(transaction).await,
                RollAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    RollEvent::Waited
                }
                RollAction::Finish(Ok(rolled)) => return Ok(rolled),
                RollAction::Finish(Err(refusal)) => return Err(driver.into_error(refusal)),
            };
            (roll, action) = roll.step(event, self.inputs());
        }
    }
}

struct RollDriver<'a> {
    logs: &'a Logs,
    log: LogId,
    /// Returned if the segment cannot be closed.
    last_store_error: Option<PortError>,
}

impl RollDriver<'_> {
    async fn read_newest_segment(&mut self) -> RollEvent {
        match self.logs.segments.newest(self.log, 1, ReadConsistency::Strong).await {
            Ok(segments) => RollEvent::NewestSegment(segments.into_iter().next()),
            Err(error) => self.record_failed_read(error),
        }
    }

    async fn read_page(&mut self, start_position: Position) -> RollEvent {
        match self.logs.entries.page(self.log, start_position, ReadConsistency::Strong).await {
            Ok(page) => RollEvent::Page { entries: page.entries, has_more: page.more },
            Err(error) => self.record_failed_read(error),
        }
    }

    /// Writes the last entry of the segment and the first entry of the next segment in one
    /// transaction.
    async fn transact(&mut self, transaction: Box<Transaction>) -> RollEvent {
        let end = &transaction.end;
        let outcome = match self.logs.check_not_inherited(end.log, end.position).await {
            Ok(()) => self.logs.segments.roll(&transaction).await,
            Err(error) => CreateOutcome::Failed(error),
        };
        match outcome {
            CreateOutcome::Created => {
                self.logs.cache_entries(&[transaction.end.into(), transaction.first.into()]);
                RollEvent::Accepted
            }
            CreateOutcome::Exists => RollEvent::Refused,
            CreateOutcome::Unknown(error) => {
                tracing::warn!(log = %end.log, %error, "the outcome of a roll is unknown");
                self.last_store_error = Some(error);
                RollEvent::Unknown
            }
            CreateOutcome::Failed(error) => {
                self.last_store_error = Some(error);
                RollEvent::Failed
            }
        }
    }

    fn record_failed_read(&mut self, error: PortError) -> RollEvent {
        let temporary = error.temporary;
        self.last_store_error = Some(error);
        RollEvent::ReadFailed { temporary }
    }

    fn into_error(self, refusal: RollRefusal) -> LogError {
        match (refusal, self.last_store_error) {
            (RollRefusal::Store, Some(store_error)) => LogError::Store(store_error),
            (RollRefusal::Unexpected(fault), _) => {
                log_unexpected(&fault);
                LogError::Roll(fault.into())
            }
            (refusal, _) => LogError::Roll(refusal),
        }
    }
}
