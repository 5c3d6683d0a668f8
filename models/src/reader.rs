//! Model of a forward read of a log that grows and rolls during the read (invariant I2).
//!
//! The log consists of the segments `S E E X` and `S E`. `S` is a Snapshot entry, `E` is an entry
//! with edits, and `X` is the End Segment that closes a segment. An eventually consistent read may
//! return any prefix, or a prefix with a hole. A strongly consistent read may see an End Segment
//! before it sees the next segment. A page contains one or more entries. A client that has reached
//! the end of the log reads again and must reach the latest position that it knows.

use std::sync::Arc;

use cellar_base::consistency::ReadConsistency;
use cellar_base::position::Position;
use cellar_log::append::Inputs;
use cellar_log::entry::Entry;
use cellar_log::forward_read::{AddedPage, ForwardRead, ReadStep};
use cellar_log::invariants::check_prefix;
use cellar_log::roll::{self, Roll};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;
use crate::log::{Stored, Tables, View};

/// Invariant I2: the entries that a reader has read are a prefix of the log.
pub const PREFIX: &str = "I2 the entries read are a prefix of the log";
/// Property: the reader never reports corruption. The log in the model is never corrupt.
pub const SOUND: &str = "no read reports corruption";
/// Property: a client that knows a position eventually reads the log up to this position.
pub const REACHES: &str = "a read reaches the newest position that the client knows";

/// The number of the growth step in which the log starts a new segment instead of growing by an
/// entry.
const ROLL_STEP: u32 = 3;

/// Bounds of the reader model.
#[derive(Debug, Clone, Copy)]
pub struct ReaderModel {
    /// Maximum number of entries per page.
    pub page_entries: usize,
    /// The number of times that the log grows. One of them is a roll, which starts a new segment.
    pub growth: u32,
    /// The maximum number of strongly consistent reads that see only a part of the transaction of a
    /// roll.
    pub torn: u32,
}

/// State of the reader and the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    tables: Arc<Tables>,
    growth_steps: u32,
    torn_reads: u32,
    read: Hashed<RunningRead>,
    /// The newest position of the log when the current read began, or `None` during the first read.
    known_tail: Option<Position>,
    entries_read: Vec<Stored>,
}

#[derive(Debug, Clone, Copy)]
struct RunningRead {
    read: ForwardRead,
    next_step: ReadStep,
}

/// A transition of the reader model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderAction {
    /// The log grows by one entry or rolls.
    Grow,
    /// The reader receives a page.
    ReadPage(View),
    /// The reader has reached the end of the log. It learns the newest position and starts another
    /// read.
    ReadAgain,
}

impl RunningRead {
    fn begin(from: Position, known_tail: Option<Position>) -> Hashed<Self> {
        let read = ForwardRead::begin(from, known_tail);
        Hashed::new(Arc::new(Self { read, next_step: read.read_next_page() }))
    }
}

impl State {
    fn grow(&mut self) {
        self.growth_steps += 1;
        let Some(tail) = self.tables.tail().map(|tail| Arc::clone(tail.shared())) else { return };
        let tables = Arc::make_mut(&mut self.tables);
        if self.growth_steps == ROLL_STEP {
            roll(tables, tail);
        } else if let Some(position) = tail.next_position() {
            // The new entry is a copy of the newest entry at the next position. The model ignores
            // its content.
            let new_entry = Arc::new(Entry { position, ..Entry::clone(&tail) });
            let _ = tables.put(&new_entry);
        }
    }

    fn read_page(&mut self, view: View, page_entries: usize) {
        let RunningRead { mut read, next_step } = *self.read;
        let (ReadStep::Read { from, .. } | ReadStep::ReadLater { from, .. }) = next_step else {
            return;
        };
        let mut entries = self.tables.read(from, view);
        let has_more = entries.len() > page_entries;
        entries.truncate(page_entries);
        let mut is_contiguous = true;
        for entry in &entries {
            is_contiguous = read.add_entry(entry);
            if !is_contiguous {
                break;
            }
            self.entries_read.push(Hashed::new(Arc::clone(entry)));
        }
        let page = AddedPage { is_contiguous, is_empty: entries.is_empty(), has_more };
        let next_step = read.step_after_page(page);
        self.read = Hashed::new(Arc::new(RunningRead { read, next_step }));
    }

    /// The new read must reach the newest position of the log.
    fn read_again(&mut self) -> Option<()> {
        let from = match self.entries_read.last() {
            Some(last_entry) => last_entry.next_position()?,
            None => Position::FIRST,
        };
        self.known_tail = self.tables.tail().map(|tail| tail.position);
        self.read = RunningRead::begin(from, self.known_tail);
        Some(())
    }

    fn has_read_prefix(&self) -> bool {
        let entries_read: Vec<_> =
            self.entries_read.iter().map(|entry| Arc::clone(entry.shared())).collect();
        check_prefix(&entries_read, &self.tables.readable()).is_ok()
    }

    /// Always returns `true` while the read is running.
    fn has_reached_known_tail(&self) -> bool {
        let last_position = self.entries_read.last().map(|entry| entry.position);
        self.read.next_step != ReadStep::End || last_position >= self.known_tail
    }
}

fn roll(tables: &mut Tables, tail: Arc<Entry>) {
    let inputs = Inputs { now_s: 0, random: 0 };
    let newest_segment = roll::RollEvent::NewestSegment(tables.newest_segment().cloned());
    let (roll, _) = Roll::begin(tail);
    let (_, action) = roll.step(newest_segment, inputs);
    if let roll::RollAction::Transact(transaction) = action {
        tables.transact(&transaction);
    }
}

impl Model for ReaderModel {
    type State = State;
    type Action = ReaderAction;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            tables: Arc::new(Tables::created()),
            growth_steps: 0,
            torn_reads: self.torn,
            read: RunningRead::begin(Position::FIRST, None),
            known_tail: None,
            entries_read: Vec::new(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<ReaderAction>) {
        if state.growth_steps < self.growth {
            actions.push(ReaderAction::Grow);
        }
        match state.read.next_step {
            ReadStep::Read { from, consistency: ReadConsistency::Eventual } => {
                let stale_views = state.tables.stale_views(from);
                actions.extend(stale_views.into_iter().map(ReaderAction::ReadPage));
                actions.push(ReaderAction::ReadPage(View::Now));
            }
            ReadStep::Read { from, consistency: ReadConsistency::Strong }
            | ReadStep::ReadLater { from, .. } => {
                actions.push(ReaderAction::ReadPage(View::Now));
                if state.torn_reads > 0 {
                    let torn_view = state.tables.torn_view(from);
                    actions.extend(torn_view.map(ReaderAction::ReadPage));
                }
            }
            ReadStep::End => actions.push(ReaderAction::ReadAgain),
            ReadStep::Corrupt { .. } => {}
        }
    }

    fn next_state(&self, state: &State, action: ReaderAction) -> Option<State> {
        let mut new_state = state.clone();
        match action {
            ReaderAction::Grow => new_state.grow(),
            ReaderAction::ReadPage(view) => {
                let is_consistent = !matches!(
                    state.read.next_step,
                    ReadStep::Read { consistency: ReadConsistency::Eventual, .. }
                );
                if is_consistent && view != View::Now {
                    new_state.torn_reads -= 1;
                }
                new_state.read_page(view, self.page_entries);
            }
            ReaderAction::ReadAgain => new_state.read_again()?,
        }
        Some(new_state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(PREFIX, |_, state: &State| state.has_read_prefix()),
            Property::always(SOUND, |_, state: &State| {
                !matches!(state.read.next_step, ReadStep::Corrupt { .. })
            }),
            Property::always(REACHES, |_, state: &State| state.has_reached_known_tail()),
            Property::sometimes("all entries were read", |model: &Self, state: &State| {
                state.growth_steps == model.growth
                    && state.entries_read.len() == state.tables.entries().len()
            }),
        ]
    }
}
