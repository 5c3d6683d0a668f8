//! State machine of a snapshot worker that handles one queue message.

use super::{
    Inputs, PendingSnapshot, Rules, SafetyRule, SnapshotAction, SnapshotEvent, SnapshotOutcome,
    is_finished,
};
use crate::snapshot_job::SnapshotJob;
use cellar_base::limits::{
    ABANDONED_S, BROKEN_WAIT_S, EARLIER_WAIT_S, FAILED_WAIT_S, HAND_OVER_MS, LEASE_S,
    MAX_PROGRESS_BYTES,
};
use cellar_base::position::Position;
use cellar_log::segment::Segment;

/// A worker handling one message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Worker {
    rules: Rules,
    job: SnapshotJob,
    /// Deadline of the function invocation, in milliseconds since the Unix epoch.
    deadline_ms: u64,
    /// Start of the current unit of work, in milliseconds since the Unix epoch.
    began_ms: u64,
    /// Longest interval between two progress writes so far.
    longest_piece_ms: u64,
    phase: Phase,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Phase {
    Finding,
    ReadingSegment,
    /// Writing the record to claim the snapshot for this worker.
    Claiming(PendingSnapshot),
    CheckingCompletion(PendingSnapshot),
    Building(PendingSnapshot),
    StoringProgress(PendingSnapshot),
    HandingOver,
    /// Replacing the old root with the rebuilt root.
    Replacing(PendingSnapshot, String),
    /// Writing the entry's current root into the record, as the root to replace.
    Reclaiming(PendingSnapshot, String),
    /// Releasing the record because of an earlier snapshot or a failure.
    Releasing(Release),
    /// Resending the message of an earlier snapshot.
    WakingEarlier,
    Finishing(Finishing),
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Release {
    For(Position),
    Failed { wait_s: u32 },
}

/// The final steps, each of which is idempotent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Finishing {
    outcome: SnapshotOutcome,
    step: LastStep,
    /// Remaining steps in reverse order.
    remaining: Vec<LastStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum LastStep {
    SetRoot(String),
    RaiseLast,
    Delete { run: Option<u64> },
    FindNext,
    WakeNext(Position),
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
        let phase = Phase::Finding;
        (
            Self { rules, job, deadline_ms, began_ms: 0, longest_piece_ms: 0, phase },
            SnapshotAction::FindFirst,
        )
    }

    /// Handles the result of the last action and returns the next action. The worker stops if the
    /// result does not match the last action.
    #[must_use]
    pub fn step(mut self, event: SnapshotEvent, inputs: Inputs) -> (Self, SnapshotAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::Finding, SnapshotEvent::Found(first)) => {
                self.handle_first_record(first, inputs)
            }
            (Phase::ReadingSegment, SnapshotEvent::Segment(segment)) => {
                self.handle_segment(segment.as_ref(), inputs)
            }
            (Phase::Claiming(own), SnapshotEvent::Written) => self.handle_claim(own, inputs),
            (Phase::CheckingCompletion(own), SnapshotEvent::Segment(segment)) => {
                self.handle_completion_check(own, segment.as_ref(), inputs)
            }
            (Phase::Building(own), event) => self.handle_piece(&own, event, inputs),
            (Phase::StoringProgress(own), SnapshotEvent::Written) => self.start_piece(own, inputs),
            // If the outcome of the write is unknown, the next worker reads the record. It may have
            // to wait for the lease to expire.
            (Phase::HandingOver, SnapshotEvent::Written | SnapshotEvent::Unknown) => {
                SnapshotAction::Finish(SnapshotOutcome::HandOver)
            }
            (Phase::Releasing(release), SnapshotEvent::Written) => self.handle_release(release),
            (Phase::Replacing(own, root), event) => {
                self.handle_root_replacement(&own, root, event, inputs)
            }
            (Phase::Reclaiming(own, root), SnapshotEvent::Written) => self.replace_root(own, root),
            (
                Phase::Claiming(_)
                | Phase::StoringProgress(_)
                | Phase::HandingOver
                | Phase::Reclaiming(..)
                | Phase::Releasing(_),
                event,
            ) => self.handle_lost_claim(&event),
            (Phase::WakingEarlier, SnapshotEvent::Done) => {
                SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: EARLIER_WAIT_S })
            }
            (Phase::Finishing(finishing), event) => self.handle_last_step(finishing, event),
            (_, SnapshotEvent::Failed { temporary }) => finish_failed(temporary),
            _ => finish_failed(false),
        };
        (self, action)
    }

    fn handle_first_record(
        &mut self,
        first: Option<PendingSnapshot>,
        inputs: Inputs,
    ) -> SnapshotAction {
        let Some(first) = first else {
            self.phase = Phase::ReadingSegment;
            return SnapshotAction::ReadSegment { consistent: false };
        };
        // The writer's clock may be ahead or behind. Using the absolute difference ensures that a
        // record from the future expires too.
        let silent_s = inputs.now_s().abs_diff(first.modified_s);
        if first.job.position < self.job.position {
            return self.wait_for_earlier(&first, silent_s);
        }
        let can_take_over = self.rules.is_enforced(SafetyRule::TakeOver) && silent_s >= LEASE_S;
        if first.active && !can_take_over {
            let remaining_lease_s = LEASE_S.saturating_sub(silent_s).max(1);
            return SnapshotAction::Finish(SnapshotOutcome::Wait {
                wait_s: saturate_u32(remaining_lease_s),
            });
        }
        let own = self.next_record(&first, first.progress.clone(), inputs);
        self.phase = Phase::Claiming(own.clone());
        self.replace(own)
    }

    fn wait_for_earlier(&mut self, earlier: &PendingSnapshot, silent_s: u64) -> SnapshotAction {
        if self.rules.is_enforced(SafetyRule::AbandonedIsWoken) && silent_s >= ABANDONED_S {
            self.phase = Phase::WakingEarlier;
            return SnapshotAction::Enqueue(earlier.job.position);
        }
        SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: EARLIER_WAIT_S })
    }

    /// Handles a job without a pending record: either the snapshot is finished, or its work has not
    /// started.
    fn handle_segment(&mut self, segment: Option<&Segment>, inputs: Inputs) -> SnapshotAction {
        if segment.is_some_and(|segment| is_finished(segment, self.job.position)) {
            return SnapshotAction::Finish(SnapshotOutcome::Drop);
        }
        let own = PendingSnapshot {
            job: self.job,
            created_s: inputs.now_s(),
            modified_s: inputs.now_s(),
            active: true,
            increment: 1,
            progress: Vec::new(),
            rebuild: None,
        };
        self.phase = Phase::Claiming(own.clone());
        SnapshotAction::Create(own)
    }

    fn handle_claim(&mut self, own: PendingSnapshot, inputs: Inputs) -> SnapshotAction {
        // A rebuild starts from a finished snapshot, and is unfinished as long as its record
        // exists.
        if own.rebuild.is_some() || !self.rules.is_enforced(SafetyRule::CompletionIsChecked) {
            return self.start_piece(own, inputs);
        }
        self.phase = Phase::CheckingCompletion(own);
        SnapshotAction::ReadSegment { consistent: true }
    }

    fn handle_completion_check(
        &mut self,
        own: PendingSnapshot,
        segment: Option<&Segment>,
        inputs: Inputs,
    ) -> SnapshotAction {
        match segment {
            Some(segment) if is_finished(segment, self.job.position) => {
                self.finish(SnapshotOutcome::Drop, vec![LastStep::FindNext, own.delete_step()])
            }
            Some(_) => self.start_piece(own, inputs),
            // Invariant: the segment record is written before the segment's first entry.
            None => self.release(&own, Release::Failed { wait_s: BROKEN_WAIT_S }, inputs),
        }
    }

    fn start_piece(&mut self, own: PendingSnapshot, inputs: Inputs) -> SnapshotAction {
        self.began_ms = inputs.now_ms;
        let progress = own.progress.clone();
        self.phase = Phase::Building(own);
        SnapshotAction::Build { progress }
    }

    fn handle_piece(
        &mut self,
        own: &PendingSnapshot,
        event: SnapshotEvent,
        inputs: Inputs,
    ) -> SnapshotAction {
        let broken = Release::Failed { wait_s: BROKEN_WAIT_S };
        match event {
            // Unchanged progress would repeat the same unit of work forever.
            SnapshotEvent::Progress(progress)
                if progress.len() > MAX_PROGRESS_BYTES || progress == own.progress =>
            {
                self.release(own, broken, inputs)
            }
            SnapshotEvent::Progress(progress) => self.store_progress(own, progress, inputs),
            SnapshotEvent::EarlierSnapshot(earlier) if earlier < self.job.position => {
                self.release(own, Release::For(earlier), inputs)
            }
            SnapshotEvent::Built { root } if own.rebuild.is_some() => {
                self.replace_root(own.clone(), root)
            }
            SnapshotEvent::Built { root } => self.finish_built(own, root),
            SnapshotEvent::Failed { temporary: true } => {
                self.release(own, Release::Failed { wait_s: FAILED_WAIT_S }, inputs)
            }
            _ => self.release(own, broken, inputs),
        }
    }

    fn store_progress(
        &mut self,
        own: &PendingSnapshot,
        progress: Vec<u8>,
        inputs: Inputs,
    ) -> SnapshotAction {
        let piece_ms = inputs.now_ms.saturating_sub(self.began_ms);
        self.longest_piece_ms = self.longest_piece_ms.max(piece_ms);
        let reserve_ms = HAND_OVER_MS.max(self.longest_piece_ms.saturating_mul(2));
        let mut next = self.next_record(own, progress, inputs);
        if inputs.now_ms.saturating_add(reserve_ms) >= self.deadline_ms {
            next.active = false;
            self.phase = Phase::HandingOver;
        } else {
            self.phase = Phase::StoringProgress(next.clone());
        }
        self.replace(next)
    }

    fn release(
        &mut self,
        own: &PendingSnapshot,
        release: Release,
        inputs: Inputs,
    ) -> SnapshotAction {
        let mut next = self.next_record(own, own.progress.clone(), inputs);
        next.active = false;
        self.phase = Phase::Releasing(release);
        self.replace(next)
    }

    fn handle_release(&mut self, release: Release) -> SnapshotAction {
        match release {
            Release::For(earlier) => {
                self.phase = Phase::WakingEarlier;
                SnapshotAction::Enqueue(earlier)
            }
            Release::Failed { wait_s } => {
                SnapshotAction::Finish(SnapshotOutcome::Failed { wait_s })
            }
        }
    }

    /// Handles a write that was rejected or whose outcome is unknown. The worker stops, and the
    /// message is redelivered once the other worker should have finished or died.
    fn handle_lost_claim(&self, event: &SnapshotEvent) -> SnapshotAction {
        match event {
            SnapshotEvent::Failed { temporary } => finish_failed(*temporary),
            SnapshotEvent::Refused
                if !self.rules.is_enforced(SafetyRule::LosersKeepTheirMessage) =>
            {
                SnapshotAction::Finish(SnapshotOutcome::Drop)
            }
            _ => SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: saturate_u32(LEASE_S) }),
        }
    }

    fn finish_built(&mut self, own: &PendingSnapshot, root: String) -> SnapshotAction {
        let set_root = LastStep::SetRoot(root);
        let mut steps = vec![LastStep::FindNext, own.delete_step(), LastStep::RaiseLast, set_root];
        if !self.rules.is_enforced(SafetyRule::RootBeforeLast) {
            steps.swap(2, 3);
        }
        if !self.rules.is_enforced(SafetyRule::LastBeforeDelete) {
            steps.swap(1, 2);
        }
        self.finish(SnapshotOutcome::Done, steps)
    }

    fn replace_root(&mut self, own: PendingSnapshot, root: String) -> SnapshotAction {
        let replaces = own.rebuild.as_ref().and_then(|rebuild| rebuild.replaces.clone());
        self.phase = Phase::Replacing(own, root.clone());
        SnapshotAction::ReplaceRoot { replaces, root }
    }

    fn handle_root_replacement(
        &mut self,
        own: &PendingSnapshot,
        root: String,
        event: SnapshotEvent,
        inputs: Inputs,
    ) -> SnapshotAction {
        match event {
            SnapshotEvent::Done => {
                let steps = vec![LastStep::FindNext, own.delete_step(), LastStep::RaiseLast];
                self.finish(SnapshotOutcome::Done, steps)
            }
            // The entry was trimmed, so its root cannot be set.
            SnapshotEvent::EntryGone => {
                self.finish(SnapshotOutcome::Done, vec![LastStep::FindNext, own.delete_step()])
            }
            // The root was already set, either by an earlier worker of the snapshot or by an
            // earlier worker of this record. If this worker has lost the record, the following
            // write is rejected.
            SnapshotEvent::OtherRoot { current_root } => {
                let mut next = self.next_record(own, own.progress.clone(), inputs);
                if let Some(rebuild) = &mut next.rebuild {
                    rebuild.replaces = Some(current_root);
                }
                self.phase = Phase::Reclaiming(next.clone(), root);
                self.replace(next)
            }
            SnapshotEvent::Failed { temporary } => finish_failed(temporary),
            _ => finish_failed(false),
        }
    }

    /// Performs the remaining steps, then stops with `outcome`.
    fn finish(&mut self, outcome: SnapshotOutcome, mut remaining: Vec<LastStep>) -> SnapshotAction {
        let Some(step) = remaining.pop() else { return SnapshotAction::Finish(outcome) };
        let action = match &step {
            LastStep::SetRoot(root) => SnapshotAction::SetRoot { root: root.clone() },
            LastStep::RaiseLast => SnapshotAction::RaiseLast,
            LastStep::Delete { run } => SnapshotAction::Delete { run: *run },
            LastStep::FindNext => SnapshotAction::FindNext,
            LastStep::WakeNext(next) => SnapshotAction::Enqueue(*next),
        };
        self.phase = Phase::Finishing(Finishing { outcome, step, remaining });
        action
    }

    fn handle_last_step(&mut self, finishing: Finishing, event: SnapshotEvent) -> SnapshotAction {
        let Finishing { outcome, step, mut remaining } = finishing;
        match (step, event) {
            (LastStep::FindNext, SnapshotEvent::Found(next)) => {
                remaining.extend(next.map(|next| LastStep::WakeNext(next.job.position)));
                self.finish(outcome, remaining)
            }
            // Failing to wake the next snapshot only delays that snapshot.
            (LastStep::FindNext | LastStep::WakeNext(_), _) => SnapshotAction::Finish(outcome),
            (_, SnapshotEvent::Done) => self.finish(outcome, remaining),
            (_, SnapshotEvent::Failed { temporary }) => finish_failed(temporary),
            _ => finish_failed(false),
        }
    }

    fn next_record(
        &self,
        current: &PendingSnapshot,
        progress: Vec<u8>,
        inputs: Inputs,
    ) -> PendingSnapshot {
        PendingSnapshot {
            job: self.job,
            created_s: current.created_s,
            modified_s: inputs.now_s(),
            active: true,
            increment: current.increment.saturating_add(1),
            progress,
            rebuild: current.rebuild.clone(),
        }
    }

    fn replace(&self, record: PendingSnapshot) -> SnapshotAction {
        let replaced_increment = record.increment.saturating_sub(1);
        let increment =
            self.rules.is_enforced(SafetyRule::OwnIncrement).then_some(replaced_increment);
        SnapshotAction::Replace { record, increment }
    }
}

impl PendingSnapshot {
    /// Returns a step that deletes this record but not the record of another rebuild.
    fn delete_step(&self) -> LastStep {
        LastStep::Delete { run: self.rebuild.as_ref().map(|rebuild| rebuild.run) }
    }
}

impl Inputs {
    fn now_s(self) -> u64 {
        self.now_ms / 1_000
    }
}

fn finish_failed(temporary: bool) -> SnapshotAction {
    let wait_s = if temporary { FAILED_WAIT_S } else { BROKEN_WAIT_S };
    SnapshotAction::Finish(SnapshotOutcome::Failed { wait_s })
}

fn saturate_u32(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}
