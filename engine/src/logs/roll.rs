//! Drives the roll machine.

use std::sync::Arc;

use cellar_log::entry::Entry;
use cellar_log::roll::{Roll, RollAction, RollEvent, RollRefusal, Rolled, Transaction};

use super::{LogError, Logs};
use crate::ports::{CreateOutcome, PortError};

impl Logs {
    /// Ends the segment of `tail`, the newest entry known, and begins the next. Safe to repeat and
    /// to run on several workers at once.
    ///
    /// # Errors
    /// [`LogError::Roll`] as the machine decides, [`LogError::Store`] if the store fails for good.
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
                    Ok(page) => RollEvent::Page { entries: page.entries, more: page.more },
                    Err(error) => read_failed(error, &mut store_error),
                },
                RollAction::Transact(transaction) => match self.transact(&transaction).await {
                    CreateOutcome::Created => {
                        self.learn(&[transaction.end.into(), transaction.first.into()]);
                        RollEvent::Accepted
                    }
                    CreateOutcome::Exists => RollEvent::Refused,
                    CreateOutcome::Unknown(error) => {
                        tracing::warn!(%log, %error, "unknown outcome of a roll");
                        store_error = Some(error);
                        RollEvent::Unknown
                    }
                    CreateOutcome::Failed(error) => {
                        store_error = Some(error);
                        RollEvent::Failed
                    }
                },
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
    async fn transact(&self, transaction: &Transaction) -> CreateOutcome {
        match self.check_own(transaction.end.log, transaction.end.position).await {
            Ok(()) => self.segments.roll(transaction).await,
            Err(error) => CreateOutcome::Failed(error),
        }
    }
}

fn read_failed(error: PortError, store_error: &mut Option<PortError>) -> RollEvent {
    let temporary = error.temporary;
    *store_error = Some(error);
    RollEvent::ReadFailed { temporary }
}
