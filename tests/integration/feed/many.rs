//! The cost of the list, the feed, a deletion and a purge does not depend on the number of
//! spreadsheets: `MANY_SPREADSHEETS=10000 cargo test -p cellar-tests --test integration feed::many --
//! --ignored --nocapture`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::cost::{Cost, HEADER};
use cellar_api::wire::{FeedReply, ForkRequest, SpreadsheetStatus};
use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::limits::DELETED_KEPT_S;
use cellar_catalog::access::Role;
use cellar_catalog::spreadsheet::{By, CatalogAction, Name, Person, Right};
use cellar_engine::catalog::CatalogStore;
use cellar_engine::memory::ManualClock;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock as _, Lists as _};
use cellar_engine::purge::{PurgePorts, Purger};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_runtime::dynamodb::{DynamoPendingSnapshots, DynamoStreams, DynamoTables};
use cellar_runtime::s3::S3Blobs;
use cellar_tests::budgets;
use cellar_tests::cloud::TestCloud;
use tokio::task::JoinSet;

use super::{FeedQuery, World, set_status, until};

/// Spreadsheets of the first measurement, more than a page of the list.
const FEW: u32 = 100;
/// Spreadsheets of the second measurement, unless `MANY_SPREADSHEETS` has another number.
const MANY: u32 = 2_000;
const CREATE_TASKS: usize = 16;

/// Read and write request units.
type Units = (f64, u64);

/// The cost of each operation.
#[derive(Debug, PartialEq)]
struct Costs {
    list_page: Units,
    next_list_page: Units,
    feed_poll: Units,
    deletion: Units,
    purge: Units,
    purge_of_fork: Units,
}

fn author() -> Person {
    Person::new("cellar", "alice").unwrap()
}

/// Creates spreadsheets of one owner. The indexer of the stack adds them to the feed and the list.
async fn create_spreadsheets(cloud: &TestCloud, numbers: std::ops::Range<u32>) {
    let meter = Arc::new(Meter::default());
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let streams =
        DynamoStreams::named(&cloud.settings.event_stream_table, cloud.dynamodb_client(), meter);
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let catalog = CatalogStore::new(Arc::new(streams), clock, random);
    let (catalog, logs) = (Arc::new(catalog), Arc::new(TestCloud::logs(&tables)));
    let mut tasks = JoinSet::new();
    for task_number in 0..CREATE_TASKS {
        let (catalog, logs) = (Arc::clone(&catalog), Arc::clone(&logs));
        let numbers = numbers.clone().skip(task_number).step_by(CREATE_TASKS);
        tasks.spawn(async move {
            for number in numbers {
                let name = format!("Budget of the department {number:07}");
                let log = LogId::derive(&SubjectKey::new("cellar", "alice"), &name).unwrap();
                logs.create(log, Some("alice".into())).await.unwrap();
                let right = Right::Token(Role::Owner);
                let by = By { person: author(), right, cap: Role::Owner };
                let name = Name::new(&name).unwrap();
                let create = CatalogAction::Create { name, source: None };
                catalog.change(log, by, create, None).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
}

/// Returns the number of listed spreadsheets.
async fn count_listed(world: &World) -> usize {
    const PAGE_ENTRIES: u32 = 1_000;
    let (_, lists) = world.tables();
    let (mut count, mut after) = (0, None);
    loop {
        let page = lists.listed(&author(), after, PAGE_ENTRIES).await.unwrap();
        count += page.entries.len();
        if !page.more {
            return count;
        }
        after = page.entries.last().map(|entry| entry.log);
    }
}

struct Measurement<'a> {
    world: &'a World,
    alice: Client,
    http: reqwest::Client,
}

impl Measurement<'_> {
    async fn get(&self, path: &str, token: &str) -> (Units, serde_json::Value) {
        let url = format!("{}/v1/{path}", self.world.cloud.url);
        let reply = self.http.get(url).bearer_auth(token).send().await.unwrap();
        let cost = Cost::from_header(reply.headers()[HEADER].to_str().unwrap()).unwrap();
        let body = serde_json::from_str(&reply.text().await.unwrap()).unwrap();
        ((cost.read_units(), cost.write_units), body)
    }

    async fn list_pages(&self) -> (Units, Units) {
        let token = self.world.cloud.token_of("alice");
        let (first, page) = self.get("spreadsheets", &token).await;
        let cursor = page["next"].as_str().unwrap();
        let (next, _) = self.get(&format!("spreadsheets?cursor={cursor}"), &token).await;
        (first, next)
    }

    /// Returns the cost of a poll at the end of the feed.
    async fn feed_poll(&self) -> Units {
        let operator = self.world.operator();
        let mut query = FeedQuery::default();
        let checkpoint = loop {
            let FeedReply { checkpoint, at_end, .. } = operator.feed_page(&query).await.unwrap();
            if at_end {
                break checkpoint;
            }
            query = query.with_after(checkpoint);
        };
        let token = self.world.cloud.token("operator", Role::Owner);
        self.get(&format!("feed?after={checkpoint}"), &token).await.0
    }

    /// Creates a spreadsheet and deletes it. Returns the cost of the deletion.
    async fn deletion(&self, name: &str) -> (LogId, Units) {
        let log = self.world.create(&self.alice, name).await;
        let url = format!("{}/v1/spreadsheets/{log}/details", self.world.cloud.url);
        let status = serde_json::json!({ "status": "deleted" });
        let request = self.http.patch(url).bearer_auth(self.world.cloud.token_of("alice"));
        let reply = request.json(&status).send().await.unwrap();
        let cost = Cost::from_header(reply.headers()[HEADER].to_str().unwrap()).unwrap();
        (log, (cost.read_units(), cost.write_units))
    }

    async fn deleted_fork(&self, name: &str) -> LogId {
        let source = self.world.create(&self.alice, &format!("Source of {name}")).await;
        let request = ForkRequest { nonce: name.to_owned(), at: None, name: None };
        let fork = self.alice.spreadsheet(source).fork(&request).await.unwrap().id;
        set_status(&self.alice, fork, SpreadsheetStatus::Deleted).await;
        fork
    }

    /// Purges a spreadsheet that was deleted long ago, and returns the cost.
    async fn purge(&self, log: LogId) -> Units {
        let cloud = &self.world.cloud;
        let meter = Arc::new(Meter::default());
        let settings = &cloud.settings;
        let client = || cloud.dynamodb_client();
        let tables = Arc::new(DynamoTables::new(settings, client(), Arc::clone(&meter)));
        let blobs =
            Arc::new(S3Blobs::new(settings.bucket.clone(), cloud.s3_client(), Arc::clone(&meter)));
        let streams =
            DynamoStreams::named(&settings.event_stream_table, client(), Arc::clone(&meter));
        let pending_table = cloud.pending_snapshots_table();
        let pending = DynamoPendingSnapshots::named(pending_table, client(), Arc::clone(&meter));
        let later_ms = SystemClock.now_ms() + (DELETED_KEPT_S + 60) * 1_000;
        let clock = Arc::new(ManualClock::at(later_ms));
        let ports = PurgePorts {
            entries: Arc::clone(&tables) as _,
            segments: Arc::clone(&tables) as _,
            retention: Arc::clone(&tables) as _,
            presences: tables,
            pending: Some(Arc::new(pending)),
            blobs: Arc::clone(&blobs) as _,
            versions: blobs,
            clock: Arc::clone(&clock) as _,
            random: Arc::new(SystemRandom),
        };
        let catalog = CatalogStore::new(Arc::new(streams), clock, Arc::new(SystemRandom));
        let operator = Person::new("cellar:operator", "test").unwrap();
        Purger::new(ports, catalog, operator).purge(log).await.unwrap();
        let cost = meter.take();
        (cost.read_units(), cost.write_units)
    }
}

async fn measure(world: &World, spreadsheets: u32) -> Costs {
    let measurement =
        Measurement { world, alice: world.person("alice"), http: reqwest::Client::new() };
    let (list_page, next_list_page) = measurement.list_pages().await;
    let (deleted, deletion) = measurement.deletion(&format!("Plan {spreadsheets:07}")).await;
    let fork = measurement.deleted_fork(&format!("Fork {spreadsheets:07}")).await;
    // The list has the deleted spreadsheet, the source and the fork in addition.
    until(spreadsheets as usize + 3, async || count_listed(world).await).await;
    let feed_poll = measurement.feed_poll().await;
    let (purge, purge_of_fork) = (measurement.purge(deleted).await, measurement.purge(fork).await);
    Costs { list_page, next_list_page, feed_poll, deletion, purge, purge_of_fork }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "creates thousands of spreadsheets"]
async fn list_feed_deletion_and_purge_cost_the_same_with_many_spreadsheets() {
    let many = match std::env::var("MANY_SPREADSHEETS") {
        Ok(number) => number.parse().unwrap(),
        Err(_) => MANY,
    };
    let world = World::new().await;
    create_spreadsheets(&world.cloud, 0..FEW).await;
    until(FEW as usize, async || count_listed(&world).await).await;
    let costs_of_few = measure(&world, FEW).await;
    let listed_before = count_listed(&world).await;
    let begun_at = Instant::now();
    create_spreadsheets(&world.cloud, FEW..many).await;
    println!("{many} spreadsheets created in {:?}", begun_at.elapsed());
    let created = (many - FEW) as usize;
    wait_until_listed(&world, listed_before + created).await;
    println!("indexed after {:?}", begun_at.elapsed());
    let listed = u32::try_from(listed_before + created).unwrap();
    let costs_of_many = measure(&world, listed).await;
    println!("with {FEW} spreadsheets: {costs_of_few:?}");
    println!("with {many} spreadsheets: {costs_of_many:?}");
    assert_eq!(costs_of_many, costs_of_few);
    assert_eq!(costs_of_many.feed_poll, budgets::FEED_POLL.units());
    assert_eq!(costs_of_many.deletion.1, budgets::LISTING_CHANGE.units().1);
}

/// The indexer may need minutes. A count takes the processor from it, so the pause after a count is longer.
async fn wait_until_listed(world: &World, spreadsheets: usize) {
    const SHORTEST_PAUSE: Duration = Duration::from_secs(2);
    const COUNTS_PER_PAUSE: u32 = 10;
    let mut previous_count = None;
    loop {
        let begun_at = Instant::now();
        let count = count_listed(world).await;
        if count == spreadsheets {
            return;
        }
        assert_ne!(Some(count), previous_count, "the indexer makes no progress");
        previous_count = Some(count);
        println!("{count} of {spreadsheets} are listed");
        tokio::time::sleep(SHORTEST_PAUSE.max(begun_at.elapsed() * COUNTS_PER_PAUSE)).await;
    }
}
