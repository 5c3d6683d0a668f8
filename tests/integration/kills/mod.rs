//! The local cloud as a process, repeatedly killed with SIGKILL while several writers edit and
//! snapshots are built: no acknowledged edit is lost or duplicated, and every snapshot is finished.

pub(crate) mod log;
mod writer;

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::{wire::CreateReply, wire::CreateRequest};
use cellar_base::position::Position;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock as _, PendingSnapshots as _};
use cellar_engine::system::SystemClock;
use cellar_local::{LocalCloud, Options, StateFolder};
use cellar_runtime::dynamodb::{DynamoPendingSnapshots, client_for_endpoint};
use cellar_snapshot::snapshot_job::SnapshotJob;
use cellar_stacks::Config;
use cellar_stacks::template::Template;
use cellar_tests::cells::cells;
use cellar_tests::fast_clock::{FAST_SINCE_MS, SPEED};
use fastrand::Rng;
use tokio::sync::watch;
use tokio::task::{JoinHandle, block_in_place};

use self::log::Log;
use self::writer::{Acknowledged, Writer};
use crate::journey::{Project, free_port};
use crate::offload_command::World;

/// Entries between two snapshots: the smallest configurable value. A segment has about nine
/// snapshots.
const ENTRIES: u64 = 10;
const CONFIG: &str = "snapshots:\n  entries: 10\n  segment_entries: 100\n";
/// Visibility timeout of the template's queue. A worker that makes its first request shortens it to
/// two minutes.
const QUEUE_VISIBILITY_S: u64 = 90 * 60;
/// Maximum time to finish all snapshots after the last write and the last kill: on the fast clock,
/// the message of a worker that was killed immediately is hidden for three minutes; the rest is
/// time for building.
const PATIENCE: Duration = Duration::from_secs(QUEUE_VISIBILITY_S / SPEED + 120);
/// Number of kills after the last write.
const LATE_KILLS: u32 = 2;

/// Number of edits, and of kills during the edits.
struct Plan {
    logs: u32,
    writers_of_each: u32,
    snapshots: u64,
    kills: u32,
    /// Reads are compared at every `compared_step`-th snapshot.
    compared_step: usize,
}

/// A cloud that is killed and restarted.
pub(crate) struct Killed {
    project: Project,
    port: String,
    pub(crate) random: Rng,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Killed {
    pub(crate) fn new() -> Self {
        let seed = std::env::var("CELLAR_TEST_SEED").ok().map(|seed| seed.parse().unwrap());
        let seed = seed.unwrap_or_else(|| fastrand::u64(..));
        println!("CELLAR_TEST_SEED={seed}");
        let since = SystemClock.now_ms().to_string();
        let project = Project::new().with_variable(FAST_SINCE_MS, since);
        fs::write(project.path("cellar.yaml"), CONFIG).unwrap();
        let (random, url, token) = (Rng::with_seed(seed), String::new(), String::new());
        let mut cloud = Self { project, port: free_port(), random, url, token };
        cloud.start();
        cloud
    }

    /// Starts the cloud again on the stored data, at the same port.
    fn start(&mut self) {
        let deploy = ["deploy", "--local", "--detach", "--no-smoke", "--port", &self.port];
        let run = block_in_place(|| self.project.synth(&[&["--json"], deploy.as_slice()].concat()));
        assert_eq!(run.code, 0, "{run:?}");
        let deployed: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let text = |field: &str| deployed[field].as_str().unwrap().to_owned();
        (self.url, self.token) = (text("url"), text("token"));
    }

    /// Kills the cloud after a random time, and restarts it immediately or after another random
    /// time.
    pub(crate) async fn kill_soon(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.random.u64(20..700))).await;
        block_in_place(|| self.project.kill());
        if self.random.bool() {
            tokio::time::sleep(Duration::from_millis(self.random.u64(0..500))).await;
        }
        self.start();
    }

    pub(crate) async fn create(&self, number: u32) -> CreateReply {
        let client = Client::new(&self.url, Some(&self.token)).unwrap();
        client.create(&CreateRequest::new(format!("killed {number}"))).await.unwrap()
    }

    /// Returns the stored entries of a log.
    pub(crate) async fn log(&self, created: CreateReply) -> Log {
        Log::read(World::of(&self.project).tables.as_ref(), created.id).await
    }

    fn folder(&self) -> StateFolder {
        StateFolder::new(self.project.path(".cellar/local"))
    }

    /// Reads the logs until all snapshots are finished and no pending record remains.
    async fn finished(&self, created: &[CreateReply]) -> Vec<Log> {
        let (tables, pending) = (World::of(&self.project).tables, self.pending());
        let began = Instant::now();
        loop {
            let (mut logs, mut open) = (Vec::new(), Vec::new());
            for created in created {
                let log = Log::read(tables.as_ref(), created.id).await;
                let unmade = log.snapshots().into_iter().filter(|(_, root)| root.is_none());
                open.extend(unmade.map(|(at, _)| format!("{} has no root at {at}", log.id)));
                let job = SnapshotJob { log: log.id, position: log.head() };
                let record = pending.first_up_to(job).await.unwrap();
                open.extend(record.map(|record| format!("{record:?}")));
                logs.push(log);
            }
            if open.is_empty() {
                println!("finished after {:?}", began.elapsed());
                return logs;
            }
            assert!(began.elapsed() < PATIENCE, "unfinished snapshots: {open:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    fn pending(&self) -> DynamoPendingSnapshots {
        let (endpoints, access_key, secret_key) = self.folder().endpoints().unwrap().unwrap();
        let client = client_for_endpoint(&endpoints.database_url, &access_key, &secret_key);
        let table = format!("{}-PendingSnapshotsTable", Config::default().stack);
        DynamoPendingSnapshots::named(table, client, Arc::new(Meter::default()))
    }

    /// Stops the cloud, and checks that its dead-letter queues are empty.
    async fn assert_no_dead_letters(&self) {
        let ended = block_in_place(|| self.project.synth(&["destroy", "--local"]));
        assert_eq!(ended.code, 0, "{ended:?}");
        let folder = self.folder();
        let template = fs::read_to_string(folder.template()).unwrap();
        let template = Template::from_json(&template).unwrap();
        let options = Options { stack: Config::default().stack, port: 0 };
        let cloud = LocalCloud::start(&template, &folder, &options).await.unwrap();
        for queue in ["SnapshotDeadLetters", "ChangeStreamDeadLetters"] {
            assert_eq!(cloud.queue(queue).unwrap().len().await, Ok(0), "{queue}");
        }
    }
}

/// Running writers.
struct Writers {
    stop: watch::Sender<bool>,
    edits: watch::Receiver<u64>,
    writing: Vec<JoinHandle<Vec<Acknowledged>>>,
}

impl Writers {
    fn begin(cloud: &Killed, created: &[CreateReply], writers_of_each: u32) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (counted, edits) = watch::channel(0);
        let each = created.iter().flat_map(|created| (0..writers_of_each).map(move |_| *created));
        let writers = each.zip(0..).map(|(created, number)| {
            let (url, token) = (cloud.url.clone(), cloud.token.clone());
            let writer = Writer { url, token, created, number };
            tokio::spawn(writer.write(stopped.clone(), counted.clone()))
        });
        let writing = writers.collect();
        Self { stop, edits, writing }
    }

    /// Waits until all writers together have made `edits` edits.
    async fn reach(&mut self, edits: u64) {
        let reached = self.edits.wait_for(|done| *done >= edits);
        let _ =
            tokio::time::timeout(PATIENCE, reached).await.expect("the writers make no progress");
    }

    /// Stops the writers after their current edits. Returns the acknowledged edits.
    async fn end(self) -> Vec<Vec<Acknowledged>> {
        self.stop.send_replace(true);
        let mut all = Vec::new();
        for writing in self.writing {
            all.push(writing.await.unwrap());
        }
        all
    }
}

async fn survives(plan: Plan) {
    let began = Instant::now();
    let mut cloud = Killed::new();
    let mut created = Vec::new();
    for number in 0..plan.logs {
        created.push(cloud.create(number).await);
    }
    let mut writers = Writers::begin(&cloud, &created, plan.writers_of_each);
    // Each segment has one additional entry at its end, and each log has some entries after its
    // last snapshot.
    let edits = plan.snapshots * (ENTRIES + 1) + u64::from(plan.logs) * ENTRIES;
    for kill in 0..plan.kills {
        writers.reach(edits * u64::from(kill) / u64::from(plan.kills)).await;
        cloud.kill_soon().await;
    }
    writers.reach(edits).await;
    let mut acknowledged = writers.end().await;
    println!("written after {:?}", began.elapsed());
    for _ in 0..LATE_KILLS {
        cloud.kill_soon().await;
    }
    let logs = cloud.finished(&created).await;

    let mut found: Vec<Vec<Acknowledged>> = logs.iter().flat_map(Log::edits).collect();
    found.sort_by_key(|edits| format!("{:?}", edits[0]));
    acknowledged.sort_by_key(|edits| format!("{:?}", edits[0]));
    assert!(
        found == acknowledged,
        "an acknowledged edit is missing, duplicated or at another position"
    );
    let made: usize = logs.iter().map(|log| log.snapshots().len()).sum();
    assert!(made as u64 >= plan.snapshots, "{made} snapshots");
    for log in &logs {
        assert_reads_like_a_replay(&cloud, log, plan.compared_step).await;
    }
    cloud.assert_no_dead_letters().await;
    println!("{made} snapshots, {} kills, {:?}", plan.kills + LATE_KILLS, began.elapsed());
}

/// Compares reads with a replay at some snapshots, halfway between them, and at the end.
async fn assert_reads_like_a_replay(cloud: &Killed, log: &Log, step: usize) {
    let snapshots = log.snapshots();
    let mut at: Vec<Position> = snapshots.iter().rev().step_by(step).map(|(at, _)| *at).collect();
    at.extend(
        at.clone().iter().filter_map(|at| Position::new(at.segment(), at.entry_number() + 5).ok()),
    );
    at.push(log.head());
    at.retain(|at| log.entries.iter().any(|entry| entry.position == *at));
    at.sort_unstable();
    at.dedup();
    let replayed = log.replayed(&at);
    assert_eq!(replayed.len(), at.len());
    for (at, expected) in at.into_iter().zip(replayed) {
        let read = cells(&cloud.url, &cloud.token, log.id, at).await;
        assert!(read == expected, "cells of {} at {at}", log.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_that_is_killed_while_many_write_loses_nothing_and_finishes_every_snapshot() {
    let (logs, writers_of_each) = (2, 2);
    survives(Plan { logs, writers_of_each, snapshots: 12, kills: 4, compared_step: 1 }).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "two minutes: `.ci/run` runs it"]
async fn a_cloud_that_is_killed_during_two_hundred_snapshots_loses_nothing() {
    let (logs, writers_of_each) = (5, 2);
    survives(Plan { logs, writers_of_each, snapshots: 200, kills: 30, compared_step: 4 }).await;
}
