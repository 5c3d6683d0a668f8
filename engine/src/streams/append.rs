//! Appends events to a stream by performing the actions of the append state machine.

use cellar_catalog::stream::append::{
    AppendFault, AppendOutcome, StreamAppendAction, StreamAppendAnswer,
};
use cellar_catalog::stream::{Append, Proposal, StreamName, Write};

use super::{StreamError, StreamStore};
use crate::ports::{PortError, ReadConsistency, StreamOutcome};
use crate::unexpected_event::log_unexpected;

impl StreamStore {
    /// Appends events that were decided from the stream's state up to a known latest item. The
    /// events are appended exactly once, or not at all if other events were appended first.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Append`] if the state machine refuses, or [`StreamError::Store`] if
    /// the store fails permanently.
    pub async fn append(&self, proposal: &Proposal) -> Result<AppendOutcome, StreamError> {
        let (mut append, mut action) =
            Append::begin(proposal, self.policy).map_err(StreamError::Append)?;
        let mut driver = AppendDriver { store: self, stream: &proposal.name, last_error: None };
        loop {
            let answer = match action {
                StreamAppendAction::Write(write) => driver.write(&write).await,
                StreamAppendAction::ReadTip => driver.read_tip().await,
                StreamAppendAction::ReadBatches { below } => driver.read_batches(below).await,
                StreamAppendAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    StreamAppendAnswer::Waited
                }
                StreamAppendAction::Finish(Ok(outcome)) => return Ok(outcome),
                StreamAppendAction::Finish(Err(fault)) => return Err(driver.into_error(fault)),
            };
            (append, action) = append.step(answer, self.inputs());
        }
    }
}

struct AppendDriver<'a> {
    store: &'a StreamStore,
    stream: &'a StreamName,
    /// Returned if the append gives up.
    last_error: Option<PortError>,
}

impl AppendDriver<'_> {
    async fn read_tip(&mut self) -> StreamAppendAnswer {
        match self.store.streams.tip(self.stream, ReadConsistency::Strong).await {
            Ok(tip) => StreamAppendAnswer::Tip(tip),
            Err(error) => self.record_failed_read(error),
        }
    }

    async fn read_batches(&mut self, below: u64) -> StreamAppendAnswer {
        match self.store.streams.batches_before(self.stream, below, ReadConsistency::Strong).await {
            Ok(batches) => StreamAppendAnswer::Batches { batches },
            Err(error) => self.record_failed_read(error),
        }
    }

    async fn write(&mut self, write: &Write) -> StreamAppendAnswer {
        let streams = &self.store.streams;
        let outcome = match write {
            Write::First(tip) => streams.put_first(tip).await,
            Write::Update(update) => streams.update(update).await,
            Write::SplitOff { batch, update } => streams.split_off(batch, update).await,
        };
        let (answer, error) = match outcome {
            StreamOutcome::Done => return StreamAppendAnswer::Done,
            StreamOutcome::Refused { tip } => return StreamAppendAnswer::Refused { tip },
            StreamOutcome::BatchExists => return StreamAppendAnswer::BatchExists,
            StreamOutcome::Unknown(error) => (StreamAppendAnswer::Unknown, error),
            StreamOutcome::Throttled(error) => (StreamAppendAnswer::Throttled, error),
            StreamOutcome::Failed(error) => (StreamAppendAnswer::Failed, error),
        };
        tracing::warn!(stream = %self.stream, ?answer, %error, "a write to an event stream failed");
        self.last_error = Some(error);
        answer
    }

    fn record_failed_read(&mut self, error: PortError) -> StreamAppendAnswer {
        tracing::warn!(stream = %self.stream, %error, "a read of an append failed");
        let temporary = error.temporary;
        self.last_error = Some(error);
        StreamAppendAnswer::ReadFailed { temporary }
    }

    fn into_error(self, fault: AppendFault) -> StreamError {
        match (fault, self.last_error) {
            (AppendFault::Store, Some(store_error)) => StreamError::Store(store_error),
            (AppendFault::Unexpected(unexpected), _) => {
                log_unexpected(&unexpected);
                StreamError::Append(unexpected.into())
            }
            (fault, _) => StreamError::Append(fault),
        }
    }
}
