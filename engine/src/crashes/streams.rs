//! Fault injection scenario that appends to an event stream until events are moved to batches. If a
//! command gets no response, the caller retries it as a new writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cellar_catalog::stream::append::AppendFault;
use cellar_catalog::stream::{SplitPolicy, StreamName, WriterId};

use super::run::Crashes;
use super::scenario::{Retry, Scenario};
use super::stored::Stored;
use super::{FaultyPorts, empty_ports};
use crate::streams::tests::Words;
use crate::streams::{CachedTip, StreamError, StreamStore, TransactError};

const TIP_EVENTS: usize = 2;

/// Words that the stream already contains are skipped.
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

fn stream_store(ports: &Arc<FaultyPorts>) -> StreamStore {
    let (streams, random) = (Arc::clone(ports) as _, Arc::clone(ports) as _);
    let policy = SplitPolicy { bytes: usize::MAX, events: TIP_EVENTS };
    StreamStore::new(streams, Arc::clone(&ports.clock) as _, random).with_split_policy(policy)
}

async fn add(
    store: &StreamStore,
    word: &String,
) -> Result<Vec<String>, TransactError<&'static str>> {
    let decider = Words { keeps: true };
    let mut words =
        store.transact(&decider, &name(), word, writer(), CachedTip::Unknown).await?.state;
    // Other writers may have added words after this word, and a delayed call may have read them.
    // Remove these words, so that each call returns the same words.
    let word_index = words.iter().position(|stored_word| stored_word == word).unwrap();
    words.truncate(word_index + 1);
    Ok(words)
}

impl Scenario for Adding {
    type Process = StreamStore;
    type Caller = ();
    type Answer = Vec<String>;

    fn step_count(&self) -> usize {
        self.words.len()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> StreamStore {
        stream_store(ports)
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

    fn assert_after_failure(&self, stored: &Stored, context: &str) {
        assert_once(stored, context);
    }

    fn assert_final(&self, stored: &Stored, _: &[Vec<String>], context: &str) {
        assert_once(stored, context);
    }
}

fn assert_once(stored: &Stored, context: &str) {
    let mut words = Vec::new();
    for (first_index, events) in &stored.streams {
        assert_eq!(*first_index, u64::try_from(words.len()).unwrap(), "{context}: a gap");
        words.extend(events);
    }
    let word_count = words.len();
    words.sort();
    words.dedup();
    assert_eq!(words.len(), word_count, "{context}: a word was added twice");
}

async fn prepare_additions(before: usize, words: usize) -> Crashes<Adding> {
    let ports = empty_ports();
    for number in 0..before {
        add(&stream_store(&ports), &format!("before{number}")).await.unwrap();
    }
    ports.faults.take_request_count();
    let words = (0..words).map(|number| format!("word{number}")).collect();
    Crashes::new(Adding { words }, ports).await
}

#[tokio::test]
async fn an_append_to_a_stream_survives() {
    // Each append needs only one read and one write, even if it moves events to a batch.
    for before in 0..=TIP_EVENTS {
        let crashes = prepare_additions(before, 1).await;
        assert_eq!(crashes.requests(), 2);
        assert_eq!(crashes.stored().streams.len(), 1 + before / TIP_EVENTS);
        crashes.inject_each_fault().await;
    }
    prepare_additions(0, 5).await.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_appends_to_a_stream_survive_whatever_two_requests_fail() {
    for before in 0..=TIP_EVENTS {
        prepare_additions(before, 3).await.inject_each_pair_of_faults().await;
    }
}
