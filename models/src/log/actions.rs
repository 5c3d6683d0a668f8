//! Enabled actions of a state, and their effects.

use std::sync::Arc;

use cellar_base::limits::TRIM_FENCE_S;
use cellar_log::append::{self, AppendEvent};
use cellar_log::entry::Entry;
use cellar_log::invariants::check_prefix;
use cellar_log::roll;

use super::tables::{Tables, View};
use super::{Fault, LateRequest, LogModel, Process, Rolling, State, Trimming};
use crate::fingerprint::Hashed;

/// A transition of the log model.
#[derive(Debug, Clone, PartialEq)]
pub enum LogAction {
    /// A client sends one or more mutations in one request.
    Send {
        /// Index of the client.
        client: usize,
        /// Id of the first mutation.
        first: u64,
        /// Id of the last mutation.
        through: u64,
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
    /// A client abandons its request; it will retry the mutations with another process.
    Abandon {
        /// Index of the client.
        client: usize,
    },
    /// A delayed request reaches the tables.
    Arrive {
        /// Index of the delayed request.
        index: usize,
    },
    /// A roll begins.
    BeginRoll,
    /// The roll's pending request completes.
    Roll(RequestOutcome),
    /// The first segment is offloaded and its trim starts.
    BeginTrim,
    /// The trim takes its next step.
    Trim,
    /// The trim is interrupted before it has finished.
    StopTrim,
    /// A day passes.
    Day,
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
    /// The request is a day old, so its signature has expired: it is not executed, and no response
    /// arrives.
    Expired,
}

impl LogModel {
    /// Adds the enabled actions of `state`. For each process, the fault-free outcome comes first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<LogAction>) {
        for (client, sender) in state.clients.iter().enumerate() {
            if let Some(process) = &sender.process {
                let outcomes = self.possible_outcomes(state, process).into_iter();
                actions.extend(outcomes.map(|outcome| LogAction::Step { client, outcome }));
                if state.budget.abandoned > 0 {
                    actions.push(LogAction::Abandon { client });
                }
                continue;
            }
            let next = sender.acknowledged + 1;
            let last_first = if self.pipelined { sender.mutations } else { next };
            for first in next..=last_first {
                let sends = (first..=sender.mutations).rev();
                actions.extend(sends.map(|through| LogAction::Send { client, first, through }));
            }
        }
        for (index, process) in state.abandoned.iter().enumerate() {
            let outcomes = self.possible_outcomes(state, process).into_iter();
            actions.extend(outcomes.map(|outcome| LogAction::StepAbandoned { index, outcome }));
        }
        actions.extend((0..state.late_requests.len()).map(|index| LogAction::Arrive { index }));
        add_possible_maintenance(state, actions);
    }

    fn possible_outcomes(&self, state: &State, process: &Process) -> Vec<RequestOutcome> {
        match process.action() {
            append::AppendAction::Read { from, consistent: false } if state.budget.stale > 0 => {
                let stale = state.tables.stale_views(*from).into_iter().map(RequestOutcome::Stale);
                std::iter::once(RequestOutcome::Answered).chain(stale).collect()
            }
            append::AppendAction::Read { from, .. } if state.budget.stale > 0 => {
                let torn = state.tables.torn_view(*from).map(RequestOutcome::Stale);
                std::iter::once(RequestOutcome::Answered).chain(torn).collect()
            }
            append::AppendAction::Put { .. } => write_outcomes(state, true, process.decided_s),
            _ => vec![RequestOutcome::Answered],
        }
    }

    /// Returns the state after `action`, or `None` if the action is not enabled.
    pub(super) fn apply_action(&self, state: &State, action: &LogAction) -> Option<State> {
        let mut next = state.clone();
        match *action {
            LogAction::Send { client, first, through } => {
                let sender = next.clients.get_mut(client)?;
                sender.send(self.rules, first, through, next.now_s).ok()?;
                self.settle_client(&mut next, client);
            }
            LogAction::Step { client, outcome } => self.step_client(&mut next, client, outcome)?,
            LogAction::StepAbandoned { index, outcome } => {
                self.step_abandoned(&mut next, index, outcome)?;
            }
            LogAction::Abandon { client } => {
                let sender = next.clients.get_mut(client)?;
                let process = sender.process.take()?;
                sender.drop_cached_tail();
                next.budget.abandoned -= 1;
                next.abandon(process);
            }
            LogAction::Arrive { index } => {
                let request = next.late_requests.remove(index);
                execute_late(Arc::make_mut(&mut next.tables), &request);
            }
            LogAction::BeginRoll => next.begin_roll()?,
            LogAction::Roll(outcome) => next.step_roll(outcome)?,
            LogAction::BeginTrim => self.begin_trim(&mut next)?,
            LogAction::Trim => {
                let tables = Arc::make_mut(&mut next.tables);
                next.trimming = next.trimming.as_ref()?.step(tables, next.now_s);
            }
            LogAction::StopTrim => {
                next.budget.trim_stops -= 1;
                next.trimming = None;
            }
            LogAction::Day => next.pass_day(),
        }
        if !Arc::ptr_eq(&state.tables, &next.tables) && next.tables != state.tables {
            if self.fences.age {
                next.drop_ineffective_requests();
            }
            next.check_prefix(&state.tables);
        }
        Some(next)
    }

    fn begin_trim(&self, next: &mut State) -> Option<()> {
        next.budget.trims -= 1;
        let tables = Arc::make_mut(&mut next.tables);
        next.trimming = Some(Trimming::begin(tables, self.fences, next.now_s)?);
        Some(())
    }

    fn step_abandoned(
        &self,
        next: &mut State,
        index: usize,
        outcome: RequestOutcome,
    ) -> Option<()> {
        let process = next.abandoned.get(index)?.clone();
        next.abandoned.remove(index);
        let (stepped, _) = next.step_process(&process, outcome);
        match stepped.action() {
            append::AppendAction::Finish(result) => {
                next.check_refusal(stepped.client, result, self.beyond_end == 0);
            }
            _ => next.abandon(stepped),
        }
        Some(())
    }

    fn step_client(&self, next: &mut State, client: usize, outcome: RequestOutcome) -> Option<()> {
        let process = next.clients.get_mut(client)?.process.take()?;
        let (stepped, new_entries) = next.step_process(&process, outcome);
        let sender = next.clients.get_mut(client)?;
        if !new_entries.is_empty() {
            sender.add_to_cached_tail(&new_entries);
        }
        sender.process = Some(stepped);
        self.settle_client(next, client);
        Some(())
    }

    /// Delivers the reply to the client if the process has finished.
    fn settle_client(&self, next: &mut State, client: usize) {
        let Some(sender) = next.clients.get_mut(client) else { return };
        let Some(process) = sender.process.take() else { return };
        let append::AppendAction::Finish(result) = process.action() else {
            sender.process = Some(process);
            return;
        };
        if let Ok(appended) = result {
            let rejected = sender.handle_reply(appended);
            if self.check_rejections {
                next.check_rejected(&rejected);
            }
        }
        next.check_refusal(client, result, self.beyond_end == 0);
    }
}

/// Adds the enabled actions of rolls, trims and the clock.
fn add_possible_maintenance(state: &State, actions: &mut Vec<LogAction>) {
    let budget = &state.budget;
    match &state.rolling {
        None if budget.rolls > 0 => actions.push(LogAction::BeginRoll),
        None => {}
        Some(rolling) => {
            let transacts = matches!(rolling.action(), roll::RollAction::Transact(_));
            let outcomes = write_outcomes(state, transacts, rolling.decided_s);
            actions.extend(outcomes.into_iter().map(LogAction::Roll));
        }
    }
    match &state.trimming {
        None if budget.trims > 0 => actions.push(LogAction::BeginTrim),
        None => {}
        Some(_) => {
            actions.push(LogAction::Trim);
            if budget.trim_stops > 0 {
                actions.push(LogAction::StopTrim);
            }
        }
    }
    if budget.days > 0 {
        actions.push(LogAction::Day);
    }
}

/// Executes a delayed request. Returns whether it changed the tables.
fn execute_late(tables: &mut Tables, request: &LateRequest) -> bool {
    match request {
        LateRequest::Put(entry) => tables.put(entry.shared()).is_ok(),
        LateRequest::Roll(transaction) => tables.transact(transaction),
    }
}

/// Returns the possible outcomes of a request issued at `decided_s`. `writes` is set for puts and
/// transactions.
fn write_outcomes(state: &State, writes: bool, decided_s: u64) -> Vec<RequestOutcome> {
    if writes && state.now_s >= decided_s + TRIM_FENCE_S {
        return vec![RequestOutcome::Expired];
    }
    if writes && state.budget.lost > 0 {
        return vec![RequestOutcome::Answered, RequestOutcome::Lost];
    }
    vec![RequestOutcome::Answered]
}

impl State {
    /// Executes the pending request of `process`. Also returns the entries that the process read or
    /// wrote.
    fn step_process(
        &mut self,
        process: &Process,
        outcome: RequestOutcome,
    ) -> (Process, Vec<Arc<Entry>>) {
        let (event, new_entries) = match process.action() {
            append::AppendAction::Read { from, .. } => {
                let view = match outcome {
                    RequestOutcome::Stale(view) => {
                        self.budget.stale -= 1;
                        view
                    }
                    _ => View::Now,
                };
                let entries = self.tables.read(*from, view);
                (AppendEvent::Page { entries: entries.clone(), has_more: false }, entries)
            }
            append::AppendAction::Put { entry } => self.put(entry, outcome),
            append::AppendAction::FindNewestSegment => {
                let newest = self.tables.newest_segment().map(|segment| segment.num);
                (AppendEvent::NewestSegment(newest), Vec::new())
            }
            // Every header has a state summary, so the state is never read.
            append::AppendAction::ReadState { .. } => (AppendEvent::State(None), Vec::new()),
            append::AppendAction::Wait { .. } | append::AppendAction::Finish(_) => {
                (AppendEvent::Waited, Vec::new())
            }
        };
        (process.step(event, self.now_s), new_entries)
    }

    fn put(
        &mut self,
        entry: &Arc<Entry>,
        outcome: RequestOutcome,
    ) -> (AppendEvent, Vec<Arc<Entry>>) {
        match outcome {
            RequestOutcome::Lost => {
                self.budget.lost -= 1;
                self.send_late(LateRequest::Put(Hashed::new(Arc::clone(entry))));
                (AppendEvent::PutUnknown, Vec::new())
            }
            RequestOutcome::Expired => (AppendEvent::PutUnknown, Vec::new()),
            RequestOutcome::Answered | RequestOutcome::Stale(_) => {
                match Arc::make_mut(&mut self.tables).put(entry) {
                    Ok(()) => (AppendEvent::PutAccepted, vec![Arc::clone(entry)]),
                    Err(winner) => {
                        let new_entries = vec![Arc::clone(&winner)];
                        (AppendEvent::PutRefused { winner }, new_entries)
                    }
                }
            }
        }
    }

    fn begin_roll(&mut self) -> Option<()> {
        self.budget.rolls -= 1;
        let tail = self.tables.tail()?.shared();
        self.rolling = Some(Rolling::begin(tail, self.now_s));
        Some(())
    }

    /// Advances the clock by a day, which expires delayed requests and caches.
    fn pass_day(&mut self) {
        self.budget.days -= 1;
        self.now_s += TRIM_FENCE_S;
        Arc::make_mut(&mut self.tables).settle();
        self.late_requests.clear();
        for client in &mut self.clients {
            client.drop_cached_tail();
        }
    }

    fn step_roll(&mut self, outcome: RequestOutcome) -> Option<()> {
        let rolling = self.rolling.take()?;
        let event = match (rolling.action(), outcome) {
            (roll::RollAction::Transact(transaction), RequestOutcome::Lost) => {
                self.budget.lost -= 1;
                let transaction = Arc::new(roll::Transaction::clone(transaction));
                self.send_late(LateRequest::Roll(Hashed::new(transaction)));
                roll::RollEvent::Unknown
            }
            (_, RequestOutcome::Expired) => roll::RollEvent::Unknown,
            _ => rolling.execute(Arc::make_mut(&mut self.tables)),
        };
        self.rolling = rolling.step(event, self.now_s);
        Some(())
    }

    fn send_late(&mut self, late_requests: LateRequest) {
        self.late_requests.push(late_requests);
        self.late_requests.sort();
    }

    fn abandon(&mut self, process: Process) {
        self.abandoned.push(process);
        self.abandoned.sort();
    }

    /// Drops delayed requests whose key is taken: a trim cannot free the key before the requests
    /// expire.
    fn drop_ineffective_requests(&mut self) {
        let tables = &self.tables;
        self.late_requests.retain(|request| execute_late(&mut Tables::clone(tables), request));
    }

    /// Records a violation if this step changed an entry that was readable before.
    fn check_prefix(&mut self, before: &Tables) {
        if let Err(violation) = check_prefix(&before.history(), &self.tables.history()) {
            self.fault = Some(Fault::Prefix(violation));
        }
    }
}
