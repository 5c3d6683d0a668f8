//! Contract tests for the PendingSnapshots table.

use cellar_base::limits::MAX_PROGRESS_BYTES;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, Rebuild};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::{at, log};
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

fn record(nonce: &str, segment: u32, num: u32) -> PendingSnapshot {
    PendingSnapshot {
        job: SnapshotJob { log: log(nonce), position: at(segment, num) },
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
    let first = record("pending created", 0, 3);
    assert_eq!(table.first_up_to(first.job).await, Ok(None));
    assert_eq!(table.create(&first).await, WriteOutcome::Written);
    assert_stored(table, &first).await;
    let other = PendingSnapshot { increment: 2, progress: vec![1], ..first.clone() };
    assert_eq!(table.create(&other).await, WriteOutcome::Refused);
    assert_eq!(table.create(&first).await, WriteOutcome::Refused, "even if it is identical");
    assert_stored(table, &first).await;
}

async fn a_record_is_replaced_if_its_increment_is_expected(table: &dyn PendingSnapshots) {
    let first = record("pending replaced", 0, 3);
    let next = PendingSnapshot {
        modified_s: 1_795_246_150,
        active: false,
        increment: 2,
        progress: vec![0, 255],
        ..first.clone()
    };
    assert_eq!(table.replace(&next, 1).await, WriteOutcome::Refused, "no record exists");
    assert_eq!(table.first_up_to(first.job).await, Ok(None), "no record was created");
    assert_eq!(table.create(&first).await, WriteOutcome::Written);
    for unseen in [0, 2, u64::MAX] {
        assert_eq!(table.replace(&next, unseen).await, WriteOutcome::Refused);
        assert_stored(table, &first).await;
    }
    assert_eq!(table.replace(&next, 1).await, WriteOutcome::Written);
    assert_stored(table, &next).await;
    assert_eq!(table.replace(&next, 1).await, WriteOutcome::Refused, "even if it is identical");
    assert_stored(table, &next).await;
}

async fn records_come_in_the_order_of_their_positions(table: &dyn PendingSnapshots) {
    let nonce = "pending in order";
    // Positions sort by segment first: 1.0 follows 0.4294967295.
    let places = [(1, 0), (0, 9), (0, u32::MAX), (0, 10)];
    for (segment, num) in places {
        assert_eq!(table.create(&record(nonce, segment, num)).await, WriteOutcome::Written);
    }
    // Records of other logs are not returned.
    assert_eq!(table.create(&record("pending elsewhere", 0, 1)).await, WriteOutcome::Written);
    assert_eq!(table.create(&record("pending elsewhere", 9, 1)).await, WriteOutcome::Written);
    let job = |segment, num| record(nonce, segment, num).job;
    let found = |found: Result<Option<PendingSnapshot>, _>| {
        let position = |found: PendingSnapshot| (found.job.position, found.job.log);
        found.map(|found| found.map(position))
    };
    let place = |segment, num| Ok(Some((at(segment, num), log(nonce))));
    assert_eq!(found(table.first_up_to(job(0, 8)).await), Ok(None));
    for up_to in [(0, 9), (0, 10), (1, 0), (7, 7)] {
        assert_eq!(found(table.first_up_to(job(up_to.0, up_to.1)).await), place(0, 9));
    }
    for (after, next) in
        [((0, 0), (0, 9)), ((0, 9), (0, 10)), ((0, 10), (0, u32::MAX)), ((0, u32::MAX), (1, 0))]
    {
        let after = table.first_after(job(after.0, after.1)).await;
        assert_eq!(found(after), place(next.0, next.1));
    }
    assert_eq!(found(table.first_after(job(1, 0)).await), Ok(None));
}

async fn a_delete_may_be_repeated(table: &dyn PendingSnapshots) {
    let (first, second) = (record("pending deleted", 0, 3), record("pending deleted", 0, 4));
    for record in [&first, &second] {
        assert_eq!(table.create(record).await, WriteOutcome::Written);
    }
    for _ in 0..2 {
        assert_eq!(table.delete(first.job, None).await, Ok(()));
        assert_stored(table, &second).await;
    }
    let next = PendingSnapshot { increment: 2, ..first.clone() };
    assert_eq!(
        table.replace(&next, 1).await,
        WriteOutcome::Refused,
        "a deleted record stays deleted"
    );
    assert_eq!(table.create(&first).await, WriteOutcome::Written);
}

async fn a_record_is_deleted_by_its_own_rebuild(table: &dyn PendingSnapshots) {
    let ordinary = record("pending rebuilt", 0, 3);
    let of = |run, replaces: Option<&str>| {
        let rebuild = Some(Rebuild { run, replaces: replaces.map(str::to_owned) });
        PendingSnapshot { rebuild, increment: run, ..ordinary.clone() }
    };
    let (first, second) = (of(7, Some("sheets/a/roots/b")), of(8, None));
    assert_eq!(table.create(&first).await, WriteOutcome::Written);
    assert_stored(table, &first).await;
    for other in [None, Some(0), Some(8)] {
        assert_eq!(
            table.delete(first.job, other).await,
            Ok(()),
            "the record of another run is kept"
        );
        assert_stored(table, &first).await;
    }
    assert_eq!(table.replace(&second, 7).await, WriteOutcome::Written);
    assert_stored(table, &second).await;
    assert_eq!(table.delete(first.job, Some(7)).await, Ok(()));
    assert_stored(table, &second).await;
    for _ in 0..2 {
        assert_eq!(table.delete(first.job, Some(8)).await, Ok(()));
        assert_eq!(table.first_up_to(first.job).await, Ok(None));
    }
    assert_eq!(table.create(&ordinary).await, WriteOutcome::Written);
    assert_eq!(table.delete(first.job, Some(8)).await, Ok(()));
    assert_stored(table, &ordinary).await;
}

async fn progress_has_at_most_its_maximum_bytes(table: &dyn PendingSnapshots) {
    let with = |bytes, increment| PendingSnapshot {
        progress: vec![7; bytes],
        increment,
        ..record("pending long", 0, 3)
    };
    let longest = with(MAX_PROGRESS_BYTES, 1);
    assert_eq!(table.create(&longest).await, WriteOutcome::Written);
    assert_stored(table, &longest).await;
    let longer = table.replace(&with(MAX_PROGRESS_BYTES + 1, 2), 1).await;
    assert!(matches!(longer, WriteOutcome::Failed(_)), "{longer:?}");
    assert_stored(table, &longest).await;
}
