//! What may happen in a state, and what comes of it.

use std::sync::Arc;

use cellar_api::sync;
use cellar_log::append;

use super::process::{Process, Stepped, Wants};
use super::{Client, PushModel, State};

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A client pushes all that is not acknowledged.
    Push {
        /// The client.
        client: usize,
        /// How many of its mutations it has made.
        count: usize,
        /// To a process that knows its last mutation, as far as any process does.
        warm: bool,
    },
    /// A client pulls.
    Pull {
        /// The client.
        client: usize,
    },
    /// The process that a client waits for makes a step.
    Step {
        /// The client.
        client: usize,
        /// What comes of what it wants.
        outcome: Outcome,
    },
    /// A process that nobody waits for makes a step.
    StepGivenUp {
        /// Which of them.
        index: usize,
        /// What comes of what it wants.
        outcome: Outcome,
    },
    /// A client waits no more for its push.
    GiveUp {
        /// The client.
        client: usize,
    },
    /// The log goes back to its first entries.
    Restore {
        /// How many of them.
        count: usize,
    },
}

/// What comes of what a process wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is done and answered.
    Done,
    /// A read sees only so many entries.
    Stale(usize),
    /// The newest root has forgotten the client.
    Forgotten,
}

impl PushModel {
    /// What may happen; for each process first what happens without a fault.
    pub(super) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        for (client, (its, says)) in state.clients.iter().zip(&self.mutations).enumerate() {
            if its.is_lost {
                continue;
            }
            if let Some(process) = &its.process {
                let outcomes = outcomes(state, process).into_iter();
                actions.extend(outcomes.map(|outcome| Action::Step { client, outcome }));
                if state.budget.given_up > 0 {
                    actions.push(Action::GiveUp { client });
                }
                continue;
            }
            if its.is_done(says) {
                continue;
            }
            actions.push(Action::Pull { client });
            let acknowledged = usize::try_from(its.acknowledged).unwrap_or(usize::MAX);
            for count in its.made.len().max(acknowledged + 1)..=says.len() {
                let warm = if its.known > 0 { &[true, false][..] } else { &[false] };
                actions.extend(warm.iter().map(|warm| Action::Push { client, count, warm: *warm }));
            }
        }
        for (index, process) in state.given_up.iter().enumerate() {
            let outcomes = outcomes(state, process).into_iter();
            actions.extend(outcomes.map(|outcome| Action::StepGivenUp { index, outcome }));
        }
        if state.budget.restores > 0 {
            actions.extend((1..=state.table.count()).map(|count| Action::Restore { count }));
        }
    }

    /// The state after an action; `None` if it changes nothing.
    pub(super) fn after(&self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::Push { client, count, warm } => {
                let its = next.clients.get_mut(client)?;
                let runs = its.push(self.mutations.get(client)?, count);
                let known = if warm { its.known } else { 0 };
                let begun = Process::begin(client, self.rules, known, runs);
                next.settle_awaited(client, begun);
            }
            Action::Pull { client } => {
                let table = Arc::clone(&next.table);
                next.clients.get_mut(client)?.pull(&table).then_some(())?;
            }
            Action::Step { client, outcome } => {
                let process = next.clients.get_mut(client)?.process.take()?;
                let stepped = next.step(&process, outcome);
                next.settle_awaited(client, stepped);
            }
            Action::StepGivenUp { index, outcome } => {
                let process = next.given_up.get(index)?.clone();
                next.given_up.remove(index);
                let stepped = next.step(&process, outcome);
                let process = next.settle(process.client, stepped);
                next.give_up(process);
            }
            Action::GiveUp { client } => {
                next.budget.given_up -= 1;
                let process = next.clients.get_mut(client)?.process.take();
                next.give_up(process);
            }
            Action::Restore { count } => {
                next.budget.restores -= 1;
                Arc::make_mut(&mut next.table).restore(count);
                next.given_up.clear();
                next.clients.iter_mut().for_each(Client::meet_new_processes);
            }
        }
        Some(next)
    }
}

/// What may come of what a process wants.
fn outcomes(state: &State, process: &Process) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome::Done];
    match process.wants() {
        Wants::Append(appending) => {
            if let append::AppendAction::Read { from, consistent: false } = &appending.1
                && state.budget.stale > 0
            {
                outcomes.extend(state.table.stale_counts(*from).map(Outcome::Stale));
            }
        }
        Wants::LookUp => {
            let client = state.clients.get(process.client);
            let has_entries = client.is_some_and(|its| state.table.last_id(its.key()) > 0);
            if has_entries && state.budget.forgotten > 0 {
                outcomes.push(Outcome::Forgotten);
            }
        }
    }
    outcomes
}

impl State {
    fn step(&mut self, process: &Process, outcome: Outcome) -> Stepped {
        match process.wants() {
            Wants::Append(appending) => process.step(self.perform(&appending.1, outcome)),
            Wants::LookUp => {
                let is_forgotten = outcome == Outcome::Forgotten;
                if is_forgotten {
                    self.budget.forgotten -= 1;
                    self.forgotten.insert(process.client);
                }
                let key = super::client::key_of(process.client);
                process.looked_up(self.table.look_up(key, is_forgotten))
            }
        }
    }

    fn perform(&mut self, action: &append::AppendAction, outcome: Outcome) -> append::AppendEvent {
        match action {
            append::AppendAction::Read { from, .. } => {
                let count = match outcome {
                    Outcome::Stale(count) => {
                        self.budget.stale -= 1;
                        count
                    }
                    _ => usize::MAX,
                };
                let entries = self.table.read(*from, count);
                append::AppendEvent::Page { entries, more: false }
            }
            append::AppendAction::Put { entry } => {
                match Arc::make_mut(&mut self.table).put(entry) {
                    Ok(()) => append::AppendEvent::PutAccepted,
                    Err(winner) => append::AppendEvent::PutRefused { winner },
                }
            }
            append::AppendAction::FindNewestSegment => append::AppendEvent::NewestSegment(Some(0)),
            // Every header has a summary.
            append::AppendAction::ReadState { .. } => append::AppendEvent::State(None),
            append::AppendAction::Wait { .. } | append::AppendAction::Finish(_) => {
                append::AppendEvent::Waited
            }
        }
    }

    /// Judges what has come to its end; returns the process if it goes on.
    fn settle(&mut self, client: usize, stepped: Stepped) -> Option<Process> {
        for outcome in &stepped.outcomes {
            self.judge(client, outcome);
            if let Some(its) = self.clients.get_mut(client) {
                its.known = its.known.max(outcome.last_id);
            }
        }
        if let Some(refusal) = &stepped.refusal {
            self.judge_refusal(refusal);
        }
        stepped.process
    }

    /// The same for a push that its client waits for.
    fn settle_awaited(&mut self, client: usize, stepped: Stepped) {
        let is_unknown = |outcome: &sync::PushOutcome| outcome.unknown_client;
        let unknown = stepped.outcomes.iter().any(is_unknown);
        let process = self.settle(client, stepped);
        if let Some(its) = self.clients.get_mut(client) {
            its.process = process;
            its.is_lost |= unknown;
        }
    }

    fn give_up(&mut self, process: Option<Process>) {
        self.given_up.extend(process);
        self.given_up.sort();
    }
}
