//! A machine of a client group that is often offline. The machine pushes its pending mutations,
//! pulls new entries, and may restart from an older saved state.

use std::sync::Arc;

use cellar_api::sync::{Cookie, ParsedArguments, PushOutcome, Pushed, group_into_runs};
use cellar_base::identity::{ClientKey, ClientName, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::{LogError, PullDelta, PullOutcome, PushClient, Pushing};
use cellar_log::entry::Entry;
use cellar_sheet::operation::Operation;

use crate::editor::{Habits, is_temporary};
use crate::fleet::{Fleet, Server, run_upkeep};
use crate::operations::draw_operation;
use crate::process::{Mortality, Process};
use crate::random::{Rate, SimRandom};
use crate::rare::RareEvent;
use crate::simulation::Simulation;
use crate::world::World;

/// Probability that a machine goes offline between two syncs.
const OFFLINE_RATE: Rate = Rate(3_000);
/// Maximum duration of an offline period, in milliseconds.
const MAX_OFFLINE_MS: u64 = 12 * 60 * 60 * 1_000;
/// Probability that a machine restarts from its saved state.
const RESTART_RATE: Rate = Rate(1_500);
/// Probability that a machine omits its first pending mutation from a push.
const SKIP_RATE: Rate = Rate(1_000);
/// Maximum number of syncs, after the faults have stopped, until all mutations are acknowledged.
const MAX_SYNCS: u32 = 2_000;
/// Client group to which all machines belong.
const GROUP: &str = "group";

/// A mutation that is not acknowledged yet.
#[derive(Debug, Clone)]
struct PendingMutation {
    id: u64,
    base: Position,
    operation: Operation,
}

/// The persistent state of a machine.
#[derive(Debug, Clone, Default)]
struct MachineState {
    cookie: Option<Cookie>,
    /// The entries in the machine's view, starting from a snapshot root or from the beginning of
    /// the log.
    view: Vec<Arc<Entry>>,
    pending: Vec<PendingMutation>,
    last_acknowledged_id: u64,
    next_id: u64,
}

pub(super) struct Machine {
    process: Process,
    fleet: Arc<Fleet>,
    log: LogId,
    subject: SubjectKey,
    name: ClientName,
    current: MachineState,
    /// An older saved state. A restart restores the view from this state but keeps the current
    /// mutations.
    saved: MachineState,
}

impl Machine {
    /// Creates a machine that has not pulled anything.
    pub(super) fn new(simulation: &Simulation, number: u8) -> Option<Self> {
        let process =
            Process::new(&simulation.world, format!("machine-{number}"), Mortality::Spared);
        let name = ClientName::new(GROUP, &format!("machine {number}")).ok()?;
        Some(Self {
            process,
            fleet: Arc::clone(&simulation.fleet),
            log: simulation.log,
            subject: SubjectKey::new("sim", "machines"),
            name,
            current: MachineState { next_id: 1, ..MachineState::default() },
            saved: MachineState::default(),
        })
    }

    fn key(&self) -> ClientKey {
        self.name.key(&self.subject)
    }

    fn world(&self) -> &Arc<World> {
        self.process.world()
    }

    fn random(&self) -> &SimRandom {
        self.process.random()
    }

    /// Edits and syncs, with offline periods, until all mutations are acknowledged.
    pub(super) async fn run(mut self, habits: Habits) {
        for _ in 0..habits.requests {
            self.world().sleep_ms(self.random().draw_mostly_small(habits.think_ms)).await;
            if self.random().happens(OFFLINE_RATE) {
                self.world().count(RareEvent::Offline);
                let offline_ms = self.random().draw_mostly_small(MAX_OFFLINE_MS);
                self.process.event(format_args!("is offline for {offline_ms} ms"));
                self.world().sleep_ms(offline_ms).await;
            }
            self.edit(habits);
            self.sometimes_restart();
            self.sync().await;
        }
        for _ in 0..MAX_SYNCS {
            if self.current.pending.is_empty() {
                return self.check_view();
            }
            self.world().sleep_ms(self.random().draw_in(100..=60_000)).await;
            self.sync().await;
        }
        let pending_count = self.current.pending.len();
        let name = self.process.name();
        self.world().report_violation(format_args!(
            "I10: {name} still has {pending_count} pending mutations"
        ));
    }

    fn edit(&mut self, habits: Habits) {
        let Some(cookie) = &self.current.cookie else { return };
        let base = cookie.position;
        for _ in 0..self.random().draw_in(1..=habits.batch.max(1)) {
            let operation = draw_operation(self.random(), habits.text_bytes);
            let id = self.current.next_id;
            self.current.pending.push(PendingMutation { id, base, operation });
            self.current.next_id += 1;
        }
    }

    /// Either restarts with an older view or saves the current state. Mutations are always saved.
    fn sometimes_restart(&mut self) {
        if self.random().happens(RESTART_RATE) {
            self.world().count(RareEvent::ClientRestarted);
            self.process.event(format_args!("restarts"));
            self.current.cookie = self.saved.cookie;
            self.current.view = self.saved.view.clone();
        } else if self.random().draw_below(3) == 0 {
            self.saved = self.current.clone();
        }
    }

    async fn sync(&mut self) {
        if self.random().happens(SKIP_RATE) && self.current.pending.len() > 1 {
            let skipped_count = 1;
            self.push(skipped_count).await;
        }
        self.push(0).await;
        self.pull().await;
    }

    /// Pushes the pending mutations without the first `skipped_count` ones.
    async fn push(&self, skipped_count: usize) {
        let Some(cookie) = self.current.cookie else { return };
        let mut mutations = Vec::new();
        for pending in self.current.pending.iter().skip(skipped_count) {
            let arguments = ParsedArguments::Edit {
                base: pending.base,
                incarnation: cookie.incarnation,
                operation: pending.operation.clone(),
            };
            mutations.push(Pushed { client: 0, id: pending.id, arguments });
        }
        let Some(first_id) = mutations.first().map(|mutation| mutation.id) else { return };
        let client = PushClient { key: self.key(), name: self.name.clone() };
        let log = self.log;
        let push = move |server| push_mutations(server, log, client, mutations);
        match self.fleet.ask(&self.process, format!("push from {first_id}"), push).await {
            Some(Ok(outcome)) => self.check_push(first_id, skipped_count, &outcome),
            Some(Err(error)) if !is_temporary(&error) => {
                let name = self.process.name();
                self.world().report_violation(format_args!("{name}: a push failed: {error}"));
            }
            Some(Err(_)) | None => {}
        }
    }

    /// Checks I15: the server refuses a push that skips a mutation, unless an earlier push
    /// delivered the mutation.
    fn check_push(&self, first_id: u64, skipped_count: usize, outcome: &PushOutcome) {
        let is_refused = outcome.gap.is_some() || outcome.unknown_client;
        self.process.event(format_args!("pushed from {first_id}, refused={is_refused}"));
        if !is_refused {
            return;
        }
        if skipped_count > 0 {
            self.world().count(RareEvent::GapRefused);
            return;
        }
        let name = self.process.name();
        self.world().report_violation(format_args!(
            "I15: {name} got a gap at {first_id} as an answer: {:?}",
            outcome.gap
        ));
    }

    async fn pull(&mut self) {
        let (log, subject, cookie) = (self.log, self.subject, self.current.cookie);
        let pull = move |server: Server| async move {
            server.logs.pull(log, subject, GROUP, cookie).await
        };
        match self.fleet.ask(&self.process, "pull".to_owned(), pull).await {
            Some(Ok(outcome)) => self.apply_pull(outcome),
            Some(Err(error)) if !is_temporary(&error) && error != LogError::NotFound => {
                let name = self.process.name();
                self.world().report_violation(format_args!("{name}: a pull failed: {error}"));
            }
            Some(Err(_)) | None => {}
        }
    }

    fn apply_pull(&mut self, outcome: PullOutcome) {
        match outcome {
            PullOutcome::Nothing(_) => {}
            PullOutcome::Since(delta) => {
                self.current.view.extend(delta.entries.iter().cloned());
                self.apply_delta(&delta);
            }
            PullOutcome::Reset { root, news: delta } => {
                if root.is_some() {
                    self.world().count(RareEvent::PulledAnew);
                }
                self.current.view.clone_from(&delta.entries);
                self.apply_delta(&delta);
            }
            PullOutcome::UnknownCookie => {
                let name = self.process.name();
                self.world()
                    .report_violation(format_args!("{name}'s cookie was refused as unknown"));
            }
        }
    }

    /// Removes the acknowledged mutations and stores the new cookie.
    fn apply_delta(&mut self, delta: &PullDelta) {
        let last_id = delta.last_ids.get(self.name.client()).copied().unwrap_or(0);
        let acknowledged_id = self.current.last_acknowledged_id.max(last_id);
        self.current.last_acknowledged_id = acknowledged_id;
        if acknowledged_id >= self.current.next_id {
            let name = self.process.name();
            self.world().report_violation(format_args!(
                "I13: {name} got an acknowledgement of mutations that it never made"
            ));
        }
        self.current.pending.retain(|pending| pending.id > acknowledged_id);
        self.current.cookie = Some(delta.cookie);
        self.process.event(format_args!("has {acknowledged_id} acknowledged"));
    }

    /// Checks I16: the view has no gap and ends at the cookie's position.
    fn check_view(&self) {
        let view = &self.current.view;
        let has_hole = view.iter().zip(view.iter().skip(1)).any(|(entry, following_entry)| {
            entry.next_position() != Some(following_entry.position)
        });
        let last_position = view.last().map(|last_entry| last_entry.position);
        let position = self.current.cookie.as_ref().map(|cookie| cookie.position);
        if has_hole || last_position != position {
            let name = self.process.name();
            self.world()
                .report_violation(format_args!("I16: {name}'s view to {position:?} has a hole"));
        }
    }
}

/// Pushes the mutations run by run, as the API does, until a run is refused.
async fn push_mutations(
    server: Server,
    log: LogId,
    client: PushClient,
    mutations: Vec<Pushed>,
) -> Result<PushOutcome, LogError> {
    let push_target = Pushing { log, author: None };
    let mut last_outcome = PushOutcome::default();
    for mutation_run in group_into_runs(mutations) {
        last_outcome = server.logs.push(&push_target, &client, mutation_run).await?;
        if last_outcome.unknown_client || last_outcome.gap.is_some() {
            break;
        }
    }
    run_upkeep(&server, log).await;
    Ok(last_outcome)
}
