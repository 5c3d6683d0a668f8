//! The purge against a segment in memory, with a crash after each step.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::log;
use crate::entry::{Content, Entry};
use crate::limits::PURGE_FENCE_S;
use crate::position::Position;
use crate::retention::{Action, Event, Fences, Purge, PurgeRefusal, Purged};

const CLOSED_S: u64 = 1_000;
const LATER_S: u64 = CLOSED_S + PURGE_FENCE_S;

fn at(num: u32) -> Position {
    Position::new(3, num).unwrap()
}

/// A segment, and whether its archive is whole.
#[derive(Clone)]
struct World {
    entries: BTreeMap<Position, Arc<Entry>>,
    archived: bool,
    page_entries: usize,
    deletes: Vec<Position>,
}

impl World {
    /// Entries 0 to `last`, the last of which is an End Segment.
    fn new(last: u32) -> Self {
        let first = Entry { position: at(0), ..Entry::first(log(), None, CLOSED_S) };
        let mut entries: BTreeMap<_, _> = (0..=last)
            .map(|num| (at(num), Arc::new(Entry { position: at(num), ..first.clone() })))
            .collect();
        let end = Entry { position: at(last), content: Content::EndSegment, ..first };
        entries.insert(at(last), Arc::new(end));
        Self { entries, archived: true, page_entries: 3, deletes: Vec::new() }
    }

    fn perform(&mut self, action: Action) -> Event {
        match action {
            Action::ReadLast => Event::Last(self.entries.values().next_back().cloned()),
            Action::CheckArchive { .. } if self.archived => Event::ArchiveIsWhole,
            Action::CheckArchive { .. } => Event::ArchiveIsNotWhole,
            Action::Mark { purged_s } => {
                let content = Content::Snapshot { root: None, purged_s: Some(purged_s) };
                let first = self.entries[&at(0)].as_ref().clone();
                self.entries.insert(at(0), Arc::new(Entry { content, ..first }));
                Event::Marked
            }
            Action::Read { from } => {
                let mut rest = self.entries.range(from..).map(|(_, entry)| Arc::clone(entry));
                let entries = rest.by_ref().take(self.page_entries).collect();
                Event::Page { entries, more: rest.next().is_some() }
            }
            Action::Delete { positions } => {
                assert!(self.entries[&at(0)].is_purged(), "the mark comes first");
                assert!(positions.is_sorted());
                for position in &positions {
                    assert!(self.entries.remove(position).is_some());
                }
                self.deletes.extend(positions);
                Event::Deleted
            }
            Action::Finish(_) => panic!("nothing is left to do"),
        }
    }

    /// Purges, at most so many steps.
    fn purge(&mut self, now_s: u64, steps: usize) -> Option<Result<Purged, PurgeRefusal>> {
        let (mut purge, mut action) = Purge::begin(at(0), Fences::default());
        for _ in 0..steps {
            if let Action::Finish(result) = action {
                return Some(result);
            }
            (purge, action) = purge.step(self.perform(action), now_s);
        }
        None
    }

    #[track_caller]
    fn refused(mut self, now_s: u64) -> PurgeRefusal {
        let before = self.entries.clone();
        let refusal = self.purge(now_s, 100).unwrap().unwrap_err();
        assert_eq!(self.entries, before, "nothing was changed");
        refusal
    }

    #[track_caller]
    fn assert_purged(&self, last: u32) {
        assert_eq!(self.entries.keys().copied().collect::<Vec<_>>(), [at(0), at(last)]);
        assert!(self.entries[&at(0)].is_purged());
        assert!(matches!(self.entries[&at(last)].content, Content::EndSegment));
        assert!(self.deletes.is_sorted(), "in ascending order");
    }
}

#[test]
fn the_first_entry_and_the_end_segment_stay_over_any_pages() {
    for last in 1..12 {
        for page_entries in 1..6 {
            let mut world = World { page_entries, ..World::new(last) };
            let deleted = u64::from(last) - 1;
            assert_eq!(world.purge(LATER_S, 100), Some(Ok(Purged { deleted })));
            world.assert_purged(last);
            assert_eq!(world.purge(LATER_S, 100), Some(Ok(Purged { deleted: 0 })));
            world.assert_purged(last);
        }
    }
}

#[test]
fn the_fence_falls_at_its_second_and_not_before() {
    assert_eq!(World::new(4).refused(LATER_S - 1), PurgeRefusal::TooYoung);
    assert_eq!(World::new(4).refused(0), PurgeRefusal::TooYoung, "a clock that is behind");
    assert!(World::new(4).purge(LATER_S, 100).unwrap().is_ok());
}

#[test]
fn what_has_not_ended_or_is_not_archived_stays() {
    let mut open = World::new(4);
    open.entries.remove(&at(4));
    assert_eq!(open.clone().refused(LATER_S), PurgeRefusal::NotEnded);
    open.entries.clear();
    assert_eq!(open.refused(LATER_S), PurgeRefusal::NotEnded);
    let unarchived = World { archived: false, ..World::new(4) };
    assert_eq!(unarchived.refused(LATER_S), PurgeRefusal::NoArchive);
}

#[test]
fn a_crash_after_any_step_is_made_up_for_by_the_next_purge() {
    for steps in 0..12 {
        let mut world = World::new(9);
        let crashed = world.purge(LATER_S, steps).is_none();
        assert_eq!(crashed, steps < 10, "{steps}");
        assert_eq!(world.entries.keys().next(), Some(&at(0)));
        assert_eq!(world.entries.keys().next_back(), Some(&at(9)));
        let before = world.deletes.len();
        let deleted = u64::try_from(8 - before).unwrap();
        assert_eq!(world.purge(LATER_S + 1, 100), Some(Ok(Purged { deleted })));
        world.assert_purged(9);
    }
}

#[test]
fn a_store_that_fails_at_any_step_ends_the_purge() {
    for steps in 0.. {
        let mut world = World::new(9);
        let (mut purge, mut action) = Purge::begin(at(0), Fences::default());
        for _ in 0..steps {
            (purge, action) = purge.step(world.perform(action), LATER_S);
        }
        if matches!(action, Action::Finish(_)) {
            assert_eq!(action, Action::Finish(Ok(Purged { deleted: 8 })));
            return;
        }
        let (purge, action) = purge.step(Event::Failed, LATER_S);
        assert_eq!(action, Action::Finish(Err(PurgeRefusal::Store)));
        let (_, action) = purge.step(Event::Deleted, LATER_S);
        assert_eq!(action, Action::Finish(Err(PurgeRefusal::Store)));
    }
}

#[test]
fn what_came_behind_the_end_that_was_checked_is_left_alone() {
    let mut world = World::new(4);
    let (mut purge, mut action) = Purge::begin(at(0), Fences::default());
    while !matches!(action, Action::Mark { .. }) {
        (purge, action) = purge.step(world.perform(action), LATER_S);
    }
    let stray = Entry { position: at(5), ..Entry::first(log(), None, CLOSED_S) };
    world.entries.insert(at(5), Arc::new(stray));
    while !matches!(action, Action::Finish(_)) {
        (purge, action) = purge.step(world.perform(action), LATER_S);
    }
    assert_eq!(world.entries.keys().copied().collect::<Vec<_>>(), [at(0), at(4), at(5)]);
}

#[test]
fn the_first_entry_is_not_deleted_whatever_a_page_has() {
    let mut world = World::new(4);
    let (mut purge, mut action) = Purge::begin(at(0), Fences::default());
    while !matches!(action, Action::Read { .. }) {
        (purge, action) = purge.step(world.perform(action), LATER_S);
    }
    let entries = world.entries.values().cloned().collect();
    let (_, action) = purge.step(Event::Page { entries, more: false }, LATER_S);
    assert_eq!(action, Action::Delete { positions: vec![at(1), at(2), at(3)] });
}
