//! State machine of an event stream append.

use std::sync::Arc;

use super::rules::{Rules, SafetyRule};
use super::{AppendFault, AppendOutcome, Proposal, StreamAppendAction, StreamAppendAnswer, Write};
use crate::stream::event::WriterId;
use crate::stream::tip::{EventBatch, SplitPolicy, Tip};
use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::{MAX_READ_ATTEMPTS, MAX_STREAM_WRITE_ATTEMPTS};
use cellar_log::append::Inputs;

/// An append in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    writer: WriterId,
    write: Arc<Write>,
    phase: Phase,
    rules: Rules,
    writes: u32,
    failed_reads: u32,
    /// Whether any write has an unknown outcome.
    is_uncertain: bool,
    /// Whether a write was refused because its event batch already exists.
    batch_exists: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Writing,
    ReadingTip,
    /// Searches event batches below an index for the append's events. `tip` is the current tip.
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
    /// Returns an [`AppendFault`] if the events cannot be appended. Nothing has been written in
    /// this case.
    pub fn begin(
        proposal: &Proposal,
        policy: SplitPolicy,
    ) -> Result<(Self, StreamAppendAction), AppendFault> {
        Self::begin_by(proposal, policy, Rules::default())
    }

    /// Like [`Append::begin`], but with safety rules chosen by the caller (the model checker).
    ///
    /// # Errors
    /// Like [`Append::begin`].
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
            is_uncertain: false,
            batch_exists: false,
        };
        let action = append.send_write();
        Ok((append, action))
    }

    /// Processes the result of the last action and returns the next action. Ends the append with
    /// [`AppendFault::Store`] if the answer does not match the last action.
    #[must_use]
    pub fn step(
        mut self,
        answer: StreamAppendAnswer,
        inputs: Inputs,
    ) -> (Self, StreamAppendAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, answer) {
            (Phase::Writing, answer) => self.handle_write_answer(answer, inputs),
            (Phase::ReadingTip, StreamAppendAnswer::Tip(tip)) => self.handle_tip(tip, inputs),
            (Phase::ReadingBatches { tip, below }, StreamAppendAnswer::Batches { batches }) => {
                self.search_batches(&batches, tip, below)
            }
            (Phase::ReadingTip, StreamAppendAnswer::ReadFailed { temporary }) => {
                self.handle_read_failure(Phase::WaitingToReadTip, temporary, inputs)
            }
            (
                Phase::ReadingBatches { tip, below },
                StreamAppendAnswer::ReadFailed { temporary },
            ) => {
                let retry = Phase::WaitingToReadBatches { tip, below };
                self.handle_read_failure(retry, temporary, inputs)
            }
            (Phase::WaitingToWrite, StreamAppendAnswer::Waited) => self.send_write(),
            (Phase::WaitingToReadTip, StreamAppendAnswer::Waited) => self.read_tip(),
            (Phase::WaitingToReadBatches { tip, below }, StreamAppendAnswer::Waited) => {
                self.read_batches(tip, below)
            }
            _ => self.give_up(AppendFault::Store),
        };
        (self, action)
    }

    /// Returns the index of the first appended event.
    fn first_index(&self) -> u64 {
        let tip = self.write.tip();
        tip.next.saturating_sub(tip.appended)
    }

    /// Returns the index of the first event that the write moves from the tip to an event batch, or
    /// of the first appended event if no events are moved.
    fn first_written_index(&self) -> u64 {
        match &*self.write {
            Write::SplitOff { batch, .. } => batch.index,
            Write::First(_) | Write::Update(_) => self.first_index(),
        }
    }

    fn send_write(&mut self) -> StreamAppendAction {
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

    fn handle_write_answer(
        &mut self,
        answer: StreamAppendAnswer,
        inputs: Inputs,
    ) -> StreamAppendAction {
        match answer {
            StreamAppendAnswer::Done => self.finish_appended(Arc::new(self.write.tip().clone())),
            StreamAppendAnswer::Refused { tip: Some(tip) } => self.handle_tip(Some(tip), inputs),
            StreamAppendAnswer::Refused { tip: None } => self.read_tip(),
            // If both conditions of the write fail, the store may report only one of them, so read
            // the tip to determine which failed.
            StreamAppendAnswer::BatchExists => {
                self.batch_exists = true;
                self.read_tip()
            }
            StreamAppendAnswer::Unknown => {
                self.is_uncertain = true;
                self.wait(Phase::WaitingToReadTip, self.writes, inputs)
            }
            StreamAppendAnswer::Throttled => self.retry_write(inputs),
            _ => self.give_up(AppendFault::Store),
        }
    }

    /// Retries the identical write, which takes effect at most once. Gives up after too many
    /// attempts.
    fn retry_write(&mut self, inputs: Inputs) -> StreamAppendAction {
        if self.writes >= MAX_STREAM_WRITE_ATTEMPTS {
            return self.give_up(AppendFault::Contention);
        }
        self.wait(Phase::WaitingToWrite, self.writes, inputs)
    }

    /// Handles the current tip, reread after a write was refused or had an unknown outcome.
    fn handle_tip(&mut self, tip: Option<Arc<Tip>>, inputs: Inputs) -> StreamAppendAction {
        let etag = tip.as_ref().map(|tip| tip.etag);
        let is_unchanged = etag == self.write.expected();
        if is_unchanged && self.rules.is_enforced(SafetyRule::SameWrite) {
            if self.batch_exists {
                return self.give_up(AppendFault::Damaged { index: self.first_written_index() });
            }
            // An earlier attempt may still take effect, so only the identical write is safe.
            return self.retry_write(inputs);
        }
        let Some(tip) = tip else { return finish_conflict(None) };
        if tip.has(self.writer) && self.rules.is_enforced(SafetyRule::SearchTip) {
            return self.finish_appended(tip);
        }
        // Concurrently appended events may already be in event batches. The append's own events are
        // among them only if a write has an unknown outcome.
        let first_in_tip = tip.first();
        if self.is_uncertain
            && first_in_tip > self.first_index()
            && self.rules.is_enforced(SafetyRule::SearchBatches)
        {
            return self.read_batches(tip, first_in_tip);
        }
        finish_conflict(Some(tip))
    }

    /// Searches a page of event batches for the append's events, latest batch first.
    fn search_batches(
        &mut self,
        batches: &[EventBatch],
        tip: Arc<Tip>,
        below: u64,
    ) -> StreamAppendAction {
        if batches.is_empty() {
            return self.give_up(AppendFault::Damaged { index: below });
        }
        let mut searched_from = below;
        for batch in batches {
            if batch.next() != searched_from || batch.events.is_empty() {
                return self.give_up(AppendFault::Damaged { index: searched_from });
            }
            if batch.has(self.writer) {
                return self.finish_appended(tip);
            }
            searched_from = batch.index;
            if searched_from <= self.first_index() {
                return finish_conflict(Some(tip));
            }
        }
        self.read_batches(tip, searched_from)
    }

    /// Retries a failed read in phase `retry`. Gives up on a permanent error or after too many
    /// failed reads.
    fn handle_read_failure(
        &mut self,
        retry: Phase,
        temporary: bool,
        inputs: Inputs,
    ) -> StreamAppendAction {
        self.failed_reads += 1;
        if !temporary || self.failed_reads >= MAX_READ_ATTEMPTS {
            return self.give_up(AppendFault::Store);
        }
        self.wait(retry, self.failed_reads, inputs)
    }

    fn wait(&mut self, phase: Phase, attempt: u32, inputs: Inputs) -> StreamAppendAction {
        self.phase = phase;
        StreamAppendAction::Wait { delay_ms: full_jitter_ms(attempt, inputs.random) }
    }

    fn finish_appended(&self, tip: Arc<Tip>) -> StreamAppendAction {
        StreamAppendAction::Finish(Ok(AppendOutcome::Appended { tip, index: self.first_index() }))
    }

    /// Finishes with a fault. After a write with an unknown outcome, any fault except corruption
    /// becomes [`AppendFault::OutcomeUnknown`].
    fn give_up(&self, fault: AppendFault) -> StreamAppendAction {
        let is_damage = matches!(fault, AppendFault::Damaged { .. });
        let fault =
            if self.is_uncertain && !is_damage { AppendFault::OutcomeUnknown } else { fault };
        StreamAppendAction::Finish(Err(fault))
    }
}

fn finish_conflict(tip: Option<Arc<Tip>>) -> StreamAppendAction {
    StreamAppendAction::Finish(Ok(AppendOutcome::Conflict { tip }))
}
