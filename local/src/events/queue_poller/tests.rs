//! Messages of a real durable queue, with a clock that does not wait.

use std::sync::Mutex;

use async_trait::async_trait;
use cellar_engine::memory::ManualClock;
use cellar_engine::ports::QueueRules;
use cellar_stacks::{Architecture, Config, cellar_stack};

use super::*;
use crate::names::Names;
use crate::queues::LocalQueue;
use crate::store::EventStore;

const MAX_RECEIVE_COUNT: u32 = 3;

/// A function that answers as it is told.
#[derive(Default)]
struct Scripted {
    answers: Mutex<Vec<Result<Value, String>>>,
    calls: Mutex<Vec<Value>>,
}

#[async_trait]
impl EventFunction for Scripted {
    async fn call(&self, event: Value) -> Result<Value, String> {
        self.calls.lock().unwrap().push(event);
        let mut answers = self.answers.lock().unwrap();
        if answers.is_empty() { Ok(json!({ "batchItemFailures": [] })) } else { answers.remove(0) }
    }
}

struct World {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    function: Arc<Scripted>,
}

/// A poller as a process that starts now has it, with its queues.
struct Started {
    poller: QueuePoller,
    queue: Arc<LocalQueue>,
    dead_letters: LocalQueue,
}

impl World {
    fn new(answers: Vec<Result<Value, String>>) -> Self {
        let function = Scripted { answers: Mutex::new(answers), ..Scripted::default() };
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

    fn calls(&self) -> Vec<Vec<String>> {
        let calls = self.function.calls.lock().unwrap();
        let bodies = |event: &Value| {
            let records = event["Records"].as_array().unwrap().iter();
            records.map(|record| record["body"].as_str().unwrap().to_owned()).collect()
        };
        calls.iter().map(bodies).collect()
    }
}

impl Started {
    /// One call with what the queue gives; false if it gives nothing.
    async fn step(&self) -> bool {
        match self.poller.receive().await.unwrap() {
            Some(messages) => {
                self.poller.call(messages).await;
                true
            }
            None => false,
        }
    }
}

fn reports(ids: &[&str]) -> Result<Value, String> {
    let items: Vec<_> = ids.iter().map(|id| json!({ "itemIdentifier": id })).collect();
    Ok(json!({ "batchItemFailures": items }))
}

#[tokio::test]
async fn what_is_done_is_deleted() {
    let world = World::new(vec![]);
    let started = world.start(1);
    for body in ["a", "b"] {
        started.queue.send(body).await.unwrap();
    }
    assert!(started.step().await && started.step().await && !started.step().await);
    assert_eq!(world.calls(), [["a"], ["b"]]);
    assert_eq!(started.queue.is_empty().await, Ok(true));
    let calls = world.function.calls.lock().unwrap();
    let record = &calls[0]["Records"][0];
    assert_eq!(record["attributes"]["ApproximateReceiveCount"], "1");
    assert_eq!(record["eventSourceARN"], "arn:aws:sqs:local:000000000000:cellar-SnapshotQueue");
}

#[tokio::test]
async fn what_is_reported_comes_back_and_the_rest_does_not() {
    let world = World::new(vec![reports(&["2"])]);
    let started = world.start(10);
    for body in ["a", "b", "c"] {
        started.queue.send(body).await.unwrap();
    }
    assert!(started.step().await);
    assert!(!started.step().await, "it is hidden for as long as the queue says");
    world.clock.advance_ms(100_000);
    assert!(started.step().await);
    assert_eq!(world.calls(), [vec!["a", "b", "c"], vec!["b"]]);
    assert_eq!(started.queue.is_empty().await, Ok(true));
}

#[tokio::test]
async fn an_answer_that_says_nothing_keeps_all_messages() {
    for answer in [
        Err("boom".to_owned()),
        reports(&["7"]),
        Ok(json!({ "batchItemFailures": [{ "id": "1" }] })),
        Ok(json!({ "batchItemFailures": "1" })),
    ] {
        let world = World::new(vec![answer.clone()]);
        let started = world.start(10);
        started.queue.send("a").await.unwrap();
        assert!(started.step().await);
        assert_eq!(started.queue.len().await, Ok(1), "{answer:?}");
    }
}

#[tokio::test]
async fn a_function_that_hides_its_message_itself_gets_it_back_then() {
    let world = World::new(vec![]);
    let started = world.start(1);
    started.queue.send("a").await.unwrap();
    let messages = started.poller.receive().await.unwrap().unwrap();
    // As the worker does when it hands over, in the middle of its call.
    let shown = started.queue.change_visibility(&messages[0].receipt, 0).await;
    assert_eq!(shown, Ok(true));
    world.function.answers.lock().unwrap().push(reports(&["1"]));
    started.poller.call(messages).await;
    assert!(started.step().await, "at once");
    assert_eq!(started.queue.is_empty().await, Ok(true));
}

#[tokio::test]
async fn what_fails_too_often_becomes_a_dead_letter() {
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
async fn a_kill_in_the_middle_of_a_call_loses_nothing() {
    let world = World::new(vec![]);
    let started = world.start(1);
    started.queue.send("a").await.unwrap();
    let messages = started.poller.receive().await.unwrap();
    assert!(messages.is_some());
    drop((messages, started));
    let started = world.start(1);
    assert!(!started.step().await, "it is hidden still");
    world.clock.advance_ms(100_000);
    assert!(started.step().await);
    assert_eq!(world.calls(), [["a"]]);
    let calls = world.function.calls.lock().unwrap();
    assert_eq!(calls[0]["Records"][0]["attributes"]["ApproximateReceiveCount"], "2");
}

/// A function that shows how many calls are under way at a time.
#[derive(Default)]
struct Counting {
    under_way: Mutex<(usize, usize)>,
}

#[async_trait]
impl EventFunction for Counting {
    async fn call(&self, _: Value) -> Result<Value, String> {
        {
            let mut under_way = self.under_way.lock().unwrap();
            under_way.0 += 1;
            under_way.1 = under_way.1.max(under_way.0);
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        self.under_way.lock().unwrap().0 -= 1;
        Ok(Value::Null)
    }
}

#[tokio::test]
async fn so_many_calls_run_at_a_time_and_all_end_before_it_stops() {
    let world = World::new(vec![]);
    let Started { poller, queue, .. } = world.start(1);
    for number in 0..12 {
        queue.send(&format!("{number}")).await.unwrap();
    }
    let function = Arc::new(Counting::default());
    let mapping = QueueMapping { concurrency: 3, ..(*poller.mapping).clone() };
    let clock = Arc::new(cellar_engine::system::SystemClock);
    let poller = QueuePoller::new(mapping, queue.clone(), function.clone(), clock);
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(poller.run(stopped));
    while !queue.is_empty().await.unwrap() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    stop.send_replace(true);
    running.await.unwrap();
    assert_eq!(*function.under_way.lock().unwrap(), (0, 3));
}
