//! Contract tests that every implementation of a port must pass. Each adapter's tests call the
//! functions in this module, which panic at the first violation.
#![allow(clippy::panic, reason = "a contract suite fails like a test")]

mod blobs;
mod feed_table;
mod forks;
mod jobs;
mod lists;
mod pending_snapshots;
mod presences;
mod retention;
mod segments;
mod streams;
mod webhook;

pub use feed_table::feed_table;
pub use jobs::{JobsUnderTest, jobs};
pub use lists::lists;
pub use pending_snapshots::pending_snapshots;
pub use presences::presences;
pub use retention::retention;
pub use streams::streams;
pub use webhook::webhook;

use std::collections::BTreeSet;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry, Header, Mutation};
use cellar_log::segment::Segment;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use futures_util::future::join_all;

pub use blobs::{Promise, Tampering, UrlReply, UrlRequest, blob_versions, blobs, presigned};

use crate::ports::{CreateOutcome, Entries, PutOutcome, ReadConsistency, Segments};

/// Checks the Entry and Segment tables.
pub async fn tables<T: Entries + Segments>(tables: &T) {
    assert!(Entries::reachable(tables).await && Segments::reachable(tables).await);
    tables_are_empty_at_first(tables).await;
    create_writes_both_records_or_none(tables).await;
    a_put_is_conditional_and_returns_the_winner(tables).await;
    every_content_reads_back(tables).await;
    pages_are_ascending_and_complete(tables).await;
    segments_and_logs_are_separate(tables).await;
    segments_are_listed_newest_first(tables).await;
    one_of_many_writers_wins(tables).await;
    segments::pages_backward_are_descending_and_complete(tables).await;
    segments::a_roll_writes_all_three_records_or_none(tables).await;
    segments::a_roll_and_an_append_exclude_each_other(tables).await;
    segments::the_last_snapshot_only_rises(tables).await;
    segments::a_root_is_set_once(tables).await;
    segments::a_root_is_replaced_if_it_is_the_expected_one(tables).await;
    forks::a_fork_writes_all_four_records_or_none(tables).await;
    forks::forks_are_listed_by_their_source_in_pages(tables).await;
}

fn new_log_id(nonce: &str) -> LogId {
    LogId::derive(&SubjectKey::new("contract", "suite"), nonce)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap_or_else(|error| panic!("{error}"))
}

fn edit_entry(log_id: LogId, position: Position, text: &str) -> Entry {
    let value = Some(Value::Text(text.to_owned()));
    let edit = CellEdit { row: 0, column: 0, value, formula: None, format: None };
    let authored = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] });
    let mutations = vec![Mutation { base: Position::FIRST, authored, committed: None }];
    let edits =
        Edits { client: ClientKey([3; 8]), name: None, merged: None, first_id: 1, mutations };
    Entry { position, content: Content::Edits(edits), ..Entry::first(log_id, None, 1_795_246_133) }
}

fn segment_record(log_id: LogId, num: u32) -> Segment {
    Segment {
        log: log_id,
        num,
        created_s: 1_795_246_133,
        last_snapshot: None,
        offloaded: None,
        lineage: None,
    }
}

async fn tables_are_empty_at_first<T: Entries + Segments>(tables: &T) {
    let log_id = new_log_id("nothing");
    for consistency in [ReadConsistency::Eventual, ReadConsistency::Strong] {
        let page = tables.page(log_id, Position::FIRST, consistency).await;
        assert!(page.is_ok_and(|page| page.entries.is_empty() && !page.more));
        assert_eq!(tables.last(log_id, 0, consistency).await, Ok(None));
        assert_eq!(tables.newest(log_id, 2, consistency).await, Ok(vec![]));
    }
    assert_eq!(tables.get(log_id, Position::FIRST).await, Ok(None));
}

async fn create_writes_both_records_or_none<T: Entries + Segments>(tables: &T) {
    let log_id = new_log_id("create");
    let (segment, first_entry) =
        (segment_record(log_id, 0), Entry::first(log_id, Some("alice".into()), 7));
    assert_eq!(tables.create(&segment, &first_entry).await, CreateOutcome::Created);
    assert_eq!(tables.newest(log_id, 2, ReadConsistency::Strong).await, Ok(vec![segment.clone()]));
    assert_eq!(tables.get(log_id, Position::FIRST).await, Ok(Some(first_entry.clone().into())));
    let other_entry = Entry { created_s: 8, ..first_entry.clone() };
    assert_eq!(tables.create(&segment, &other_entry).await, CreateOutcome::Exists);
    assert_eq!(tables.get(log_id, Position::FIRST).await, Ok(Some(first_entry.into())));
    // The first entry already exists, but the segment record does not. The transaction must fail
    // and write nothing.
    let entry_with_taken_key = edit_entry(log_id, Position::FIRST, "x");
    let next_segment = Segment { num: 1, ..segment };
    assert_eq!(tables.create(&next_segment, &entry_with_taken_key).await, CreateOutcome::Exists);
    assert_eq!(
        tables.newest(log_id, 2, ReadConsistency::Strong).await.map(|segments| segments.len()),
        Ok(1)
    );
}

async fn a_put_is_conditional_and_returns_the_winner<T: Entries>(tables: &T) {
    let log_id = new_log_id("conditional");
    let winner = edit_entry(log_id, at(0, 1), "winner");
    assert_eq!(tables.put(&winner).await, PutOutcome::Accepted);
    let refused_outcome = PutOutcome::Refused { winner: winner.clone().into() };
    assert_eq!(tables.put(&edit_entry(log_id, at(0, 1), "loser")).await, refused_outcome);
    assert_eq!(tables.put(&winner).await, refused_outcome, "the same put again is refused as well");
    assert_eq!(tables.get(log_id, at(0, 1)).await, Ok(Some(winner.into())));
}

async fn every_content_reads_back<T: Entries>(tables: &T) {
    let log_id = new_log_id("contents");
    let header = Header {
        incarnation: u32::MAX,
        segment_bytes: 1 << 40,
        snapshot_num: 7,
        snapshot_bytes: 9,
        ..Header::first(0)
    };
    let first_entry =
        Entry { header, ..Entry::first(log_id, Some("Ünïcode".into()), u64::from(u32::MAX)) };
    let finished_snapshot =
        Content::Snapshot { root: Some("sheets/x/roots/y".into()), trimmed_s: None };
    let unfinished_snapshot = Content::Snapshot { root: None, trimmed_s: None };
    let contents = [unfinished_snapshot, finished_snapshot, Content::EndSegment];
    for (num, content) in (0..).zip(contents) {
        let entry = Entry { position: at(5, num), content, ..first_entry.clone() };
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
        assert_eq!(tables.get(log_id, entry.position).await, Ok(Some(entry.into())));
    }
    let large_entry = edit_entry(log_id, at(5, 3), &"x".repeat(60_000));
    assert_eq!(tables.put(&large_entry).await, PutOutcome::Accepted);
    assert_eq!(tables.get(log_id, large_entry.position).await, Ok(Some(large_entry.into())));
}

async fn pages_are_ascending_and_complete<T: Entries>(tables: &T) {
    // The total size of the entries exceeds the maximum size of a DynamoDB page.
    let log_id = new_log_id("pages");
    for num in 0..40 {
        let entry = edit_entry(log_id, at(0, num), &"x".repeat(60_000));
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
    }
    for consistency in [ReadConsistency::Eventual, ReadConsistency::Strong] {
        let numbers_read = read_entry_numbers(tables, log_id, 3, consistency).await;
        assert_eq!(numbers_read, (3..40).collect::<Vec<_>>());
        let last_entry = tables.last(log_id, 0, consistency).await;
        assert!(last_entry.is_ok_and(|last| last.is_some_and(|last| last.position == at(0, 39))));
    }
}

async fn read_entry_numbers<T: Entries>(
    tables: &T,
    log_id: LogId,
    first_number: u32,
    consistency: ReadConsistency,
) -> Vec<u32> {
    let mut numbers = vec![];
    let mut next_number = first_number;
    loop {
        let page = tables.page(log_id, at(0, next_number), consistency).await;
        let page = page.unwrap_or_else(|error| panic!("{error}"));
        numbers.extend(page.entries.iter().map(|entry| entry.position.entry_number()));
        if !page.more {
            return numbers;
        }
        assert!(!page.entries.is_empty(), "only the last page may be empty");
        next_number = numbers.last().map_or(first_number, |last_number| last_number + 1);
    }
}

async fn segments_and_logs_are_separate<T: Entries + Segments>(tables: &T) {
    let (first_log, second_log) = (new_log_id("apart-1"), new_log_id("apart-2"));
    for (log_id, segment_number) in
        [(first_log, 0), (first_log, 1), (first_log, 256), (second_log, 0)]
    {
        let entry = edit_entry(log_id, at(segment_number, 0), "x");
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
        let page = tables.page(log_id, at(segment_number, 0), ReadConsistency::Strong).await;
        assert!(page.is_ok_and(|page| page.entries == [entry.into()] && !page.more));
    }
}

async fn segments_are_listed_newest_first<T: Entries + Segments>(tables: &T) {
    let log_id = new_log_id("newest segments");
    for segment_number in [0, 1, 10, 2] {
        let first_entry = edit_entry(log_id, at(segment_number, 0), "first");
        let outcome = tables.create(&segment_record(log_id, segment_number), &first_entry).await;
        assert_eq!(outcome, CreateOutcome::Created);
    }
    let newest_segments =
        tables.newest(log_id, 2, ReadConsistency::Strong).await.unwrap_or_default();
    let newest_numbers: Vec<u32> = newest_segments.iter().map(|segment| segment.num).collect();
    assert_eq!(newest_numbers, [10, 2]);
}

async fn one_of_many_writers_wins<T: Entries>(tables: &T) {
    let log_id = new_log_id("race");
    let entries: Vec<Entry> =
        (0..16).map(|writer: u32| edit_entry(log_id, at(0, 1), &writer.to_string())).collect();
    // Send the puts concurrently, so that all of them are in flight before the first response
    // arrives.
    let outcomes = join_all(entries.iter().map(|entry| tables.put(entry))).await;
    let mut accepted_count = 0;
    let mut winners = BTreeSet::new();
    for outcome in outcomes {
        match outcome {
            PutOutcome::Accepted => accepted_count += 1,
            PutOutcome::Refused { winner } => {
                winners.insert(format!("{winner:?}"));
            }
            PutOutcome::Unknown(_) | PutOutcome::Failed(_) => {}
        }
    }
    assert_eq!(accepted_count, 1, "exactly one writer wins");
    assert_eq!(winners.len(), 1, "every loser receives the same winner");
}
