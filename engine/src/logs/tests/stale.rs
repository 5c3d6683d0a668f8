//! Tests of the log service with stale eventually consistent reads.

use super::disturbed_tables::DisturbedTables;
use super::*;

/// Closes segment 0 after 0.1 like another process, with or without opening the next segment.
async fn roll(tables: &DisturbedTables, with_next: bool) {
    let first = Entry::first(log(), None, 0);
    let end = Entry { position: at(0, 2), content: Content::EndSegment, ..first.clone() };
    assert_eq!(tables.put(&end).await, PutOutcome::Accepted);
    if with_next {
        let segment = Segment {
            log: log(),
            num: 1,
            created_s: 0,
            last_snapshot: None,
            offloaded: None,
            lineage: None,
        };
        let next = Entry { position: at(1, 0), ..first };
        assert_eq!(tables.create(&segment, &next).await, CreateOutcome::Created);
    }
}

/// Creates a log with one edit, and a service that has cached it.
async fn edited() -> (Arc<DisturbedTables>, Logs) {
    let tables = Arc::new(DisturbedTables::default());
    let service = logs(&tables);
    service.create(log(), None).await.unwrap();
    service.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    (tables, service)
}

#[tokio::test]
async fn finds_a_new_log_despite_stale_reads() {
    let tables = Arc::new(DisturbedTables::default());
    logs(&tables).create(log(), None).await.unwrap();
    tables.hide_from(Position::FIRST);
    let first = Position::FIRST;
    assert_eq!(logs(&tables).head(log(), None).await.unwrap().head, first);
    assert_eq!(logs(&tables).load(log(), None).await.unwrap().head, first);
    assert_eq!(logs(&tables).update(log(), first).await.unwrap().head, first);
    assert!(texts(&logs(&tables), None).await.is_empty());
    let appended = logs(&tables).append(request(1, 0, 1, first, "one")).await.unwrap();
    assert_eq!(appended.tail, at(0, 1));
}

#[tokio::test]
async fn replies_include_the_position_that_the_client_has_seen() {
    let (tables, service) = edited().await;
    roll(&tables, true).await;
    for hidden_from in [at(0, 1), at(0, 2), at(1, 0)] {
        tables.hide_from(hidden_from);
        let seen = Some(at(1, 0));
        for service in [&service, &logs(&tables)] {
            let name = format!("hidden from {hidden_from}");
            assert_eq!(service.head(log(), seen).await.unwrap().head, at(1, 0), "{name}");
            let query = CellsQuery { min_position: seen, ..everything(None) };
            assert_eq!(service.cells(log(), &query).await.unwrap().position, at(1, 0), "{name}");
            let updated = service.update(log(), at(0, 1)).await.unwrap();
            assert!(updated.head >= at(0, 1), "{name}");
        }
    }
}

#[tokio::test]
async fn reads_again_only_if_the_position_exists() {
    let (tables, _) = edited().await;
    tables.hide_from(at(0, 1));
    assert_eq!(texts(&logs(&tables), Some(at(0, 1))).await, ["one"]);
    let beyond = logs(&tables).cells(log(), &everything(Some(at(0, 2)))).await;
    assert_eq!(beyond, Err(LogError::NoSuchPosition { at: at(0, 2), newest: at(0, 1) }));
}

#[tokio::test]
async fn a_missing_next_segment_is_an_error() {
    let (tables, service) = edited().await;
    roll(&tables, false).await;
    let corrupt = LogError::Corrupt { at: at(1, 0) };
    assert_eq!(service.update(log(), at(0, 1)).await, Err(corrupt.clone()));
    for service in [&service, &logs(&tables)] {
        assert_eq!(service.head(log(), None).await, Err(corrupt.clone()));
        assert_eq!(service.cells(log(), &everything(None)).await, Err(corrupt.clone()));
        let append = service.append(request(1, 1, 2, at(0, 1), "two")).await;
        assert_eq!(append, Err(LogError::Refused(Refusal::Corrupt { at: at(1, 0) })));
    }
    let reads = tables.reads();
    assert!(reads < 200, "{reads} reads");
}

#[tokio::test]
async fn never_uses_a_cached_entry_for_the_root() {
    let tables = Arc::new(MemoryTables::default());
    let service = logs(&tables);
    // A snapshot was finished after this service cached the log.
    let first = Entry::first(log(), None, 0);
    let snapshot = |root: Option<&str>| {
        let content = Content::Snapshot { root: root.map(str::to_owned), trimmed_s: None };
        Entry { position: at(0, 1), content, ..first.clone() }
    };
    let segment = Segment {
        log: log(),
        num: 0,
        created_s: 0,
        last_snapshot: Some(1),
        offloaded: None,
        lineage: None,
    };
    assert_eq!(tables.create(&segment, &first).await, CreateOutcome::Created);
    let finished = snapshot(Some("sheets/x/roots/y"));
    assert_eq!(tables.put(&finished).await, PutOutcome::Accepted);
    let known = [first.clone().into(), snapshot(None).into()];
    service.tails.add(service.clock.now_ms(), &known);
    let loaded = service.load(log(), None).await.unwrap();
    assert_eq!(loaded.root.as_deref(), Some("sheets/x/roots/y"));
}
