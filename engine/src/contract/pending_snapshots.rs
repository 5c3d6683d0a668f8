//! Contract tests for the PendingSnapshots table.

use cellar_base::limits::MAX_PROGRESS_BYTES;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, Rebuild};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::{at, new_log_id};
use crate::ports::{PendingSnapshots, WriteOutcome};

/// Checks the PendingSnapshots table.
pub async fn pending_snapshots(table: &dyn PendingSnapshots) {
    a_record_is_created_once(table).await;
    a_record_is_replaced_if_its_increment_is_expected(table).await;
    records_come_in_the_order_of_their_positions(table).await;
    a_delete_may_be_repeated(table).await;
    a_record_is_deleted_by_its_own_rebuild(table).await;
    progress_has_at_most_its_maximum_bytes(table).await;
}

fn pending_record(nonce: &str, segment: u32, num: u32) -> PendingSnapshot {
    PendingSnapshot {
        job: SnapshotJob { log: new_log_id(nonce), position: at(segment, num) },
        created_s: 1_795_246_133,
        modified_s: 1_795_246_140,
        active: true,
        increment: 1,
        progress: Vec::new(),
        rebuild: None,
    }
}

async fn assert_stored(table: &dyn PendingSnapshots, record: &PendingSnapshot) {
    assert_eq!(table.first_up_to(record.job).await, Ok(Some(record.clone())));
}

async fn a_record_is_created_once(table: &dyn PendingSnapshots) {
    let first_record = pending_record("pending created", 0, 3);
    assert_eq!(table.first_up_to(first_record.job).await, Ok(None));
    assert_eq!(table.create(&first_record).await, WriteOutcome::Written);
    assert_stored(table, &first_record).await;
    let other_record = PendingSnapshot { increment: 2, progress: vec![1], ..first_record.clone() };
    assert_eq!(table.create(&other_record).await, WriteOutcome::Refused);
    assert_eq!(table.create(&first_record).await, WriteOutcome::Refused, "even if it is identical");
    assert_stored(table, &first_record).await;
}

async fn a_record_is_replaced_if_its_increment_is_expected(table: &dyn PendingSnapshots) {
    let first_record = pending_record("pending replaced", 0, 3);
    let next_record = PendingSnapshot {
        modified_s: 1_795_246_150,
        active: false,
        increment: 2,
        progress: vec![0, 255],
        ..first_record.clone()
    };
    assert_eq!(table.replace(&next_record, 1).await, WriteOutcome::Refused, "no record exists");
    assert_eq!(table.first_up_to(first_record.job).await, Ok(None), "no record was created");
    assert_eq!(table.create(&first_record).await, WriteOutcome::Written);
    for other_increment in [0, 2, u64::MAX] {
        assert_eq!(table.replace(&next_record, other_increment).await, WriteOutcome::Refused);
        assert_stored(table, &first_record).await;
    }
    assert_eq!(table.replace(&next_record, 1).await, WriteOutcome::Written);
    assert_stored(table, &next_record).await;
    assert_eq!(
        table.replace(&next_record, 1).await,
        WriteOutcome::Refused,
        "even if it is identical"
    );
    assert_stored(table, &next_record).await;
}

async fn records_come_in_the_order_of_their_positions(table: &dyn PendingSnapshots) {
    let nonce = "pending in order";
    // Positions are sorted by segment first, so 1.0 is greater than 0.4294967295.
    for (segment, num) in [(1, 0), (0, 9), (0, u32::MAX), (0, 10)] {
        assert_eq!(table.create(&pending_record(nonce, segment, num)).await, WriteOutcome::Written);
    }
    // Records from other logs are not returned.
    assert_eq!(
        table.create(&pending_record("pending elsewhere", 0, 1)).await,
        WriteOutcome::Written
    );
    assert_eq!(
        table.create(&pending_record("pending elsewhere", 9, 1)).await,
        WriteOutcome::Written
    );
    let job = |(segment, num)| pending_record(nonce, segment, num).job;
    let job_of = |found_record: Result<Option<PendingSnapshot>, _>| {
        found_record.map(|found_record| found_record.map(|record| record.job))
    };
    assert_eq!(job_of(table.first_up_to(job((0, 8))).await), Ok(None));
    for last_job in [(0, 9), (0, 10), (1, 0), (7, 7)] {
        assert_eq!(job_of(table.first_up_to(job(last_job)).await), Ok(Some(job((0, 9)))));
    }
    for (previous_job, next_job) in
        [((0, 0), (0, 9)), ((0, 9), (0, 10)), ((0, 10), (0, u32::MAX)), ((0, u32::MAX), (1, 0))]
    {
        let found_record = table.first_after(job(previous_job)).await;
        assert_eq!(job_of(found_record), Ok(Some(job(next_job))));
    }
    assert_eq!(job_of(table.first_after(job((1, 0))).await), Ok(None));
}

async fn a_delete_may_be_repeated(table: &dyn PendingSnapshots) {
    let (first_record, second_record) =
        (pending_record("pending deleted", 0, 3), pending_record("pending deleted", 0, 4));
    for record in [&first_record, &second_record] {
        assert_eq!(table.create(record).await, WriteOutcome::Written);
    }
    for _ in 0..2 {
        assert_eq!(table.delete(first_record.job, None).await, Ok(()));
        assert_stored(table, &second_record).await;
    }
    let next_record = PendingSnapshot { increment: 2, ..first_record.clone() };
    assert_eq!(
        table.replace(&next_record, 1).await,
        WriteOutcome::Refused,
        "a deleted record stays deleted"
    );
    assert_eq!(table.create(&first_record).await, WriteOutcome::Written);
}

async fn a_record_is_deleted_by_its_own_rebuild(table: &dyn PendingSnapshots) {
    let ordinary_record = pending_record("pending rebuilt", 0, 3);
    let record_of_run = |run, replaces: Option<&str>| {
        let rebuild = Some(Rebuild { run, replaces: replaces.map(str::to_owned) });
        PendingSnapshot { rebuild, increment: run, ..ordinary_record.clone() }
    };
    let (first_rebuild, second_rebuild) =
        (record_of_run(7, Some("sheets/a/roots/b")), record_of_run(8, None));
    assert_eq!(table.create(&first_rebuild).await, WriteOutcome::Written);
    assert_stored(table, &first_rebuild).await;
    for other_run in [None, Some(0), Some(8)] {
        assert_eq!(
            table.delete(first_rebuild.job, other_run).await,
            Ok(()),
            "the record of another run is kept"
        );
        assert_stored(table, &first_rebuild).await;
    }
    assert_eq!(table.replace(&second_rebuild, 7).await, WriteOutcome::Written);
    assert_stored(table, &second_rebuild).await;
    assert_eq!(table.delete(first_rebuild.job, Some(7)).await, Ok(()));
    assert_stored(table, &second_rebuild).await;
    for _ in 0..2 {
        assert_eq!(table.delete(first_rebuild.job, Some(8)).await, Ok(()));
        assert_eq!(table.first_up_to(first_rebuild.job).await, Ok(None));
    }
    assert_eq!(table.create(&ordinary_record).await, WriteOutcome::Written);
    assert_eq!(table.delete(first_rebuild.job, Some(8)).await, Ok(()));
    assert_stored(table, &ordinary_record).await;
}

async fn progress_has_at_most_its_maximum_bytes(table: &dyn PendingSnapshots) {
    let record_with = |bytes, increment| PendingSnapshot {
        progress: vec![7; bytes],
        increment,
        ..pending_record("pending long", 0, 3)
    };
    let longest_record = record_with(MAX_PROGRESS_BYTES, 1);
    assert_eq!(table.create(&longest_record).await, WriteOutcome::Written);
    assert_stored(table, &longest_record).await;
    let too_long_outcome = table.replace(&record_with(MAX_PROGRESS_BYTES + 1, 2), 1).await;
    assert!(matches!(too_long_outcome, WriteOutcome::Failed(_)), "{too_long_outcome:?}");
    assert_stored(table, &longest_record).await;
}
