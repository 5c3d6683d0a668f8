//! The trim on a segment in memory, with a crash after each step.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::log;
use crate::entry::{Content, Entry};
use crate::{
    retention::Fences, retention::Trim, retention::TrimAction, retention::TrimEvent,
    retention::TrimRefusal, retention::Trimmed,
};
use cellar_base::limits::TRIM_FENCE_S;
use cellar_base::position::Position;

const CLOSED_S: u64 = 1_000;
const LATER_S: u64 = CLOSED_S + TRIM_FENCE_S;

fn at(num: u32) -> Position {
    Position::new(3, num).unwrap()
}

/// A segment in memory.
#[derive(Clone)]
struct World {
    entries: BTreeMap<Position, Arc<Entry>>,
    /// Whether the offloaded copy is complete.
    offloaded: bool,
    page_entries: usize,
    deletes: Vec<Position>,
}

impl World {
    /// Creates a segment with entries 0 to `last`, which is the End Segment.
    fn new(last: u32) -> Self {
        let first = Entry { position: at(0), ..Entry::first(log(), None, CLOSED_S) };
        let mut entries: BTreeMap<_, _> = (0..=last)
            .map(|num| (at(num), Arc::new(Entry { position: at(num), ..first.clone() })))
            .collect();
        let end = Entry { position: at(last), content: Content::EndSegment, ..first };
        entries.insert(at(last), Arc::new(end));
        Self { entries, offloaded: true, page_entries: 3, deletes: Vec::new() }
    }

    fn perform(&mut self, action: TrimAction) -> TrimEvent {
        match action {
            TrimAction::ReadLast => TrimEvent::Last(self.entries.values().next_back().cloned()),
            TrimAction::CheckOffloaded { .. } if self.offloaded => TrimEvent::OffloadedIsComplete,
            TrimAction::CheckOffloaded { .. } => TrimEvent::OffloadedIsIncomplete,
            TrimAction::Mark { trimmed_s } => {
                let content = Content::Snapshot { root: None, trimmed_s: Some(trimmed_s) };
                let first = self.entries[&at(0)].as_ref().clone();
                self.entries.insert(at(0), Arc::new(Entry { content, ..first }));
                TrimEvent::Marked
            }
            TrimAction::Read { from } => {
                let mut rest = self.entries.range(from..).map(|(_, entry)| Arc::clone(entry));
                let entries = rest.by_ref().take(self.page_entries).collect();
                TrimEvent::Page { entries, has_more: rest.next().is_some() }
            }
            TrimAction::Delete { positions } => {
                assert!(self.entries[&at(0)].is_trimmed(), "the mark comes first");
                assert!(positions.is_sorted());
                for position in &positions {
                    assert!(self.entries.remove(position).is_some());
                }
                self.deletes.extend(positions);
                TrimEvent::Deleted
            }
            TrimAction::Finish(_) => panic!("nothing is left to do"),
        }
    }

    /// Runs a trim for at most `steps` steps, or `None` if it has not finished.
    fn trim(&mut self, now_s: u64, steps: usize) -> Option<Result<Trimmed, TrimRefusal>> {
        let (mut trim, mut action) = Trim::begin(at(0), Fences::default());
        for _ in 0..steps {
            if let TrimAction::Finish(result) = action {
                return Some(result);
            }
            (trim, action) = trim.step(self.perform(action), now_s);
        }
        None
    }

    #[track_caller]
    fn refused(mut self, now_s: u64) -> TrimRefusal {
        let before = self.entries.clone();
        let refusal = self.trim(now_s, 100).unwrap().unwrap_err();
        assert_eq!(self.entries, before, "nothing was changed");
        refusal
    }

    #[track_caller]
    fn assert_trimmed(&self, last: u32) {
        assert_eq!(self.entries.keys().copied().collect::<Vec<_>>(), [at(0), at(last)]);
        assert!(self.entries[&at(0)].is_trimmed());
        assert!(matches!(self.entries[&at(last)].content, Content::EndSegment));
        assert!(self.deletes.is_sorted(), "in ascending order");
    }
}

#[test]
fn keeps_the_first_entry_and_the_end_segment_with_any_page_size() {
    for last in 1..12 {
        for page_entries in 1..6 {
            let mut world = World { page_entries, ..World::new(last) };
            let deleted = u64::from(last) - 1;
            assert_eq!(world.trim(LATER_S, 100), Some(Ok(Trimmed { deleted })));
            world.assert_trimmed(last);
            assert_eq!(world.trim(LATER_S, 100), Some(Ok(Trimmed { deleted: 0 })));
            world.assert_trimmed(last);
        }
    }
}

#[test]
fn trims_at_the_fence_and_not_before() {
    assert_eq!(World::new(4).refused(LATER_S - 1), TrimRefusal::TooYoung);
    assert_eq!(World::new(4).refused(0), TrimRefusal::TooYoung, "a slow clock");
    assert!(World::new(4).trim(LATER_S, 100).unwrap().is_ok());
}

#[test]
fn keeps_segments_that_have_not_ended_or_are_not_offloaded() {
    let mut open = World::new(4);
    open.entries.remove(&at(4));
    assert_eq!(open.clone().refused(LATER_S), TrimRefusal::NotEnded);
    open.entries.clear();
    assert_eq!(open.refused(LATER_S), TrimRefusal::NotEnded);
    let unoffloaded = World { offloaded: false, ..World::new(4) };
    assert_eq!(unoffloaded.refused(LATER_S), TrimRefusal::NotOffloaded);
}

#[test]
fn the_next_trim_completes_after_a_crash_at_any_step() {
    for steps in 0..12 {
        let mut world = World::new(9);
        let crashed = world.trim(LATER_S, steps).is_none();
        assert_eq!(crashed, steps < 10, "{steps}");
        assert_eq!(world.entries.keys().next(), Some(&at(0)));
        assert_eq!(world.entries.keys().next_back(), Some(&at(9)));
        let before = world.deletes.len();
        let deleted = u64::try_from(8 - before).unwrap();
        assert_eq!(world.trim(LATER_S + 1, 100), Some(Ok(Trimmed { deleted })));
        world.assert_trimmed(9);
    }
}

#[test]
fn a_store_failure_at_any_step_ends_the_trim() {
    for steps in 0.. {
        let mut world = World::new(9);
        let (mut trim, mut action) = Trim::begin(at(0), Fences::default());
        for _ in 0..steps {
            (trim, action) = trim.step(world.perform(action), LATER_S);
        }
        if matches!(action, TrimAction::Finish(_)) {
            assert_eq!(action, TrimAction::Finish(Ok(Trimmed { deleted: 8 })));
            return;
        }
        let (trim, action) = trim.step(TrimEvent::Failed, LATER_S);
        assert_eq!(action, TrimAction::Finish(Err(TrimRefusal::Store)));
        assert_unexpected(&trim.clone().step(TrimEvent::Deleted, LATER_S).1, "Finished", "Deleted");
        assert_unexpected(&trim.step(TrimEvent::Failed, LATER_S).1, "Finished", "Failed");
    }
}

#[track_caller]
fn assert_unexpected(action: &TrimAction, phase: &str, event: &str) {
    let TrimAction::Finish(Err(TrimRefusal::Unexpected(fault))) = action else {
        panic!("{action:?}")
    };
    assert_eq!((fault.phase, fault.event), (phase, event));
}

#[test]
fn an_event_that_does_not_fit_the_phase_is_no_store_failure() {
    let begin = || Trim::begin(at(0), Fences::default()).0;
    assert_unexpected(&begin().step(TrimEvent::Marked, LATER_S).1, "ReadingLast", "Marked");
    let mut world = World::new(4);
    let (trim, action) = Trim::begin(at(0), Fences::default());
    let (trim, _) = trim.step(world.perform(action), LATER_S);
    assert_unexpected(&trim.step(TrimEvent::Deleted, LATER_S).1, "CheckingOffloaded", "Deleted");
}

#[test]
fn keeps_entries_after_the_checked_end() {
    let mut world = World::new(4);
    let (mut trim, mut action) = Trim::begin(at(0), Fences::default());
    while !matches!(action, TrimAction::Mark { .. }) {
        (trim, action) = trim.step(world.perform(action), LATER_S);
    }
    let stray = Entry { position: at(5), ..Entry::first(log(), None, CLOSED_S) };
    world.entries.insert(at(5), Arc::new(stray));
    while !matches!(action, TrimAction::Finish(_)) {
        (trim, action) = trim.step(world.perform(action), LATER_S);
    }
    assert_eq!(world.entries.keys().copied().collect::<Vec<_>>(), [at(0), at(4), at(5)]);
}

#[test]
fn never_deletes_the_first_entry_of_a_page() {
    let mut world = World::new(4);
    let (mut trim, mut action) = Trim::begin(at(0), Fences::default());
    while !matches!(action, TrimAction::Read { .. }) {
        (trim, action) = trim.step(world.perform(action), LATER_S);
    }
    let entries = world.entries.values().cloned().collect();
    let (_, action) = trim.step(TrimEvent::Page { entries, has_more: false }, LATER_S);
    assert_eq!(action, TrimAction::Delete { positions: vec![at(1), at(2), at(3)] });
}
