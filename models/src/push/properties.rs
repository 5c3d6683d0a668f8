//! What must hold in every state.

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::sync::{LookedUp, PushOutcome};
use cellar_base::identity::ClientKey;
use cellar_log::append::{MutationResult, Refusal};
use cellar_log::invariants::{MutationId, check_no_gap, check_once, check_order};
use stateright::{Model, Property};

use super::{Action, Client, Placed, PushModel, Says, State};

/// I1.
pub const NO_GAP: &str = "I1 no gap";
/// I3.
pub const ONCE: &str = "I3 each mutation takes effect at most once";
/// I3 and I13.
pub const ORDER: &str = "I3 a client's mutations take effect in their order";
/// Also those that were rejected, and across a restore.
pub const NUMBERED: &str = "a client's ids in the log are 1 and up, each once";
/// I4, until a restore.
pub const ACKNOWLEDGED: &str = "I4 what a pull acknowledged is in the log";
/// A client would take away what is there.
pub const NOT_REJECTED: &str = "nothing is rejected after it took effect";
/// Nobody's edit is lost for nothing.
pub const WITH_REASON: &str = "what is rejected says nothing, has no base or was restored away";
/// An edit on a base of before a restore would hit other cells.
pub const TIMELINE: &str = "what takes effect is of the incarnation of its base";
/// What a push is answered, and what its process takes for known.
pub const ANSWERS: &str = "what a push is answered is true";
/// Nobody waits for ever.
pub const FINISHING: &str = "who goes on pushing gets through or is told that it is lost";

/// Something wrong in a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A push was answered something that does not hold of its client.
    Answer(usize, Untrue),
    /// A push has failed although nothing does here: its refusal.
    Refused(String),
}

/// What does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Untrue {
    /// That its mutations up to this one are in the log.
    Known(u64),
    /// That the log does not know it.
    Unknown,
    /// That this mutation comes next.
    Gap(u64),
    /// What became of this mutation.
    Result(u64),
}

impl State {
    fn is_forgotten(&self, key: ClientKey) -> bool {
        self.forgotten.iter().any(|client| super::client::key_of(*client) == key)
    }

    /// Is what became of a run true?
    pub(super) fn judge(&mut self, client: usize, outcome: &PushOutcome) {
        if let Some(untrue) = self.untrue(client, outcome) {
            self.fault = Some(Fault::Answer(client, untrue));
        }
    }

    fn untrue(&self, client: usize, outcome: &PushOutcome) -> Option<Untrue> {
        let key = super::client::key_of(client);
        let LookedUp { last_id, .. } = self.table.look_up(key, false);
        let is_forgotten = self.is_forgotten(key);
        if outcome.last_id > last_id.unwrap_or(0) {
            return Some(Untrue::Known(outcome.last_id));
        }
        if outcome.unknown_client && last_id.is_some() && !is_forgotten {
            return Some(Untrue::Unknown);
        }
        let next = last_id.unwrap_or(0) + 1;
        if let Some(expected) = outcome.gap.filter(|gap| *gap != next && !is_forgotten) {
            return Some(Untrue::Gap(expected));
        }
        let is_true = |result: &&MutationResult| {
            let mutation = MutationId { client: key, id: result.id };
            let its = || self.table.placed().filter(|placed| placed.mutation == mutation);
            match (&result.rejection, result.duplicate) {
                (Some(_), _) => {
                    its().any(|its| its.is_rejected)
                        && (is_forgotten || its().all(|its| its.is_rejected))
                }
                (None, true) => its().next().is_some(),
                (None, false) => its().any(|its| !its.is_rejected),
            }
        };
        let result = outcome.results.iter().find(|result| !is_true(result))?;
        Some(Untrue::Result(result.id))
    }

    pub(super) fn judge_refusal(&mut self, refusal: &Refusal) {
        // Others may always be faster.
        if *refusal != Refusal::Contention {
            self.fault = Some(Fault::Refused(refusal.to_string()));
        }
    }

    /// A rejection may be repeated for a client that was forgotten.
    fn are_numbered(&self) -> bool {
        let mut last_ids = BTreeMap::<ClientKey, u64>::new();
        self.table.placed().all(|Placed { mutation, is_rejected, .. }| {
            let last = last_ids.entry(mutation.client).or_default();
            let is_next = mutation.id == *last + 1;
            let is_repeated = is_rejected && mutation.id <= *last;
            *last = mutation.id.max(*last);
            is_next || (is_repeated && self.is_forgotten(mutation.client))
        })
    }

    fn is_readable(&self, client: &Client) -> bool {
        let is_there = |id| {
            let mutation = client.mutation(id);
            self.table.placed().any(|placed| placed.mutation == mutation)
        };
        client.incarnation() != self.table.incarnation() || (1..=client.acknowledged).all(is_there)
    }

    fn nothing_is_rejected_late(&self) -> bool {
        let mut effective = BTreeSet::new();
        self.table.placed().all(|Placed { mutation, is_rejected, .. }| {
            if !is_rejected {
                effective.insert(mutation);
            }
            let late = is_rejected && effective.contains(&mutation);
            !late || self.is_forgotten(mutation.client)
        })
    }

    fn all_placed(&self, holds: impl Fn(&Placed, &super::Made) -> bool) -> bool {
        self.table.placed().all(|placed| {
            let whose = |client: &&Client| client.key() == placed.mutation.client;
            let client = self.clients.iter().find(whose);
            let made = client.and_then(|client| client.made(placed.mutation.id));
            made.is_some_and(|made| holds(&placed, made))
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
                state.clients.iter().all(|client| state.is_readable(client))
            }),
            Property::always(NOT_REJECTED, |_, state: &State| state.nothing_is_rejected_late()),
            Property::always(WITH_REASON, |_, state: &State| {
                state.all_placed(|placed, made| {
                    !placed.is_rejected
                        || made.says != Says::Edit
                        || made.incarnation < placed.incarnation
                })
            }),
            Property::always(TIMELINE, |_, state: &State| {
                state.all_placed(|placed, made| {
                    placed.is_rejected
                        || (made.says == Says::Edit && made.incarnation == placed.incarnation)
                })
            }),
            Property::always(ANSWERS, |_, state: &State| state.fault.is_none()),
        ];
        if self.finishing {
            properties.push(Property::always(FINISHING, |model: &Self, state: &State| {
                [true, false].into_iter().all(|warm| model.finishes(state, warm))
            }));
        }
        properties.extend(self.occurrences());
        properties
    }

    /// What must happen somewhere, if the bounds allow it: otherwise the checks say nothing of it.
    fn occurrences(&self) -> Vec<Property<Self>> {
        let mut occurrences =
            vec![Property::sometimes("all is acknowledged", |model: &Self, state: &State| {
                let mut all = state.clients.iter().zip(&model.mutations);
                all.all(|(client, says)| client.is_done(says) && !client.is_lost)
            })];
        // Alone, a client has pulled what it pushes behind: that is a base that says who it is.
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
                "what was acknowledged is lost",
                |_, state: &State| {
                    let lost =
                        |client: &Client| client.acknowledged > state.table.last_id(client.key());
                    state.clients.iter().any(lost)
                },
            ));
            occurrences.push(Property::sometimes(
                "a restored edit is rejected",
                |_, state: &State| {
                    let rejected = |placed: &Placed, made: &super::Made| {
                        placed.is_rejected && made.says == Says::Edit
                    };
                    !state.all_placed(|placed, made| !rejected(placed, made))
                },
            ));
        }
        occurrences
    }

    /// If no more faults happen and nobody else does anything, every client is done.
    fn finishes(&self, state: &State, warm: bool) -> bool {
        const MAX_STEPS: usize = 32;
        let mut state = state.clone();
        for (client, says) in self.mutations.iter().enumerate() {
            for _ in 0..MAX_STEPS {
                let Some(its) = state.clients.get(client) else { return false };
                if its.is_done(says) || state.fault.is_some() {
                    break;
                }
                let next = match &its.process {
                    Some(_) => Action::Step { client, outcome: super::Outcome::Done },
                    None => Action::Push { client, count: says.len(), warm },
                };
                // What a pull finds is new, or the push is to go on.
                let pulled = its.process.is_none().then_some(Action::Pull { client });
                let pulled = pulled.and_then(|pull| self.next_state(&state, pull));
                let Some(next) = pulled.or_else(|| self.next_state(&state, next)) else {
                    return false;
                };
                state = next;
            }
        }
        let mut all = state.clients.iter().zip(&self.mutations);
        state.fault.is_some() || all.all(|(client, says)| client.is_done(says))
    }
}
