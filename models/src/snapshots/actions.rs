//! What may happen in a state, and what comes of it.

use cellar_base::limits::{LEASE_S, WORK_VISIBILITY_S};
use cellar_snapshot::pending_snapshot::{
    self as pending, Inputs, SnapshotEvent, SnapshotOutcome, Worker,
};

use super::store::{Root, job};
use super::{Fault, Process, SnapshotsModel, State, Write};

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A worker is called with a message.
    Receive {
        /// Its id.
        message: u8,
    },
    /// A worker does what it is about to do.
    Step {
        /// Which of them.
        process: usize,
    },
    /// A worker writes, and no answer comes. It happens later or never.
    Lose {
        /// Which of them.
        process: usize,
    },
    /// A worker reads what was there before.
    ReadStale {
        /// Which of them.
        process: usize,
    },
    /// A worker dies.
    Crash {
        /// Which of them.
        process: usize,
    },
    /// A late write arrives.
    Arrive {
        /// Which of them.
        write: usize,
    },
    /// A message is doubled.
    Duplicate {
        /// Its id.
        message: u8,
    },
    /// A message is lost.
    LoseMessage {
        /// Its id.
        message: u8,
    },
    /// As much time as a lease goes by.
    Lease,
    /// All objects are lost, and an operator begins to have all made anew.
    Rebuild,
    /// The operator takes a step.
    Operate,
}

impl SnapshotsModel {
    /// What may happen; first what happens without a fault.
    pub(super) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        let budget = &state.budget;
        if state.operator.is_some() {
            actions.push(Action::Operate);
        }
        actions.extend((0..state.processes.len()).map(|process| Action::Step { process }));
        for message in &state.store.messages {
            let visible = message.hidden_until_s <= state.now_s;
            let free = state.processes.len() < self.workers;
            let message_id = message.id;
            if free && (visible || budget.early > 0) {
                actions.push(Action::Receive { message: message_id });
            }
            if budget.duplicates > 0 {
                actions.push(Action::Duplicate { message: message_id });
            }
            if budget.lost_messages > 0 && message.num + 1 < self.snapshots {
                actions.push(Action::LoseMessage { message: message_id });
            }
        }
        for (process, its) in state.processes.iter().enumerate() {
            let writes = matches!(
                its.action,
                pending::SnapshotAction::Create(_) | pending::SnapshotAction::Replace { .. }
            );
            if writes && budget.lost_replies > 0 {
                actions.push(Action::Lose { process });
            }
            let stale_read = pending::SnapshotAction::ReadSegment { consistent: false };
            if its.action == stale_read && budget.stale > 0 {
                actions.push(Action::ReadStale { process });
            }
            if budget.crashes > 0 {
                actions.push(Action::Crash { process });
            }
        }
        actions.extend((0..state.late.len()).map(|write| Action::Arrive { write }));
        if budget.leases > 0 {
            actions.push(Action::Lease);
        }
        if budget.rebuilds > 0 && state.operator.is_none() {
            actions.push(Action::Rebuild);
        }
    }

    /// The state after an action; `None` if it changes nothing.
    pub(super) fn after(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Receive { message } => self.receive(&mut next, message)?,
            Action::Step { process } => {
                let its = next.processes.remove(process);
                self.step(&mut next, &its);
            }
            Action::Lose { process } => {
                next.budget.lost_replies -= 1;
                let its = next.processes.remove(process);
                next.late.push(write_of(&its.action)?);
                next.answer(&its, SnapshotEvent::Unknown);
            }
            Action::ReadStale { process } => {
                next.budget.stale -= 1;
                let its = next.processes.remove(process);
                let segment = next.store.segment(true);
                next.answer(&its, SnapshotEvent::Segment(Some(segment)));
            }
            Action::Crash { process } => {
                next.budget.crashes -= 1;
                next.processes.remove(process);
            }
            Action::Arrive { write } => {
                let write = next.late.remove(write);
                next.write(&write);
            }
            Action::Duplicate { message } => {
                next.budget.duplicates -= 1;
                let num = next.num_of(message)?;
                next.store.send(num);
            }
            Action::LoseMessage { message } => {
                next.budget.lost_messages -= 1;
                next.store.delete_message(message);
            }
            Action::Lease => {
                next.budget.leases -= 1;
                next.now_s += LEASE_S;
                next.show_messages();
            }
            Action::Rebuild => self.begin_rebuild(&mut next),
            Action::Operate => self.operate(&mut next)?,
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
        let used = |id: &u8| next.processes.iter().any(|process| process.id == *id);
        let process = Process {
            id: (0..=u8::MAX).find(|id| !used(id))?,
            message: id,
            num: message.num,
            worker,
            action,
            late: None,
            run: None,
        };
        next.add(process);
        Some(())
    }

    /// A worker does what it is about to do, and is told what came of it.
    fn step(&self, next: &mut State, process: &Process) {
        let event = match &process.action {
            pending::SnapshotAction::FindFirst => {
                let first = next.store.pending.range(..=process.num).next();
                SnapshotEvent::Found(first.map(|(_, record)| record.clone()))
            }
            pending::SnapshotAction::FindNext => {
                let behind = next.store.pending.range(process.num + 1..).next();
                SnapshotEvent::Found(behind.map(|(_, record)| record.clone()))
            }
            pending::SnapshotAction::ReadSegment { .. } => {
                SnapshotEvent::Segment(Some(next.store.segment(false)))
            }
            action @ (pending::SnapshotAction::Create(_)
            | pending::SnapshotAction::Replace { .. }) => {
                match write_of(action).is_some_and(|write| next.write(&write)) {
                    true => SnapshotEvent::Written,
                    false => SnapshotEvent::Refused,
                }
            }
            pending::SnapshotAction::Build { progress } => next.build(process, progress),
            pending::SnapshotAction::SetRoot { root } => {
                next.set_root(process.num, Root::named(root), self.promises);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::ReplaceRoot { replaces, root } => {
                let (replaces, root) = (replaces.as_deref(), Root::named(root));
                let replaces = replaces.and_then(Root::named);
                next.replace_root(process, replaces, root, self.promises)
            }
            pending::SnapshotAction::RaiseLast => {
                next.raise_last(process.num, self.promises);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Delete { run } => {
                next.delete(process, *run, self.promises);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Enqueue(position) => {
                next.store.send(position.num());
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Finish(outcome) => {
                next.end(process.message, *outcome);
                return;
            }
        };
        next.answer(process, event);
    }
}

fn write_of(action: &pending::SnapshotAction) -> Option<Write> {
    match action {
        pending::SnapshotAction::Create(record) => Some(Write::Create(record.clone())),
        pending::SnapshotAction::Replace { record, increment } => {
            Some(Write::Replace(record.clone(), *increment))
        }
        _ => None,
    }
}

/// How far progress is.
fn rank(progress: &[u8]) -> u8 {
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

    /// The worker is told what came of what it did.
    fn answer(&mut self, process: &Process, event: SnapshotEvent) {
        let mut process = process.clone();
        if let (SnapshotEvent::Written, Some(write), None) =
            (&event, write_of(&process.action), process.late)
        {
            let (Write::Create(record) | Write::Replace(record, _)) = write;
            process.late = Some(self.store.is_finished(process.num));
            process.run = record.rebuild.map(|rebuild| rebuild.run);
        }
        if matches!(process.action, pending::SnapshotAction::Replace { .. })
            && event == SnapshotEvent::Written
        {
            self.hide(process.message, WORK_VISIBILITY_S);
        }
        let inputs = Inputs { now_ms: self.now_s * 1_000 };
        (process.worker, process.action) = process.worker.step(event, inputs);
        self.add(process);
    }

    fn hide(&mut self, message: u8, hidden_s: u32) {
        let until_s = if hidden_s == 0 { 0 } else { self.now_s + u64::from(hidden_s) };
        self.store.hide(message, until_s);
    }

    /// Messages whose time is over are all alike.
    fn show_messages(&mut self) {
        for message in &mut self.store.messages {
            if message.hidden_until_s <= self.now_s {
                message.hidden_until_s = 0;
            }
        }
        self.store.messages.sort();
    }

    fn write(&mut self, write: &Write) -> bool {
        let (Write::Create(record) | Write::Replace(record, _)) = write;
        let num = record.job.position.num();
        let work = (num, record.rebuild.as_ref().map(|rebuild| rebuild.run));
        let best = self.store.best.get(&work).copied().unwrap_or_default();
        let written = self.store.write(write);
        let stored = rank(&record.progress);
        if written && stored < best && (work.1.is_some() || !self.store.is_finished(num)) {
            self.fault = Some(Fault::Rank { num });
        }
        if written {
            self.store.best.insert(work, stored.max(best));
        }
        written
    }

    /// Stores progress once, then the root; nothing before what stands before it.
    fn build(&mut self, process: &Process, progress: &[u8]) -> SnapshotEvent {
        let (num, anew) = (process.num, process.run.is_some());
        if process.late == Some(true) && !anew {
            self.fault = Some(Fault::MadeAgain { num });
        }
        let earlier = self.store.first_unfinished().filter(|first| *first < num && !anew);
        if let Some(earlier) = earlier {
            return SnapshotEvent::EarlierSnapshot(job(earlier).position);
        }
        // What it stands on is read once, and what was begun before all was lost is lost.
        let lost = self.store.lost;
        match progress {
            [] if num.checked_sub(1).is_some_and(|base| !self.store.is_whole(base)) => {
                if anew {
                    self.fault = Some(Fault::OnNothing { num });
                }
                SnapshotEvent::Failed { temporary: false }
            }
            [] => SnapshotEvent::Progress(vec![1, u8::from(lost)]),
            [_, whole] => {
                let root = Root { maker: process.id, whole: *whole > 0 };
                SnapshotEvent::Built { root: root.name() }
            }
            _ => SnapshotEvent::Failed { temporary: false },
        }
    }

    fn set_root(&mut self, num: u32, root: Option<Root>, promises: super::Promises) {
        let there = self.store.roots.entry(num).or_default();
        match there {
            Some(_) if promises.root_if_absent => {}
            Some(_) if *there != root => self.fault = Some(Fault::Root { num }),
            _ => *there = root,
        }
    }

    fn replace_root(
        &mut self,
        process: &Process,
        replaces: Option<Root>,
        root: Option<Root>,
        promises: super::Promises,
    ) -> SnapshotEvent {
        let own = self.store.pending.get(&process.num);
        let own = own.and_then(|own| own.rebuild.as_ref()).map(|rebuild| rebuild.run);
        let there = self.store.roots.entry(process.num).or_default();
        if promises.root_if_old && *there != replaces {
            return match *there {
                stands if stands == root => SnapshotEvent::Done,
                Some(stands) => SnapshotEvent::OtherRoot { current_root: stands.name() },
                None => SnapshotEvent::EntryGone,
            };
        }
        // By one whose rebuild is over: nobody asked for it any more.
        if own != process.run && *there != replaces {
            self.fault = Some(Fault::Root { num: process.num });
        }
        *there = root;
        SnapshotEvent::Done
    }

    fn delete(&mut self, process: &Process, run: Option<u64>, promises: super::Promises) {
        let there = self.store.pending.get(&process.num);
        let Some(there) = there.map(|there| there.rebuild.as_ref().map(|rebuild| rebuild.run))
        else {
            return;
        };
        if there == run || !promises.own_deleted {
            self.store.pending.remove(&process.num);
        }
    }

    fn raise_last(&mut self, num: u32, promises: super::Promises) {
        let before = self.store.last;
        self.store.last = if promises.last_rises { before.max(Some(num)) } else { Some(num) };
        if self.store.last < before {
            self.fault = Some(Fault::Last);
        }
    }

    fn end(&mut self, message: u8, outcome: SnapshotOutcome) {
        match outcome {
            SnapshotOutcome::Done | SnapshotOutcome::Drop => self.store.delete_message(message),
            SnapshotOutcome::Wait { wait_s } | SnapshotOutcome::Failed { wait_s } => {
                self.hide(message, wait_s);
            }
            SnapshotOutcome::HandOver => self.hide(message, 0),
        }
    }
}
