//! Model of one append against an adversarial store (invariant I6).
//!
//! The store may lose or refuse puts, fail reads, and return empty pages, holes, invented entries,
//! End Segments (last entries of segments) and trim marks. The append must still terminate within
//! its limits, with a reply or a typed error. The limits are lower than in production
//! (`Rules::with_attempts`), but attempts are counted by the same state machine.

use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, Inputs, NewMutation, Request, Rules};
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION, Header};
use cellar_log::invariants::Attempts;
use cellar_sheet::operation::{DeleteSheet, Operation, SheetId};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;

/// Property: the append makes no more puts and reads than its limits allow.
pub const WITHIN_LIMITS: &str = "I6 attempts are within their limits";
/// Property: the append terminates within `max_steps`.
pub const ENDS: &str = "I6 every append ends";
/// Maximum number of entries that the store invents, which keeps the log finite.
const MAX_INVENTED: u32 = 3;
/// Constant inputs of every step: no decision of the append depends on the clock.
const INPUTS: Inputs = Inputs { now_s: 0, random: 0 };

/// The model's bounds.
#[derive(Debug, Clone, Copy)]
pub struct AttemptsModel {
    /// Maximum number of puts per entry.
    pub max_puts: u32,
    /// Maximum failed reads.
    pub max_reads: u32,
    /// Maximum number of steps of the append.
    pub max_steps: u32,
}

/// State of the append with its attempt counters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    machine: Hashed<(Append, AppendAction)>,
    attempts: Attempts,
    invented: u32,
    steps: u32,
}

/// The store's response to the append's pending request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer(AppendEvent);

fn entry(position: Position, content: Content) -> Arc<Entry> {
    let log = LogId::from_uuid(uuid::Uuid::nil());
    let header = Header::first(FIRST_INCARNATION);
    Arc::new(Entry { log, position, created_s: 0, author: None, header, content })
}

/// Returns the entries that the store may return for `position`.
fn possible_entries(position: Position) -> Vec<Arc<Entry>> {
    let trimmed = Content::Snapshot { root: None, trimmed_s: Some(0) };
    let mut contents = vec![trimmed, Content::EndSegment];
    if position.entry_number() == 0 {
        contents.insert(0, Content::Snapshot { root: None, trimmed_s: None });
    }
    contents.into_iter().map(|content| entry(position, content)).collect()
}

fn possible_read_answers(from: Position, can_invent: bool) -> Vec<AppendEvent> {
    let page = |entries, has_more| AppendEvent::Page { entries, has_more };
    let mut answers = vec![page(Vec::new(), false), AppendEvent::ReadFailed { temporary: true }];
    if !can_invent {
        return answers;
    }
    let entries_after_hole = from.next_in_segment().map(possible_entries).unwrap_or_default();
    if let Some(entry) = entries_after_hole.into_iter().next() {
        answers.push(page(vec![entry], false));
    }
    for entry in possible_entries(from) {
        answers.push(page(vec![Arc::clone(&entry)], false));
        answers.push(page(vec![entry], true));
    }
    answers
}

impl State {
    fn possible_answers(&self) -> Vec<AppendEvent> {
        let can_invent = self.invented < MAX_INVENTED;
        match &self.machine.1 {
            AppendAction::Read { from, .. } => possible_read_answers(*from, can_invent),
            AppendAction::Put { entry } => {
                let winners = possible_entries(entry.position).into_iter();
                let refusals = winners.map(|winner| AppendEvent::PutRefused { winner });
                let others =
                    [AppendEvent::PutAccepted, AppendEvent::PutUnknown, AppendEvent::PutFailed];
                refusals.chain(others).collect()
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
        let Ok(request) = request else { return Vec::new() };
        let machine = Append::begin_with_rules(rules, request, &[], INPUTS);
        vec![State {
            machine: Hashed::new(Arc::new(machine)),
            attempts: Attempts::default(),
            invented: 0,
            steps: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Answer>) {
        if state.steps <= self.max_steps {
            actions.extend(state.possible_answers().into_iter().map(Answer));
        }
    }

    fn next_state(&self, state: &State, Answer(event): Answer) -> Option<State> {
        let mut attempts = state.attempts;
        attempts.record(&event);
        let is_invention =
            matches!(&event, AppendEvent::Page { entries, .. } if !entries.is_empty());
        let machine = state.machine.0.clone().step(event, INPUTS);
        Some(State {
            machine: Hashed::new(Arc::new(machine)),
            attempts,
            invented: state.invented + u32::from(is_invention),
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
