//! One append against a store that answers what it likes, for ever (I6).
//!
//! The store loses and refuses puts, fails to read, returns nothing, a hole, an entry more, an End
//! Segment or the mark of a trim: whatever it does, the append ends within its limits with a reply
//! or a typed refusal. The limits are smaller than those of production (`Rules::with_attempts`); the
//! machine counts in the same way.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, Inputs, NewMutation, Request, Rules};
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION, Header};
use cellar_log::invariants::Attempts;
use cellar_sheet::operation::{DeleteSheet, Operation, SheetId};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;

/// The attempts are counted.
pub const WITHIN_LIMITS: &str = "I6 attempts are within their limits";
/// An append that goes round in circles makes more steps than this.
pub const ENDS: &str = "I6 every append ends";
/// Entries that the store invents at most: the log that is read ends somewhere.
const MAX_INVENTED: u32 = 3;

/// The limits of the append.
#[derive(Debug, Clone, Copy)]
pub struct AttemptsModel {
    /// Puts of one entry.
    pub max_puts: u32,
    /// Failed reads.
    pub max_reads: u32,
    /// Steps from the beginning to the end.
    pub max_steps: u32,
}

/// An append on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    machine: Hashed<(Append, AppendAction)>,
    attempts: Attempts,
    invented: u32,
    steps: u32,
}

/// An answer of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer(AppendEvent);

fn entry(position: Position, content: Content) -> Arc<Entry> {
    let log = LogId::from_uuid(uuid::Uuid::nil());
    let header = Header::first(FIRST_INCARNATION);
    Arc::new(Entry { log, position, created_s: 0, author: None, header, content })
}

/// What may stand at `position`.
fn entries_at(position: Position) -> Vec<Arc<Entry>> {
    let snapshot = |trimmed_s| Content::Snapshot { root: None, trimmed_s };
    let contents = [snapshot(None), snapshot(Some(0)), Content::EndSegment];
    let contents = contents.into_iter().skip(usize::from(position.num() > 0));
    contents.map(|content| entry(position, content)).collect()
}

fn pages(from: Position, invents: bool) -> Vec<AppendEvent> {
    let page = |entries, more| AppendEvent::Page { entries, more };
    let mut pages = vec![page(Vec::new(), false), AppendEvent::ReadFailed { temporary: true }];
    if invents {
        let behind = from.next_in_segment().map(entries_at).unwrap_or_default();
        pages.extend(behind.into_iter().take(1).map(|hole| page(vec![hole], false)));
        for entry in entries_at(from) {
            pages.extend([page(vec![Arc::clone(&entry)], false), page(vec![entry], true)]);
        }
    }
    pages
}

impl State {
    fn answers(&self) -> Vec<AppendEvent> {
        let invents = self.invented < MAX_INVENTED;
        match &self.machine.1 {
            AppendAction::Read { from, .. } => pages(*from, invents),
            AppendAction::Put { entry } => {
                let winners = entries_at(entry.position).into_iter();
                let refused = winners.map(|winner| AppendEvent::PutRefused { winner });
                let others =
                    [AppendEvent::PutAccepted, AppendEvent::PutUnknown, AppendEvent::PutFailed];
                refused.chain(others).collect()
            }
            AppendAction::FindNewestSegment => {
                let found = [None, Some(0), Some(1)].map(AppendEvent::NewestSegment);
                found.into_iter().chain([AppendEvent::ReadFailed { temporary: true }]).collect()
            }
            AppendAction::ReadState { .. } => {
                vec![AppendEvent::State(None), AppendEvent::ReadFailed { temporary: true }]
            }
            AppendAction::Wait { .. } => vec![AppendEvent::Waited],
            AppendAction::Finish(_) => Vec::new(),
        }
    }

    fn is_finished(&self) -> bool {
        matches!(self.machine.1, AppendAction::Finish(_))
    }
}

fn inputs() -> Inputs {
    Inputs { now_s: 0, random: 0 }
}

impl Model for AttemptsModel {
    type State = State;
    type Action = Answer;

    fn init_states(&self) -> Vec<State> {
        let operation = Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST });
        let mutation = NewMutation { id: 1, base: Position::FIRST, operation };
        let log = LogId::from_uuid(uuid::Uuid::nil());
        let client = ClientKey([1; 8]);
        let request = Request::new(log, client, None, FIRST_INCARNATION, 0, vec![mutation]);
        let rules = Rules::with_attempts(self.max_puts, self.max_reads);
        let begun = request.map(|request| Append::begin_with(rules, request, &[], inputs()));
        let state = |machine| State {
            machine: Hashed::new(Arc::new(machine)),
            attempts: Attempts::default(),
            invented: 0,
            steps: 0,
        };
        begun.into_iter().map(state).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Answer>) {
        if state.steps <= self.max_steps {
            actions.extend(state.answers().into_iter().map(Answer));
        }
    }

    fn next_state(&self, state: &State, Answer(event): Answer) -> Option<State> {
        let mut attempts = state.attempts;
        attempts.record(&event);
        let invented = matches!(&event, AppendEvent::Page { entries, .. } if !entries.is_empty());
        let machine = state.machine.0.clone().step(event, inputs());
        Some(State {
            machine: Hashed::new(Arc::new(machine)),
            attempts,
            invented: state.invented + u32::from(invented),
            steps: state.steps + 1,
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(WITHIN_LIMITS, |model: &Self, state: &State| {
                state.attempts.check_within(model.max_puts, model.max_reads).is_ok()
            }),
            Property::always(ENDS, |model: &Self, state: &State| {
                state.steps < model.max_steps || state.is_finished()
            }),
            Property::sometimes("an append ends", |_, state: &State| state.is_finished()),
        ]
    }
}
