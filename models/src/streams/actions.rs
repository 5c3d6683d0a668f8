//! What may happen in a state, and what comes of it.

use std::sync::Arc;

use cellar_catalog::stream::Write;
use cellar_catalog::stream::append::{self, AppendFault, AppendOutcome, StreamAppendAnswer};

use super::properties::{Learned, Told};
use super::sayings::AppendId;
use super::table::Table;
use super::writer::{Decided, Process};
use super::{State, StreamModel};
use crate::fingerprint::Hashed;

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A client begins a call for its next command.
    Begin {
        /// The client.
        client: usize,
        /// On which tip: how many there had been when it was read.
        tips: usize,
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
    /// A client waits no more for its call.
    GiveUp {
        /// The client.
        client: usize,
    },
    /// A late write lands, or is refused.
    Land {
        /// Which of them.
        index: usize,
    },
    /// Of a late write that is no transaction only the event batch lands.
    LandBatchOnly {
        /// Which of them.
        index: usize,
    },
}

/// What comes of what a process wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is done, or its conditions refuse it, and the answer says so.
    Answered,
    /// A write is not answered. It will land later, or never.
    Lost,
    /// A write is not accepted.
    Throttled,
    /// It is refused for good.
    Failed,
    /// A refusal does not tell the tip.
    TipUntold,
    /// A refusal tells of the event batch, and not of the tip.
    BatchExistsReported,
    /// A transaction that was done before is answered with that.
    DoneBefore,
}

/// How far a call is.
enum Progress {
    GoesOn(Process),
    /// Its command is done.
    Done,
    /// Nobody knows whether it is done.
    Unknown,
    /// It has appended nothing.
    Failed,
}

impl StreamModel {
    /// What may happen; for each process first what happens without a fault.
    pub(super) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        for (client, its) in state.clients.iter().enumerate() {
            if let Some(process) = &its.process {
                let outcomes = self.outcomes(state, process).into_iter();
                actions.extend(outcomes.map(|outcome| Action::Step { client, outcome }));
                if state.budget.given_up > 0 {
                    actions.push(Action::GiveUp { client });
                }
            } else if !self.is_done(client, its) {
                let newest = state.table.tips();
                let oldest = if state.budget.stale > 0 { 0 } else { newest };
                let begin = |tips| Action::Begin { client, tips };
                actions.extend((oldest..=newest).rev().map(begin));
            }
        }
        for (index, process) in state.given_up.iter().enumerate() {
            let outcomes = self.outcomes(state, process).into_iter();
            actions.extend(outcomes.map(|outcome| Action::StepGivenUp { index, outcome }));
        }
        actions.extend((0..state.late.len()).map(|index| Action::Land { index }));
        if !self.conditions.one_transaction {
            actions.extend((0..state.late.len()).map(|index| Action::LandBatchOnly { index }));
        }
    }

    /// What may come of what a process wants.
    pub(super) fn outcomes(&self, state: &State, process: &Process) -> Vec<Outcome> {
        let budget = &state.budget;
        let mut outcomes = vec![Outcome::Answered];
        if budget.failed > 0 {
            outcomes.push(Outcome::Failed);
        }
        let append::StreamAppendAction::Write(write) = process.action() else { return outcomes };
        if budget.lost > 0 {
            outcomes.push(Outcome::Lost);
        }
        if budget.throttled > 0 {
            outcomes.push(Outcome::Throttled);
        }
        let batch = match &**write {
            Write::SplitOff { batch, .. } => Some(batch.index),
            Write::First(_) | Write::Update(_) => None,
        };
        if budget.untold > 0 && self.refuses(&state.table, write) {
            outcomes.push(Outcome::TipUntold);
            if state.table.batches().any(|stands| Some(stands.index) == batch) {
                outcomes.push(Outcome::BatchExistsReported);
            }
        }
        if batch.is_some() && state.table.etags().any(|etag| etag == write.tip().etag) {
            outcomes.push(Outcome::DoneBefore);
        }
        outcomes
    }

    /// Whether the table as it is refuses a write.
    pub(super) fn refuses(&self, table: &Table, write: &Write) -> bool {
        let answer = Table::clone(table).write(write, self.conditions);
        matches!(answer, StreamAppendAnswer::Refused { .. })
    }

    /// The state after an action; `None` if it changes nothing.
    pub(super) fn after(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Begin { client, tips } => next.begin(self, client, tips)?,
            Action::Step { client, outcome } => {
                let process = next.clients.get_mut(client)?.process.take()?;
                let progress = self.step(&mut next, &process, outcome, true)?;
                self.settle(&mut next, client, progress)?;
            }
            Action::StepGivenUp { index, outcome } => {
                let process = next.given_up.get(index)?.clone();
                next.given_up.remove(index);
                if let Progress::GoesOn(process) = self.step(&mut next, &process, outcome, false)? {
                    next.give_up(process);
                }
            }
            Action::GiveUp { client } => {
                let process = next.clients.get_mut(client)?.process.take()?;
                next.budget.given_up -= 1;
                next.give_up(process);
                self.settle(&mut next, client, Progress::Unknown)?;
            }
            Action::Land { index } => {
                let write = Arc::clone(state.late.iter().nth(index)?.shared());
                let table = Arc::make_mut(&mut next.table);
                let is_done = table.write(&write, self.conditions) == StreamAppendAnswer::Done;
                is_done.then_some(())?;
            }
            Action::LandBatchOnly { index } => {
                let write = state.late.iter().nth(index)?;
                Arc::make_mut(&mut next.table).write_batch_only(write);
            }
        }
        if !Arc::ptr_eq(&state.table, &next.table) {
            next.check_kept(&state.table);
        }
        Some(next)
    }

    /// A call makes a step, and decides again if that is what comes of it.
    fn step(
        &self,
        next: &mut State,
        process: &Process,
        outcome: Outcome,
        awaited: bool,
    ) -> Option<Progress> {
        let answer = next.perform(self, process.action(), outcome);
        let learned = learned(process.action(), &answer);
        let process = process.step(answer);
        let append = process.append;
        let append::StreamAppendAction::Finish(end) = process.action() else {
            return Some(Progress::GoesOn(process));
        };
        next.judge(end);
        Some(match end {
            Ok(AppendOutcome::Appended { index, .. }) => {
                next.told.insert(append, Told::Appended { index: *index, learned, awaited });
                Progress::Done
            }
            Ok(AppendOutcome::Conflict { tip }) => {
                next.told.insert(append, Told::NotAppended { learned });
                let again = AppendId { decision: append.decision + 1, ..append };
                match self.decide(&next.table, again, tip.clone())? {
                    Decided::Append(process) => Progress::GoesOn(process),
                    Decided::Nothing => Progress::Done,
                }
            }
            Err(AppendFault::OutcomeUnknown) => Progress::Unknown,
            Err(_) => {
                next.told.insert(append, Told::NotAppended { learned });
                Progress::Failed
            }
        })
    }

    /// What a client does behind a step of its call.
    fn settle(&self, next: &mut State, client: usize, progress: Progress) -> Option<()> {
        let its = next.clients.get_mut(client)?;
        match progress {
            Progress::GoesOn(process) => its.process = Some(process),
            Progress::Done => its.ended += 1,
            // Who cannot see whether it is done does not repeat it.
            Progress::Unknown if !self.repeats => its.ended += 1,
            Progress::Unknown | Progress::Failed => {}
        }
        Some(())
    }
}

/// How a writer learns what it learns of an answer to what it wanted.
fn learned(action: &append::StreamAppendAction, answer: &StreamAppendAnswer) -> Learned {
    match (action, answer) {
        (append::StreamAppendAction::Write(_), StreamAppendAnswer::Done) => Learned::Answer,
        (append::StreamAppendAction::ReadBatches { .. }, _) => Learned::EventBatch,
        _ => Learned::Tip,
    }
}

impl State {
    fn perform(
        &mut self,
        model: &StreamModel,
        action: &append::StreamAppendAction,
        outcome: Outcome,
    ) -> StreamAppendAnswer {
        match action {
            append::StreamAppendAction::Write(write) => self.write(model, write, outcome),
            append::StreamAppendAction::ReadTip
            | append::StreamAppendAction::ReadBatches { .. }
                if outcome == Outcome::Failed =>
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
        outcome: Outcome,
    ) -> StreamAppendAnswer {
        match outcome {
            Outcome::Answered => Arc::make_mut(&mut self.table).write(write, model.conditions),
            Outcome::Lost => {
                self.budget.lost -= 1;
                self.late.insert(Hashed::new(Arc::clone(write)));
                StreamAppendAnswer::Unknown
            }
            Outcome::Throttled => {
                self.budget.throttled -= 1;
                StreamAppendAnswer::Throttled
            }
            Outcome::Failed => {
                self.budget.failed -= 1;
                StreamAppendAnswer::Failed
            }
            Outcome::TipUntold => {
                self.budget.untold -= 1;
                StreamAppendAnswer::Refused { tip: None }
            }
            Outcome::BatchExistsReported => {
                self.budget.untold -= 1;
                StreamAppendAnswer::BatchExists
            }
            Outcome::DoneBefore => StreamAppendAnswer::Done,
        }
    }

    fn give_up(&mut self, process: Process) {
        self.given_up.push(process);
        self.given_up.sort();
    }
}
