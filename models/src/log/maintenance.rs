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

/// A running roll.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rolling {
    /// Unix time in seconds at which the roll issued its pending request.
    pub decided_s: u64,
    machine: Hashed<(Roll, roll::RollAction)>,
}

impl Rolling {
    /// Starts a roll after the entry `tail`.
    #[must_use]
    pub fn begin(tail: &Arc<Entry>, now_s: u64) -> Self {
        Self::new(Roll::begin(Arc::clone(tail)), now_s)
    }

    fn new(mut machine: (Roll, roll::RollAction), now_s: u64) -> Self {
        let inputs = Inputs { now_s, random: 0 };
        while matches!(machine.1, roll::RollAction::Wait { .. }) {
            machine = machine.0.step(roll::RollEvent::Waited, inputs);
        }
        Self { decided_s: now_s, machine: Hashed::new(Arc::new(machine)) }
    }

    /// Returns the pending request.
    #[must_use]
    pub fn action(&self) -> &roll::RollAction {
        &self.machine.1
    }

    /// Advances the roll by one step. Returns `None` once it has finished.
    #[must_use]
    pub fn step(&self, event: roll::RollEvent, now_s: u64) -> Option<Self> {
        let next = self.machine.0.clone().step(event, Inputs { now_s, random: 0 });
        let next = Self::new(next, now_s);
        if matches!(next.action(), roll::RollAction::Finish(_)) {
            return None;
        }
        Some(next)
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
    /// Number of entries already deleted by the pending delete request.
    deleted: usize,
    machine: Hashed<(Trim, retention::TrimAction)>,
}

impl Trimming {
    /// Offloads the first segment and starts its trim, if the retention plan allows it.
    #[must_use]
    pub fn begin(tables: &mut Tables, fences: Fences, now_s: u64) -> Option<Self> {
        let segment_start = Position::FIRST;
        let newest = tables.newest_segment()?.num;
        let segment = tables.segment(segment_start.segment())?.clone();
        let closed_s = tables.segment(segment.num + 1)?.created_s;
        let is_trimmed = tables.segment_entries(segment.num).count() <= 2;
        let policy = Policy { offload_after_days: 0, keep_segments: 0 };
        // The trim does not wait if the age fence is disabled, so the plan must not wait either.
        let now_s = if fences.age { now_s } else { now_s + TRIM_FENCE_S };
        match retention::plan_retention(&segment, newest, closed_s, is_trimmed, now_s, policy) {
            Plan::Keep(_) => return None,
            Plan::OffloadAndTrim => tables.offload(segment.num),
            Plan::Trim => {}
        }
        let machine = Hashed::new(Arc::new(Trim::begin(segment_start, fences)));
        Some(Self { segment_start, deleted: 0, machine })
    }

    /// Advances the trim by one step or deletes one entry. Returns `None` once the trim has
    /// finished.
    #[must_use]
    pub fn step(&self, tables: &mut Tables, now_s: u64) -> Option<Self> {
        use retention::{TrimAction, TrimEvent};
        let event = match &self.machine.1 {
            TrimAction::ReadLast => {
                let last = tables.segment_entries(self.segment_start.segment()).next_back();
                TrimEvent::Last(last.map(|last| Arc::clone(last.shared())))
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
            TrimAction::Delete { positions } => match positions.get(self.deleted) {
                Some(position) => {
                    tables.delete(*position);
                    return Some(Self { deleted: self.deleted + 1, ..self.clone() });
                }
                None => TrimEvent::Deleted,
            },
            TrimAction::Finish(_) => return None,
        };
        let machine = self.machine.0.clone().step(event, now_s);
        let machine = Hashed::new(Arc::new(machine));
        let next = Self { segment_start: self.segment_start, deleted: 0, machine };
        if matches!(next.machine.1, TrimAction::Finish(_)) {
            return None;
        }
        Some(next)
    }
}
