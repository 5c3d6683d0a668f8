//! The possible transitions of the push model, and their effects on a state.

use std::sync::Arc;

use cellar_base::consistency::ReadConsistency;
use cellar_log::append;

use super::client::Client;
use super::process::{PendingRequest, Process, StepResult};
use super::table::client_key;
use super::{PushModel, State};

/// A transition of the push model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushAction {
    /// A client pushes its unacknowledged mutations.
    Push {
        /// Index of the client.
        client_index: usize,
        /// The number of mutations that the client has created, including the mutations in this
        /// push.
        mutation_count: usize,
        /// The information about the client with which the process starts.
        knowledge: ClientKnowledge,
    },
    /// A client pulls.
    Pull {
        /// Index of the client.
        client_index: usize,
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
    /// A client abandons its push.
    Abandon {
        /// Index of the client.
        client_index: usize,
    },
    /// The log is restored to a prefix.
    Restore {
        /// The number of entries that remain in the log.
        entry_count: usize,
    },
}

/// The information about a client with which the process of a push starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKnowledge {
    /// The last mutation id of the client, which an earlier push has cached.
    CachedLastId,
    /// Nothing.
    Nothing,
}

/// Result of a process's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is executed, and its response arrives.
    Answered,
    /// The read is outdated and returns only the given number of entries.
    Stale(usize),
    /// The lookup reads a snapshot that no longer contains the client.
    Forgotten,
}

impl PushModel {
    /// For each process, the outcome without a fault comes first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<PushAction>) {
        for (client_index, client) in state.clients.iter().enumerate() {
            if client.is_lost {
                continue;
            }
            match &client.process {
                Some(process) => add_process_actions(state, client_index, process, actions),
                None => self.add_client_actions(state, client_index, client, actions),
            }
        }
        for (process_index, process) in state.abandoned.iter().enumerate() {
            for outcome in possible_outcomes(state, process) {
                actions.push(PushAction::StepAbandoned { process_index, outcome });
            }
        }
        if state.budget.restores > 0 {
            for entry_count in 1..=state.table.entry_count() {
                actions.push(PushAction::Restore { entry_count });
            }
        }
    }

    fn add_client_actions(
        &self,
        state: &State,
        client_index: usize,
        client: &Client,
        actions: &mut Vec<PushAction>,
    ) {
        let Some(contents) = self.mutations.get(client_index) else { return };
        if client.is_done(contents) {
            return;
        }
        if client.has_outdated_pull(&state.table) {
            actions.push(PushAction::Pull { client_index });
        }
        let acknowledged_count = usize::try_from(client.acknowledged_id).unwrap_or(usize::MAX);
        let min_count = client.pushed.len().max(acknowledged_count + 1);
        for mutation_count in min_count..=contents.len() {
            if client.known_last_id > 0 {
                let knowledge = ClientKnowledge::CachedLastId;
                actions.push(PushAction::Push { client_index, mutation_count, knowledge });
            }
            let knowledge = ClientKnowledge::Nothing;
            actions.push(PushAction::Push { client_index, mutation_count, knowledge });
        }
    }

    /// Returns `None` if the action is impossible in `state`.
    pub(super) fn apply_action(&self, state: &State, action: &PushAction) -> Option<State> {
        let old_state = state.clone();
        match *action {
            PushAction::Push { client_index, mutation_count, knowledge } => {
                self.begin_push(old_state, client_index, mutation_count, knowledge)
            }
            PushAction::Pull { client_index } => old_state.pull(client_index),
            PushAction::Step { client_index, outcome } => {
                old_state.step_client(client_index, outcome)
            }
            PushAction::StepAbandoned { process_index, outcome } => {
                Some(old_state.step_abandoned_process(process_index, outcome))
            }
            PushAction::Abandon { client_index } => old_state.abandon_push(client_index),
            PushAction::Restore { entry_count } => Some(old_state.restore(entry_count)),
        }
    }

    fn begin_push(
        &self,
        mut state: State,
        client_index: usize,
        mutation_count: usize,
        knowledge: ClientKnowledge,
    ) -> Option<State> {
        let client = state.clients.get_mut(client_index)?;
        let runs = client.push(self.mutations.get(client_index)?, mutation_count);
        let known_last_id = match knowledge {
            ClientKnowledge::CachedLastId => client.known_last_id,
            ClientKnowledge::Nothing => 0,
        };
        let result = Process::begin(client_index, self.rules, known_last_id, runs);
        state.update_client(client_index, result);
        Some(state)
    }
}

fn add_process_actions(
    state: &State,
    client_index: usize,
    process: &Process,
    actions: &mut Vec<PushAction>,
) {
    for outcome in possible_outcomes(state, process) {
        actions.push(PushAction::Step { client_index, outcome });
    }
    if state.budget.abandoned > 0 {
        actions.push(PushAction::Abandon { client_index });
    }
}

fn possible_outcomes(state: &State, process: &Process) -> Vec<RequestOutcome> {
    let mut outcomes = vec![RequestOutcome::Answered];
    match process.pending() {
        PendingRequest::Append(running_append) => {
            let (_, action) = &**running_append;
            if let append::AppendAction::Read { from, consistency: ReadConsistency::Eventual } =
                action
                && state.budget.stale > 0
            {
                outcomes.extend(state.table.stale_counts(*from).map(RequestOutcome::Stale));
            }
        }
        PendingRequest::LookUp => {
            let is_in_log = state.table.last_id(client_key(process.client_index)) > 0;
            if is_in_log && state.budget.forgotten > 0 {
                outcomes.push(RequestOutcome::Forgotten);
            }
        }
    }
    outcomes
}

impl State {
    fn pull(mut self, client_index: usize) -> Option<Self> {
        self.clients.get_mut(client_index)?.pull(&self.table);
        Some(self)
    }

    fn step_client(mut self, client_index: usize, outcome: RequestOutcome) -> Option<Self> {
        let process = self.clients.get_mut(client_index)?.process.take()?;
        let result = self.step_process(&process, outcome);
        self.update_client(client_index, result);
        Some(self)
    }

    fn step_abandoned_process(mut self, process_index: usize, outcome: RequestOutcome) -> Self {
        let process = self.abandoned.remove(process_index);
        let result = self.step_process(&process, outcome);
        let running_process = self.record_step_result(process.client_index, result);
        self.add_abandoned(running_process);
        self
    }

    fn abandon_push(mut self, client_index: usize) -> Option<Self> {
        let process = self.clients.get_mut(client_index)?.process.take();
        self.budget.abandoned -= 1;
        self.add_abandoned(process);
        Some(self)
    }

    fn step_process(&mut self, process: &Process, outcome: RequestOutcome) -> StepResult {
        match process.pending() {
            PendingRequest::Append(running_append) => {
                let (_, action) = &**running_append;
                process.step(self.execute(action, outcome))
            }
            PendingRequest::LookUp => {
                let is_forgotten = outcome == RequestOutcome::Forgotten;
                if is_forgotten {
                    self.budget.forgotten -= 1;
                    self.forgotten.insert(process.client_index);
                }
                let client = client_key(process.client_index);
                process.step_lookup(self.table.look_up(client, is_forgotten))
            }
        }
    }

    fn execute(
        &mut self,
        action: &append::AppendAction,
        outcome: RequestOutcome,
    ) -> append::AppendEvent {
        match action {
            append::AppendAction::Read { from, .. } => {
                let mut entry_limit = usize::MAX;
                if let RequestOutcome::Stale(stale_count) = outcome {
                    self.budget.stale -= 1;
                    entry_limit = stale_count;
                }
                let entries = self.table.read(*from, entry_limit);
                append::AppendEvent::Page { entries, has_more: false }
            }
            append::AppendAction::Put { entry } => {
                match Arc::make_mut(&mut self.table).put(entry) {
                    Ok(()) => append::AppendEvent::PutAccepted,
                    Err(winner) => append::AppendEvent::PutRefused { winner },
                }
            }
            append::AppendAction::FindNewestSegment => append::AppendEvent::NewestSegment(Some(0)),
            // The append never requests this in the model, because the header of every entry
            // contains a state summary.
            append::AppendAction::ReadState { .. } => append::AppendEvent::State(None),
            append::AppendAction::Wait { .. } | append::AppendAction::Finish(_) => {
                append::AppendEvent::Waited
            }
        }
    }

    /// Returns the process if its push is still running.
    fn record_step_result(&mut self, client_index: usize, result: StepResult) -> Option<Process> {
        for outcome in &result.outcomes {
            self.record_false_answer(client_index, outcome);
            if let Some(client) = self.clients.get_mut(client_index) {
                client.known_last_id = client.known_last_id.max(outcome.last_id);
            }
        }
        if let Some(refusal) = &result.refusal {
            self.record_false_refusal(refusal);
        }
        result.process
    }

    fn update_client(&mut self, client_index: usize, result: StepResult) {
        let is_unknown = result.outcomes.iter().any(|outcome| outcome.unknown_client);
        let running_process = self.record_step_result(client_index, result);
        if let Some(client) = self.clients.get_mut(client_index) {
            client.process = running_process;
            if is_unknown {
                client.is_lost = true;
            }
        }
    }

    fn add_abandoned(&mut self, process: Option<Process>) {
        self.abandoned.extend(process);
        self.abandoned.sort();
    }

    fn restore(mut self, entry_count: usize) -> Self {
        self.budget.restores -= 1;
        Arc::make_mut(&mut self.table).restore(entry_count);
        self.abandoned.clear();
        for client in &mut self.clients {
            client.lose_processes();
        }
        self
    }
}
