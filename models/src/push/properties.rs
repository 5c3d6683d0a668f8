//! The properties that the model checker checks in every state of the push model.

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::sync::PushOutcome;
use cellar_base::identity::ClientKey;
use cellar_log::append::{MutationResult, Refusal};
use cellar_log::invariants::{MutationId, check_no_gap, check_once, check_order};
use stateright::{Model, Property};

use super::table::client_key;
use super::{
    Client, ClientKnowledge, LoggedMutation, MutationContent, PushAction, PushModel,
    PushedMutation, RequestOutcome, State,
};

/// Invariant I1: the entry numbers of the log are contiguous.
pub const NO_GAP: &str = "I1 no gap";
/// Invariant I3: each mutation is applied at most once.
pub const ONCE: &str = "I3 each mutation takes effect at most once";
/// Invariants I3 and I13: each client's mutations are applied in order.
pub const ORDER: &str = "I3 a client's mutations take effect in their order";
/// Property: the mutation ids of each client in the log are consecutive, even after a restore. The
/// ids of rejected mutations count too.
pub const NUMBERED: &str = "the mutation ids of a client in the log are consecutive from 1";
/// Invariant I4: a mutation that a pull has acknowledged is in the log. This is not checked after a
/// restore of the log.
pub const ACKNOWLEDGED: &str = "I4 a mutation acknowledged by a pull is in the log";
/// Property: no mutation is rejected after it has taken effect. Otherwise, its client would undo
/// the edit locally although the log contains it.
pub const NOT_REJECTED: &str = "no mutation is rejected after it took effect";
/// Property: a mutation is rejected only if it is invalid, has no base, or is older than a restore.
pub const WITH_REASON: &str =
    "a rejected mutation is invalid, has no base, or is older than a restore";
/// Property: an edit whose base is older than a restore has no effect, because it would change the
/// wrong cells.
pub const TIMELINE: &str = "an effective mutation has the incarnation of its base";
/// Property: every statement in a push response is true, and every mutation id that a process
/// assumes to be in the log is there.
pub const ANSWERS: &str = "every answer to a push is true";
/// Property: every client eventually finishes.
pub const FINISHING: &str = "a client that keeps pushing succeeds or learns that it is unknown";

/// A violation caused by a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A response to a push of the client with this index contains a false statement.
    Answer(usize, FalsePart),
    /// A push was refused although no request failed. Contains the message of the refusal.
    Refused(String),
}

/// The false statement in the response to a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FalsePart {
    /// The response states that the log contains the mutations up to this id.
    Known(u64),
    /// The response states that the log does not know the client.
    Unknown,
    /// The response states that the mutation with this id is expected next.
    Gap(u64),
    /// The response states a wrong result for the mutation with this id.
    Result(u64),
}

impl State {
    fn is_forgotten(&self, key: ClientKey) -> bool {
        self.forgotten.iter().any(|client_index| client_key(*client_index) == key)
    }

    /// Records a violation if the log contradicts the outcome of a run.
    pub(super) fn record_false_answer(&mut self, client_index: usize, outcome: &PushOutcome) {
        if let Some(false_part) = self.find_false_part(client_index, outcome) {
            self.fault = Some(Fault::Answer(client_index, false_part));
        }
    }

    fn find_false_part(&self, client_index: usize, outcome: &PushOutcome) -> Option<FalsePart> {
        let key = client_key(client_index);
        let last_id = self.table.last_id(key);
        let is_forgotten = self.is_forgotten(key);
        if outcome.last_id > last_id {
            return Some(FalsePart::Known(outcome.last_id));
        }
        if outcome.unknown_client && last_id > 0 && !is_forgotten {
            return Some(FalsePart::Unknown);
        }
        if let Some(expected_id) = outcome.gap
            && expected_id != last_id + 1
            && !is_forgotten
        {
            return Some(FalsePart::Gap(expected_id));
        }
        for result in &outcome.results {
            if !self.is_result_true(key, result, is_forgotten) {
                return Some(FalsePart::Result(result.id));
            }
        }
        None
    }

    fn is_result_true(&self, key: ClientKey, result: &MutationResult, is_forgotten: bool) -> bool {
        let mutation_id = MutationId { client: key, id: result.id };
        let mut effective_count = 0;
        let mut rejected_count = 0;
        for logged in self.table.logged_mutations() {
            if logged.mutation != mutation_id {
                continue;
            }
            if logged.is_rejected {
                rejected_count += 1;
            } else {
                effective_count += 1;
            }
        }
        if result.rejection.is_some() {
            rejected_count > 0 && (is_forgotten || effective_count == 0)
        } else if result.duplicate {
            rejected_count + effective_count > 0
        } else {
            effective_count > 0
        }
    }

    pub(super) fn record_false_refusal(&mut self, refusal: &Refusal) {
        // Contention is always a valid reason, because other writers may win every race.
        if *refusal != Refusal::Contention {
            self.fault = Some(Fault::Refused(refusal.to_string()));
        }
    }

    /// If a lookup has reported a client as unknown, a mutation of the client may be rejected
    /// again.
    fn are_ids_consecutive(&self) -> bool {
        let mut last_ids = BTreeMap::<ClientKey, u64>::new();
        for LoggedMutation { mutation, is_rejected, .. } in self.table.logged_mutations() {
            let last_id = last_ids.entry(mutation.client).or_default();
            let is_next = mutation.id == *last_id + 1;
            let is_repeated_rejection = is_rejected && mutation.id <= *last_id;
            let may_repeat = is_repeated_rejection && self.is_forgotten(mutation.client);
            if !is_next && !may_repeat {
                return false;
            }
            *last_id = mutation.id.max(*last_id);
        }
        true
    }

    fn has_acknowledged_mutations(&self, client: &Client) -> bool {
        let is_in_log = |id| {
            let mutation_id = client.mutation_id(id);
            self.table.logged_mutations().any(|logged| logged.mutation == mutation_id)
        };
        client.incarnation() != self.table.incarnation()
            || (1..=client.acknowledged_id).all(is_in_log)
    }

    fn has_no_late_rejection(&self) -> bool {
        let mut effective_ids = BTreeSet::new();
        for LoggedMutation { mutation, is_rejected, .. } in self.table.logged_mutations() {
            if !is_rejected {
                effective_ids.insert(mutation);
            } else if effective_ids.contains(&mutation) && !self.is_forgotten(mutation.client) {
                return false;
            }
        }
        true
    }

    /// Returns whether every mutation in the log satisfies `predicate`, which receives the mutation
    /// as logged and as pushed.
    fn all_mutations_satisfy(
        &self,
        predicate: impl Fn(&LoggedMutation, &PushedMutation) -> bool,
    ) -> bool {
        self.table.logged_mutations().all(|logged| {
            let pushed = self.pushed_mutation(logged.mutation);
            pushed.is_some_and(|pushed| predicate(&logged, pushed))
        })
    }

    fn has_rejected_edit(&self) -> bool {
        self.table.logged_mutations().any(|logged| {
            let pushed = self.pushed_mutation(logged.mutation);
            let is_edit = pushed.is_some_and(|pushed| pushed.content == MutationContent::Edit);
            logged.is_rejected && is_edit
        })
    }

    fn pushed_mutation(&self, mutation_id: MutationId) -> Option<&PushedMutation> {
        let author = self.clients.iter().find(|client| client.key() == mutation_id.client)?;
        author.pushed_mutation(mutation_id.id)
    }
}

impl PushModel {
    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(NO_GAP, |_, state: &State| {
                check_no_gap(&state.table.entries()).is_ok()
            }),
            Property::always(ONCE, |_, state: &State| check_once(&state.table.entries()).is_ok()),
            Property::always(ORDER, |_, state: &State| check_order(&state.table.entries()).is_ok()),
            Property::always(NUMBERED, |_, state: &State| state.are_ids_consecutive()),
            Property::always(ACKNOWLEDGED, |_, state: &State| {
                state.clients.iter().all(|client| state.has_acknowledged_mutations(client))
            }),
            Property::always(NOT_REJECTED, |_, state: &State| state.has_no_late_rejection()),
            Property::always(WITH_REASON, |_, state: &State| {
                state.all_mutations_satisfy(has_reason_if_rejected)
            }),
            Property::always(TIMELINE, |_, state: &State| {
                state.all_mutations_satisfy(has_incarnation_of_base_if_effective)
            }),
            Property::always(ANSWERS, |_, state: &State| state.fault.is_none()),
        ];
        if self.finishing {
            properties.push(Property::always(FINISHING, |model: &Self, state: &State| {
                model.can_finish(state, ClientKnowledge::CachedLastId)
                    && model.can_finish(state, ClientKnowledge::Nothing)
            }));
        }
        properties.extend(self.occurrences());
        properties
    }

    /// Returns the properties that must each hold in at least one state. A property that never
    /// holds means that the limits of the model are too low for a meaningful check.
    fn occurrences(&self) -> Vec<Property<Self>> {
        let mut occurrences =
            vec![Property::sometimes("all mutations are acknowledged", are_all_acknowledged)];
        // A single client is never unknown. It pulls all entries before each push, so the base of
        // its mutations proves that the log knows the client.
        if self.budget.forgotten > 0 && self.mutations.len() > 1 {
            occurrences.push(Property::sometimes("a client is unknown", |_, state: &State| {
                state.clients.iter().any(|client| {
                    client.is_lost && client.incarnation() == state.table.incarnation()
                })
            }));
        }
        if self.budget.restores > 0 {
            occurrences.push(Property::sometimes(
                "an acknowledged mutation is lost",
                |_, state: &State| {
                    state
                        .clients
                        .iter()
                        .any(|client| client.acknowledged_id > state.table.last_id(client.key()))
                },
            ));
            occurrences
                .push(Property::sometimes("a restored edit is rejected", |_, state: &State| {
                    state.has_rejected_edit()
                }));
        }
        occurrences
    }

    /// Returns whether every client eventually finishes if the other processes stop and no more
    /// faults are injected.
    fn can_finish(&self, state: &State, knowledge: ClientKnowledge) -> bool {
        const MAX_STEPS_PER_CLIENT: usize = 32;
        let mut state = state.clone();
        for (client_index, contents) in self.mutations.iter().enumerate() {
            for _ in 0..MAX_STEPS_PER_CLIENT {
                let Some(client) = state.clients.get(client_index) else { return false };
                if client.is_done(contents) || state.fault.is_some() {
                    break;
                }
                let action = self.fault_free_action(&state, client_index, client, knowledge);
                let Some(new_state) = self.next_state(&state, action) else { return false };
                state = new_state;
            }
        }
        let are_all_done = state
            .clients
            .iter()
            .zip(&self.mutations)
            .all(|(client, contents)| client.is_done(contents));
        state.fault.is_some() || are_all_done
    }

    /// Returns the next action of a client that is not done, if no fault is injected. Without a
    /// running push, the client pulls if the log has changed, and otherwise pushes all its mutations.
    fn fault_free_action(
        &self,
        state: &State,
        client_index: usize,
        client: &Client,
        knowledge: ClientKnowledge,
    ) -> PushAction {
        if client.process.is_some() {
            PushAction::Step { client_index, outcome: RequestOutcome::Answered }
        } else if client.has_outdated_pull(&state.table) {
            PushAction::Pull { client_index }
        } else {
            let mutation_count = self.mutations.get(client_index).map_or(0, Vec::len);
            PushAction::Push { client_index, mutation_count, knowledge }
        }
    }
}

/// Returns whether a rejected mutation is invalid, has no base, or is older than a restore.
fn has_reason_if_rejected(logged: &LoggedMutation, pushed: &PushedMutation) -> bool {
    !logged.is_rejected
        || pushed.content != MutationContent::Edit
        || pushed.incarnation < logged.incarnation
}

fn has_incarnation_of_base_if_effective(logged: &LoggedMutation, pushed: &PushedMutation) -> bool {
    logged.is_rejected
        || (pushed.content == MutationContent::Edit && pushed.incarnation == logged.incarnation)
}

fn are_all_acknowledged(model: &PushModel, state: &State) -> bool {
    let mut clients_and_contents = state.clients.iter().zip(&model.mutations);
    clients_and_contents.all(|(client, contents)| client.is_done(contents) && !client.is_lost)
}
