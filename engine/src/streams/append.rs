//! Runs the append state machine: performs its actions and feeds back their results.

use cellar_catalog::stream::append::{
    AppendFault, AppendOutcome, StreamAppendAction, StreamAppendAnswer,
};
use cellar_catalog::stream::{Append, Proposal, StreamName, Write};

use super::{StreamError, StreamStore};
use crate::ports::{PortError, StreamOutcome};

impl StreamStore {
    /// Appends events that were decided from the state at a tip (latest item of the stream). The
    /// events are appended exactly once, or not at all if another append came first.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Append`] if the state machine refuses, or [`StreamError::Store`] if
    /// the store fails permanently.
    pub async fn append(&self, proposal: &Proposal) -> Result<AppendOutcome, StreamError> {
        let (mut append, mut action) =
            Append::begin(proposal, self.policy).map_err(StreamError::Append)?;
        let mut store_error = None;
        loop {
            let answer = match action {
                StreamAppendAction::Write(write) => self.write(&write, &mut store_error).await,
                StreamAppendAction::ReadTip => match self.streams.tip(&proposal.name, true).await {
                    Ok(tip) => StreamAppendAnswer::Tip(tip),
                    Err(error) => read_failed(&proposal.name, error, &mut store_error),
                },
                StreamAppendAction::ReadBatches { below } => {
                    match self.streams.batches_before(&proposal.name, below, true).await {
                        Ok(batches) => StreamAppendAnswer::Batches { batches },
                        Err(error) => read_failed(&proposal.name, error, &mut store_error),
                    }
                }
                StreamAppendAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    StreamAppendAnswer::Waited
                }
                StreamAppendAction::Finish(Ok(end)) => return Ok(end),
                StreamAppendAction::Finish(Err(fault)) => {
                    return Err(match (fault, store_error) {
                        (AppendFault::Store, Some(error)) => StreamError::Store(error),
                        (fault, _) => StreamError::Append(fault),
                    });
                }
            };
            (append, action) = append.step(answer, self.inputs());
        }
    }

    async fn write(
        &self,
        write: &Write,
        store_error: &mut Option<PortError>,
    ) -> StreamAppendAnswer {
        let outcome = match write {
            Write::First(tip) => self.streams.put_first(tip).await,
            Write::Update(update) => self.streams.update(update).await,
            Write::SplitOff { batch, update } => self.streams.split_off(batch, update).await,
        };
        let (answer, error) = match outcome {
            StreamOutcome::Done => return StreamAppendAnswer::Done,
            StreamOutcome::Refused { tip } => return StreamAppendAnswer::Refused { tip },
            StreamOutcome::BatchExists => return StreamAppendAnswer::BatchExists,
            StreamOutcome::Unknown(error) => (StreamAppendAnswer::Unknown, error),
            StreamOutcome::Throttled(error) => (StreamAppendAnswer::Throttled, error),
            StreamOutcome::Failed(error) => (StreamAppendAnswer::Failed, error),
        };
        tracing::warn!(stream = %write.name(), ?answer, %error, "a write to an event stream failed");
        *store_error = Some(error);
        answer
    }
}

fn read_failed(
    name: &StreamName,
    error: PortError,
    store_error: &mut Option<PortError>,
) -> StreamAppendAnswer {
    tracing::warn!(stream = %name, %error, "a read of an append failed");
    let temporary = error.temporary;
    *store_error = Some(error);
    StreamAppendAnswer::ReadFailed { temporary }
}
