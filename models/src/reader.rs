//! Model of a forward read of a log that grows and rolls during the read (invariant I2).
//!
//! The log consists of the segments `S E E X` and `S E` (`S`: Snapshot entry, `E`: edits, `X`: End
//! Segment). An eventually consistent read may return any prefix, or a prefix with a hole. A
//! strongly consistent read may see an End Segment before the next segment. Pages contain one or
//! more entries. A client that has reached the end of the log reads again and must reach the latest
//! position that it knows.

use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::append::Inputs;
use cellar_log::entry::Entry;
use cellar_log::forward_read::{AddedPage, ForwardRead, ReadStep};
use cellar_log::invariants::check_prefix;
use cellar_log::roll::{self, Roll};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;
use crate::log::{Stored, Tables, View};

/// Invariant I2, checked on the entries that a reader has seen.
pub const PREFIX: &str = "I2 the entries read are a prefix of the log";
/// Property: the reader reports no corruption, because the modeled log is never corrupt.
pub const SOUND: &str = "no read reports corruption";
/// Property: a client that knows a position eventually reads up to it.
pub const REACHES: &str = "a read reaches the newest position that the client knows";

/// Growth step at which the log rolls.
const ROLL_AT: u32 = 3;

/// Bounds of the reader model.
#[derive(Debug, Clone, Copy)]
pub struct ReaderModel {
    /// Maximum number of entries per page.
    pub page_entries: usize,
    /// Number of growth steps of the log, one of which is a roll.
    pub growth: u32,
    /// Maximum number of strongly consistent reads that see only half of a roll's transaction.
    pub torn: u32,
}

/// State of the reader and the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    tables: Arc<Tables>,
    grown: u32,
    torn: u32,
    read: Hashed<(ForwardRead, ReadStep)>,
    must_reach: Option<Position>,
    seen: Vec<Stored>,
}

/// A transition of the reader model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderAction {
    /// The log grows by one entry or rolls.
    Grow,
    /// The reader receives a page.
    ReadPage(View),
    /// The reader has reached the end, learns the tail position, and reads again.
    ReadAgain,
}

fn hashed(read: ForwardRead, step: ReadStep) -> Hashed<(ForwardRead, ReadStep)> {
    Hashed::new(Arc::new((read, step)))
}

impl State {
    fn grow(&mut self) {
        self.grown += 1;
        let Some(tail) = self.tables.tail().map(|tail| Arc::clone(tail.shared())) else { return };
        let tables = Arc::make_mut(&mut self.tables);
        if self.grown == ROLL_AT {
            let inputs = Inputs { now_s: 0, random: 0 };
            let newest = roll::RollEvent::NewestSegment(tables.newest_segment().cloned());
            let (_, action) = Roll::begin(tail).0.step(newest, inputs);
            if let roll::RollAction::Transact(transaction) = action {
                tables.transact(&transaction);
            }
        } else if let Some(position) = tail.next_position() {
            // The content is irrelevant to the model: a copy of the tail at the next position
            // suffices.
            drop(tables.put(&Arc::new(Entry { position, ..Entry::clone(&tail) })));
        }
    }

    fn read_page(&mut self, view: View, page_entries: usize) {
        let (mut read, step) = *self.read;
        let (ReadStep::Read { from, .. } | ReadStep::ReadLater { from, .. }) = step else { return };
        let mut entries = self.tables.read(from, view);
        let has_more = entries.len() > page_entries;
        entries.truncate(page_entries);
        let mut is_contiguous = true;
        for entry in &entries {
            is_contiguous = read.add_entry(entry);
            if !is_contiguous {
                break;
            }
            self.seen.push(Hashed::new(Arc::clone(entry)));
        }
        let page = AddedPage { is_contiguous, is_empty: entries.is_empty(), has_more };
        let step = read.step_after_page(page);
        self.read = hashed(read, step);
    }

    fn has_read_prefix(&self) -> bool {
        let seen: Vec<_> = self.seen.iter().map(|entry| Arc::clone(entry.shared())).collect();
        check_prefix(&seen, &self.tables.readable()).is_ok()
    }
}

impl Model for ReaderModel {
    type State = State;
    type Action = ReaderAction;

    fn init_states(&self) -> Vec<State> {
        let read = ForwardRead::begin(Position::FIRST, None);
        vec![State {
            tables: Arc::new(Tables::created()),
            grown: 0,
            torn: self.torn,
            read: hashed(read, read.read_next_page()),
            must_reach: None,
            seen: Vec::new(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<ReaderAction>) {
        if state.grown < self.growth {
            actions.push(ReaderAction::Grow);
        }
        match state.read.1 {
            ReadStep::Read { from, consistent: false } => {
                let views = state.tables.stale_views(from).into_iter().chain([View::Now]);
                actions.extend(views.map(ReaderAction::ReadPage));
            }
            ReadStep::Read { from, .. } | ReadStep::ReadLater { from, .. } => {
                actions.push(ReaderAction::ReadPage(View::Now));
                if state.torn > 0 {
                    let torn_view = state.tables.torn_view(from);
                    actions.extend(torn_view.map(ReaderAction::ReadPage));
                }
            }
            ReadStep::End => actions.push(ReaderAction::ReadAgain),
            ReadStep::Corrupt { .. } => {}
        }
    }

    fn next_state(&self, state: &State, action: ReaderAction) -> Option<State> {
        let mut next = state.clone();
        match action {
            ReaderAction::Grow => next.grow(),
            ReaderAction::ReadPage(view) => {
                let consistent = !matches!(state.read.1, ReadStep::Read { consistent: false, .. });
                next.torn -= u32::from(consistent && view != View::Now);
                next.read_page(view, self.page_entries);
            }
            ReaderAction::ReadAgain => {
                let from = match next.seen.last() {
                    Some(last) => last.next_position()?,
                    None => Position::FIRST,
                };
                next.must_reach = next.tables.tail().map(|tail| tail.position);
                let read = ForwardRead::begin(from, next.must_reach);
                next.read = hashed(read, read.read_next_page());
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(PREFIX, |_, state: &State| state.has_read_prefix()),
            Property::always(SOUND, |_, state: &State| {
                !matches!(state.read.1, ReadStep::Corrupt { .. })
            }),
            Property::always(REACHES, |_, state: &State| {
                let last = state.seen.last().map(|last| last.position);
                state.read.1 != ReadStep::End || last >= state.must_reach
            }),
            Property::sometimes("all entries were read", |model: &Self, state: &State| {
                state.grown == model.growth && state.seen.len() == state.tables.entries().len()
            }),
        ]
    }
}
