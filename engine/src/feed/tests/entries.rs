//! Entries of logs in the feed, segment by segment.

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_catalog::feed::{EntryKind, entry_span, segment_of_stream, stream_of_segment};
use cellar_log::records::entry::encode;
use cellar_log::retention::Policy;

use super::*;
use crate::crashes::{at as position, edit_request, set_text};
use crate::logs::{Logs, NewFork};
use crate::memory::{MemoryBlobs, MemoryTables};
use crate::ports::{Entries as _, ReadConsistency, Retention, Segments as _};
use crate::retention::Offloader;

/// Event streams, their feed, and a log of three segments with two edits each that were not indexed
/// yet.
struct Logged {
    world: World,
    tables: Arc<MemoryTables>,
    blobs: Arc<MemoryBlobs>,
    clock: Arc<ManualClock>,
}

fn alice() -> SubjectKey {
    SubjectKey::new("feed", "alice")
}

fn log() -> LogId {
    LogId::derive(&alice(), "log").unwrap()
}

impl Logged {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let blobs = Arc::new(MemoryBlobs::new(clock.clone()));
        let logged = Self { world: World::new(), tables: Arc::default(), blobs, clock };
        logged.logs().create(log(), None).await.unwrap();
        for segment in 0..3 {
            logged.edit(segment).await;
            if segment < 2 {
                logged.roll(segment).await;
            }
        }
        logged
    }

    fn logs(&self) -> Logs {
        let (entries, segments) = (self.tables.clone(), self.tables.clone());
        let (blobs, clock) = (self.blobs.clone(), self.clock.clone());
        Logs::new(entries, segments, blobs, clock, Arc::new(SystemRandom))
    }

    /// Appends two edits to a segment.
    async fn edit(&self, segment: u32) {
        for num in 0..2 {
            let (id, base) = (u64::from(segment * 2 + num + 1), position(segment, num));
            let request = edit_request(log(), 1, id, base, vec![set_text(0, "x")]);
            self.logs().append(request).await.unwrap();
        }
    }

    async fn roll(&self, segment: u32) {
        self.tables.raise_last_snapshot(log(), position(segment, 0)).await.unwrap();
        let last =
            self.tables.last(log(), segment, ReadConsistency::Strong).await.unwrap().unwrap();
        self.logs().roll(last).await.unwrap();
    }

    fn indexer(&self) -> Indexer {
        self.world.indexer().with_entries(self.tables.clone())
    }

    fn auditor(&self, is_everything: bool) -> Auditor {
        let logs = is_everything.then(|| self.tables.clone() as Arc<dyn Retention>);
        self.world.auditor().with_entries(self.tables.clone(), logs)
    }

    /// Returns the span that the Entry table's change stream reports for an entry.
    async fn record(&self, segment: u32, num: u32) -> Span {
        let entry = self.tables.get(log(), position(segment, num)).await.unwrap().unwrap();
        entry_span(&encode(&entry).unwrap()).unwrap()
    }

    async fn index(&self, records: &[(u32, u32)]) -> u64 {
        let mut spans = Vec::new();
        for (segment, num) in records {
            spans.push(self.record(*segment, *num).await);
        }
        self.indexer().index(spans).await.unwrap().events
    }

    /// Returns the entries in the feed, in order.
    async fn feed(&self) -> Vec<(LogId, u32, u64, String)> {
        let (mut entries, mut from) = (Vec::new(), None);
        loop {
            let page = self.world.reader().page(from, None, 100).await.unwrap();
            for span in page.items.into_iter().flat_map(|item| item.spans) {
                let (log, segment) = segment_of_stream(&span.stream).unwrap();
                let numbered = (span.first..).zip(span.kinds);
                entries.extend(numbered.map(|(n, kind)| (log, segment, n, kind.as_str().into())));
            }
            from = Some(page.next);
            if page.is_end {
                return entries;
            }
        }
    }

    /// Asserts that the feed contains the log's entries up to `last`, each once and in order.
    async fn assert_has_all_up_to(&self, last: (u32, u64)) {
        let kinds = |segment: u32| match segment {
            0 | 1 => &["Snapshot", "Edits", "Edits", "EndSegment"][..],
            _ => &["Snapshot", "Edits", "Edits"][..],
        };
        let all = (0..3).flat_map(|segment| {
            let numbered = (0..).zip(kinds(segment));
            numbered.map(move |(num, kind)| (log(), segment, num, (*kind).to_owned()))
        });
        let expected: Vec<_> = all.filter(|(_, s, n, _)| (*s, *n) <= last).collect();
        assert_eq!(self.feed().await, expected);
    }

    /// Offloads and trims the first segment.
    async fn offload(&self) {
        self.clock.advance_ms(3 * 24 * 60 * 60 * 1_000);
        let offloader = Offloader::new(
            self.tables.clone(),
            self.tables.clone(),
            self.blobs.clone(),
            self.clock.clone(),
        );
        let (policy, mut planned) =
            (Policy { offload_after_days: 1, keep_segments: 2 }, Vec::new());
        offloader.plan_all_logs(policy, |segment| planned.push(segment)).await.unwrap();
        for segment in &planned {
            offloader.execute(segment).await.unwrap();
        }
    }
}

#[tokio::test]
async fn entries_are_indexed_once_and_in_order() {
    let logged = Logged::new().await;
    assert_eq!(logged.index(&[(0, 1)]).await, 2, "the one before is read");
    logged.assert_has_all_up_to((0, 1)).await;
    assert_eq!(logged.index(&[(0, 0), (0, 1)]).await, 0);
    // The End Segment of the first segment arrives in another shard.
    assert_eq!(logged.index(&[(1, 0), (1, 1)]).await, 4);
    logged.assert_has_all_up_to((1, 1)).await;
    assert_eq!(logged.index(&[(0, 3), (0, 2)]).await, 0);
    assert_eq!(logged.index(&[(2, 2)]).await, 3, "a segment whose beginning is lost");
    let audit = logged.auditor(true).verify().await.unwrap();
    let stream = stream_of_segment(log(), 1).unwrap();
    assert_eq!(audit.findings, [Finding::Missing { stream, from: 2, to: 4 }]);
    assert_eq!(logged.auditor(true).repair(&audit).await.unwrap().events, 2);
    assert_eq!(logged.auditor(true).verify().await.unwrap().findings, []);
}

#[tokio::test]
async fn missing_entries_are_defects_only_if_logs_are_indexed() {
    let logged = Logged::new().await;
    logged.index(&[(0, 0)]).await;
    assert_eq!(logged.auditor(false).verify().await.unwrap().findings, []);
    let audit = logged.auditor(true).verify().await.unwrap();
    assert_eq!((audit.findings.len(), audit.streams), (3, 3));
    assert_eq!(logged.auditor(true).repair(&audit).await.unwrap().events, 10);
    logged.assert_has_all_up_to((2, 2)).await;
    let rebuilt = logged.auditor(true).rebuild(|_| {}).await.unwrap();
    assert_eq!(rebuilt.events, 11);
    logged.assert_has_all_up_to((2, 2)).await;
    assert_eq!(logged.auditor(false).rebuild(|_| {}).await.unwrap().events, 0);
}

#[tokio::test]
async fn offloaded_entries_are_indexed_by_number() {
    let logged = Logged::new().await;
    logged.offload().await;
    logged.auditor(true).rebuild(|_| {}).await.unwrap();
    let first: Vec<_> = logged.feed().await.into_iter().filter(|(_, s, ..)| *s == 0).collect();
    let offloaded = EntryKind::Offloaded.kind();
    let kinds = ["Snapshot", offloaded.as_str(), offloaded.as_str(), "EndSegment"];
    let expected: Vec<_> =
        (0..).zip(kinds).map(|(num, kind)| (log(), 0, num, kind.to_owned())).collect();
    assert_eq!(first, expected);
    assert_eq!(logged.auditor(true).verify().await.unwrap().findings, []);
}

#[tokio::test]
async fn only_own_entries_of_a_fork_are_indexed() {
    let logged = Logged::new().await;
    let fork = LogId::derive_fork(&alice(), log(), "fork").unwrap();
    let new = NewFork { log: fork, source: log(), at: Some(position(1, 1)), author: None };
    logged.logs().fork(new).await.unwrap();
    let first = logged.tables.get(fork, position(2, 0)).await.unwrap().unwrap();
    let span = entry_span(&encode(&first).unwrap()).unwrap();
    assert_eq!(logged.indexer().index(vec![span]).await.unwrap().events, 1);
    assert_eq!(logged.feed().await, [(fork, 2, 0, "Snapshot".to_owned())]);
    let audit = logged.auditor(true).verify().await.unwrap();
    assert_eq!(audit.findings.len(), 3, "its source's segments, and none of its own: {audit:?}");
}

#[tokio::test]
async fn the_feed_keeps_the_entries_of_a_purged_spreadsheet() {
    let logged = Logged::new().await;
    logged.index(&[(0, 3)]).await;
    for segment in 0..3 {
        let first = Position::new(segment, 0).unwrap();
        let page = logged.tables.page(log(), first, ReadConsistency::Strong).await.unwrap();
        let positions: Vec<_> = page.entries.iter().map(|entry| entry.position).collect();
        logged.tables.delete(log(), &positions).await.unwrap();
        logged.tables.delete_segment(log(), segment).await.unwrap();
    }
    for is_everything in [false, true] {
        assert_eq!(logged.auditor(is_everything).verify().await.unwrap().findings, []);
    }
    logged.assert_has_all_up_to((0, 3)).await;
}
