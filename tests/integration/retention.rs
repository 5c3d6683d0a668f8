//! Offloading and trimming over a real DynamoDB and a real S3: the remaining data, the refusals,
//! and unchanged reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::limits::TRIM_FENCE_S;
use cellar_base::position::Position;
use cellar_engine::logs::{LogError, Logs};
use cellar_engine::ports::{
    BlobKey, Blobs as _, Clock as _, NewBlob, PortError, ReadConsistency, Retention, ScanKey,
    SegmentPage, Segments as _,
};
use cellar_engine::retention::{PlannedSegment, RetentionError};
use cellar_log::append::Refusal;
use cellar_log::entry::Entry;
use cellar_log::{
    retention::KeepReason, retention::Plan, retention::Policy, retention::TrimRefusal,
};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, InsertBefore, Operation, RejectionReason, SetCells, SheetId,
};
use cellar_sheet::workbook::Workbook;
use cellar_tests::old_logs::{AS_LITTLE_AS_ALLOWED, DAY_MS, Growing, OldLogs, edit};

fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap()
}

fn set_text(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let cells = vec![CellEdit { row, column: 0, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

fn insert_rows(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

/// Creates four segments, of which the first two can be offloaded a day later.
async fn four_segments(world: &OldLogs, nonce: &str) -> Growing {
    let mut growing = world.create(nonce).await;
    for segment in 0..4 {
        for row in 0..6 {
            growing.append(set_text(row, &format!("{segment}/{row}"))).await;
        }
        if segment == 2 {
            growing.append(insert_rows(0, 2)).await;
        }
        if segment < 3 {
            world.roll(&mut growing).await;
        }
    }
    world.finish_snapshot(growing.log, 3).await;
    growing
}

/// All readable contents of a log, for a process without cached state.
#[derive(Debug, PartialEq)]
struct Reading {
    states: Vec<Workbook>,
    history: Vec<(Position, Option<Entry>)>,
    diff: cellar_sheet::workbook::WorkbookDiff,
    loaded: Vec<Position>,
}

impl Reading {
    async fn of(logs: &Logs, log: LogId) -> Self {
        let mut states = Vec::new();
        for position in [Some(at(0, 0)), Some(at(0, 3)), Some(at(1, 4)), Some(at(2, 7)), None] {
            states.push(logs.workbook(log, position, None).await.unwrap().workbook);
        }
        let mut history = Vec::new();
        let mut from = None;
        loop {
            let page = logs.history(log, from, 5).await.unwrap();
            assert!(!page.entries.is_empty() && page.entries.len() <= 5);
            history.extend(page.entries.iter().map(|entry| {
                // Only the first entry of a trimmed segment has a mark.
                let whole = (entry.position.entry_number() > 0).then(|| entry.as_ref().clone());
                (entry.position, whole)
            }));
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        let diff = logs.diff(log, at(0, 3), at(2, 7)).await.unwrap();
        let loaded = logs.load(log, None).await.unwrap();
        let loaded = loaded.entries.iter().map(|entry| entry.position).collect();
        Self { states, history, diff, loaded }
    }
}

async fn carry_out_all(world: &OldLogs, log: LogId) -> Vec<u64> {
    let mut deleted = Vec::new();
    for planned in world.plans(log, AS_LITTLE_AS_ALLOWED).await {
        deleted.push(world.offloader().execute(&planned).await.unwrap().deleted);
    }
    deleted
}

async fn offloaded_key(world: &OldLogs, log: LogId, segment: u32) -> BlobKey {
    let record =
        world.tables.segment(log, segment, ReadConsistency::Strong).await.unwrap().unwrap();
    BlobKey::new(record.offloaded.expect("the segment is offloaded")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trimmed_segment_keeps_two_items_and_everything_can_still_be_read() {
    let world = OldLogs::start().await;
    let log = four_segments(&world, "everything can be read").await.log;
    let before = Reading::of(&world.logs(), log).await;
    assert_eq!(before.history.len(), 8 + 8 + 9 + 7);
    world.clock.advance_ms(DAY_MS);
    let plans = world.plans(log, AS_LITTLE_AS_ALLOWED).await;
    let plans: Vec<_> = plans.into_iter().map(|planned| planned.plan).collect();
    let newest = Plan::Keep(KeepReason::Newest);
    assert_eq!(plans, [Plan::OffloadAndTrim, Plan::OffloadAndTrim, newest, newest]);
    assert_eq!(carry_out_all(&world, log).await, [6, 6, 0, 0]);
    for segment in [0, 1] {
        assert_eq!(world.stored(log, segment).await, [0, 7]);
        assert!(world.entry(log, at(segment, 0)).await.unwrap().is_trimmed());
    }
    assert_eq!(world.stored(log, 2).await.len(), 9);
    assert_eq!(Reading::of(&world.logs(), log).await, before, "reads from the offloaded segment");
    // A second run finds nothing to do.
    let plans = world.plans(log, AS_LITTLE_AS_ALLOWED).await;
    assert_eq!(plans[0].plan, Plan::Keep(KeepReason::TrimmedAlready));
    assert_eq!(carry_out_all(&world, log).await, [0, 0, 0, 0]);
    // Updates since a position in a remaining segment, and since one in a trimmed segment.
    let updated = world.logs().update(log, at(2, 3)).await.unwrap();
    assert_eq!(updated.entries.len(), 5 + 7);
    assert_eq!(world.logs().update(log, at(1, 3)).await, Err(LogError::Reload));
    // An old edit is transformed past later entries, in the offloaded segment and after it.
    let late = edit(log, 9, 1, at(0, 2), set_text(4, "late"));
    let appended = world.logs().append(late).await.unwrap();
    assert_eq!(appended.results[0].rejection, None);
    assert_eq!(appended.results[0].committed, Some(vec![set_text(6, "late")]));
    assert_eq!(appended.tail, at(3, 7));
    let read = world.logs().workbook(log, None, None).await.unwrap();
    assert_eq!(read.workbook.value(SheetId::FIRST, 6, 0), Value::Text("late".to_owned()));
    assert_eq!(world.stored(log, 0).await, [0, 7], "an entry was put into a trimmed segment");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_on_a_base_that_is_gone_is_handed_back_and_the_numbering_goes_on() {
    let world = OldLogs::start().await;
    for (nonce, damage) in [("gone", None), ("damaged", Some(&b"no offloaded copy"[..]))] {
        let mut growing = four_segments(&world, nonce).await;
        let log = growing.log;
        world.clock.advance_ms(DAY_MS);
        carry_out_all(&world, log).await;
        let key = offloaded_key(&world, log, 0).await;
        world.blobs.delete(&key).await.unwrap();
        if let Some(bytes) = damage {
            put(&world, &key, bytes).await;
        }
        growing.logs = world.logs();
        let appended = growing.append_on(at(0, 2), set_text(4, "late")).await;
        let rejection = appended.results[0].rejection.clone().expect("the edit is rejected");
        assert_eq!(rejection.reason, RejectionReason::BaseGone);
        assert_eq!(appended.results[0].position, Some(at(3, 7)));
        // Another process repeats the request: it gets the same response, and there is no second
        // entry.
        let repeated = edit(log, 3, 26, at(0, 2), set_text(4, "late"));
        let repeated = world.logs().append(repeated).await.unwrap();
        assert_eq!(repeated.results[0].rejection, Some(rejection));
        assert!(repeated.results[0].duplicate);
        let next = growing.append(set_text(0, "goes on")).await;
        assert_eq!((next.results[0].rejection.clone(), next.tail), (None, at(3, 8)));
        // A trimmed position is an error; the newest snapshot is readable.
        let gone = world.logs().workbook(log, Some(at(0, 3)), None).await;
        assert_eq!(gone.err(), Some(LogError::Corrupt { at: at(0, 1) }));
        assert!(world.logs().history(log, Some(at(0, 3)), 5).await.is_err());
        assert!(world.logs().load(log, None).await.is_ok());
        // A position that never existed is still refused as a base.
        let never = edit(log, 77, 1, at(3, 99), set_text(0, "x"));
        let refused = world.logs().append(never).await.unwrap_err();
        assert_eq!(refused, LogError::Refused(Refusal::UnknownBase { base: at(3, 99) }));
    }
}

async fn put(world: &OldLogs, key: &BlobKey, bytes: &'static [u8]) {
    let blob = NewBlob {
        key: key.clone(),
        sha256: cellar_api::wire::parse_sha256(&sha256_of(bytes)).unwrap(),
        bytes: bytes::Bytes::from_static(bytes),
        content_type: None,
        content_encoding: None,
        pending: false,
    };
    world.blobs.put(blob).await.unwrap();
}

fn sha256_of(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    cellar_api::wire::hexadecimal(&Sha256::digest(bytes))
}

/// Regression test: entries that a process has just read from an old segment must not become its
/// cached tail.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_read_before_a_trim_is_no_tail_after_it() {
    let world = OldLogs::start().await;
    let mut growing = world.create("no tail").await;
    // More than the 1 MB of a page, so that the page ends in the middle of the segment.
    let long = "x".repeat(60_000);
    for row in 0..40 {
        growing.append(set_text(row, &long)).await;
    }
    for _ in 0..3 {
        world.roll(&mut growing).await;
        growing.append(set_text(0, "short")).await;
    }
    world.finish_snapshot(growing.log, 3).await;
    let log = growing.log;
    world.clock.advance_ms(DAY_MS);
    let warm = world.logs();
    warm.workbook(log, Some(at(0, 3)), None).await.unwrap();
    carry_out_all(&world, log).await;
    assert_eq!(world.stored(log, 0).await, [0, 41]);
    let request = edit(log, 9, 1, at(0, 3), set_text(0, "acknowledged"));
    let appended = warm.append(request).await.unwrap();
    assert_eq!(appended.tail, at(3, 2));
    assert_eq!(world.stored(log, 0).await, [0, 41], "an entry was put into a trimmed segment");
    let read = world.logs().workbook(log, None, None).await.unwrap();
    assert_eq!(read.workbook.value(SheetId::FIRST, 0, 0), Value::Text("acknowledged".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_trimmed_before_its_time() {
    let world = OldLogs::start().await;
    let growing = four_segments(&world, "before its time").await;
    let log = growing.log;
    let ended_s = world.entry(log, at(0, 7)).await.unwrap().created_s;
    let to = |now_s: u64| world.clock.advance_ms(now_s * 1_000 - world.clock.now_ms());
    to(ended_s + TRIM_FENCE_S - 1);
    let plans = world.plans(log, AS_LITTLE_AS_ALLOWED).await;
    assert_eq!(plans[0].plan, Plan::Keep(KeepReason::TooYoung));
    // The trim itself checks the time, regardless of the plan.
    let forced = PlannedSegment { plan: Plan::OffloadAndTrim, ..plans[0].clone() };
    let refused = world.offloader().execute(&forced).await.unwrap_err();
    let refusal = TrimRefusal::TooYoung;
    assert_eq!(refused, RetentionError::Trim { log, segment: 0, refusal });
    assert_eq!(world.stored(log, 0).await.len(), 8);
    assert!(!world.entry(log, at(0, 0)).await.unwrap().is_trimmed());
    to(ended_s + TRIM_FENCE_S);
    let plans = world.plans(log, AS_LITTLE_AS_ALLOWED).await;
    assert_eq!(plans[0].plan, Plan::Trim, "the segment is already offloaded");
    assert_eq!(world.offloader().execute(&plans[0]).await.unwrap().deleted, 6);
    // The age of an unfinished segment is unknown.
    let open = PlannedSegment { plan: Plan::OffloadAndTrim, ..plans[3].clone() };
    let refused = world.offloader().execute(&open).await.unwrap_err();
    assert_eq!(refused, RetentionError::NotWhole { log, segment: 3 });
    let month = Policy { offload_after_days: 30, keep_segments: 2 };
    assert_eq!(world.plans(log, month).await[1].plan, Plan::Keep(KeepReason::TooYoung));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offload_that_is_lost_is_made_again_while_it_can_be() {
    let world = OldLogs::start().await;
    let growing = four_segments(&world, "lost offload").await;
    let log = growing.log;
    world.clock.advance_ms(DAY_MS);
    let before = Reading::of(&world.logs(), log).await;
    let stop = FailingRetention::new(&world, 1, Fails::Before);
    let plans = world.plans(log, AS_LITTLE_AS_ALLOWED).await;
    assert!(
        world.offloader_over(stop).execute(&plans[0]).await.is_err(),
        "the run crashes at the mark"
    );
    let key = offloaded_key(&world, log, 0).await;
    put(&world, &key, b"damaged").await;
    let plans = world.plans(log, AS_LITTLE_AS_ALLOWED).await;
    assert_eq!(plans[0].plan, Plan::Trim);
    let done = world.offloader().execute(&plans[0]).await.unwrap();
    assert!(done.offloaded_bytes.is_some() && done.deleted == 6, "{done:?}");
    assert_eq!(offloaded_key(&world, log, 0).await, key, "equal contents have equal keys");
    assert_eq!(Reading::of(&world.logs(), log).await, before);
    // If entries are missing, no more are deleted.
    world.tables.delete(log, &[at(1, 1)]).await.unwrap();
    let refused = world.offloader().execute(&plans[1]).await.unwrap_err();
    assert_eq!(refused, RetentionError::NotWhole { log, segment: 1 });
    assert_eq!(world.stored(log, 1).await, [0, 2, 3, 4, 5, 6, 7]);
}

/// Step after which all calls fail, as if the process had been killed.
#[derive(Clone, Copy, PartialEq)]
enum Fails {
    Before,
    After,
}

/// The retention port, with a crash at a given step.
struct FailingRetention {
    inner: Arc<dyn Retention>,
    calls_left: AtomicUsize,
    fails: Fails,
}

impl FailingRetention {
    fn new(world: &OldLogs, calls: usize, fails: Fails) -> Arc<Self> {
        let inner = Arc::clone(&world.tables) as Arc<dyn Retention>;
        Arc::new(Self { inner, calls_left: AtomicUsize::new(calls), fails })
    }

    async fn call<T: Send>(
        &self,
        call: impl Future<Output = Result<T, PortError>> + Send,
    ) -> Result<T, PortError> {
        let take = |left: usize| left.checked_sub(1);
        let left = self.calls_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        if left.is_err() && self.fails == Fails::Before {
            return Err(PortError::permanent("killed"));
        }
        let result = call.await;
        if left.is_err() { Err(PortError::permanent("killed")) } else { result }
    }
}

#[async_trait]
impl Retention for FailingRetention {
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError> {
        self.call(self.inner.all_segments(after)).await
    }
    async fn set_offloaded(&self, log: LogId, segment: u32, key: &str) -> Result<(), PortError> {
        self.call(self.inner.set_offloaded(log, segment, key)).await
    }
    async fn mark_trimmed(
        &self,
        log: LogId,
        segment: u32,
        trimmed_s: u64,
    ) -> Result<(), PortError> {
        self.call(self.inner.mark_trimmed(log, segment, trimmed_s)).await
    }
    async fn delete(&self, log: LogId, positions: &[Position]) -> Result<(), PortError> {
        // In the middle of the batch, as a kill could.
        let (first, rest) = positions.split_at(positions.len() / 2);
        self.call(self.inner.delete(log, first)).await?;
        self.call(self.inner.delete(log, rest)).await
    }
    async fn delete_segment(&self, log: LogId, segment: u32) -> Result<(), PortError> {
        self.call(self.inner.delete_segment(log, segment)).await
    }
    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError> {
        self.call(self.inner.delete_listed(source, number)).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_at_any_step_loses_nothing_and_the_next_run_finishes() {
    let world = OldLogs::start().await;
    let mut crashes = 0;
    for fails in [Fails::Before, Fails::After] {
        for calls in 0..=4 {
            let nonce = format!("crash {calls} {}", fails == Fails::Before);
            let log = four_segments(&world, &nonce).await.log;
            let before = Reading::of(&world.logs(), log).await;
            world.clock.advance_ms(DAY_MS);
            let plans = world.plans(log, AS_LITTLE_AS_ALLOWED).await;
            let stop = FailingRetention::new(&world, calls, fails);
            let crashed = world.offloader_over(stop).execute(&plans[0]).await;
            assert_eq!(crashed.is_err(), calls < 4, "{nonce}: {crashed:?}");
            crashes += u32::from(crashed.is_err());
            assert_eq!(Reading::of(&world.logs(), log).await, before, "{nonce}, after the crash");
            // An interrupted trim is recognized.
            carry_out_all(&world, log).await;
            for segment in [0, 1] {
                assert_eq!(world.stored(log, segment).await, [0, 7], "{nonce}");
            }
            assert_eq!(Reading::of(&world.logs(), log).await, before, "{nonce}, at the end");
        }
    }
    assert_eq!(crashes, 8);
}
