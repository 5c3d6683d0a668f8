//! The possible transitions of the snapshot model, and their effects on a state.

use cellar_base::consistency::ReadConsistency;
use cellar_base::limits::{LEASE_S, WORK_VISIBILITY_S};
use cellar_snapshot::pending_snapshot::{
    self as pending, ClockReading, PendingSnapshot, SnapshotEvent, SnapshotOutcome, Worker,
};

use super::store::{Root, job};
use super::{Fault, Guarantees, Process, SnapshotAtClaim, SnapshotsModel, State, Write};
use crate::log::tables::first_segment;

const MS_PER_SECOND: u64 = 1_000;

/// A transition of the snapshot model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotsAction {
    /// A worker receives a queue message and starts.
    Receive {
        /// Id of the message.
        message_id: u8,
    },
    /// A worker's pending request is executed.
    Step {
        /// Index of the worker's process.
        process_index: usize,
    },
    /// The response to a worker's write is lost. The write is executed later or never.
    LoseReply {
        /// Index of the worker's process.
        process_index: usize,
    },
    /// A worker's read returns a stale record.
    ReadStale {
        /// Index of the worker's process.
        process_index: usize,
    },
    /// A worker crashes.
    Crash {
        /// Index of the worker's process.
        process_index: usize,
    },
    /// A delayed write reaches the table.
    ExecuteLateWrite {
        /// Index of the delayed write.
        write_index: usize,
    },
    /// A message is duplicated.
    Duplicate {
        /// Id of the message.
        message_id: u8,
    },
    /// A message is lost.
    LoseMessage {
        /// Id of the message.
        message_id: u8,
    },
    /// The clock advances by the duration of a lease, after which another worker may claim a
    /// record.
    AdvanceClockByLease,
    /// All snapshot objects are lost, and an operator starts to rebuild all snapshots.
    BeginRebuild,
    /// The operator takes the next step of the rebuild.
    StepOperator,
}

impl SnapshotsModel {
    /// Actions without a fault come first.
    pub(super) fn add_possible_actions(&self, state: &State, actions: &mut Vec<SnapshotsAction>) {
        if state.operator.is_some() {
            actions.push(SnapshotsAction::StepOperator);
        }
        for process_index in 0..state.processes.len() {
            actions.push(SnapshotsAction::Step { process_index });
        }
        self.add_message_actions(state, actions);
        add_worker_faults(state, actions);
        for write_index in 0..state.late_writes.len() {
            actions.push(SnapshotsAction::ExecuteLateWrite { write_index });
        }
        if state.budget.leases > 0 {
            actions.push(SnapshotsAction::AdvanceClockByLease);
        }
        if state.budget.rebuilds > 0 && state.operator.is_none() {
            actions.push(SnapshotsAction::BeginRebuild);
        }
    }

    fn add_message_actions(&self, state: &State, actions: &mut Vec<SnapshotsAction>) {
        let budget = &state.budget;
        let has_free_worker = state.processes.len() < self.workers;
        for message in &state.store.messages {
            let message_id = message.id;
            let is_visible = message.hidden_until_s <= state.now_s;
            if has_free_worker && (is_visible || budget.early > 0) {
                actions.push(SnapshotsAction::Receive { message_id });
            }
            if budget.duplicates > 0 {
                actions.push(SnapshotsAction::Duplicate { message_id });
            }
            let is_of_last_snapshot = message.entry_number + 1 >= self.snapshots;
            if budget.lost_messages > 0 && !is_of_last_snapshot {
                actions.push(SnapshotsAction::LoseMessage { message_id });
            }
        }
    }

    /// Returns `None` if the action is impossible in `state`.
    pub(super) fn apply_action(&self, state: &State, action: SnapshotsAction) -> Option<State> {
        let old_state = state.clone();
        match action {
            SnapshotsAction::Receive { message_id } => self.receive_message(old_state, message_id),
            SnapshotsAction::Step { process_index } => {
                Some(self.step_process(old_state, process_index))
            }
            SnapshotsAction::LoseReply { process_index } => old_state.lose_reply(process_index),
            SnapshotsAction::ReadStale { process_index } => {
                Some(old_state.read_stale(process_index))
            }
            SnapshotsAction::Crash { process_index } => {
                Some(old_state.crash_process(process_index))
            }
            SnapshotsAction::ExecuteLateWrite { write_index } => {
                Some(old_state.execute_late_write(write_index))
            }
            SnapshotsAction::Duplicate { message_id } => old_state.duplicate_message(message_id),
            SnapshotsAction::LoseMessage { message_id } => Some(old_state.lose_message(message_id)),
            SnapshotsAction::AdvanceClockByLease => Some(old_state.advance_clock_by_lease()),
            SnapshotsAction::BeginRebuild => Some(old_state.begin_rebuild()),
            SnapshotsAction::StepOperator => self.step_operator(old_state),
        }
    }

    fn receive_message(&self, mut state: State, message_id: u8) -> Option<State> {
        let message = *state.store.messages.iter().find(|message| message.id == message_id)?;
        if message.hidden_until_s > state.now_s {
            state.budget.early -= 1;
        }
        state.hide_for(message_id, WORK_VISIBILITY_S);
        let deadline_ms = if self.short_functions { 0 } else { u64::MAX };
        let (worker, action) =
            Worker::begin_with(self.rules, job(message.entry_number), deadline_ms);
        state.add_process(Process {
            id: state.unused_process_id()?,
            message_id,
            entry_number: message.entry_number,
            worker,
            action,
            snapshot_at_claim: None,
            run: None,
        });
        Some(state)
    }

    fn step_process(&self, mut state: State, process_index: usize) -> State {
        let process = state.processes.remove(process_index);
        self.execute_request(&mut state, &process);
        state
    }

    fn execute_request(&self, state: &mut State, process: &Process) {
        let entry_number = process.entry_number;
        let event = match &process.action {
            pending::SnapshotAction::FindFirst => state.store.find_pending(0..=entry_number),
            pending::SnapshotAction::FindNext => state.store.find_pending(entry_number + 1..),
            pending::SnapshotAction::ReadSegment { .. } => {
                SnapshotEvent::Segment(Some(state.store.segment()))
            }
            action @ (pending::SnapshotAction::Create(_)
            | pending::SnapshotAction::Replace { .. }) => state.execute_requested_write(action),
            pending::SnapshotAction::Build { progress } => state.build(process, progress),
            pending::SnapshotAction::SetRoot { root } => {
                state.set_root(entry_number, Root::parse(root), self.guarantees);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::ReplaceRoot { replaces, root } => {
                let old_root = replaces.as_deref().and_then(Root::parse);
                state.replace_root(process, old_root, Root::parse(root), self.guarantees)
            }
            pending::SnapshotAction::RaiseLast => {
                state.raise_last(entry_number, self.guarantees);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Delete { run } => {
                state.delete_record(entry_number, *run, self.guarantees);
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Enqueue(position) => {
                state.store.send_message(position.entry_number());
                SnapshotEvent::Done
            }
            pending::SnapshotAction::Finish(outcome) => {
                state.finish_message(process.message_id, *outcome);
                return;
            }
        };
        state.step_worker(process, event);
    }
}

fn add_worker_faults(state: &State, actions: &mut Vec<SnapshotsAction>) {
    let budget = &state.budget;
    let stale_read =
        pending::SnapshotAction::ReadSegment { consistency: ReadConsistency::Eventual };
    for (process_index, process) in state.processes.iter().enumerate() {
        if requested_write(&process.action).is_some() && budget.lost_replies > 0 {
            actions.push(SnapshotsAction::LoseReply { process_index });
        }
        if process.action == stale_read && budget.stale > 0 {
            actions.push(SnapshotsAction::ReadStale { process_index });
        }
        if budget.crashes > 0 {
            actions.push(SnapshotsAction::Crash { process_index });
        }
    }
}

fn requested_write(action: &pending::SnapshotAction) -> Option<Write> {
    match action {
        pending::SnapshotAction::Create(record) => Some(Write::Create(record.clone())),
        pending::SnapshotAction::Replace { record, increment } => {
            Some(Write::Replace(record.clone(), *increment))
        }
        _ => None,
    }
}

/// Returns `None` if the record belongs to no rebuild.
fn rebuild_run(record: &PendingSnapshot) -> Option<u64> {
    record.rebuild.as_ref().map(|rebuild| rebuild.run)
}

/// `is_complete` becomes [`Root::is_complete`] of the built snapshot.
fn encode_progress(is_complete: bool) -> Vec<u8> {
    const FIRST_RANK: u8 = 1;
    vec![FIRST_RANK, u8::from(is_complete)]
}

/// The rank increases as the job progresses.
fn progress_rank(progress: &[u8]) -> u8 {
    progress.first().copied().unwrap_or_default()
}

impl State {
    fn entry_number_of(&self, message_id: u8) -> Option<u32> {
        let message = self.store.messages.iter().find(|message| message.id == message_id)?;
        Some(message.entry_number)
    }

    fn unused_process_id(&self) -> Option<u8> {
        (0..=u8::MAX).find(|id| !self.processes.iter().any(|process| process.id == *id))
    }

    fn lose_reply(mut self, process_index: usize) -> Option<Self> {
        self.budget.lost_replies -= 1;
        let process = self.processes.remove(process_index);
        self.late_writes.push(requested_write(&process.action)?);
        self.step_worker(&process, SnapshotEvent::Unknown);
        Some(self)
    }

    fn read_stale(mut self, process_index: usize) -> Self {
        self.budget.stale -= 1;
        let process = self.processes.remove(process_index);
        self.step_worker(&process, SnapshotEvent::Segment(Some(first_segment())));
        self
    }

    fn crash_process(mut self, process_index: usize) -> Self {
        self.budget.crashes -= 1;
        self.processes.remove(process_index);
        self
    }

    fn execute_late_write(mut self, write_index: usize) -> Self {
        let write = self.late_writes.remove(write_index);
        self.execute_write(&write);
        self
    }

    fn duplicate_message(mut self, message_id: u8) -> Option<Self> {
        self.budget.duplicates -= 1;
        let entry_number = self.entry_number_of(message_id)?;
        self.store.send_message(entry_number);
        Some(self)
    }

    fn lose_message(mut self, message_id: u8) -> Self {
        self.budget.lost_messages -= 1;
        self.store.delete_message(message_id);
        self
    }

    fn advance_clock_by_lease(mut self) -> Self {
        self.budget.leases -= 1;
        self.now_s += LEASE_S;
        self.reset_visible_messages();
        self
    }

    fn add_process(&mut self, process: Process) {
        self.processes.push(process);
        self.processes.sort_by_key(|process| process.id);
    }

    fn step_worker(&mut self, process: &Process, event: SnapshotEvent) {
        let mut process = process.clone();
        if event == SnapshotEvent::Written {
            self.record_claim(&mut process);
            if matches!(process.action, pending::SnapshotAction::Replace { .. }) {
                self.hide_for(process.message_id, WORK_VISIBILITY_S);
            }
        }
        let clock = ClockReading { now_ms: self.now_s * MS_PER_SECOND };
        (process.worker, process.action) = process.worker.step(event, clock);
        self.add_process(process);
    }

    /// On the first write of a worker, which claims the record, records whether the snapshot is
    /// already finished.
    fn record_claim(&self, process: &mut Process) {
        if process.snapshot_at_claim.is_some() {
            return;
        }
        let Some(write) = requested_write(&process.action) else { return };
        let is_finished = self.store.is_finished(process.entry_number);
        process.snapshot_at_claim =
            Some(if is_finished { SnapshotAtClaim::Finished } else { SnapshotAtClaim::Unfinished });
        process.run = rebuild_run(write.record());
    }

    /// If the number of seconds is 0, makes the message visible.
    fn hide_for(&mut self, message_id: u8, hidden_s: u32) {
        let until_s = if hidden_s == 0 { 0 } else { self.now_s + u64::from(hidden_s) };
        self.store.hide_message(message_id, until_s);
    }

    /// Sets hide times that have passed to 0, so that states that differ only in these times are
    /// equal.
    fn reset_visible_messages(&mut self) {
        for message in &mut self.store.messages {
            if message.hidden_until_s <= self.now_s {
                message.hidden_until_s = 0;
            }
        }
        self.store.messages.sort();
    }

    fn execute_requested_write(&mut self, action: &pending::SnapshotAction) -> SnapshotEvent {
        let Some(write) = requested_write(action) else { return SnapshotEvent::Refused };
        let is_condition_met = self.execute_write(&write);
        if is_condition_met { SnapshotEvent::Written } else { SnapshotEvent::Refused }
    }

    fn execute_write(&mut self, write: &Write) -> bool {
        let is_condition_met = self.store.write(write);
        if is_condition_met {
            self.record_progress_rank(write.record());
        }
        is_condition_met
    }

    /// Records the rank of the progress in a record.
    ///
    /// It is a violation if the rank is lower than before and the progress is still needed.
    /// Progress is not needed if the snapshot is finished and the record does not belong to a
    /// rebuild.
    fn record_progress_rank(&mut self, record: &PendingSnapshot) {
        let entry_number = record.job.position.entry_number();
        let run = rebuild_run(record);
        let snapshot_and_run = (entry_number, run);
        let best_rank = self.store.best_ranks.get(&snapshot_and_run).copied().unwrap_or_default();
        let rank = progress_rank(&record.progress);
        let needs_progress = run.is_some() || !self.store.is_finished(entry_number);
        if rank < best_rank && needs_progress {
            self.fault = Some(Fault::ProgressDecreased { entry_number });
        }
        self.store.best_ranks.insert(snapshot_and_run, rank.max(best_rank));
    }

    /// Takes the next step of building a snapshot. The first step returns the progress to store,
    /// and the second step returns the root. If an earlier snapshot is unfinished and this is not a
    /// rebuild, returns the earlier snapshot instead.
    fn build(&mut self, process: &Process, progress: &[u8]) -> SnapshotEvent {
        let entry_number = process.entry_number;
        let is_rebuild = process.run.is_some();
        if process.snapshot_at_claim == Some(SnapshotAtClaim::Finished) && !is_rebuild {
            self.fault = Some(Fault::BuiltAgain { entry_number });
        }
        if let Some(first_unfinished) = self.store.first_unfinished()
            && first_unfinished < entry_number
            && !is_rebuild
        {
            return SnapshotEvent::EarlierSnapshot(job(first_unfinished).position);
        }
        if progress.is_empty() {
            return self.begin_build(entry_number, is_rebuild);
        }
        let is_complete = progress == encode_progress(true);
        let root = Root { builder: process.id, is_complete };
        SnapshotEvent::Built { root: root.name() }
    }

    /// Reads the previous snapshot and returns the first progress. Later steps do not read the
    /// previous snapshot again.
    ///
    /// If all objects are lost after this step, the built objects are lost too, even if the worker
    /// does not notice the loss.
    fn begin_build(&mut self, entry_number: u32, is_rebuild: bool) -> SnapshotEvent {
        let has_lost_base = entry_number > 0 && !self.store.is_complete(entry_number - 1);
        if !has_lost_base {
            return SnapshotEvent::Progress(encode_progress(self.store.are_objects_lost));
        }
        if is_rebuild {
            self.fault = Some(Fault::LostBase { entry_number });
        }
        SnapshotEvent::Failed { temporary: false }
    }

    fn set_root(&mut self, entry_number: u32, new_root: Option<Root>, guarantees: Guarantees) {
        let current_root = self.store.roots.entry(entry_number).or_default();
        if current_root.is_none() {
            *current_root = new_root;
            return;
        }
        if !guarantees.set_root_once && *current_root != new_root {
            self.fault = Some(Fault::RootReplaced { entry_number });
        }
    }

    fn replace_root(
        &mut self,
        process: &Process,
        old_root: Option<Root>,
        new_root: Option<Root>,
        guarantees: Guarantees,
    ) -> SnapshotEvent {
        let entry_number = process.entry_number;
        let active_run = self.store.pending.get(&entry_number).and_then(rebuild_run);
        let current_root = self.store.roots.entry(entry_number).or_default();
        if guarantees.replace_old_root_only && *current_root != old_root {
            return match *current_root {
                root if root == new_root => SnapshotEvent::Done,
                Some(other_root) => SnapshotEvent::OtherRoot { current_root: other_root.name() },
                None => SnapshotEvent::EntryGone,
            };
        }
        // Once the rebuild of this worker has ended, the worker must not replace the root of
        // another worker.
        let has_rebuild_ended = active_run != process.run;
        if has_rebuild_ended && *current_root != old_root {
            self.fault = Some(Fault::RootReplaced { entry_number });
        }
        *current_root = new_root;
        SnapshotEvent::Done
    }

    fn delete_record(&mut self, entry_number: u32, run: Option<u64>, guarantees: Guarantees) {
        let Some(record) = self.store.pending.get(&entry_number) else { return };
        if rebuild_run(record) == run || !guarantees.delete_own_only {
            self.store.pending.remove(&entry_number);
        }
    }

    fn raise_last(&mut self, entry_number: u32, guarantees: Guarantees) {
        let is_lower = self.store.last.is_some_and(|last| entry_number < last);
        if is_lower && guarantees.raise_last_only {
            return;
        }
        if is_lower {
            self.fault = Some(Fault::LastDecreased);
        }
        self.store.last = Some(entry_number);
    }

    fn finish_message(&mut self, message_id: u8, outcome: SnapshotOutcome) {
        match outcome {
            SnapshotOutcome::Done | SnapshotOutcome::Drop => self.store.delete_message(message_id),
            SnapshotOutcome::Wait { wait_s }
            | SnapshotOutcome::Failed { wait_s }
            | SnapshotOutcome::Unexpected { wait_s, .. } => {
                self.hide_for(message_id, wait_s);
            }
            SnapshotOutcome::HandOver => self.hide_for(message_id, 0),
        }
    }
}
