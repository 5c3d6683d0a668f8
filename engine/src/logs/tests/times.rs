//! Positions at times.

use cellar_api::wire::PositionOrTime;
use cellar_base::limits::TIME_PAGE_ENTRIES;

use super::positions::offloaded;
use super::*;

/// Returns tables with a log whose entries have these times, by segment.
async fn with_times(segments: &[&[u64]]) -> MemoryTables {
    let tables = MemoryTables::default();
    for (num, times) in (0..).zip(segments) {
        for (entry_number, created_s) in (0..).zip(*times) {
            let is_last = usize::try_from(entry_number).unwrap() == times.len() - 1;
            let is_closed = usize::try_from(num).unwrap() < segments.len() - 1;
            let content = if is_last && is_closed {
                Content::EndSegment
            } else {
                Content::Snapshot { root: None, trimmed_s: None }
            };
            let first = Entry::first(log(), None, *created_s);
            let entry = Entry { position: at(num, entry_number), content, ..first };
            if entry_number > 0 {
                assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
                continue;
            }
            let segment = Segment {
                log: log(),
                num,
                created_s: *created_s,
                last_snapshot: None,
                offloaded: None,
                lineage: None,
            };
            assert_eq!(tables.create(&segment, &entry).await, CreateOutcome::Created);
        }
    }
    tables
}

async fn find(logs: &Logs, log_id: LogId, unix_s: u64) -> Result<Position, LogError> {
    logs.find_position(log_id, PositionOrTime::Time { unix_s }, None).await
}

/// Returns the last position whose time is not later, by reading all times.
fn expected(segments: &[&[u64]], unix_s: u64) -> Position {
    let mut last = Position::FIRST;
    for (num, times) in (0..).zip(segments) {
        for (entry_number, created_s) in (0..).zip(*times) {
            if *created_s <= unix_s {
                last = at(num, entry_number);
            }
        }
    }
    last
}

#[tokio::test]
async fn a_time_stands_for_the_last_entry_that_is_not_later() {
    let long: Vec<u64> = (80..180).map(|time| time / 3 * 3).collect();
    let segments: [&[u64]; 4] = [&[10, 20, 20, 30], &[40, 40], &[50, 60, 70], &long];
    let logs = logs(&Arc::new(with_times(&segments).await));
    for unix_s in 10..200 {
        assert_eq!(find(&logs, log(), unix_s).await, Ok(expected(&segments, unix_s)), "{unix_s}");
    }
    assert_eq!(find(&logs, log(), u64::MAX).await, Ok(at(3, 99)));
    let before = LogError::BeforeCreation { time_s: 9, created_s: 10 };
    assert_eq!(find(&logs, log(), 9).await, Err(before.clone()));
    assert!(before.to_string().contains("at 1970-01-01T00:00:09Z; it was created"), "{before}");
    let position = PositionOrTime::Position(at(7, 7));
    assert_eq!(logs.find_position(log(), position, None).await, Ok(at(7, 7)), "no read");
}

#[tokio::test]
async fn a_missing_log_has_no_position_at_any_time() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    assert_eq!(find(&logs, log(), 10).await, Err(LogError::NotFound));
}

#[tokio::test]
async fn a_search_reads_few_entries() {
    let times: Vec<u64> = (0..1_000).collect();
    let clock = Arc::new(ManualClock::at(StoppedClock.now_ms()));
    let blobs = MemoryBlobs::new(clock.clone());
    let tables = FaultyPorts::new(vec![], with_times(&[&times]).await, blobs, clock);
    let logs = logs(&tables);
    let before = tables.faults.requests();
    assert_eq!(find(&logs, log(), 333).await, Ok(at(0, 333)));
    let requests = tables.faults.requests() - before;
    // Two requests for the head, one for the first entry, one per halving, and one page.
    let halvings = (1_000 / TIME_PAGE_ENTRIES).next_power_of_two().ilog2();
    assert!(requests <= 4 + usize::try_from(halvings).unwrap(), "{requests} requests");
}

#[tokio::test]
async fn neighbours_of_servers_with_different_clocks_are_found_exactly() {
    let times: &[u64] = &[10, 30, 20, 40, 35, 50];
    let logs = logs(&Arc::new(with_times(&[times]).await));
    for unix_s in 10..60 {
        assert_eq!(find(&logs, log(), unix_s).await, Ok(expected(&[times], unix_s)), "{unix_s}");
    }
}

#[tokio::test]
async fn trimmed_and_inherited_entries_are_found() {
    let segments: [&[u64]; 2] = [&[10, 20, 30], &[40, 50]];
    let tables = Arc::new(with_times(&segments).await);
    let service = logs(&tables);
    let fork = LogId::derive_fork(&SubjectKey::new("cellar", "alice"), log(), "fork").unwrap();
    let request = NewFork { log: fork, source: log(), at: Some(at(1, 0)), author: None };
    service.fork(request).await.unwrap();
    let trimmed = offloaded(&tables).await;
    for unix_s in 10..60 {
        assert_eq!(find(&trimmed, log(), unix_s).await, Ok(expected(&segments, unix_s)));
        let shared = expected(&[segments[0], &[40]], unix_s);
        assert_eq!(find(&trimmed, fork, unix_s).await, Ok(shared), "{unix_s}");
    }
    let forked_s = StoppedClock.now_ms() / 1_000;
    assert_eq!(find(&trimmed, fork, forked_s).await, Ok(at(2, 0)));
    assert_eq!(find(&trimmed, fork, forked_s - 1).await, Ok(at(1, 0)));
}
