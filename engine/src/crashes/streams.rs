//! Scenario for commands that create, update and split the tip (latest item) of an event stream.
//! The caller retries a command that got no response as a new writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cellar_catalog::stream::append::AppendFault;
use cellar_catalog::stream::{SplitPolicy, StreamName, WriterId};

use super::run::Crashes;
use super::scenario::{Retry, Scenario};
use super::stored::Stored;
use super::{FaultyPorts, empty};
use crate::streams::tests::Words;
use crate::streams::{CachedTip, StreamError, StreamStore, TransactError};

/// Maximum number of events in a tip.
const TIP_EVENTS: usize = 2;

/// Adds words in order, skipping words that the stream already contains.
struct Adding {
    words: Vec<String>,
}

fn name() -> StreamName {
    "Words-1".parse().unwrap()
}

/// Returns a different writer id on each call.
fn writer() -> WriterId {
    static CALLS: AtomicU64 = AtomicU64::new(1);
    let call = CALLS.fetch_add(1, Ordering::SeqCst);
    WriterId(u128::from(call).to_le_bytes())
}

fn store(ports: &Arc<FaultyPorts>) -> StreamStore {
    let (streams, random) = (Arc::clone(ports) as _, Arc::clone(ports) as _);
    let policy = SplitPolicy { bytes: usize::MAX, events: TIP_EVENTS };
    StreamStore::new(streams, Arc::clone(&ports.clock) as _, random).with_split_policy(policy)
}

async fn add(
    store: &StreamStore,
    word: &String,
) -> Result<Vec<String>, TransactError<&'static str>> {
    let decider = Words { keeps: true };
    let added = store.transact(&decider, &name(), word, writer(), CachedTip::Unknown).await;
    // Drop later words, which a delayed call may also have read.
    added.map(|mut added| {
        let at = added.state.iter().position(|known| known == word).unwrap();
        added.state.truncate(at + 1);
        added.state
    })
}

impl Scenario for Adding {
    type Process = StreamStore;
    type Caller = ();
    type Answer = Vec<String>;

    fn steps(&self) -> usize {
        self.words.len()
    }

    fn process(&self, ports: &Arc<FaultyPorts>) -> StreamStore {
        store(ports)
    }

    async fn step(&self, store: &StreamStore, (): &(), step: usize) -> Result<Vec<String>, Retry> {
        add(store, &self.words[step]).await.map_err(|error| match error {
            TransactError::Stream(
                StreamError::Store(_)
                | StreamError::Append(
                    AppendFault::Store | AppendFault::OutcomeUnknown | AppendFault::Contention,
                ),
            ) => Retry(error.to_string()),
            error => panic!("no client retries after this error: {error:?}"),
        })
    }

    fn assert_between(&self, stored: &Stored, what: &str) {
        assert_once(stored, what);
    }

    fn assert_ended(&self, stored: &Stored, _: &[Vec<String>], what: &str) {
        assert_once(stored, what);
    }
}

/// Asserts that the stream contains each word once, without gaps between its items.
fn assert_once(stored: &Stored, what: &str) {
    let mut words = Vec::new();
    for (first, events) in &stored.streams {
        assert_eq!(*first, u64::try_from(words.len()).unwrap(), "{what}: a gap");
        words.extend(events);
    }
    let all = words.len();
    words.sort();
    words.dedup();
    assert_eq!(words.len(), all, "{what}: a word was added twice");
}

/// Runs the scenario on a stream that already contains `before` words.
async fn adding(before: usize, words: usize) -> Crashes<Adding> {
    let ports = empty();
    for number in 0..before {
        add(&store(&ports), &format!("before{number}")).await.unwrap();
    }
    ports.faults.take_requests();
    let words = (0..words).map(|number| format!("word{number}")).collect();
    Crashes::new(Adding { words }, ports).await
}

#[tokio::test]
async fn an_append_to_a_stream_survives() {
    // Creating, updating or splitting a tip costs one read and one write.
    for before in 0..=TIP_EVENTS {
        let crashes = adding(before, 1).await;
        assert_eq!(crashes.requests(), 2);
        assert_eq!(crashes.stored().streams.len(), 1 + before / TIP_EVENTS);
        crashes.at_each_request().await;
    }
    adding(0, 5).await.at_each_request().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_appends_to_a_stream_survive_whatever_two_requests_fail() {
    for before in 0..=TIP_EVENTS {
        adding(before, 3).await.at_any_two_requests().await;
    }
}
