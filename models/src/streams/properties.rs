//! The properties that the model checker checks in every state of the stream model.

use std::collections::BTreeSet;

use cellar_catalog::stream::Tip;
use cellar_catalog::stream::append::{AppendFault, AppendOutcome};
use stateright::{Model, Property};

use super::events::{EventListDecider, ModelEvent};
use super::{Process, RequestOutcome, State, StreamAction, StreamModel, Table};

/// Property: no event is in the stream twice, even if the command that produced it is retried.
pub const ONCE: &str = "each event is in the stream at most once";
/// Property: if an append was reported as successful, the stream contains all its events, and later
/// writes do not change them.
pub const APPENDED: &str = "events reported as appended are in the stream, at the reported index";
/// Property: an append that was reported as failed has no effect, even if one of its requests was
/// delayed.
pub const NOT_APPENDED: &str = "events reported as not appended are not in the stream";
/// Property: the index of an append's first event is the number of events on which the append was
/// decided. Together with [`KEPT`] and [`STATES`], this means that it was decided on exactly the
/// events before it.
pub const DECIDED: &str = "each event has the index that its decision assumed";
/// Property: a reader can follow the event batches from the newest item of the stream to the first
/// event.
pub const CONTIGUOUS: &str = "event batches and tip have no gap and no overlap";
/// Property: events are immutable, so that events that were read earlier remain valid.
pub const KEPT: &str = "a stored event never changes, moves or disappears";
/// Property: etags are unique. A write whose etag condition has failed can therefore never succeed
/// later.
pub const ETAGS: &str = "no two tips have the same etag";
/// Property: the state that the newest item caches includes all events, so that a reader of the
/// cached state needs no events.
pub const STATES: &str = "the state of the tip is the state after all events";
/// Property: every tip, conflict and failure that is reported to a writer is consistent with the
/// table.
pub const ANSWERS: &str = "reports to writers are true";
/// Property: every writer eventually finishes.
pub const FINISHING: &str = "every writer finishes when faults stop";

/// A violation caused by a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The step changed events that were already readable.
    Changed,
    /// A writer received a tip that never existed. Contains the number of events up to that tip.
    NoSuchTip(u64),
    /// A writer received a conflict although the stream is empty.
    NoConflict,
    /// An append failed for a reason that is false. Contains the error message.
    FalseReason(String),
}

/// The outcome of an append that was reported to its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportedOutcome {
    /// The events are appended.
    Appended {
        /// Index of the append's first event.
        index: u64,
        /// How the writer determined the outcome.
        evidence: Evidence,
        /// Whether the client still waited for the result of the call.
        awaited: bool,
    },
    /// The stream does not contain the events and never will.
    NotAppended {
        /// How the writer determined the outcome.
        evidence: Evidence,
    },
}

/// How a writer has learned whether its append took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// From the response to its write.
    Answer,
    /// The writer read the tip, or its request was refused permanently.
    Tip,
    /// From the event batches.
    EventBatch,
}

impl State {
    /// Records a violation if this step changed an event that was already readable.
    pub(super) fn record_changed_event(&mut self, old_table: &Table) {
        let old_event_count = old_table.events().count();
        let is_unchanged = self.table.events().take(old_event_count).eq(old_table.events());
        if !is_unchanged {
            self.fault = Some(Fault::Changed);
        }
    }

    /// Records a violation if the table contradicts the tip, the conflict or the failure that an
    /// append has reported.
    pub(super) fn record_false_report(&mut self, result: &Result<AppendOutcome, AppendFault>) {
        let fault = match result {
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

    fn has_appended_with(&self, expected_evidence: Evidence) -> bool {
        self.any_report(
            |report| matches!(report, ReportedOutcome::Appended { evidence, .. } if *evidence == expected_evidence),
        )
    }

    fn is_contiguous(&self) -> bool {
        let mut next_index = 0;
        for batch in self.table.batches() {
            if batch.index != next_index || batch.events.is_empty() {
                return false;
            }
            next_index = batch.next();
        }
        let event_count = u64::try_from(self.table.events().count()).unwrap_or(u64::MAX);
        let Some(tip) = self.table.tip() else { return event_count == 0 };
        tip.first() == next_index && !tip.events.is_empty() && tip.next == event_count
    }

    /// Returns whether the state that is derived from the tip consists of all events of the stream.
    fn has_true_tip_state(&self, events: &[ModelEvent], decider: &EventListDecider) -> bool {
        let tip_state = self.table.state_at(decider, self.table.tip().as_deref());
        tip_state.is_some_and(|tip_state| tip_state == events)
    }

    fn has_unique_etags(&self) -> bool {
        let unique_etags: BTreeSet<_> = self.table.etags().collect();
        unique_etags.len() == self.table.tip_count()
    }

    fn has_no_event_reported_missing(&self, events: &[ModelEvent]) -> bool {
        events.iter().all(|event| {
            let report = self.reported.get(&event.append);
            !matches!(report, Some(ReportedOutcome::NotAppended { .. }))
        })
    }
}

fn are_unique(events: &[ModelEvent]) -> bool {
    let identity = |event: &ModelEvent| (event.append.client, event.append.command, event.part);
    let unique_events: BTreeSet<_> = events.iter().map(identity).collect();
    unique_events.len() == events.len()
}

fn are_at_decided_index(events: &[ModelEvent]) -> bool {
    (0..)
        .zip(events)
        .all(|(index, event)| u64::from(event.decided_at) + u64::from(event.part) == index)
}

impl StreamModel {
    fn do_events_satisfy(
        &self,
        state: &State,
        predicate: impl Fn(&[ModelEvent], &EventListDecider) -> bool,
    ) -> bool {
        let Ok(decider) = EventListDecider::new(self.unfolds) else { return false };
        let events = state.table.decode_events(&decider);
        events.is_some_and(|events| predicate(&events, &decider))
    }

    /// Returns whether each append that was reported as successful is complete and starts at the
    /// reported index.
    fn are_reports_complete(&self, state: &State, events: &[ModelEvent]) -> bool {
        state.reported.iter().all(|(append_id, report)| {
            let ReportedOutcome::Appended { index, .. } = report else { return true };
            let event_count =
                self.event_count(usize::from(append_id.client), append_id.command).unwrap_or(0);
            let start_index = usize::try_from(*index).unwrap_or(usize::MAX);
            let stored_events = events.iter().skip(start_index).take(usize::from(event_count));
            let expected_parts = (0..event_count).map(|part| (*append_id, part));
            stored_events.map(|event| (event.append, event.part)).eq(expected_parts)
        })
    }

    pub(super) fn all_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always(ONCE, |model: &Self, state: &State| {
                model.do_events_satisfy(state, |events, _| are_unique(events))
            }),
            Property::always(APPENDED, |model: &Self, state: &State| {
                model
                    .do_events_satisfy(state, |events, _| model.are_reports_complete(state, events))
            }),
            Property::always(NOT_APPENDED, |model: &Self, state: &State| {
                model.do_events_satisfy(state, |events, _| {
                    state.has_no_event_reported_missing(events)
                })
            }),
            Property::always(DECIDED, |model: &Self, state: &State| {
                model.do_events_satisfy(state, |events, _| are_at_decided_index(events))
            }),
            Property::always(CONTIGUOUS, |_, state: &State| state.is_contiguous()),
            Property::always(KEPT, |_, state: &State| state.fault != Some(Fault::Changed)),
            Property::always(ETAGS, |_, state: &State| state.has_unique_etags()),
            Property::always(STATES, |model: &Self, state: &State| {
                model.do_events_satisfy(state, |events, decider| {
                    state.has_true_tip_state(events, decider)
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

    /// Returns the properties that must each hold in at least one state. A property that never
    /// holds means that the limits of the model are too low for a meaningful check.
    fn occurrences(&self) -> Vec<Property<Self>> {
        vec![
            Property::sometimes("all commands are done", |model: &Self, state: &State| {
                model.are_all_done(state)
            }),
            Property::sometimes("a tip was split", |_, state: &State| {
                state.table.batches().next().is_some()
            }),
            Property::sometimes("another writer appends first", |_, state: &State| {
                state.any_report(|report| matches!(report, ReportedOutcome::NotAppended { .. }))
            }),
        ]
    }

    fn are_all_done(&self, state: &State) -> bool {
        let mut clients = state.clients.iter().enumerate();
        clients.all(|(client_index, client)| self.is_done(client_index, client))
    }

    /// Returns the properties that must each hold in at least one state, but can hold only after a
    /// fault. Omits the properties whose fault the model does not inject.
    fn occurrences_of_faults(&self) -> Vec<Property<Self>> {
        let mut occurrences = Vec::new();
        if self.budget.lost > 0 {
            occurrences.extend(occurrences_of_lost_replies());
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
                    state.processes().any(|process| {
                        let outcomes = model.possible_outcomes(state, process);
                        outcomes.contains(&RequestOutcome::BatchExistsReported)
                    })
                },
            ));
        }
        occurrences
    }

    /// Returns whether all commands are eventually completed if the other processes stop and no
    /// more faults are injected.
    fn can_finish(&self, state: &State) -> bool {
        const MAX_STEPS_PER_CLIENT: usize = 32;
        let mut state = state.clone();
        for client_index in 0..state.clients.len() {
            for _ in 0..MAX_STEPS_PER_CLIENT {
                let Some(client) = state.clients.get(client_index) else { return false };
                if self.is_done(client_index, client) || state.fault.is_some() {
                    break;
                }
                let fault_free_action = if client.process.is_some() {
                    StreamAction::Step { client_index, outcome: RequestOutcome::Answered }
                } else {
                    StreamAction::Begin { client_index, tip_number: state.table.tip_count() }
                };
                match self.next_state(&state, fault_free_action) {
                    Some(new_state) => state = new_state,
                    None => return false,
                }
            }
        }
        state.fault.is_some() || self.are_all_done(&state)
    }
}

fn occurrences_of_lost_replies() -> [Property<StreamModel>; 4] {
    [
        Property::sometimes("a lost reply is found in the tip", |_, state: &State| {
            state.has_appended_with(Evidence::Tip)
        }),
        Property::sometimes("a lost reply is found in an event batch", |_, state: &State| {
            state.has_appended_with(Evidence::EventBatch)
        }),
        Property::sometimes("a lost write is in no event batch", |_, state: &State| {
            let expected = ReportedOutcome::NotAppended { evidence: Evidence::EventBatch };
            state.any_report(|report| *report == expected)
        }),
        Property::sometimes("a late write is refused", |model: &StreamModel, state: &State| {
            state.late_writes.iter().any(|write| model.would_refuse(&state.table, write))
        }),
    ]
}
