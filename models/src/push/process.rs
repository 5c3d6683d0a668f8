//! Processes that append a push, like the engine's drivers.

use std::collections::VecDeque;
use std::sync::Arc;

use cellar_api::sync::{self, LookedUp, PushOutcome, PushRules, Run, RunPush};
use cellar_base::identity::ClientName;
use cellar_log::append::{self, Append, Inputs, Refusal};

use super::client::key_of;
use crate::fingerprint::Hashed;
use crate::log::tables::log;

/// A running push and its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Index of the client that pushes.
    pub client: usize,
    work: Hashed<Work>,
}

#[derive(Debug, Clone)]
struct Work {
    rules: PushRules,
    push: RunPush,
    pending: PendingRequest,
    /// Runs of the push that have not started yet.
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
    /// The process, or `None` if its push has ended.
    pub process: Option<Process>,
    /// Outcomes of the completed runs, in order.
    pub outcomes: Vec<PushOutcome>,
    /// Reason for a failed push, which the client will retry.
    pub refusal: Option<Refusal>,
}

impl Process {
    /// Starts a push. `known_last_id` is the client's last mutation id known to be in the log, or
    /// 0.
    #[must_use]
    pub fn begin(
        client: usize,
        rules: PushRules,
        known_last_id: u64,
        runs: Vec<Run>,
    ) -> StepResult {
        let mut result = StepResult::default();
        begin_next_run(client, rules, known_last_id, runs.into(), &mut result);
        result
    }

    /// Returns the pending request.
    #[must_use]
    pub fn pending(&self) -> &PendingRequest {
        &self.work.pending
    }

    /// Continues with the store's response to the append's request.
    #[must_use]
    pub fn step(&self, event: append::AppendEvent) -> StepResult {
        let mut result = StepResult::default();
        if let PendingRequest::Append(running) = &self.work.pending {
            let machine = running.0.clone().step(event, inputs());
            self.advance_append(self.work.push.clone(), machine, &mut result);
        }
        result
    }

    /// Continues with the result of the client lookup.
    #[must_use]
    pub fn step_lookup(&self, looked_up: LookedUp) -> StepResult {
        let mut result = StepResult::default();
        let next = self.work.push.clone().step(sync::PushEvent::LookedUp(looked_up));
        self.advance_push(next, &mut result);
        result
    }

    fn advance_append(
        &self,
        push: RunPush,
        mut machine: (Append, append::AppendAction),
        result: &mut StepResult,
    ) {
        // Backoff has no effect in the model.
        while matches!(machine.1, append::AppendAction::Wait { .. }) {
            machine = machine.0.step(append::AppendEvent::Waited, inputs());
        }
        let append::AppendAction::Finish(append_result) = machine.1 else {
            result.process =
                Some(self.with_pending(push, PendingRequest::Append(Box::new(machine))));
            return;
        };
        match sync::PushEvent::of(append_result) {
            Ok(event) => self.advance_push(push.step(event), result),
            Err(refusal) => result.refusal = Some(refusal),
        }
    }

    fn advance_push(&self, (push, action): (RunPush, sync::PushAction), result: &mut StepResult) {
        match action {
            sync::PushAction::Append(request) => {
                let started = Append::begin(request, &[], inputs());
                self.advance_append(push, started, result);
            }
            sync::PushAction::LookUp => {
                result.process = Some(self.with_pending(push, PendingRequest::LookUp));
            }
            sync::PushAction::GiveUp => result.refusal = Some(Refusal::Contention),
            sync::PushAction::Finish(outcome) => {
                let is_accepted = outcome.gap.is_none() && !outcome.unknown_client;
                let known_last_id = outcome.last_id;
                result.outcomes.push(outcome);
                if is_accepted {
                    let remaining_runs = self.work.remaining_runs.clone();
                    begin_next_run(
                        self.client,
                        self.work.rules,
                        known_last_id,
                        remaining_runs,
                        result,
                    );
                }
            }
        }
    }

    fn with_pending(&self, push: RunPush, pending: PendingRequest) -> Self {
        let (rules, remaining_runs) = (self.work.rules, self.work.remaining_runs.clone());
        let work = Work { rules, push, pending, remaining_runs };
        Self { client: self.client, work: Hashed::new(Arc::new(work)) }
    }
}

/// Starts the next run of the push, if any.
fn begin_next_run(
    client: usize,
    rules: PushRules,
    known_last_id: u64,
    mut remaining_runs: VecDeque<Run>,
    result: &mut StepResult,
) {
    let Some(run) = remaining_runs.pop_front() else { return };
    let Ok(name) = ClientName::new("group", &client.to_string()) else { return };
    let started = RunPush::begin(log(), (key_of(client), name), None, known_last_id, run, rules);
    let work =
        Work { rules, push: started.0.clone(), pending: PendingRequest::LookUp, remaining_runs };
    let process = Process { client, work: Hashed::new(Arc::new(work)) };
    process.advance_push(started, result);
}

fn inputs() -> Inputs {
    Inputs { now_s: 0, random: 0 }
}
