//! Enabled actions of a state, and their effects.

use std::sync::Arc;

use cellar_catalog::stream::Write;
use cellar_catalog::stream::append::{self, AppendFault, AppendOutcome, StreamAppendAnswer};

use super::events::AppendId;
use super::properties::{Evidence, ReportedOutcome};
use super::table::Table;
use super::writer::{Decided, Process};
use super::{State, StreamModel};
use crate::fingerprint::Hashed;

/// A transition of the stream model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamAction {
    /// A client starts a call for its next command.
    Begin {
        /// Index of the client.
        client: usize,
        /// The tip that the call starts with: the newest one when this number of tips had been
        /// written.
        tip_count: usize,
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
    /// A client abandons its call.
    Abandon {
        /// Index of the client.
        client: usize,
    },
    /// A delayed write reaches the table and is applied or refused.
    Land {
        /// Index of the delayed write.
        index: usize,
    },
    /// Only the event batch of a delayed write is applied, because the write is not a transaction.
    LandBatchOnly {
        /// Index of the delayed write.
        index: usize,
    },
}

/// Result of a process's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is executed, or refused by its conditions, and its response arrives.
    Answered,
    /// The response is lost. The write is applied later or never.
    Lost,
    /// The write is throttled.
    Throttled,
    /// The request fails permanently.
    Failed,
    /// The write is refused, and the response omits the current tip.
    RefusedWithoutTip,
    /// The write is refused; the response contains the existing event batch but omits the current
    /// tip.
    BatchExistsReported,
    /// A transaction that was executed before is reported as successful.
    DoneBefore,
}

/// State of a call after a step.
enum CallProgress {
    Running(Process),
    /// The command is done.
    Done,
    /// The outcome of the append is unknown.
    Unknown,
    /// The append failed without effect.
    Failed,
}

impl StreamModel {
    /// Adds the enabled actions of `state`. For each process, the fault-free outcome comes first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<StreamAction>) {
        for (client, caller) in state.clients.iter().enumerate() {
            if let Some(process) = &caller.process {
                let outcomes = self.possible_outcomes(state, process).into_iter();
                actions.extend(outcomes.map(|outcome| StreamAction::Step { client, outcome }));
                if state.budget.abandoned > 0 {
                    actions.push(StreamAction::Abandon { client });
                }
            } else if !self.is_done(client, caller) {
                let newest = state.table.tip_count();
                let oldest = if state.budget.stale > 0 { 0 } else { newest };
                let begin = |tip_count| StreamAction::Begin { client, tip_count };
                actions.extend((oldest..=newest).rev().map(begin));
            }
        }
        for (index, process) in state.abandoned.iter().enumerate() {
            let outcomes = self.possible_outcomes(state, process).into_iter();
            actions.extend(outcomes.map(|outcome| StreamAction::StepAbandoned { index, outcome }));
        }
        actions.extend((0..state.late_writes.len()).map(|index| StreamAction::Land { index }));
        if !self.conditions.one_transaction {
            actions.extend(
                (0..state.late_writes.len()).map(|index| StreamAction::LandBatchOnly { index }),
            );
        }
    }

    /// Returns the possible outcomes of a process's request.
    pub(super) fn possible_outcomes(
        &self,
        state: &State,
        process: &Process,
    ) -> Vec<RequestOutcome> {
        let budget = &state.budget;
        let mut outcomes = vec![RequestOutcome::Answered];
        if budget.failed > 0 {
            outcomes.push(RequestOutcome::Failed);
        }
        let append::StreamAppendAction::Write(write) = process.action() else { return outcomes };
        if budget.lost > 0 {
            outcomes.push(RequestOutcome::Lost);
        }
        if budget.throttled > 0 {
            outcomes.push(RequestOutcome::Throttled);
        }
        let batch_index = match &**write {
            Write::SplitOff { batch, .. } => Some(batch.index),
            Write::First(_) | Write::Update(_) => None,
        };
        if budget.refusals_without_tip > 0 && self.refuses(&state.table, write) {
            outcomes.push(RequestOutcome::RefusedWithoutTip);
            if state.table.batches().any(|stored| Some(stored.index) == batch_index) {
                outcomes.push(RequestOutcome::BatchExistsReported);
            }
        }
        if batch_index.is_some() && state.table.etags().any(|etag| etag == write.tip().etag) {
            outcomes.push(RequestOutcome::DoneBefore);
        }
        outcomes
    }

    /// Returns whether the table's current contents violate a write's conditions.
    pub(super) fn refuses(&self, table: &Table, write: &Write) -> bool {
        let answer = Table::clone(table).write(write, self.conditions);
        matches!(answer, StreamAppendAnswer::Refused { .. })
    }

    /// Returns the state after `action`, or `None` if the action changes nothing.
    pub(super) fn apply_action(&self, state: &State, action: StreamAction) -> Option<State> {
        let mut next = state.clone();
        match action {
            StreamAction::Begin { client, tip_count } => {
                next.begin_call(self, client, tip_count)?;
            }
            StreamAction::Step { client, outcome } => {
                let process = next.clients.get_mut(client)?.process.take()?;
                let progress = self.step(&mut next, &process, outcome, true)?;
                self.settle(&mut next, client, progress)?;
            }
            StreamAction::StepAbandoned { index, outcome } => {
                let process = next.abandoned.get(index)?.clone();
                next.abandoned.remove(index);
                if let CallProgress::Running(process) =
                    self.step(&mut next, &process, outcome, false)?
                {
                    next.abandon(process);
                }
            }
            StreamAction::Abandon { client } => {
                let process = next.clients.get_mut(client)?.process.take()?;
                next.budget.abandoned -= 1;
                next.abandon(process);
                self.settle(&mut next, client, CallProgress::Unknown)?;
            }
            StreamAction::Land { index } => {
                let write = Arc::clone(state.late_writes.iter().nth(index)?.shared());
                let table = Arc::make_mut(&mut next.table);
                if table.write(&write, self.conditions) != StreamAppendAnswer::Done {
                    return None;
                }
            }
            StreamAction::LandBatchOnly { index } => {
                let write = state.late_writes.iter().nth(index)?;
                Arc::make_mut(&mut next.table).write_batch_only(write);
            }
        }
        if !Arc::ptr_eq(&state.table, &next.table) {
            next.check_unchanged(&state.table);
        }
        Some(next)
    }

    /// Executes a process's pending request. After a conflict, the call makes a new decision.
    fn step(
        &self,
        next: &mut State,
        process: &Process,
        outcome: RequestOutcome,
        awaited: bool,
    ) -> Option<CallProgress> {
        let answer = next.execute(self, process.action(), outcome);
        let evidence = evidence_of(process.action(), &answer);
        let process = process.step(answer);
        let append = process.append;
        let append::StreamAppendAction::Finish(end) = process.action() else {
            return Some(CallProgress::Running(process));
        };
        next.check_append_result(end);
        Some(match end {
            Ok(AppendOutcome::Appended { index, .. }) => {
                next.reported
                    .insert(append, ReportedOutcome::Appended { index: *index, evidence, awaited });
                CallProgress::Done
            }
            Ok(AppendOutcome::Conflict { tip }) => {
                next.reported.insert(append, ReportedOutcome::NotAppended { evidence });
                let next_decision = AppendId { decision: append.decision + 1, ..append };
                match self.decide(&next.table, next_decision, tip.clone())? {
                    Decided::Append(process) => CallProgress::Running(process),
                    Decided::AlreadyDone => CallProgress::Done,
                }
            }
            Err(AppendFault::OutcomeUnknown) => CallProgress::Unknown,
            Err(_) => {
                next.reported.insert(append, ReportedOutcome::NotAppended { evidence });
                CallProgress::Failed
            }
        })
    }

    /// Updates a client after a step of its call.
    fn settle(&self, next: &mut State, client: usize, progress: CallProgress) -> Option<()> {
        let caller = next.clients.get_mut(client)?;
        match progress {
            CallProgress::Running(process) => caller.process = Some(process),
            CallProgress::Done => caller.commands_done += 1,
            // A client whose decider cannot detect a completed command does not retry it.
            CallProgress::Unknown if !self.repeats => caller.commands_done += 1,
            CallProgress::Unknown | CallProgress::Failed => {}
        }
        Some(())
    }
}

/// Returns how a writer determined its outcome from a response.
fn evidence_of(action: &append::StreamAppendAction, answer: &StreamAppendAnswer) -> Evidence {
    match (action, answer) {
        (append::StreamAppendAction::Write(_), StreamAppendAnswer::Done) => Evidence::Answer,
        (append::StreamAppendAction::ReadBatches { .. }, _) => Evidence::EventBatch,
        _ => Evidence::Tip,
    }
}

impl State {
    fn execute(
        &mut self,
        model: &StreamModel,
        action: &append::StreamAppendAction,
        outcome: RequestOutcome,
    ) -> StreamAppendAnswer {
        match action {
            append::StreamAppendAction::Write(write) => self.write(model, write, outcome),
            append::StreamAppendAction::ReadTip
            | append::StreamAppendAction::ReadBatches { .. }
                if outcome == RequestOutcome::Failed =>
            {
                self.budget.failed -= 1;
                StreamAppendAnswer::ReadFailed { temporary: false }
            }
            append::StreamAppendAction::ReadTip => StreamAppendAnswer::Tip(self.table.tip()),
            append::StreamAppendAction::ReadBatches { below } => {
                StreamAppendAnswer::Batches { batches: self.table.batches_before(*below) }
            }
            append::StreamAppendAction::Wait { .. } | append::StreamAppendAction::Finish(_) => {
                StreamAppendAnswer::Waited
            }
        }
    }

    fn write(
        &mut self,
        model: &StreamModel,
        write: &Arc<Write>,
        outcome: RequestOutcome,
    ) -> StreamAppendAnswer {
        match outcome {
            RequestOutcome::Answered => {
                Arc::make_mut(&mut self.table).write(write, model.conditions)
            }
            RequestOutcome::Lost => {
                self.budget.lost -= 1;
                self.late_writes.insert(Hashed::new(Arc::clone(write)));
                StreamAppendAnswer::Unknown
            }
            RequestOutcome::Throttled => {
                self.budget.throttled -= 1;
                StreamAppendAnswer::Throttled
            }
            RequestOutcome::Failed => {
                self.budget.failed -= 1;
                StreamAppendAnswer::Failed
            }
            RequestOutcome::RefusedWithoutTip => {
                self.budget.refusals_without_tip -= 1;
                StreamAppendAnswer::Refused { tip: None }
            }
            RequestOutcome::BatchExistsReported => {
                self.budget.refusals_without_tip -= 1;
                StreamAppendAnswer::BatchExists
            }
            RequestOutcome::DoneBefore => StreamAppendAnswer::Done,
        }
    }

    fn abandon(&mut self, process: Process) {
        self.abandoned.push(process);
        self.abandoned.sort();
    }
}
