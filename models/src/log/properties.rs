//! The properties that the model checker checks in every state of the log model.

use cellar_log::append::{Appended, Refusal};
use cellar_log::invariants::{
    MutationId, Violation, check_acknowledged, check_links, check_no_gap, check_once, check_order,
};
use stateright::{Model, Property};

use super::{Client, LateRequest, LogAction, LogModel, State};

/// Invariant I1: the entry numbers of each segment are contiguous.
pub const NO_GAP: &str = "I1 no gap";
/// Invariant I2: an entry never changes after a reader could first read it.
pub const PREFIX: &str = "I2 a prefix once read never changes";
/// Invariant I3: each mutation is applied at most once.
pub const ONCE: &str = "I3 each mutation takes effect at most once";
/// Invariants I3 and I13: each client's mutations are applied in order.
pub const ORDER: &str = "I3 a client's mutations take effect in their order";
/// Invariant I4: every acknowledged mutation stays readable.
pub const ACKNOWLEDGED: &str = "I4 an acknowledged mutation stays readable";
/// Invariant I5: exactly one End Segment links each segment to the next.
pub const LINKS: &str = "I5 segments are linked by one End Segment";
/// Property: if a request is refused, the stated reason is true.
pub const REFUSALS: &str = "the reason of a refusal is true";
/// Property: a rejected mutation has no effect. The client sends the edit again after a rejection,
/// so the edit would otherwise take effect twice.
pub const REJECTIONS: &str = "a rejected mutation had no effect";
/// The liveness part of invariant I6: every writer eventually finishes.
pub const FINISHING: &str = "every writer finishes when faults stop";

/// A violation caused by a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The step changed an entry that was already readable.
    Prefix(Violation),
    /// A client's request was refused for a reason that is false. Contains the message of the
    /// refusal.
    FalseRefusal(String),
    /// A mutation was rejected although it had taken effect.
    Rejected(MutationId),
}

impl State {
    /// Records a violation if a request was refused and the log contradicts the stated reason.
    ///
    /// `has_real_bases` is `false` if the base of a mutation is an invented position. Refusing such
    /// a base is never a violation: the position may exist now, but it did not exist when the
    /// request was refused.
    pub(super) fn record_false_refusal(
        &mut self,
        client_index: usize,
        result: &Result<Appended, Refusal>,
        has_real_bases: bool,
    ) {
        let Err(refusal) = result else { return };
        let history = self.tables.history();
        let is_reason_true = match refusal {
            Refusal::Contention | Refusal::OutcomeUnknown | Refusal::Store => true,
            Refusal::Gap { expected, .. } => self.clients.get(client_index).is_some_and(|client| {
                check_acknowledged(&history, [client.mutation_id(*expected)]).is_err()
            }),
            Refusal::UnknownBase { base } => {
                !has_real_bases || history.iter().all(|entry| entry.position != *base)
            }
            Refusal::IncarnationChanged
            | Refusal::BaseGone { .. }
            | Refusal::Overlap { .. }
            | Refusal::Corrupt { .. }
            | Refusal::StaleResolution { .. }
            | Refusal::MergeTooDistant
            | Refusal::Unexpected(_)
            | Refusal::Encoding
            | Refusal::Full => false,
        };
        if !is_reason_true {
            self.fault = Some(Fault::FalseRefusal(refusal.to_string()));
        }
    }

    /// Records a violation if one of the rejected mutations took effect.
    pub(super) fn record_false_rejection(&mut self, rejected_mutations: &[MutationId]) {
        let history = self.tables.history();
        let has_effect =
            |mutation: &&MutationId| check_acknowledged(&history, [**mutation]).is_ok();
        if let Some(mutation) = rejected_mutations.iter().find(has_effect) {
            self.fault = Some(Fault::Rejected(*mutation));
        }
    }
}

impl LogModel {
    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(NO_GAP, |_, state: &State| {
                check_no_gap(&state.tables.entries()).is_ok()
            }),
            Property::always(PREFIX, |_, state: &State| {
                !matches!(state.fault, Some(Fault::Prefix(_)))
            }),
            Property::always(ONCE, |_, state: &State| check_once(&state.tables.history()).is_ok()),
            Property::always(ORDER, |_, state: &State| {
                check_order(&state.tables.history()).is_ok()
            }),
            Property::always(ACKNOWLEDGED, |_, state: &State| {
                let applied_mutations = state.clients.iter().flat_map(Client::applied_mutations);
                check_acknowledged(&state.tables.readable(), applied_mutations).is_ok()
            }),
            Property::always(LINKS, |_, state: &State| {
                check_links(&state.tables.entries(), &state.tables.segments()).is_ok()
            }),
            Property::always(REFUSALS, |_, state: &State| {
                !matches!(state.fault, Some(Fault::FalseRefusal(_)))
            }),
            Property::always(REJECTIONS, |_, state: &State| {
                !matches!(state.fault, Some(Fault::Rejected(_)))
            }),
        ];
        if self.finishing {
            properties.push(Property::always(FINISHING, |model: &Self, state: &State| {
                model.can_finish(state)
            }));
        }
        properties.extend(self.occurrences());
        properties
    }

    /// Returns the properties that must each hold in at least one state. A property that never
    /// holds means that the limits of the model are too low for a meaningful check.
    fn occurrences(&self) -> Vec<Property<Self>> {
        let mut occurrences =
            vec![Property::sometimes("all mutations are acknowledged", |_, state: &State| {
                state.clients.iter().all(Client::is_done)
            })];
        if self.budget.lost > 0 {
            occurrences.push(Property::sometimes("a put is delayed", |_, state: &State| {
                let is_put = |request: &LateRequest| matches!(request, LateRequest::Put(_));
                state.late_requests.iter().any(is_put)
            }));
        }
        if self.budget.rolls > 0 {
            occurrences.push(Property::sometimes("a writer follows a roll", |_, state: &State| {
                let tail = state.tables.tail();
                tail.is_some_and(|tail| {
                    tail.position.segment() > 0 && tail.position.entry_number() > 0
                })
            }));
        }
        if self.budget.trims > 0 {
            occurrences.push(Property::sometimes(
                "a segment with edits is trimmed",
                |_, state: &State| {
                    let written_count = state.tables.history().len();
                    let stored_count = state.tables.entries().len();
                    written_count > stored_count && state.trimming.is_none()
                },
            ));
        }
        occurrences
    }

    /// Returns whether all mutations of each client are eventually acknowledged if all other
    /// processes stop and no more faults are injected.
    fn can_finish(&self, state: &State) -> bool {
        const MAX_STEPS_PER_CLIENT: usize = 64;
        let mut state = state.clone();
        for client_index in 0..state.clients.len() {
            for _ in 0..MAX_STEPS_PER_CLIENT {
                let Some(client) = state.clients.get(client_index) else { return false };
                if client.is_done() || state.fault.is_some() {
                    break;
                }
                let Some(action) = self.first_action_of(&state, client_index) else { return false };
                let Some(new_state) = self.next_state(&state, action) else { return false };
                state = new_state;
            }
        }
        state.clients.iter().all(Client::is_done)
    }

    /// Returns the first possible action of the client, which never injects a fault.
    fn first_action_of(&self, state: &State, client_index: usize) -> Option<LogAction> {
        let mut actions = Vec::new();
        self.add_possible_actions(state, &mut actions);
        actions.into_iter().find(|action| is_action_of(client_index, action))
    }
}

fn is_action_of(expected_index: usize, action: &LogAction) -> bool {
    match action {
        LogAction::Send { client_index, .. } | LogAction::Step { client_index, .. } => {
            *client_index == expected_index
        }
        _ => false,
    }
}
