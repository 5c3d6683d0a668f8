//! The possible transitions of the log model, and their effects on a state.

use std::sync::Arc;

use cellar_base::limits::TRIM_FENCE_S;
use cellar_log::append::{self, AppendEvent};
use cellar_log::entry::Entry;
use cellar_log::invariants::check_prefix;
use cellar_log::retention::Fences;
use cellar_log::roll;

use super::tables::{Tables, View};
use super::{Client, Fault, LateRequest, LogModel, Process, Rolling, State, Trimming};
use crate::fingerprint::Hashed;

/// A transition of the log model.
#[derive(Debug, Clone, PartialEq)]
pub enum LogAction {
    /// A client sends one or more mutations in one request.
    Send {
        /// Index of the client.
        client_index: usize,
        /// Id of the first mutation.
        first_id: u64,
        /// Id of the last mutation.
        last_id: u64,
    },
    /// The pending request of a client's process completes.
    Step {
        /// Index of the client.
        client_index: usize,
        /// How the request ends.
        outcome: RequestOutcome,
    },
    /// The pending request of an abandoned process completes.
    StepAbandoned {
        /// Index of the abandoned process.
        process_index: usize,
        /// How the request ends.
        outcome: RequestOutcome,
    },
    /// A client stops waiting for its request and will retry the mutations with another process.
    Abandon {
        /// Index of the client.
        client_index: usize,
    },
    /// A delayed request reaches the tables.
    ExecuteLateRequest {
        /// Index of the delayed request.
        request_index: usize,
    },
    /// A roll begins.
    BeginRoll,
    /// The roll's pending request completes.
    Roll(RequestOutcome),
    /// The first segment is offloaded, and the trim of the segment starts.
    BeginTrim,
    /// The trim takes its next step.
    Trim,
    /// The trim is interrupted before it is complete.
    StopTrim,
    /// The clock advances by a day.
    AdvanceClockByDay,
}

/// Result of a state machine's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is executed, and its response arrives.
    Answered,
    /// The read returns a stale view.
    Stale(View),
    /// The response is lost. The request is executed later or never.
    Lost,
    /// The request is never executed, because it is a day old and its signature has expired. No
    /// response arrives.
    Expired,
}

impl LogModel {
    /// For each process, the outcome without a fault comes first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<LogAction>) {
        for (client_index, client) in state.clients.iter().enumerate() {
            if let Some(process) = &client.process {
                for outcome in possible_outcomes(state, process) {
                    actions.push(LogAction::Step { client_index, outcome });
                }
                if state.budget.abandoned > 0 {
                    actions.push(LogAction::Abandon { client_index });
                }
            } else {
                self.add_send_actions(client_index, client, actions);
            }
        }
        for (process_index, process) in state.abandoned.iter().enumerate() {
            for outcome in possible_outcomes(state, process) {
                actions.push(LogAction::StepAbandoned { process_index, outcome });
            }
        }
        for request_index in 0..state.late_requests.len() {
            actions.push(LogAction::ExecuteLateRequest { request_index });
        }
        add_maintenance_actions(state, actions);
    }

    fn add_send_actions(&self, client_index: usize, client: &Client, actions: &mut Vec<LogAction>) {
        let next_id = client.acknowledged_id + 1;
        let max_first_id = if self.pipelined { client.mutation_count } else { next_id };
        for first_id in next_id..=max_first_id {
            for last_id in (first_id..=client.mutation_count).rev() {
                actions.push(LogAction::Send { client_index, first_id, last_id });
            }
        }
    }

    /// Returns `None` if the action is impossible in `state`.
    pub(super) fn apply_action(&self, state: &State, action: &LogAction) -> Option<State> {
        let old_state = state.clone();
        let mut new_state = match *action {
            LogAction::Send { client_index, first_id, last_id } => {
                self.send(old_state, client_index, first_id, last_id)?
            }
            LogAction::Step { client_index, outcome } => {
                self.step_client(old_state, client_index, outcome)?
            }
            LogAction::StepAbandoned { process_index, outcome } => {
                self.step_abandoned_process(old_state, process_index, outcome)
            }
            LogAction::Abandon { client_index } => old_state.abandon_request(client_index)?,
            LogAction::ExecuteLateRequest { request_index } => {
                old_state.execute_late_request(request_index)
            }
            LogAction::BeginRoll => old_state.begin_roll()?,
            LogAction::Roll(outcome) => old_state.step_roll(outcome)?,
            LogAction::BeginTrim => old_state.begin_trim(self.fences)?,
            LogAction::Trim => old_state.step_trim()?,
            LogAction::StopTrim => old_state.stop_trim(),
            LogAction::AdvanceClockByDay => old_state.advance_clock_by_day(),
        };
        if new_state.tables != state.tables {
            if self.fences.age {
                new_state.drop_ineffective_requests();
            }
            new_state.record_changed_entry(&state.tables);
        }
        Some(new_state)
    }

    fn send(
        &self,
        mut state: State,
        client_index: usize,
        first_id: u64,
        last_id: u64,
    ) -> Option<State> {
        let client = state.clients.get_mut(client_index)?;
        client.send(self.rules, first_id, last_id, state.now_s).ok()?;
        self.deliver_reply(&mut state, client_index);
        Some(state)
    }

    fn step_client(
        &self,
        mut state: State,
        client_index: usize,
        outcome: RequestOutcome,
    ) -> Option<State> {
        let process = state.clients.get_mut(client_index)?.process.take()?;
        let ProcessStep { process, new_entries } = state.step_process(&process, outcome);
        let client = state.clients.get_mut(client_index)?;
        if !new_entries.is_empty() {
            client.add_to_cached_tail(&new_entries);
        }
        client.process = Some(process);
        self.deliver_reply(&mut state, client_index);
        Some(state)
    }

    fn step_abandoned_process(
        &self,
        mut state: State,
        process_index: usize,
        outcome: RequestOutcome,
    ) -> State {
        let process = state.abandoned.remove(process_index);
        let ProcessStep { process, .. } = state.step_process(&process, outcome);
        if let append::AppendAction::Finish(result) = process.action() {
            state.record_false_refusal(process.client_index, result, self.has_real_bases());
        } else {
            state.add_abandoned(process);
        }
        state
    }

    /// Returns whether the base of each mutation is a position that existed when the mutation was
    /// sent.
    fn has_real_bases(&self) -> bool {
        self.beyond_end == 0
    }

    fn deliver_reply(&self, state: &mut State, client_index: usize) {
        let Some(client) = state.clients.get_mut(client_index) else { return };
        let Some(process) = client.process.clone() else { return };
        let append::AppendAction::Finish(result) = process.action() else { return };
        client.process = None;
        if let Ok(appended) = result {
            let rejected_mutations = client.record_reply(appended);
            if self.check_rejections {
                state.record_false_rejection(&rejected_mutations);
            }
        }
        state.record_false_refusal(client_index, result, self.has_real_bases());
    }
}

fn add_maintenance_actions(state: &State, actions: &mut Vec<LogAction>) {
    let budget = &state.budget;
    if let Some(rolling) = &state.rolling {
        let is_write = matches!(rolling.action(), roll::RollAction::Transact(_));
        let outcomes = if is_write {
            write_outcomes(state, rolling.request_s)
        } else {
            vec![RequestOutcome::Answered]
        };
        actions.extend(outcomes.into_iter().map(LogAction::Roll));
    } else if budget.rolls > 0 {
        actions.push(LogAction::BeginRoll);
    }
    if state.trimming.is_some() {
        actions.push(LogAction::Trim);
        if budget.trim_stops > 0 {
            actions.push(LogAction::StopTrim);
        }
    } else if budget.trims > 0 {
        actions.push(LogAction::BeginTrim);
    }
    if budget.days > 0 {
        actions.push(LogAction::AdvanceClockByDay);
    }
}

fn possible_outcomes(state: &State, process: &Process) -> Vec<RequestOutcome> {
    let action = process.action();
    if matches!(action, append::AppendAction::Put { .. }) {
        return write_outcomes(state, process.request_s);
    }
    let mut outcomes = vec![RequestOutcome::Answered];
    if let append::AppendAction::Read { from, consistency } = action
        && state.budget.stale > 0
    {
        if consistency.is_strong() {
            outcomes.extend(state.tables.torn_view(*from).map(RequestOutcome::Stale));
        } else {
            let stale_views = state.tables.stale_views(*from);
            outcomes.extend(stale_views.into_iter().map(RequestOutcome::Stale));
        }
    }
    outcomes
}

/// Returns whether the tables have changed.
fn execute_request(tables: &mut Tables, request: &LateRequest) -> bool {
    match request {
        LateRequest::Put(entry) => tables.put(entry.shared()).is_ok(),
        LateRequest::Roll(transaction) => tables.transact(transaction),
    }
}

fn write_outcomes(state: &State, request_s: u64) -> Vec<RequestOutcome> {
    if state.now_s >= request_s + TRIM_FENCE_S {
        vec![RequestOutcome::Expired]
    } else if state.budget.lost > 0 {
        vec![RequestOutcome::Answered, RequestOutcome::Lost]
    } else {
        vec![RequestOutcome::Answered]
    }
}

struct ProcessStep {
    process: Process,
    new_entries: Vec<Arc<Entry>>,
}

impl State {
    fn step_process(&mut self, process: &Process, outcome: RequestOutcome) -> ProcessStep {
        let mut new_entries = Vec::new();
        let event = match process.action() {
            append::AppendAction::Read { from, .. } => {
                let mut view = View::Now;
                if let RequestOutcome::Stale(stale_view) = outcome {
                    self.budget.stale -= 1;
                    view = stale_view;
                }
                new_entries = self.tables.read(*from, view);
                AppendEvent::Page { entries: new_entries.clone(), has_more: false }
            }
            append::AppendAction::Put { entry } => {
                let event = self.put(entry, outcome);
                match &event {
                    AppendEvent::PutAccepted => new_entries.push(Arc::clone(entry)),
                    AppendEvent::PutRefused { winner } => new_entries.push(Arc::clone(winner)),
                    _ => {}
                }
                event
            }
            append::AppendAction::FindNewestSegment => {
                let newest_segment = self.tables.newest_segment();
                AppendEvent::NewestSegment(newest_segment.map(|segment| segment.num))
            }
            // The append never requests this in the model, because the header of every entry
            // contains a state summary.
            append::AppendAction::ReadState { .. } => AppendEvent::State(None),
            append::AppendAction::Wait { .. } | append::AppendAction::Finish(_) => {
                AppendEvent::Waited
            }
        };
        ProcessStep { process: process.step(event, self.now_s), new_entries }
    }

    fn put(&mut self, entry: &Arc<Entry>, outcome: RequestOutcome) -> AppendEvent {
        match outcome {
            RequestOutcome::Lost => {
                self.budget.lost -= 1;
                self.add_late_request(LateRequest::Put(Hashed::new(Arc::clone(entry))));
                AppendEvent::PutUnknown
            }
            RequestOutcome::Expired => AppendEvent::PutUnknown,
            RequestOutcome::Answered | RequestOutcome::Stale(_) => {
                match Arc::make_mut(&mut self.tables).put(entry) {
                    Ok(()) => AppendEvent::PutAccepted,
                    Err(winner) => AppendEvent::PutRefused { winner },
                }
            }
        }
    }

    fn execute_late_request(mut self, request_index: usize) -> Self {
        let request = self.late_requests.remove(request_index);
        execute_request(Arc::make_mut(&mut self.tables), &request);
        self
    }

    /// Advances the clock by a day, after which delayed requests have expired.
    fn advance_clock_by_day(mut self) -> Self {
        self.budget.days -= 1;
        self.now_s += TRIM_FENCE_S;
        Arc::make_mut(&mut self.tables).settle();
        self.late_requests.clear();
        self
    }

    fn begin_roll(mut self) -> Option<Self> {
        self.budget.rolls -= 1;
        self.rolling = Some(Rolling::begin(self.tables.tail()?.shared(), self.now_s));
        Some(self)
    }

    fn step_roll(mut self, outcome: RequestOutcome) -> Option<Self> {
        let rolling = self.rolling.take()?;
        let event = match (rolling.action(), outcome) {
            (roll::RollAction::Transact(transaction), RequestOutcome::Lost) => {
                self.budget.lost -= 1;
                let transaction = Arc::new(roll::Transaction::clone(transaction));
                self.add_late_request(LateRequest::Roll(Hashed::new(transaction)));
                roll::RollEvent::Unknown
            }
            (_, RequestOutcome::Expired) => roll::RollEvent::Unknown,
            _ => rolling.execute(Arc::make_mut(&mut self.tables)),
        };
        self.rolling = rolling.step(event, self.now_s);
        Some(self)
    }

    fn begin_trim(mut self, fences: Fences) -> Option<Self> {
        self.budget.trims -= 1;
        let tables = Arc::make_mut(&mut self.tables);
        self.trimming = Some(Trimming::offload_and_begin(tables, fences, self.now_s)?);
        Some(self)
    }

    fn step_trim(mut self) -> Option<Self> {
        let trimming = self.trimming.take()?;
        self.trimming = trimming.step(Arc::make_mut(&mut self.tables), self.now_s);
        Some(self)
    }

    fn stop_trim(mut self) -> Self {
        self.budget.trim_stops -= 1;
        self.trimming = None;
        self
    }

    fn add_late_request(&mut self, request: LateRequest) {
        self.late_requests.push(request);
        self.late_requests.sort();
    }

    /// The client will retry the request with a new process that has not cached any entries.
    /// Returns `None` if the client has no request.
    fn abandon_request(mut self, client_index: usize) -> Option<Self> {
        let client = self.clients.get_mut(client_index)?;
        let process = client.process.take()?;
        client.drop_cached_tail();
        self.budget.abandoned -= 1;
        self.add_abandoned(process);
        Some(self)
    }

    fn add_abandoned(&mut self, process: Process) {
        self.abandoned.push(process);
        self.abandoned.sort();
    }

    /// Removes delayed puts and rolls whose keys are taken. They can never succeed: a trim frees a
    /// key only after every request for the key has expired.
    fn drop_ineffective_requests(&mut self) {
        let tables = &self.tables;
        self.late_requests.retain(|request| execute_request(&mut Tables::clone(tables), request));
    }

    /// Records a violation if this step changed an entry that was already readable.
    fn record_changed_entry(&mut self, old_tables: &Tables) {
        if let Err(violation) = check_prefix(&old_tables.history(), &self.tables.history()) {
            self.fault = Some(Fault::Prefix(violation));
        }
    }
}
