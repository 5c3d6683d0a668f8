//! Tests of pollers with an embedded database, temporary files and a manual clock.

use std::sync::Mutex;

use async_trait::async_trait;
use cellar_engine::memory::ManualClock;
use cellar_engine::ports::{Jobs, QueueRules};
use cellar_stacks::{Architecture, Config, cellar_stack};
use dynoxide::Database;
use serde_json::{Value, json};

use super::poller::PollStep;
use super::*;
use crate::database::DurableDatabase;
use crate::queues::LocalQueue;
use crate::tables;

/// A function that fails for certain entries.
#[derive(Default)]
struct Scripted {
    /// Entry numbers for which the function fails.
    bad: Mutex<Vec<u64>>,
    /// Whether the response reports the failed record. If false, the function returns an error.
    reports: bool,
    /// The entries per invocation.
    invocations: Mutex<Vec<Vec<u64>>>,
}

fn entry_number(record: &Value) -> u64 {
    record["dynamodb"]["Keys"]["N"]["N"].as_str().unwrap().parse().unwrap()
}

#[async_trait]
impl EventFunction for Scripted {
    async fn invoke(&self, event: Value) -> Result<Value, String> {
        let records = event["Records"].as_array().unwrap();
        let numbers: Vec<u64> = records.iter().map(entry_number).collect();
        self.invocations.lock().unwrap().push(numbers.clone());
        let bad = self.bad.lock().unwrap();
        let failed = numbers.iter().position(|number| bad.contains(number));
        match failed {
            None => Ok(json!({ "batchItemFailures": [] })),
            Some(_) if !self.reports => Err("boom".to_owned()),
            Some(index) => {
                let number = &records[index]["dynamodb"]["SequenceNumber"];
                Ok(json!({ "batchItemFailures": [{ "itemIdentifier": number }] }))
            }
        }
    }
}

struct World {
    folder: tempfile::TempDir,
    database: DurableDatabase,
    clock: Arc<ManualClock>,
    function: Arc<Scripted>,
}

impl World {
    fn new(function: Scripted) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::memory().unwrap();
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        tables::create_missing_tables(&database, &template, &names, &[]).unwrap();
        // Start the clock at the current time, because stream records have real timestamps.
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let clock = Arc::new(ManualClock::at(u64::try_from(now).unwrap()));
        let database = DurableDatabase::in_memory(database);
        Self { folder, database, clock, function: Arc::new(function) }
    }

    /// A poller, created as in a new process, and its dead letter queue.
    fn start(&self) -> (Poller, LocalQueue) {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let store = EventStore::open(&self.folder.path().join("events.sqlite")).unwrap();
        let properties = &template.resource("RelaySource").unwrap().properties;
        let mapping = Mapping::read(&template, &names, "RelaySource", properties).unwrap();
        let stream = TableStream::of_table(&self.database, &mapping.table_name).unwrap();
        let clock: Arc<dyn Clock> = self.clock.clone();
        let letters = || {
            let (store, clock) = (Arc::clone(&store), Arc::clone(&clock));
            LocalQueue::new(store, clock, "letters".to_owned(), QueueRules::LONGEST, None)
        };
        let shard = stream.shards().remove(0);
        let dead_letters = Some(Arc::new(letters()) as Arc<dyn Jobs>);
        let queue = letters();
        let function = Arc::clone(&self.function) as _;
        (Poller::new(mapping, shard, store, function, dead_letters, clock), queue)
    }

    fn put(&self, number: u64, letter: &str) {
        let request = json!({ "TableName": "cellar-EntryTable", "Item": {
            "S": {"B": "AAAAAAAAAAAAAAAAAAAABwAAAAA="}, "N": {"N": number.to_string()},
            "T": {"S": letter},
        }});
        self.database.unsynced().put_item(serde_json::from_value(request).unwrap()).unwrap();
    }

    /// Runs poll steps until the shard has no new records. Advances the clock by each backoff.
    async fn drain(&self, poller: &mut Poller) {
        for _ in 0..500 {
            match poller.step().await.unwrap() {
                PollStep::Idle => return,
                PollStep::Worked => {}
                PollStep::Wait(wait_ms) => self.clock.advance_ms(wait_ms),
            }
        }
        panic!("the poller does not become idle");
    }

    fn take_invocations(&self) -> Vec<Vec<u64>> {
        std::mem::take(&mut self.function.invocations.lock().unwrap())
    }
}

async fn received_letters(queue: &LocalQueue) -> Vec<Value> {
    let messages = queue.receive(10, 600).await.unwrap();
    messages.iter().map(|message| serde_json::from_str(&message.body).unwrap()).collect()
}

#[tokio::test]
async fn filters_select_the_records_of_the_function() {
    let world = World::new(Scripted::default());
    for (number, letter) in [(0, "S"), (1, "E"), (2, "X"), (3, "S")] {
        world.put(number, letter);
    }
    // The second write to an entry is a modification.
    world.put(0, "S");
    let (mut poller, _) = world.start();
    world.drain(&mut poller).await;
    assert_eq!(world.take_invocations(), [[0, 3]]);
    world.put(4, "S");
    world.drain(&mut poller).await;
    assert_eq!(world.take_invocations(), [[4]]);
}

#[tokio::test]
async fn resumes_from_the_stored_position() {
    let world = World::new(Scripted::default());
    world.put(0, "S");
    let (mut poller, _) = world.start();
    // Simulate a crash between two steps: the first step has read the records, but the second step,
    // which would invoke the function, does not run.
    assert_eq!(poller.step().await.unwrap(), PollStep::Worked);
    drop(poller);
    let (mut poller, _) = world.start();
    world.drain(&mut poller).await;
    assert_eq!(world.take_invocations(), [[0]]);
    drop(poller);
    world.put(1, "S");
    let (mut poller, _) = world.start();
    world.drain(&mut poller).await;
    assert_eq!(world.take_invocations(), [[1]], "processed records are not repeated");
}

#[tokio::test]
async fn a_failing_record_becomes_a_dead_letter() {
    for reports in [false, true] {
        let world = World::new(Scripted { reports, ..Scripted::default() });
        world.function.bad.lock().unwrap().push(5);
        for number in 0..9 {
            world.put(number, "S");
        }
        let (mut poller, queue) = world.start();
        world.drain(&mut poller).await;
        let invocations = world.take_invocations();
        let succeeded = invocations.iter().filter(|numbers| reports || !numbers.contains(&5));
        let mut handled: Vec<u64> = succeeded.flatten().copied().collect();
        handled.sort_unstable();
        handled.dedup();
        handled.retain(|number| *number != 5);
        assert_eq!(handled, [0, 1, 2, 3, 4, 6, 7, 8]);
        // A failed batch is split only if the function did not name the failed record.
        let given_up: &[u64] = if reports { &[5, 6, 7, 8] } else { &[5] };
        let failures = invocations.iter().filter(|numbers| **numbers == given_up).count();
        assert_eq!(failures, 101, "one attempt and a hundred retries");
        let letters = received_letters(&queue).await;
        assert_eq!(letters.len(), 1);
        let (context, info) = (&letters[0]["requestContext"], &letters[0]["DDBStreamBatchInfo"]);
        assert_eq!(context["condition"], "RetryAttemptsExhausted");
        assert_eq!(context["approximateInvokeCount"], 101);
        assert_eq!(info["batchSize"], given_up.len());
        let alone = info["startSequenceNumber"] == info["endSequenceNumber"];
        assert_eq!(alone, !reports);
        let error = if reports { Value::Null } else { json!("Unhandled") };
        assert_eq!(letters[0]["responseContext"]["functionError"], error);
        world.put(9, "S");
        world.drain(&mut poller).await;
        assert_eq!(world.take_invocations(), [[9]], "the shard is not blocked");
    }
}

#[tokio::test]
async fn gives_up_expired_records_without_an_invocation() {
    let world = World::new(Scripted::default());
    world.put(0, "S");
    world.clock.advance_ms(12 * 3_600_000 + 2_000);
    let (mut poller, queue) = world.start();
    world.drain(&mut poller).await;
    assert_eq!(world.take_invocations(), Vec::<Vec<u64>>::new());
    let letters = received_letters(&queue).await;
    assert_eq!(letters[0]["requestContext"]["condition"], "RecordAgeExceeded");
    assert_eq!(letters[0]["responseContext"], Value::Null, "there was no invocation");
}

#[tokio::test]
async fn retries_a_temporary_failure() {
    let world = World::new(Scripted { reports: true, ..Scripted::default() });
    world.function.bad.lock().unwrap().push(0);
    world.put(0, "S");
    let (mut poller, queue) = world.start();
    assert_eq!(poller.step().await.unwrap(), PollStep::Worked);
    assert_eq!(poller.step().await.unwrap(), PollStep::Wait(100));
    assert_eq!(poller.step().await.unwrap(), PollStep::Wait(200));
    world.function.bad.lock().unwrap().clear();
    world.drain(&mut poller).await;
    assert_eq!(world.take_invocations(), [[0], [0], [0]]);
    assert!(received_letters(&queue).await.is_empty());
}

#[tokio::test]
async fn uses_the_batch_size_of_the_template() {
    let world = World::new(Scripted::default());
    for number in 0..230 {
        world.put(number, "S");
    }
    let (mut poller, _) = world.start();
    world.drain(&mut poller).await;
    assert_eq!(world.take_invocations().iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 30]);
}
