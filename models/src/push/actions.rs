//! Enabled actions of a state, and their effects.

use std::sync::Arc;

use cellar_log::append;

use super::process::{PendingRequest, Process, StepResult};
use super::{PushModel, State};

/// A transition of the push model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushAction {
    /// A client pushes its unacknowledged mutations.
    Push {
        /// Index of the client.
        client: usize,
        /// Number of mutations that the client has created.
        count: usize,
        /// Whether the process has cached the client's last mutation id from an earlier push.
        warm: bool,
    },
    /// A client pulls.
    Pull {
        /// Index of the client.
        client: usize,
    },
    /// The pending request of a client's process completes.
    Step {
        /// Index of the client.
        client: usize,
        /// How the request ends.
        outcome: RequestOutcome,
    },
    /// The pending request of an abandoned process completes.
    StepAbandoned {
        /// Index of the abandoned process.
        index: usize,
        /// How the request ends.
        outcome: RequestOutcome,
    },
    /// A client abandons its push.
    Abandon {
        /// Index of the client.
        client: usize,
    },
    /// The log is restored to a prefix.
    Restore {
        /// Number of entries that the restore retains.
        count: usize,
    },
}

/// Result of a process's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is executed, and its response arrives.
    Answered,
    /// A stale read returns only this number of entries.
    Stale(usize),
    /// The newest root (snapshot) has dropped the client.
    Forgotten,
}

impl PushModel {
    /// Adds the enabled actions of `state`. For each process, the fault-free outcome comes first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<PushAction>) {
        for (client, (pusher, contents)) in state.clients.iter().zip(&self.mutations).enumerate() {
            if pusher.is_lost {
                continue;
            }
            if let Some(process) = &pusher.process {
                let outcomes = possible_outcomes(state, process).into_iter();
                actions.extend(outcomes.map(|outcome| PushAction::Step { client, outcome }));
                if state.budget.abandoned > 0 {
                    actions.push(PushAction::Abandon { client });
                }
                continue;
            }
            if pusher.is_done(contents) {
                continue;
            }
            actions.push(PushAction::Pull { client });
            let acknowledged = usize::try_from(pusher.acknowledged).unwrap_or(usize::MAX);
            let min_count = pusher.pushed.len().max(acknowledged + 1);
            for count in min_count..=contents.len() {
                if pusher.known_last_id > 0 {
                    actions.push(PushAction::Push { client, count, warm: true });
                }
                actions.push(PushAction::Push { client, count, warm: false });
            }
        }
        for (index, process) in state.abandoned.iter().enumerate() {
            let outcomes = possible_outcomes(state, process).into_iter();
            actions.extend(outcomes.map(|outcome| PushAction::StepAbandoned { index, outcome }));
        }
        if state.budget.restores > 0 {
            actions.extend((1..=state.table.count()).map(|count| PushAction::Restore { count }));
        }
    }

    /// Returns the state after `action`, or `None` if the action changes nothing.
    pub(super) fn apply_action(&self, state: &State, action: &PushAction) -> Option<State> {
        let mut next = state.clone();
        match *action {
            PushAction::Push { client, count, warm } => {
                let pusher = next.clients.get_mut(client)?;
                let runs = pusher.push(self.mutations.get(client)?, count);
                let known_last_id = if warm { pusher.known_last_id } else { 0 };
                let started = Process::begin(client, self.rules, known_last_id, runs);
                next.settle_awaited(client, started);
            }
            PushAction::Pull { client } => {
                let table = Arc::clone(&next.table);
                if !next.clients.get_mut(client)?.pull(&table) {
                    return None;
                }
            }
            PushAction::Step { client, outcome } => {
                let process = next.clients.get_mut(client)?.process.take()?;
                let result = next.step(&process, outcome);
                next.settle_awaited(client, result);
            }
            PushAction::StepAbandoned { index, outcome } => {
                let process = next.abandoned.get(index)?.clone();
                next.abandoned.remove(index);
                let result = next.step(&process, outcome);
                let process = next.settle(process.client, result);
                next.abandon(process);
            }
            PushAction::Abandon { client } => {
                next.budget.abandoned -= 1;
                let process = next.clients.get_mut(client)?.process.take();
                next.abandon(process);
            }
            PushAction::Restore { count } => {
                next.budget.restores -= 1;
                Arc::make_mut(&mut next.table).restore(count);
                next.abandoned.clear();
                for client in &mut next.clients {
                    client.lose_processes();
                }
            }
        }
        Some(next)
    }
}

/// Returns the possible outcomes of a process's request.
fn possible_outcomes(state: &State, process: &Process) -> Vec<RequestOutcome> {
    let mut outcomes = vec![RequestOutcome::Answered];
    match process.pending() {
        PendingRequest::Append(running) => {
            if let append::AppendAction::Read { from, consistent: false } = &running.1
                && state.budget.stale > 0
            {
                outcomes.extend(state.table.stale_counts(*from).map(RequestOutcome::Stale));
            }
        }
        PendingRequest::LookUp => {
            let client = state.clients.get(process.client);
            let has_entries = client.is_some_and(|pusher| state.table.last_id(pusher.key()) > 0);
            if has_entries && state.budget.forgotten > 0 {
                outcomes.push(RequestOutcome::Forgotten);
            }
        }
    }
    outcomes
}

impl State {
    fn step(&mut self, process: &Process, outcome: RequestOutcome) -> StepResult {
        match process.pending() {
            PendingRequest::Append(running) => process.step(self.execute(&running.1, outcome)),
            PendingRequest::LookUp => {
                let is_forgotten = outcome == RequestOutcome::Forgotten;
                if is_forgotten {
                    self.budget.forgotten -= 1;
                    self.forgotten.insert(process.client);
                }
                let key = super::client::key_of(process.client);
                process.step_lookup(self.table.look_up(key, is_forgotten))
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
                let count = match outcome {
                    RequestOutcome::Stale(count) => {
                        self.budget.stale -= 1;
                        count
                    }
                    _ => usize::MAX,
                };
                let entries = self.table.read(*from, count);
                append::AppendEvent::Page { entries, has_more: false }
            }
            append::AppendAction::Put { entry } => {
                match Arc::make_mut(&mut self.table).put(entry) {
                    Ok(()) => append::AppendEvent::PutAccepted,
                    Err(winner) => append::AppendEvent::PutRefused { winner },
                }
            }
            append::AppendAction::FindNewestSegment => append::AppendEvent::NewestSegment(Some(0)),
            // Every header has a state summary, so the state is never read.
            append::AppendAction::ReadState { .. } => append::AppendEvent::State(None),
            append::AppendAction::Wait { .. } | append::AppendAction::Finish(_) => {
                append::AppendEvent::Waited
            }
        }
    }

    /// Checks the results of a step. Returns the process if its push is still running.
    fn settle(&mut self, client: usize, result: StepResult) -> Option<Process> {
        for outcome in &result.outcomes {
            self.check_outcome(client, outcome);
            if let Some(pusher) = self.clients.get_mut(client) {
                pusher.known_last_id = pusher.known_last_id.max(outcome.last_id);
            }
        }
        if let Some(refusal) = &result.refusal {
            self.check_refusal(refusal);
        }
        result.process
    }

    /// Like [`State::settle`], but also updates the client that waits for the push.
    fn settle_awaited(&mut self, client: usize, result: StepResult) {
        let is_unknown = result.outcomes.iter().any(|outcome| outcome.unknown_client);
        let process = self.settle(client, result);
        if let Some(pusher) = self.clients.get_mut(client) {
            pusher.process = process;
            pusher.is_lost |= is_unknown;
        }
    }

    fn abandon(&mut self, process: Option<Process>) {
        self.abandoned.extend(process);
        self.abandoned.sort();
    }
}
