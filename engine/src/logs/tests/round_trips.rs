//! Counts the requests that a reader waits for one after the other. `docs/measurements.md` computes the
//! time of the first view in AWS from them.

use std::time::Duration;

use cellar_log::upkeep::LogPolicy;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::changes::mutation;
use super::search::rectangle;
use super::*;
use crate::crashes::handle_queued_jobs;
use crate::logs::UpkeepOutcome;
use crate::ports::Jobs as _;

/// Requests of one operation, of which each begins when the one before has ended.
#[derive(Debug, PartialEq, Eq)]
struct Serial {
    /// Reads of a table.
    table: u64,
    /// Reads of a snapshot object.
    bucket: u64,
}

const ROWS: u32 = 40_000;
/// Number of rows that one edit fills.
const ROWS_AT_ONCE: u32 = 2_000;

/// Returns ports with a sheet of several tiles, of which all edits except the last are in a snapshot.
async fn snapshotted() -> Arc<FaultyPorts> {
    let ports = over(vec![], Arc::new(ManualClock::at(StoppedClock.now_ms())));
    ports.logs().create(log(), None).await.unwrap();
    let mut base = Position::FIRST;
    for (id, first_row) in (1..).zip((0..ROWS).step_by(ROWS_AT_ONCE as usize)) {
        let rows = first_row..first_row + ROWS_AT_ONCE;
        let cells = rows.map(|row| CellEdit {
            row,
            column: 0,
            value: Some(Value::Number(f64::from(row.wrapping_mul(0x9E37_79B9)))),
            formula: None,
            format: None,
        });
        let fill = Operation::SetCells(SetCells { sheet: SheetId(0), cells: cells.collect() });
        let appended = ports.logs().append(mutation(1, id, base, fill)).await.unwrap();
        base = appended.results[0].position.unwrap();
    }
    let position = snapshot(&ports).await;
    ports.logs().append(mutation(2, 1, position, set(0, "x"))).await.unwrap();
    ports
}

/// Makes a snapshot of the newest state in a process of its own, and returns its position.
async fn snapshot(ports: &Arc<FaultyPorts>) -> Position {
    let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    let logs = ports.logs();
    logs.load(log(), None).await.unwrap();
    let upkeep = logs.upkeep(log(), &policy).await.unwrap();
    let UpkeepOutcome::Snapshot(position) = upkeep else { panic!("{upkeep:?}") };
    let job = SnapshotJob { log: log(), position };
    ports.queue.send(&job.encode()).await.unwrap();
    handle_queued_jobs(&ports.workers(), ports).await;
    position
}

/// Reads a screen of cells twice: in a new process, and again with other rows in the same process.
async fn elapsed(ports: &Arc<FaultyPorts>) -> [Duration; 2] {
    let logs = ports.logs();
    let mut elapsed = [Duration::ZERO; 2];
    for (elapsed, range) in elapsed.iter_mut().zip(["A30000:J30050", "A30100:J30150"]) {
        let begun = tokio::time::Instant::now();
        let query = CellsQuery { rectangle: rectangle(range), ..everything(None) };
        let read = logs.cells(log(), &query).await.unwrap();
        assert_eq!(read.cells.len(), 51);
        *elapsed = begun.elapsed();
    }
    elapsed
}

#[tokio::test(start_paused = true)]
async fn a_first_view_needs_few_requests_one_after_the_other() {
    let ports = snapshotted().await;
    let mut serial = [Serial { table: 0, bucket: 0 }, Serial { table: 0, bucket: 0 }];
    ports.latencies.table_ms.store(1, Ordering::Relaxed);
    for (serial, elapsed) in serial.iter_mut().zip(elapsed(&ports).await) {
        serial.table = u64::try_from(elapsed.as_millis()).unwrap();
    }
    ports.latencies.table_ms.store(0, Ordering::Relaxed);
    ports.latencies.bucket_ms.store(1, Ordering::Relaxed);
    for (serial, elapsed) in serial.iter_mut().zip(elapsed(&ports).await) {
        serial.bucket = u64::try_from(elapsed.as_millis()).unwrap();
    }
    assert_eq!(serial[0], Serial { table: 3, bucket: 2 }, "in a new process");
    assert_eq!(serial[1], Serial { table: 1, bucket: 0 }, "again");
}

#[tokio::test]
async fn a_reader_uses_a_newer_snapshot_from_the_second_read_on() {
    let ports = snapshotted().await;
    let logs = ports.logs();
    let root_position = async || {
        let view = logs.open_view(log(), None, None).await.unwrap();
        (view.root.unwrap().position, view.position)
    };
    let (first_root, first_edit) = root_position().await;
    assert!(first_root < first_edit);
    let second_root = snapshot(&ports).await;
    assert_eq!(root_position().await, (first_root, second_root), "it learns of the second one");
    assert_eq!(root_position().await, (second_root, second_root));
    let entry = Position::new(0, second_root.entry_number() + 1).unwrap();
    ports.logs().append(mutation(3, 1, second_root, set(0, "y"))).await.unwrap();
    assert_eq!(root_position().await, (second_root, entry));
}
