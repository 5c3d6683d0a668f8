//! State machine of an append to an event stream.

use std::sync::Arc;

use super::rules::{Rules, SafetyRule};
use super::{AppendFault, End, Proposal, StreamAppendAction, StreamAppendAnswer, Write};
use crate::stream::event::WriterId;
use crate::stream::tip::{EventBatch, SplitPolicy, Tip, count};
use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::{MAX_READ_ATTEMPTS, MAX_STREAM_WRITE_ATTEMPTS};
use cellar_log::append::Inputs;

/// State of an append.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    writer: WriterId,
    write: Arc<Write>,
    phase: Phase,
    rules: Rules,
    writes: u32,
    failed_reads: u32,
    /// Set if the outcome of a write is unknown.
    in_doubt: bool,
    /// Set if a write was refused because its event batch exists.
    batch_exists: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Writing,
    ReadingTip,
    /// Searches the event batches below an index for its own events, after reading a tip.
    ReadingBatches {
        tip: Arc<Tip>,
        below: u64,
    },
    WaitingToWrite,
    WaitingToReadTip,
    WaitingToReadBatches {
        tip: Arc<Tip>,
        below: u64,
    },
    Finished,
}

impl Append {
    /// Starts an append.
    ///
    /// # Errors
    /// [`AppendFault`] for events that cannot be appended, before anything is sent.
    pub fn begin(
        proposal: &Proposal,
        policy: SplitPolicy,
    ) -> Result<(Self, StreamAppendAction), AppendFault> {
        Self::begin_by(proposal, policy, Rules::default())
    }

    /// Starts an append with safety rules chosen by the model checker.
    ///
    /// # Errors
    /// As [`Append::begin`].
    pub fn begin_by(
        proposal: &Proposal,
        policy: SplitPolicy,
        rules: Rules,
    ) -> Result<(Self, StreamAppendAction), AppendFault> {
        let mut append = Self {
            writer: proposal.writer,
            write: Arc::new(proposal.write(policy)?),
            phase: Phase::Finished,
            rules,
            writes: 0,
            failed_reads: 0,
            in_doubt: false,
            batch_exists: false,
        };
        let action = append.send();
        Ok((append, action))
    }

    /// Advances the state machine by the answer to its last action. Any other answer ends the
    /// append.
    #[must_use]
    pub fn step(
        mut self,
        answer: StreamAppendAnswer,
        inputs: Inputs,
    ) -> (Self, StreamAppendAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, answer) {
            (Phase::Writing, answer) => self.written(answer, inputs),
            (Phase::ReadingTip, StreamAppendAnswer::Tip(tip)) => self.look(tip, inputs),
            (Phase::ReadingBatches { tip, below }, StreamAppendAnswer::Batches { batches }) => {
                self.look_in(&batches, tip, below)
            }
            (Phase::ReadingTip, StreamAppendAnswer::ReadFailed { temporary }) => {
                self.read_failed(Phase::WaitingToReadTip, temporary, inputs)
            }
            (
                Phase::ReadingBatches { tip, below },
                StreamAppendAnswer::ReadFailed { temporary },
            ) => {
                let again = Phase::WaitingToReadBatches { tip, below };
                self.read_failed(again, temporary, inputs)
            }
            (Phase::WaitingToWrite, StreamAppendAnswer::Waited) => self.send(),
            (Phase::WaitingToReadTip, StreamAppendAnswer::Waited) => self.read_tip(),
            (Phase::WaitingToReadBatches { tip, below }, StreamAppendAnswer::Waited) => {
                self.read_batches(tip, below)
            }
            _ => self.given_up(AppendFault::Store),
        };
        (self, action)
    }

    /// Returns the index of the first appended event.
    fn index(&self) -> u64 {
        let tip = self.write.tip();
        tip.next.saturating_sub(tip.appended)
    }

    /// Returns the index of the first event that is split off.
    fn first_split_off(&self) -> u64 {
        match &*self.write {
            Write::SplitOff { batch, .. } => batch.index,
            Write::First(_) | Write::Update(_) => self.index(),
        }
    }

    fn send(&mut self) -> StreamAppendAction {
        self.phase = Phase::Writing;
        self.writes += 1;
        StreamAppendAction::Write(Arc::clone(&self.write))
    }

    fn read_tip(&mut self) -> StreamAppendAction {
        self.phase = Phase::ReadingTip;
        StreamAppendAction::ReadTip
    }

    fn read_batches(&mut self, tip: Arc<Tip>, below: u64) -> StreamAppendAction {
        self.phase = Phase::ReadingBatches { tip, below };
        StreamAppendAction::ReadBatches { below }
    }

    fn written(&mut self, answer: StreamAppendAnswer, inputs: Inputs) -> StreamAppendAction {
        match answer {
            StreamAppendAnswer::Done => self.appended(Arc::new(self.write.tip().clone())),
            StreamAppendAnswer::Refused { tip: Some(tip) } => self.look(Some(tip), inputs),
            StreamAppendAnswer::Refused { tip: None } => self.read_tip(),
            // If two conditions fail, only one may be reported; the tip shows which.
            StreamAppendAnswer::BatchExists => {
                self.batch_exists = true;
                self.read_tip()
            }
            StreamAppendAnswer::Unknown => {
                self.in_doubt = true;
                self.wait(Phase::WaitingToReadTip, self.writes, inputs)
            }
            StreamAppendAnswer::Throttled => self.again(inputs),
            _ => self.given_up(AppendFault::Store),
        }
    }

    /// Sends the same write again; it takes effect at most once.
    fn again(&mut self, inputs: Inputs) -> StreamAppendAction {
        match self.writes < MAX_STREAM_WRITE_ATTEMPTS {
            true => self.wait(Phase::WaitingToWrite, self.writes, inputs),
            false => self.given_up(AppendFault::Contention),
        }
    }

    /// Searches the current tip for its own events.
    fn look(&mut self, tip: Option<Arc<Tip>>, inputs: Inputs) -> StreamAppendAction {
        let etag = tip.as_ref().map(|tip| tip.etag);
        // The write may still take effect, and no other can have.
        if etag == self.write.expected() && self.rules.is_enforced(SafetyRule::SameWrite) {
            return match self.batch_exists {
                true => self.given_up(AppendFault::Damaged { index: self.first_split_off() }),
                false => self.again(inputs),
            };
        }
        let Some(tip) = tip else { return StreamAppendAction::Finish(Ok(End::Conflict { tip })) };
        if tip.has(self.writer) && self.rules.is_enforced(SafetyRule::SearchTip) {
            return self.appended(tip);
        }
        // The tip does not contain all events appended since. If every outcome is known, the
        // writer's own are certainly not among them.
        let first = tip.first();
        if self.in_doubt
            && first > self.index()
            && self.rules.is_enforced(SafetyRule::SearchBatches)
        {
            return self.read_batches(tip, first);
        }
        StreamAppendAction::Finish(Ok(End::Conflict { tip: Some(tip) }))
    }

    /// Searches event batches for its own events, from the newest on; they must have no gaps.
    fn look_in(&mut self, batches: &[EventBatch], tip: Arc<Tip>, below: u64) -> StreamAppendAction {
        let mut first = below;
        for batch in batches {
            if batch.next() != first || count(&batch.events) == 0 {
                return self.given_up(AppendFault::Damaged { index: first });
            }
            if batch.has(self.writer) {
                return self.appended(tip);
            }
            first = batch.index;
            if first <= self.index() {
                return StreamAppendAction::Finish(Ok(End::Conflict { tip: Some(tip) }));
            }
        }
        match first < below {
            true => self.read_batches(tip, first),
            false => self.given_up(AppendFault::Damaged { index: below }),
        }
    }

    fn read_failed(&mut self, again: Phase, temporary: bool, inputs: Inputs) -> StreamAppendAction {
        self.failed_reads += 1;
        match temporary && self.failed_reads < MAX_READ_ATTEMPTS {
            true => self.wait(again, self.failed_reads, inputs),
            false => self.given_up(AppendFault::Store),
        }
    }

    fn wait(&mut self, phase: Phase, attempt: u32, inputs: Inputs) -> StreamAppendAction {
        self.phase = phase;
        StreamAppendAction::Wait { delay_ms: full_jitter_ms(attempt, inputs.random) }
    }

    fn appended(&self, tip: Arc<Tip>) -> StreamAppendAction {
        StreamAppendAction::Finish(Ok(End::Appended { tip, index: self.index() }))
    }

    /// Ends with a fault; if an outcome is unknown, with that instead of any other reason.
    fn given_up(&self, fault: AppendFault) -> StreamAppendAction {
        let is_damage = matches!(fault, AppendFault::Damaged { .. });
        StreamAppendAction::Finish(Err(match self.in_doubt && !is_damage {
            true => AppendFault::OutcomeUnknown,
            false => fault,
        }))
    }
}
