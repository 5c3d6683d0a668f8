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

/// Number of entries that a trim leaves in a segment: the first entry and the End Segment (last
/// entry).
const TRIMMED_SEGMENT_ENTRIES: usize = 2;

/// A running roll.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rolling {
    /// Unix time in seconds at which the roll issued its pending request.
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

    fn new(roll: Roll, action: roll::RollAction, now_s: u64) -> Self {
        let (mut roll, mut action) = (roll, action);
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

    /// Advances the roll by one step. Returns `None` if it has finished.
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

    /// Executes the pending request without a fault. Returns its result.
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
    /// Number of entries that the pending delete request has already deleted.
    deleted_count: usize,
    machine: Hashed<(Trim, retention::TrimAction)>,
}

impl Trimming {
    /// Offloads the first segment and starts its trim, if the retention plan allows it.
    #[must_use]
    pub fn begin(tables: &mut Tables, fences: Fences, now_s: u64) -> Option<Self> {
        let segment_start = Position::FIRST;
        let newest_number = tables.newest_segment()?.num;
        let segment = tables.segment(segment_start.segment())?.clone();
        let closed_s = tables.segment(segment.num + 1)?.created_s;
        let entry_count = tables.segment_entries(segment.num).count();
        let is_trimmed = entry_count <= TRIMMED_SEGMENT_ENTRIES;
        let policy = Policy { offload_after_days: 0, keep_segments: 0 };
        // If the age fence is disabled, the trim does not wait for entries to age, so the plan must
        // not either.
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

    /// Advances the trim by one step or deletes one entry. Returns `None` if the trim has
    /// finished.
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

    /// Executes the pending request, whose deletions must already be complete. Returns its result,
    /// or `None` if the trim has finished.
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
