//! State machine of a snapshot worker, which handles one queue message.

use std::collections::VecDeque;

use super::phase::{Finishing, LastStep, Phase, ReleaseReason};
use super::{
    ClockReading, PendingSnapshot, Rules, SafetyRule, SnapshotAction, SnapshotEvent,
    SnapshotOutcome, is_finished,
};
use crate::snapshot_job::SnapshotJob;
use cellar_base::consistency::ReadConsistency;
use cellar_base::limits::{
    ABANDONED_S, BROKEN_WAIT_S, EARLIER_WAIT_S, FAILED_WAIT_S, HAND_OVER_MS, LEASE_S,
    MAX_PROGRESS_BYTES,
};
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_log::segment::Segment;

/// A worker that handles one message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Worker {
    rules: Rules,
    job: SnapshotJob,
    /// Deadline of the function invocation, in milliseconds since the Unix epoch.
    deadline_ms: u64,
    /// Start of the current unit of work, in milliseconds since the Unix epoch.
    unit_started_ms: u64,
    longest_unit_ms: u64,
    phase: Phase,
}

impl Worker {
    /// Starts handling a job in a function invocation that ends at `deadline_ms`.
    #[must_use]
    pub fn begin(job: SnapshotJob, deadline_ms: u64) -> (Self, SnapshotAction) {
        Self::begin_with(Rules::default(), job, deadline_ms)
    }

    /// Like [`Worker::begin`], but enforces only the given rules.
    #[must_use]
    pub fn begin_with(rules: Rules, job: SnapshotJob, deadline_ms: u64) -> (Self, SnapshotAction) {
        let worker = Self {
            rules,
            job,
            deadline_ms,
            unit_started_ms: 0,
            longest_unit_ms: 0,
            phase: Phase::FindingFirstRecord,
        };
        (worker, SnapshotAction::FindFirst)
    }

    /// Handles the result of the last action, and returns the next action. The worker stops with
    /// [`SnapshotOutcome::Unexpected`] if the result does not match the last action.
    #[must_use]
    pub fn step(mut self, event: SnapshotEvent, clock: ClockReading) -> (Self, SnapshotAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::FindingFirstRecord, SnapshotEvent::Found(first_record)) => match first_record {
                Some(first_record) => self.claim_or_wait(&first_record, clock),
                None => self.read_segment(),
            },
            (Phase::ReadingSegment, SnapshotEvent::Segment(segment)) => {
                self.create_record_unless_finished(segment.as_ref(), clock)
            }
            (Phase::Claiming(own_record), SnapshotEvent::Written) => {
                self.check_completion_or_build(own_record, clock)
            }
            (Phase::CheckingCompletion(own_record), SnapshotEvent::Segment(segment)) => {
                self.build_unless_finished(own_record, segment.as_ref(), clock)
            }
            (Phase::Building(own_record), event) => {
                self.continue_after_unit(&own_record, event, clock)
            }
            (Phase::StoringProgress(own_record), SnapshotEvent::Written) => {
                self.start_unit(own_record, clock)
            }
            // The record may or may not have been written. The next worker reads it, possibly after
            // waiting for the lease to expire.
            (Phase::HandingOver, SnapshotEvent::Written | SnapshotEvent::Unknown) => {
                SnapshotAction::Finish(SnapshotOutcome::HandOver)
            }
            (Phase::Releasing(reason), SnapshotEvent::Written) => self.stop_after_release(reason),
            (Phase::ReplacingRoot { own_record, new_root }, event) => {
                self.continue_after_root_replacement(&own_record, new_root, event, clock)
            }
            (Phase::RecordingCurrentRoot { own_record, new_root }, SnapshotEvent::Written) => {
                self.replace_root(own_record, new_root)
            }
            (
                Phase::Claiming(_)
                | Phase::StoringProgress(_)
                | Phase::HandingOver
                | Phase::RecordingCurrentRoot { .. }
                | Phase::Releasing(_),
                event @ (SnapshotEvent::Refused | SnapshotEvent::Unknown),
            ) => self.stop_after_lost_claim(&event),
            (Phase::WakingEarlier, SnapshotEvent::Done) => wait_for_earlier_snapshot(),
            (Phase::Finishing(finishing), event) => self.continue_last_steps(finishing, event),
            (phase, SnapshotEvent::Failed { temporary }) if phase != Phase::Finished => {
                finish_failed(temporary)
            }
            (phase, event) => finish_unexpected(phase.name(), &event),
        };
        (self, action)
    }

    fn read_segment(&mut self) -> SnapshotAction {
        self.phase = Phase::ReadingSegment;
        SnapshotAction::ReadSegment { consistency: ReadConsistency::Eventual }
    }

    /// Waits if the record belongs to an earlier snapshot, or if another worker's lease has not
    /// expired.
    fn claim_or_wait(
        &mut self,
        first_record: &PendingSnapshot,
        clock: ClockReading,
    ) -> SnapshotAction {
        // The clock of the worker that wrote the record may be ahead or behind. With the absolute
        // difference, even a record with a time in the future expires.
        let silent_s = clock.now_s().abs_diff(first_record.modified_s);
        if first_record.job.position < self.job.position {
            return self.wait_for_earlier(first_record, silent_s);
        }
        let can_take_over = self.rules.is_enforced(SafetyRule::TakeOver) && silent_s >= LEASE_S;
        if first_record.active && !can_take_over {
            let remaining_lease_s = LEASE_S.saturating_sub(silent_s).max(1);
            let wait_s = seconds_u32(remaining_lease_s);
            return SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s });
        }
        let own_record = self.next_version(first_record, first_record.progress.clone(), clock);
        self.phase = Phase::Claiming(own_record.clone());
        self.replace_record(own_record)
    }

    fn wait_for_earlier(
        &mut self,
        earlier_record: &PendingSnapshot,
        silent_s: u64,
    ) -> SnapshotAction {
        let is_abandoned = silent_s >= ABANDONED_S;
        if is_abandoned && self.rules.is_enforced(SafetyRule::AbandonedIsWoken) {
            self.phase = Phase::WakingEarlier;
            return SnapshotAction::Enqueue(earlier_record.job.position);
        }
        wait_for_earlier_snapshot()
    }

    /// Handles a job that has no pending record. Either the snapshot is already finished, or no
    /// worker has started it.
    fn create_record_unless_finished(
        &mut self,
        segment: Option<&Segment>,
        clock: ClockReading,
    ) -> SnapshotAction {
        if segment.is_some_and(|segment| is_finished(segment, self.job.position)) {
            // The same message may have been delivered to another worker, which has created a record
            // since, finished the snapshot and stopped before it deleted the record.
            let steps = [LastStep::DeleteRecord { run: None }, LastStep::FindNext];
            return self.start_last_steps(SnapshotOutcome::Drop, steps);
        }
        let own_record = PendingSnapshot {
            job: self.job,
            created_s: clock.now_s(),
            modified_s: clock.now_s(),
            active: true,
            increment: 1,
            progress: Vec::new(),
            rebuild: None,
        };
        self.phase = Phase::Claiming(own_record.clone());
        SnapshotAction::Create(own_record)
    }

    fn check_completion_or_build(
        &mut self,
        own_record: PendingSnapshot,
        clock: ClockReading,
    ) -> SnapshotAction {
        // The snapshot of a rebuild is always finished. The rebuild is unfinished as long as its
        // record exists.
        let is_rebuild = own_record.rebuild.is_some();
        if is_rebuild || !self.rules.is_enforced(SafetyRule::CompletionIsChecked) {
            return self.start_unit(own_record, clock);
        }
        self.phase = Phase::CheckingCompletion(own_record);
        SnapshotAction::ReadSegment { consistency: ReadConsistency::Strong }
    }

    fn build_unless_finished(
        &mut self,
        own_record: PendingSnapshot,
        segment: Option<&Segment>,
        clock: ClockReading,
    ) -> SnapshotAction {
        let Some(segment) = segment else {
            // Cannot happen, because a segment's record is written before the segment's first
            // entry.
            return self.release_after_failure(&own_record, BROKEN_WAIT_S, clock);
        };
        if is_finished(segment, self.job.position) {
            let steps = [own_record.delete_step(), LastStep::FindNext];
            return self.start_last_steps(SnapshotOutcome::Drop, steps);
        }
        self.start_unit(own_record, clock)
    }

    fn start_unit(&mut self, own_record: PendingSnapshot, clock: ClockReading) -> SnapshotAction {
        self.unit_started_ms = clock.now_ms;
        let progress = own_record.progress.clone();
        self.phase = Phase::Building(own_record);
        SnapshotAction::Build { progress }
    }

    fn continue_after_unit(
        &mut self,
        own_record: &PendingSnapshot,
        event: SnapshotEvent,
        clock: ClockReading,
    ) -> SnapshotAction {
        match event {
            SnapshotEvent::Progress(progress) => {
                // Stop if a unit of work did not change the progress. Repeating the unit would loop
                // forever.
                let is_unchanged = progress == own_record.progress;
                if is_unchanged || progress.len() > MAX_PROGRESS_BYTES {
                    return self.release_after_failure(own_record, BROKEN_WAIT_S, clock);
                }
                self.store_progress(own_record, progress, clock)
            }
            SnapshotEvent::EarlierSnapshot(earlier) if earlier < self.job.position => {
                self.release_record(own_record, ReleaseReason::EarlierSnapshot(earlier), clock)
            }
            SnapshotEvent::Built { root } if own_record.rebuild.is_some() => {
                self.replace_root(own_record.clone(), root)
            }
            SnapshotEvent::Built { root } => self.finish_snapshot(own_record, root),
            SnapshotEvent::Failed { temporary: true } => {
                self.release_after_failure(own_record, FAILED_WAIT_S, clock)
            }
            SnapshotEvent::Failed { temporary: false } | SnapshotEvent::EarlierSnapshot(_) => {
                self.release_after_failure(own_record, BROKEN_WAIT_S, clock)
            }
            event => finish_unexpected("Building", &event),
        }
    }

    /// Hands over the record to another invocation if another unit of work may exceed the deadline.
    fn store_progress(
        &mut self,
        own_record: &PendingSnapshot,
        progress: Vec<u8>,
        clock: ClockReading,
    ) -> SnapshotAction {
        const RESERVED_UNITS: u64 = 2;
        let unit_ms = clock.now_ms.saturating_sub(self.unit_started_ms);
        self.longest_unit_ms = self.longest_unit_ms.max(unit_ms);
        let reserved_ms = HAND_OVER_MS.max(self.longest_unit_ms.saturating_mul(RESERVED_UNITS));
        let mut next_record = self.next_version(own_record, progress, clock);
        if clock.now_ms.saturating_add(reserved_ms) >= self.deadline_ms {
            next_record.active = false;
            self.phase = Phase::HandingOver;
        } else {
            self.phase = Phase::StoringProgress(next_record.clone());
        }
        self.replace_record(next_record)
    }

    fn release_after_failure(
        &mut self,
        own_record: &PendingSnapshot,
        wait_s: u32,
        clock: ClockReading,
    ) -> SnapshotAction {
        self.release_record(own_record, ReleaseReason::Failure { wait_s }, clock)
    }

    fn release_record(
        &mut self,
        own_record: &PendingSnapshot,
        reason: ReleaseReason,
        clock: ClockReading,
    ) -> SnapshotAction {
        let mut released_record = self.next_version(own_record, own_record.progress.clone(), clock);
        released_record.active = false;
        self.phase = Phase::Releasing(reason);
        self.replace_record(released_record)
    }

    fn stop_after_release(&mut self, reason: ReleaseReason) -> SnapshotAction {
        match reason {
            ReleaseReason::EarlierSnapshot(earlier) => {
                self.phase = Phase::WakingEarlier;
                SnapshotAction::Enqueue(earlier)
            }
            ReleaseReason::Failure { wait_s } => {
                SnapshotAction::Finish(SnapshotOutcome::Failed { wait_s })
            }
        }
    }

    /// Stops the worker after a write that was rejected or whose outcome is unknown. The message is
    /// redelivered after a delay, in which the other worker should have finished or died.
    fn stop_after_lost_claim(&self, event: &SnapshotEvent) -> SnapshotAction {
        let is_refused = *event == SnapshotEvent::Refused;
        if is_refused && !self.rules.is_enforced(SafetyRule::LosersKeepTheirMessage) {
            return SnapshotAction::Finish(SnapshotOutcome::Drop);
        }
        SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: seconds_u32(LEASE_S) })
    }

    fn finish_snapshot(&mut self, own_record: &PendingSnapshot, root: String) -> SnapshotAction {
        let set_root = LastStep::SetRoot(root);
        let delete_record = own_record.delete_step();
        let steps = if !self.rules.is_enforced(SafetyRule::RootBeforeLast) {
            [LastStep::RaiseLast, set_root, delete_record, LastStep::FindNext]
        } else if !self.rules.is_enforced(SafetyRule::LastBeforeDelete) {
            [set_root, delete_record, LastStep::RaiseLast, LastStep::FindNext]
        } else {
            [set_root, LastStep::RaiseLast, delete_record, LastStep::FindNext]
        };
        self.start_last_steps(SnapshotOutcome::Done, steps)
    }

    fn replace_root(&mut self, own_record: PendingSnapshot, new_root: String) -> SnapshotAction {
        let rebuild = own_record.rebuild.as_ref();
        let replaces = rebuild.and_then(|rebuild| rebuild.replaces.clone());
        let root = new_root.clone();
        self.phase = Phase::ReplacingRoot { own_record, new_root };
        SnapshotAction::ReplaceRoot { replaces, root }
    }

    fn continue_after_root_replacement(
        &mut self,
        own_record: &PendingSnapshot,
        new_root: String,
        event: SnapshotEvent,
        clock: ClockReading,
    ) -> SnapshotAction {
        match event {
            SnapshotEvent::Done => {
                let steps = [LastStep::RaiseLast, own_record.delete_step(), LastStep::FindNext];
                self.start_last_steps(SnapshotOutcome::Done, steps)
            }
            // The entry was trimmed, so its root cannot be set.
            SnapshotEvent::EntryGone => {
                let steps = [own_record.delete_step(), LastStep::FindNext];
                self.start_last_steps(SnapshotOutcome::Done, steps)
            }
            // An earlier worker has already set the root. If this worker has lost the record, the
            // next write is rejected.
            SnapshotEvent::OtherRoot { current_root } => {
                self.record_current_root(own_record, current_root, new_root, clock)
            }
            SnapshotEvent::Failed { temporary } => finish_failed(temporary),
            event => finish_unexpected("ReplacingRoot", &event),
        }
    }

    fn record_current_root(
        &mut self,
        own_record: &PendingSnapshot,
        current_root: String,
        new_root: String,
        clock: ClockReading,
    ) -> SnapshotAction {
        let mut next_record = self.next_version(own_record, own_record.progress.clone(), clock);
        if let Some(rebuild) = &mut next_record.rebuild {
            rebuild.replaces = Some(current_root);
        }
        self.phase = Phase::RecordingCurrentRoot { own_record: next_record.clone(), new_root };
        self.replace_record(next_record)
    }

    fn start_last_steps(
        &mut self,
        outcome: SnapshotOutcome,
        steps: impl IntoIterator<Item = LastStep>,
    ) -> SnapshotAction {
        self.perform_last_steps(outcome, steps.into_iter().collect())
    }

    fn perform_last_steps(
        &mut self,
        outcome: SnapshotOutcome,
        mut remaining_steps: VecDeque<LastStep>,
    ) -> SnapshotAction {
        let Some(current_step) = remaining_steps.pop_front() else {
            return SnapshotAction::Finish(outcome);
        };
        let action = match &current_step {
            LastStep::SetRoot(root) => SnapshotAction::SetRoot { root: root.clone() },
            LastStep::RaiseLast => SnapshotAction::RaiseLast,
            LastStep::DeleteRecord { run } => SnapshotAction::Delete { run: *run },
            LastStep::FindNext => SnapshotAction::FindNext,
            LastStep::WakeNext(position) => SnapshotAction::Enqueue(*position),
        };
        self.phase = Phase::Finishing(Finishing { outcome, current_step, remaining_steps });
        action
    }

    fn continue_last_steps(
        &mut self,
        finishing: Finishing,
        event: SnapshotEvent,
    ) -> SnapshotAction {
        let Finishing { outcome, current_step, mut remaining_steps } = finishing;
        match (current_step, event) {
            (LastStep::FindNext, SnapshotEvent::Found(Some(next_record))) => {
                remaining_steps.push_front(LastStep::WakeNext(next_record.job.position));
                self.perform_last_steps(outcome, remaining_steps)
            }
            // A failure to wake the next snapshot is ignored, because it only delays that snapshot.
            (LastStep::FindNext, SnapshotEvent::Found(None) | SnapshotEvent::Failed { .. })
            | (LastStep::WakeNext(_), SnapshotEvent::Done | SnapshotEvent::Failed { .. }) => {
                SnapshotAction::Finish(outcome)
            }
            (
                step @ (LastStep::SetRoot(_) | LastStep::RaiseLast | LastStep::DeleteRecord { .. }),
                event,
            ) => match event {
                SnapshotEvent::Done => self.perform_last_steps(outcome, remaining_steps),
                SnapshotEvent::Failed { temporary } => finish_failed(temporary),
                event => finish_unexpected(step.name(), &event),
            },
            (step, event) => finish_unexpected(step.name(), &event),
        }
    }

    /// Returns the record that claims the snapshot for this worker, with an incremented version
    /// number.
    fn next_version(
        &self,
        current_record: &PendingSnapshot,
        progress: Vec<u8>,
        clock: ClockReading,
    ) -> PendingSnapshot {
        PendingSnapshot {
            job: self.job,
            created_s: current_record.created_s,
            modified_s: clock.now_s(),
            active: true,
            increment: current_record.increment.saturating_add(1),
            progress,
            rebuild: current_record.rebuild.clone(),
        }
    }

    fn replace_record(&self, new_record: PendingSnapshot) -> SnapshotAction {
        let expected_increment = if self.rules.is_enforced(SafetyRule::OwnIncrement) {
            Some(new_record.increment.saturating_sub(1))
        } else {
            None
        };
        SnapshotAction::Replace { record: new_record, increment: expected_increment }
    }
}

impl PendingSnapshot {
    /// Returns a step that deletes this record, unless the record belongs to another rebuild.
    fn delete_step(&self) -> LastStep {
        LastStep::DeleteRecord { run: self.rebuild.as_ref().map(|rebuild| rebuild.run) }
    }
}

impl ClockReading {
    fn now_s(self) -> u64 {
        self.now_ms / 1_000
    }
}

fn wait_for_earlier_snapshot() -> SnapshotAction {
    SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: EARLIER_WAIT_S })
}

fn finish_unexpected(phase: &'static str, event: &SnapshotEvent) -> SnapshotAction {
    let fault = UnexpectedEvent { machine: "snapshot worker", phase, event: event.name() };
    SnapshotAction::Finish(SnapshotOutcome::Unexpected { fault, wait_s: BROKEN_WAIT_S })
}

fn finish_failed(temporary: bool) -> SnapshotAction {
    let wait_s = if temporary { FAILED_WAIT_S } else { BROKEN_WAIT_S };
    SnapshotAction::Finish(SnapshotOutcome::Failed { wait_s })
}

fn seconds_u32(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}
