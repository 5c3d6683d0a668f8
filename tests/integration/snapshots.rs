//! From an edit to a finished snapshot: appends, change stream, relay, queue and worker, wired as
//! in the template. Only the contents of the snapshot are scripted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cellar_api::cost::{Cost, HEADER};
use cellar_api::{wire::CreateReply, wire::CreateRequest};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::ports::{Clock, Entries, PortError, ReadConsistency, Segments};
use cellar_engine::snapshots::{BuildStep, SnapshotBuilder};
use cellar_engine::system::SystemClock;
use cellar_local::Ports;
use cellar_log::entry::Content;
use cellar_runtime::snapshot::BuilderPorts;
use cellar_snapshot::snapshot_job::SnapshotJob;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, at, set_numbers};

const PATIENCE: Duration = Duration::from_secs(60);
/// Entries between two snapshots: the smallest configurable value.
const ENTRIES: u32 = 10;

/// The real time plus an offset, with very short waits.
#[derive(Default)]
struct TestClock {
    ahead_ms: AtomicU64,
}

#[async_trait]
impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms() + self.ahead_ms.load(Ordering::SeqCst)
    }
    async fn sleep_ms(&self, delay_ms: u64) {
        tokio::time::sleep(Duration::from_millis(delay_ms.min(20))).await;
    }
}

/// A builder that writes progress twice, then the root. It waits for earlier snapshots.
struct Scripted {
    entries: Arc<dyn Entries>,
    /// Set if the builder hangs at its second step.
    hangs: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
}

fn root(job: &SnapshotJob) -> String {
    format!("sheets/{}/roots/{}", job.log, job.position)
}

#[async_trait]
impl SnapshotBuilder for Scripted {
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, PortError> {
        let start = job.position.segment_start();
        let page = self.entries.page(job.log, start, ReadConsistency::Strong).await.unwrap();
        let unmade = |content: &Content| matches!(content, Content::Snapshot { root: None, .. });
        // The first entry has no snapshot.
        let first = page.entries.iter().skip(1).find(|entry| unmade(&entry.content));
        if let Some(earlier) = first.filter(|entry| entry.position < job.position) {
            return Ok(BuildStep::EarlierSnapshot(earlier.position));
        }
        self.steps.fetch_add(1, Ordering::SeqCst);
        if self.hangs.load(Ordering::SeqCst) && progress.len() == 1 {
            return std::future::pending().await;
        }
        Ok(match progress.len() {
            done @ (0 | 1) => BuildStep::Progress(vec![7; done + 1]),
            _ => BuildStep::Finished { root: root(job) },
        })
    }
}

#[derive(Default)]
struct World {
    clock: Arc<TestClock>,
    hangs: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
}

impl World {
    fn ports(&self) -> Ports {
        let (hangs, steps) = (Arc::clone(&self.hangs), Arc::clone(&self.steps));
        let builder = move |ports: BuilderPorts| -> Arc<dyn SnapshotBuilder> {
            let (hangs, steps) = (Arc::clone(&hangs), Arc::clone(&steps));
            Arc::new(Scripted { entries: ports.entries, hangs, steps })
        };
        let snapshot_builder = Some(Arc::new(builder) as _);
        Ports { clock: self.clock.clone(), snapshot_builder, ..Ports::default() }
    }

    async fn start(&self) -> TestCloud {
        TestCloud::start_configured(self.ports(), |config| {
            config.snapshots.enabled = true;
            config.snapshots.entries = ENTRIES;
        })
        .await
    }
}

async fn wait_until<F: Future<Output = bool>>(what: &str, mut reached: impl FnMut() -> F) {
    let wait = async {
        while !reached().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{what}"));
}

async fn create(cloud: &TestCloud, nonce: &str) -> CreateReply {
    cloud.client("alice").create(&CreateRequest::new(nonce.to_owned())).await.unwrap()
}

/// Returns the Snapshot entries after the first entry, with their roots.
async fn snapshots(cloud: &TestCloud, log: LogId) -> Vec<(Position, Option<String>)> {
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let page = tables.page(log, Position::FIRST, ReadConsistency::Strong).await.unwrap();
    let snapshot = |content: &Content| match content {
        Content::Snapshot { root, .. } => Some(root.clone()),
        _ => None,
    };
    let entries = page.entries.iter().skip(1);
    entries.filter_map(|entry| Some((entry.position, snapshot(&entry.content)?))).collect()
}

async fn wait_for_snapshots(cloud: &TestCloud, log: LogId, positions: &[Position]) {
    let made =
        |position: &Position| (*position, Some(root(&SnapshotJob { log, position: *position })));
    let wanted: Vec<_> = positions.iter().map(made).collect();
    wait_until("all snapshots", || async { snapshots(cloud, log).await == wanted }).await;
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let last = positions.last().map(|position| position.entry_number());
    wait_until("L", || async {
        tables.segment(log, 0, ReadConsistency::Strong).await.unwrap().unwrap().last_snapshot
            == last
    })
    .await;
    let queue = cloud.queue("SnapshotQueue");
    wait_until("an empty queue", || async { queue.is_empty().await.unwrap() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_passes_the_contract_of_pending_snapshots() {
    let cloud = TestCloud::start().await;
    let (pending, _) = cloud.pending_snapshots();
    cellar_engine::contract::pending_snapshots(&pending).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_lead_to_snapshots_and_their_replies_tell_what_that_cost() {
    let world = World::default();
    let cloud = world.start().await;
    let created = create(&cloud, "pipeline").await;
    let token = cloud.token("alice", cellar_catalog::access::Role::Owner);
    let url = format!("{}/v1/spreadsheets/{}/entries", cloud.url, created.id);
    let (mut base, mut paid) = (created.head, Vec::new());
    for id in 1..=25 {
        let edit = append_one(created, "client", id, base, set_numbers(&[1.0]));
        let request = reqwest::Client::new().post(&url).bearer_auth(&token).json(&edit);
        let reply = request.send().await.unwrap().error_for_status().unwrap();
        let cost = Cost::from_header(reply.headers()[HEADER].to_str().unwrap()).unwrap();
        paid.push((cost.read_half_units, cost.write_units));
        let reply: cellar_api::wire::AppendReply =
            serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
        base = reply.results[0].position.unwrap_or(base);
    }
    let expected: Vec<_> =
        (1..=25).map(|id| (0, if id % u64::from(ENTRIES) == 0 { 2 } else { 1 })).collect();
    assert_eq!(paid, expected);
    wait_for_snapshots(&cloud, created.id, &[at(11), at(22)]).await;
    assert_eq!(world.steps.load(Ordering::SeqCst), 2 * 3, "each step runs once");
    let (pending, _) = cloud.pending_snapshots();
    let last = SnapshotJob { log: created.id, position: at(22) };
    use cellar_engine::ports::PendingSnapshots as _;
    assert_eq!(pending.first_up_to(last).await, Ok(None));
    assert!(cloud.queue("SnapshotDeadLetters").is_empty().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_is_replaced_after_its_lease() {
    let world = World::default();
    world.hangs.store(true, Ordering::SeqCst);
    let cloud = world.start().await;
    let created = create(&cloud, "killed").await;
    let mut base = created.head;
    for id in 1..=u64::from(ENTRIES) {
        let edit = append_one(created, "client", id, base, set_numbers(&[1.0]));
        let reply = cloud.client("alice").spreadsheet(created.id).append(&edit).await.unwrap();
        base = reply.results[0].position.unwrap_or(base);
    }
    wait_until("the second step", || async { world.steps.load(Ordering::SeqCst) == 2 }).await;
    let cloud = cloud.kill_and_start(world.ports()).await;
    world.hangs.store(false, Ordering::SeqCst);
    // The message is hidden for a while, and the lease has not expired.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.steps.load(Ordering::SeqCst), 2);
    world.clock.ahead_ms.store(180_000, Ordering::SeqCst);
    wait_for_snapshots(&cloud, created.id, &[at(11)]).await;
    // The second step is repeated, then follows the third; the first is not repeated.
    assert_eq!(world.steps.load(Ordering::SeqCst), 4);
}
