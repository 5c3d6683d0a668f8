//! Contract tests for the segment port: backward paging, rolls, snapshot roots and the latest
//! finished snapshot.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION, Header};
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::{at, edit_entry, new_log_id, segment_record};
use crate::ports::{CreateOutcome, Entries, PutOutcome, ReadConsistency, Segments};

pub(super) async fn pages_backward_are_descending_and_complete<T: Entries>(tables: &T) {
    // The total size of the entries exceeds the maximum size of a DynamoDB page, so a page contains
    // fewer entries than its limit.
    let log_id = new_log_id("pages backward");
    for num in 0..30 {
        let entry = edit_entry(log_id, at(2, num), &"x".repeat(60_000));
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
    }
    for (consistency, limit) in [
        (ReadConsistency::Eventual, 1_000),
        (ReadConsistency::Strong, 1_000),
        (ReadConsistency::Strong, 4),
    ] {
        let numbers_read =
            read_entry_numbers_backward(tables, log_id, at(2, 26), limit, consistency).await;
        assert_eq!(numbers_read, (0..=26).rev().collect::<Vec<_>>());
    }
    // If the start position is after the last entry, the page starts with the last entry. Entries
    // of other segments are not returned.
    let page = tables.page_back(log_id, at(2, 99), 1, ReadConsistency::Strong).await;
    assert!(page.is_ok_and(|page| page.entries.iter().all(|entry| entry.position == at(2, 29))));
    for other_segment in [at(1, 99), at(3, 99)] {
        let page = tables.page_back(log_id, other_segment, 9, ReadConsistency::Strong).await;
        assert!(page.is_ok_and(|page| page.entries.is_empty() && !page.more));
    }
}

async fn read_entry_numbers_backward<T: Entries>(
    tables: &T,
    log_id: LogId,
    start_position: Position,
    limit: u32,
    consistency: ReadConsistency,
) -> Vec<u32> {
    let mut numbers_read = Vec::new();
    let mut next_position = Some(start_position);
    while let Some(page_start) = next_position {
        let page = tables.page_back(log_id, page_start, limit, consistency).await;
        let page = page.unwrap_or_else(|error| panic!("{error}"));
        assert!(page.entries.len() <= usize::try_from(limit).unwrap_or(usize::MAX));
        assert!(!page.more || !page.entries.is_empty());
        numbers_read.extend(page.entries.iter().map(|entry| entry.position.entry_number()));
        next_position = match numbers_read.last() {
            Some(oldest_number) if page.more && *oldest_number > 0 => {
                Some(at(start_position.segment(), oldest_number - 1))
            }
            _ => None,
        };
    }
    numbers_read
}

fn roll_of_segment(log_id: LogId, num: u32) -> Transaction {
    let entry = |position, content| Entry {
        position,
        content,
        header: Header::first(FIRST_INCARNATION),
        ..Entry::first(log_id, None, 1_795_246_133)
    };
    let snapshot = Content::Snapshot { root: None, trimmed_s: None };
    Transaction {
        end: entry(at(num, 2), Content::EndSegment),
        segment: segment_record(log_id, num + 1),
        first: entry(at(num + 1, 0), snapshot),
    }
}

async fn create_log<T: Entries + Segments>(tables: &T, nonce: &str) -> LogId {
    let log_id = new_log_id(nonce);
    let first = Entry::first(log_id, None, 7);
    assert_eq!(tables.create(&segment_record(log_id, 0), &first).await, CreateOutcome::Created);
    assert_eq!(tables.put(&edit_entry(log_id, at(0, 1), "x")).await, PutOutcome::Accepted);
    log_id
}

pub(super) async fn a_roll_writes_all_three_records_or_none<T: Entries + Segments>(tables: &T) {
    let log_id = create_log(tables, "roll").await;
    let stored_roll = roll_of_segment(log_id, 0);
    assert_eq!(tables.roll(&stored_roll).await, CreateOutcome::Created);
    assert_rolled(tables, &stored_roll).await;
    assert_eq!(
        tables.roll(&stored_roll).await,
        CreateOutcome::Exists,
        "a repeated request changes nothing"
    );
    assert_rolled(tables, &stored_roll).await;
    // Each of these transactions writes a key that already exists, so it must fail and write
    // nothing.
    let other_roll =
        Transaction { end: edit_entry(log_id, at(0, 3), "x"), ..roll_of_segment(log_id, 7) };
    let conflicting_rolls = [
        Transaction { end: stored_roll.end.clone(), ..other_roll.clone() },
        Transaction { segment: stored_roll.segment.clone(), ..other_roll.clone() },
        Transaction { first: stored_roll.first.clone(), ..other_roll.clone() },
    ];
    for conflicting_roll in conflicting_rolls {
        assert_eq!(tables.roll(&conflicting_roll).await, CreateOutcome::Exists);
        assert_rolled(tables, &stored_roll).await;
        assert_eq!(tables.get(log_id, other_roll.end.position).await, Ok(None));
        assert_eq!(tables.get(log_id, other_roll.first.position).await, Ok(None));
        assert_eq!(tables.segment(log_id, 8, ReadConsistency::Strong).await, Ok(None));
    }
}

async fn assert_rolled<T: Entries + Segments>(tables: &T, roll: &Transaction) {
    let log_id = roll.segment.log;
    for entry in [&roll.end, &roll.first] {
        let stored_entry = tables.get(log_id, entry.position).await;
        assert_eq!(stored_entry, Ok(Some(entry.clone().into())));
    }
    assert_eq!(
        tables.segment(log_id, 1, ReadConsistency::Strong).await,
        Ok(Some(roll.segment.clone()))
    );
    assert_eq!(
        tables.newest(log_id, 9, ReadConsistency::Strong).await.map(|newest| newest.len()),
        Ok(2)
    );
}

pub(super) async fn a_roll_and_an_append_exclude_each_other<T: Entries + Segments>(tables: &T) {
    let log_id = create_log(tables, "roll or append").await;
    let appended_first = edit_entry(log_id, at(0, 2), "faster");
    assert_eq!(tables.put(&appended_first).await, PutOutcome::Accepted);
    assert_eq!(tables.roll(&roll_of_segment(log_id, 0)).await, CreateOutcome::Exists);
    assert_eq!(tables.get(log_id, at(0, 2)).await, Ok(Some(appended_first.into())));
    assert_eq!(tables.segment(log_id, 1, ReadConsistency::Strong).await, Ok(None));
    let mut later_roll = roll_of_segment(log_id, 0);
    later_roll.end.position = at(0, 3);
    assert_eq!(tables.roll(&later_roll).await, CreateOutcome::Created);
    let late_append = tables.put(&edit_entry(log_id, at(0, 3), "too late")).await;
    assert_eq!(late_append, PutOutcome::Refused { winner: later_roll.end.into() });
}

pub(super) async fn the_last_snapshot_only_rises<T: Entries + Segments>(tables: &T) {
    let log_id = create_log(tables, "last snapshot").await;
    assert_eq!(tables.roll(&roll_of_segment(log_id, 0)).await, CreateOutcome::Created);
    for (new_number, stored_number) in
        [(0, 0), (5, 5), (5, 5), (3, 5), (u32::MAX, u32::MAX), (6, u32::MAX)]
    {
        assert_eq!(tables.raise_last_snapshot(log_id, at(1, new_number)).await, Ok(()));
        for consistency in [ReadConsistency::Eventual, ReadConsistency::Strong] {
            let stored_segment = tables.segment(log_id, 1, consistency).await;
            let expected =
                Segment { last_snapshot: Some(stored_number), ..segment_record(log_id, 1) };
            assert_eq!(stored_segment, Ok(Some(expected)));
        }
    }
    assert_eq!(
        tables.segment(log_id, 0, ReadConsistency::Strong).await,
        Ok(Some(segment_record(log_id, 0))),
        "other segments are unchanged"
    );
    let absent_segment = tables.raise_last_snapshot(log_id, at(2, 0)).await;
    assert!(absent_segment.is_err_and(|error| !error.temporary), "permanent");
    assert_eq!(
        tables.segment(log_id, 2, ReadConsistency::Strong).await,
        Ok(None),
        "no segment was created"
    );
}

pub(super) async fn a_root_is_set_once<T: Entries + Segments>(tables: &T) {
    let log_id = create_log(tables, "root").await;
    let first_entry = Entry::first(log_id, None, 7);
    for root in ["sheets/a/roots/b", "sheets/a/roots/b", "sheets/a/roots/c"] {
        let stored_root = tables.set_root(log_id, first_entry.position, root).await;
        assert_eq!(stored_root.as_deref(), Ok("sheets/a/roots/b"));
    }
    let root = Some("sheets/a/roots/b".to_owned());
    let finished_entry =
        Entry { content: Content::Snapshot { root, trimmed_s: None }, ..first_entry };
    assert_eq!(tables.get(log_id, finished_entry.position).await, Ok(Some(finished_entry.into())));
    // A root can be set only on an existing Snapshot entry. It cannot be set on an edit entry or at
    // a position without an entry.
    for other_position in [at(0, 1), at(0, 2), at(1, 0)] {
        let entry_before = tables.get(log_id, other_position).await;
        let outcome = tables.set_root(log_id, other_position, "sheets/a/roots/b").await;
        assert!(outcome.is_err_and(|error| !error.temporary), "{other_position}");
        assert_eq!(tables.get(log_id, other_position).await, entry_before);
    }
}

pub(super) async fn a_root_is_replaced_if_it_is_the_expected_one<T: Entries + Segments>(
    tables: &T,
) {
    let log_id = create_log(tables, "root replaced").await;
    let first_entry = Entry::first(log_id, None, 7);
    let (root_a, root_b) = ("sheets/a/roots/a", "sheets/a/roots/b");
    let outcome = tables.replace_root(log_id, first_entry.position, Some(root_a), root_b).await;
    assert_eq!(outcome, Ok(None), "the entry has no root yet");
    for (expected_root, new_root, stored_root) in [
        (None, root_a, root_a),
        (None, root_b, root_a),
        (Some(root_b), root_b, root_a),
        (Some(root_a), root_a, root_a),
        (Some(root_a), root_b, root_b),
        (Some(root_a), "sheets/a/roots/c", root_b),
    ] {
        let outcome =
            tables.replace_root(log_id, first_entry.position, expected_root, new_root).await;
        assert_eq!(outcome, Ok(Some(stored_root.to_owned())), "{expected_root:?} {new_root}");
    }
    let root = Some(root_b.to_owned());
    let finished_entry =
        Entry { content: Content::Snapshot { root, trimmed_s: None }, ..first_entry };
    assert_eq!(tables.get(log_id, finished_entry.position).await, Ok(Some(finished_entry.into())));
    for other_position in [at(0, 1), at(0, 2), at(1, 0)] {
        let entry_before = tables.get(log_id, other_position).await;
        for expected_root in [None, Some(root_a)] {
            let outcome = tables.replace_root(log_id, other_position, expected_root, root_b).await;
            assert_eq!(outcome, Ok(None), "{other_position}");
        }
        assert_eq!(tables.get(log_id, other_position).await, entry_before);
    }
}
