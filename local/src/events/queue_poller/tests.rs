//! Tests with a durable queue and a manual clock.

use std::sync::Mutex;

use async_trait::async_trait;
use cellar_engine::memory::ManualClock;
use cellar_engine::ports::QueueRules;
use cellar_stacks::{Architecture, Config, cellar_stack};

use super::*;
use crate::names::Names;
use crate::queues::LocalQueue;
use crate::recursion::RecursiveLoop;
use crate::store::EventStore;

const MAX_RECEIVE_COUNT: u32 = 3;

/// A function that returns prepared responses.
#[derive(Default)]
struct Scripted {
    responses: Mutex<Vec<Result<Value, String>>>,
    events: Mutex<Vec<Value>>,
}

#[async_trait]
impl EventFunction for Scripted {
    async fn invoke(&self, event: Value) -> Result<Value, String> {
        self.events.lock().unwrap().push(event);
        let mut responses = self.responses.lock().unwrap();
        if responses.is_empty() {
            return Ok(json!({ "batchItemFailures": [] }));
        }
        responses.remove(0)
    }
}

struct World {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    function: Arc<Scripted>,
}

/// A poller and its queues, opened as in a new process.
struct Started {
    poller: QueuePoller,
    queue: Arc<LocalQueue>,
    dead_letters: LocalQueue,
}

impl World {
    fn new(responses: Vec<Result<Value, String>>) -> Self {
        let function = Scripted { responses: Mutex::new(responses), ..Scripted::default() };
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(ManualClock::at(1_795_246_133_000)),
            function: Arc::new(function),
        }
    }

    fn start(&self, batch_size: u8) -> Started {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let properties = &template.resource("SnapshotSource").unwrap().properties;
        let mapping = QueueMapping::read(&template, &names, "SnapshotSource", properties).unwrap();
        let mapping = QueueMapping { batch_size, visibility_s: 100, ..mapping };
        let store = EventStore::open(&self.folder.path().join("events.sqlite")).unwrap();
        let queue = |name: &str, max_receive_count, letters: Option<&str>| {
            let rules = QueueRules { max_receive_count, ..QueueRules::LONGEST };
            let (store, clock) = (Arc::clone(&store), self.clock.clone());
            LocalQueue::new(store, clock, name.to_owned(), rules, letters.map(str::to_owned))
        };
        let dead_letters = queue("letters", None, None);
        let queue = Arc::new(queue("jobs", Some(MAX_RECEIVE_COUNT), Some("letters")));
        let function = Arc::clone(&self.function) as _;
        let poller = QueuePoller::new(mapping, queue.clone(), function, self.clock.clone());
        Started { poller, queue, dead_letters }
    }

    /// The message bodies per invocation.
    fn invocations(&self) -> Vec<Vec<String>> {
        let events = self.function.events.lock().unwrap();
        let bodies = |event: &Value| {
            let records = event["Records"].as_array().unwrap().iter();
            records.map(|record| record["body"].as_str().unwrap().to_owned()).collect()
        };
        events.iter().map(bodies).collect()
    }
}

impl Started {
    /// Receives and processes messages once. Returns `false` if the queue has no visible message.
    async fn step(&self) -> bool {
        let messages = self.poller.receive_batch().await.unwrap();
        if messages.is_empty() {
            return false;
        }
        self.poller.process_batch(messages).await;
        true
    }
}

fn reports(ids: &[&str]) -> Result<Value, String> {
    let items: Vec<_> = ids.iter().map(|id| json!({ "itemIdentifier": id })).collect();
    Ok(json!({ "batchItemFailures": items }))
}

#[tokio::test]
async fn deletes_processed_messages() {
    let world = World::new(vec![]);
    let started = world.start(1);
    for body in ["a", "b"] {
        started.queue.send(body).await.unwrap();
    }
    assert!(started.step().await && started.step().await && !started.step().await);
    assert_eq!(world.invocations(), [["a"], ["b"]]);
    assert_eq!(started.queue.is_empty().await, Ok(true));
    let events = world.function.events.lock().unwrap();
    let record = &events[0]["Records"][0];
    assert_eq!(record["attributes"]["ApproximateReceiveCount"], "1");
    assert_eq!(record["eventSourceARN"], "arn:aws:sqs:local:000000000000:cellar-SnapshotQueue");
}

#[tokio::test]
async fn reported_messages_return_and_the_others_are_deleted() {
    let world = World::new(vec![reports(&["2"])]);
    let started = world.start(10);
    for body in ["a", "b", "c"] {
        started.queue.send(body).await.unwrap();
    }
    assert!(started.step().await);
    assert!(!started.step().await, "hidden for the visibility timeout");
    world.clock.advance_ms(100_000);
    assert!(started.step().await);
    assert_eq!(world.invocations(), [vec!["a", "b", "c"], vec!["b"]]);
    assert_eq!(started.queue.is_empty().await, Ok(true));
}

#[tokio::test]
async fn an_invalid_response_keeps_all_messages() {
    for response in [
        Err("boom".to_owned()),
        reports(&["7"]),
        Ok(json!({ "batchItemFailures": [{ "id": "1" }] })),
        Ok(json!({ "batchItemFailures": "1" })),
    ] {
        let world = World::new(vec![response.clone()]);
        let started = world.start(10);
        started.queue.send("a").await.unwrap();
        assert!(started.step().await);
        assert_eq!(started.queue.len().await, Ok(1), "{response:?}");
    }
}

#[tokio::test]
async fn a_function_may_change_the_visibility_of_its_message() {
    let world = World::new(vec![]);
    let started = world.start(1);
    started.queue.send("a").await.unwrap();
    let messages = started.poller.receive_batch().await.unwrap();
    // Acts like a snapshot worker that hands over its job to another invocation.
    let shown = started.queue.change_visibility(&messages[0].message.receipt, 0).await;
    assert_eq!(shown, Ok(true));
    world.function.responses.lock().unwrap().push(reports(&["1"]));
    started.poller.process_batch(messages).await;
    assert!(started.step().await, "visible immediately");
    assert_eq!(started.queue.is_empty().await, Ok(true));
}

#[tokio::test]
async fn moves_repeatedly_failing_messages_to_the_dead_letters() {
    let boom = || Err("boom".to_owned());
    let world = World::new(vec![boom(), boom(), boom(), boom()]);
    let started = world.start(1);
    started.queue.send("poison").await.unwrap();
    for _ in 0..MAX_RECEIVE_COUNT {
        assert!(started.step().await);
        world.clock.advance_ms(100_000);
    }
    assert!(!started.step().await);
    assert_eq!(started.dead_letters.len().await, Ok(1));
}

#[tokio::test]
async fn a_crash_during_an_invocation_loses_nothing() {
    let world = World::new(vec![]);
    let started = world.start(1);
    started.queue.send("a").await.unwrap();
    let messages = started.poller.receive_batch().await.unwrap();
    assert!(!messages.is_empty());
    drop((messages, started));
    let started = world.start(1);
    assert!(!started.step().await, "still hidden");
    world.clock.advance_ms(100_000);
    assert!(started.step().await);
    assert_eq!(world.invocations(), [["a"]]);
    let events = world.function.events.lock().unwrap();
    assert_eq!(events[0]["Records"][0]["attributes"]["ApproximateReceiveCount"], "2");
}

/// A function that sends each message to its queue again until `remaining` is 0.
struct Chain {
    queue: Arc<LocalQueue>,
    remaining: Mutex<u32>,
}

#[async_trait]
impl EventFunction for Chain {
    async fn invoke(&self, _: Value) -> Result<Value, String> {
        let is_last = {
            let mut remaining = self.remaining.lock().unwrap();
            *remaining -= 1;
            *remaining == 0
        };
        if !is_last {
            self.queue.send("next").await.unwrap();
        }
        Ok(Value::Null)
    }
}

/// Sends a message that causes `length` invocations in a chain. Returns how many of them ran.
async fn run_chain(length: u32, recursive_loop: Option<RecursiveLoop>) -> u32 {
    let world = World::new(vec![]);
    let mut started = world.start(1);
    let function = Arc::new(Chain { queue: started.queue.clone(), remaining: length.into() });
    let mut mapping = (*started.poller.mapping).clone();
    mapping.recursive_loop = recursive_loop.unwrap_or(mapping.recursive_loop);
    let (queue, clock) = (started.queue.clone(), world.clock.clone());
    started.poller = QueuePoller::new(mapping, queue, function.clone(), clock);
    started.queue.send("first").await.unwrap();
    while started.step().await {}
    length - *function.remaining.lock().unwrap()
}

#[tokio::test]
async fn drops_a_function_that_invokes_itself_too_often() {
    let terminate = Some(RecursiveLoop::Terminate);
    assert_eq!(run_chain(MAX_CHAIN_INVOCATIONS, terminate).await, MAX_CHAIN_INVOCATIONS);
    assert_eq!(run_chain(MAX_CHAIN_INVOCATIONS + 1, terminate).await, MAX_CHAIN_INVOCATIONS);
}

#[tokio::test]
async fn the_snapshot_function_may_invoke_itself_without_end() {
    assert_eq!(run_chain(3 * MAX_CHAIN_INVOCATIONS, None).await, 3 * MAX_CHAIN_INVOCATIONS);
}

/// Records the current and the maximum number of concurrent invocations.
#[derive(Default)]
struct Counting {
    in_progress: Mutex<(usize, usize)>,
}

#[async_trait]
impl EventFunction for Counting {
    async fn invoke(&self, _: Value) -> Result<Value, String> {
        {
            let mut in_progress = self.in_progress.lock().unwrap();
            in_progress.0 += 1;
            in_progress.1 = in_progress.1.max(in_progress.0);
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        self.in_progress.lock().unwrap().0 -= 1;
        Ok(Value::Null)
    }
}

#[tokio::test]
async fn limits_concurrent_invocations_and_waits_for_them() {
    let world = World::new(vec![]);
    let Started { poller, queue, .. } = world.start(1);
    for number in 0..12 {
        queue.send(&format!("{number}")).await.unwrap();
    }
    let function = Arc::new(Counting::default());
    let mapping = QueueMapping { max_concurrency: 3, ..(*poller.mapping).clone() };
    let clock = Arc::new(cellar_engine::system::SystemClock);
    let poller = QueuePoller::new(mapping, queue.clone(), function.clone(), clock);
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(poller.run(stopped));
    while !queue.is_empty().await.unwrap() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    stop.send_replace(true);
    running.await.unwrap();
    assert_eq!(*function.in_progress.lock().unwrap(), (0, 3));
}
