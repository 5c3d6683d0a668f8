//! Tests of the log service over in-memory tables, with lost replies.

mod bounds;
mod cell_history;
mod changes;
mod disturbed_tables;
mod effects;
mod forks;
mod formats;
mod formulas;
pub(crate) mod imports;
mod lost_references;
mod merge;
mod positions;
mod random_formulas;
mod recovered_sheets;
mod revert;
mod revert_parts;
mod round_trips;
mod search;
mod sheet_order;
mod stale;
mod times;
mod undo;
mod upkeep;

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::crashes::{Fault, FaultyPorts};
use crate::memory::{ManualClock, MemoryBlobs, MemoryTables};
use crate::ports::{CreateOutcome, ForkPage, ForkRecords, Page, PutOutcome};
use async_trait::async_trait;
use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_log::append::{Appended, NewMutation, Refusal, Request};
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION, Header};
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

/// A clock that never advances.
struct StoppedClock;

#[async_trait]
impl Clock for StoppedClock {
    fn now_ms(&self) -> u64 {
        1_795_246_133_000
    }

    async fn sleep_ms(&self, _delay_ms: u64) {}
}

/// Returns consecutive numbers.
#[derive(Default)]
struct Counter(AtomicU64);

impl Random for Counter {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Returns tables that inject one fault, into the request with this number.
fn faulty(request: usize, fault: Fault) -> Arc<FaultyPorts> {
    over(vec![(request, fault)], Arc::new(ManualClock::at(StoppedClock.now_ms())))
}

/// Returns empty ports with these faults.
fn over(planned: Vec<(usize, Fault)>, clock: Arc<ManualClock>) -> Arc<FaultyPorts> {
    let blobs = MemoryBlobs::new(clock.clone());
    FaultyPorts::new(planned, MemoryTables::default(), blobs, clock)
}

pub(crate) fn logs<T: Entries + Segments + 'static>(tables: &Arc<T>) -> Logs {
    let (entries, segments) = (Arc::clone(tables), Arc::clone(tables));
    let blobs = Arc::new(MemoryBlobs::new(Arc::new(StoppedClock)));
    Logs::new(entries, segments, blobs, Arc::new(StoppedClock), Arc::new(Counter::default()))
}

pub(crate) fn log() -> LogId {
    LogId::derive(&SubjectKey::new("cellar", "alice"), "budget").unwrap()
}

pub(crate) fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap()
}

pub(crate) fn set(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

fn request(client: u8, ack: u64, id: u64, base: Position, text: &str) -> Request {
    let mutations = vec![NewMutation { id, base, operation: set(0, text) }];
    let incarnation = FIRST_INCARNATION;
    Request::new(log(), ClientKey([client; 8]), None, incarnation, ack, mutations).unwrap()
}

pub(crate) fn everything(at: Option<Position>) -> CellsQuery {
    let rectangle = Rectangle::EVERYTHING;
    CellsQuery {
        sheet: SheetName::First,
        rectangle,
        at,
        from: None,
        min_position: None,
        with_texts: false,
    }
}

async fn texts(logs: &Logs, at: Option<Position>) -> Vec<String> {
    let read = logs.cells(log(), &everything(at)).await.unwrap();
    read.cells.iter().map(|placed| placed.cell.text()).collect()
}

#[tokio::test]
async fn an_edit_is_read_back_at_every_position() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), Some("alice".into())).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    logs.append(request(1, 1, 2, at(0, 1), "two")).await.unwrap();
    assert_eq!(texts(&logs, None).await, ["two"]);
    assert_eq!(texts(&logs, Some(at(0, 1))).await, ["one"]);
    assert!(texts(&logs, Some(at(0, 0))).await.is_empty());
    let beyond = logs.cells(log(), &everything(Some(at(0, 3)))).await;
    assert_eq!(beyond, Err(LogError::NoSuchPosition { at: at(0, 3), newest: at(0, 2) }));
    assert_eq!(logs.head(log(), None).await.unwrap().head, at(0, 2));
}

/// Each request in the life of one edit fails once, before and after it takes effect.
#[tokio::test]
async fn any_lost_reply_leaves_one_log_and_one_edit() {
    let mut most_calls = 0;
    for fault in [Fault::Refused, Fault::ReplyLost] {
        for faulty_call in 0..13 {
            let tables = faulty(faulty_call, fault);
            let created = logs(&tables).create(log(), None).await.unwrap();
            assert_eq!(created.head, Position::FIRST);
            // Each step uses a new service, like another process.
            let appended =
                logs(&tables).append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
            assert_eq!(appended.tail, at(0, 1));
            let updated = logs(&tables).update(log(), Position::FIRST).await.unwrap();
            assert_eq!((updated.entries.len(), updated.head), (1, at(0, 1)));
            assert_eq!(logs(&tables).load(log(), None).await.unwrap().entries.len(), 2);
            assert_eq!(logs(&tables).head(log(), None).await.unwrap().head, at(0, 1));
            assert_eq!(texts(&logs(&tables), None).await, ["one"]);
            most_calls = most_calls.max(tables.faults.requests());
        }
    }
    assert!(most_calls <= 13, "{most_calls} calls, but only the first 13 went wrong");
}

#[tokio::test]
async fn a_repeated_create_finds_only_its_own_log() {
    let tables = Arc::new(MemoryTables::default());
    let first = logs(&tables).create(log(), Some("alice".into())).await.unwrap();
    let again = logs(&tables).create(log(), Some("alice".into())).await.unwrap();
    assert_eq!(again, Created { existed: true, ..first });
    let other = logs(&tables).create(log(), Some("bob".into())).await;
    assert!(matches!(other, Err(LogError::Store(_))), "{other:?}");
}

#[tokio::test]
async fn a_missing_log_is_not_found() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    assert_eq!(logs.load(log(), None).await, Err(LogError::NotFound));
    assert_eq!(logs.update(log(), Position::FIRST).await, Err(LogError::NotFound));
    assert_eq!(logs.head(log(), None).await, Err(LogError::NotFound));
    assert_eq!(logs.cells(log(), &everything(None)).await, Err(LogError::NotFound));
    let append = logs.append(request(1, 0, 1, Position::FIRST, "one")).await;
    assert_eq!(append, Err(LogError::NotFound));
}

#[tokio::test]
async fn a_base_or_position_that_does_not_exist_is_refused() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    let base = at(0, 9);
    let append = logs.append(request(1, 0, 1, base, "one")).await;
    assert_eq!(append, Err(LogError::Refused(Refusal::UnknownBase { base })));
    for after in [base, at(3, 0)] {
        let unknown = LogError::ReloadUnknownPosition { after, newest: Position::FIRST };
        assert_eq!(logs.update(log(), after).await, Err(unknown));
    }
}

#[tokio::test]
async fn concurrent_mutations_are_appended_exactly_once() {
    let tables = Arc::new(MemoryTables::default());
    let shared = Arc::new(logs(&tables));
    shared.create(log(), None).await.unwrap();
    let writers: Vec<_> = (0..8_u8)
        .map(|client| {
            let logs = Arc::clone(&shared);
            tokio::spawn(async move {
                for id in 1..=20 {
                    let request = request(client, id - 1, id, Position::FIRST, "x");
                    let appended = logs.append(request).await.unwrap();
                    assert!(!appended.results[0].duplicate);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let loaded = shared.load(log(), None).await.unwrap();
    let nums: Vec<u32> = loaded.entries.iter().map(|entry| entry.position.entry_number()).collect();
    assert_eq!(nums, (0..=160).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_log_of_two_segments_is_one_log() {
    let tables = Arc::new(MemoryTables::default());
    let service = logs(&tables);
    service.create(log(), None).await.unwrap();
    service.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    let first = Entry::first(log(), None, 0);
    let end = Entry { position: at(0, 2), content: Content::EndSegment, ..first.clone() };
    assert_eq!(tables.put(&end).await, PutOutcome::Accepted);
    let segment = Segment {
        log: log(),
        num: 1,
        created_s: 0,
        last_snapshot: None,
        offloaded: None,
        lineage: None,
    };
    let header = Header::first(FIRST_INCARNATION);
    let next = Entry { position: at(1, 0), header, ..first };
    assert_eq!(tables.create(&segment, &next).await, CreateOutcome::Created);

    let fresh = logs(&tables);
    for service in [&service, &fresh] {
        assert_eq!(service.head(log(), None).await.unwrap().head, at(1, 0));
        assert_eq!(texts(service, None).await, ["one"]);
        let updated = service.update(log(), at(0, 1)).await.unwrap();
        assert_eq!(updated.entries.len(), 2);
    }
    let appended = fresh.append(request(1, 1, 2, at(0, 1), "two")).await.unwrap();
    assert_eq!(appended.tail, at(1, 1));
    // Neither segment has a finished snapshot yet, so nothing can be loaded.
    assert_eq!(fresh.load(log(), None).await, Err(LogError::Corrupt { at: at(1, 0) }));
}

#[tokio::test]
async fn truncated_replies_can_be_continued() {
    let tables = Arc::new(MemoryTables::default());
    let logs = logs(&tables);
    logs.create(log(), None).await.unwrap();
    let text = "x".repeat(60_000);
    for id in 1..=100 {
        let base = at(0, u32::try_from(id).unwrap() - 1);
        let row = u32::try_from(id).unwrap();
        let mutations = vec![NewMutation { id, base, operation: set(row, &text) }];
        let incarnation = FIRST_INCARNATION;
        let request =
            Request::new(log(), ClientKey([1; 8]), None, incarnation, id - 1, mutations).unwrap();
        logs.append(request).await.unwrap();
    }
    let loaded = logs.load(log(), None).await.unwrap();
    let mut next = loaded.next;
    let mut count = loaded.entries.len();
    assert!(next.is_some() && loaded.head == at(0, 100));
    while let Some(after) = next {
        let updated = logs.update(log(), after).await.unwrap();
        assert!(!updated.entries.is_empty());
        count += updated.entries.len();
        next = updated.next;
    }
    assert_eq!(count, 101);

    let mut query = everything(None);
    let (mut rows, mut pages) = (vec![], 0);
    loop {
        let read = logs.cells(log(), &query).await.unwrap();
        pages += 1;
        rows.extend(read.cells.iter().map(|cell| cell.row));
        query = CellsQuery { at: Some(read.position), from: read.next, ..query };
        if read.next.is_none() {
            break;
        }
    }
    assert_eq!(rows, (1..=100).collect::<Vec<_>>());
    // 100 texts of 60,000 bytes.
    assert_eq!(pages, 100 * 60_000 / MAX_REPLY_BYTES + 1);
}
