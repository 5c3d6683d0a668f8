//! Cells read over HTTP through snapshots, which the local cloud builds with the template's change
//! stream, queue and functions. They equal a replay of the log, also when the cloud is killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cellar_api::{
    wire::ChunksReply, wire::CreateReply, wire::CreateRequest, wire::LoadReply, wire::StatsReply,
};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_CHUNK_URLS, MAX_COLUMNS, MAX_ROWS};
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_engine::ports::{Clock, ReadConsistency, Segments};
use cellar_engine::system::SystemClock;
use cellar_local::Ports;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::{CellEdit, InsertBefore, Operation, SetCells, SheetId};
use cellar_snapshot::root::Root;
use cellar_stacks::config::limits::SNAPSHOT_TIMEOUT_S;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::append_one;
use serde::de::DeserializeOwned;

const PATIENCE: Duration = Duration::from_secs(120);

/// The real time plus an offset, so that leases expire quickly.
#[derive(Default)]
pub(crate) struct FastClock {
    ahead_ms: AtomicU64,
}

#[async_trait]
impl Clock for FastClock {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms() + self.ahead_ms.load(Ordering::SeqCst)
    }

    async fn sleep_ms(&self, delay_ms: u64) {
        tokio::time::sleep(Duration::from_millis(delay_ms.min(20))).await;
    }
}

/// An author, and their written texts.
pub(crate) struct Author {
    pub(crate) created: CreateReply,
    pub(crate) base: Position,
    pub(crate) id: u64,
}

pub(crate) fn ports(clock: &Arc<FastClock>) -> Ports {
    Ports { clock: Arc::clone(clock) as _, ..Ports::default() }
}

pub(crate) async fn start(clock: &Arc<FastClock>) -> TestCloud {
    TestCloud::start_configured(ports(clock), |config| {
        config.snapshots.entries = 10;
        // The queue hides the message of a killed worker for six times this timeout.
        config.snapshots.timeout_s = *SNAPSHOT_TIMEOUT_S.start();
        config.snapshots.segment_entries = 100;
    })
    .await
}

pub(crate) async fn get<T: DeserializeOwned>(cloud: &TestCloud, log: LogId, path: &str) -> T {
    let url = format!("{}/v1/spreadsheets/{log}{path}", cloud.url);
    let request = reqwest::Client::new().get(url).bearer_auth(cloud.token("alice", Role::Owner));
    let reply = request.send().await.unwrap().error_for_status().unwrap();
    serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap()
}

pub(crate) async fn cells(cloud: &TestCloud, log: LogId, at: Position) -> Vec<((u32, u32), Cell)> {
    cellar_tests::cells::cells(&cloud.url, &cloud.token("alice", Role::Owner), log, at).await
}

/// Returns all cells by a replay of the log, without snapshots.
pub(crate) async fn replayed(
    cloud: &TestCloud,
    log: LogId,
    at: Position,
) -> Vec<((u32, u32), Cell)> {
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let logs = TestCloud::logs(&tables);
    let read = logs.workbook(log, Some(at), None).await.unwrap();
    let first = CellName { row: 0, column: 0 };
    let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
    let sheet = read.workbook.sheet(SheetId::FIRST).unwrap();
    sheet.cells_in(Rectangle { first, last }).collect()
}

impl Author {
    pub(crate) async fn new(cloud: &TestCloud, nonce: &str) -> Self {
        let request = CreateRequest::new(nonce.to_owned());
        let created = cloud.client("alice").create(&request).await.unwrap();
        Self { created, base: created.head, id: 0 }
    }

    /// Makes one edit, and repeats it until the cloud replies.
    pub(crate) async fn edit(&mut self, cloud: &TestCloud, operation: Operation) -> Position {
        self.id += 1;
        let edit = append_one(self.created, "client", self.id, self.base, operation);
        let url = format!("{}/v1/spreadsheets/{}/entries", cloud.url, self.created.id);
        let token = cloud.token("alice", Role::Owner);
        let reply = reqwest::Client::new().post(&url).bearer_auth(&token).json(&edit).send();
        let reply = reply.await.unwrap().error_for_status().unwrap().bytes().await.unwrap();
        let reply: cellar_api::wire::AppendReply = serde_json::from_slice(&reply).unwrap();
        self.base = reply.results[0].position.unwrap();
        self.base
    }
}

/// Returns an operation of varying kind and place.
pub(crate) fn operation(number: u32) -> Operation {
    let sheet = SheetId::FIRST;
    let mixed = number.wrapping_mul(0x9E37_79B9) >> 8;
    if number % 7 == 6 {
        return Operation::InsertRows(InsertBefore { sheet, before: mixed % 200, count: 2 });
    }
    let edit = |at: u32| CellEdit {
        row: (mixed + at * 31) % 400,
        column: (mixed / 7 + at) % 12,
        value: Some(match (number + at) % 4 {
            0 => Value::Text(format!("text {mixed} {at}")),
            1 => Value::Empty,
            _ => Value::Number(f64::from(mixed) / 9.0),
        }),
        formula: None,
        format: None,
    };
    let cells = (0..40).map(edit).collect();
    let set = Operation::SetCells(SetCells { sheet, cells });
    set.validated().unwrap()
}

/// Waits until the newest finished snapshot is at or after this position.
pub(crate) async fn wait_for_snapshot(
    cloud: &TestCloud,
    log: LogId,
    at: Position,
    clock: &FastClock,
) {
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let wait = async {
        loop {
            let newest = tables.newest(log, 2, ReadConsistency::Strong).await.unwrap();
            let last = newest
                .iter()
                .find_map(|segment| Position::new(segment.num, segment.last_snapshot?).ok());
            if last >= Some(at) {
                return;
            }
            // Slow enough that a lease does not expire while its worker waits for a core.
            clock.ahead_ms.fetch_add(300, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("no snapshot at {at}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_at_any_position_are_those_of_a_replay() {
    let clock = Arc::new(FastClock::default());
    let cloud = start(&clock).await;
    let mut author = Author::new(&cloud, "reads").await;
    let (log, mut positions) = (author.created.id, Vec::new());
    for number in 0..130 {
        positions.push(author.edit(&cloud, operation(number)).await);
    }
    // 130 edits with 13 Snapshot entries continue in a second segment.
    assert_eq!(author.base.segment(), 1, "{}", author.base);
    let last = positions[positions.len() - 12];
    wait_for_snapshot(&cloud, log, last, &clock).await;
    for at in positions.iter().step_by(9).chain(positions.last()) {
        assert_eq!(cells(&cloud, log, *at).await, replayed(&cloud, log, *at).await, "{at}");
    }

    let stats: StatsReply = get(&cloud, log, "/stats").await;
    let snapshot = stats.snapshot.clone().unwrap();
    assert!(snapshot.position >= last && stats.entries_since < 15, "{stats:?}");
    assert_eq!((stats.head, stats.open.objects, stats.open.round_trips), (author.base, 1, 1));
    // A client loads the root directly from the bucket.
    let loaded: LoadReply = get(&cloud, log, "").await;
    let root_key = loaded.root.unwrap();
    let hash = cellar_snapshot::keys::parse_root_key(&root_key).unwrap().hash;
    let stored = reqwest::get(loaded.root_url.unwrap()).await.unwrap().error_for_status().unwrap();
    let root = Root::unpack(hash, &stored.bytes().await.unwrap()).unwrap();
    assert_eq!(root.position, snapshot.position);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_that_is_killed_again_and_again_loses_nothing_and_finishes_every_snapshot() {
    let clock = Arc::new(FastClock::default());
    let mut cloud = start(&clock).await;
    let mut author = Author::new(&cloud, "killed").await;
    let log = author.created.id;
    for number in 0..60 {
        author.edit(&cloud, operation(number)).await;
        // Usually while a snapshot is being built.
        if number % 10 == 9 {
            tokio::time::sleep(Duration::from_millis(u64::from(number % 3) * 7)).await;
            cloud = cloud.kill_and_start(ports(&clock)).await;
        }
    }
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let newest = tables.newest(log, 1, ReadConsistency::Strong).await.unwrap();
    assert_eq!(newest[0].num, 0);
    let marked = author.base.entry_number() / 11 * 11;
    wait_for_snapshot(&cloud, log, Position::new(0, marked).unwrap(), &clock).await;
    assert_eq!(cells(&cloud, log, author.base).await, replayed(&cloud, log, author.base).await);
    assert!(cloud.queue("SnapshotDeadLetters").is_empty().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn chunk_urls_are_given_up_to_their_limit_and_only_of_ones_own() {
    let cloud = TestCloud::start().await;
    let author = Author::new(&cloud, "chunks").await;
    let ask = |subject: &'static str, hashes: Vec<String>| {
        let url = format!("{}/v1/spreadsheets/{}/chunks", cloud.url, author.created.id);
        let token = cloud.token_for(subject, Role::Viewer, vec![author.created.id]);
        let body = serde_json::json!({ "hashes": hashes });
        async move {
            let request = reqwest::Client::new().post(url).bearer_auth(token).json(&body);
            request.send().await.unwrap()
        }
    };
    let hash = "ab".repeat(32);
    let reply = ask("alice", vec![hash.clone(); MAX_CHUNK_URLS]).await;
    let reply: ChunksReply = serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
    assert_eq!(reply.urls.len(), MAX_CHUNK_URLS);
    assert!(reply.urls[0].contains(&hash));
    assert_eq!(reqwest::get(&reply.urls[0]).await.unwrap().status(), 404);
    assert_eq!(ask("alice", vec![hash.clone(); MAX_CHUNK_URLS + 1]).await.status(), 422);
    assert_eq!(ask("alice", vec!["../x".to_owned()]).await.status(), 422);
}
