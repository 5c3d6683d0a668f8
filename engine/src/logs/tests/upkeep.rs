//! Snapshot entries and rolls after appends.

use cellar_base::limits::ROLL_TRY_ENTRIES;
use cellar_log::upkeep::LogPolicy;

use super::*;

const POLICY: LogPolicy = LogPolicy {
    snapshot_entries: 10,
    snapshot_bytes: 1 << 20,
    segment_entries: 32,
    segment_bytes: 1 << 30,
};

/// Returns ports that only count requests.
fn counted() -> Arc<FaultyPorts> {
    faulty(usize::MAX, Fault::Refused)
}

fn calls(tables: &FaultyPorts) -> usize {
    tables.faults.take_request_count()
}

/// Appends an edit after the newest entry; returns its position.
async fn append(logs: &Logs, id: u64) -> Position {
    let base = logs.tails.last(logs.clock.now_ms(), log()).unwrap().position;
    logs.append(request(1, id - 1, id, base, &format!("edit {id}"))).await.unwrap().tail
}

#[tokio::test]
async fn a_snapshot_entry_costs_one_put_and_no_read() {
    let tables = counted();
    let logs = logs(&tables);
    logs.create(log(), None).await.unwrap();
    let mut snapshots = Vec::new();
    for id in 1..=28 {
        append(&logs, id).await;
        calls(&tables);
        let upkept = logs.upkeep(log(), &POLICY).await.unwrap();
        let put = upkept != UpkeepOutcome::Nothing;
        assert_eq!(calls(&tables), usize::from(put), "{id}: {upkept:?}");
        if let UpkeepOutcome::Snapshot(position) = upkept {
            snapshots.push(position);
            assert_eq!(logs.upkeep(log(), &POLICY).await, Ok(UpkeepOutcome::Nothing), "it is done");
            assert_eq!(calls(&tables), 0);
        }
    }
    assert_eq!(snapshots, [at(0, 11), at(0, 22)]);
    let load = logs.load(log(), None).await.unwrap();
    let stored = load.entries.iter().filter(|entry| {
        matches!(entry.content, Content::Snapshot { .. }) && entry.position > Position::FIRST
    });
    assert_eq!(stored.map(|entry| entry.position).collect::<Vec<_>>(), snapshots);
    assert_eq!(texts(&logs, None).await, ["edit 28"]);
}

#[tokio::test]
async fn upkeep_without_a_cached_tail_does_nothing() {
    let tables = counted();
    logs(&tables).create(log(), None).await.unwrap();
    calls(&tables);
    let always = LogPolicy { snapshot_entries: 0, segment_entries: 0, ..POLICY };
    assert_eq!(logs(&tables).upkeep(log(), &always).await, Ok(UpkeepOutcome::Nothing));
    assert_eq!(calls(&tables), 0);
}

#[tokio::test]
async fn concurrent_upkeep_appends_one_snapshot_entry() {
    let tables = Arc::new(MemoryTables::default());
    let (one, two) = (logs(&tables), logs(&tables));
    one.create(log(), None).await.unwrap();
    for id in 1..=10 {
        append(&one, id).await;
    }
    two.load(log(), None).await.unwrap();
    let due = LogPolicy { snapshot_entries: 10, ..POLICY };
    assert_eq!(one.upkeep(log(), &due).await, Ok(UpkeepOutcome::Snapshot(at(0, 11))));
    // The other process has not cached the Snapshot entry: its put fails, and it gives up.
    assert_eq!(two.upkeep(log(), &due).await, Ok(UpkeepOutcome::Nothing));
    assert_eq!(append(&two, 11).await, at(0, 12));
}

#[tokio::test]
async fn appends_the_snapshot_entry_after_a_concurrent_edit() {
    let tables = Arc::new(MemoryTables::default());
    let (one, two) = (logs(&tables), logs(&tables));
    one.create(log(), None).await.unwrap();
    for id in 1..=10 {
        append(&one, id).await;
    }
    two.load(log(), None).await.unwrap();
    append(&one, 11).await;
    assert_eq!(two.upkeep(log(), &POLICY).await, Ok(UpkeepOutcome::Snapshot(at(0, 12))));
}

#[tokio::test]
async fn a_long_segment_is_rolled_once_it_has_a_snapshot() {
    let tables = counted();
    let logs = logs(&tables);
    logs.create(log(), None).await.unwrap();
    let never = LogPolicy { snapshot_entries: u32::MAX, ..POLICY };
    let mut tail = Position::FIRST;
    let mut tries = Vec::new();
    for id in 1..=3 * u64::from(ROLL_TRY_ENTRIES) {
        tail = append(&logs, id).await;
        calls(&tables);
        assert_eq!(logs.upkeep(log(), &never).await, Ok(UpkeepOutcome::Nothing));
        tries.extend((calls(&tables) > 0).then_some(tail.entry_number()));
    }
    assert_eq!(tries, [32, 48], "it has none, which is read now and then");
    logs.segments.raise_last_snapshot(log(), Position::FIRST).await.unwrap();
    assert_eq!(tail, at(0, 48));
    assert_eq!(logs.upkeep(log(), &never).await, Ok(UpkeepOutcome::Rolled { segment: 1 }));
    assert_eq!(append(&logs, 49).await, at(1, 1));
    assert_eq!(logs.upkeep(log(), &never).await, Ok(UpkeepOutcome::Nothing));
    // A process that has cached only the old segment finds that it was rolled.
    assert_eq!(logs.head(log(), None).await.unwrap().head, at(1, 1));
}

#[tokio::test]
async fn a_lost_reply_of_upkeep_costs_the_next_append_nothing() {
    for fault in [Fault::Refused, Fault::ReplyLost] {
        let tables = faulty(11, fault);
        let logs = logs(&tables);
        logs.create(log(), None).await.unwrap();
        for id in 1..=10 {
            append(&logs, id).await;
        }
        assert_eq!(tables.faults.requests(), 11);
        assert!(matches!(logs.upkeep(log(), &POLICY).await, Err(LogError::Store(_))));
        let tail = append(&logs, 11).await;
        let expected = if fault == Fault::Refused { at(0, 11) } else { at(0, 12) };
        assert_eq!(tail, expected);
        let upkept = logs.upkeep(log(), &POLICY).await.unwrap();
        let again = UpkeepOutcome::Snapshot(at(0, 12));
        assert_eq!(upkept, if fault == Fault::Refused { again } else { UpkeepOutcome::Nothing });
    }
}
