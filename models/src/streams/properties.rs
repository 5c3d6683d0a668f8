//! Properties checked in every state.

use std::collections::BTreeSet;

use cellar_catalog::stream::Tip;
use cellar_catalog::stream::append::{AppendFault, AppendOutcome};
use stateright::{Model, Property};

use super::events::{EventListDecider, ModelEvent};
use super::{Process, RequestOutcome, State, StreamAction, StreamModel, Table};

/// Property: no event takes effect twice, even if its command is retried.
pub const ONCE: &str = "each event is in the stream at most once";
/// Property: an append that was reported as successful is complete and unaffected by later writes.
pub const APPENDED: &str = "events reported as appended are in the stream, at the reported index";
/// Property: a failed append has no effect, not even through a delayed request.
pub const NOT_APPENDED: &str = "events reported as not appended are not in the stream";
/// Property: together with [`KEPT`] and [`STATES`], each event was decided on exactly the events
/// that precede it.
pub const DECIDED: &str = "each event has the index that its decision assumed";
/// Property: readers can follow the event batches from the tip back to the first event.
pub const CONTIGUOUS: &str = "event batches and tip have no gap and no overlap";
/// Property: events are immutable, so earlier reads remain valid.
pub const KEPT: &str = "a stored event never changes, moves or disappears";
/// Property: an etag condition that has failed never succeeds later.
pub const ETAGS: &str = "no two tips have the same etag";
/// Property: a reader of the unfold (cached state) needs no other events.
pub const STATES: &str = "the state of the tip is the state after all events";
/// Property: reported tips, conflicts and failures match the table.
pub const ANSWERS: &str = "reports to writers are true";
/// Property: every writer eventually finishes.
pub const FINISHING: &str = "every writer finishes when faults stop";

/// A violation caused by a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The step changed events that were readable before.
    Changed,
    /// A writer received a tip that never existed; contains the tip's number of events.
    NoSuchTip(u64),
    /// A writer received a conflict although the stream is empty.
    NoConflict,
    /// An append failed for a false reason; contains the error message.
    FalseReason(String),
}

/// Outcome of an append, as reported to its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportedOutcome {
    /// The events are appended.
    Appended {
        /// Index of the append's first event.
        index: u64,
        /// How the writer determined the outcome.
        evidence: Evidence,
        /// Whether the client was still waiting for the call.
        awaited: bool,
    },
    /// The events are not in the stream and never will be.
    NotAppended {
        /// How the writer determined the outcome.
        evidence: Evidence,
    },
}

/// How a writer determined whether its append took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// From the response to its write.
    Answer,
    /// From the tip, or from a permanent refusal.
    Tip,
    /// From the event batches.
    EventBatch,
}

impl State {
    /// Records a violation if this step changed an event that was readable before.
    pub(super) fn check_unchanged(&mut self, before: &Table) {
        let mut now = self.table.events();
        let is_unchanged = before.events().all(|event| now.next() == Some(event));
        if !is_unchanged {
            self.fault = Some(Fault::Changed);
        }
    }

    /// Records a violation if the table contradicts the append's result: its tip, conflict or
    /// failure.
    pub(super) fn check_append_result(&mut self, end: &Result<AppendOutcome, AppendFault>) {
        let fault = match end {
            Ok(
                AppendOutcome::Appended { tip, .. } | AppendOutcome::Conflict { tip: Some(tip) },
            ) => self.find_unknown_tip(tip),
            Ok(AppendOutcome::Conflict { tip: None }) => Some(Fault::NoConflict),
            Err(AppendFault::OutcomeUnknown | AppendFault::Store) => None,
            Err(fault) => Some(Fault::FalseReason(fault.to_string())),
        };
        if fault.is_some() {
            self.fault = fault;
        }
    }

    /// Returns a violation if `tip` was never stored.
    fn find_unknown_tip(&self, tip: &Tip) -> Option<Fault> {
        if self.table.ever_contained(tip) {
            return None;
        }
        Some(Fault::NoSuchTip(tip.next))
    }

    fn processes(&self) -> impl Iterator<Item = &Process> {
        let awaited = self.clients.iter().filter_map(|client| client.process.as_ref());
        awaited.chain(&self.abandoned)
    }

    fn any_report(&self, matches: impl Fn(&ReportedOutcome) -> bool) -> bool {
        self.reported.values().any(matches)
    }

    fn has_appended_with(&self, expected: Evidence) -> bool {
        self.any_report(
            |report| matches!(report, ReportedOutcome::Appended { evidence, .. } if *evidence == expected),
        )
    }

    fn is_contiguous(&self) -> bool {
        let mut next = 0;
        for batch in self.table.batches() {
            if batch.index != next || batch.events.is_empty() {
                return false;
            }
            next = batch.next();
        }
        let event_count = u64::try_from(self.table.events().count()).unwrap_or(u64::MAX);
        match self.table.tip() {
            None => event_count == 0,
            Some(tip) => tip.first() == next && !tip.events.is_empty() && tip.next == event_count,
        }
    }
}

/// Returns whether no event of a command occurs twice.
fn are_unique(events: &[ModelEvent]) -> bool {
    let mut parts = BTreeSet::new();
    events.iter().all(|event| parts.insert((event.append.client, event.append.command, event.part)))
}

/// Returns whether each event has the index that its decision assumed.
fn are_at_decided_index(events: &[ModelEvent]) -> bool {
    (0..)
        .zip(events)
        .all(|(index, event)| u64::from(event.decided_at) + u64::from(event.part) == index)
}

impl StreamModel {
    /// Returns whether `check` accepts all events of the stream, in order.
    fn check_events(
        &self,
        state: &State,
        check: impl Fn(&[ModelEvent], &EventListDecider) -> bool,
    ) -> bool {
        let Ok(decider) = EventListDecider::new(self.unfolds) else { return false };
        let events = state.table.decode_events(&decider);
        events.is_some_and(|events| check(&events, &decider))
    }

    /// Returns whether each append that was reported as successful is complete, at the reported
    /// index.
    fn are_appended(&self, state: &State, events: &[ModelEvent]) -> bool {
        state.reported.iter().all(|(append, report)| {
            let ReportedOutcome::Appended { index, .. } = report else { return true };
            let event_count =
                self.event_count(usize::from(append.client), append.command).unwrap_or(0);
            let start = usize::try_from(*index).unwrap_or(usize::MAX);
            let stored = events.iter().skip(start).take(usize::from(event_count));
            let expected = (0..event_count).map(|part| (*append, part));
            stored.map(|event| (event.append, event.part)).eq(expected)
        })
    }

    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(ONCE, |model: &Self, state: &State| {
                model.check_events(state, |events, _| are_unique(events))
            }),
            Property::always(APPENDED, |model: &Self, state: &State| {
                model.check_events(state, |events, _| model.are_appended(state, events))
            }),
            Property::always(NOT_APPENDED, |model: &Self, state: &State| {
                let is_reported_missing = |event: &ModelEvent| {
                    matches!(
                        state.reported.get(&event.append),
                        Some(ReportedOutcome::NotAppended { .. })
                    )
                };
                model.check_events(state, |events, _| !events.iter().any(is_reported_missing))
            }),
            Property::always(DECIDED, |model: &Self, state: &State| {
                model.check_events(state, |events, _| are_at_decided_index(events))
            }),
            Property::always(CONTIGUOUS, |_, state: &State| state.is_contiguous()),
            Property::always(KEPT, |_, state: &State| state.fault != Some(Fault::Changed)),
            Property::always(ETAGS, |_, state: &State| {
                let mut etags = BTreeSet::new();
                state.table.etags().all(|etag| etags.insert(etag))
            }),
            Property::always(STATES, |model: &Self, state: &State| {
                model.check_events(state, |events, decider| {
                    let tip_state = state.table.state_at(decider, state.table.tip().as_deref());
                    tip_state.is_some_and(|tip_state| tip_state == events)
                })
            }),
            Property::always(ANSWERS, |_, state: &State| {
                matches!(state.fault, None | Some(Fault::Changed))
            }),
        ];
        if self.finishing {
            properties.push(Property::always(FINISHING, |model: &Self, state: &State| {
                model.can_finish(state)
            }));
        }
        properties.extend(self.occurrences());
        properties.extend(self.occurrences_of_faults());
        properties
    }

    /// Returns properties that must hold in at least one state; otherwise the bounds are too small
    /// for a meaningful check.
    fn occurrences(&self) -> Vec<Property<Self>> {
        vec![
            Property::sometimes("all commands are done", |model: &Self, state: &State| {
                let mut clients = state.clients.iter().enumerate();
                clients.all(|(client, caller)| model.is_done(client, caller))
            }),
            Property::sometimes("a tip was split", |_, state: &State| {
                state.table.batches().next().is_some()
            }),
            Property::sometimes("another writer appends first", |_, state: &State| {
                state.any_report(|report| matches!(report, ReportedOutcome::NotAppended { .. }))
            }),
        ]
    }

    /// Like [`StreamModel::occurrences`], but for events that require a fault; omitted if the
    /// bounds allow no such fault.
    fn occurrences_of_faults(&self) -> Vec<Property<Self>> {
        let mut occurrences = Vec::new();
        if self.budget.lost > 0 {
            occurrences.extend([
                Property::sometimes("a lost reply is found in the tip", |_, state: &State| {
                    state.has_appended_with(Evidence::Tip)
                }),
                Property::sometimes(
                    "a lost reply is found in an event batch",
                    |_, state: &State| state.has_appended_with(Evidence::EventBatch),
                ),
                Property::sometimes("a lost write is in no event batch", |_, state: &State| {
                    let expected = ReportedOutcome::NotAppended { evidence: Evidence::EventBatch };
                    state.any_report(|report| *report == expected)
                }),
                Property::sometimes("a late write is refused", |model: &Self, state: &State| {
                    let is_refused = |write: &_| model.refuses(&state.table, write);
                    state.late_writes.iter().any(|write| is_refused(write))
                }),
            ]);
        }
        if self.budget.abandoned > 0 {
            occurrences.push(Property::sometimes(
                "an abandoned call appends",
                |_, state: &State| {
                    state.any_report(|report| {
                        matches!(report, ReportedOutcome::Appended { awaited: false, .. })
                    })
                },
            ));
        }
        if self.budget.refusals_without_tip > 0 {
            occurrences.push(Property::sometimes(
                "an event batch already exists",
                |model: &Self, state: &State| {
                    let may_meet_batch = |process: &Process| {
                        model
                            .possible_outcomes(state, process)
                            .contains(&RequestOutcome::BatchExistsReported)
                    };
                    state.processes().any(may_meet_batch)
                },
            ));
        }
        occurrences
    }

    /// Returns whether all commands complete if the other processes stop and no fault is injected.
    fn can_finish(&self, state: &State) -> bool {
        const MAX_STEPS: usize = 32;
        let mut state = state.clone();
        for client in 0..state.clients.len() {
            for _ in 0..MAX_STEPS {
                let Some(caller) = state.clients.get(client) else { return false };
                if self.is_done(client, caller) || state.fault.is_some() {
                    break;
                }
                let next = match &caller.process {
                    Some(_) => StreamAction::Step { client, outcome: RequestOutcome::Answered },
                    None => StreamAction::Begin { client, tip_count: state.table.tip_count() },
                };
                let Some(next) = self.next_state(&state, next) else { return false };
                state = next;
            }
        }
        let mut clients = state.clients.iter().enumerate();
        state.fault.is_some() || clients.all(|(client, caller)| self.is_done(client, caller))
    }
}
