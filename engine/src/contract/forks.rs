//! Contract tests for forks: creating a fork in one transaction, and listing the forks of a log.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::lineage::Lineage;
use cellar_log::records::fork::ListedFork;
use cellar_log::segment::Segment;

use super::{at, new_log_id, segment_record};
use crate::ports::{CreateOutcome, Entries, ForkRecords, ReadConsistency, Segments};

fn fork_records(source: LogId, fork: LogId, number: u64) -> ForkRecords {
    const CREATED_S: u64 = 1_795_246_133;
    let author = Some("alice".to_owned());
    let position = at(2, 3);
    let lineage = Lineage {
        source,
        position,
        position_ends_segment: false,
        family: source,
        depth: 1,
        snapshot: Some(at(1, 9)),
        forked_s: CREATED_S,
    };
    ForkRecords {
        origin: Segment { lineage: Some(lineage), ..segment_record(fork, 0) },
        segment: segment_record(fork, 3),
        first: Entry { position: at(3, 0), ..Entry::first(fork, author.clone(), CREATED_S) },
        listed: ListedFork { source, number, fork, position, created_s: CREATED_S, author },
    }
}

pub(super) async fn a_fork_writes_all_four_records_or_none<T: Entries + Segments>(tables: &T) {
    let (source, fork) = (new_log_id("forked"), new_log_id("fork"));
    let stored_records = fork_records(source, fork, 77);
    assert_eq!(tables.fork(&stored_records).await, CreateOutcome::Created);
    assert_stored(tables, &stored_records).await;
    assert_eq!(
        tables.fork(&stored_records).await,
        CreateOutcome::Exists,
        "a repeated request changes nothing"
    );
    assert_stored(tables, &stored_records).await;
    // Each of these transactions writes a key that already exists, so it must fail and write
    // nothing.
    let other_records = fork_records(source, new_log_id("another fork"), 78);
    let taken_number = ListedFork { number: 77, ..other_records.listed.clone() };
    let conflicting_forks = [
        ForkRecords { origin: stored_records.origin.clone(), ..other_records.clone() },
        ForkRecords { segment: stored_records.segment.clone(), ..other_records.clone() },
        ForkRecords { first: stored_records.first.clone(), ..other_records.clone() },
        ForkRecords { listed: taken_number, ..other_records.clone() },
    ];
    for conflicting_fork in conflicting_forks {
        assert_eq!(tables.fork(&conflicting_fork).await, CreateOutcome::Exists);
        assert_stored(tables, &stored_records).await;
        let Entry { log: log_id, position, .. } = other_records.first;
        assert_eq!(tables.get(log_id, position).await, Ok(None));
        assert_eq!(tables.newest(log_id, 9, ReadConsistency::Strong).await, Ok(Vec::new()));
    }
}

async fn assert_stored<T: Entries + Segments>(tables: &T, records: &ForkRecords) {
    let ForkRecords { origin, segment, first, listed } = records;
    let fork = first.log;
    let newest_segments = tables.newest(fork, 9, ReadConsistency::Strong).await;
    assert_eq!(newest_segments, Ok(vec![segment.clone(), origin.clone()]));
    assert_eq!(tables.segment(fork, 0, ReadConsistency::Strong).await, Ok(Some(origin.clone())));
    assert_eq!(tables.get(fork, first.position).await, Ok(Some(first.clone().into())));
    assert_eq!(tables.get(fork, Position::FIRST).await, Ok(None), "nothing of the source");
    let page = tables.forks(listed.source, None, 9).await;
    assert!(page.is_ok_and(|page| page.forks == [listed.clone()] && page.next.is_none()));
    // Records in the fork list are not segments, so they must not be returned as segments.
    assert_eq!(tables.newest(listed.source, 9, ReadConsistency::Strong).await, Ok(Vec::new()));
}

/// Creates forks with long author names, so that the fork list spans several pages.
pub(super) async fn create_forks<T: Entries + Segments>(
    tables: &T,
    source: LogId,
    nonce: &str,
    count: u64,
) {
    for number in (0..count).rev() {
        let fork = new_log_id(&format!("{nonce} {number}"));
        let mut records = fork_records(source, fork, number * 10);
        records.listed.author = Some("x".repeat(8_000));
        assert_eq!(tables.fork(&records).await, CreateOutcome::Created);
    }
}

pub(super) async fn forks_are_listed_by_their_source_in_pages<T: Entries + Segments>(tables: &T) {
    let (source, other_source) = (new_log_id("listed"), new_log_id("listed not"));
    create_forks(tables, other_source, "fork of another", 2).await;
    create_forks(tables, source, "fork of listed", 7).await;
    for page_limit in [1, 3, 7, 100] {
        let listed_numbers = list_fork_numbers(tables, source, page_limit).await;
        assert_eq!(listed_numbers, [0, 10, 20, 30, 40, 50, 60]);
    }
    let last_number = Some(60);
    for (source, after) in [(source, last_number), (new_log_id("never forked"), None)] {
        let page = tables.forks(source, after, 9).await;
        assert!(page.is_ok_and(|page| page.forks.is_empty() && page.next.is_none()));
    }
}

async fn list_fork_numbers<T: Segments>(tables: &T, source: LogId, page_limit: u32) -> Vec<u64> {
    let mut listed_numbers = Vec::new();
    let mut last_number = None;
    loop {
        let page = tables.forks(source, last_number, page_limit).await;
        let page = page.unwrap_or_else(|error| panic!("{error}"));
        assert!(page.forks.len() <= usize::try_from(page_limit).unwrap_or(usize::MAX));
        assert!(page.forks.iter().all(|fork| fork.source == source));
        listed_numbers.extend(page.forks.iter().map(|fork| fork.number));
        last_number = page.next;
        if last_number.is_none() {
            return listed_numbers;
        }
    }
}
