//! A machine of a sync group that is often offline. It pushes its pending mutations, pulls new
//! entries, and may restart from an older saved state.

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

/// How often a machine goes offline between two syncs.
const OFFLINE: Rate = Rate(3_000);
/// Maximum duration of being offline, in milliseconds.
const OFFLINE_MAX_MS: u64 = 12 * 60 * 60 * 1_000;
/// How often a machine restarts from its saved state.
const RESTARTS: Rate = Rate(1_500);
/// How often a machine pushes without its first pending mutation.
const SKIPS: Rate = Rate(1_000);
/// Maximum syncs until all mutations are acknowledged once the faults have stopped.
const MAX_SYNCS: u32 = 2_000;
/// Client group of all machines.
const GROUP: &str = "group";

/// The persistent state of a machine.
#[derive(Debug, Clone, Default)]
struct MachineState {
    cookie: Option<Cookie>,
    /// The entries of the machine's view, from a root or from the beginning of the log.
    view: Vec<Arc<Entry>>,
    pending: Vec<(u64, Position, Operation)>,
    acknowledged: u64,
    next_id: u64,
}

pub(super) struct Machine {
    process: Process,
    fleet: Arc<Fleet>,
    log: LogId,
    subject: SubjectKey,
    name: ClientName,
    current: MachineState,
    /// An older saved state. After a restart the machine has this view, but its current mutations.
    saved: MachineState,
}

impl Machine {
    /// Creates a machine that has pulled nothing.
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
            if self.random().happens(OFFLINE) {
                self.world().count(RareEvent::Offline);
                let offline_ms = self.random().draw_mostly_small(OFFLINE_MAX_MS);
                self.process.event(format_args!("is offline for {offline_ms} ms"));
                self.world().sleep_ms(offline_ms).await;
            }
            self.edit(habits);
            self.restart();
            self.sync().await;
        }
        for _ in 0..MAX_SYNCS {
            if self.current.pending.is_empty() {
                return self.check_view();
            }
            self.world().sleep_ms(self.random().draw_in(100..=60_000)).await;
            self.sync().await;
        }
        let left = self.current.pending.len();
        let name = self.process.name();
        self.world()
            .report_violation(format_args!("I10: {name} still has {left} pending mutations"));
    }

    fn edit(&mut self, habits: Habits) {
        let Some(cookie) = &self.current.cookie else { return };
        let base = cookie.position;
        for _ in 0..self.random().draw_in(1..=habits.batch.max(1)) {
            let operation = draw_operation(self.random(), habits.text_bytes);
            self.current.pending.push((self.current.next_id, base, operation));
            self.current.next_id += 1;
        }
    }

    /// Restarts with an older view, or saves the current state. Mutations are always saved.
    fn restart(&mut self) {
        if self.random().happens(RESTARTS) {
            self.world().count(RareEvent::ClientRestarted);
            self.process.event(format_args!("restarts"));
            let (cookie, view) = (self.saved.cookie, self.saved.view.clone());
            self.current = MachineState { cookie, view, ..self.current.clone() };
        } else if self.random().draw_below(3) == 0 {
            self.saved = self.current.clone();
        }
    }

    async fn sync(&mut self) {
        if self.random().happens(SKIPS) && self.current.pending.len() > 1 {
            self.push(1).await;
        }
        self.push(0).await;
        self.pull().await;
    }

    /// Pushes the pending mutations except the first `skipped` ones.
    async fn push(&self, skipped: usize) {
        let Some(cookie) = self.current.cookie else { return };
        let pending = self.current.pending.iter().skip(skipped);
        let pushed = pending.map(|(id, base, operation)| {
            let (base, incarnation, operation) = (*base, cookie.incarnation, operation.clone());
            Pushed {
                client: 0,
                id: *id,
                arguments: ParsedArguments::Edit { base, incarnation, operation },
            }
        });
        let pushed: Vec<_> = pushed.collect();
        let Some(first) = pushed.first().map(|first| first.id) else { return };
        let client = PushClient { key: self.key(), name: self.name.clone() };
        let log = self.log;
        let work = move |server| push(server, log, client, pushed);
        match self.fleet.ask(&self.process, format!("push from {first}"), work).await {
            Some(Ok(outcome)) => self.check_push(first, skipped, &outcome),
            Some(Err(error)) if !is_temporary(&error) => {
                let name = self.process.name();
                self.world().report_violation(format_args!("{name}: a push failed: {error}"));
            }
            Some(Err(_)) | None => {}
        }
    }

    /// Checks I15: a push that skips a mutation is refused, unless an earlier push delivered that
    /// mutation.
    fn check_push(&self, first: u64, skipped: usize, outcome: &PushOutcome) {
        let is_refused = outcome.gap.is_some() || outcome.unknown_client;
        self.process.event(format_args!("pushed from {first}, refused={is_refused}"));
        if is_refused && skipped > 0 {
            self.world().count(RareEvent::GapRefused);
        } else if is_refused {
            let name = self.process.name();
            let why =
                format_args!("I15: {name} got a gap at {first} as an answer: {:?}", outcome.gap);
            self.world().report_violation(why);
        }
    }

    async fn pull(&mut self) {
        let (log, subject, cookie) = (self.log, self.subject, self.current.cookie);
        let work = move |server: Server| async move {
            server.logs.pull(log, subject, GROUP, cookie).await
        };
        match self.fleet.ask(&self.process, "pull".to_owned(), work).await {
            Some(Ok(pulled)) => self.apply_pull(pulled),
            Some(Err(error)) if !is_temporary(&error) && error != LogError::NotFound => {
                let name = self.process.name();
                self.world().report_violation(format_args!("{name}: a pull failed: {error}"));
            }
            Some(Err(_)) | None => {}
        }
    }

    fn apply_pull(&mut self, pulled: PullOutcome) {
        match pulled {
            PullOutcome::Nothing(_) => {}
            PullOutcome::Since(news) => {
                self.current.view.extend(news.entries.iter().cloned());
                self.apply_news(&news);
            }
            PullOutcome::Reset { root, news } => {
                if root.is_some() {
                    self.world().count(RareEvent::PulledAnew);
                }
                self.current.view.clone_from(&news.entries);
                self.apply_news(&news);
            }
            PullOutcome::UnknownCookie => {
                let name = self.process.name();
                self.world()
                    .report_violation(format_args!("{name}'s cookie was refused as unknown"));
            }
        }
    }

    /// Drops acknowledged mutations and stores the new cookie.
    fn apply_news(&mut self, news: &PullDelta) {
        let last_id = news.last_ids.get(self.name.client()).copied().unwrap_or(0);
        self.current.acknowledged = self.current.acknowledged.max(last_id);
        let acknowledged = self.current.acknowledged;
        if acknowledged >= self.current.next_id {
            let name = self.process.name();
            self.world().report_violation(format_args!(
                "I13: {name} got an acknowledgement of mutations that it never made"
            ));
        }
        self.current.pending.retain(|(id, ..)| *id > acknowledged);
        self.current.cookie = Some(news.cookie);
        self.process.event(format_args!("has {acknowledged} acknowledged"));
    }

    /// Checks I16: the view has no hole and ends at the cookie's position.
    fn check_view(&self) {
        let next = |pair: &[Arc<Entry>]| match pair {
            [one, other] => one.next_position() == Some(other.position),
            _ => true,
        };
        let end = self.current.view.last().map(|last| last.position);
        let position = self.current.cookie.as_ref().map(|cookie| cookie.position);
        if !self.current.view.windows(2).all(next) || end != position {
            let name = self.process.name();
            self.world()
                .report_violation(format_args!("I16: {name}'s view to {position:?} has a hole"));
        }
    }
}

/// Pushes like the API: run by run, until one is refused.
async fn push(
    server: Server,
    log: LogId,
    client: PushClient,
    pushed: Vec<Pushed>,
) -> Result<PushOutcome, LogError> {
    let (pushing, mut last) = (Pushing { log, author: None }, PushOutcome::default());
    for run in group_into_runs(pushed) {
        last = server.logs.push(&pushing, &client, run).await?;
        if last.unknown_client || last.gap.is_some() {
            break;
        }
    }
    run_upkeep(&server, log).await;
    Ok(last)
}
