//! Model of one append to an adversarial store (invariant I6).
//!
//! The store may lose or refuse puts, fail reads, and return empty pages or pages with holes. It
//! may invent entries, trim marks, and End Segments, which close a log segment. Nevertheless, the
//! append must terminate within its limits, with a reply or a typed error. The limits are lower
//! than in production (`Rules::with_attempts`), but the same state machine counts the attempts.

use std::sync::Arc;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, Inputs, NewMutation, Request, Rules};
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION};
use cellar_log::invariants::Attempts;
use cellar_sheet::operation::{DeleteSheet, Operation, SheetId};
use stateright::{Model, Property};

use crate::fingerprint::Hashed;
use crate::log::tables::log_id;

/// Property: the append does not make more puts and reads than its limits allow.
pub const WITHIN_LIMITS: &str = "I6 attempts are within their limits";
/// Property: the append terminates after at most `max_steps` steps.
pub const ENDS: &str = "I6 every append ends";
/// Without this limit, the log could grow forever.
const MAX_INVENTED: u32 = 3;
/// The clock and random bits that every step receives. They are constant, because no decision of
/// the append depends on the clock.
const INPUTS: Inputs = Inputs { now_s: 0, random: 0 };

/// The model's bounds.
#[derive(Debug, Clone, Copy)]
pub struct AttemptsModel {
    /// Maximum number of puts per entry.
    pub max_puts: u32,
    /// Maximum number of failed reads.
    pub max_reads: u32,
    /// Maximum number of steps of the append.
    pub max_steps: u32,
}

/// A state of the model: the state of the append, and the number of its attempts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    machine: Hashed<(Append, AppendAction)>,
    attempts: Attempts,
    invented_count: u32,
    step_count: u32,
}

/// The response of the store to the pending request of the append.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer(AppendEvent);

fn possible_entries(position: Position) -> Vec<Arc<Entry>> {
    let trimmed = Content::Snapshot { root: None, trimmed_s: Some(0) };
    let mut contents = vec![trimmed, Content::EndSegment];
    if position.entry_number() == 0 {
        contents.insert(0, Content::Snapshot { root: None, trimmed_s: None });
    }
    let first_entry = Entry::first(log_id(), None, 0);
    let to_entry = |content| Arc::new(Entry { position, content, ..first_entry.clone() });
    contents.into_iter().map(to_entry).collect()
}

fn possible_read_answers(from: Position, can_invent: bool) -> Vec<AppendEvent> {
    let empty_page = AppendEvent::Page { entries: Vec::new(), has_more: false };
    let mut answers = vec![empty_page, AppendEvent::ReadFailed { temporary: true }];
    if !can_invent {
        return answers;
    }
    let entries_after_hole = from.next_in_segment().map(possible_entries).unwrap_or_default();
    if let Some(entry) = entries_after_hole.into_iter().next() {
        answers.push(AppendEvent::Page { entries: vec![entry], has_more: false });
    }
    for entry in possible_entries(from) {
        for has_more in [false, true] {
            answers.push(AppendEvent::Page { entries: vec![Arc::clone(&entry)], has_more });
        }
    }
    answers
}

impl State {
    fn possible_answers(&self) -> Vec<AppendEvent> {
        let can_invent = self.invented_count < MAX_INVENTED;
        let (_, action) = &*self.machine;
        match action {
            AppendAction::Read { from, .. } => possible_read_answers(*from, can_invent),
            AppendAction::Put { entry } => {
                let winners = possible_entries(entry.position).into_iter();
                let refusals = winners.map(|winner| AppendEvent::PutRefused { winner });
                let other_answers =
                    [AppendEvent::PutAccepted, AppendEvent::PutUnknown, AppendEvent::PutFailed];
                refusals.chain(other_answers).collect()
            }
            AppendAction::FindNewestSegment => vec![
                AppendEvent::NewestSegment(None),
                AppendEvent::NewestSegment(Some(0)),
                AppendEvent::NewestSegment(Some(1)),
                AppendEvent::ReadFailed { temporary: true },
            ],
            AppendAction::ReadState { .. } => {
                vec![AppendEvent::State(None), AppendEvent::ReadFailed { temporary: true }]
            }
            AppendAction::Wait { .. } => vec![AppendEvent::Waited],
            AppendAction::Finish(_) => Vec::new(),
        }
    }

    fn is_finished(&self) -> bool {
        let (_, action) = &*self.machine;
        matches!(action, AppendAction::Finish(_))
    }
}

impl Model for AttemptsModel {
    type State = State;
    type Action = Answer;

    fn init_states(&self) -> Vec<State> {
        let operation = Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST });
        let mutation = NewMutation { id: 1, base: Position::FIRST, operation };
        let client = ClientKey([1; 8]);
        let request = Request::new(log_id(), client, None, FIRST_INCARNATION, 0, vec![mutation]);
        let Ok(request) = request else { return Vec::new() };
        let rules = Rules::with_attempts(self.max_puts, self.max_reads);
        let machine = Append::begin_with_rules(rules, request, &[], INPUTS);
        vec![State {
            machine: Hashed::new(Arc::new(machine)),
            attempts: Attempts::default(),
            invented_count: 0,
            step_count: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Answer>) {
        if state.step_count <= self.max_steps {
            actions.extend(state.possible_answers().into_iter().map(Answer));
        }
    }

    fn next_state(&self, state: &State, Answer(event): Answer) -> Option<State> {
        let mut attempts = state.attempts;
        attempts.record(&event);
        let mut invented_count = state.invented_count;
        if let AppendEvent::Page { entries, .. } = &event
            && !entries.is_empty()
        {
            invented_count += 1;
        }
        let (append, _) = &*state.machine;
        let machine = append.clone().step(event, INPUTS);
        Some(State {
            machine: Hashed::new(Arc::new(machine)),
            attempts,
            invented_count,
            step_count: state.step_count + 1,
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(WITHIN_LIMITS, |model: &Self, state: &State| {
                state.attempts.check_within(model.max_puts, model.max_reads).is_ok()
            }),
            Property::always(ENDS, |model: &Self, state: &State| {
                state.step_count < model.max_steps || state.is_finished()
            }),
            Property::sometimes("an append ends", |_, state: &State| state.is_finished()),
        ]
    }
}
