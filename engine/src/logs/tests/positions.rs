//! Positions that do not exist, between the end of a segment and the next segment.

use cellar_base::consistency::ReadConsistency;
use cellar_log::retention::Plan;

use super::*;
use crate::retention::{Offloader, PlannedSegment};

/// Creates a log whose segment 0 ended at 0.2 and whose head is 1.1.
async fn rolled() -> (Arc<MemoryTables>, Logs) {
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
    service.append(request(1, 1, 2, at(0, 1), "two")).await.unwrap();
    (tables, service)
}

/// Returns a log service after segment 0 was offloaded and trimmed.
pub(super) async fn offloaded(tables: &Arc<MemoryTables>) -> Logs {
    let blobs = Arc::new(MemoryBlobs::new(Arc::new(StoppedClock)));
    let clock = Arc::new(StoppedClock);
    let offloader =
        Offloader::new(tables.clone(), tables.clone(), blobs.clone(), Arc::new(StoppedClock));
    let segment = tables.segment(log(), 0, ReadConsistency::Strong).await.unwrap().unwrap();
    let (plan, body_bytes) = (Plan::OffloadAndTrim, 0);
    let planned = PlannedSegment { segment, entries: 3, body_bytes, ended_s: None, plan };
    assert_eq!(offloader.execute(&planned).await.unwrap().deleted, 1);
    Logs::new(tables.clone(), tables.clone(), blobs, clock, Arc::new(Counter::default()))
}

fn positions(history: &History) -> Vec<Position> {
    history.entries.iter().map(|entry| entry.position).collect()
}

async fn check_history(service: &Logs) {
    for from in [at(0, 3), at(0, 99_999)] {
        let missing = LogError::NoSuchPosition { at: from, newest: at(0, 2) };
        assert_eq!(service.history(log(), Some(from), 100).await, Err(missing));
    }
    let beyond = LogError::NoSuchPosition { at: at(1, 2), newest: at(1, 1) };
    assert_eq!(service.history(log(), Some(at(1, 2)), 100).await, Err(beyond));
    let read = service.history(log(), Some(at(0, 2)), 100).await.unwrap();
    assert_eq!(positions(&read), [at(0, 2), at(0, 1), at(0, 0)]);
    let read = service.history(log(), None, 100).await.unwrap();
    assert_eq!(positions(&read), [at(1, 1), at(1, 0), at(0, 2), at(0, 1), at(0, 0)]);
}

#[tokio::test]
async fn rejects_history_after_the_end_of_a_segment() {
    let (tables, service) = rolled().await;
    check_history(&service).await;
    check_history(&logs(&tables)).await;
    check_history(&offloaded(&tables).await).await;
}

async fn check_diff(service: &Logs) {
    for missing in [at(0, 3), at(0, 99_999)] {
        let error = LogError::NoSuchPosition { at: missing, newest: at(0, 2) };
        let query = everything(Some(missing));
        assert_eq!(service.cells(log(), &query).await, Err(error.clone()));
        for (from, to) in [(missing, at(1, 1)), (at(1, 1), missing), (at(0, 1), missing)] {
            assert_eq!(service.diff(log(), from, to).await, Err(error.clone()), "{from} {to}");
        }
    }
    assert!(service.diff(log(), at(0, 2), at(1, 0)).await.unwrap().sheets.is_empty());
    assert!(service.diff(log(), at(1, 1), at(1, 1)).await.unwrap().sheets.is_empty());
    let diff = service.diff(log(), at(0, 2), at(1, 1)).await.unwrap();
    assert_eq!(diff.sheets[0].cells[0].after.text(), "two");
}

#[tokio::test]
async fn rejects_a_diff_of_missing_positions() {
    let (tables, service) = rolled().await;
    check_diff(&service).await;
    check_diff(&logs(&tables)).await;
    check_diff(&offloaded(&tables).await).await;
}

#[tokio::test]
async fn offloaded_entries_have_the_incarnation_of_the_tables() {
    for incarnation in [FIRST_INCARNATION, 7] {
        let (tables, _) = rolled().await;
        let service = offloaded(&tables).await.with_incarnation(incarnation);
        let read = service.workbook(log(), Some(at(0, 1)), None).await.unwrap();
        assert_eq!((read.position, read.incarnation), (at(0, 1), incarnation));
    }
}
