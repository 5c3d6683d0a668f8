//! What one worker does with one message.

use super::{Action, Event, Inputs, Outcome, PendingSnapshot, Rules, SafetyRule, is_finished};
use crate::snapshot_job::SnapshotJob;
use cellar_base::limits::{
    ABANDONED_S, BROKEN_WAIT_S, EARLIER_WAIT_S, FAILED_WAIT_S, HAND_OVER_MS, LEASE_S,
    MAX_CHECKPOINT_BYTES,
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
    /// The longest time between two checkpoints so far.
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
    Checkpointing(PendingSnapshot),
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
    outcome: Outcome,
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
    pub fn begin(job: SnapshotJob, deadline_ms: u64) -> (Self, Action) {
        Self::begin_with(Rules::default(), job, deadline_ms)
    }

    /// As [`Worker::begin`], under these rules.
    #[must_use]
    pub fn begin_with(rules: Rules, job: SnapshotJob, deadline_ms: u64) -> (Self, Action) {
        let phase = Phase::Finding;
        (Self { rules, job, deadline_ms, began_ms: 0, longest_ms: 0, phase }, Action::FindFirst)
    }

    /// Takes the next step. An event that does not answer the last action ends the work.
    #[must_use]
    pub fn step(mut self, event: Event, inputs: Inputs) -> (Self, Action) {
        let phase = std::mem::replace(&mut self.phase, Phase::Finished);
        let action = match (phase, event) {
            (Phase::Finding, Event::Found(first)) => self.found(first, inputs),
            (Phase::ReadingSegment, Event::Segment(segment)) => {
                self.segment_read(segment.as_ref(), inputs)
            }
            (Phase::Claiming(own), Event::Written) => self.claimed(own, inputs),
            (Phase::LookingUpDone(own), Event::Segment(segment)) => {
                self.looked_up(own, segment.as_ref(), inputs)
            }
            (Phase::Building(own), event) => self.built(&own, event, inputs),
            (Phase::Checkpointing(own), Event::Written) => self.build(own, inputs),
            // If it is not known, the next worker finds out, and waits for the rest of the lease.
            (Phase::HandingOver, Event::Written | Event::Unknown) => {
                Action::Finish(Outcome::HandOver)
            }
            (Phase::Releasing(release), Event::Written) => self.released(release),
            (Phase::Replacing(own, root), event) => self.replaced(&own, root, event, inputs),
            (Phase::Reclaiming(own, root), Event::Written) => self.replace_root(own, root),
            (
                Phase::Claiming(_)
                | Phase::Checkpointing(_)
                | Phase::HandingOver
                | Phase::Reclaiming(..)
                | Phase::Releasing(_),
                event,
            ) => self.lost(&event),
            (Phase::WakingEarlier, Event::Done) => {
                Action::Finish(Outcome::Wait { wait_s: EARLIER_WAIT_S })
            }
            (Phase::Finishing(finishing), event) => self.finishing(finishing, event),
            (_, Event::Failed { temporary }) => failed(temporary),
            _ => failed(false),
        };
        (self, action)
    }

    fn found(&mut self, first: Option<PendingSnapshot>, inputs: Inputs) -> Action {
        let Some(first) = first else {
            self.phase = Phase::ReadingSegment;
            return Action::ReadSegment { consistent: false };
        };
        // Either clock may be wrong: a sign of life from the future is none for ever.
        let silent_s = inputs.now_s().abs_diff(first.modified_s);
        if first.job.position < self.job.position {
            return self.earlier_is_pending(&first, silent_s);
        }
        let take_over = self.rules.hold(SafetyRule::TakeOver) && silent_s >= LEASE_S;
        if first.active && !take_over {
            let rest_s = LEASE_S.saturating_sub(silent_s).max(1);
            return Action::Finish(Outcome::Wait { wait_s: seconds(rest_s) });
        }
        let own = self.next_record(&first, first.checkpoint.clone(), inputs);
        self.phase = Phase::Claiming(own.clone());
        self.replace(own)
    }

    fn earlier_is_pending(&mut self, earlier: &PendingSnapshot, silent_s: u64) -> Action {
        if self.rules.hold(SafetyRule::AbandonedIsWoken) && silent_s >= ABANDONED_S {
            self.phase = Phase::WakingEarlier;
            return Action::Enqueue(earlier.job.position);
        }
        Action::Finish(Outcome::Wait { wait_s: EARLIER_WAIT_S })
    }

    /// There is no record: the snapshot is finished, or nobody has begun it.
    fn segment_read(&mut self, segment: Option<&Segment>, inputs: Inputs) -> Action {
        if segment.is_some_and(|segment| is_finished(segment, self.job.position)) {
            return Action::Finish(Outcome::Drop);
        }
        let own = PendingSnapshot {
            job: self.job,
            created_s: inputs.now_s(),
            modified_s: inputs.now_s(),
            active: true,
            increment: 1,
            checkpoint: Vec::new(),
            rebuild: None,
        };
        self.phase = Phase::Claiming(own.clone());
        Action::Create(own)
    }

    fn claimed(&mut self, own: PendingSnapshot, inputs: Inputs) -> Action {
        // What is made anew was finished before: that its record is there says that it is not done.
        if own.rebuild.is_some() || !self.rules.hold(SafetyRule::DoneIsLookedUp) {
            return self.build(own, inputs);
        }
        self.phase = Phase::LookingUpDone(own);
        Action::ReadSegment { consistent: true }
    }

    fn looked_up(
        &mut self,
        own: PendingSnapshot,
        segment: Option<&Segment>,
        inputs: Inputs,
    ) -> Action {
        match segment {
            Some(segment) if is_finished(segment, self.job.position) => {
                self.finish(Outcome::Drop, vec![LastStep::FindNext, own.delete()])
            }
            Some(_) => self.build(own, inputs),
            // An entry is never written without its segment.
            None => self.release(&own, Release::Failed { wait_s: BROKEN_WAIT_S }, inputs),
        }
    }

    fn build(&mut self, own: PendingSnapshot, inputs: Inputs) -> Action {
        self.began_ms = inputs.now_ms;
        let checkpoint = own.checkpoint.clone();
        self.phase = Phase::Building(own);
        Action::Build { checkpoint }
    }

    fn built(&mut self, own: &PendingSnapshot, event: Event, inputs: Inputs) -> Action {
        let broken = Release::Failed { wait_s: BROKEN_WAIT_S };
        match event {
            // A builder that stands still would go on for ever.
            Event::Checkpoint(checkpoint)
                if checkpoint.len() > MAX_CHECKPOINT_BYTES || checkpoint == own.checkpoint =>
            {
                self.release(own, broken, inputs)
            }
            Event::Checkpoint(checkpoint) => self.checkpoint(own, checkpoint, inputs),
            Event::EarlierSnapshot(earlier) if earlier < self.job.position => {
                self.release(own, Release::For(earlier), inputs)
            }
            Event::Built { root } if own.rebuild.is_some() => self.replace_root(own.clone(), root),
            Event::Built { root } => self.finish_with(own, root),
            Event::Failed { temporary: true } => {
                self.release(own, Release::Failed { wait_s: FAILED_WAIT_S }, inputs)
            }
            _ => self.release(own, broken, inputs),
        }
    }

    fn checkpoint(&mut self, own: &PendingSnapshot, bytes: Vec<u8>, inputs: Inputs) -> Action {
        self.longest_ms = self.longest_ms.max(inputs.now_ms.saturating_sub(self.began_ms));
        let reserve_ms = HAND_OVER_MS.max(self.longest_ms.saturating_mul(2));
        let mut next = self.next_record(own, bytes, inputs);
        if inputs.now_ms.saturating_add(reserve_ms) >= self.deadline_ms {
            next.active = false;
            self.phase = Phase::HandingOver;
        } else {
            self.phase = Phase::Checkpointing(next.clone());
        }
        self.replace(next)
    }

    fn release(&mut self, own: &PendingSnapshot, release: Release, inputs: Inputs) -> Action {
        let mut next = self.next_record(own, own.checkpoint.clone(), inputs);
        next.active = false;
        self.phase = Phase::Releasing(release);
        self.replace(next)
    }

    fn released(&mut self, release: Release) -> Action {
        match release {
            Release::For(earlier) => {
                self.phase = Phase::WakingEarlier;
                Action::Enqueue(earlier)
            }
            Release::Failed { wait_s } => Action::Finish(Outcome::Failed { wait_s }),
        }
    }

    /// Another worker was faster, or the reply was lost: nothing more is done. The message comes
    /// back when the winner, whoever it is, should be done or dead.
    fn lost(&self, event: &Event) -> Action {
        match event {
            Event::Failed { temporary } => failed(*temporary),
            Event::Refused if !self.rules.hold(SafetyRule::LosersKeepTheirMessage) => {
                Action::Finish(Outcome::Drop)
            }
            _ => Action::Finish(Outcome::Wait { wait_s: seconds(LEASE_S) }),
        }
    }

    fn finish_with(&mut self, own: &PendingSnapshot, root: String) -> Action {
        let root = LastStep::SetRoot(root);
        let mut steps = vec![LastStep::FindNext, own.delete(), LastStep::RaiseLast, root];
        if !self.rules.hold(SafetyRule::RootBeforeLast) {
            steps.swap(2, 3);
        }
        if !self.rules.hold(SafetyRule::LastBeforeDelete) {
            steps.swap(1, 2);
        }
        self.finish(Outcome::Done, steps)
    }

    fn replace_root(&mut self, own: PendingSnapshot, root: String) -> Action {
        let replaces = own.rebuild.as_ref().and_then(|rebuild| rebuild.replaces.clone());
        self.phase = Phase::Replacing(own, root.clone());
        Action::ReplaceRoot { replaces, root }
    }

    fn replaced(
        &mut self,
        own: &PendingSnapshot,
        root: String,
        event: Event,
        inputs: Inputs,
    ) -> Action {
        match event {
            Event::Done => {
                let steps = vec![LastStep::FindNext, own.delete(), LastStep::RaiseLast];
                self.finish(Outcome::Done, steps)
            }
            // There is nothing left of which a root could be told.
            Event::EntryGone => self.finish(Outcome::Done, vec![LastStep::FindNext, own.delete()]),
            // Of one who began before all of it was lost, or of one who had this record before. Who
            // has lost the record stops here.
            Event::OtherRoot { stands } => {
                let mut next = self.next_record(own, own.checkpoint.clone(), inputs);
                if let Some(rebuild) = &mut next.rebuild {
                    rebuild.replaces = Some(stands);
                }
                self.phase = Phase::Reclaiming(next.clone(), root);
                self.replace(next)
            }
            Event::Failed { temporary } => failed(temporary),
            _ => failed(false),
        }
    }

    /// Does these steps, the last one first.
    fn finish(&mut self, outcome: Outcome, mut left: Vec<LastStep>) -> Action {
        let Some(step) = left.pop() else { return Action::Finish(outcome) };
        let action = match &step {
            LastStep::SetRoot(root) => Action::SetRoot { root: root.clone() },
            LastStep::RaiseLast => Action::RaiseLast,
            LastStep::Delete { run } => Action::Delete { run: *run },
            LastStep::FindNext => Action::FindNext,
            LastStep::WakeNext(next) => Action::Enqueue(*next),
        };
        self.phase = Phase::Finishing(Finishing { outcome, step, left });
        action
    }

    fn finishing(&mut self, finishing: Finishing, event: Event) -> Action {
        let Finishing { outcome, step, mut left } = finishing;
        match (step, event) {
            (LastStep::FindNext, Event::Found(next)) => {
                left.extend(next.map(|next| LastStep::WakeNext(next.job.position)));
                self.finish(outcome, left)
            }
            // The next one comes by itself, only later.
            (LastStep::FindNext | LastStep::WakeNext(_), _) => Action::Finish(outcome),
            (_, Event::Done) => self.finish(outcome, left),
            (_, Event::Failed { temporary }) => failed(temporary),
            _ => failed(false),
        }
    }

    fn next_record(
        &self,
        seen: &PendingSnapshot,
        checkpoint: Vec<u8>,
        inputs: Inputs,
    ) -> PendingSnapshot {
        PendingSnapshot {
            job: self.job,
            created_s: seen.created_s,
            modified_s: inputs.now_s(),
            active: true,
            increment: seen.increment.saturating_add(1),
            checkpoint,
            rebuild: seen.rebuild.clone(),
        }
    }

    fn replace(&self, record: PendingSnapshot) -> Action {
        let seen = record.increment.saturating_sub(1);
        let increment = self.rules.hold(SafetyRule::OwnIncrement).then_some(seen);
        Action::Replace { record, increment }
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

fn failed(temporary: bool) -> Action {
    let wait_s = if temporary { FAILED_WAIT_S } else { BROKEN_WAIT_S };
    Action::Finish(Outcome::Failed { wait_s })
}

fn seconds(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}
