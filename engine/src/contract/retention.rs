//! Contract tests for retention: offloading, trimming and purging old segments.

use std::collections::BTreeMap;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;

use super::{at, edit_entry, forks, new_log_id, segment_record};
use crate::ports::{CreateOutcome, Entries, PutOutcome, ReadConsistency, Retention, Segments};

/// Checks offloading, trimming and purging. Does not change other logs in the tables.
pub async fn retention<T: Entries + Segments + Retention>(tables: &T) {
    all_segments_are_listed_log_by_log(tables).await;
    an_offload_is_recorded(tables).await;
    an_earlier_mark_stays(tables).await;
    a_delete_may_be_repeated(tables).await;
    records_of_segments_are_deleted_one_by_one(tables).await;
    listed_forks_are_deleted(tables).await;
}

async fn all_segments_are_listed_log_by_log<T: Entries + Segments + Retention>(tables: &T) {
    let created_segments = create_many_segments(tables).await;
    // Fork records must not be returned as segments, even if a page ends with a fork record.
    for (number, log_id) in created_segments.keys().enumerate() {
        forks::create_forks(tables, *log_id, &format!("listed {number}"), 3).await;
    }
    let listed_segments = list_all_segments(tables).await;
    for (log_id, segments) in &created_segments {
        let adjacent_segments = listed_segments
            .iter()
            .skip_while(|segment| segment.log != *log_id)
            .take_while(|segment| segment.log == *log_id);
        assert!(adjacent_segments.eq(segments), "the segments of a log are adjacent and sorted");
    }
    let listed_count = listed_segments
        .iter()
        .filter(|segment| created_segments.contains_key(&segment.log))
        .count();
    let created_count: usize = created_segments.values().map(Vec::len).sum();
    assert_eq!(listed_count, created_count, "each once");
}

async fn list_all_segments<T: Retention>(tables: &T) -> Vec<Segment> {
    let mut listed_segments = Vec::new();
    let mut page_count = 0;
    let mut next_page = None;
    loop {
        let page = tables.all_segments(next_page).await;
        let page = page.unwrap_or_else(|error| panic!("{error}"));
        listed_segments.extend(page.segments);
        page_count += 1;
        next_page = page.next;
        if next_page.is_none() {
            break;
        }
    }
    assert!(page_count > 1, "more than one page");
    listed_segments
}

/// Creates logs whose segment records span several pages. Returns the segments of each log in
/// ascending order.
async fn create_many_segments<T: Entries + Segments>(tables: &T) -> BTreeMap<LogId, Vec<Segment>> {
    /// Number of logs whose records span several pages, both in memory and in DynamoDB.
    const LOGS: u32 = 40;
    const SEGMENTS: u32 = 4;
    let mut created_segments = BTreeMap::<LogId, Vec<Segment>>::new();
    for number in 0..LOGS {
        let log_id = new_log_id(&format!("all segments {number}"));
        // Create the segments in descending order, so that the check fails if the table returns
        // them in the order of creation.
        for num in (0..SEGMENTS).rev() {
            // The key of the offloaded copy is long, so that a DynamoDB page contains only a few
            // segments.
            let offloaded = Some("x".repeat(8_000));
            let segment = Segment { offloaded, ..segment_record(log_id, num) };
            let first_entry = edit_entry(log_id, at(num, 0), "x");
            assert_eq!(tables.create(&segment, &first_entry).await, CreateOutcome::Created);
            created_segments.entry(log_id).or_default().insert(0, segment);
        }
    }
    created_segments
}

async fn create_closed_segment<T: Entries + Segments>(tables: &T, nonce: &str) -> LogId {
    let log_id = new_log_id(nonce);
    let first_entry = Entry::first(log_id, Some("alice".into()), 7);
    assert_eq!(
        tables.create(&segment_record(log_id, 0), &first_entry).await,
        CreateOutcome::Created
    );
    for num in 1..5 {
        assert_eq!(tables.put(&edit_entry(log_id, at(0, num), "x")).await, PutOutcome::Accepted);
    }
    let end_segment = Entry { position: at(0, 5), content: Content::EndSegment, ..first_entry };
    assert_eq!(tables.put(&end_segment).await, PutOutcome::Accepted);
    log_id
}

async fn an_offload_is_recorded<T: Entries + Segments + Retention>(tables: &T) {
    let log_id = create_closed_segment(tables, "set offload").await;
    assert_eq!(tables.raise_last_snapshot(log_id, at(0, 3)).await, Ok(()));
    for key in ["offloaded/one", "offloaded/one", "offloaded/two"] {
        assert_eq!(tables.set_offloaded(log_id, 0, key).await, Ok(()));
        let offloaded = Some(key.to_owned());
        let expected_segment =
            Segment { offloaded, last_snapshot: Some(3), ..segment_record(log_id, 0) };
        assert_eq!(
            tables.segment(log_id, 0, ReadConsistency::Strong).await,
            Ok(Some(expected_segment)),
            "nothing else changed"
        );
    }
    let outcome = tables.set_offloaded(log_id, 1, "offloaded/none").await;
    assert!(outcome.is_err_and(|error| !error.temporary), "permanent");
    assert_eq!(
        tables.segment(log_id, 1, ReadConsistency::Strong).await,
        Ok(None),
        "no segment was created"
    );
}

async fn an_earlier_mark_stays<T: Entries + Segments + Retention>(tables: &T) {
    let log_id = create_closed_segment(tables, "mark").await;
    for trimmed_s in [1_000, 1_000, 2_000, 500] {
        assert_eq!(tables.mark_trimmed(log_id, 0, trimmed_s).await, Ok(()));
        let content = Content::Snapshot { root: None, trimmed_s: Some(1_000) };
        let marked_entry = Entry { content, ..Entry::first(log_id, Some("alice".into()), 7) };
        assert_eq!(tables.get(log_id, Position::FIRST).await, Ok(Some(marked_entry.into())));
    }
    let page = tables.page(log_id, at(0, 1), ReadConsistency::Strong).await;
    assert!(page.is_ok_and(|page| page.entries.len() == 5), "other entries are unchanged");
    let outcome = tables.mark_trimmed(log_id, 1, 1_000).await;
    assert!(outcome.is_err_and(|error| !error.temporary), "permanent");
    assert_eq!(tables.get(log_id, at(1, 0)).await, Ok(None), "no entry was created");
}

async fn a_delete_may_be_repeated<T: Entries + Segments + Retention>(tables: &T) {
    let log_id = create_closed_segment(tables, "delete").await;
    let other_log = create_closed_segment(tables, "delete not").await;
    assert_eq!(tables.delete(log_id, &[]).await, Ok(()));
    assert_eq!(tables.delete(log_id, &[at(0, 1), at(0, 2)]).await, Ok(()));
    // Some of these entries are already deleted, and the last entry never existed.
    let positions = [at(0, 1), at(0, 2), at(0, 3), at(0, 4), at(0, 9)];
    for _ in 0..2 {
        assert_eq!(tables.delete(log_id, &positions).await, Ok(()));
        let page = tables.page(log_id, Position::FIRST, ReadConsistency::Strong).await;
        let remaining_positions =
            page.map(|page| page.entries.iter().map(|entry| entry.position).collect::<Vec<_>>());
        assert_eq!(remaining_positions, Ok(vec![Position::FIRST, at(0, 5)]));
    }
    let page = tables.page(other_log, Position::FIRST, ReadConsistency::Strong).await;
    assert!(page.is_ok_and(|page| page.entries.len() == 6), "other logs are unchanged");
    // Delete more entries than a single request can delete.
    let many_positions: Vec<Position> = (6..106).map(|num| at(0, num)).collect();
    for position in &many_positions {
        let entry = edit_entry(other_log, *position, "x");
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
    }
    assert_eq!(tables.delete(other_log, &many_positions).await, Ok(()));
    let page = tables.page(other_log, Position::FIRST, ReadConsistency::Strong).await;
    assert!(page.is_ok_and(|page| page.entries.len() == 6));
}

async fn records_of_segments_are_deleted_one_by_one<T: Entries + Segments + Retention>(tables: &T) {
    let (log_id, other_log) = (new_log_id("delete segment"), new_log_id("delete segment not"));
    for segment in
        [segment_record(log_id, 0), segment_record(log_id, 1), segment_record(other_log, 0)]
    {
        let first_entry = edit_entry(segment.log, at(segment.num, 0), "x");
        assert_eq!(tables.create(&segment, &first_entry).await, CreateOutcome::Created);
    }
    for _ in 0..2 {
        assert_eq!(tables.delete_segment(log_id, 1).await, Ok(()));
        assert_eq!(
            tables.newest(log_id, 9, ReadConsistency::Strong).await,
            Ok(vec![segment_record(log_id, 0)])
        );
    }
    assert_eq!(tables.delete_segment(log_id, 0).await, Ok(()));
    assert_eq!(tables.newest(log_id, 9, ReadConsistency::Strong).await, Ok(vec![]));
    assert_eq!(
        tables.newest(other_log, 9, ReadConsistency::Strong).await,
        Ok(vec![segment_record(other_log, 0)]),
        "other logs are unchanged"
    );
    let page = tables.page(log_id, at(0, 0), ReadConsistency::Strong).await;
    assert!(page.is_ok_and(|page| page.entries.len() == 1), "entries are kept");
}

async fn listed_forks_are_deleted<T: Entries + Segments + Retention>(tables: &T) {
    let (source, other_source) = (new_log_id("delete listed"), new_log_id("delete listed not"));
    forks::create_forks(tables, source, "delete listed", 3).await;
    forks::create_forks(tables, other_source, "delete listed not", 1).await;
    let page = tables.forks(source, None, 9).await.unwrap_or_default();
    let [first_fork, second_fork, third_fork] = page.forks.as_slice() else {
        panic!("three forks are listed, not {}", page.forks.len())
    };
    for _ in 0..2 {
        assert_eq!(tables.delete_listed(source, second_fork.number).await, Ok(()));
        let remaining_forks = tables.forks(source, None, 9).await.map(|page| page.forks);
        assert_eq!(remaining_forks, Ok(vec![first_fork.clone(), third_fork.clone()]));
    }
    let other_count = tables.forks(other_source, None, 9).await.map(|page| page.forks.len());
    assert_eq!(other_count, Ok(1), "other lists are unchanged");
    let fork_segment = tables.segment(second_fork.fork, 0, ReadConsistency::Strong).await;
    assert!(fork_segment.is_ok_and(|segment| segment.is_some()), "the fork itself stays");
}
