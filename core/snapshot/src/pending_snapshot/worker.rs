//! What one worker does with one message.

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

/// A worker on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Worker {
    rules: Rules,
    job: SnapshotJob,
    /// When the function ends, Unix milliseconds.
    deadline_ms: u64,
    /// When the piece of work that is being done was begun.
    began_ms: u64,
    /// The longest time between two progress writes so far.
    longest_ms: u64,
    phase: Phase,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Phase {
    Finding,
    ReadingSegment,
    /// Writing a record that makes it this worker's.
    Claiming(PendingSnapshot),
    LookingUpDone(PendingSnapshot),
    Building(PendingSnapshot),
    StoringProgress(PendingSnapshot),
    HandingOver,
    /// Putting the root of what was made anew in the old one's place.
    Replacing(PendingSnapshot, String),
    /// Another root stands there: writing into the record that this one is to be replaced.
    Reclaiming(PendingSnapshot, String),
    /// Giving the record up, because of an earlier snapshot or because of a failure.
    Releasing(Release),
    /// Sending the message of an earlier snapshot.
    WakingEarlier,
    Finishing(Finishing),
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Release {
    For(Position),
    Failed { wait_s: u32 },
}

/// The last steps, each idempotent; `outcome` is what they end with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Finishing {
    outcome: SnapshotOutcome,
    step: LastStep,
    /// Those that are still to be done, the next one last.
    left: Vec<LastStep>,
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
    /// Begins with a job that was received, in a function that ends at `deadline_ms`.
    #[must_use]
    pub fn begin(job: SnapshotJob, deadline_ms: u64) -> (Self, SnapshotAction) {
        Self::begin_with(Rules::default(), job, deadline_ms)
    }

    /// As [`Worker::begin`], under these rules.
    #[must_use]
    pub fn begin_with(rules: Rules, job: SnapshotJob, deadline_ms: u64) -> (Self, SnapshotAction) {
        let phase = Phase::Finding;
        (
            Self { rules, job, deadline_ms, began_ms: 0, longest_ms: 0, phase },
            SnapshotAction::FindFirst,
        )
    }

    /// Takes the next step. An event that does not answer the last action ends the work.
    #[must_use]
    pub fn step(mut self, event: SnapshotEvent, inputs: Inputs) -> (Self, SnapshotAction) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::Finding, SnapshotEvent::Found(first)) => self.found(first, inputs),
            (Phase::ReadingSegment, SnapshotEvent::Segment(segment)) => {
                self.segment_read(segment.as_ref(), inputs)
            }
            (Phase::Claiming(own), SnapshotEvent::Written) => self.claimed(own, inputs),
            (Phase::LookingUpDone(own), SnapshotEvent::Segment(segment)) => {
                self.looked_up(own, segment.as_ref(), inputs)
            }
            (Phase::Building(own), event) => self.built(&own, event, inputs),
            (Phase::StoringProgress(own), SnapshotEvent::Written) => self.build(own, inputs),
            // If it is not known, the next worker finds out, and waits for the rest of the lease.
            (Phase::HandingOver, SnapshotEvent::Written | SnapshotEvent::Unknown) => {
                SnapshotAction::Finish(SnapshotOutcome::HandOver)
            }
            (Phase::Releasing(release), SnapshotEvent::Written) => self.released(release),
            (Phase::Replacing(own, root), event) => self.replaced(&own, root, event, inputs),
            (Phase::Reclaiming(own, root), SnapshotEvent::Written) => self.replace_root(own, root),
            (
                Phase::Claiming(_)
                | Phase::StoringProgress(_)
                | Phase::HandingOver
                | Phase::Reclaiming(..)
                | Phase::Releasing(_),
                event,
            ) => self.lost(&event),
            (Phase::WakingEarlier, SnapshotEvent::Done) => {
                SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: EARLIER_WAIT_S })
            }
            (Phase::Finishing(finishing), event) => self.finishing(finishing, event),
            (_, SnapshotEvent::Failed { temporary }) => failed(temporary),
            _ => failed(false),
        };
        (self, action)
    }

    fn found(&mut self, first: Option<PendingSnapshot>, inputs: Inputs) -> SnapshotAction {
        let Some(first) = first else {
            self.phase = Phase::ReadingSegment;
            return SnapshotAction::ReadSegment { consistent: false };
        };
        // Either clock may be wrong: a sign of life from the future is none for ever.
        let silent_s = inputs.now_s().abs_diff(first.modified_s);
        if first.job.position < self.job.position {
            return self.earlier_is_pending(&first, silent_s);
        }
        let take_over = self.rules.is_enforced(SafetyRule::TakeOver) && silent_s >= LEASE_S;
        if first.active && !take_over {
            let rest_s = LEASE_S.saturating_sub(silent_s).max(1);
            return SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: seconds(rest_s) });
        }
        let own = self.next_record(&first, first.progress.clone(), inputs);
        self.phase = Phase::Claiming(own.clone());
        self.replace(own)
    }

    fn earlier_is_pending(&mut self, earlier: &PendingSnapshot, silent_s: u64) -> SnapshotAction {
        if self.rules.is_enforced(SafetyRule::AbandonedIsWoken) && silent_s >= ABANDONED_S {
            self.phase = Phase::WakingEarlier;
            return SnapshotAction::Enqueue(earlier.job.position);
        }
        SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: EARLIER_WAIT_S })
    }

    /// There is no record: the snapshot is finished, or nobody has begun it.
    fn segment_read(&mut self, segment: Option<&Segment>, inputs: Inputs) -> SnapshotAction {
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

    fn claimed(&mut self, own: PendingSnapshot, inputs: Inputs) -> SnapshotAction {
        // What is made anew was finished before: that its record is there says that it is not done.
        if own.rebuild.is_some() || !self.rules.is_enforced(SafetyRule::DoneIsLookedUp) {
            return self.build(own, inputs);
        }
        self.phase = Phase::LookingUpDone(own);
        SnapshotAction::ReadSegment { consistent: true }
    }

    fn looked_up(
        &mut self,
        own: PendingSnapshot,
        segment: Option<&Segment>,
        inputs: Inputs,
    ) -> SnapshotAction {
        match segment {
            Some(segment) if is_finished(segment, self.job.position) => {
                self.finish(SnapshotOutcome::Drop, vec![LastStep::FindNext, own.delete()])
            }
            Some(_) => self.build(own, inputs),
            // An entry is never written without its segment.
            None => self.release(&own, Release::Failed { wait_s: BROKEN_WAIT_S }, inputs),
        }
    }

    fn build(&mut self, own: PendingSnapshot, inputs: Inputs) -> SnapshotAction {
        self.began_ms = inputs.now_ms;
        let progress = own.progress.clone();
        self.phase = Phase::Building(own);
        SnapshotAction::Build { progress }
    }

    fn built(
        &mut self,
        own: &PendingSnapshot,
        event: SnapshotEvent,
        inputs: Inputs,
    ) -> SnapshotAction {
        let broken = Release::Failed { wait_s: BROKEN_WAIT_S };
        match event {
            // A builder that stands still would go on for ever.
            SnapshotEvent::Progress(progress)
                if progress.len() > MAX_PROGRESS_BYTES || progress == own.progress =>
            {
                self.release(own, broken, inputs)
            }
            SnapshotEvent::Progress(progress) => self.progress(own, progress, inputs),
            SnapshotEvent::EarlierSnapshot(earlier) if earlier < self.job.position => {
                self.release(own, Release::For(earlier), inputs)
            }
            SnapshotEvent::Built { root } if own.rebuild.is_some() => {
                self.replace_root(own.clone(), root)
            }
            SnapshotEvent::Built { root } => self.finish_with(own, root),
            SnapshotEvent::Failed { temporary: true } => {
                self.release(own, Release::Failed { wait_s: FAILED_WAIT_S }, inputs)
            }
            _ => self.release(own, broken, inputs),
        }
    }

    fn progress(
        &mut self,
        own: &PendingSnapshot,
        bytes: Vec<u8>,
        inputs: Inputs,
    ) -> SnapshotAction {
        self.longest_ms = self.longest_ms.max(inputs.now_ms.saturating_sub(self.began_ms));
        let reserve_ms = HAND_OVER_MS.max(self.longest_ms.saturating_mul(2));
        let mut next = self.next_record(own, bytes, inputs);
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

    fn released(&mut self, release: Release) -> SnapshotAction {
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

    /// Another worker was faster, or the reply was lost: nothing more is done. The message comes
    /// back when the winner, whoever it is, should be done or dead.
    fn lost(&self, event: &SnapshotEvent) -> SnapshotAction {
        match event {
            SnapshotEvent::Failed { temporary } => failed(*temporary),
            SnapshotEvent::Refused
                if !self.rules.is_enforced(SafetyRule::LosersKeepTheirMessage) =>
            {
                SnapshotAction::Finish(SnapshotOutcome::Drop)
            }
            _ => SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: seconds(LEASE_S) }),
        }
    }

    fn finish_with(&mut self, own: &PendingSnapshot, root: String) -> SnapshotAction {
        let root = LastStep::SetRoot(root);
        let mut steps = vec![LastStep::FindNext, own.delete(), LastStep::RaiseLast, root];
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

    fn replaced(
        &mut self,
        own: &PendingSnapshot,
        root: String,
        event: SnapshotEvent,
        inputs: Inputs,
    ) -> SnapshotAction {
        match event {
            SnapshotEvent::Done => {
                let steps = vec![LastStep::FindNext, own.delete(), LastStep::RaiseLast];
                self.finish(SnapshotOutcome::Done, steps)
            }
            // There is nothing left of which a root could be told.
            SnapshotEvent::EntryGone => {
                self.finish(SnapshotOutcome::Done, vec![LastStep::FindNext, own.delete()])
            }
            // Of one who began before all of it was lost, or of one who had this record before. Who
            // has lost the record stops here.
            SnapshotEvent::OtherRoot { stands } => {
                let mut next = self.next_record(own, own.progress.clone(), inputs);
                if let Some(rebuild) = &mut next.rebuild {
                    rebuild.replaces = Some(stands);
                }
                self.phase = Phase::Reclaiming(next.clone(), root);
                self.replace(next)
            }
            SnapshotEvent::Failed { temporary } => failed(temporary),
            _ => failed(false),
        }
    }

    /// Does these steps, the last one first.
    fn finish(&mut self, outcome: SnapshotOutcome, mut left: Vec<LastStep>) -> SnapshotAction {
        let Some(step) = left.pop() else { return SnapshotAction::Finish(outcome) };
        let action = match &step {
            LastStep::SetRoot(root) => SnapshotAction::SetRoot { root: root.clone() },
            LastStep::RaiseLast => SnapshotAction::RaiseLast,
            LastStep::Delete { run } => SnapshotAction::Delete { run: *run },
            LastStep::FindNext => SnapshotAction::FindNext,
            LastStep::WakeNext(next) => SnapshotAction::Enqueue(*next),
        };
        self.phase = Phase::Finishing(Finishing { outcome, step, left });
        action
    }

    fn finishing(&mut self, finishing: Finishing, event: SnapshotEvent) -> SnapshotAction {
        let Finishing { outcome, step, mut left } = finishing;
        match (step, event) {
            (LastStep::FindNext, SnapshotEvent::Found(next)) => {
                left.extend(next.map(|next| LastStep::WakeNext(next.job.position)));
                self.finish(outcome, left)
            }
            // The next one comes by itself, only later.
            (LastStep::FindNext | LastStep::WakeNext(_), _) => SnapshotAction::Finish(outcome),
            (_, SnapshotEvent::Done) => self.finish(outcome, left),
            (_, SnapshotEvent::Failed { temporary }) => failed(temporary),
            _ => failed(false),
        }
    }

    fn next_record(
        &self,
        seen: &PendingSnapshot,
        progress: Vec<u8>,
        inputs: Inputs,
    ) -> PendingSnapshot {
        PendingSnapshot {
            job: self.job,
            created_s: seen.created_s,
            modified_s: inputs.now_s(),
            active: true,
            increment: seen.increment.saturating_add(1),
            progress,
            rebuild: seen.rebuild.clone(),
        }
    }

    fn replace(&self, record: PendingSnapshot) -> SnapshotAction {
        let seen = record.increment.saturating_sub(1);
        let increment = self.rules.is_enforced(SafetyRule::OwnIncrement).then_some(seen);
        SnapshotAction::Replace { record, increment }
    }
}

impl PendingSnapshot {
    /// The step that deletes it, and no record of another rebuild.
    fn delete(&self) -> LastStep {
        LastStep::Delete { run: self.rebuild.as_ref().map(|rebuild| rebuild.run) }
    }
}

impl Inputs {
    fn now_s(self) -> u64 {
        self.now_ms / 1_000
    }
}

fn failed(temporary: bool) -> SnapshotAction {
    let wait_s = if temporary { FAILED_WAIT_S } else { BROKEN_WAIT_S };
    SnapshotAction::Finish(SnapshotOutcome::Failed { wait_s })
}

fn seconds(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}
