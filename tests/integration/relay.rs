//! From the change stream to jobs and tags, wired as in the template.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use cellar_api::wire::CreateRequest;
use cellar_base::identity::LogId;
use cellar_engine::memory::MemoryPendingTags;
use cellar_engine::ports::{Clock, Jobs as _};
use cellar_engine::system::SystemClock;
use cellar_local::{LocalQueue, Ports};
use cellar_snapshot::snapshot_job::SnapshotJob;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, at, set_numbers};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(20);
/// Long enough for a record to be relayed.
const QUIET: Duration = Duration::from_millis(1_500);

/// The real time, with very short waits, so that retries are immediate.
struct HastyClock;

#[async_trait]
impl Clock for HastyClock {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms()
    }
    async fn sleep_ms(&self, delay_ms: u64) {
        tokio::time::sleep(Duration::from_millis(delay_ms.min(5))).await;
    }
}

struct World {
    tags: Arc<MemoryPendingTags>,
}

impl World {
    fn ports(&self) -> Ports {
        Ports {
            clock: Arc::new(HastyClock),
            pending_tags: Some(self.tags.clone()),
            snapshot_builder: None,
        }
    }
}

async fn start() -> (TestCloud, World) {
    let world = World { tags: Arc::default() };
    (TestCloud::start_with(world.ports()).await, world)
}

async fn wait_until<F: Future<Output = bool>>(what: &str, mut reached: impl FnMut() -> F) {
    let wait = async {
        while !reached().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{what}"));
}

async fn wait_for(queue: &LocalQueue, count: u64) {
    wait_until("messages", || async { queue.len().await.unwrap() >= count }).await;
}

async fn bodies(queue: &LocalQueue) -> Vec<String> {
    let messages = queue.receive(10, 600).await.unwrap();
    messages.into_iter().map(|message| message.body).collect()
}

/// Puts an entry as another version of Cellar might write it: only its key and these attributes.
async fn put(cloud: &TestCloud, log: u8, num: u32, attributes: &[(&str, AttributeValue)]) {
    let mut partition = vec![0; 20];
    partition[15] = log;
    let mut request = cloud
        .dynamodb_client()
        .put_item()
        .table_name(&cloud.settings.entry_table)
        .item("S", AttributeValue::B(Blob::new(partition)))
        .item("N", AttributeValue::N(num.to_string()));
    for (name, value) in attributes {
        request = request.item(*name, value.clone());
    }
    request.send().await.unwrap();
}

/// Returns the id of the log that [`put`] writes.
fn log(number: u8) -> LogId {
    LogId::from_uuid(uuid::Uuid::from_u128(number.into()))
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

async fn create(cloud: &TestCloud, nonce: &str) -> cellar_api::wire::CreateReply {
    cloud.client("alice").create(&CreateRequest::new(nonce.to_owned())).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_entry_leads_to_one_job_a_new_spreadsheet_and_an_edit_to_none() {
    let (cloud, _world) = start().await;
    let created = create(&cloud, "no job").await;
    let edit = append_one(created, "client", 1, created.head, set_numbers(&[1.0]));
    cloud.client("alice").spreadsheet(created.id).append(&edit).await.unwrap();
    put(&cloud, 7, 4, &[("T", text("S"))]).await;
    let queue = cloud.queue("SnapshotQueue");
    wait_for(queue, 1).await;
    tokio::time::sleep(QUIET).await;
    let bodies = bodies(queue).await;
    let jobs: Vec<_> = bodies.iter().map(|body| SnapshotJob::decode(body).unwrap()).collect();
    assert_eq!(jobs, [SnapshotJob { log: log(7), position: at(4) }]);
    assert!(cloud.queue("ChangeStreamDeadLetters").is_empty().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_external_body_loses_its_tag_and_a_repetition_changes_nothing() {
    let (cloud, world) = start().await;
    for key in ["uploads/a/b", "uploads/a/c", "uploads/a/never-named"] {
        world.tags.upload(key);
    }
    put(&cloud, 7, 1, &[("T", text("E")), ("E", text("uploads/a/b"))]).await;
    put(&cloud, 7, 2, &[("T", text("I")), ("E", text("uploads/a/c"))]).await;
    for key in ["uploads/a/b", "uploads/a/c"] {
        wait_until(key, || async { world.tags.is_pending(key) == Some(false) }).await;
    }
    // Another entry with the same body, whose tag was already removed.
    put(&cloud, 7, 3, &[("T", text("E")), ("E", text("uploads/a/b"))]).await;
    put(&cloud, 7, 4, &[("T", text("S"))]).await;
    wait_for(cloud.queue("SnapshotQueue"), 1).await;
    assert_eq!(world.tags.is_pending("uploads/a/never-named"), Some(true));
    assert!(cloud.queue("ChangeStreamDeadLetters").is_empty().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_never_succeed_ends_among_the_dead_letters_and_blocks_nothing() {
    let (cloud, _world) = start().await;
    // An entry of a segment that no log has, and an external body that does not exist.
    let mut partition = vec![0; 16];
    partition.extend(u32::MAX.to_be_bytes());
    cloud
        .dynamodb_client()
        .put_item()
        .table_name(&cloud.settings.entry_table)
        .item("S", AttributeValue::B(Blob::new(partition)))
        .item("N", AttributeValue::N("0".to_owned()))
        .item("T", text("S"))
        .send()
        .await
        .unwrap();
    put(&cloud, 7, 1, &[("T", text("E")), ("E", text("uploads/a/gone"))]).await;
    put(&cloud, 9, 1, &[("T", text("S"))]).await;
    let (queue, letters) = (cloud.queue("SnapshotQueue"), cloud.queue("ChangeStreamDeadLetters"));
    wait_for(letters, 2).await;
    wait_for(queue, 1).await;
    let jobs = bodies(queue).await;
    // Delivery is at least once: records after a failed record may be relayed again.
    assert!(jobs.iter().all(|body| SnapshotJob::decode(body).unwrap().log == log(9)));
    for body in bodies(letters).await {
        let letter: Value = serde_json::from_str(&body).unwrap();
        assert!(letter["eventSourceArn"].as_str().unwrap().contains(&cloud.settings.entry_table));
        let text = |key: &str| letter[key].as_str().unwrap();
        let (number, reason) = (text("sequenceNumber"), text("reason"));
        assert!(number.bytes().all(|digit| digit.is_ascii_digit()), "{letter}");
        assert!(reason.contains("uploads/a/gone") || reason.contains('S'), "{letter}");
    }
    put(&cloud, 9, 2, &[("T", text("S"))]).await;
    wait_for(queue, u64::try_from(jobs.len()).unwrap() + 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_cloud_loses_no_job_and_repeats_none_that_was_done() {
    let (cloud, world) = start().await;
    let mut logs = Vec::new();
    for number in 10..15 {
        put(&cloud, number, 1, &[("T", text("S"))]).await;
        logs.push(log(number));
    }
    // Killed immediately: only some records were relayed.
    let cloud = cloud.kill_and_start(world.ports()).await;
    let queue = cloud.queue("SnapshotQueue");
    wait_for(queue, 5).await;
    tokio::time::sleep(QUIET).await;
    let cloud = cloud.kill_and_start(world.ports()).await;
    tokio::time::sleep(QUIET).await;
    let queue = cloud.queue("SnapshotQueue");
    let mut relayed = Vec::new();
    for _ in 0..3 {
        relayed.extend(bodies(queue).await);
    }
    let mut relayed: Vec<_> =
        relayed.iter().map(|body| SnapshotJob::decode(body).unwrap().log).collect();
    // The first kill may repeat one batch; at the second kill, all records had been relayed.
    assert!(relayed.len() <= 10, "{}", relayed.len());
    relayed.sort_unstable();
    relayed.dedup();
    logs.sort_unstable();
    assert_eq!(relayed, logs);
    assert!(cloud.queue("ChangeStreamDeadLetters").is_empty().await.unwrap());
}
