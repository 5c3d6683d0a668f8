//! A forward read over a log that grows and rolls meanwhile (I2).
//!
//! The log grows by `S E E X`, `S E`; every eventually consistent read may see any prefix or a hole,
//! and a consistent one an End Segment before the segment behind it. Pages hold one entry or more.
//! A client that has read to the end reads on, and must reach what it was told of.

use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::append::Inputs;
use cellar_log::entry::Entry;
use cellar_log::forward_read::{ForwardRead, ReadStep};
use cellar_log::invariants::check_prefix;
use cellar_log::roll::{self, Roll};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;
use crate::log::{Stored, Tables, View};

/// I2, of what a reader sees.
pub const PREFIX: &str = "I2 what was read is the beginning of the log";
/// Nothing is wrong with this log.
pub const SOUND: &str = "a sound log is never called corrupt";
/// A client that was told of a position does not read less.
pub const REACHES: &str = "a read reaches what it must";

/// The bounds.
#[derive(Debug, Clone, Copy)]
pub struct ReaderModel {
    /// Entries of a page.
    pub page_entries: usize,
    /// Entries by which the log grows; it rolls behind the second.
    pub growth: u32,
    /// Consistent reads that see only one side of a transaction.
    pub torn: u32,
}

/// A reader and the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    tables: Arc<Tables>,
    grown: u32,
    torn: u32,
    read: Hashed<(ForwardRead, ReadStep)>,
    must_reach: Option<Position>,
    seen: Vec<Stored>,
}

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Another entry, or a roll.
    Grow,
    /// A page is read.
    Page(View),
    /// The end was reached: the client is told of the tail, and reads on.
    Again,
}

fn hashed(read: ForwardRead, step: ReadStep) -> Hashed<(ForwardRead, ReadStep)> {
    Hashed::new(Arc::new((read, step)))
}

impl State {
    fn grow(&mut self) {
        self.grown += 1;
        let Some(tail) = self.tables.tail().map(|tail| Arc::clone(tail.shared())) else { return };
        let tables = Arc::make_mut(&mut self.tables);
        if self.grown == 3 {
            let inputs = Inputs { now_s: 0, random: 0 };
            let newest = roll::RollEvent::NewestSegment(tables.newest_segment().cloned());
            let (_, action) = Roll::begin(tail).0.step(newest, inputs);
            if let roll::RollAction::Transact(transaction) = action {
                tables.transact(&transaction);
            }
        } else if let Some(position) = tail.next_position() {
            // What an entry says is of no matter: one more place for a snapshot.
            drop(tables.put(&Arc::new(Entry { position, ..Entry::clone(&tail) })));
        }
    }

    fn page(&mut self, view: View, page_entries: usize) {
        let (mut read, step) = *self.read;
        let (ReadStep::Read { from, .. } | ReadStep::ReadLater { from, .. }) = step else { return };
        let mut entries = self.tables.read(from, view);
        let more = entries.len() > page_entries;
        entries.truncate(page_entries);
        let mut whole = true;
        for entry in &entries {
            whole = read.add_entry(entry);
            if !whole {
                break;
            }
            self.seen.push(Hashed::new(Arc::clone(entry)));
        }
        let step = read.after_page(whole, entries.is_empty(), more);
        self.read = hashed(read, step);
    }

    fn prefix_holds(&self) -> bool {
        let seen: Vec<_> = self.seen.iter().map(|entry| Arc::clone(entry.shared())).collect();
        check_prefix(&seen, &self.tables.readable()).is_ok()
    }
}

impl Model for ReaderModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let read = ForwardRead::begin(Position::FIRST, None);
        vec![State {
            tables: Arc::new(Tables::created()),
            grown: 0,
            torn: self.torn,
            read: hashed(read, read.read()),
            must_reach: None,
            seen: Vec::new(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.grown < self.growth {
            actions.push(Action::Grow);
        }
        match state.read.1 {
            ReadStep::Read { from, consistent: false } => {
                let views = state.tables.stale_views(from).into_iter().chain([View::Now]);
                actions.extend(views.map(Action::Page));
            }
            ReadStep::Read { from, .. } | ReadStep::ReadLater { from, .. } => {
                actions.push(Action::Page(View::Now));
                let torn = state.tables.torn_view(from).filter(|_| state.torn > 0);
                actions.extend(torn.map(Action::Page));
            }
            ReadStep::End => actions.push(Action::Again),
            ReadStep::Corrupt { .. } => {}
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Grow => next.grow(),
            Action::Page(view) => {
                let consistent = !matches!(state.read.1, ReadStep::Read { consistent: false, .. });
                next.torn -= u32::from(consistent && view != View::Now);
                next.page(view, self.page_entries);
            }
            Action::Again => {
                let from = match next.seen.last() {
                    Some(last) => last.next_position()?,
                    None => Position::FIRST,
                };
                next.must_reach = next.tables.tail().map(|tail| tail.position);
                let read = ForwardRead::begin(from, next.must_reach);
                next.read = hashed(read, read.read());
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(PREFIX, |_, state: &State| state.prefix_holds()),
            Property::always(SOUND, |_, state: &State| {
                !matches!(state.read.1, ReadStep::Corrupt { .. })
            }),
            Property::always(REACHES, |_, state: &State| {
                let last = state.seen.last().map(|last| last.position);
                state.read.1 != ReadStep::End || last >= state.must_reach
            }),
            Property::sometimes("everything was read", |model: &Self, state: &State| {
                state.grown == model.growth && state.seen.len() == state.tables.entries().len()
            }),
        ]
    }
}
