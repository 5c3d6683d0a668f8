//! Tests of the event stream store with an in-memory table that injects faults.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cellar_base::limits::MAX_DECIDE_ATTEMPTS;
use cellar_catalog::stream::append::AppendFault;
use cellar_catalog::stream::{
    Decider, Encoded, EventBatch, Kind, SplitPolicy, StreamName, Tip, UnreadableEvent, Update,
    WriterId,
};

use super::{CachedTip, StreamError, StreamStore, TransactError};
use crate::memory::{ManualClock, MemoryStreams};
use crate::ports::{PortError, Random, ReadConsistency, StreamOutcome, Streams};

/// A decider whose state is a list of words. A command adds a word unless the list already contains
/// it. An empty word is rejected.
pub(crate) struct Words {
    /// Whether the state is stored in the latest stream item.
    pub(crate) keeps: bool,
}

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
        match command.as_str() {
            "" => Err("a word has letters"),
            word if state.iter().any(|known| known == word) => Ok(vec![]),
            word => Ok(vec![word.to_owned()]),
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
        let state = || Encoded::new(Kind::new("Words").unwrap(), state.join(" ").into_bytes());
        self.keeps.then(state)
    }

    fn refold(&self, _: &Kind, data: &[u8]) -> Option<Vec<String>> {
        let words = std::str::from_utf8(data).ok()?;
        Some(words.split(' ').map(str::to_owned).collect())
    }
}

/// Fault injected into the next request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FaultPlan {
    None,
    /// The write succeeds, but the response is lost.
    ReplyLost,
    /// The write gets no response and takes effect late, after a later write.
    Late,
    Throttled,
    ReadFails,
    /// Another process appends an event before the write.
    Overtaken,
    /// The read misses existing data.
    Stale,
}

/// A delayed write.
type Late = (Option<EventBatch>, Option<Update>, Option<Tip>);

#[derive(Default)]
struct Faulty {
    table: Arc<MemoryStreams>,
    planned: Mutex<VecDeque<FaultPlan>>,
    late: Mutex<Vec<Late>>,
    reads: Mutex<u32>,
    writes: Mutex<u32>,
    others: Mutex<u32>,
}

impl Faulty {
    fn next(&self) -> FaultPlan {
        self.planned.lock().unwrap().pop_front().unwrap_or(FaultPlan::None)
    }

    async fn write(
        &self,
        batch: Option<&EventBatch>,
        update: Option<&Update>,
        tip: Option<&Tip>,
    ) -> StreamOutcome {
        *self.writes.lock().unwrap() += 1;
        let lost = || StreamOutcome::Unknown(PortError::temporary("the reply is lost"));
        match self.next() {
            FaultPlan::ReplyLost => {
                apply(&self.table, batch, update, tip).await;
                return lost();
            }
            FaultPlan::Late => {
                let late = (batch.cloned(), update.cloned(), tip.cloned());
                self.late.lock().unwrap().push(late);
                return lost();
            }
            FaultPlan::Throttled => return StreamOutcome::Throttled(PortError::temporary("busy")),
            FaultPlan::Overtaken => self.overtake().await,
            FaultPlan::None | FaultPlan::ReadFails | FaultPlan::Stale => {}
        }
        let outcome = apply(&self.table, batch, update, tip).await;
        let late = std::mem::take(&mut *self.late.lock().unwrap());
        for (batch, update, tip) in late {
            apply(&self.table, batch.as_ref(), update.as_ref(), tip.as_ref()).await;
        }
        outcome
    }

    /// Appends a word, as another process would.
    async fn overtake(&self) {
        let number = {
            let mut others = self.others.lock().unwrap();
            *others += 1;
            *others
        };
        let store = store(self.table.clone());
        let writer = WriterId([0xee; 16].map(|byte| byte ^ number.to_le_bytes()[0]));
        let word = format!("other{number}");
        store
            .transact(&Words { keeps: true }, &name(), &word, writer, CachedTip::Unknown)
            .await
            .unwrap();
    }
}

async fn apply(
    table: &MemoryStreams,
    batch: Option<&EventBatch>,
    update: Option<&Update>,
    tip: Option<&Tip>,
) -> StreamOutcome {
    match (batch, update, tip) {
        (Some(batch), Some(update), _) => table.split_off(batch, update).await,
        (None, Some(update), _) => table.update(update).await,
        (_, None, Some(tip)) => table.put_first(tip).await,
        (_, None, None) => panic!("nothing to write"),
    }
}

#[async_trait]
impl Streams for Faulty {
    async fn tip(
        &self,
        name: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        *self.reads.lock().unwrap() += 1;
        match self.next() {
            FaultPlan::ReadFails => Err(PortError::temporary("no answer")),
            FaultPlan::Stale if !consistency.is_strong() => Ok(None),
            _ => self.table.tip(name, consistency).await,
        }
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        *self.reads.lock().unwrap() += 1;
        match self.next() {
            FaultPlan::ReadFails => Err(PortError::temporary("no answer")),
            FaultPlan::Stale if !consistency.is_strong() => Ok(vec![]),
            _ => self.table.batches_before(name, below, consistency).await,
        }
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        self.write(None, None, Some(tip)).await
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        self.write(None, Some(update), None).await
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        self.write(Some(batch), Some(update), None).await
    }
}

struct Zero;

impl Random for Zero {
    fn next(&self) -> u64 {
        0
    }
}

fn name() -> StreamName {
    "Words-1".parse().unwrap()
}

fn store(streams: Arc<dyn Streams>) -> StreamStore {
    let policy = SplitPolicy { bytes: usize::MAX, events: 2 };
    StreamStore::new(streams, Arc::new(ManualClock::at(1_795_246_133_000)), Arc::new(Zero))
        .with_split_policy(policy)
}

/// Returns a store with the given injected faults. Its stream contains the given words.
async fn fixture(words: &[&str]) -> (Arc<Faulty>, StreamStore) {
    let faulty = Arc::new(Faulty::default());
    let store = store(faulty.clone());
    for (number, word) in words.iter().enumerate() {
        let writer = WriterId([u8::try_from(number).unwrap(); 16]);
        let decider = Words { keeps: false };
        store
            .transact(&decider, &name(), &(*word).to_owned(), writer, CachedTip::Unknown)
            .await
            .unwrap();
    }
    (*faulty.reads.lock().unwrap(), *faulty.writes.lock().unwrap()) = (0, 0);
    (faulty, store)
}

const OWN: WriterId = WriterId([0xaa; 16]);

async fn add(
    store: &StreamStore,
    word: &str,
    known: CachedTip,
) -> Result<Vec<String>, TransactError<&'static str>> {
    let decider = Words { keeps: true };
    let added = store.transact(&decider, &name(), &word.to_owned(), OWN, known).await?;
    assert_eq!(added.next, u64::try_from(added.state.len()).unwrap());
    Ok(added.state)
}

async fn words(store: &StreamStore) -> String {
    // Without cached states, the state is rebuilt from all events.
    let all = store.load(&Words { keeps: false }, &name(), ReadConsistency::Strong).await.unwrap();
    all.state.join(" ")
}

impl Faulty {
    fn plan(&self, planned: &[FaultPlan]) {
        *self.planned.lock().unwrap() = planned.iter().copied().collect();
    }

    fn requests(&self) -> (u32, u32) {
        (*self.reads.lock().unwrap(), *self.writes.lock().unwrap())
    }
}

#[tokio::test]
async fn a_cached_tip_needs_no_read() {
    let (faulty, store) = fixture(&[]).await;
    let first = store
        .transact(&Words { keeps: true }, &name(), &"a".into(), OWN, CachedTip::Tip(None))
        .await
        .unwrap();
    assert_eq!((first.events, first.next), (vec!["a".to_owned()], 1));
    assert_eq!(faulty.requests(), (0, 1));
    let state = add(&store, "b", CachedTip::Tip(first.tip)).await.unwrap();
    assert_eq!((state.join(" "), faulty.requests()), ("a b".to_owned(), (0, 2)));
    // The third append moves events to a batch. The latest item contains a cached state, so the
    // batch need not be read.
    add(&store, "c", CachedTip::Unknown).await.unwrap();
    assert_eq!(faulty.requests(), (1, 3));
    assert_eq!(words(&store).await, "a b c");
    assert_eq!(faulty.requests(), (2, 3));
}

#[tokio::test]
async fn reads_event_batches_without_an_unfold() {
    let (faulty, store) = fixture(&["a", "b", "c", "d", "e", "f", "g"]).await;
    assert_eq!(words(&store).await, "a b c d e f g");
    // The requests read the latest item, a page of two event batches, and a page of one event
    // batch.
    assert_eq!(faulty.requests(), (3, 0));
    // If a stale read misses a page of event batches, the page is read again.
    faulty.plan(&[FaultPlan::None, FaultPlan::Stale, FaultPlan::Stale]);
    assert_eq!(words(&store).await, "a b c d e f g");
    assert_eq!(faulty.requests(), (3 + 4, 0));
}

#[tokio::test]
async fn a_conflict_is_decided_again_without_a_read() {
    let (faulty, store) = fixture(&["a"]).await;
    faulty.plan(&[FaultPlan::None, FaultPlan::Overtaken]);
    assert_eq!(add(&store, "b", CachedTip::Unknown).await.unwrap().join(" "), "a other1 b");
    assert_eq!(faulty.requests().1, 2);
    assert_eq!(words(&store).await, "a other1 b");
}

#[tokio::test]
async fn rejects_only_on_a_current_state() {
    let (faulty, store) = fixture(&["a"]).await;
    for (word, refused) in [("a", false), ("", true)] {
        let requests = faulty.requests();
        let added = add(&store, word, CachedTip::Unknown).await;
        assert_eq!(added.is_err(), refused);
        assert_eq!(faulty.requests(), (requests.0 + 2, requests.1));
    }
    assert_eq!(
        add(&store, "", CachedTip::Unknown).await,
        Err(TransactError::Rejected("a word has letters"))
    );
    // If a stale read misses the existing stream, one more write is required.
    faulty.plan(&[FaultPlan::Stale]);
    assert_eq!(add(&store, "b", CachedTip::Unknown).await.unwrap().join(" "), "a b");
}

#[tokio::test]
async fn a_word_is_added_once_despite_faults() {
    use FaultPlan::{Late, None, Overtaken, ReadFails, ReplyLost, Throttled};
    for length in 0..5 {
        for plan in [
            &[None, ReplyLost][..],
            &[None, ReplyLost, ReadFails],
            &[None, Late],
            &[None, Late, None, Late],
            &[None, Late, None, Overtaken],
            &[None, Late, ReadFails, Overtaken],
            &[None, Throttled, Overtaken, Late, None, ReplyLost],
            &[ReadFails, Late, None, ReplyLost, None, Overtaken],
            &[None, Overtaken, Overtaken, ReplyLost],
        ] {
            let before = &["a", "b", "c", "d"][..length];
            let (faulty, store) = fixture(before).await;
            faulty.plan(plan);
            let state = add(&store, "own", CachedTip::Unknown).await.unwrap();
            let all = words(&store).await;
            assert_eq!(all.split(' ').filter(|word| *word == "own").count(), 1, "{plan:?}: {all}");
            assert!(all.starts_with(&state.join(" ")), "{plan:?}: {all}, decided {state:?}");
            assert!(all.starts_with(&before.join(" ")), "{plan:?}: {all}");
        }
    }
}

#[tokio::test]
async fn bounds_the_attempts_of_a_command() {
    let losses = usize::try_from(MAX_DECIDE_ATTEMPTS).unwrap();
    for (losses, succeeds) in [(losses - 1, true), (losses, false)] {
        let (faulty, store) = fixture(&["a"]).await;
        faulty.plan(&[vec![FaultPlan::None], vec![FaultPlan::Overtaken; losses]].concat());
        let added = add(&store, "b", CachedTip::Unknown).await;
        match succeeds {
            true => assert!(added.is_ok()),
            false => assert_eq!(added, Err(StreamError::Contention.into())),
        }
    }
}

#[tokio::test]
async fn rejects_an_oversized_event_before_the_write() {
    let (faulty, store) = fixture(&[]).await;
    // Use random text, which does not compress.
    let mut state = 1_u32;
    let long: String = (0..600_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + (state >> 24).to_le_bytes()[0] % 90)
        })
        .collect();
    let refused = add(&store, &long, CachedTip::Tip(None)).await.unwrap_err();
    let fault = TransactError::Stream(StreamError::Append(AppendFault::TooLarge { bytes: 0 }));
    assert_eq!(std::mem::discriminant(&refused), std::mem::discriminant(&fault));
    assert!(refused.to_string().contains("358400"), "{refused}");
    assert_eq!(faulty.requests().1, 0);
}
