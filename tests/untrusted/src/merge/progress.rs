//! Malformed and hostile progress records, given to a snapshot worker.

use std::sync::{Arc, LazyLock};

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::limits::MAX_PROGRESS_BYTES;
use cellar_base::position::Position;
use cellar_engine::logs::Logs;
use cellar_engine::memory::{ManualClock, MemoryBlobs, MemoryTables};
use cellar_engine::ports::{Entries as _, PutOutcome, Random};
use cellar_engine::snapshots::{BuildStep, LevelsBuilder, SnapshotBuilder as _};
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::snapshot_job::SnapshotJob;
use tokio::runtime::{Builder, Runtime};

use crate::token::NOW_S;

/// Maximum steps of a build; more count as an endless loop.
const MAX_PIECES: usize = 1_000;
/// Number of cells that the log sets: more than a root stores inline, so that levels are merged.
const CELLS: u32 = 3_000;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());

/// A random source that always returns zero.
struct NoRandom;

impl Random for NoRandom {
    fn next(&self) -> u64 {
        0
    }
}

/// Lets a worker resume from stored progress, which must end with a snapshot or a permanent
/// refusal.
pub(super) fn read(progress: &[u8]) -> bool {
    RUNTIME.block_on(async {
        let (builder, job) = prepared().await;
        let mut progress = progress.to_vec();
        for _ in 0..MAX_PIECES {
            match builder.step(&job, &progress).await {
                Ok(BuildStep::Progress(next)) => {
                    assert!(next.len() <= MAX_PROGRESS_BYTES && next != progress);
                    progress = next;
                }
                Ok(BuildStep::Finished { .. } | BuildStep::EarlierSnapshot(_)) => return true,
                Err(error) => {
                    assert!(!error.temporary, "nothing here is better later: {error}");
                    return false;
                }
            }
        }
        panic!("no end comes after {MAX_PIECES} pieces");
    })
}

/// Creates a log with some cells, followed by a Snapshot entry.
async fn prepared() -> (LevelsBuilder, SnapshotJob) {
    let clock = Arc::new(ManualClock::at(NOW_S * 1_000));
    let (tables, blobs) =
        (Arc::<MemoryTables>::default(), Arc::new(MemoryBlobs::new(clock.clone())));
    let logs = Logs::new(tables.clone(), tables.clone(), blobs.clone(), clock, Arc::new(NoRandom));
    let log = LogId::derive(&SubjectKey::new("tests", "alice"), "merge").unwrap();
    logs.create(log, None).await.unwrap();
    let cell = |row| {
        let value = Some(Value::Number(f64::from(row) * 1.37));
        CellEdit { row, column: row % 3, value, formula: None, format: None }
    };
    let set = SetCells { sheet: SheetId::FIRST, cells: (0..CELLS).map(cell).collect() };
    let operation = Operation::SetCells(set);
    let mutations = vec![NewMutation { id: 1, base: Position::FIRST, operation }];
    let request =
        Request::new(log, ClientKey([1; 8]), None, FIRST_INCARNATION, 0, mutations).unwrap();
    let tail = logs.append(request).await.unwrap().tail;
    let last = tables.get(log, tail).await.unwrap().unwrap();
    let position = last.next_position().unwrap();
    let content = Content::Snapshot { root: None, trimmed_s: None };
    let mut header = last.header.clone();
    header.snapshot_num = position.entry_number();
    header.snapshot_bytes = header.segment_bytes;
    let entry = Entry { log, position, created_s: NOW_S, author: None, header, content };
    assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
    (LevelsBuilder::new(Arc::new(logs), blobs), SnapshotJob { log, position })
}
