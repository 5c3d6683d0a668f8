//! Enabled actions of a state, and their effects.

use cellar_base::limits::{LEASE_S, WORK_VISIBILITY_S};
use cellar_snapshot::pending_snapshot::{
    self as pending, ClockReading, PendingSnapshot, SnapshotEvent, SnapshotOutcome, Worker,
};

use super::store::{Root, job};
use super::{Fault, Process, SnapshotsModel, State, Write};

/// A transition of the snapshot model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotsAction {
    /// A worker receives a queue message and starts.
    Receive {
        /// Id of the message.
        message: u8,
    },
    /// A worker's pending request is executed.
    Step {
        /// Index of the worker's process.
        process: usize,
    },
    /// The response to a worker's write is lost. The write is executed later or never.
    Lose {
        /// Index of the worker's process.
        process: usize,
    },
    /// A worker's read returns a stale record.
    ReadStale {
        /// Index of the worker's process.
        process: usize,
    },
    /// A worker crashes.
    Crash {
        /// Index of the worker's process.
        process: usize,
    },
    /// A delayed write reaches the table.
    Arrive {
        /// Index of the delayed write.
        write: usize,
    },
    /// A message is duplicated.
    Duplicate {
        /// Id of the message.
        message: u8,
    },
    /// A message is lost.
    LoseMessage {
        /// Id of the message.
        message: u8,
    },
    /// The clock advances by the duration of a lease.
    PassLease,
    /// All snapshot objects are lost, and an operator starts to rebuild all snapshots.
    Rebuild,
    /// The operator's rebuild advances by one step.
    StepOperator,
}

impl SnapshotsModel {
    /// Adds the enabled actions of `state`. Fault-free actions come first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<SnapshotsAction>) {
        let budget = &state.budget;
        if state.operator.is_some() {
            actions.push(SnapshotsAction::StepOperator);
        }
        actions.extend((0..state.processes.len()).map(|process| SnapshotsAction::Step { process }));
        self.add_message_actions(state, actions);
        add_worker_faults(state, actions);
        actions.extend((0..state.late_writes.len()).map(|write| SnapshotsAction::Arrive { write }));
        if budget.leases > 0 {
            actions.push(SnapshotsAction::PassLease);
        }
        if budget.rebuilds > 0 && state.operator.is_none() {
            actions.push(SnapshotsAction::Rebuild);
        }
    }

    fn add_message_actions(&self, state: &State, actions: &mut Vec<SnapshotsAction>) {
        let budget = &state.budget;
        let has_free_worker = state.processes.len() < self.workers;
        for message in &state.store.messages {
            let is_visible = message.hidden_until_s <= state.now_s;
            if has_free_worker && (is_visible || budget.early > 0) {
                actions.push(SnapshotsAction::Receive { message: message.id });
            }
            if budget.duplicates > 0 {
                actions.push(SnapshotsAction::Duplicate { message: message.id });
            }
            if budget.lost_messages > 0 && message.num + 1 < self.snapshots {
                actions.push(SnapshotsAction::LoseMessage { message: message.id });
            }
        }
    }

    /// Returns the state after `action`, or `None` if the action is not enabled.
    pub(super) fn apply_action(&self, state: &State, action: SnapshotsAction) -> Option<State> {
        let mut next = state.clone();
        match action {
            SnapshotsAction::Receive { message } => self.receive(&mut next, message)?,
            SnapshotsAction::Step { process } => {
                let worker = next.processes.remove(process);
                self.step(&mut next, &worker);
            }
            SnapshotsAction::Lose { process } => {
                next.budget.lost_replies -= 1;
                let worker = next.processes.remove(process);
                next.late_writes.push(write_of(&worker.action)?);
                next.answer(&worker, SnapshotEvent::Unknown);
            }
            SnapshotsAction::ReadStale { process } => {
                next.budget.stale -= 1;
                let worker = next.processes.remove(process);
                let segment = next.store.segment(true);
                next.answer(&worker, SnapshotEvent::Segment(Some(segment)));
            }
            SnapshotsAction::Crash { process } => {
                next.budget.crashes -= 1;
                next.processes.remove(process);
            }
            SnapshotsAction::Arrive { write } => {
                let write = next.late_writes.remove(write);
                next.write(&write);
            }
            SnapshotsAction::Duplicate { message } => {
                next.budget.duplicates -= 1;
                let num = next.num_of(message)?;
                next.store.send(num);
            }
            SnapshotsAction::LoseMessage { message } => {
                next.budget.lost_messages -= 1;
                next.store.delete_message(message);
            }
            SnapshotsAction::PassLease => {
                next.budget.leases -= 1;
                next.now_s += LEASE_S;
                next.reset_visible_messages();
            }
            SnapshotsAction::Rebuild => self.begin_rebuild(&mut next),
            SnapshotsAction::StepOperator => self.step_operator(&mut next)?,
        }
        Some(next)
    }

    fn receive(&self, next: &mut State, id: u8) -> Option<()> {
        let message = *next.store.messages.iter().find(|message| message.id == id)?;
        if message.hidden_until_s > next.now_s {
            next.budget.early -= 1;
        }
        next.hide(id, WORK_VISIBILITY_S);
        let deadline_ms = if self.short_functions { 0 } else { u64::MAX };
        let (worker, action) = Worker::begin_with(self.rules, job(message.num), deadline_ms);
        let is_used = |id: &u8| next.processes.iter().any(|process| process.id == *id);
        let process = Process {
            id: (0..=u8::MAX).find(|id| !is_used(id))?,
            message: id,
            num: message.num,
            worker,
            action,
            was_finished: None,
            run: None,
        };
        next.add(process);
        Some(())
    }

    /// Executes a worker's pending request and passes the result to the worker.
    fn step(&self, next: &mut State, process: &Process) {
        let event = match &process.action {
            pending::SnapshotAction::FindFirst => {
                let first = next.store.pending.range(..=process.num).next();
                SnapshotEvent::Found(first.map(|(_, record)| record.clone()))
            }
            pending::SnapshotAction::FindNext => {
                let later = next.store.pending.range(process.num + 1..).next();
                SnapshotEvent::Found(later.map(|(_, record)| record.clone()))
            }
            pending::SnapshotAction::ReadSegment { .. } => {
                SnapshotEvent::Segment(Some(next.store.segment(false)))
            }
            action @ (pending::SnapshotAction::Create(_)
            | pending::SnapshotAction::Replace { .. }) => {
                if write_of(action).is_some_and(|write| next.write(&write)) {
                    SnapshotEvent::Written
                } else {
                    SnapshotEvent::Refused
                }
            }
            pending::SnapshotAction::Build { progress } => next.build(process, progress),
            pending::SnapshotAction::SetRoot { root } => {
                next.set_root(process.num, Root::parse(root), self.guarantees);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::ReplaceRoot { replaces, root } => {
                let (replaces, root) = (replaces.as_deref(), Root::parse(root));
                let replaces = replaces.and_then(Root::parse);
                next.replace_root(process, replaces, root, self.guarantees)
            }
            pending::SnapshotAction::RaiseLast => {
                next.raise_last(process.num, self.guarantees);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Delete { run } => {
                next.delete(process, *run, self.guarantees);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Enqueue(position) => {
                next.store.send(position.entry_number());
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Finish(outcome) => {
                next.finish_message(process.message, *outcome);
                return;
            }
        };
        next.answer(process, event);
    }
}

/// Adds lost responses, stale reads and crashes of the running workers.
fn add_worker_faults(state: &State, actions: &mut Vec<SnapshotsAction>) {
    let budget = &state.budget;
    for (process, worker) in state.processes.iter().enumerate() {
        if write_of(&worker.action).is_some() && budget.lost_replies > 0 {
            actions.push(SnapshotsAction::Lose { process });
        }
        let stale_read = pending::SnapshotAction::ReadSegment { consistent: false };
        if worker.action == stale_read && budget.stale > 0 {
            actions.push(SnapshotsAction::ReadStale { process });
        }
        if budget.crashes > 0 {
            actions.push(SnapshotsAction::Crash { process });
        }
    }
}

/// Returns the write to the PendingSnapshots table that a request makes, if any.
fn write_of(action: &pending::SnapshotAction) -> Option<Write> {
    match action {
        pending::SnapshotAction::Create(record) => Some(Write::Create(record.clone())),
        pending::SnapshotAction::Replace { record, increment } => {
            Some(Write::Replace(record.clone(), *increment))
        }
        _ => None,
    }
}

/// Returns the number of the rebuild that a record belongs to.
fn rebuild_run(record: &PendingSnapshot) -> Option<u64> {
    record.rebuild.as_ref().map(|rebuild| rebuild.run)
}

/// Returns the rank of stored progress, which increases as the job advances.
fn progress_rank(progress: &[u8]) -> u8 {
    progress.first().copied().unwrap_or_default()
}

impl State {
    fn num_of(&self, message: u8) -> Option<u32> {
        let message = self.store.messages.iter().find(|one| one.id == message);
        message.map(|message| message.num)
    }

    fn add(&mut self, process: Process) {
        self.processes.push(process);
        self.processes.sort_by_key(|process| process.id);
    }

    /// Passes a request's result to its worker.
    fn answer(&mut self, process: &Process, event: SnapshotEvent) {
        let mut process = process.clone();
        if event == SnapshotEvent::Written {
            let is_first_write = process.was_finished.is_none();
            if is_first_write && let Some(write) = write_of(&process.action) {
                process.was_finished = Some(self.store.is_finished(process.num));
                process.run = rebuild_run(write.record());
            }
            if matches!(process.action, pending::SnapshotAction::Replace { .. }) {
                self.hide(process.message, WORK_VISIBILITY_S);
            }
        }
        let clock = ClockReading { now_ms: self.now_s * 1_000 };
        (process.worker, process.action) = process.worker.step(event, clock);
        self.add(process);
    }

    fn hide(&mut self, message: u8, hidden_s: u32) {
        let until_s = if hidden_s == 0 { 0 } else { self.now_s + u64::from(hidden_s) };
        self.store.hide(message, until_s);
    }

    /// Resets the time of visible messages, so that states that differ only in this time are
    /// deduplicated.
    fn reset_visible_messages(&mut self) {
        for message in &mut self.store.messages {
            if message.hidden_until_s <= self.now_s {
                message.hidden_until_s = 0;
            }
        }
        self.store.messages.sort();
    }

    fn write(&mut self, write: &Write) -> bool {
        if !self.store.write(write) {
            return false;
        }
        let record = write.record();
        let num = record.job.position.entry_number();
        let run = rebuild_run(record);
        let best_rank = self.store.best_ranks.get(&(num, run)).copied().unwrap_or_default();
        let rank = progress_rank(&record.progress);
        if rank < best_rank && (run.is_some() || !self.store.is_finished(num)) {
            self.fault = Some(Fault::Rank { num });
        }
        self.store.best_ranks.insert((num, run), rank.max(best_rank));
        true
    }

    /// Stores progress once, then the root. Waits for earlier unfinished snapshots.
    fn build(&mut self, process: &Process, progress: &[u8]) -> SnapshotEvent {
        let num = process.num;
        let is_rebuild = process.run.is_some();
        if process.was_finished == Some(true) && !is_rebuild {
            self.fault = Some(Fault::BuiltAgain { num });
        }
        if let Some(earlier) = self.store.first_unfinished()
            && earlier < num
            && !is_rebuild
        {
            return SnapshotEvent::EarlierSnapshot(job(earlier).position);
        }
        // The base is read only once. Objects stored before the loss are lost even if the worker
        // does not know about it.
        let lost = self.store.lost;
        match progress {
            [] if num > 0 && !self.store.is_complete(num - 1) => {
                if is_rebuild {
                    self.fault = Some(Fault::LostBase { num });
                }
                SnapshotEvent::Failed { temporary: false }
            }
            [] => SnapshotEvent::Progress(vec![1, u8::from(lost)]),
            [_, is_complete] => {
                let root = Root { builder: process.id, is_complete: *is_complete > 0 };
                SnapshotEvent::Built { root: root.name() }
            }
            _ => SnapshotEvent::Failed { temporary: false },
        }
    }

    fn set_root(&mut self, num: u32, root: Option<Root>, guarantees: super::Guarantees) {
        let current_root = self.store.roots.entry(num).or_default();
        match current_root {
            Some(_) if guarantees.set_root_once => {}
            Some(_) if *current_root != root => self.fault = Some(Fault::Root { num }),
            _ => *current_root = root,
        }
    }

    fn replace_root(
        &mut self,
        process: &Process,
        replaces: Option<Root>,
        root: Option<Root>,
        guarantees: super::Guarantees,
    ) -> SnapshotEvent {
        let active_run = self.store.pending.get(&process.num).and_then(rebuild_run);
        let current_root = self.store.roots.entry(process.num).or_default();
        if guarantees.replace_old_root_only && *current_root != replaces {
            return match *current_root {
                current if current == root => SnapshotEvent::Done,
                Some(other) => SnapshotEvent::OtherRoot { current_root: other.name() },
                None => SnapshotEvent::EntryGone,
            };
        }
        // This worker's rebuild has ended, so its root must not replace another root.
        if active_run != process.run && *current_root != replaces {
            self.fault = Some(Fault::Root { num: process.num });
        }
        *current_root = root;
        SnapshotEvent::Done
    }

    fn delete(&mut self, process: &Process, run: Option<u64>, guarantees: super::Guarantees) {
        let Some(record) = self.store.pending.get(&process.num) else { return };
        if rebuild_run(record) == run || !guarantees.delete_own_only {
            self.store.pending.remove(&process.num);
        }
    }

    fn raise_last(&mut self, num: u32, guarantees: super::Guarantees) {
        let before = self.store.last;
        self.store.last =
            if guarantees.raise_last_only { before.max(Some(num)) } else { Some(num) };
        if self.store.last < before {
            self.fault = Some(Fault::Last);
        }
    }

    fn finish_message(&mut self, message: u8, outcome: SnapshotOutcome) {
        match outcome {
            SnapshotOutcome::Done | SnapshotOutcome::Drop => self.store.delete_message(message),
            SnapshotOutcome::Wait { wait_s } | SnapshotOutcome::Failed { wait_s } => {
                self.hide(message, wait_s);
            }
            SnapshotOutcome::HandOver => self.hide(message, 0),
        }
    }
}
