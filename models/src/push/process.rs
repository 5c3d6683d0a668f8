//! Processes that append the mutations of a push, like the drivers of the engine.

use std::collections::VecDeque;
use std::sync::Arc;

use cellar_api::sync::{self, LookedUp, PushOutcome, PushRules, Run, RunPush};
use cellar_base::identity::ClientName;
use cellar_log::append::{self, Append, Inputs, Refusal};

use super::table::client_key;
use crate::fingerprint::Hashed;
use crate::log::tables::log_id;

/// A running push and its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Index of the client that pushes.
    pub client_index: usize,
    work: Hashed<Work>,
}

#[derive(Debug, Clone)]
struct Work {
    rules: PushRules,
    push: RunPush,
    pending: PendingRequest,
    remaining_runs: VecDeque<Run>,
}

/// The pending request of a process.
#[derive(Debug, Clone)]
pub enum PendingRequest {
    /// Current request of an append.
    Append(Box<(Append, append::AppendAction)>),
    /// Lookup of the client's last mutation id.
    LookUp,
}

/// Result of a process step.
#[derive(Debug, Default)]
pub struct StepResult {
    /// The running process, or `None` if the push has ended.
    pub process: Option<Process>,
    /// The outcomes of the runs that are complete, in order.
    pub outcomes: Vec<PushOutcome>,
    /// The reason why the push failed. The client will retry a failed push.
    pub refusal: Option<Refusal>,
}

impl Process {
    /// Starts a push. `known_last_id` is the last mutation id of the client that is known to be in
    /// the log, or 0 if none is known.
    #[must_use]
    pub fn begin(
        client_index: usize,
        rules: PushRules,
        known_last_id: u64,
        runs: Vec<Run>,
    ) -> StepResult {
        let remaining_runs = runs.into();
        let step = ProcessStep { client_index, rules, remaining_runs, outcomes: Vec::new() };
        step.start_next_run(known_last_id)
    }

    /// Returns the pending request.
    #[must_use]
    pub fn pending(&self) -> &PendingRequest {
        &self.work.pending
    }

    /// Passes the response of the store to the running append.
    #[must_use]
    pub fn step(&self, event: append::AppendEvent) -> StepResult {
        let PendingRequest::Append(running_append) = &self.work.pending else {
            return StepResult::default();
        };
        let (append, _) = &**running_append;
        let (append, action) = append.clone().step(event, constant_inputs());
        self.begin_step().continue_append(self.work.push.clone(), append, action)
    }

    /// Passes the result of the client lookup to the push.
    #[must_use]
    pub fn step_lookup(&self, looked_up: LookedUp) -> StepResult {
        let (push, action) = self.work.push.clone().step(sync::PushEvent::LookedUp(looked_up));
        self.begin_step().perform(push, action)
    }

    fn begin_step(&self) -> ProcessStep {
        ProcessStep {
            client_index: self.client_index,
            rules: self.work.rules,
            remaining_runs: self.work.remaining_runs.clone(),
            outcomes: Vec::new(),
        }
    }
}

/// A step of a process. It ends when the push sends its next request.
struct ProcessStep {
    client_index: usize,
    rules: PushRules,
    remaining_runs: VecDeque<Run>,
    outcomes: Vec<PushOutcome>,
}

impl ProcessStep {
    fn start_next_run(mut self, known_last_id: u64) -> StepResult {
        let Some(run) = self.remaining_runs.pop_front() else { return self.end(None) };
        let Ok(name) = ClientName::new("group", &self.client_index.to_string()) else {
            return self.end(None);
        };
        let client = (client_key(self.client_index), name);
        let (push, action) = RunPush::begin(log_id(), client, None, known_last_id, run, self.rules);
        self.perform(push, action)
    }

    fn perform(mut self, push: RunPush, action: sync::PushAction) -> StepResult {
        match action {
            sync::PushAction::Append(request) => {
                let (append, action) = Append::begin(request, &[], constant_inputs());
                self.continue_append(push, append, action)
            }
            sync::PushAction::LookUp => self.wait_for(push, PendingRequest::LookUp),
            sync::PushAction::GiveUp => self.end(Some(Refusal::Contention)),
            sync::PushAction::Finish(outcome) => {
                let is_accepted = outcome.gap.is_none() && !outcome.unknown_client;
                let known_last_id = outcome.last_id;
                self.outcomes.push(outcome);
                if is_accepted { self.start_next_run(known_last_id) } else { self.end(None) }
            }
        }
    }

    fn continue_append(
        self,
        push: RunPush,
        mut append: Append,
        mut action: append::AppendAction,
    ) -> StepResult {
        // The model skips backoff, because any step may be delayed anyway.
        while matches!(action, append::AppendAction::Wait { .. }) {
            (append, action) = append.step(append::AppendEvent::Waited, constant_inputs());
        }
        let append::AppendAction::Finish(append_result) = action else {
            return self.wait_for(push, PendingRequest::Append(Box::new((append, action))));
        };
        match sync::PushEvent::from_append_result(append_result) {
            Ok(event) => {
                let (push, action) = push.step(event);
                self.perform(push, action)
            }
            Err(refusal) => self.end(Some(refusal)),
        }
    }

    fn wait_for(self, push: RunPush, pending: PendingRequest) -> StepResult {
        let Self { client_index, rules, remaining_runs, outcomes } = self;
        let work = Work { rules, push, pending, remaining_runs };
        let process = Process { client_index, work: Hashed::new(Arc::new(work)) };
        StepResult { process: Some(process), outcomes, refusal: None }
    }

    fn end(self, refusal: Option<Refusal>) -> StepResult {
        StepResult { process: None, outcomes: self.outcomes, refusal }
    }
}

/// The inputs are constant, because no decision of the model depends on the clock.
fn constant_inputs() -> Inputs {
    Inputs { now_s: 0, random: 0 }
}
