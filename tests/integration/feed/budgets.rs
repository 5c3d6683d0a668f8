//! The exact cost of the feed and the lists in DynamoDB capacity units.

use std::sync::Arc;

use cellar_api::cost::{Cost, HEADER};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_catalog::feed::{EntryKind, Span, entries_span};
use cellar_catalog::stream::{Kind, StreamName};
use cellar_engine::feed::{Indexer, NoReactions};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Entries as _, PutOutcome};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_log::entry::{Content, Entry};
use cellar_runtime::dynamodb::{DynamoFeed, DynamoStreams, DynamoTables};

use super::{World, names, until};
use cellar_tests::budgets;

struct Costs {
    meter: Arc<Meter>,
    world: World,
}

impl Costs {
    async fn new() -> Self {
        Self { meter: Arc::new(Meter::default()), world: World::new().await }
    }

    /// Returns the indexer of a process without cached state.
    fn cold(&self) -> Indexer {
        let settings = &self.world.cloud.settings;
        let client = || self.world.cloud.dynamodb_client();
        let index = DynamoFeed::named(&settings.feed_table, client(), Arc::clone(&self.meter));
        let streams =
            DynamoStreams::named(&settings.event_stream_table, client(), Arc::clone(&self.meter));
        let time = (Arc::new(SystemClock) as _, Arc::new(SystemRandom) as _);
        Indexer::new(Arc::new(index), Arc::new(streams), Arc::new(NoReactions), time, 0)
    }

    async fn of(&self, indexer: &Indexer, spans: Vec<Span>) -> (f64, u64) {
        let _ = self.meter.take();
        indexer.index(spans).await.unwrap();
        let cost = self.meter.take();
        (cost.read_units(), cost.write_units)
    }
}

fn span(stream: &str, first: u64) -> Span {
    let stream = StreamName::new("Costs", stream).unwrap();
    Span { stream, first, kinds: vec![Kind::new("Renamed").unwrap()] }
}

#[tokio::test(flavor = "multi_thread")]
async fn indexing_an_event_costs_an_item_and_a_mark() {
    let costs = Costs::new().await;
    let warm = costs.cold();
    // The list of partitions is empty; the first partition is created.
    assert_eq!(costs.of(&warm, vec![span("a", 0)]).await, (2.0, 3));
    assert_eq!(costs.of(&warm, vec![span("a", 1)]).await, (0.0, 2));
    assert_eq!(costs.of(&warm, vec![span("a", 1)]).await, (0.0, 0), "delivered again");
    // The mark of an event stream that is not cached.
    assert_eq!(costs.of(&warm, vec![span("b", 0)]).await, budgets::FEED_ITEM.units());
    // Ten events of a stream are one item; ten streams are one item and ten marks.
    let ten = (0..10).map(|index| span("c", index)).collect();
    assert_eq!(costs.of(&warm, ten).await, (1.0, 2));
    let ten = ["d", "e", "f", "g", "h", "i", "j", "k", "l", "m"].map(|name| span(name, 0));
    assert_eq!(costs.of(&warm, ten.to_vec()).await, (10.0, 11));
    // Without cached state: the newest partition, its last item, the marks of that item's ten
    // streams, and the own mark.
    assert_eq!(costs.of(&costs.cold(), vec![span("a", 2)]).await, (1.0 + 1.0 + 11.0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn indexing_the_entries_of_a_log_costs_an_item_and_a_mark_and_at_a_roll_a_look_at_its_end() {
    let costs = Costs::new().await;
    let cloud = &costs.world.cloud;
    let settings = &cloud.settings;
    let client = cloud.dynamodb_client();
    let meter = Arc::clone(&costs.meter);
    let tables = Arc::new(DynamoTables::named(
        &settings.entry_table,
        &settings.segment_table,
        client,
        meter,
    ));
    let warm = costs.cold().with_entries(Arc::clone(&tables) as _);
    // The indexer of the stack would also index the creation of a real spreadsheet.
    let id = LogId::from_uuid(uuid::Uuid::from_u128(7));
    let put = |segment, num, kind| {
        entries_span(id, Position::new(segment, num).unwrap(), vec![kind]).unwrap()
    };
    let first = vec![put(0, 0, EntryKind::Snapshot)];
    assert_eq!(costs.of(&warm, first).await.1, 3, "the partition, too");
    let edits = (1..=5).map(|num| put(0, num, EntryKind::Edits)).collect();
    assert_eq!(
        costs.of(&warm, edits).await,
        budgets::FEED_ITEM_OF_EDITS.units(),
        "five edits in one batch cost as much as one"
    );
    // The mark of a segment that is not cached. For the start of a segment, also the last entry of
    // the preceding segment.
    let roll = || vec![put(0, 6, EntryKind::EndSegment), put(1, 0, EntryKind::Snapshot)];
    let last = Entry {
        position: Position::new(0, 6).unwrap(),
        content: Content::EndSegment,
        ..Entry::first(id, None, 1)
    };
    assert_eq!(tables.put(&last).await, PutOutcome::Accepted);
    let _ = costs.meter.take();
    assert_eq!(costs.of(&warm, roll()).await, (2.0, 3));
    assert_eq!(costs.of(&warm, roll()).await, (1.0, 0), "delivered again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_list_costs_at_most_one_read_unit_and_a_look_at_the_feed_one() {
    let world = World::new().await;
    let (alice, operator) = (world.person("alice"), world.operator());
    for number in 0..55 {
        world.create(&alice, &format!("Budget of the department {number}")).await;
    }
    let any = cellar::SpreadsheetsQuery::default();
    until(55, async || names(&alice, &any).await.len()).await;
    let http = reqwest::Client::new();
    let cost = async |path: &str, token: &str| {
        let url = format!("{}/v1/{path}", world.cloud.url);
        let reply = http.get(url).bearer_auth(token).send().await.unwrap();
        let cost = Cost::from_header(reply.headers()[HEADER].to_str().unwrap()).unwrap();
        let body: serde_json::Value = serde_json::from_str(&reply.text().await.unwrap()).unwrap();
        (cost.read_units(), body)
    };
    let (units, page) = cost("spreadsheets", &world.cloud.token_of("alice")).await;
    assert_eq!(page["spreadsheets"].as_array().unwrap().len(), 50);
    assert!(units <= budgets::SPREADSHEET_PAGE.cost.read_units(), "{units}");
    // At the end: the list of partitions and the last item.
    let token = world.cloud.token("operator", Role::Owner);
    let next = super::FeedQuery::default();
    let mut end = operator.feed_page(&next).await.unwrap();
    while !end.at_end {
        let after = next.clone().with_after(end.checkpoint);
        end = operator.feed_page(&after).await.unwrap();
    }
    let (units, _) = cost(&format!("feed?after={}", end.checkpoint), &token).await;
    assert_eq!(units, budgets::FEED_POLL.cost.read_units());
}
