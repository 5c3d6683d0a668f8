//! The possible transitions of the stream model, and their effects on a state.

use std::sync::Arc;

use cellar_catalog::stream::append::{self, AppendFault, AppendOutcome, StreamAppendAnswer};

use cellar_catalog::stream::{Tip, Write};

use super::events::AppendId;
use super::properties::{Evidence, ReportedOutcome};
use super::table::Table;
use super::writer::{Decision, Process};
use super::{State, StreamModel};
use crate::fingerprint::Hashed;

/// A transition of the stream model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamAction {
    /// A client starts a call for its next command.
    Begin {
        /// Index of the client.
        client_index: usize,
        /// The number of the tip on which the call bases its decision. Every tip that was ever
        /// written has a number, counted from 1. The number is 0 if the stream has no tip.
        tip_number: usize,
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
    /// A client abandons its call.
    Abandon {
        /// Index of the client.
        client_index: usize,
    },
    /// A delayed write reaches the table. The table applies it unless its condition fails.
    ExecuteLateWrite {
        /// Index of the delayed write.
        write_index: usize,
    },
    /// Only the event batch of a delayed split is written, but not the tip. This is possible only
    /// if the table does not write both in one transaction.
    WriteLateBatchOnly {
        /// Index of the delayed write.
        write_index: usize,
    },
}

/// Result of a process's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The response arrives. The request was executed, or refused because a condition failed.
    Answered,
    /// The response is lost. The write is applied later or never.
    Lost,
    /// The write is throttled.
    Throttled,
    /// The request fails permanently.
    Failed,
    /// The write is refused, and the response does not contain the current tip.
    RefusedWithoutTip,
    /// The write is refused because the event batch already exists. The response reports this, but
    /// does not contain the current tip.
    BatchExistsReported,
    /// A transaction is reported as successful, because the same transaction was executed before.
    DoneBefore,
}

/// Whether a client still waits for the result of a process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    Waits,
    Gone,
}

enum CallProgress {
    Running(Process),
    Done,
    Unknown,
    /// The append failed without effect.
    Failed,
}

impl StreamModel {
    /// For each process, the outcome without a fault comes first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<StreamAction>) {
        for (client_index, client) in state.clients.iter().enumerate() {
            if let Some(process) = &client.process {
                for outcome in self.possible_outcomes(state, process) {
                    actions.push(StreamAction::Step { client_index, outcome });
                }
                if state.budget.abandoned > 0 {
                    actions.push(StreamAction::Abandon { client_index });
                }
            } else if !self.is_done(client_index, client) {
                let newest_number = state.table.tip_count();
                let oldest_number = if state.budget.stale > 0 { 0 } else { newest_number };
                for tip_number in (oldest_number..=newest_number).rev() {
                    actions.push(StreamAction::Begin { client_index, tip_number });
                }
            }
        }
        for (process_index, process) in state.abandoned.iter().enumerate() {
            for outcome in self.possible_outcomes(state, process) {
                actions.push(StreamAction::StepAbandoned { process_index, outcome });
            }
        }
        for write_index in 0..state.late_writes.len() {
            actions.push(StreamAction::ExecuteLateWrite { write_index });
            if !self.conditions.one_transaction {
                actions.push(StreamAction::WriteLateBatchOnly { write_index });
            }
        }
    }

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
        if budget.refusals_without_tip > 0 && self.would_refuse(&state.table, write) {
            outcomes.push(RequestOutcome::RefusedWithoutTip);
            let is_batch_stored =
                state.table.batches().any(|stored| Some(stored.index) == batch_index);
            if is_batch_stored {
                outcomes.push(RequestOutcome::BatchExistsReported);
            }
        }
        let was_executed = state.table.etags().any(|etag| etag == write.tip().etag);
        if batch_index.is_some() && was_executed {
            outcomes.push(RequestOutcome::DoneBefore);
        }
        outcomes
    }

    pub(super) fn would_refuse(&self, table: &Table, write: &Write) -> bool {
        let answer = Table::clone(table).write(write, self.conditions);
        matches!(answer, StreamAppendAnswer::Refused { .. })
    }

    /// Returns `None` if the action is impossible or changes nothing.
    pub(super) fn apply_action(&self, state: &State, action: StreamAction) -> Option<State> {
        let old_state = state.clone();
        let mut new_state = match action {
            StreamAction::Begin { client_index, tip_number } => {
                old_state.begin_call(self, client_index, tip_number)?
            }
            StreamAction::Step { client_index, outcome } => {
                self.step_client(old_state, client_index, outcome)?
            }
            StreamAction::StepAbandoned { process_index, outcome } => {
                self.step_abandoned_process(old_state, process_index, outcome)?
            }
            StreamAction::Abandon { client_index } => self.abandon_call(old_state, client_index)?,
            StreamAction::ExecuteLateWrite { write_index } => {
                self.execute_late_write(old_state, write_index)?
            }
            StreamAction::WriteLateBatchOnly { write_index } => {
                old_state.write_late_batch_only(write_index)?
            }
        };
        if !Arc::ptr_eq(&state.table, &new_state.table) {
            new_state.record_changed_event(&state.table);
        }
        Some(new_state)
    }

    fn step_client(
        &self,
        mut state: State,
        client_index: usize,
        outcome: RequestOutcome,
    ) -> Option<State> {
        let process = state.clients.get_mut(client_index)?.process.take()?;
        let progress = self.step_process(&mut state, &process, outcome, Caller::Waits)?;
        self.update_client(&mut state, client_index, progress);
        Some(state)
    }

    fn step_abandoned_process(
        &self,
        mut state: State,
        process_index: usize,
        outcome: RequestOutcome,
    ) -> Option<State> {
        let process = state.abandoned.remove(process_index);
        let progress = self.step_process(&mut state, &process, outcome, Caller::Gone)?;
        if let CallProgress::Running(process) = progress {
            state.add_abandoned(process);
        }
        Some(state)
    }

    fn abandon_call(&self, mut state: State, client_index: usize) -> Option<State> {
        let process = state.clients.get_mut(client_index)?.process.take()?;
        state.budget.abandoned -= 1;
        state.add_abandoned(process);
        self.update_client(&mut state, client_index, CallProgress::Unknown);
        Some(state)
    }

    /// Returns `None` if the table refuses the write.
    fn execute_late_write(&self, mut state: State, write_index: usize) -> Option<State> {
        let write = state.late_writes.iter().nth(write_index)?;
        let answer = Arc::make_mut(&mut state.table).write(write, self.conditions);
        if answer == StreamAppendAnswer::Done { Some(state) } else { None }
    }

    /// If the append ends with a conflict, the call decides again. Returns `None` if no decision is
    /// possible on the tip that the conflict has reported.
    fn step_process(
        &self,
        state: &mut State,
        process: &Process,
        outcome: RequestOutcome,
        caller: Caller,
    ) -> Option<CallProgress> {
        let answer = state.execute(self, process.action(), outcome);
        let evidence = evidence_of(process.action(), &answer);
        let process = process.step(answer);
        let append_id = process.append_id;
        let append::StreamAppendAction::Finish(result) = process.action() else {
            return Some(CallProgress::Running(process));
        };
        state.record_false_report(result);
        match result {
            Ok(AppendOutcome::Appended { index, .. }) => {
                let awaited = caller == Caller::Waits;
                let report = ReportedOutcome::Appended { index: *index, evidence, awaited };
                state.reported.insert(append_id, report);
                Some(CallProgress::Done)
            }
            Ok(AppendOutcome::Conflict { tip }) => {
                state.reported.insert(append_id, ReportedOutcome::NotAppended { evidence });
                self.decide_again(state, append_id, tip.clone())
            }
            Err(AppendFault::OutcomeUnknown) => Some(CallProgress::Unknown),
            Err(_) => {
                state.reported.insert(append_id, ReportedOutcome::NotAppended { evidence });
                Some(CallProgress::Failed)
            }
        }
    }

    fn decide_again(
        &self,
        state: &State,
        append_id: AppendId,
        tip: Option<Arc<Tip>>,
    ) -> Option<CallProgress> {
        let next_id = AppendId { decision: append_id.decision + 1, ..append_id };
        match self.decide(&state.table, next_id, tip)? {
            Decision::Append(process) => Some(CallProgress::Running(process)),
            Decision::AlreadyDone => Some(CallProgress::Done),
        }
    }

    fn update_client(&self, state: &mut State, client_index: usize, progress: CallProgress) {
        let Some(client) = state.clients.get_mut(client_index) else { return };
        match progress {
            CallProgress::Running(process) => client.process = Some(process),
            CallProgress::Done => client.commands_done += 1,
            // Without `repeats`, the decider cannot detect that the command has already been
            // applied, so the client does not retry it.
            CallProgress::Unknown if !self.repeats => client.commands_done += 1,
            CallProgress::Unknown | CallProgress::Failed => {}
        }
    }
}

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
        let is_read = matches!(
            action,
            append::StreamAppendAction::ReadTip | append::StreamAppendAction::ReadBatches { .. }
        );
        if is_read && outcome == RequestOutcome::Failed {
            self.budget.failed -= 1;
            return StreamAppendAnswer::ReadFailed { temporary: false };
        }
        match action {
            append::StreamAppendAction::Write(write) => self.write(model, write, outcome),
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

    fn write_late_batch_only(mut self, write_index: usize) -> Option<Self> {
        let write = self.late_writes.iter().nth(write_index)?;
        Arc::make_mut(&mut self.table).write_batch_only(write);
        Some(self)
    }

    fn add_abandoned(&mut self, process: Process) {
        self.abandoned.push(process);
        self.abandoned.sort();
    }
}
