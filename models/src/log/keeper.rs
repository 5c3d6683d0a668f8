//! Whoever rolls and trims.

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

/// A roll on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rolling {
    /// When it decided what it wants, Unix seconds.
    pub decided_s: u64,
    machine: Hashed<(Roll, roll::RollAction)>,
}

impl Rolling {
    /// Begins behind `tail`.
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

    /// What it wants next.
    #[must_use]
    pub fn action(&self) -> &roll::RollAction {
        &self.machine.1
    }

    /// Takes the next step; `None` at the end.
    #[must_use]
    pub fn step(&self, event: roll::RollEvent, now_s: u64) -> Option<Self> {
        let next = self.machine.0.clone().step(event, Inputs { now_s, random: 0 });
        let next = Self::new(next, now_s);
        (!matches!(next.action(), roll::RollAction::Finish(_))).then_some(next)
    }

    /// What came of its action, if all goes well.
    #[must_use]
    pub fn performed(&self, tables: &mut Tables) -> roll::RollEvent {
        match self.action() {
            roll::RollAction::ReadNewestSegment => {
                roll::RollEvent::NewestSegment(tables.newest_segment().cloned())
            }
            roll::RollAction::Read { from } => {
                roll::RollEvent::Page { entries: tables.read(*from, View::Now), more: false }
            }
            roll::RollAction::Transact(transaction) => match tables.transact(transaction) {
                true => roll::RollEvent::Accepted,
                false => roll::RollEvent::Refused,
            },
            roll::RollAction::Wait { .. } | roll::RollAction::Finish(_) => roll::RollEvent::Waited,
        }
    }
}

/// A trim on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Trimming {
    segment_start: Position,
    /// How many entries of what it wants to delete are gone.
    deleted: usize,
    machine: Hashed<(Trim, retention::TrimAction)>,
}

impl Trimming {
    /// Begins to offload and trim the first segment, if the plan says so.
    #[must_use]
    pub fn begin(tables: &mut Tables, fences: Fences, now_s: u64) -> Option<Self> {
        let segment_start = Position::FIRST;
        let newest = tables.newest_segment()?.num;
        let segment = tables.segment(segment_start.segment())?.clone();
        let closed_s = tables.segment(segment.num + 1)?.created_s;
        let trimmed = tables.segment_entries(segment.num).count() <= 2;
        let policy = Policy { offload_after_days: 0, keep_segments: 0 };
        // Without the fence of age the plan has none either.
        let now_s = if fences.age { now_s } else { now_s + TRIM_FENCE_S };
        match retention::plan(&segment, newest, closed_s, trimmed, now_s, policy) {
            Plan::Keep(_) => return None,
            Plan::OffloadAndTrim => tables.offload(segment.num),
            Plan::Trim => {}
        }
        let machine = Hashed::new(Arc::new(Trim::begin(segment_start, fences)));
        Some(Self { segment_start, deleted: 0, machine })
    }

    /// Takes the next step; entries are deleted one by one. `None` at the end.
    #[must_use]
    pub fn step(&self, tables: &mut Tables, now_s: u64) -> Option<Self> {
        use retention::{TrimAction as Action, TrimEvent as Event};
        let event = match &self.machine.1 {
            Action::ReadLast => {
                let last = tables.segment_entries(self.segment_start.segment()).next_back();
                Event::Last(last.map(|last| Arc::clone(last.shared())))
            }
            Action::CheckOffloaded { last } => match tables.offloaded_is_whole(*last) {
                true => Event::OffloadedIsComplete,
                false => Event::OffloadedIsDamaged,
            },
            Action::Mark { trimmed_s } => {
                tables.mark(self.segment_start, *trimmed_s);
                Event::Marked
            }
            Action::Read { from } => {
                Event::Page { entries: tables.read(*from, View::Now), more: false }
            }
            Action::Delete { positions } => match positions.get(self.deleted) {
                Some(position) => {
                    tables.delete(*position);
                    return Some(Self { deleted: self.deleted + 1, ..self.clone() });
                }
                None => Event::Deleted,
            },
            Action::Finish(_) => return None,
        };
        let machine = self.machine.0.clone().step(event, now_s);
        let machine = Hashed::new(Arc::new(machine));
        let next = Self { segment_start: self.segment_start, deleted: 0, machine };
        (!matches!(next.machine.1, Action::Finish(_))).then_some(next)
    }
}
