//! One run: clients and whoever else acts, while everything fails; then the faults stop, what was begun
//! must be finished, and everything is checked.

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
use crate::editor::{Editor, passes};
use crate::fleet::Fleet;
use crate::pipeline::{FeedPipeline, Pipeline};
use crate::process::{Mortality, Process};
use crate::random::SimRandom;
use crate::rare::Rare;
use crate::scenarios::{Scenario, Shape};
use crate::witness::Witness;
use crate::world::{Beginning, World};

/// True time after which the faults stop although clients still edit, milliseconds.
const CHAOS_MAX_MS: u64 = 14 * 24 * 60 * 60 * 1_000;
/// True time within which clients are done once nothing fails any more, milliseconds: far more than they
/// need. Half of that is what somebody waits who was told to come back later.
const PATIENCE_MS: u64 = 2 * 24 * 60 * 60 * 1_000;
/// Milliseconds for which everything fails while snapshots are made anew.
const REBUILD_MS: u64 = 2 * 60 * 60 * 1_000;
/// Rounds of an operator's reprocessing after which nothing may be left.
const REPROCESS_ROUNDS: u32 = 3;

/// What a run has.
pub(crate) struct Simulation {
    /// Which scenario it is.
    pub scenario: Scenario,
    /// Its figures, as they were drawn.
    pub shape: Shape,
    /// The services.
    pub world: Arc<World>,
    /// The API.
    pub fleet: Arc<Fleet>,
    /// What clients saw.
    pub witness: Arc<Witness>,
    /// What follows an entry, if anything does.
    pub pipeline: Option<Pipeline>,
    /// What follows a change of the catalog, where it is changed.
    pub feed: Option<FeedPipeline>,
    /// The log that clients edit.
    pub log: LogId,
    /// Forks of it.
    forks: Mutex<Vec<LogId>>,
}

/// Figures of one run: policies at most as long as the scenario's.
fn drawn(shape: Shape, random: &SimRandom) -> Shape {
    let policy = shape.policy;
    let snapshot_entries = match policy.snapshot_entries {
        u32::MAX => u32::MAX,
        longest => 2 + random.below(longest.max(3) - 1),
    };
    let text_bytes = if random.below(3) == 0 { 0 } else { shape.habits.text_bytes };
    let habits = crate::editor::Habits {
        text_bytes,
        think_ms: shape.habits.think_ms >> random.below(4),
        ..shape.habits
    };
    let function_ms = shape.function_ms << random.below(3);
    Shape {
        policy: LogPolicy { snapshot_entries, ..policy },
        habits,
        function_ms,
        servers: 1 + random.below(shape.servers),
        ..shape
    }
}

impl Simulation {
    /// Everything there is at the beginning.
    #[must_use]
    pub(crate) fn new(scenario: Scenario, seed: u64, keep_text: bool) -> Arc<Self> {
        let random = SimRandom::of_seed(seed);
        let shape = drawn(scenario.shape(), &random);
        let plan = shape.worst.draw(&random);
        let world = World::new(random, Beginning { keep_text, ..Beginning::with(plan) });
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

    /// Another log is to be checked in the end: a fork.
    pub(crate) fn add_log(&self, log: LogId) {
        let mut forks = self.forks.lock().unwrap_or_else(PoisonError::into_inner);
        if !forks.contains(&log) {
            forks.push(log);
        }
    }

    /// Every log that is checked in the end.
    fn logs(&self) -> Vec<LogId> {
        let forks = self.forks.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(self.log).chain(forks.iter().copied()).collect()
    }

    /// Runs it to its end.
    pub(crate) async fn run(self: &Arc<Self>) {
        let actors = tokio::spawn(actors::act(self.scenario, Arc::clone(self)));
        let bucket = tokio::spawn(bucket::expire(Arc::clone(&self.world)));
        let mut clients = self.clients();
        let edited = self.within(CHAOS_MAX_MS, finished(&self.world, &mut clients)).await;
        self.heal();
        if edited.is_none()
            && self.within(PATIENCE_MS, finished(&self.world, &mut clients)).await.is_none()
        {
            self.world.violated("I10: clients are not done though nothing fails any more");
        }
        actors.abort();
        if actors.await.is_err_and(|error| error.is_panic()) {
            self.world.violated("an actor panicked");
        }
        self.calm_down().await;
        self.finish_snapshots().await;
        if self.scenario == Scenario::OutageAndReprocess && self.world.random.below(2) == 0 {
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
        let uploads = [Rare::Uploaded, Rare::UploadAbandoned, Rare::Imported, Rare::HostileRefused];
        if uploads.into_iter().any(|upload| self.world.rare.has(upload)) {
            self.world.sleep_ms(bucket::EXPIRED_MS).await;
        }
        bucket.abort();
        let with_snapshots = self.pipeline.is_some();
        checks::all(&self.world, &self.witness, &self.logs(), with_snapshots).await;
    }

    async fn within<T>(&self, patience_ms: u64, work: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout(Duration::from_millis(patience_ms), work).await.ok()
    }

    /// The clients of the log, the first of which makes it.
    fn clients(self: &Arc<Self>) -> JoinSet<()> {
        let mut clients = JoinSet::new();
        clients.spawn(actors::work(self.scenario, Arc::clone(self)));
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

    /// Creates the log, whether or not others do the same.
    pub(crate) async fn create(&self, creator: &Process) {
        let log = self.log;
        loop {
            let create = move |server: crate::fleet::Server| async move {
                server.logs.create(log, Some("owner".to_owned())).await
            };
            match self.fleet.ask(creator, "create".to_owned(), create).await {
                Some(Ok(created)) if created.head == Position::FIRST => return,
                Some(Ok(created)) => {
                    return self.world.violated(format_args!("created at {}", created.head));
                }
                Some(Err(error)) if !passes(&error) => {
                    return self.world.violated(format_args!("the log is not created: {error}"));
                }
                Some(Err(_)) | None => self.world.sleep_ms(500).await,
            }
        }
    }

    /// From now on nothing fails; what is on its way still arrives, who is frozen still wakes up.
    pub(crate) fn heal(&self) {
        self.world.set_plan(self.world.plan().healed());
        self.world.event("world", format_args!("the faults stop"));
        if let Some(pipeline) = &self.pipeline {
            pipeline.set_outage(false);
        }
        if let Some(feed) = &self.feed {
            feed.set_outage(false);
        }
    }

    /// Waits until whatever was sent has arrived, and whoever was frozen has woken up.
    async fn calm_down(&self) {
        let worst = self.shape.worst;
        let longest = worst.freeze_max_ms.max(worst.late_max_ms).max(worst.delay_max_ms);
        self.world.sleep_ms(2 * longest).await;
    }

    /// I10: what was begun is finished, with an operator's help where messages were lost.
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
            self.world.violated(format_args!("I10: snapshots are not finished: {left}"));
        }
    }

    /// All objects of snapshots are lost, and an operator has them made anew while everything fails.
    async fn rebuild(&self) {
        let (world, Some(pipeline)) = (&self.world, &self.pipeline) else { return };
        world.lose_snapshots().await;
        world.set_plan(self.shape.worst.draw(&world.random));
        if self.within(REBUILD_MS, pipeline.rebuild(self.log)).await.is_none() {
            self.heal();
            pipeline.rebuild(self.log).await;
        }
        world.sleep_ms(world.random.within(0..=REBUILD_MS)).await;
        self.heal();
        self.calm_down().await;
        self.finish_snapshots().await;
    }
}

/// Waits until all tasks have ended.
async fn finished(world: &World, tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            world.violated(format_args!("a client panicked: {error}"));
        }
    }
}
