//! Properties checked in every state.

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::sync::{LookedUp, PushOutcome};
use cellar_base::identity::ClientKey;
use cellar_log::append::{MutationResult, Refusal};
use cellar_log::invariants::{MutationId, check_no_gap, check_once, check_order};
use stateright::{Model, Property};

use super::{Client, LoggedMutation, MutationContent, PushAction, PushModel, State};

/// Invariant I1.
pub const NO_GAP: &str = "I1 no gap";
/// Invariant I3: no mutation is applied twice.
pub const ONCE: &str = "I3 each mutation takes effect at most once";
/// Invariants I3 and I13: mutations are applied in order.
pub const ORDER: &str = "I3 a client's mutations take effect in their order";
/// Property: mutation ids are consecutive, including rejected mutations, even across a restore.
pub const NUMBERED: &str = "a client's ids in the log are 1 and up, each once";
/// Invariant I4, checked until a restore.
pub const ACKNOWLEDGED: &str = "I4 a mutation acknowledged by a pull is in the log";
/// Property: no mutation is rejected after it succeeded; otherwise the client would undo an applied
/// edit.
pub const NOT_REJECTED: &str = "no mutation is rejected after it took effect";
/// Property: no valid edit is rejected without a reason.
pub const WITH_REASON: &str =
    "a rejected mutation is invalid, has no base, or is older than a restore";
/// Property: an edit whose base precedes a restore has no effect, because it would change the wrong
/// cells.
pub const TIMELINE: &str = "an effective mutation has the incarnation of its base";
/// Property: push responses are true, and so are the ids that processes assume to be in the log.
pub const ANSWERS: &str = "every answer to a push is true";
/// Property: every client eventually finishes.
pub const FINISHING: &str = "a client that keeps pushing succeeds or learns that it is unknown";

/// A violation caused by a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A push by this client received a false response.
    Answer(usize, FalsePart),
    /// A push was refused although no request failed; contains the refusal message.
    Refused(String),
}

/// The false part of a push response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FalsePart {
    /// The response claims that the mutations up to this id are in the log.
    Known(u64),
    /// The response claims that the log does not know the client.
    Unknown,
    /// The response claims that this id is expected next.
    Gap(u64),
    /// The response gives a false result for this mutation.
    Result(u64),
}

impl State {
    fn is_forgotten(&self, key: ClientKey) -> bool {
        self.forgotten.iter().any(|client| super::client::key_of(*client) == key)
    }

    /// Records a violation if the log contradicts a run's outcome.
    pub(super) fn check_outcome(&mut self, client: usize, outcome: &PushOutcome) {
        if let Some(false_part) = self.find_false_part(client, outcome) {
            self.fault = Some(Fault::Answer(client, false_part));
        }
    }

    fn find_false_part(&self, client: usize, outcome: &PushOutcome) -> Option<FalsePart> {
        let key = super::client::key_of(client);
        let LookedUp { last_id, .. } = self.table.look_up(key, false);
        let is_forgotten = self.is_forgotten(key);
        if outcome.last_id > last_id.unwrap_or(0) {
            return Some(FalsePart::Known(outcome.last_id));
        }
        if outcome.unknown_client && last_id.is_some() && !is_forgotten {
            return Some(FalsePart::Unknown);
        }
        let next = last_id.unwrap_or(0) + 1;
        if let Some(gap) = outcome.gap
            && gap != next
            && !is_forgotten
        {
            return Some(FalsePart::Gap(gap));
        }
        let false_result = outcome
            .results
            .iter()
            .find(|result| !self.is_result_true(key, result, is_forgotten))?;
        Some(FalsePart::Result(false_result.id))
    }

    /// Returns whether the log confirms a mutation's result.
    fn is_result_true(&self, key: ClientKey, result: &MutationResult, is_forgotten: bool) -> bool {
        let mutation = MutationId { client: key, id: result.id };
        let copies: Vec<LoggedMutation> =
            self.table.logged_mutations().filter(|logged| logged.mutation == mutation).collect();
        if result.rejection.is_some() {
            return copies.iter().any(|copy| copy.is_rejected)
                && (is_forgotten || copies.iter().all(|copy| copy.is_rejected));
        }
        if result.duplicate {
            return !copies.is_empty();
        }
        copies.iter().any(|copy| !copy.is_rejected)
    }

    pub(super) fn check_refusal(&mut self, refusal: &Refusal) {
        // Contention is always possible, because other writers may win every race.
        if *refusal != Refusal::Contention {
            self.fault = Some(Fault::Refused(refusal.to_string()));
        }
    }

    /// Returns whether each client's ids are consecutive. A forgotten client may have the same id
    /// rejected twice.
    fn are_numbered(&self) -> bool {
        let mut last_ids = BTreeMap::<ClientKey, u64>::new();
        self.table.logged_mutations().all(|LoggedMutation { mutation, is_rejected, .. }| {
            let last = last_ids.entry(mutation.client).or_default();
            let is_next = mutation.id == *last + 1;
            let is_repeated = is_rejected && mutation.id <= *last;
            *last = mutation.id.max(*last);
            is_next || (is_repeated && self.is_forgotten(mutation.client))
        })
    }

    fn has_acknowledged_mutations(&self, client: &Client) -> bool {
        let is_in_log = |id| {
            let mutation = client.mutation(id);
            self.table.logged_mutations().any(|logged| logged.mutation == mutation)
        };
        client.incarnation() != self.table.incarnation() || (1..=client.acknowledged).all(is_in_log)
    }

    fn has_no_late_rejection(&self) -> bool {
        let mut effective = BTreeSet::new();
        self.table.logged_mutations().all(|LoggedMutation { mutation, is_rejected, .. }| {
            if !is_rejected {
                effective.insert(mutation);
            }
            let late = is_rejected && effective.contains(&mutation);
            !late || self.is_forgotten(mutation.client)
        })
    }

    fn check_all_mutations(
        &self,
        check: impl Fn(&LoggedMutation, &super::PushedMutation) -> bool,
    ) -> bool {
        self.table.logged_mutations().all(|logged| {
            let is_author = |client: &&Client| client.key() == logged.mutation.client;
            let client = self.clients.iter().find(is_author);
            let mutation = client.and_then(|client| client.pushed_mutation(logged.mutation.id));
            mutation.is_some_and(|mutation| check(&logged, mutation))
        })
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
            Property::always(NUMBERED, |_, state: &State| state.are_numbered()),
            Property::always(ACKNOWLEDGED, |_, state: &State| {
                state.clients.iter().all(|client| state.has_acknowledged_mutations(client))
            }),
            Property::always(NOT_REJECTED, |_, state: &State| state.has_no_late_rejection()),
            Property::always(WITH_REASON, |_, state: &State| {
                state.check_all_mutations(|logged, mutation| {
                    !logged.is_rejected
                        || mutation.content != MutationContent::Edit
                        || mutation.incarnation < logged.incarnation
                })
            }),
            Property::always(TIMELINE, |_, state: &State| {
                state.check_all_mutations(|logged, mutation| {
                    logged.is_rejected
                        || (mutation.content == MutationContent::Edit
                            && mutation.incarnation == logged.incarnation)
                })
            }),
            Property::always(ANSWERS, |_, state: &State| state.fault.is_none()),
        ];
        if self.finishing {
            properties.push(Property::always(FINISHING, |model: &Self, state: &State| {
                [true, false].into_iter().all(|warm| model.can_finish(state, warm))
            }));
        }
        properties.extend(self.occurrences());
        properties
    }

    /// Returns properties that must hold in at least one state; otherwise the bounds are too small
    /// for a meaningful check.
    fn occurrences(&self) -> Vec<Property<Self>> {
        let mut occurrences = vec![Property::sometimes(
            "all mutations are acknowledged",
            |model: &Self, state: &State| {
                let mut all = state.clients.iter().zip(&model.mutations);
                all.all(|(client, contents)| client.is_done(contents) && !client.is_lost)
            },
        )];
        // A lone client pulls all entries before each push, and its resulting base proves that the
        // log knows the client.
        if self.budget.forgotten > 0 && self.mutations.len() > 1 {
            occurrences.push(Property::sometimes("a client is unknown", |_, state: &State| {
                let unknown = |client: &Client| {
                    client.is_lost && client.incarnation() == state.table.incarnation()
                };
                state.clients.iter().any(unknown)
            }));
        }
        if self.budget.restores > 0 {
            occurrences.push(Property::sometimes(
                "an acknowledged mutation is lost",
                |_, state: &State| {
                    let lost =
                        |client: &Client| client.acknowledged > state.table.last_id(client.key());
                    state.clients.iter().any(lost)
                },
            ));
            occurrences.push(Property::sometimes(
                "a restored edit is rejected",
                |_, state: &State| {
                    let rejected = |logged: &LoggedMutation, mutation: &super::PushedMutation| {
                        logged.is_rejected && mutation.content == MutationContent::Edit
                    };
                    !state.check_all_mutations(|logged, mutation| !rejected(logged, mutation))
                },
            ));
        }
        occurrences
    }

    /// Returns whether every client finishes if the other processes stop and no fault is injected.
    fn can_finish(&self, state: &State, warm: bool) -> bool {
        const MAX_STEPS: usize = 32;
        let mut state = state.clone();
        for (client, contents) in self.mutations.iter().enumerate() {
            for _ in 0..MAX_STEPS {
                let Some(pusher) = state.clients.get(client) else { return false };
                if pusher.is_done(contents) || state.fault.is_some() {
                    break;
                }
                let Some(next) = self.next_state_alone(&state, client, warm) else { return false };
                state = next;
            }
        }
        let mut all = state.clients.iter().zip(&self.mutations);
        state.fault.is_some() || all.all(|(client, contents)| client.is_done(contents))
    }

    /// Returns the next state if only this client acts, without faults: it pulls if the log has new
    /// entries; otherwise it pushes all its mutations.
    fn next_state_alone(&self, state: &State, client: usize, warm: bool) -> Option<State> {
        if state.clients.get(client)?.process.is_some() {
            let outcome = super::RequestOutcome::Answered;
            return self.next_state(state, PushAction::Step { client, outcome });
        }
        if let Some(pulled) = self.next_state(state, PushAction::Pull { client }) {
            return Some(pulled);
        }
        let count = self.mutations.get(client)?.len();
        self.next_state(state, PushAction::Push { client, count, warm })
    }
}
