//! Crash tests of the snapshot worker and builder. Each kind of fault is injected into each request
//! to the tables, objects and queue. Afterwards, the stored data must equal the data of a
//! fault-free run, and the cells must equal those of a replay of the log.

mod history;
mod run;

use bytes::Bytes;
use cellar_api::wire::SnapshotStats;
use cellar_base::limits::TARGET_CHUNK_BYTES;
use cellar_snapshot::snapshot_job::SnapshotJob;

use self::history::{
    History, Stored, a_tile_that_stays, flushes_and_a_merge, many_sheets, read_cells,
};
use self::run::Run;
use super::progress::MAX_RECENT_TILES;
use super::tests::log;
use crate::crashes::Fault;

const FAULTS: [Fault; 7] = [
    Fault::Refused,
    Fault::ReplyLost,
    Fault::Outage,
    Fault::DiesBefore,
    Fault::DiesAfter,
    Fault::FreezesBefore,
    Fault::FreezesAfter,
];

struct FaultFreeRun {
    run: Run,
    requests: usize,
    stored: Stored,
    stats: SnapshotStats,
}

async fn run_without_faults(history: &History, before: Option<&Run>, work: &Work) -> FaultFreeRun {
    let run = work.begin(history, before, vec![]).finish(&work.jobs, "without faults").await;
    let (requests, stored) = (run.ports.faults.requests(), run.stored().await);
    assert_reads_like_a_replay(history, &run, &work.jobs, "without faults").await;
    let stats = run.logs().stats(log(), None).await.unwrap().snapshot.unwrap();
    FaultFreeRun { run, requests, stored, stats }
}

async fn assert_reads_like_a_replay(
    history: &History,
    run: &Run,
    jobs: &[SnapshotJob],
    context: &str,
) {
    for (job, expected) in history.jobs.iter().zip(&history.cells) {
        if jobs.contains(job) {
            let read = read_cells(&run.logs(), job.position, expected.keys()).await;
            assert!(read == *expected, "{context}: cells at {}", job.position);
        }
    }
}

/// Jobs in the order in which they are sent, and whether each function invocation performs only one
/// unit of work.
struct Work {
    jobs: Vec<SnapshotJob>,
    one_unit_per_call: bool,
}

impl Work {
    fn begin(
        &self,
        history: &History,
        before: Option<&Run>,
        planned_faults: Vec<(usize, Fault)>,
    ) -> Run {
        let run = Run::new(history, before, planned_faults);
        if self.one_unit_per_call { run.with_one_unit_per_call() } else { run }
    }

    /// Asserts that the stored data and all cells equal those of the fault-free run.
    async fn assert_survives(
        &self,
        history: &History,
        before: Option<&Run>,
        planned_faults: Vec<(usize, Fault)>,
        expected: &FaultFreeRun,
    ) {
        let context = format!("{planned_faults:?}");
        let run = self.begin(history, before, planned_faults).finish(&self.jobs, &context).await;
        run.stored().await.assert_equals(&expected.stored, &context);
    }

    async fn assert_survives_each_fault(
        &self,
        history: &History,
        before: Option<&Run>,
        faults: &[Fault],
    ) -> FaultFreeRun {
        let expected = run_without_faults(history, before, self).await;
        for request_index in 0..expected.requests {
            let is_read = expected.run.ports.faults.is_read(request_index);
            for fault in faults {
                // A read has no effect, so a fault after it is equivalent to a fault before it.
                if is_read && fault.is_after() {
                    continue;
                }
                let planned_faults = vec![(request_index, *fault)];
                self.assert_survives(history, before, planned_faults, &expected).await;
            }
        }
        expected
    }
}

async fn assert_snapshots_survive(history: &History, faults: &[Fault]) -> Vec<FaultFreeRun> {
    let mut built: Vec<FaultFreeRun> = Vec::new();
    for job in &history.jobs {
        let work = Work { jobs: vec![*job], one_unit_per_call: false };
        let before = built.last().map(|before| &before.run);
        built.push(work.assert_survives_each_fault(history, before, faults).await);
    }
    built
}

fn chunk_counts(built: &[FaultFreeRun]) -> Vec<Vec<u64>> {
    let levels =
        |built: &FaultFreeRun| built.stats.levels.iter().map(|level| level.chunks).collect();
    built.iter().map(levels).collect()
}

async fn level_0_and_flush() -> History {
    let mut parts = flushes_and_a_merge();
    parts.truncate(2);
    History::of(parts).await
}

#[tokio::test]
async fn stored_snapshots_survive_a_fault_at_any_request() {
    let history = History::of(flushes_and_a_merge()).await;
    let built = assert_snapshots_survive(&history, &FAULTS).await;
    assert_eq!(
        chunk_counts(&built),
        [vec![0], vec![3, 0], vec![3, 0], vec![4, 0]],
        "young, flush and values of formulas, young, merge and values of formulas"
    );
}

#[tokio::test]
async fn a_merge_that_takes_over_a_tile_survives() {
    let history = History::of(a_tile_that_stays()).await;
    let built = assert_snapshots_survive(&history, &[Fault::DiesAfter]).await;
    assert_eq!(chunk_counts(&built), [[2], [2]], "a flush and a merge");
    let large = |object: &&Bytes| object.len() > TARGET_CHUNK_BYTES / 2;
    assert_eq!(built[1].stored.objects.values().filter(large).count(), 1, "the tile is kept");
}

#[tokio::test]
async fn a_merge_of_more_tiles_than_progress_names_survives() {
    let sheets = u32::try_from(MAX_RECENT_TILES).unwrap() + 4;
    let history = History::of(many_sheets(sheets)).await;
    let built = assert_snapshots_survive(&history, &[Fault::DiesAfter]).await;
    assert_eq!(chunk_counts(&built), [[u64::from(sheets)]]);
}

#[tokio::test]
async fn two_concurrent_snapshots_survive() {
    let history = level_0_and_flush().await;
    // The message for the later snapshot is received first, so its worker must wait.
    let work =
        Work { jobs: history.jobs.iter().rev().copied().collect(), one_unit_per_call: false };
    let faults = [Fault::Outage, Fault::DiesAfter, Fault::FreezesBefore];
    work.assert_survives_each_fault(&history, None, &faults).await;
}

#[tokio::test]
async fn functions_that_end_after_each_piece_survive() {
    let history = level_0_and_flush().await;
    let young = Work { jobs: history.jobs[..1].to_vec(), one_unit_per_call: false };
    let young = run_without_faults(&history, None, &young).await;
    let flush = Work { jobs: history.jobs[1..].to_vec(), one_unit_per_call: true };
    let built = flush.assert_survives_each_fault(&history, Some(&young.run), &FAULTS).await;
    let at_once = Work { one_unit_per_call: false, ..flush };
    let at_once = run_without_faults(&history, Some(&young.run), &at_once).await;
    assert!(built.requests > at_once.requests, "functions end early");
    built.stored.assert_equals(&at_once.stored, "whoever built it");
}

#[tokio::test]
async fn a_worker_that_wakes_up_during_its_successors_work_changes_nothing() {
    let history = level_0_and_flush().await;
    let work = Work { jobs: history.jobs.clone(), one_unit_per_call: false };
    let expected = run_without_faults(&history, None, &work).await;
    for at in 0..expected.requests {
        for fault in [Fault::FreezesBefore, Fault::FreezesAfter] {
            for later in [1, 9] {
                let planned_faults = vec![(at, fault), (at + later, Fault::Wakes)];
                work.assert_survives(&history, None, planned_faults, &expected).await;
            }
        }
    }
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_stored_snapshots_survive_any_two_faults() {
    let history = level_0_and_flush().await;
    let work = Work { jobs: history.jobs.clone(), one_unit_per_call: false };
    let expected = run_without_faults(&history, None, &work).await;
    for first_request in 0..expected.requests {
        for second_request in first_request + 1..expected.requests + 10 {
            for first_fault in FAULTS {
                for second_fault in FAULTS {
                    let planned_faults =
                        vec![(first_request, first_fault), (second_request, second_fault)];
                    work.assert_survives(&history, None, planned_faults, &expected).await;
                }
            }
        }
    }
}
