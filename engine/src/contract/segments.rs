//! Contract tests for the segment port: backward paging, rolls, roots and the newest finished
//! snapshot.

use cellar_base::identity::LogId;
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION, Header};
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use super::{at, edits, log, segment, unreadable_page};
use crate::ports::{CreateOutcome, Entries, PutOutcome, Segments};

pub(super) async fn pages_backward_are_descending_and_complete<T: Entries>(tables: &T) {
    // The entries exceed one DynamoDB page, so a page contains fewer entries than its limit.
    let log = log("pages backward");
    for num in 0..30 {
        let entry = edits(log, at(2, num), &"x".repeat(60_000));
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
    }
    for (consistent, limit) in [(false, 1_000), (true, 1_000), (true, 4)] {
        let (mut from, mut read) = (Some(26), Vec::<u32>::new());
        while let Some(num) = from {
            let page = tables.page_back(log, at(2, num), limit, consistent).await;
            let Ok(page) = page else { unreadable_page() };
            assert!(page.entries.len() <= usize::try_from(limit).unwrap_or(usize::MAX));
            assert!(!page.more || !page.entries.is_empty());
            read.extend(page.entries.iter().map(|entry| entry.position.entry_number()));
            from = read.last().and_then(|last| last.checked_sub(1)).filter(|_| page.more);
        }
        assert_eq!(read, (0..=26).rev().collect::<Vec<_>>());
    }
    // If the start is past the last entry, the page starts at the latest entry and contains no
    // entries of other segments.
    let page = tables.page_back(log, at(2, 99), 1, true).await;
    assert!(page.is_ok_and(|page| page.entries.iter().all(|entry| entry.position == at(2, 29))));
    for elsewhere in [at(1, 99), at(3, 99)] {
        let page = tables.page_back(log, elsewhere, 9, true).await;
        assert!(page.is_ok_and(|page| page.entries.is_empty() && !page.more));
    }
}

/// Returns the transaction that rolls a log: it closes segment `num`, which contains entries 0 and
/// 1.
fn transaction(log: LogId, num: u32) -> Transaction {
    let entry = |position, content| Entry {
        position,
        content,
        header: Header::first(FIRST_INCARNATION),
        ..Entry::first(log, None, 1_795_246_133)
    };
    let snapshot = Content::Snapshot { root: None, trimmed_s: None };
    Transaction {
        end: entry(at(num, 2), Content::EndSegment),
        segment: segment(log, num + 1),
        first: entry(at(num + 1, 0), snapshot),
    }
}

async fn created_log<T: Entries + Segments>(tables: &T, nonce: &str) -> LogId {
    let log = log(nonce);
    let first = Entry::first(log, None, 7);
    assert_eq!(tables.create(&segment(log, 0), &first).await, CreateOutcome::Created);
    assert_eq!(tables.put(&edits(log, at(0, 1), "x")).await, PutOutcome::Accepted);
    log
}

pub(super) async fn a_roll_writes_all_three_records_or_none<T: Entries + Segments>(tables: &T) {
    let log = created_log(tables, "roll").await;
    let roll = transaction(log, 0);
    assert_eq!(tables.roll(&roll).await, CreateOutcome::Created);
    assert_rolled(tables, &roll).await;
    assert_eq!(
        tables.roll(&roll).await,
        CreateOutcome::Exists,
        "a repeated request changes nothing"
    );
    assert_rolled(tables, &roll).await;
    // One of the three keys is taken. The transaction must write nothing.
    let after = Transaction { end: edits(log, at(0, 3), "x"), ..transaction(log, 7) };
    let lost = [
        Transaction { end: roll.end.clone(), ..after.clone() },
        Transaction { segment: roll.segment.clone(), ..after.clone() },
        Transaction { first: roll.first.clone(), ..after.clone() },
    ];
    for lost in lost {
        assert_eq!(tables.roll(&lost).await, CreateOutcome::Exists);
        assert_rolled(tables, &roll).await;
        assert_eq!(tables.get(log, after.end.position).await, Ok(None));
        assert_eq!(tables.get(log, after.first.position).await, Ok(None));
        assert_eq!(tables.segment(log, 8, true).await, Ok(None));
    }
}

async fn assert_rolled<T: Entries + Segments>(tables: &T, roll: &Transaction) {
    let log = roll.segment.log;
    for entry in [&roll.end, &roll.first] {
        let read = tables.get(log, entry.position).await;
        assert_eq!(read, Ok(Some(entry.clone().into())));
    }
    assert_eq!(tables.segment(log, 1, true).await, Ok(Some(roll.segment.clone())));
    assert_eq!(tables.newest(log, 9, true).await.map(|newest| newest.len()), Ok(2));
}

pub(super) async fn a_roll_and_an_append_exclude_each_other<T: Entries + Segments>(tables: &T) {
    let log = created_log(tables, "roll or append").await;
    let taken = edits(log, at(0, 2), "faster");
    assert_eq!(tables.put(&taken).await, PutOutcome::Accepted);
    assert_eq!(tables.roll(&transaction(log, 0)).await, CreateOutcome::Exists);
    assert_eq!(tables.get(log, at(0, 2)).await, Ok(Some(taken.into())));
    assert_eq!(tables.segment(log, 1, true).await, Ok(None));
    let mut further = transaction(log, 0);
    further.end.position = at(0, 3);
    assert_eq!(tables.roll(&further).await, CreateOutcome::Created);
    let put = tables.put(&edits(log, at(0, 3), "too late")).await;
    assert_eq!(put, PutOutcome::Refused { winner: further.end.into() });
}

pub(super) async fn the_last_snapshot_only_rises<T: Entries + Segments>(tables: &T) {
    let log = created_log(tables, "last snapshot").await;
    assert_eq!(tables.roll(&transaction(log, 0)).await, CreateOutcome::Created);
    for (raised, stands) in [(0, 0), (5, 5), (5, 5), (3, 5), (u32::MAX, u32::MAX), (6, u32::MAX)] {
        assert_eq!(tables.raise_last_snapshot(log, at(1, raised)).await, Ok(()));
        for consistent in [false, true] {
            let read = tables.segment(log, 1, consistent).await;
            let last_snapshot = Some(stands);
            assert_eq!(read, Ok(Some(Segment { last_snapshot, ..segment(log, 1) })));
        }
    }
    assert_eq!(
        tables.segment(log, 0, true).await,
        Ok(Some(segment(log, 0))),
        "other segments are unchanged"
    );
    let absent = tables.raise_last_snapshot(log, at(2, 0)).await;
    assert!(absent.is_err_and(|error| !error.temporary), "permanent");
    assert_eq!(tables.segment(log, 2, true).await, Ok(None), "no segment was created");
}

pub(super) async fn a_root_is_set_once<T: Entries + Segments>(tables: &T) {
    let log = created_log(tables, "root").await;
    let first = Entry::first(log, None, 7);
    for root in ["sheets/a/roots/b", "sheets/a/roots/b", "sheets/a/roots/c"] {
        let stands = tables.set_root(log, first.position, root).await;
        assert_eq!(stands.as_deref(), Ok("sheets/a/roots/b"));
    }
    let root = Some("sheets/a/roots/b".to_owned());
    let finished = Entry { content: Content::Snapshot { root, trimmed_s: None }, ..first };
    assert_eq!(tables.get(log, finished.position).await, Ok(Some(finished.into())));
    // An edit entry cannot get a root, and setting a root never creates an entry.
    for elsewhere in [at(0, 1), at(0, 2), at(1, 0)] {
        let before = tables.get(log, elsewhere).await;
        let set = tables.set_root(log, elsewhere, "sheets/a/roots/b").await;
        assert!(set.is_err_and(|error| !error.temporary), "{elsewhere}");
        assert_eq!(tables.get(log, elsewhere).await, before);
    }
}

pub(super) async fn a_root_is_replaced_if_it_is_the_expected_one<T: Entries + Segments>(
    tables: &T,
) {
    let log = created_log(tables, "root replaced").await;
    let first = Entry::first(log, None, 7);
    let (a, b) = ("sheets/a/roots/a", "sheets/a/roots/b");
    let none = tables.replace_root(log, first.position, Some(a), b).await;
    assert_eq!(none, Ok(None), "the entry has no root yet");
    for (replaces, root, stands) in [
        (None, a, a),
        (None, b, a),
        (Some(b), b, a),
        (Some(a), a, a),
        (Some(a), b, b),
        (Some(a), "sheets/a/roots/c", b),
    ] {
        let replaced = tables.replace_root(log, first.position, replaces, root).await;
        assert_eq!(replaced, Ok(Some(stands.to_owned())), "{replaces:?} {root}");
    }
    let root = Some(b.to_owned());
    let finished = Entry { content: Content::Snapshot { root, trimmed_s: None }, ..first };
    assert_eq!(tables.get(log, finished.position).await, Ok(Some(finished.into())));
    for elsewhere in [at(0, 1), at(0, 2), at(1, 0)] {
        let before = tables.get(log, elsewhere).await;
        for replaces in [None, Some(a)] {
            let replaced = tables.replace_root(log, elsewhere, replaces, b).await;
            assert_eq!(replaced, Ok(None), "{elsewhere}");
        }
        assert_eq!(tables.get(log, elsewhere).await, before);
    }
}
