//! The functions and services that process a log entry: the stream, the relay, the queue and the
//! snapshot workers. Functions are called as in Lambda (`stacks/src/cellar/events.rs` contains the
//! settings).

mod feed;
mod queue_source;
mod relay;
mod stream_source;

pub(crate) use feed::FeedPipeline;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cellar_base::identity::LogId;
use cellar_engine::ports::{Jobs as _, PendingSnapshots as _};
use cellar_engine::reprocess::{
    RebuildRefusal, RebuildStart, Reprocess, ReprocessPorts, Scope, SnapshotToRebuild,
};
use cellar_snapshot::snapshot_job::SnapshotJob;
use tokio::task::JoinHandle;

use self::relay::RelayFunction;
use self::stream_source::{ReadTo, Source, StreamFunction};
use crate::process::{Mortality, Process};
use crate::random::SimRandom;
use crate::rare::RareEvent;
use crate::stream::SHARDS;
use crate::world::World;

/// Polling interval when there is nothing new, in milliseconds. The interval doubles after each
/// empty poll, up to the maximum.
const IDLE_MS: u64 = 500;
const IDLE_MAX_MS: u64 = 60_000;

/// The wait between polls of a source, which grows while there is nothing new.
struct PollDelay {
    wait_ms: u64,
}

impl PollDelay {
    fn new() -> Self {
        Self { wait_ms: IDLE_MS }
    }

    /// Resets the wait after a poll that found something new.
    fn reset(&mut self) {
        self.wait_ms = IDLE_MS;
    }

    async fn wait(&mut self, world: &World) {
        world.sleep_ms(self.wait_ms).await;
        self.wait_ms = (2 * self.wait_ms).min(IDLE_MAX_MS);
    }
}

/// The event sources of the relay and the snapshot workers.
pub(crate) struct Pipeline {
    shared: Arc<Shared>,
    read_to: Arc<ReadTo>,
    sources: Mutex<Vec<JoinHandle<()>>>,
}

/// State that the event sources share.
struct Shared {
    world: Arc<World>,
    random: SimRandom,
    /// Maximum number of concurrent workers.
    workers: usize,
    /// Timeout of a worker invocation, in milliseconds.
    function_ms: u64,
    made: AtomicU64,
    in_flight: AtomicUsize,
    is_out: AtomicBool,
    /// Set once something was lost that only an operator can find.
    has_lost: AtomicBool,
}

impl Shared {
    fn new(world: &Arc<World>, workers: usize, function_ms: u64) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            random: world.random.fork(),
            workers,
            function_ms,
            made: AtomicU64::new(1),
            in_flight: AtomicUsize::new(0),
            is_out: AtomicBool::new(false),
            has_lost: AtomicBool::new(false),
        })
    }

    fn set_outage(&self, is_out: bool) {
        self.is_out.store(is_out, Ordering::SeqCst);
        self.world.event("pipeline", format_args!("outage: {is_out}"));
    }

    fn process(&self, what: &str) -> Process {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        Process::new(&self.world, format!("{what}-{number}"), Mortality::Mortal)
    }

    fn record_loss(&self, rare: RareEvent) {
        self.world.count(rare);
        self.has_lost.store(true, Ordering::SeqCst);
    }

    /// Waits until functions can be called.
    async fn wait_until_available(&self) {
        while self.is_out.load(Ordering::SeqCst) {
            self.world.sleep_ms(60_000).await;
        }
    }
}

/// Starts a function's sources, one for each shard of its stream. Also returns the positions up to
/// which they have read.
fn begin_stream_source(
    shared: &Arc<Shared>,
    function: Arc<dyn StreamFunction>,
) -> (Vec<JoinHandle<()>>, Arc<ReadTo>) {
    let read_to: Arc<ReadTo> = Arc::default();
    let source =
        Arc::new(Source { shared: Arc::clone(shared), function, read_to: Arc::clone(&read_to) });
    let mut shard_tasks = Vec::new();
    for shard in 0..SHARDS {
        shard_tasks.push(tokio::spawn(Arc::clone(&source).process_shard(shard)));
    }
    (shard_tasks, read_to)
}

impl Pipeline {
    /// Starts the event sources, with at most `workers` concurrent invocations that each take at
    /// most `function_ms`.
    #[must_use]
    pub(crate) fn begin(world: &Arc<World>, workers: usize, function_ms: u64) -> Self {
        let shared = Shared::new(world, workers, function_ms);
        let (mut sources, read_to) = begin_stream_source(&shared, Arc::new(RelayFunction));
        sources.push(tokio::spawn(queue_source::run_queue_source(Arc::clone(&shared))));
        Self { shared, read_to, sources: Mutex::new(sources) }
    }

    /// Starts or ends an outage during which no function can be called.
    pub(crate) fn set_outage(&self, is_out: bool) {
        self.shared.set_outage(is_out);
    }

    /// Returns whether all work is finished.
    #[must_use]
    pub(crate) fn is_drained(&self) -> bool {
        let Shared { world, in_flight, .. } = self.shared.as_ref();
        stream_source::is_read(&world.stream, &self.read_to)
            && in_flight.load(Ordering::SeqCst) == 0
            && world.queue.is_empty()
            && world.pending.is_empty()
    }

    /// Returns whether something was lost that only an operator can find: either a message, or the
    /// deletion of a record that was written again after its message was deleted.
    #[must_use]
    pub(crate) fn has_lost(&self) -> bool {
        let rare = &self.shared.world.rare;
        let lost = self.shared.has_lost.load(Ordering::SeqCst);
        lost || rare.has(RareEvent::MessageLost) || rare.has(RareEvent::RecordCameBack)
    }

    /// Waits until all work is finished, for at most `patience_ms` of true time. Returns whether
    /// all work is finished.
    pub(crate) async fn drain(&self, patience_ms: u64) -> bool {
        let began_ms = self.shared.world.time.elapsed_ms();
        while !self.is_drained() {
            if self.shared.world.time.elapsed_ms() - began_ms > patience_ms {
                return false;
            }
            self.shared.world.sleep_ms(IDLE_MAX_MS).await;
        }
        true
    }

    /// Runs `synth reprocess`, as an operator would after messages were lost.
    pub(crate) async fn reprocess(&self) {
        let world = &self.shared.world;
        let (operator, reprocess) = self.operator();
        let mut findings = Vec::new();
        let surveyed = reprocess.survey(Scope::default(), |finding| findings.push(finding)).await;
        if let Err(error) = surveyed {
            world.report_violation(format_args!("reprocess: the survey failed: {error}"));
        }
        for finding in findings {
            operator.event(format_args!("finds {:?} at {}", finding.kind, finding.at));
            if finding.kind.is_lost() {
                world.report_violation(format_args!(
                    "reprocess: {:?} at {}",
                    finding.kind, finding.at
                ));
            }
            match reprocess.repair(&finding).await {
                Ok(repaired) if finding.kind.is_repairable() => {
                    world.count(RareEvent::Reprocessed);
                    operator.event(format_args!("{repaired:?}"));
                }
                Ok(_) => {}
                Err(error) => {
                    world.report_violation(format_args!("reprocess: not repaired: {error}"));
                }
            }
        }
    }

    /// Runs `synth reprocess --rebuild` until the rebuild of each snapshot has started.
    pub(crate) async fn rebuild(&self, log: LogId) {
        let world = &self.shared.world;
        let (operator, reprocess) = self.operator();
        let report_start = |snapshot: &SnapshotToRebuild, start: &RebuildStart| {
            operator.event(format_args!("rebuilds {}: {start:?}", snapshot.at));
        };
        loop {
            let rebuild_result = match reprocess.plan_rebuild(log).await {
                Ok(plan) => reprocess.start_rebuild(&plan, report_start).await,
                Err(refusal) => Err(refusal),
            };
            match rebuild_result {
                Ok(()) => break,
                Err(RebuildRefusal::Store(error)) if error.temporary => {
                    operator.event(format_args!("no rebuild: {error}"));
                    world.sleep_ms(IDLE_MAX_MS).await;
                }
                Err(refusal) => {
                    return world
                        .report_violation(format_args!("the rebuild was refused: {refusal}"));
                }
            }
        }
        world.count(RareEvent::Rebuilt);
    }

    /// Creates the operator's process, which does not crash, and the operator's commands.
    fn operator(&self) -> (Process, Reprocess) {
        let operator = Process::new(&self.shared.world, "operator", Mortality::Spared);
        let port = Arc::new(operator.clone());
        let ports = ReprocessPorts {
            entries: Arc::clone(&port) as _,
            segments: Arc::clone(&port) as _,
            retention: Arc::clone(&port) as _,
            pending: Arc::clone(&port) as _,
            blobs: Arc::clone(&port) as _,
            jobs: Arc::clone(&port) as _,
            clock: port as _,
        };
        (operator, Reprocess::new(ports))
    }

    /// Describes the unfinished work.
    pub(crate) async fn leftovers(&self) -> String {
        let world = &self.shared.world;
        let messages = world.queue.receive(10, 0).await.unwrap_or_default();
        let mut what: Vec<_> = messages.into_iter().map(|message| message.body).collect();
        for body in what.clone() {
            let Ok(job) = SnapshotJob::decode(&body) else { continue };
            let pending = world.pending.first_up_to(job).await;
            what.push(format!("{pending:?}"));
        }
        format!("{} messages, {} records: {what:?}", world.queue.len(), world.pending.len())
    }

    /// Stops the event sources.
    pub(crate) fn end(&self) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources.drain(..).for_each(|source| source.abort());
    }
}
