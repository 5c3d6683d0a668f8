//! Log maintenance: rolls and trims.

use std::sync::Arc;

use cellar_base::limits::TRIM_FENCE_S;
use cellar_base::position::Position;
use cellar_log::append::Inputs;
use cellar_log::entry::Entry;
use cellar_log::roll::{self, Roll};
use cellar_log::{
    retention, retention::Fences, retention::Plan, retention::Policy, retention::Trim,
};

use super::tables::{Tables, View};
use crate::fingerprint::Hashed;

/// The number of entries that a trim leaves in a segment: the first entry, and the End Segment that
/// closes the segment.
const TRIMMED_SEGMENT_ENTRIES: usize = 2;

/// A running roll.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rolling {
    /// The Unix time in seconds at which the roll sent its pending request.
    pub request_s: u64,
    machine: Hashed<(Roll, roll::RollAction)>,
}

impl Rolling {
    /// Starts a roll after the entry `tail`.
    #[must_use]
    pub fn begin(tail: &Arc<Entry>, now_s: u64) -> Self {
        let (roll, action) = Roll::begin(Arc::clone(tail));
        Self::new(roll, action, now_s)
    }

    fn new(mut roll: Roll, mut action: roll::RollAction, now_s: u64) -> Self {
        let inputs = Inputs { now_s, random: 0 };
        while matches!(action, roll::RollAction::Wait { .. }) {
            (roll, action) = roll.step(roll::RollEvent::Waited, inputs);
        }
        Self { request_s: now_s, machine: Hashed::new(Arc::new((roll, action))) }
    }

    /// Returns the pending request.
    #[must_use]
    pub fn action(&self) -> &roll::RollAction {
        let (_, action) = &*self.machine;
        action
    }

    /// Returns the roll after its next step, or `None` if the roll has finished.
    #[must_use]
    pub fn step(&self, event: roll::RollEvent, now_s: u64) -> Option<Self> {
        let (roll, _) = &*self.machine;
        let (roll, action) = roll.clone().step(event, Inputs { now_s, random: 0 });
        let rolling = Self::new(roll, action, now_s);
        if matches!(rolling.action(), roll::RollAction::Finish(_)) {
            return None;
        }
        Some(rolling)
    }

    /// Executes the pending request without a fault and returns the result.
    #[must_use]
    pub fn execute(&self, tables: &mut Tables) -> roll::RollEvent {
        match self.action() {
            roll::RollAction::ReadNewestSegment => {
                roll::RollEvent::NewestSegment(tables.newest_segment().cloned())
            }
            roll::RollAction::Read { from } => {
                roll::RollEvent::Page { entries: tables.read(*from, View::Now), has_more: false }
            }
            roll::RollAction::Transact(transaction) => {
                if tables.transact(transaction) {
                    roll::RollEvent::Accepted
                } else {
                    roll::RollEvent::Refused
                }
            }
            roll::RollAction::Wait { .. } | roll::RollAction::Finish(_) => roll::RollEvent::Waited,
        }
    }
}

/// A running trim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Trimming {
    segment_start: Position,
    deleted_count: usize,
    machine: Hashed<(Trim, retention::TrimAction)>,
}

impl Trimming {
    /// Offloads the first segment and starts to trim it. Returns `None` if the retention plan keeps
    /// the segment.
    #[must_use]
    pub fn offload_and_begin(tables: &mut Tables, fences: Fences, now_s: u64) -> Option<Self> {
        let segment_start = Position::FIRST;
        let newest_number = tables.newest_segment()?.num;
        let segment = tables.segment(segment_start.segment())?.clone();
        let closed_s = tables.segment(segment.num + 1)?.created_s;
        let entry_count = tables.segment_entries(segment.num).count();
        let is_trimmed = entry_count <= TRIMMED_SEGMENT_ENTRIES;
        let policy = Policy { offload_after_days: 0, keep_segments: 0 };
        // Without the age fence, the trim does not wait until entries are old enough. The plan must
        // not wait either.
        let plan_s = if fences.age { now_s } else { now_s + TRIM_FENCE_S };
        let plan = retention::plan_retention(
            &segment,
            newest_number,
            closed_s,
            is_trimmed,
            plan_s,
            policy,
        );
        match plan {
            Plan::Keep(_) => return None,
            Plan::OffloadAndTrim => tables.offload(segment.num),
            Plan::Trim => {}
        }
        let machine = Hashed::new(Arc::new(Trim::begin(segment_start, fences)));
        Some(Self { segment_start, deleted_count: 0, machine })
    }

    /// Returns the trim after its next step, or `None` if the trim has finished. The deletion of
    /// one entry is a step.
    #[must_use]
    pub fn step(&self, tables: &mut Tables, now_s: u64) -> Option<Self> {
        let (trim, action) = &*self.machine;
        if let retention::TrimAction::Delete { positions } = action
            && let Some(position) = positions.get(self.deleted_count)
        {
            tables.delete(*position);
            return Some(Self { deleted_count: self.deleted_count + 1, ..self.clone() });
        }
        let event = self.execute(tables)?;
        let (trim, action) = trim.clone().step(event, now_s);
        if matches!(action, retention::TrimAction::Finish(_)) {
            return None;
        }
        let machine = Hashed::new(Arc::new((trim, action)));
        Some(Self { segment_start: self.segment_start, deleted_count: 0, machine })
    }

    /// Executes the pending request and returns the result, or `None` if the trim has finished. The
    /// entries of a delete request must already be deleted.
    fn execute(&self, tables: &mut Tables) -> Option<retention::TrimEvent> {
        use retention::{TrimAction, TrimEvent};
        let (_, action) = &*self.machine;
        Some(match action {
            TrimAction::ReadLast => {
                let last_entry = tables.segment_entries(self.segment_start.segment()).next_back();
                TrimEvent::Last(last_entry.map(|entry| Arc::clone(entry.shared())))
            }
            TrimAction::CheckOffloaded { last } => {
                if tables.is_offload_complete(*last) {
                    TrimEvent::OffloadedIsComplete
                } else {
                    TrimEvent::OffloadedIsIncomplete
                }
            }
            TrimAction::Mark { trimmed_s } => {
                tables.mark_trimmed(self.segment_start, *trimmed_s);
                TrimEvent::Marked
            }
            TrimAction::Read { from } => {
                TrimEvent::Page { entries: tables.read(*from, View::Now), has_more: false }
            }
            TrimAction::Delete { .. } => TrimEvent::Deleted,
            TrimAction::Finish(_) => return None,
        })
    }
}
