//! What must hold in every state.

use cellar_log::append::{Appended, Refusal};
use cellar_log::invariants::{
    MutationId, Violation, check_acknowledged, check_links, check_no_gap, check_once, check_order,
};
use stateright::{Model, Property};

use super::{Action, Late, LogModel, State};

/// I1.
pub const NO_GAP: &str = "I1 no gap";
/// I2.
pub const PREFIX: &str = "I2 a prefix once read never changes";
/// I3.
pub const ONCE: &str = "I3 each mutation takes effect at most once";
/// I3 and I13.
pub const ORDER: &str = "I3 a client's mutations take effect in their order";
/// I4.
pub const ACKNOWLEDGED: &str = "I4 what was acknowledged is readable for ever";
/// I5.
pub const LINKS: &str = "I5 segments are linked by one End Segment";
/// A refusal says something about the log, and it is true.
pub const REFUSALS: &str = "a refusal is true";
/// A client that was told so would make the mutation again.
pub const REJECTIONS: &str = "what was rejected had no effect";
/// I6, the other half: nobody waits for ever.
pub const FINISHING: &str = "every writer finishes when faults stop";

/// Something wrong in a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The step changed what could be read before it.
    Prefix(Violation),
    /// A client was refused for a reason that does not hold: what it was told.
    Untrue(String),
    /// A client was told that a mutation was rejected, and it had taken effect.
    Rejected(MutationId),
}

impl State {
    /// Is what a refusal says of the log true?
    ///
    /// A base that was made up may come to exist while it is refused: `real_bases` says that none is.
    pub(super) fn judge(
        &mut self,
        client: usize,
        result: &Result<Appended, Refusal>,
        real_bases: bool,
    ) {
        let Err(refusal) = result else { return };
        let history = self.tables.history();
        let is_true = match refusal {
            Refusal::Contention | Refusal::OutcomeUnknown | Refusal::Store => true,
            Refusal::Gap { expected, .. } => self.clients.get(client).is_some_and(|its| {
                check_acknowledged(&history, [its.mutation(*expected)]).is_err()
            }),
            Refusal::UnknownBase { base } => {
                !real_bases || history.iter().all(|entry| entry.position != *base)
            }
            Refusal::IncarnationChanged
            | Refusal::BaseGone { .. }
            | Refusal::Overlap { .. }
            | Refusal::Corrupt { .. }
            | Refusal::StaleResolution { .. }
            | Refusal::Full => false,
        };
        if !is_true {
            self.fault = Some(Fault::Untrue(refusal.to_string()));
        }
    }

    pub(super) fn check_rejected(&mut self, rejected: &[MutationId]) {
        let history = self.tables.history();
        let effective = |mutation: &&MutationId| check_acknowledged(&history, [**mutation]).is_ok();
        if let Some(mutation) = rejected.iter().find(effective) {
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
                let acknowledged = state.clients.iter().flat_map(super::Client::applied);
                check_acknowledged(&state.tables.readable(), acknowledged).is_ok()
            }),
            Property::always(LINKS, |_, state: &State| {
                check_links(&state.tables.entries(), &state.tables.segments()).is_ok()
            }),
            Property::always(REFUSALS, |_, state: &State| {
                !matches!(state.fault, Some(Fault::Untrue(_)))
            }),
            Property::always(REJECTIONS, |_, state: &State| {
                !matches!(state.fault, Some(Fault::Rejected(_)))
            }),
        ];
        if self.finishing {
            properties.push(Property::always(FINISHING, |model: &Self, state: &State| {
                model.finishes(state)
            }));
        }
        properties.extend(self.occurrences());
        properties
    }

    /// What must happen somewhere, if the bounds allow it: otherwise the checks say nothing of it.
    fn occurrences(&self) -> Vec<Property<Self>> {
        let mut occurrences = vec![Property::sometimes("all is done", |_, state: &State| {
            state.clients.iter().all(|client| client.acknowledged == client.mutations)
        })];
        if self.budget.lost > 0 {
            occurrences.push(Property::sometimes("a put is late", |_, state: &State| {
                state.late.iter().any(|late| matches!(late, Late::Put(_)))
            }));
        }
        if self.budget.rolls > 0 {
            occurrences.push(Property::sometimes("a writer follows a roll", |_, state: &State| {
                let tail = state.tables.tail();
                tail.is_some_and(|tail| tail.position.segment() > 0 && tail.position.num() > 0)
            }));
        }
        if self.budget.trims > 0 {
            occurrences.push(Property::sometimes(
                "a segment with edits is trimmed",
                |_, state: &State| {
                    let history = state.tables.history().len();
                    history > state.tables.entries().len() && state.trimming.is_none()
                },
            ));
        }
        occurrences
    }

    /// If no more faults happen and nobody else does anything, every client's mutations are done.
    fn finishes(&self, state: &State) -> bool {
        const MAX_STEPS: usize = 64;
        let mut state = state.clone();
        for client in 0..state.clients.len() {
            for _ in 0..MAX_STEPS {
                let Some(its) = state.clients.get(client) else { return false };
                if its.acknowledged == its.mutations || state.fault.is_some() {
                    break;
                }
                let mut actions = Vec::new();
                self.possible(&state, &mut actions);
                let of_client = |action: &Action| match action {
                    Action::Send { client: sender, .. } => *sender == client,
                    Action::Step { client: stepped, .. } => *stepped == client,
                    _ => false,
                };
                let next = actions.into_iter().find(of_client);
                let Some(next) = next.and_then(|action| self.next_state(&state, action)) else {
                    return false;
                };
                state = next;
            }
        }
        state.clients.iter().all(|client| client.acknowledged == client.mutations)
    }
}
