//! Contract tests for forks: the fork transaction and the log's fork list.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::lineage::Lineage;
use cellar_log::records::fork::ListedFork;
use cellar_log::segment::Segment;

use super::{at, log, segment};
use crate::ports::{CreateOutcome, Entries, ForkRecords, Segments};

/// Returns the records of a fork of `source` at position 2.3.
fn records(source: LogId, fork: LogId, number: u64) -> ForkRecords {
    let position = at(2, 3);
    let lineage = Lineage {
        source,
        position,
        position_ends_segment: false,
        family: source,
        depth: 1,
        snapshot: Some(at(1, 9)),
        forked_s: 1_795_246_133,
    };
    let first = Entry::first(fork, Some("alice".into()), 1_795_246_133);
    let (created_s, author) = (first.created_s, first.author.clone());
    ForkRecords {
        origin: Segment { lineage: Some(lineage), ..segment(fork, 0) },
        segment: segment(fork, 3),
        first: Entry { position: at(3, 0), ..first },
        listed: ListedFork { source, number, fork, position, created_s, author },
    }
}

pub(super) async fn a_fork_writes_all_four_records_or_none<T: Entries + Segments>(tables: &T) {
    let (source, fork) = (log("forked"), log("fork"));
    let written = records(source, fork, 77);
    assert_eq!(tables.fork(&written).await, CreateOutcome::Created);
    assert_written(tables, &written).await;
    assert_eq!(
        tables.fork(&written).await,
        CreateOutcome::Exists,
        "a repeated request changes nothing"
    );
    assert_written(tables, &written).await;
    // One of the four keys is taken. The transaction must write nothing.
    let other = records(source, log("another fork"), 78);
    let lost = [
        ForkRecords { origin: written.origin.clone(), ..other.clone() },
        ForkRecords { segment: written.segment.clone(), ..other.clone() },
        ForkRecords { first: written.first.clone(), ..other.clone() },
        ForkRecords { listed: ListedFork { number: 77, ..other.listed.clone() }, ..other.clone() },
    ];
    for lost in lost {
        assert_eq!(tables.fork(&lost).await, CreateOutcome::Exists);
        assert_written(tables, &written).await;
        let (log, position) = (other.first.log, other.first.position);
        assert_eq!(tables.get(log, position).await, Ok(None));
        assert_eq!(tables.newest(log, 9, true).await, Ok(Vec::new()));
    }
}

async fn assert_written<T: Entries + Segments>(tables: &T, written: &ForkRecords) {
    let (log, ForkRecords { origin, segment, first, listed }) = (written.first.log, written);
    let newest = tables.newest(log, 9, true).await;
    assert_eq!(newest, Ok(vec![segment.clone(), origin.clone()]));
    assert_eq!(tables.segment(log, 0, true).await, Ok(Some(origin.clone())));
    assert_eq!(tables.get(log, first.position).await, Ok(Some(first.clone().into())));
    assert_eq!(tables.get(log, Position::FIRST).await, Ok(None), "nothing of the source");
    let page = tables.forks(listed.source, None, 9).await;
    assert!(page.is_ok_and(|page| page.forks == [listed.clone()] && page.next.is_none()));
    // Fork records must not be returned as segments.
    assert_eq!(tables.newest(listed.source, 9, true).await, Ok(Vec::new()));
}

/// Creates forks with long author names, so that the fork list spans several pages.
pub(super) async fn create_forks<T: Entries + Segments>(
    tables: &T,
    source: LogId,
    nonce: &str,
    count: u64,
) {
    for number in (0..count).rev() {
        let mut made = records(source, log(&format!("{nonce} {number}")), number * 10);
        made.listed.author = Some("x".repeat(8_000));
        assert_eq!(tables.fork(&made).await, CreateOutcome::Created);
    }
}

pub(super) async fn forks_are_listed_by_their_source_in_pages<T: Entries + Segments>(tables: &T) {
    let (source, other) = (log("listed"), log("listed not"));
    create_forks(tables, other, "fork of another", 2).await;
    create_forks(tables, source, "fork of listed", 7).await;
    for limit in [1, 3, 7, 100] {
        let (mut after, mut numbers) = (None, Vec::new());
        loop {
            let page = tables.forks(source, after, limit).await;
            assert!(page.is_ok(), "{page:?}");
            let Ok(page) = page else { return };
            assert!(page.forks.len() <= usize::try_from(limit).unwrap_or(usize::MAX));
            assert!(page.forks.iter().all(|listed| listed.source == source));
            numbers.extend(page.forks.iter().map(|listed| listed.number));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(numbers, [0, 10, 20, 30, 40, 50, 60]);
    }
    let behind = tables.forks(source, Some(60), 9).await;
    assert!(behind.is_ok_and(|page| page.forks.is_empty() && page.next.is_none()));
    let none = tables.forks(log("never forked"), None, 9).await;
    assert!(none.is_ok_and(|page| page.forks.is_empty() && page.next.is_none()));
}
