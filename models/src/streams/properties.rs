//! What must hold in every state.

use std::collections::BTreeSet;

use cellar_catalog::stream::Tip;
use cellar_catalog::stream::append::{AppendFault, AppendOutcome};
use stateright::{Model, Property};

use super::sayings::{Said, Sayings};
use super::{Action, Outcome, Process, State, StreamModel, Table};

/// Nothing takes effect twice, whoever repeats it.
pub const ONCE: &str = "each event is in the stream at most once";
/// Whatever else was written since.
pub const APPENDED: &str = "what a writer was told is appended is there, in its place";
/// Neither now nor by a request that lands later.
pub const NOT_APPENDED: &str = "what a writer was told is not appended is not there";
/// With [`KEPT`] and [`STATES`]: each was decided on exactly what is before it.
pub const DECIDED: &str = "each event is where it was decided to be";
/// Readers go from the tip back to the first event.
pub const JOINED: &str = "event batches and tip join without a gap and without an overlap";
/// What was once read stays true.
pub const KEPT: &str = "an event that was there never changes, moves or goes";
/// A condition that failed never holds again.
pub const ETAGS: &str = "no tip has an etag twice";
/// Who reads the unfold needs no other events.
pub const STATES: &str = "the state of the tip is that of all events";
/// What a writer is told of the tip, of its place or of damage.
pub const ANSWERS: &str = "what a writer is told of the stream is true";
/// Nobody waits for ever.
pub const FINISHING: &str = "every writer finishes when faults stop";

/// Something wrong in a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The step changed what could be read before it.
    Changed,
    /// A writer was told of a tip that never was: how many events it has.
    NoSuchTip(u64),
    /// A writer was told that others appended before, and nobody has.
    NoConflict,
    /// An append has failed for a reason that does not hold: what it was told.
    Untrue(String),
}

/// What a writer was told of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Told {
    /// It is appended.
    Appended {
        /// Index of its first event.
        index: u64,
        /// How it knows.
        learned: Learned,
        /// Whether its client still waited.
        awaited: bool,
    },
    /// It is not, and never will be.
    NotAppended {
        /// How it knows.
        learned: Learned,
    },
}

/// How a writer knows whether it has appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Learned {
    /// A write that is done was answered so.
    Answer,
    /// It has looked for itself in the tip, or was refused for good.
    Tip,
    /// It has looked for itself in event batches.
    EventBatch,
}

impl State {
    /// Whoever read everything before this step: is it still what stands there?
    pub(super) fn check_kept(&mut self, before: &Table) {
        let mut now = self.table.events();
        let is_kept = before.events().all(|event| now.next() == Some(event));
        if !is_kept {
            self.fault = Some(Fault::Changed);
        }
    }

    /// Is it true, what a process at its end says of the tip, or why it has failed?
    pub(super) fn judge(&mut self, end: &Result<AppendOutcome, AppendFault>) {
        let tip = |tip: &Tip| (!self.table.has_had(tip)).then_some(Fault::NoSuchTip(tip.next));
        let fault = match end {
            Ok(
                AppendOutcome::Appended { tip: told, .. }
                | AppendOutcome::Conflict { tip: Some(told) },
            ) => tip(told),
            Ok(AppendOutcome::Conflict { tip: None }) => Some(Fault::NoConflict),
            Err(AppendFault::OutcomeUnknown | AppendFault::Store) => None,
            Err(fault) => Some(Fault::Untrue(fault.to_string())),
        };
        self.fault = fault.or(self.fault.take());
    }

    fn processes(&self) -> impl Iterator<Item = &Process> {
        let awaited = self.clients.iter().filter_map(|client| client.process.as_ref());
        awaited.chain(&self.given_up)
    }

    fn was_told(&self, is_so: impl Fn(&Told) -> bool) -> bool {
        self.told.values().any(is_so)
    }

    fn learned(&self, how: Learned) -> bool {
        self.was_told(|told| matches!(told, Told::Appended { learned, .. } if *learned == how))
    }

    fn is_joined(&self) -> bool {
        let mut next = 0;
        let batches_join = self.table.batches().all(|batch| {
            let joins = batch.index == next && !batch.events.is_empty();
            next = batch.next();
            joins
        });
        let all = self.table.events().count();
        batches_join
            && self.table.tip().is_none_or(|tip| tip.first() == next && !tip.events.is_empty())
            && self.table.tip().map_or(0, |tip| tip.next) == u64::try_from(all).unwrap_or(u64::MAX)
    }
}

/// No part of a command is said twice.
fn are_once(said: &[Said]) -> bool {
    let mut parts = BTreeSet::new();
    said.iter().all(|said| parts.insert((said.append.client, said.append.command, said.part)))
}

/// Each event is behind as many as there were when it was decided.
fn are_decided_here(said: &[Said]) -> bool {
    (0..).zip(said).all(|(index, said)| u64::from(said.on) + u64::from(said.part) == index)
}

impl StreamModel {
    /// Whether something holds of all events, in their order.
    fn of_all(&self, state: &State, holds: impl Fn(&[Said], &Sayings) -> bool) -> bool {
        let Ok(sayings) = Sayings::new(self.unfolds) else { return false };
        state.table.said(&sayings).is_some_and(|said| holds(&said, &sayings))
    }

    /// Whether each append that a writer was told is there is there whole, where it was told.
    fn are_appended(&self, state: &State, said: &[Said]) -> bool {
        state.told.iter().all(|(append, told)| {
            let Told::Appended { index, .. } = told else { return true };
            let events = self.events_of(usize::from(append.client), append.command).unwrap_or(0);
            let at = said.iter().skip(usize::try_from(*index).unwrap_or(usize::MAX));
            at.take(usize::from(events))
                .map(|said| (said.append, said.part))
                .eq((0..events).map(|part| (*append, part)))
        })
    }

    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(ONCE, |model: &Self, state: &State| {
                model.of_all(state, |said, _| are_once(said))
            }),
            Property::always(APPENDED, |model: &Self, state: &State| {
                model.of_all(state, |said, _| model.are_appended(state, said))
            }),
            Property::always(NOT_APPENDED, |model: &Self, state: &State| {
                let is_not = |said: &Said| {
                    matches!(state.told.get(&said.append), Some(Told::NotAppended { .. }))
                };
                model.of_all(state, |said, _| !said.iter().any(is_not))
            }),
            Property::always(DECIDED, |model: &Self, state: &State| {
                model.of_all(state, |said, _| are_decided_here(said))
            }),
            Property::always(JOINED, |_, state: &State| state.is_joined()),
            Property::always(KEPT, |_, state: &State| state.fault != Some(Fault::Changed)),
            Property::always(ETAGS, |_, state: &State| {
                let mut etags = BTreeSet::new();
                state.table.etags().all(|etag| etags.insert(etag))
            }),
            Property::always(STATES, |model: &Self, state: &State| {
                model.of_all(state, |said, sayings| {
                    let made = state.table.state_at(sayings, state.table.tip().as_deref());
                    made.is_some_and(|made| made == said)
                })
            }),
            Property::always(ANSWERS, |_, state: &State| {
                matches!(state.fault, None | Some(Fault::Changed))
            }),
        ];
        if self.finishing {
            properties.push(Property::always(FINISHING, |model: &Self, state: &State| {
                model.finishes(state)
            }));
        }
        properties.extend(self.occurrences());
        properties.extend(self.occurrences_of_faults());
        properties
    }

    /// What must happen somewhere: otherwise the checks say nothing of it.
    fn occurrences(&self) -> Vec<Property<Self>> {
        vec![
            Property::sometimes("all is done", |model: &Self, state: &State| {
                let mut clients = state.clients.iter().enumerate();
                clients.all(|(client, its)| model.is_done(client, its))
            }),
            Property::sometimes("a tip was split", |_, state: &State| {
                state.table.batches().next().is_some()
            }),
            Property::sometimes("others append first", |_, state: &State| {
                state.was_told(|told| matches!(told, Told::NotAppended { .. }))
            }),
        ]
    }

    /// The same of what only happens by a fault, if the bounds allow it.
    fn occurrences_of_faults(&self) -> Vec<Property<Self>> {
        let mut occurrences = Vec::new();
        if self.budget.lost > 0 {
            occurrences.extend([
                Property::sometimes("a lost reply is found in the tip", |_, state: &State| {
                    state.learned(Learned::Tip)
                }),
                Property::sometimes(
                    "a lost reply is found in an event batch",
                    |_, state: &State| state.learned(Learned::EventBatch),
                ),
                Property::sometimes("a lost write is in no event batch", |_, state: &State| {
                    let learned = Learned::EventBatch;
                    state.was_told(|told| *told == Told::NotAppended { learned })
                }),
                Property::sometimes("a late write is refused", |model: &Self, state: &State| {
                    let is_refused = |write: &_| model.refuses(&state.table, write);
                    state.late.iter().any(|write| is_refused(write))
                }),
            ]);
        }
        if self.budget.given_up > 0 {
            occurrences.push(Property::sometimes(
                "what nobody waits for is appended",
                |_, state: &State| {
                    state.was_told(|told| matches!(told, Told::Appended { awaited: false, .. }))
                },
            ));
        }
        if self.budget.untold > 0 {
            occurrences.push(Property::sometimes(
                "an event batch is there already",
                |model: &Self, state: &State| {
                    let is_told = |process: &Process| {
                        model.outcomes(state, process).contains(&Outcome::BatchExistsReported)
                    };
                    state.processes().any(is_told)
                },
            ));
        }
        occurrences
    }

    /// If no more faults happen and nobody else does anything, every client's commands are done.
    fn finishes(&self, state: &State) -> bool {
        const MAX_STEPS: usize = 32;
        let mut state = state.clone();
        for client in 0..state.clients.len() {
            for _ in 0..MAX_STEPS {
                let Some(its) = state.clients.get(client) else { return false };
                if self.is_done(client, its) || state.fault.is_some() {
                    break;
                }
                let next = match &its.process {
                    Some(_) => Action::Step { client, outcome: Outcome::Answered },
                    None => Action::Begin { client, tips: state.table.tips() },
                };
                let Some(next) = self.next_state(&state, next) else { return false };
                state = next;
            }
        }
        let mut clients = state.clients.iter().enumerate();
        state.fault.is_some() || clients.all(|(client, its)| self.is_done(client, its))
    }
}
