//! Forks: inherited and own entries, and faults during their creation.

mod comparisons;

use cellar_base::consistency::ReadConsistency;
use cellar_base::limits::{
    MAX_CACHED_LINEAGES, MAX_FORK_ATTEMPTS, MAX_FORK_DEPTH, MAX_LISTED_FORKS,
};
use cellar_log::lineage::Lineage;
use cellar_log::records::fork::{ListedFork, list_number};
use cellar_log::upkeep::LogPolicy;

use super::super::inherited::LineageCache;
use super::*;
use crate::logs::{ForkFault, Forked, NewFork, UpkeepOutcome};

fn alice() -> SubjectKey {
    SubjectKey::new("cellar", "alice")
}

fn fork_of(source: LogId, nonce: &str, at: Option<Position>) -> NewFork {
    let log = LogId::derive_fork(&alice(), source, nonce).unwrap();
    NewFork { log, source, at, author: Some("alice".into()) }
}

async fn forked(logs: &Logs, source: LogId, nonce: &str, at: Option<Position>) -> LogId {
    let new = fork_of(source, nonce, at);
    logs.fork(new.clone()).await.unwrap();
    new.log
}

fn edit(log: LogId, client: u8, id: u64, base: Position, row: u32, text: &str) -> Request {
    let mutations = vec![NewMutation { id, base, operation: set(row, text) }];
    Request::new(log, ClientKey([client; 8]), None, FIRST_INCARNATION, id - 1, mutations).unwrap()
}

/// Returns the texts of column A at a position.
async fn column(logs: &Logs, log: LogId, at: Option<Position>) -> Vec<String> {
    let read = logs.cells(log, &everything(at)).await.unwrap();
    read.cells.iter().map(|placed| placed.cell.text()).collect()
}

/// Creates a log with the rows "1", "2", …, each by one edit, and with segments of
/// `segment_entries` entries.
async fn source(tables: &Arc<MemoryTables>, edits: u64, segment_entries: u32) -> LogId {
    let service = logs(tables);
    service.create(log(), Some("bob".into())).await.unwrap();
    for id in 1..=edits {
        let mut tail = service.head(log(), None).await.unwrap().head;
        if tail.entry_number() + 2 >= segment_entries {
            let (first, end) = (tail.next_segment().unwrap(), tail.next_in_segment().unwrap());
            let entry = Entry::first(log(), None, 0);
            let segment = Segment { num: first.segment(), ..opened() };
            let end = Entry { position: end, content: Content::EndSegment, ..entry.clone() };
            let first = Entry { position: first, ..entry };
            tail = first.position;
            let rolled = tables.roll(&Transaction { end, segment, first }).await;
            assert_eq!(rolled, CreateOutcome::Created);
        }
        let row = u32::try_from(id).unwrap();
        service.append(edit(log(), 1, id, tail, row, &id.to_string())).await.unwrap();
    }
    log()
}

fn opened() -> Segment {
    let (last_snapshot, offloaded, lineage) = (None, None, None);
    Segment { log: log(), num: 0, created_s: 0, last_snapshot, offloaded, lineage }
}

#[tokio::test]
async fn a_fork_starts_as_its_source_and_diverges() {
    let tables = Arc::new(MemoryTables::default());
    let (service, source) = (logs(&tables), source_of_one(&tables).await);
    let fork = forked(&service, source, "what if", Some(at(0, 2))).await;
    for service in [&service, &logs(&tables)] {
        assert_eq!(column(service, fork, None).await, ["1", "2"]);
        assert_eq!(column(service, fork, Some(at(0, 1))).await, ["1"]);
        let positions: Vec<Position> =
            all(service, fork).await.iter().map(|e| e.position).collect();
        assert_eq!(positions, [at(0, 0), at(0, 1), at(0, 2), at(0, 3), at(1, 0)]);
    }
    assert_eq!(service.head(fork, None).await.unwrap().head, at(1, 0));
    service.append(edit(fork, 2, 1, at(0, 1), 9, "fork")).await.unwrap();
    service.append(edit(source, 2, 1, at(0, 1), 9, "source")).await.unwrap();
    assert_eq!(column(&logs(&tables), fork, None).await, ["1", "2", "fork"]);
    assert_eq!(column(&logs(&tables), source, None).await, ["1", "2", "3", "source"]);
}

async fn source_of_one(tables: &Arc<MemoryTables>) -> LogId {
    source(tables, 3, 1_000).await
}

async fn all(logs: &Logs, log: LogId) -> Vec<Arc<Entry>> {
    let loaded = logs.load(log, None).await.unwrap();
    assert_eq!(loaded.next, None);
    loaded.entries
}

#[tokio::test]
async fn a_fork_reads_like_its_source_up_to_the_fork_position() {
    let tables = Arc::new(MemoryTables::default());
    let source = source(&tables, 12, 3).await;
    let service = logs(&tables);
    let history = service.history(source, None, 1_000).await.unwrap().entries;
    assert!(history[0].position.segment() >= 3, "several segments");
    for (number, shared) in history.iter().enumerate() {
        let at = shared.position;
        let fork = forked(&service, source, &number.to_string(), Some(at)).await;
        let fresh = logs(&tables);
        // Reads forward, backward and by cells.
        let own = fresh.history(fork, None, 1_000).await.unwrap().entries;
        let inherited: Vec<_> = own.iter().filter(|entry| entry.position <= at).collect();
        assert_eq!(inherited.len(), history.len() - number);
        for (own, theirs) in inherited.iter().zip(&history[number..]) {
            assert_eq!(***own, Entry { log: fork, ..theirs.as_ref().clone() });
        }
        let first = at.next_segment().unwrap();
        assert_eq!(fresh.head(fork, None).await.unwrap().head, first);
        let ended = shared.content == Content::EndSegment;
        assert_eq!(own.len(), inherited.len() + if ended { 1 } else { 2 });
        for position in [Some(at), None] {
            let there = column(&fresh, fork, position).await;
            assert_eq!(there, column(&service, source, Some(at)).await, "{at} {position:?}");
        }
        let id = u64::try_from(there_edits(&history[number..])).unwrap() + 1;
        let appended = fresh.append(edit(fork, 1, id, at, 50, "own")).await.unwrap();
        assert_eq!(appended.tail, first.next_in_segment().unwrap());
        assert_eq!(column(&logs(&tables), fork, None).await.last().unwrap(), "own");
    }
    // The reads left the source unchanged.
    assert_eq!(service.history(source, None, 1_000).await.unwrap().entries, history);
}

fn there_edits(history: &[Arc<Entry>]) -> usize {
    history.iter().filter(|entry| entry.edits().is_some()).count()
}

#[tokio::test]
async fn only_inherited_mutations_are_duplicates_in_a_fork() {
    let tables = Arc::new(MemoryTables::default());
    let source = source_of_one(&tables).await;
    let service = logs(&tables);
    let fork = forked(&service, source, "f", Some(at(0, 2))).await;
    let fresh = logs(&tables);
    let repeated = edit(fork, 1, 2, at(0, 1), 2, "2");
    let repeated = fresh.append(repeated).await.unwrap();
    assert!(repeated.results[0].duplicate && repeated.results[0].position == Some(at(0, 2)));
    // The third mutation was appended to the source after the fork, so it is new in the fork.
    let third = fresh.append(edit(fork, 1, 3, at(0, 2), 3, "3")).await.unwrap();
    assert!(!third.results[0].duplicate && third.results[0].position == Some(at(1, 1)));
    let gap = fresh.append(edit(fork, 1, 9, at(0, 2), 3, "9")).await;
    assert!(matches!(gap, Ok(_) | Err(LogError::Refused(Refusal::Gap { .. }))), "{gap:?}");
}

#[tokio::test]
async fn nested_forks_are_readable_up_to_the_maximum_depth() {
    let tables = Arc::new(MemoryTables::default());
    let (mut log, service) = (source_of_one(&tables).await, logs(&tables));
    for depth in 1..=MAX_FORK_DEPTH {
        let fork = forked(&service, log, "deeper", None).await;
        let tail = service.head(fork, None).await.unwrap().head;
        let text = format!("at {depth}");
        service.append(edit(fork, 2, u64::from(depth), tail, 10 + depth, &text)).await.unwrap();
        log = fork;
    }
    let fresh = logs(&tables);
    let there = column(&fresh, log, None).await;
    assert_eq!((there.len(), there[0].as_str()), (3 + 16, "1"));
    assert_eq!(fresh.family(log).await.unwrap(), super::log());
    let deeper = fresh.fork(fork_of(log, "deeper", None)).await;
    assert_eq!(deeper, Err(LogError::Fork(ForkFault::TooDeep)));
    // An inherited position is forked in the source, so the fork is not nested deeper.
    let forked = fresh.fork(fork_of(log, "early", Some(at(0, 1)))).await.unwrap();
    assert_eq!((forked.source, forked.position), (super::log(), at(0, 1)));
    // The derived End Segment of a fork can be forked as well; positions after it cannot.
    let first = LogId::derive_fork(&alice(), super::log(), "deeper").unwrap();
    let forked = fresh.fork(fork_of(first, "end", Some(at(0, 4)))).await.unwrap();
    assert_eq!((forked.source, forked.position, forked.head), (super::log(), at(0, 3), at(1, 0)));
    let beyond = fresh.fork(fork_of(first, "beyond", Some(at(0, 5)))).await;
    assert_eq!(beyond, Err(LogError::NoSuchPosition { at: at(0, 5), newest: at(1, 1) }));
}

/// Each request in the life of a fork fails once, before and after it takes effect.
#[tokio::test]
async fn any_lost_reply_leaves_one_fork() {
    for fault in [Fault::Refused, Fault::ReplyLost] {
        for faulty_call in 0..16 {
            let tables = faulty(faulty_call, fault);
            logs(&tables).create(log(), None).await.unwrap();
            logs(&tables).append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
            let new = fork_of(log(), "f", None);
            let first = logs(&tables).fork(new.clone()).await.unwrap();
            let again = logs(&tables).fork(new.clone()).await.unwrap();
            assert_eq!(again, Forked { existed: true, ..first });
            assert_eq!((first.position, first.head), (at(0, 1), at(1, 0)));
            let edit = edit(new.log, 2, 1, at(0, 1), 5, "two");
            assert_eq!(logs(&tables).append(edit).await.unwrap().tail, at(1, 1));
            assert_eq!(column(&logs(&tables), new.log, None).await, ["one", "two"]);
            let listed = logs(&tables).forks(log(), None).await.unwrap();
            assert_eq!(listed.forks.len(), 1);
            assert_eq!(listed.forks[0].fork, new.log);
        }
    }
}

#[tokio::test]
async fn a_repeated_fork_returns_the_existing_fork() {
    let tables = Arc::new(MemoryTables::default());
    let (source, service) = (source_of_one(&tables).await, logs(&tables));
    let newest = service.fork(fork_of(source, "newest", None)).await.unwrap();
    service.append(edit(source, 1, 4, at(0, 3), 4, "4")).await.unwrap();
    // The newest position has changed since; the existing fork has not.
    let again = logs(&tables).fork(fork_of(source, "newest", None)).await.unwrap();
    assert_eq!(again, Forked { existed: true, ..newest });
    assert_eq!(again.position, at(0, 3));
    let other = logs(&tables).fork(fork_of(source, "newest", Some(at(0, 1)))).await;
    let position = at(0, 3);
    assert_eq!(other, Err(LogError::Fork(ForkFault::OtherPosition { position })));
    let none = service.fork(fork_of(source, "x", Some(at(0, 9)))).await;
    assert_eq!(none, Err(LogError::NoSuchPosition { at: at(0, 9), newest: at(0, 4) }));
    let nowhere = LogId::derive(&alice(), "nowhere").unwrap();
    for at in [None, Some(at(0, 0))] {
        let none = service.fork(fork_of(nowhere, "x", at)).await;
        assert_eq!(none, Err(LogError::NotFound));
    }
    assert_eq!(service.forks(nowhere, None).await, Err(LogError::NotFound));
}

#[tokio::test]
async fn lists_forks_of_the_same_millisecond_once_each() {
    let tables = Arc::new(MemoryTables::default());
    let source = source_of_one(&tables).await;
    // The clock does not advance, so that all forks request the same number, one of them twice.
    let service = Arc::new(logs(&tables));
    let made: Vec<_> = (0..40)
        .map(|number| {
            let service = Arc::clone(&service);
            let new = fork_of(source, &(number / 2).to_string(), None);
            tokio::spawn(async move { service.fork(new).await.unwrap().existed })
        })
        .collect();
    let mut existed = 0;
    for made in made {
        existed += usize::from(made.await.unwrap());
    }
    assert_eq!(existed, 20);
    assert_eq!(service.forks(source, None).await.unwrap().forks.len(), 20);
}

#[tokio::test]
async fn never_writes_at_inherited_positions() {
    let tables = Arc::new(MemoryTables::default());
    let (source, service) = (source_of_one(&tables).await, logs(&tables));
    let fork = forked(&service, source, "f", Some(at(0, 2))).await;
    // A process whose newest cached entry is inherited: upkeep appends nothing.
    let fresh = logs(&tables);
    let inherited = fresh.get_entry(fork, at(0, 1)).await.unwrap().unwrap();
    fresh.cache_entries(&[inherited]);
    let eager = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    let upkept = fresh.upkeep(fork, &eager).await.unwrap();
    assert!(matches!(upkept, UpkeepOutcome::Nothing), "{upkept:?}");
    // Even a faulty append machine could not write at an inherited position.
    let refused = fresh.check_not_inherited(fork, at(0, 9)).await;
    assert!(refused.is_err_and(|error| !error.temporary));
    assert_eq!(fresh.check_not_inherited(fork, at(1, 1)).await, Ok(()));
    assert_eq!(fresh.check_not_inherited(source, at(0, 9)).await, Ok(()));
    assert_eq!(tables.page(fork, at(0, 0), ReadConsistency::Strong).await.unwrap().entries, []);
}

#[tokio::test]
async fn skips_a_taken_number_in_the_list_of_forks() {
    let tables = Arc::new(MemoryTables::default());
    let (source, service) = (source_of_one(&tables).await, logs(&tables));
    let (one, two) = (fork_of(source, "one", None), fork_of(source, "two", None));
    service.fork(one.clone()).await.unwrap();
    let listed = service.forks(source, None).await.unwrap().forks.remove(0);
    // The second fork requests a number that another fork has.
    let number = list_number(two.log, StoppedClock.now_ms());
    take_place(&tables, &listed, number).await;
    assert!(!service.fork(two.clone()).await.unwrap().existed);
    let listed = service.forks(source, None).await.unwrap().forks;
    assert!(listed.iter().any(|listed| listed.fork == two.log && listed.number > number));
}

#[tokio::test]
async fn reads_a_stale_source_again() {
    let tables = Arc::new(disturbed_tables::DisturbedTables::default());
    let service = logs(&tables);
    service.create(log(), None).await.unwrap();
    for id in 1..=3 {
        let base = at(0, u32::try_from(id).unwrap() - 1);
        service.append(edit(log(), 1, id, base, u32::try_from(id).unwrap(), "x")).await.unwrap();
    }
    let fork = forked(&service, log(), "f", None).await;
    tables.hide_from(at(0, 2));
    for base in 0..=3 {
        let fresh = logs(&tables);
        assert_eq!(column(&fresh, fork, None).await.len(), 3 + usize::from(base > 0));
        let fresh = logs(&tables);
        let edit = edit(fork, 10 + base, 1, at(0, u32::from(base)), 9, "own");
        assert_eq!(fresh.append(edit).await.unwrap().tail, at(1, u32::from(base) + 1));
    }
    assert_eq!(tables.page(fork, at(0, 0), ReadConsistency::Strong).await.unwrap().entries, []);
}

#[test]
fn bounds_the_cached_lineages() {
    let known = LineageCache::default();
    let id = |number: usize| LogId::from_uuid(uuid::Uuid::from_u128(number as u128));
    for number in 0..MAX_CACHED_LINEAGES {
        known.insert(id(number), None);
    }
    known.insert(id(0), None);
    assert_eq!(known.get(id(MAX_CACHED_LINEAGES - 1)), Some(None::<Lineage>));
    known.insert(id(MAX_CACHED_LINEAGES), None);
    assert_eq!(known.get(id(0)), None);
    assert_eq!(known.get(id(MAX_CACHED_LINEAGES)), Some(None));
}

/// A pseudo-random generator with a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// The expected entries of a log, and the ids of its clients.
#[derive(Clone)]
struct Expected {
    log: LogId,
    entries: Vec<Entry>,
    next_id: u64,
}

impl Expected {
    fn tail(&self) -> &Entry {
        self.entries.last().unwrap()
    }
}

async fn roll_now(tables: &Arc<MemoryTables>, expected: &mut Expected) {
    let Expected { log, entries, .. } = expected;
    let tail = entries.last().unwrap().clone();
    let first = tail.position.next_segment().unwrap();
    let entry = |position, content| Entry { log: *log, position, content, ..tail.clone() };
    let end = entry(tail.position.next_in_segment().unwrap(), Content::EndSegment);
    let end = Entry { author: None, ..end };
    let header = Header::first(FIRST_INCARNATION);
    let content = Content::Snapshot { root: None, trimmed_s: None };
    let first = Entry { header, author: None, ..entry(first, content) };
    let segment = Segment { log: *log, num: first.position.segment(), ..opened() };
    let transaction = Transaction { end: end.clone(), segment, first: first.clone() };
    assert_eq!(tables.roll(&transaction).await, CreateOutcome::Created);
    entries.extend([end, first]);
}

/// Creates a fork and returns its expected entries.
async fn fork_now(tables: &Arc<MemoryTables>, of: &Expected, place: usize, nonce: u64) -> Expected {
    let shared = &of.entries[place];
    let new = fork_of(of.log, &nonce.to_string(), Some(shared.position));
    let forked = logs(tables).fork(new.clone()).await.unwrap();
    let mut entries: Vec<Entry> = of.entries[..=place].to_vec();
    if shared.content != Content::EndSegment {
        let position = shared.position.next_in_segment().unwrap();
        let content = Content::EndSegment;
        let created_s = StoppedClock.now_ms() / 1_000;
        entries.push(Entry { position, content, author: None, created_s, ..shared.clone() });
    }
    let first = Entry::first(new.log, Some("alice".into()), StoppedClock.now_ms() / 1_000);
    entries.push(Entry { position: forked.head, ..first });
    entries.iter_mut().for_each(|entry| entry.log = new.log);
    Expected { log: new.log, entries, next_id: of.next_id }
}

/// Random families of logs that are edited, rolled and forked at any position.
#[tokio::test]
async fn random_families_of_forks_read_back() {
    for seed in 0..30 {
        let (mut numbers, tables) = (Numbers(seed), Arc::new(MemoryTables::default()));
        logs(&tables).create(log(), None).await.unwrap();
        let first = Entry::first(log(), None, StoppedClock.now_ms() / 1_000);
        let mut all = vec![Expected { log: log(), entries: vec![first], next_id: 1 }];
        for step in 0..60 {
            let which = numbers.below(all.len());
            match numbers.below(6) {
                0 => roll_now(&tables, &mut all[which]).await,
                1 => {
                    let place = numbers.below(all[which].entries.len());
                    let fork = fork_now(&tables, &all[which].clone(), place, step).await;
                    all.push(fork);
                }
                _ => {
                    let expected = &mut all[which];
                    // The base is anywhere, including inherited positions. Each edit has a client
                    // of its own.
                    let base = expected.entries[numbers.below(expected.entries.len())].position;
                    let client = u8::try_from(expected.next_id).unwrap();
                    let request = edit(expected.log, client, 1, base, client.into(), "x");
                    let tail = logs(&tables).append(request).await.unwrap().tail;
                    assert_eq!(Some(tail), expected.tail().next_position(), "seed {seed}");
                    let put = tables.get(expected.log, tail).await.unwrap().unwrap();
                    expected.entries.push(put.as_ref().clone());
                    expected.next_id += 1;
                }
            }
        }
        for expected in &all {
            let service = logs(&tables);
            let mut read = Vec::new();
            let mut from = None;
            loop {
                let page = service.history(expected.log, from, 7).await.unwrap();
                read.extend(page.entries.iter().map(|entry| entry.as_ref().clone()));
                from = page.next;
                if from.is_none() {
                    break;
                }
            }
            read.reverse();
            assert_eq!(read, expected.entries, "seed {seed}");
            let rows = expected.entries.iter().filter(|entry| entry.edits().is_some()).count();
            assert_eq!(column(&logs(&tables), expected.log, None).await.len(), rows, "seed {seed}");
        }
    }
}

/// Lists another fork like `like` with this number.
async fn take_place(tables: &MemoryTables, like: &ListedFork, number: u64) {
    let fork = LogId::derive_fork(&alice(), like.source, &format!("at {number}")).unwrap();
    let other = ForkRecords {
        origin: Segment { log: fork, ..opened() },
        segment: Segment { log: fork, num: 1, ..opened() },
        first: Entry { position: at(1, 0), ..Entry::first(fork, None, 0) },
        listed: ListedFork { number, fork, ..like.clone() },
    };
    assert_eq!(tables.fork(&other).await, CreateOutcome::Created);
}

#[tokio::test]
async fn bounds_the_attempts_of_a_fork() {
    for (taken, forks) in [(MAX_FORK_ATTEMPTS - 1, true), (MAX_FORK_ATTEMPTS, false)] {
        let tables = Arc::new(MemoryTables::default());
        let (source, service) = (source_of_one(&tables).await, logs(&tables));
        forked(&service, source, "one", None).await;
        let listed = service.forks(source, None).await.unwrap().forks.remove(0);
        let two = fork_of(source, "two", None);
        for attempt in 0..taken {
            let now_ms = StoppedClock.now_ms() + u64::from(attempt);
            take_place(&tables, &listed, list_number(two.log, now_ms)).await;
        }
        let tried = service.fork(two).await;
        assert_eq!(tried.is_ok(), forks, "{taken} places are taken: {tried:?}");
    }
}

#[tokio::test]
async fn bounds_the_forks_of_a_page() {
    let tables = Arc::new(MemoryTables::default());
    let (source, service) = (source_of_one(&tables).await, logs(&tables));
    for number in 0..MAX_LISTED_FORKS {
        forked(&service, source, &number.to_string(), None).await;
    }
    let most = usize::try_from(MAX_LISTED_FORKS).unwrap();
    assert_eq!(service.forks(source, None).await.unwrap().forks.len(), most);
    forked(&service, source, "one more", None).await;
    let page = service.forks(source, None).await.unwrap();
    assert_eq!(page.forks.len(), most);
    let rest = service.forks(source, page.next).await.unwrap();
    assert_eq!((rest.forks.len(), rest.next), (1, None));
}
