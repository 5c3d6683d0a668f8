//! Runs the roll state machine.

use std::sync::Arc;

use cellar_log::entry::Entry;
use cellar_log::roll::{Roll, RollAction, RollEvent, RollRefusal, Rolled, Transaction};

use super::{LogError, Logs};
use crate::ports::{CreateOutcome, PortError};

impl Logs {
    /// Closes the segment of `tail` (the latest known entry) and opens the next segment.
    /// Idempotent; several workers may roll a log concurrently.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Roll`] if the state machine refuses, or [`LogError::Store`] if the store
    /// fails permanently.
    pub async fn roll(&self, tail: Arc<Entry>) -> Result<Rolled, LogError> {
        let log = tail.log;
        let (mut roll, mut action) = Roll::begin(tail);
        let mut store_error: Option<PortError> = None;
        loop {
            let event = match action {
                RollAction::ReadNewestSegment => match self.segments.newest(log, 1, true).await {
                    Ok(newest) => RollEvent::NewestSegment(newest.into_iter().next()),
                    Err(error) => read_failed(error, &mut store_error),
                },
                RollAction::Read { from } => match self.entries.page(log, from, true).await {
                    Ok(page) => RollEvent::Page { entries: page.entries, has_more: page.more },
                    Err(error) => read_failed(error, &mut store_error),
                },
                RollAction::Transact(transaction) => {
                    self.transact_roll(transaction, &mut store_error).await
                }
                RollAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    RollEvent::Waited
                }
                RollAction::Finish(Ok(rolled)) => return Ok(rolled),
                RollAction::Finish(Err(refusal)) => {
                    return Err(match (refusal, store_error) {
                        (RollRefusal::Store, Some(error)) => LogError::Store(error),
                        (refusal, _) => LogError::Roll(refusal),
                    });
                }
            };
            (roll, action) = roll.step(event, self.inputs());
        }
    }
}

impl Logs {
    /// Writes the End Segment (last entry) and the next segment's first entry in one transaction.
    async fn transact_roll(
        &self,
        transaction: Box<Transaction>,
        store_error: &mut Option<PortError>,
    ) -> RollEvent {
        let end = &transaction.end;
        let outcome = match self.check_own(end.log, end.position).await {
            Ok(()) => self.segments.roll(&transaction).await,
            Err(error) => CreateOutcome::Failed(error),
        };
        match outcome {
            CreateOutcome::Created => {
                self.cache_entries(&[transaction.end.into(), transaction.first.into()]);
                RollEvent::Accepted
            }
            CreateOutcome::Exists => RollEvent::Refused,
            CreateOutcome::Unknown(error) => {
                tracing::warn!(log = %end.log, %error, "the outcome of a roll is unknown");
                *store_error = Some(error);
                RollEvent::Unknown
            }
            CreateOutcome::Failed(error) => {
                *store_error = Some(error);
                RollEvent::Failed
            }
        }
    }
}

fn read_failed(error: PortError, store_error: &mut Option<PortError>) -> RollEvent {
    let temporary = error.temporary;
    *store_error = Some(error);
    RollEvent::ReadFailed { temporary }
}
