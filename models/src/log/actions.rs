//! What may happen in a state, and what comes of it.

use std::sync::Arc;

use cellar_base::limits::TRIM_FENCE_S;
use cellar_log::append::{self, AppendEvent};
use cellar_log::entry::Entry;
use cellar_log::invariants::check_prefix;
use cellar_log::roll;

use super::tables::{Tables, View};
use super::{Fault, Late, LogModel, Process, Rolling, State, Trimming};
use crate::fingerprint::Hashed;

/// One thing that happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A client sends mutations.
    Send {
        /// The client.
        client: usize,
        /// The first mutation.
        first: u64,
        /// The last mutation.
        through: u64,
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
    /// A client waits no more for a request, and will repeat it to another process.
    GiveUp {
        /// The client.
        client: usize,
    },
    /// A late request arrives.
    Arrive {
        /// Which of them.
        index: usize,
    },
    /// A roll begins.
    BeginRoll,
    /// The roll makes a step.
    Roll(Outcome),
    /// The first segment is offloaded and a trim begins.
    BeginTrim,
    /// The trim makes a step.
    Trim,
    /// The trim stops where it is.
    StopTrim,
    /// A day goes by.
    Day,
}

/// What comes of what a machine wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is done and answered.
    Done,
    /// A read does not see everything.
    Stale(View),
    /// No answer comes. It will be done later or never.
    Lost,
    /// It was sent a day ago: it is not done any more, and no answer comes.
    Expired,
}

impl LogModel {
    /// What may happen; for each process first what happens without a fault.
    pub(super) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        for (client, its) in state.clients.iter().enumerate() {
            if let Some(process) = &its.process {
                let outcomes = self.outcomes(state, process).into_iter();
                actions.extend(outcomes.map(|outcome| Action::Step { client, outcome }));
                if state.budget.given_up > 0 {
                    actions.push(Action::GiveUp { client });
                }
                continue;
            }
            let next = its.acknowledged + 1;
            let last_first = if self.pipelined { its.mutations } else { next };
            for first in next..=last_first {
                let sends = (first..=its.mutations).rev();
                actions.extend(sends.map(|through| Action::Send { client, first, through }));
            }
        }
        for (index, process) in state.given_up.iter().enumerate() {
            let outcomes = self.outcomes(state, process).into_iter();
            actions.extend(outcomes.map(|outcome| Action::StepGivenUp { index, outcome }));
        }
        actions.extend((0..state.late.len()).map(|index| Action::Arrive { index }));
        self.possible_keeping(state, actions);
    }

    fn possible_keeping(&self, state: &State, actions: &mut Vec<Action>) {
        let budget = &state.budget;
        match &state.rolling {
            None if budget.rolls > 0 => actions.push(Action::BeginRoll),
            None => {}
            Some(rolling) => {
                let transacts = matches!(rolling.action(), roll::RollAction::Transact(_));
                let outcomes = write_outcomes(state, transacts, rolling.decided_s);
                actions.extend(outcomes.into_iter().map(Action::Roll));
            }
        }
        match &state.trimming {
            None if budget.trims > 0 => actions.push(Action::BeginTrim),
            None => {}
            Some(_) => {
                actions.push(Action::Trim);
                if budget.trim_stops > 0 {
                    actions.push(Action::StopTrim);
                }
            }
        }
        if budget.days > 0 {
            actions.push(Action::Day);
        }
    }

    fn outcomes(&self, state: &State, process: &Process) -> Vec<Outcome> {
        match process.action() {
            append::AppendAction::Read { from, consistent: false } if state.budget.stale > 0 => {
                let stale = state.tables.stale_views(*from).into_iter().map(Outcome::Stale);
                std::iter::once(Outcome::Done).chain(stale).collect()
            }
            append::AppendAction::Read { from, .. } if state.budget.stale > 0 => {
                let torn = state.tables.torn_view(*from).map(Outcome::Stale);
                std::iter::once(Outcome::Done).chain(torn).collect()
            }
            append::AppendAction::Put { .. } => write_outcomes(state, true, process.decided_s),
            _ => vec![Outcome::Done],
        }
    }

    /// The state after an action; `None` if it changes nothing.
    pub(super) fn after(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Send { client, first, through } => {
                let its = next.clients.get_mut(client)?;
                its.send(self.rules, first, through, next.now_s).ok()?;
                self.settle_client(&mut next, client);
            }
            Action::Step { client, outcome } => self.step_client(&mut next, client, outcome)?,
            Action::StepGivenUp { index, outcome } => {
                let process = next.given_up.get(index)?.clone();
                next.given_up.remove(index);
                let (stepped, _) = next.step_process(&process, outcome);
                match stepped.action() {
                    append::AppendAction::Finish(result) => {
                        next.judge(stepped.client, result, self.beyond_end == 0);
                    }
                    _ => next.give_up(stepped),
                }
            }
            Action::GiveUp { client } => {
                let its = next.clients.get_mut(client)?;
                let process = its.process.take()?;
                its.forget();
                next.budget.given_up -= 1;
                next.give_up(process);
            }
            Action::Arrive { index } => {
                let late = next.late.remove(index);
                let tables = Arc::make_mut(&mut next.tables);
                match late {
                    Late::Put(entry) => drop(tables.put(entry.shared())),
                    Late::Roll(transaction) => drop(tables.transact(&transaction)),
                }
            }
            keeping => self.keep(&mut next, &keeping)?,
        }
        if !Arc::ptr_eq(&state.tables, &next.tables) && next.tables != state.tables {
            if self.fences.age {
                next.drop_powerless();
            }
            next.check_prefix(&state.tables);
        }
        Some(next)
    }

    fn keep(&self, next: &mut State, action: &Action) -> Option<()> {
        match action {
            Action::BeginRoll => {
                next.budget.rolls -= 1;
                let tail = next.tables.tail()?.shared();
                next.rolling = Some(Rolling::begin(tail, next.now_s));
            }
            Action::Roll(outcome) => next.step_roll(*outcome)?,
            Action::BeginTrim => {
                next.budget.trims -= 1;
                let tables = Arc::make_mut(&mut next.tables);
                next.trimming = Some(Trimming::begin(tables, self.fences, next.now_s)?);
            }
            Action::Trim => {
                let tables = Arc::make_mut(&mut next.tables);
                next.trimming = next.trimming.as_ref()?.step(tables, next.now_s);
            }
            Action::StopTrim => {
                next.budget.trim_stops -= 1;
                next.trimming = None;
            }
            _ => {
                next.budget.days -= 1;
                next.now_s += TRIM_FENCE_S;
                Arc::make_mut(&mut next.tables).settle();
                next.late.clear();
                next.clients.iter_mut().for_each(super::Client::forget);
            }
        }
        Some(())
    }

    fn step_client(&self, next: &mut State, client: usize, outcome: Outcome) -> Option<()> {
        let process = next.clients.get_mut(client)?.process.take()?;
        let (stepped, learned) = next.step_process(&process, outcome);
        let its = next.clients.get_mut(client)?;
        if !learned.is_empty() {
            its.learn(&learned);
        }
        its.process = Some(stepped);
        self.settle_client(next, client);
        Some(())
    }

    /// If the client's request is at its end, the client learns the reply.
    fn settle_client(&self, next: &mut State, client: usize) {
        let Some(its) = next.clients.get_mut(client) else { return };
        let Some(process) = its.process.take() else { return };
        let append::AppendAction::Finish(result) = process.action() else {
            its.process = Some(process);
            return;
        };
        if let Ok(appended) = result {
            let rejected = its.reply(appended);
            if self.judge_rejections {
                next.check_rejected(&rejected);
            }
        }
        next.judge(client, result, self.beyond_end == 0);
    }
}

/// What may come of a transaction or put that was decided on at `decided_s`, if it is one.
fn write_outcomes(state: &State, writes: bool, decided_s: u64) -> Vec<Outcome> {
    if writes && state.now_s >= decided_s + TRIM_FENCE_S {
        return vec![Outcome::Expired];
    }
    let lost = writes && state.budget.lost > 0;
    std::iter::once(Outcome::Done).chain(lost.then_some(Outcome::Lost)).collect()
}

impl State {
    /// A process makes a step; returns also what it has learned of the log.
    fn step_process(&mut self, process: &Process, outcome: Outcome) -> (Process, Vec<Arc<Entry>>) {
        let (event, learned) = match process.action() {
            append::AppendAction::Read { from, .. } => {
                let view = match outcome {
                    Outcome::Stale(view) => {
                        self.budget.stale -= 1;
                        view
                    }
                    _ => View::Now,
                };
                let entries = self.tables.read(*from, view);
                (AppendEvent::Page { entries: entries.clone(), more: false }, entries)
            }
            append::AppendAction::Put { entry } => self.put(entry, outcome),
            append::AppendAction::FindNewestSegment => {
                let newest = self.tables.newest_segment().map(|segment| segment.num);
                (AppendEvent::NewestSegment(newest), Vec::new())
            }
            // Every header has a summary.
            append::AppendAction::ReadState { .. } => (AppendEvent::State(None), Vec::new()),
            append::AppendAction::Wait { .. } | append::AppendAction::Finish(_) => {
                (AppendEvent::Waited, Vec::new())
            }
        };
        (process.step(event, self.now_s), learned)
    }

    fn put(&mut self, entry: &Arc<Entry>, outcome: Outcome) -> (AppendEvent, Vec<Arc<Entry>>) {
        match outcome {
            Outcome::Lost => {
                self.budget.lost -= 1;
                self.send_late(Late::Put(Hashed::new(Arc::clone(entry))));
                (AppendEvent::PutUnknown, Vec::new())
            }
            Outcome::Expired => (AppendEvent::PutUnknown, Vec::new()),
            Outcome::Done | Outcome::Stale(_) => match Arc::make_mut(&mut self.tables).put(entry) {
                Ok(()) => (AppendEvent::PutAccepted, vec![Arc::clone(entry)]),
                Err(winner) => {
                    let learned = vec![Arc::clone(&winner)];
                    (AppendEvent::PutRefused { winner }, learned)
                }
            },
        }
    }

    fn step_roll(&mut self, outcome: Outcome) -> Option<()> {
        let rolling = self.rolling.take()?;
        let event = match (rolling.action(), outcome) {
            (roll::RollAction::Transact(transaction), Outcome::Lost) => {
                self.budget.lost -= 1;
                let transaction = Arc::new(roll::Transaction::clone(transaction));
                self.send_late(Late::Roll(Hashed::new(transaction)));
                roll::RollEvent::Unknown
            }
            (_, Outcome::Expired) => roll::RollEvent::Unknown,
            _ => rolling.performed(Arc::make_mut(&mut self.tables)),
        };
        self.rolling = rolling.step(event, self.now_s);
        Some(())
    }

    fn send_late(&mut self, late: Late) {
        self.late.push(late);
        self.late.sort();
    }

    fn give_up(&mut self, process: Process) {
        self.given_up.push(process);
        self.given_up.sort();
    }

    /// Late requests whose key is taken change nothing while no trim frees it before a day.
    fn drop_powerless(&mut self) {
        let tables = &self.tables;
        self.late.retain(|late| {
            let mut after = Tables::clone(tables);
            match late {
                Late::Put(entry) => after.put(entry.shared()).is_ok(),
                Late::Roll(transaction) => after.transact(transaction),
            }
        });
    }

    /// Whoever read everything before this step: is it still what stands there?
    fn check_prefix(&mut self, before: &Tables) {
        if let Err(violation) = check_prefix(&before.history(), &self.tables.history()) {
            self.fault = Some(Fault::Prefix(violation));
        }
    }
}
