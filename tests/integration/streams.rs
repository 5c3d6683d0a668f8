//! Event streams on DynamoDB, through the SDK and HTTP: the contract of the port, and the cost of
//! each operation.

use std::sync::Arc;

use cellar::Client;
use cellar_api::cost::Cost;
use cellar_base::record::item_bytes;
use cellar_catalog::records::stream::{encode_event_batch, encode_tip};
use cellar_catalog::stream::{
    Decider, Encoded, Etag, EventBatch, Kind, SplitPolicy, StreamName, Tip, UnreadableEvent,
    Update, WriterId,
};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{ReadConsistency, StreamOutcome, Streams as _};
use cellar_engine::streams::{CachedTip, StreamStore, Transacted};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_runtime::dynamodb::DynamoStreams;
use cellar_runtime::settings::ApiSettings;
use cellar_tests::cloud::TestCloud;

/// A list of words, whose unfold contains the whole list.
struct Words;

impl Decider for Words {
    type State = Vec<String>;
    type Event = String;
    type Command = String;
    type Rejection = &'static str;

    fn initial(&self) -> Vec<String> {
        vec![]
    }

    fn evolve(&self, mut state: Vec<String>, event: &String) -> Vec<String> {
        state.push(event.clone());
        state
    }

    fn decide(&self, command: &String, state: &Vec<String>) -> Result<Vec<String>, &'static str> {
        match state.contains(command) {
            true => Ok(vec![]),
            false => Ok(vec![command.clone()]),
        }
    }

    fn encode(&self, event: &String) -> Encoded {
        Encoded::new(Kind::new("Added").unwrap(), event.clone().into_bytes())
    }

    fn decode(&self, _: &Kind, data: &[u8]) -> Result<String, UnreadableEvent> {
        String::from_utf8(data.to_vec()).map_err(|_| UnreadableEvent::Malformed)
    }

    fn is_origin(&self, _: &String) -> bool {
        false
    }

    fn unfold(&self, state: &Vec<String>) -> Option<Encoded> {
        Some(Encoded::new(Kind::new("Words").unwrap(), state.join(" ").into_bytes()))
    }

    fn refold(&self, _: &Kind, data: &[u8]) -> Option<Vec<String>> {
        Some(std::str::from_utf8(data).ok()?.split(' ').map(str::to_owned).collect())
    }
}

struct Fixture {
    // Stopped when the test ends.
    _cloud: TestCloud,
    streams: Arc<DynamoStreams>,
    store: StreamStore,
    meter: Arc<Meter>,
}

impl Fixture {
    /// Starts a cloud with a table in which tips have at most two events.
    async fn start() -> Self {
        let cloud = TestCloud::start_without_snapshots().await;
        let (client, meter) = (cloud.dynamodb_client(), Arc::new(Meter::default()));
        let table = cloud.settings.event_stream_table.as_str();
        let streams = Arc::new(DynamoStreams::named(table, client, Arc::clone(&meter)));
        let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let policy = SplitPolicy { bytes: 32 * 1024, events: 2 };
        let store = StreamStore::new(streams.clone(), clock, random).with_split_policy(policy);
        Self { _cloud: cloud, streams, store, meter }
    }

    async fn add(&self, word: &str, writer: u8, known: CachedTip) -> Transacted<Words> {
        let (word, writer) = (word.to_owned(), WriterId([writer; 16]));
        self.store.transact(&Words, &name(), &word, writer, known).await.unwrap()
    }

    /// Returns read units, write units and requests since the last call.
    fn cost(&self) -> (f64, u64, u64) {
        let cost: Cost = self.meter.take();
        (cost.read_units(), cost.write_units, cost.table_requests)
    }
}

fn name() -> StreamName {
    "Words-1".parse().unwrap()
}

fn units(item: &cellar_base::record::Item) -> u64 {
    u64::try_from(item_bytes(item).div_ceil(1_024)).unwrap()
}

fn tip_units(tip: &Tip) -> u64 {
    units(&encode_tip(tip))
}

/// Returns an incompressible word.
fn long(seed: u32) -> String {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'!' + u8::try_from(state >> 24).unwrap() % 90)
    };
    (0..1_000).map(next).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_passes_the_contract_of_streams() {
    let fixture = Fixture::start().await;
    cellar_engine::contract::streams(fixture.streams.as_ref()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn appends_and_loads_cost_what_the_tip_takes() {
    let fixture = Fixture::start().await;
    // A short stream with a cached tip: one unit per kilobyte, and no read.
    let first = fixture.add("a", 1, CachedTip::Tip(None)).await;
    assert_eq!(fixture.cost(), (0.0, 1, 1));
    let second = fixture.add(&long(7), 2, CachedTip::Tip(first.tip)).await;
    let tip = second.tip.clone().unwrap();
    assert!(tip_units(&tip) > 1);
    assert_eq!(fixture.cost(), (0.0, tip_units(&tip), 1));
    // The next append splits the tip: twice the size of both items; for the tip, the larger size
    // before and after counts.
    let third = fixture.add("c", 3, CachedTip::Tip(second.tip)).await;
    let (batch, before) =
        (EventBatch { name: name(), index: 0, events: tip.events.clone() }, tip_units(&tip));
    let tip = third.tip.clone().unwrap();
    assert_eq!((tip.events.len(), tip.first()), (1, 2));
    let both = units(&encode_event_batch(&batch)) + tip_units(&tip).max(before);
    assert_eq!(fixture.cost(), (0.0, 2 * both, 1));
    // Without a cached tip, the read costs half a unit, regardless of the number of split-off
    // events.
    let fourth = fixture.add("d", 4, CachedTip::Unknown).await;
    assert_eq!(fixture.cost(), (0.5, tip_units(&fourth.tip.unwrap()), 2));
    let loaded = fixture.store.load(&Words, &name(), ReadConsistency::Eventual).await.unwrap();
    assert_eq!(loaded.state, ["a".to_owned(), long(7), "c".into(), "d".into()]);
    assert_eq!(fixture.cost(), (0.5, 0, 1));
    assert_eq!(
        fixture.streams.batches_before(&name(), 2, ReadConsistency::Strong).await,
        Ok(vec![batch])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_costs_a_write_and_no_read() {
    let fixture = Fixture::start().await;
    let first = fixture.add("a", 1, CachedTip::Tip(None)).await;
    fixture.add("b", 2, CachedTip::Tip(first.tip.clone())).await;
    fixture.cost();
    // The refused update, and a split of two items of a kilobyte each.
    let third = fixture.add("c", 3, CachedTip::Tip(first.tip)).await;
    assert_eq!(third.state, ["a", "b", "c"]);
    assert_eq!(fixture.cost(), (0.0, 1 + 4, 2));
    let on = third.tip.unwrap();
    let loaded = fixture.store.load(&Words, &name(), ReadConsistency::Strong).await.unwrap();
    assert_eq!((loaded.tip, loaded.next), (Some(on), 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retried_split_succeeds_after_later_appends() {
    let fixture = Fixture::start().await;
    let first = fixture.add("a", 1, CachedTip::Tip(None)).await;
    let before = fixture.add("b", 2, CachedTip::Tip(first.tip)).await.tip.unwrap();
    let third = fixture.add("c", 3, CachedTip::Tip(Some(Arc::clone(&before)))).await.tip.unwrap();
    let on = fixture.add("d", 4, CachedTip::Tip(Some(Arc::clone(&third)))).await.tip.unwrap();
    let batch = EventBatch { name: name(), index: 0, events: before.events.clone() };
    let appended = third.events.clone();
    let update = Update { expected: before.etag, tip: Tip::clone(&third), appended };
    // The condition now fails: only DynamoDB's memory of the token explains the success.
    fixture.cost();
    assert_eq!(fixture.streams.split_off(&batch, &update).await, StreamOutcome::Done);
    // Nothing is written: a transaction reads both items.
    assert_eq!(fixture.cost(), (4.0, 0, 1));
    // Another write has another token, and receives the current tip.
    let other = Tip { etag: Etag([7; 16]), ..Tip::clone(&third) };
    let other = Update { tip: other, ..update.clone() };
    let refused = StreamOutcome::Refused { tip: Some(Arc::clone(&on)) };
    assert_eq!(fixture.streams.split_off(&batch, &other).await, refused);
    // Another event batch with the same token is an error of the sender and is not written.
    let elsewhere = EventBatch { index: 7, ..batch.clone() };
    let failed = fixture.streams.split_off(&elsewhere, &update).await;
    assert!(matches!(failed, StreamOutcome::Failed(_)), "{failed:?}");
    assert_eq!(fixture.streams.tip(&name(), ReadConsistency::Strong).await, Ok(Some(on)));
    assert_eq!(
        fixture.streams.batches_before(&name(), 9, ReadConsistency::Strong).await,
        Ok(vec![batch])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn health_tells_whether_the_table_answers() {
    let cloud = TestCloud::start_without_snapshots().await;
    let told = async |settings: &ApiSettings| {
        let url = cloud.api_told(settings).await;
        let health = Client::new(&url, None).unwrap().health().await.unwrap();
        let parts = health.dependencies.into_iter().map(|part| (part.name, part.ok));
        (health.ok, parts.collect::<Vec<_>>())
    };
    let parts = |streams| {
        let all = [("entries", true), ("segments", true), ("streams", streams)];
        all.map(|(name, ok)| (name.to_owned(), ok)).to_vec()
    };
    assert_eq!(told(&cloud.settings).await, (true, parts(true)));
    let gone = ApiSettings { event_stream_table: "gone".to_owned(), ..cloud.settings.clone() };
    assert_eq!(told(&gone).await, (false, parts(false)));
}

/// Concurrent writers with different words.
#[tokio::test(flavor = "multi_thread")]
async fn many_writers_lose_nothing() {
    let fixture = Fixture::start().await;
    let writers = (0..4_u8).map(|writer| {
        let store = fixture.store.clone();
        tokio::spawn(async move {
            for number in 0..5_u8 {
                let word = format!("{writer}/{number}");
                let id = WriterId([writer * 16 + number; 16]);
                let name = name();
                let added = store.transact(&Words, &name, &word, id, CachedTip::Unknown);
                added.await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let loaded = fixture.store.load(&Words, &name(), ReadConsistency::Strong).await.unwrap();
    assert_eq!((loaded.next, loaded.state.len()), (20, 20));
    for writer in 0..4 {
        let of_writer = loaded.state.iter().filter(|word| word.starts_with(&format!("{writer}/")));
        let in_order: Vec<String> = (0..5).map(|number| format!("{writer}/{number}")).collect();
        assert_eq!(of_writer.cloned().collect::<Vec<_>>(), in_order);
    }
}
