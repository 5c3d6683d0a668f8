//! Properties that are checked in every state.

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

/// Invariant I1: the entry numbers of the log have no gap.
pub const NO_GAP: &str = "I1 no gap";
/// Invariant I3: each mutation is applied at most once.
pub const ONCE: &str = "I3 each mutation takes effect at most once";
/// Invariants I3 and I13: each client's mutations are applied in order.
pub const ORDER: &str = "I3 a client's mutations take effect in their order";
/// Property: each client's mutation ids in the log are consecutive, even across a restore. The ids
/// of rejected mutations count as well.
pub const NUMBERED: &str = "a client's ids in the log are 1 and up, each once";
/// Invariant I4: a mutation that a pull acknowledged is in the log. Not checked after a restore of
/// the log.
pub const ACKNOWLEDGED: &str = "I4 a mutation acknowledged by a pull is in the log";
/// Property: no mutation is rejected after it has taken effect. A client that is told of a
/// rejection undoes the edit locally, although the log contains it.
pub const NOT_REJECTED: &str = "no mutation is rejected after it took effect";
/// Property: no mutation is rejected unless it is invalid, has no base, or is older than a restore.
pub const WITH_REASON: &str =
    "a rejected mutation is invalid, has no base, or is older than a restore";
/// Property: an edit whose base is older than a restore has no effect, because the edit would
/// change the wrong cells.
pub const TIMELINE: &str = "an effective mutation has the incarnation of its base";
/// Property: everything that push responses claim is true, and every id that a process assumes to
/// be in the log is in the log.
pub const ANSWERS: &str = "every answer to a push is true";
/// Property: every client eventually finishes.
pub const FINISHING: &str = "a client that keeps pushing succeeds or learns that it is unknown";

/// A violation caused by a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A response to this client's push contains a false claim.
    Answer(usize, FalsePart),
    /// A push was refused although no request failed. Contains the refusal message.
    Refused(String),
}

/// The claim in a push response that is false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FalsePart {
    /// The response claims that the mutations up to this id are in the log.
    Known(u64),
    /// The response claims that the log does not know the client.
    Unknown,
    /// The response claims that this id is expected next.
    Gap(u64),
    /// The response claims a wrong result for this mutation.
    Result(u64),
}

impl State {
    fn is_forgotten(&self, key: ClientKey) -> bool {
        self.forgotten.iter().any(|client_index| client_key(*client_index) == key)
    }

    /// Records a violation if the log contradicts a run's outcome.
    pub(super) fn check_outcome(&mut self, client_index: usize, outcome: &PushOutcome) {
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

    /// Returns whether the log confirms the reported result of a mutation.
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

    pub(super) fn check_refusal(&mut self, refusal: &Refusal) {
        // Contention is always accepted as a reason, because other writers may win every race.
        if *refusal != Refusal::Contention {
            self.fault = Some(Fault::Refused(refusal.to_string()));
        }
    }

    /// Returns whether each client's mutation ids are consecutive. A client that a lookup has
    /// forgotten may have the same id rejected twice.
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

    /// Returns whether all mutations in the log satisfy a predicate. The predicate receives two
    /// versions of each mutation: as logged and as pushed.
    fn do_all_mutations_satisfy(
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

    /// Returns the mutation as its client pushed it.
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
                state.do_all_mutations_satisfy(has_reason_if_rejected)
            }),
            Property::always(TIMELINE, |_, state: &State| {
                state.do_all_mutations_satisfy(has_incarnation_of_base_if_effective)
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

    /// Returns properties that must each hold in at least one state. If one of them never holds,
    /// the bounds are too small for a meaningful check.
    fn occurrences(&self) -> Vec<Property<Self>> {
        let mut occurrences =
            vec![Property::sometimes("all mutations are acknowledged", are_all_acknowledged)];
        // Not reachable with one client. A client that runs alone pulls all entries before each
        // push; the base of its mutations then proves that the log knows the client.
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

    /// Returns whether every client eventually finishes, provided that the other processes stop and
    /// no fault is injected.
    fn can_finish(&self, state: &State, knowledge: ClientKnowledge) -> bool {
        const MAX_STEPS_PER_CLIENT: usize = 32;
        let mut state = state.clone();
        for (client_index, contents) in self.mutations.iter().enumerate() {
            for _ in 0..MAX_STEPS_PER_CLIENT {
                let Some(client) = state.clients.get(client_index) else { return false };
                if client.is_done(contents) || state.fault.is_some() {
                    break;
                }
                match self.next_state_if_alone(&state, client_index, knowledge) {
                    Some(new_state) => state = new_state,
                    None => return false,
                }
            }
        }
        let are_all_done = state
            .clients
            .iter()
            .zip(&self.mutations)
            .all(|(client, contents)| client.is_done(contents));
        state.fault.is_some() || are_all_done
    }

    /// Returns the next state if only this client acts and no fault is injected. The client pulls
    /// if the log has new entries, and pushes all its mutations if not.
    fn next_state_if_alone(
        &self,
        state: &State,
        client_index: usize,
        knowledge: ClientKnowledge,
    ) -> Option<State> {
        if state.clients.get(client_index)?.process.is_some() {
            let outcome = RequestOutcome::Answered;
            return self.next_state(state, PushAction::Step { client_index, outcome });
        }
        if let Some(pulled_state) = self.next_state(state, PushAction::Pull { client_index }) {
            return Some(pulled_state);
        }
        let mutation_count = self.mutations.get(client_index)?.len();
        self.next_state(state, PushAction::Push { client_index, mutation_count, knowledge })
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
