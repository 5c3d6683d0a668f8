//! Executes one run. First, clients and other actors work under faults. Then the faults stop,
//! unfinished work must complete, and all invariants are checked.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::upkeep::LogPolicy;
use tokio::task::JoinSet;

use crate::actors;
use crate::bucket;
use crate::checks;
use crate::editor::{Editor, is_temporary};
use crate::fleet::Fleet;
use crate::pipeline::{FeedPipeline, Pipeline};
use crate::process::{Mortality, Process};
use crate::random::SimRandom;
use crate::rare::RareEvent;
use crate::scenarios::{Scenario, Shape};
use crate::witness::Witness;
use crate::world::{World, WorldConfig};

/// True time after which the faults stop, even if clients are still editing, in milliseconds.
const CHAOS_MAX_MS: u64 = 14 * 24 * 60 * 60 * 1_000;
/// True time, in milliseconds, within which clients must finish after the faults have stopped. This
/// is far more than they need. Half of it is the longest wait of a client that must retry later.
const PATIENCE_MS: u64 = 2 * 24 * 60 * 60 * 1_000;
/// Duration of the faults during a rebuild, in milliseconds.
const REBUILD_MS: u64 = 2 * 60 * 60 * 1_000;
/// Maximum number of `synth reprocess` runs, after which no work may be left.
const REPROCESS_ROUNDS: u32 = 3;

/// The state of a run.
pub(crate) struct Simulation {
    /// The scenario.
    pub scenario: Scenario,
    /// The parameters that were drawn for this run.
    pub shape: Shape,
    /// The simulated services.
    pub world: Arc<World>,
    /// The API's processes.
    pub fleet: Arc<Fleet>,
    /// What the clients have observed.
    pub witness: Arc<Witness>,
    /// The relay, the queue and the workers, if the scenario has workers.
    pub pipeline: Option<Pipeline>,
    /// The indexer and the webhook, if the scenario changes the catalog.
    pub feed: Option<FeedPipeline>,
    /// The log that the clients edit.
    pub log: LogId,
    /// Forks of the log.
    forks: Mutex<Vec<LogId>>,
}

/// Draws the parameters of a run. The scenario's policy is the upper limit.
fn draw_parameters(shape: Shape, random: &SimRandom) -> Shape {
    let policy = shape.policy;
    let snapshot_entries = match policy.snapshot_entries {
        u32::MAX => u32::MAX,
        longest => 2 + random.draw_below(longest.max(3) - 1),
    };
    let text_bytes = if random.draw_below(3) == 0 { 0 } else { shape.habits.text_bytes };
    let habits = crate::editor::Habits {
        text_bytes,
        think_ms: shape.habits.think_ms >> random.draw_below(4),
        ..shape.habits
    };
    let function_ms = shape.function_ms << random.draw_below(3);
    Shape {
        policy: LogPolicy { snapshot_entries, ..policy },
        habits,
        function_ms,
        servers: 1 + random.draw_below(shape.servers),
        ..shape
    }
}

impl Simulation {
    /// Creates the services of a run and starts its functions.
    #[must_use]
    pub(crate) fn new(scenario: Scenario, seed: u64, keep_text: bool) -> Arc<Self> {
        let random = SimRandom::of_seed(seed);
        let shape = draw_parameters(scenario.shape(), &random);
        let plan = shape.worst.draw(&random);
        let world = World::new(random, WorldConfig { keep_text, ..WorldConfig::with(plan) });
        world.event("plan", format_args!("{plan:?} {shape:?}"));
        let fleet = Arc::new(Fleet::new(&world, shape.servers, shape.policy));
        let pipeline =
            (shape.workers > 0).then(|| Pipeline::begin(&world, shape.workers, shape.function_ms));
        let feed = (scenario == Scenario::CatalogFeed).then(|| FeedPipeline::begin(&world));
        let subject = SubjectKey::new("sim", "owner");
        let log = LogId::derive(&subject, "sheet")
            .unwrap_or_else(|_| LogId::from_uuid(uuid::Uuid::from_u128(1)));
        let witness = Arc::default();
        let forks = Mutex::default();
        Arc::new(Self { scenario, shape, world, fleet, witness, pipeline, feed, log, forks })
    }

    /// Adds a fork, so that it is checked at the end.
    pub(crate) fn add_log(&self, log: LogId) {
        let mut forks = self.forks.lock().unwrap_or_else(PoisonError::into_inner);
        if !forks.contains(&log) {
            forks.push(log);
        }
    }

    /// Returns all logs that are checked at the end.
    fn logs(&self) -> Vec<LogId> {
        let forks = self.forks.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(self.log).chain(forks.iter().copied()).collect()
    }

    /// Runs all phases of the simulation.
    pub(crate) async fn run(self: &Arc<Self>) {
        let actors = tokio::spawn(actors::run_endless_actors(self.scenario, Arc::clone(self)));
        let bucket = tokio::spawn(bucket::expire_uploads(Arc::clone(&self.world)));
        let mut clients = self.spawn_clients();
        let edited =
            self.complete_within(CHAOS_MAX_MS, wait_for_tasks(&self.world, &mut clients)).await;
        self.stop_faults();
        if edited.is_none()
            && self
                .complete_within(PATIENCE_MS, wait_for_tasks(&self.world, &mut clients))
                .await
                .is_none()
        {
            self.world.report_violation("I10: clients did not finish after the faults stopped");
        }
        actors.abort();
        if actors.await.is_err_and(|error| error.is_panic()) {
            self.world.report_violation("an actor panicked");
        }
        self.wait_for_delayed_calls().await;
        self.finish_snapshots().await;
        if self.scenario == Scenario::OutageAndReprocess && self.world.random.draw_below(2) == 0 {
            self.rebuild().await;
        }
        if let Some(pipeline) = &self.pipeline {
            pipeline.end();
        }
        if let Some(feed) = &self.feed {
            feed.finish(PATIENCE_MS).await;
            checks::feed(&self.world, &self.witness).await;
            feed.end();
        }
        let uploads = [
            RareEvent::Uploaded,
            RareEvent::UploadAbandoned,
            RareEvent::Imported,
            RareEvent::HostileRefused,
        ];
        if uploads.into_iter().any(|upload| self.world.rare.has(upload)) {
            self.world.sleep_ms(bucket::EXPIRED_MS).await;
        }
        bucket.abort();
        let with_snapshots = self.pipeline.is_some();
        checks::all(&self.world, &self.witness, &self.logs(), with_snapshots).await;
    }

    async fn complete_within<T>(
        &self,
        patience_ms: u64,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::time::timeout(Duration::from_millis(patience_ms), work).await.ok()
    }

    /// Starts the clients of the log and the actors for which the run waits.
    fn spawn_clients(self: &Arc<Self>) -> JoinSet<()> {
        let mut clients = JoinSet::new();
        clients.spawn(actors::run_finite_actors(self.scenario, Arc::clone(self)));
        for number in 1..=self.shape.editors {
            let simulation = Arc::clone(self);
            clients.spawn(async move {
                let creator =
                    Process::new(&simulation.world, format!("creator-{number}"), Mortality::Spared);
                simulation.create(&creator).await;
                let seen = (&simulation.fleet, &simulation.witness);
                let habits = simulation.shape.habits;
                Editor::new(&simulation.world, seen, simulation.log, number, habits).edit().await;
            });
        }
        clients
    }

    /// Creates the log. Another client may already have created it.
    pub(crate) async fn create(&self, creator: &Process) {
        let log = self.log;
        loop {
            let create = move |server: crate::fleet::Server| async move {
                server.logs.create(log, Some("owner".to_owned())).await
            };
            match self.fleet.ask(creator, "create".to_owned(), create).await {
                Some(Ok(created)) if created.head == Position::FIRST => return,
                Some(Ok(created)) => {
                    return self.world.report_violation(format_args!(
                        "a new log has its head at {}",
                        created.head
                    ));
                }
                Some(Err(error)) if !is_temporary(&error) => {
                    return self
                        .world
                        .report_violation(format_args!("the log cannot be created: {error}"));
                }
                Some(Err(_)) | None => self.world.sleep_ms(500).await,
            }
        }
    }

    /// Stops all faults. Delayed calls still arrive, and frozen processes still resume.
    pub(crate) fn stop_faults(&self) {
        self.world.set_plan(self.world.plan().without_faults());
        self.world.event("world", format_args!("the faults stop"));
        if let Some(pipeline) = &self.pipeline {
            pipeline.set_outage(false);
        }
        if let Some(feed) = &self.feed {
            feed.set_outage(false);
        }
    }

    /// Waits until all delayed calls have arrived and all frozen processes have resumed.
    async fn wait_for_delayed_calls(&self) {
        let worst = self.shape.worst;
        let longest = worst.freeze_max_ms.max(worst.late_max_ms).max(worst.delay_max_ms);
        self.world.sleep_ms(2 * longest).await;
    }

    /// Checks I10: all snapshots are finished. If messages were lost, an operator reprocesses them.
    async fn finish_snapshots(&self) {
        let Some(pipeline) = &self.pipeline else { return };
        let mut drained = pipeline.drain(PATIENCE_MS).await;
        for _ in 0..REPROCESS_ROUNDS {
            if !pipeline.has_lost() {
                break;
            }
            pipeline.reprocess().await;
            drained = pipeline.drain(PATIENCE_MS).await;
        }
        if !drained {
            let left = pipeline.leftovers().await;
            self.world.report_violation(format_args!("I10: snapshots are unfinished: {left}"));
        }
    }

    /// Deletes all snapshot objects. An operator then rebuilds them under faults.
    async fn rebuild(&self) {
        let (world, Some(pipeline)) = (&self.world, &self.pipeline) else { return };
        world.lose_snapshots().await;
        world.set_plan(self.shape.worst.draw(&world.random));
        if self.complete_within(REBUILD_MS, pipeline.rebuild(self.log)).await.is_none() {
            self.stop_faults();
            pipeline.rebuild(self.log).await;
        }
        world.sleep_ms(world.random.draw_in(0..=REBUILD_MS)).await;
        self.stop_faults();
        self.wait_for_delayed_calls().await;
        self.finish_snapshots().await;
    }
}

/// Waits until all tasks have ended.
async fn wait_for_tasks(world: &World, tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            world.report_violation(format_args!("a client panicked: {error}"));
        }
    }
}
