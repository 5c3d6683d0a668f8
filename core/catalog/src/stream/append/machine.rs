//! State machine that appends events to an event stream.

use std::sync::Arc;

use super::rules::{Rules, SafetyRule};
use super::{AppendFault, AppendOutcome, Proposal, StreamAppendAction, StreamAppendAnswer, Write};
use crate::stream::event::WriterId;
use crate::stream::tip::{EventBatch, SplitPolicy, Tip};
use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::{MAX_READ_ATTEMPTS, MAX_STREAM_WRITE_ATTEMPTS};
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_base::variant_names;
use cellar_log::append::Inputs;

/// An append in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    writer: WriterId,
    write: Arc<Write>,
    phase: Phase,
    rules: Rules,
    sent_writes: u32,
    failed_reads: u32,
    is_uncertain: bool,
    /// Whether a write was refused because its event batch already exists.
    batch_exists: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Writing,
    ReadingTip,
    /// Searching older items before `end_index` for the events of this append. `tip` is the newest
    /// item.
    ReadingBatches {
        tip: Arc<Tip>,
        end_index: u64,
    },
    WaitingToWrite,
    WaitingToReadTip,
    WaitingToReadBatches {
        tip: Arc<Tip>,
        end_index: u64,
    },
    Finished,
}

variant_names!(Phase {
    Writing,
    ReadingTip,
    ReadingBatches,
    WaitingToWrite,
    WaitingToReadTip,
    WaitingToReadBatches,
    Finished,
});

impl Append {
    /// Starts an append.
    ///
    /// # Errors
    /// Returns an [`AppendFault`] if the events cannot be appended. Nothing has been written in
    /// this case.
    pub fn begin(
        proposal: &Proposal,
        policy: SplitPolicy,
    ) -> Result<(Self, StreamAppendAction), AppendFault> {
        Self::begin_with_rules(proposal, policy, Rules::default())
    }

    /// Like [`Append::begin`], with different safety rules. For use by the model checker.
    ///
    /// # Errors
    /// Returns an [`AppendFault`] if the events cannot be appended.
    pub fn begin_with_rules(
        proposal: &Proposal,
        policy: SplitPolicy,
        rules: Rules,
    ) -> Result<(Self, StreamAppendAction), AppendFault> {
        let mut append = Self {
            writer: proposal.writer,
            write: Arc::new(proposal.write(policy)?),
            phase: Phase::Finished,
            rules,
            sent_writes: 0,
            failed_reads: 0,
            is_uncertain: false,
            batch_exists: false,
        };
        let action = append.send_write();
        Ok((append, action))
    }

    /// Processes the result of the last action and returns the next action. An answer that does not
    /// match the last action is reported as [`AppendFault::Unexpected`].
    #[must_use]
    pub fn step(
        mut self,
        answer: StreamAppendAnswer,
        inputs: Inputs,
    ) -> (Self, StreamAppendAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, answer) {
            (Phase::Writing, answer) => self.continue_after_write(answer, inputs),
            (Phase::ReadingTip, StreamAppendAnswer::Tip(tip)) => {
                self.decide_on_current_tip(tip, inputs)
            }
            (Phase::ReadingBatches { tip, end_index }, StreamAppendAnswer::Batches { batches }) => {
                self.search_batches(&batches, tip, end_index)
            }
            (Phase::ReadingTip, StreamAppendAnswer::ReadFailed { temporary }) => {
                self.retry_failed_read(Phase::WaitingToReadTip, temporary, inputs)
            }
            (
                Phase::ReadingBatches { tip, end_index },
                StreamAppendAnswer::ReadFailed { temporary },
            ) => {
                let retry_phase = Phase::WaitingToReadBatches { tip, end_index };
                self.retry_failed_read(retry_phase, temporary, inputs)
            }
            (Phase::WaitingToWrite, StreamAppendAnswer::Waited) => self.send_write(),
            (Phase::WaitingToReadTip, StreamAppendAnswer::Waited) => self.read_tip(),
            (Phase::WaitingToReadBatches { tip, end_index }, StreamAppendAnswer::Waited) => {
                self.read_batches(tip, end_index)
            }
            (phase, answer) => finish_unexpected(&phase, &answer),
        };
        (self, action)
    }

    fn first_index(&self) -> u64 {
        let tip = self.write.tip();
        tip.next.saturating_sub(tip.appended)
    }

    /// Returns the index of the first event that the write moves to a batch of older events. If it
    /// moves none, returns the index of the first appended event.
    fn first_written_index(&self) -> u64 {
        match &*self.write {
            Write::SplitOff { batch, .. } => batch.index,
            Write::First(_) | Write::Update(_) => self.first_index(),
        }
    }

    fn send_write(&mut self) -> StreamAppendAction {
        self.phase = Phase::Writing;
        self.sent_writes += 1;
        StreamAppendAction::Write(Arc::clone(&self.write))
    }

    fn read_tip(&mut self) -> StreamAppendAction {
        self.phase = Phase::ReadingTip;
        StreamAppendAction::ReadTip
    }

    fn read_batches(&mut self, tip: Arc<Tip>, end_index: u64) -> StreamAppendAction {
        self.phase = Phase::ReadingBatches { tip, end_index };
        StreamAppendAction::ReadBatches { below: end_index }
    }

    fn continue_after_write(
        &mut self,
        answer: StreamAppendAnswer,
        inputs: Inputs,
    ) -> StreamAppendAction {
        match answer {
            StreamAppendAnswer::Done => self.finish_appended(Arc::new(self.write.tip().clone())),
            StreamAppendAnswer::Refused { tip: Some(tip) } => {
                self.decide_on_current_tip(Some(tip), inputs)
            }
            StreamAppendAnswer::Refused { tip: None } => self.read_tip(),
            // The newest item may have changed too, because the store may report only one of the
            // conditions that failed.
            StreamAppendAnswer::BatchExists => {
                self.batch_exists = true;
                self.read_tip()
            }
            StreamAppendAnswer::Unknown => {
                self.is_uncertain = true;
                self.wait(Phase::WaitingToReadTip, self.sent_writes, inputs)
            }
            StreamAppendAnswer::Throttled => self.retry_write(inputs),
            StreamAppendAnswer::Failed => self.give_up(AppendFault::Store),
            StreamAppendAnswer::Tip(_)
            | StreamAppendAnswer::Batches { .. }
            | StreamAppendAnswer::ReadFailed { .. }
            | StreamAppendAnswer::Waited => finish_unexpected(&Phase::Writing, &answer),
        }
    }

    /// Schedules a retry of the identical write, which takes effect at most once. Fails if there
    /// were too many attempts.
    fn retry_write(&mut self, inputs: Inputs) -> StreamAppendAction {
        if self.sent_writes >= MAX_STREAM_WRITE_ATTEMPTS {
            return self.give_up(AppendFault::Contention);
        }
        self.wait(Phase::WaitingToWrite, self.sent_writes, inputs)
    }

    /// Continues after a write that has failed or whose outcome is unknown. `current_tip` is the
    /// newest item of the stream.
    fn decide_on_current_tip(
        &mut self,
        current_tip: Option<Arc<Tip>>,
        inputs: Inputs,
    ) -> StreamAppendAction {
        let current_etag = current_tip.as_ref().map(|tip| tip.etag);
        let tip_is_unchanged = current_etag == self.write.expected();
        if tip_is_unchanged && self.rules.is_enforced(SafetyRule::SameWrite) {
            if self.batch_exists {
                return self.give_up(AppendFault::Damaged { index: self.first_written_index() });
            }
            // An earlier attempt may still take effect. Therefore, only the identical write is
            // safe.
            return self.retry_write(inputs);
        }
        let Some(current_tip) = current_tip else { return finish_conflict(None) };
        let was_appended = current_tip.has_event_of(self.writer);
        if was_appended && self.rules.is_enforced(SafetyRule::SearchTip) {
            return self.finish_appended(current_tip);
        }
        // Later appends may already have moved the events of this append to older items. This is
        // possible only if the outcome of a write is unknown.
        let tip_start = current_tip.first();
        let may_be_in_batches = self.is_uncertain && tip_start > self.first_index();
        if may_be_in_batches && self.rules.is_enforced(SafetyRule::SearchBatches) {
            return self.read_batches(current_tip, tip_start);
        }
        finish_conflict(Some(current_tip))
    }

    /// The newest batch comes first.
    fn search_batches(
        &mut self,
        batches: &[EventBatch],
        tip: Arc<Tip>,
        end_index: u64,
    ) -> StreamAppendAction {
        if batches.is_empty() {
            return self.give_up(AppendFault::Damaged { index: end_index });
        }
        let mut oldest_searched_index = end_index;
        for batch in batches {
            let is_adjacent = batch.next() == oldest_searched_index;
            if !is_adjacent || batch.events.is_empty() {
                return self.give_up(AppendFault::Damaged { index: oldest_searched_index });
            }
            if batch.has_event_of(self.writer) {
                return self.finish_appended(tip);
            }
            oldest_searched_index = batch.index;
            if oldest_searched_index <= self.first_index() {
                return finish_conflict(Some(tip));
            }
        }
        self.read_batches(tip, oldest_searched_index)
    }

    /// Fails if the error is permanent or there were too many failures.
    fn retry_failed_read(
        &mut self,
        retry_phase: Phase,
        temporary: bool,
        inputs: Inputs,
    ) -> StreamAppendAction {
        self.failed_reads += 1;
        if !temporary || self.failed_reads >= MAX_READ_ATTEMPTS {
            return self.give_up(AppendFault::Store);
        }
        self.wait(retry_phase, self.failed_reads, inputs)
    }

    fn wait(&mut self, phase: Phase, attempt: u32, inputs: Inputs) -> StreamAppendAction {
        self.phase = phase;
        StreamAppendAction::Wait { delay_ms: full_jitter_ms(attempt, inputs.random) }
    }

    fn finish_appended(&self, tip: Arc<Tip>) -> StreamAppendAction {
        StreamAppendAction::Finish(Ok(AppendOutcome::Appended { tip, index: self.first_index() }))
    }

    /// Fails the append. If the outcome of a write is unknown, the fault becomes
    /// [`AppendFault::OutcomeUnknown`], unless the stream is corrupt.
    fn give_up(&self, fault: AppendFault) -> StreamAppendAction {
        let is_damage = matches!(fault, AppendFault::Damaged { .. });
        if self.is_uncertain && !is_damage {
            return StreamAppendAction::Finish(Err(AppendFault::OutcomeUnknown));
        }
        StreamAppendAction::Finish(Err(fault))
    }
}

fn finish_unexpected(phase: &Phase, answer: &StreamAppendAnswer) -> StreamAppendAction {
    let (phase, event) = (phase.name(), answer.name());
    let fault = UnexpectedEvent { machine: "append to an event stream", phase, event };
    StreamAppendAction::Finish(Err(fault.into()))
}

fn finish_conflict(tip: Option<Arc<Tip>>) -> StreamAppendAction {
    StreamAppendAction::Finish(Ok(AppendOutcome::Conflict { tip }))
}
