//! Tests of rebuilding all snapshots of a log.

use async_trait::async_trait;
use cellar_base::limits::{ABANDONED_S, EARLIER_WAIT_S};
use cellar_snapshot::pending_snapshot::{Rebuild, SnapshotOutcome};

use super::*;
use crate::ports::PendingSnapshots;

impl World {
    /// Creates a log with finished snapshots and some entries after them. Returns all its
    /// positions.
    async fn made(&self, nonce: &str) -> (Log, Vec<Position>) {
        let mut log = self.create(nonce).await;
        let first = SnapshotJob { log: log.id, position: Position::FIRST };
        self.queue.send(&first.encode()).await.unwrap();
        let mut positions = Vec::new();
        for seed in 0..4 {
            self.append(&mut log, seed, 600).await;
            positions.push(log.tail);
            let job = self.mark(&mut log).await;
            positions.push(job.position);
            self.queue.send(&job.encode()).await.unwrap();
            self.work().await;
        }
        self.append(&mut log, 9, 10).await;
        positions.push(log.tail);
        (log, positions)
    }

    async fn rebuild(&self, log: &Log) -> Vec<(Position, RebuildStart)> {
        let reprocess = self.reprocess();
        let plan = reprocess.plan_rebuild(log.id).await.unwrap();
        let mut begun = Vec::new();
        let each = |snapshot: &SnapshotToRebuild, what: &RebuildStart| {
            begun.push((snapshot.at, what.clone()));
        };
        reprocess.start_rebuild(&plan, each).await.unwrap();
        begun
    }
}

/// Returns the positions of the snapshots that `made` creates.
fn marks() -> Vec<Position> {
    [0, 2, 4, 6, 8].map(|num| Position::new(0, num).unwrap()).to_vec()
}

#[tokio::test]
async fn all_lost_objects_are_rebuilt() {
    for part in ["/chunks/", "/roots/", ""] {
        let world = World::new();
        let (log, positions) = world.made("anew").await;
        let before = world.cells(&log, log.tail).await;
        world.delete_objects(part).await;
        let plan = world.reprocess().plan_rebuild(log.id).await.unwrap();
        assert_eq!(plan.snapshots.iter().map(|anew| anew.at).collect::<Vec<_>>(), marks());
        assert!(plan.snapshots.iter().all(|anew| anew.root.is_some()));
        assert!(world.queue.is_empty() && world.pending.is_empty(), "planning changes nothing");
        let begun = world.rebuild(&log).await;
        assert_eq!(
            begun,
            marks().into_iter().map(|at| (at, RebuildStart::Started)).collect::<Vec<_>>()
        );
        assert_eq!(world.queue.len(), 2, "one that begins, and one that watches");
        world.work().await;
        assert!(world.pending.is_empty());
        for at in positions {
            world.assert_right(&log, at).await;
        }
        assert_eq!(world.cells(&log, log.tail).await, before, "{part}");
        assert!(world.findings().await.is_empty());
    }
}

#[tokio::test]
async fn rebuilding_an_intact_log_changes_no_root_and_may_be_repeated() {
    let world = World::new();
    let (log, _) = world.made("whole").await;
    let mut roots = Vec::new();
    for at in marks() {
        roots.push(world.root(&log, at).await.unwrap());
    }
    world.rebuild(&log).await;
    world.clock.advance_ms(1);
    // A second rebuild at the same time leaves the first one running.
    let again = world.rebuild(&log).await;
    assert!(again.iter().all(|(_, begun)| *begun == RebuildStart::InProgress), "{again:?}");
    assert_eq!(world.queue.len(), 2, "nothing more is sent");
    let plan = world.reprocess().plan_rebuild(log.id).await.unwrap();
    assert!(plan.snapshots.iter().all(|snapshot| snapshot.active_silent_s == Some(0)));
    // A rebuild without recent writes is started again.
    world.clock.advance_ms(ABANDONED_S * 1_000);
    let again = world.rebuild(&log).await;
    assert!(again.iter().all(|(_, begun)| *begun == RebuildStart::Started), "{again:?}");
    world.work().await;
    for _ in 0..2 {
        for (at, root) in marks().into_iter().zip(&roots) {
            assert_eq!(world.root(&log, at).await.as_ref(), Some(root), "{at}");
        }
        world.rebuild(&log).await;
        world.work().await;
        assert!(world.pending.is_empty());
    }
}

#[tokio::test]
async fn a_snapshot_started_from_lost_objects_is_restarted() {
    let world = World::new();
    let (mut log, mut positions) = world.made("stuck").await;
    world.delete_objects("/roots/").await;
    world.append(&mut log, 11, 600).await;
    let job = world.mark(&mut log).await;
    positions.push(job.position);
    world.queue.send(&job.encode()).await.unwrap();
    let message = world.queue.receive(1, 60).await.unwrap().remove(0);
    let deadline_ms = world.clock.now_ms() + FUNCTION_MS;
    let stuck = world.workers().handle(job, &message.receipt, deadline_ms).await;
    assert!(
        matches!(stuck, SnapshotOutcome::Failed { .. }),
        "it is made on what is gone: {stuck:?}"
    );
    assert_eq!(world.pending.len(), 1);
    let begun = world.rebuild(&log).await;
    assert_eq!(begun.last(), Some(&(job.position, RebuildStart::Started)), "its record, too");
    world.work().await;
    for at in positions {
        world.assert_right(&log, at).await;
    }
    assert!(world.root(&log, job.position).await.is_some());
    assert!(world.findings().await.is_empty());
}

#[tokio::test]
async fn a_skipped_snapshot_is_rebuilt() {
    let world = World::new();
    let mut log = world.create("passed over").await;
    world.append(&mut log, 1, 600).await;
    let passed = world.mark(&mut log).await.position;
    world.append(&mut log, 2, 600).await;
    let job = world.mark(&mut log).await;
    // The state after the previous snapshot was given up.
    let now_s = world.clock.now_ms() / 1_000;
    let rebuild = Some(Rebuild { run: 1, replaces: None });
    let progress = LevelsBuilder::rebuild_progress(None);
    let anew = PendingSnapshot { active: false, progress, rebuild, ..record(job, now_s) };
    assert_eq!(world.pending.create(&anew).await, WriteOutcome::Written);
    world.queue.send(&job.encode()).await.unwrap();
    world.work().await;
    assert_eq!(world.root(&log, passed).await, None);
    let found = world.findings().await;
    let passed_over = Finding { log: log.id, at: passed, kind: FindingKind::Skipped };
    assert_eq!(found, [passed_over]);
    let begun = world.rebuild(&log).await;
    // The first entry has no root and needs none.
    assert_eq!(begun.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [passed, job.position]);
    world.work().await;
    for at in [passed, job.position] {
        assert!(world.root(&log, at).await.is_some());
        world.assert_right(&log, at).await;
    }
    assert!(world.findings().await.is_empty());
}

#[tokio::test]
async fn snapshots_appended_while_a_rebuild_starts_are_rebuilt() {
    let world = World::new();
    let (mut log, _) = world.made("while").await;
    let plan = world.reprocess().plan_rebuild(log.id).await.unwrap();
    // The worker of this snapshot is alive and may have started from lost objects.
    let late = world.mark(&mut log).await;
    let now_s = world.clock.now_ms() / 1_000;
    assert_eq!(world.pending.create(&record(late, now_s)).await, WriteOutcome::Written);
    let mut begun = Vec::new();
    let each = |snapshot: &SnapshotToRebuild, _: &RebuildStart| begun.push(snapshot.at);
    world.reprocess().start_rebuild(&plan, each).await.unwrap();
    assert_eq!(begun.last(), Some(&late.position));
    assert_eq!(world.pending.len(), plan.snapshots.len() + 1);
    world.work().await;
    assert!(world.root(&log, late.position).await.is_some());
}

#[tokio::test]
async fn a_later_snapshot_waits_for_its_turn() {
    let world = World::new();
    let (mut log, _) = world.made("behind").await;
    world.rebuild(&log).await;
    let job = world.mark(&mut log).await;
    let receipt = crate::ports::Receipt("none".to_owned());
    let deadline_ms = world.clock.now_ms() + FUNCTION_MS;
    let outcome = world.workers().handle(job, &receipt, deadline_ms).await;
    assert_eq!(outcome, SnapshotOutcome::Wait { wait_s: EARLIER_WAIT_S });
}

#[tokio::test]
async fn offloaded_snapshots_are_unchanged_and_their_entries_are_read() {
    let world = World::new();
    let (mut log, _) = world.made("offloaded").await;
    let offloaded = marks();
    for seed in 20..22 {
        world.roll(&mut log).await;
        let first = SnapshotJob { log: log.id, position: log.tail };
        world.queue.send(&first.encode()).await.unwrap();
        world.append(&mut log, seed, 600).await;
        world.work().await;
    }
    world.offload_first(&log).await;
    world.delete_objects("").await;
    let plan = world.reprocess().plan_rebuild(log.id).await.unwrap();
    assert_eq!(plan.offloaded, offloaded);
    let starts = [Position::new(1, 0).unwrap(), Position::new(2, 0).unwrap()];
    assert_eq!(plan.snapshots.iter().map(|anew| anew.at).collect::<Vec<_>>(), starts);
    world.rebuild(&log).await;
    world.work().await;
    for at in [starts[0], starts[1], log.tail] {
        world.assert_right(&log, at).await;
    }
}

#[tokio::test]
async fn an_incomplete_log_is_not_rebuilt() {
    use crate::ports::Retention as _;
    let world = World::new();
    let nowhere = LogId::from_uuid(uuid::Uuid::nil());
    let refused = world.reprocess().plan_rebuild(nowhere).await;
    assert_eq!(refused, Err(RebuildRefusal::NoLog { log: nowhere }));
    let mut large = world.create("large").await;
    let body = world.append_large(&mut large, "uploads/a/body").await;
    assert!(world.reprocess().plan_rebuild(large.id).await.is_ok());
    world.blobs.delete(&body).await.unwrap();
    let lost = RebuildRefusal::BodyLost { log: large.id, at: large.tail, key: body.to_string() };
    assert_eq!(world.reprocess().plan_rebuild(large.id).await, Err(lost));
    let (log, _) = world.made("hole").await;
    let hole = Position::new(0, 3).unwrap();
    world.tables.delete(log.id, &[hole]).await.unwrap();
    let refused = world.reprocess().plan_rebuild(log.id).await.unwrap_err();
    assert!(matches!(refused, RebuildRefusal::Unreadable { at, .. } if at == hole), "{refused:?}");
    assert!(world.pending.is_empty() && world.queue.is_empty());
}

/// Reports the outcome of every write as unknown. Performs only every other write.
struct Mumbling {
    pending: Arc<MemoryPendingSnapshots>,
    writes: std::sync::atomic::AtomicU32,
}

impl Mumbling {
    async fn write(&self, write: impl Future<Output = WriteOutcome>) -> WriteOutcome {
        let number = self.writes.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if number.is_multiple_of(2) {
            write.await;
        }
        WriteOutcome::Unknown(PortError::temporary("the reply is lost"))
    }
}

#[async_trait]
impl PendingSnapshots for Mumbling {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.pending.first_up_to(job).await
    }
    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        self.pending.first_after(job).await
    }
    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        self.write(self.pending.create(record)).await
    }
    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        self.write(self.pending.replace(record, increment)).await
    }
    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError> {
        self.pending.delete(job, run).await
    }
}

#[tokio::test]
async fn unknown_write_outcomes_are_read_back() {
    let world = World::new();
    let (log, positions) = world.made("mumbled").await;
    world.delete_objects("").await;
    let pending = Arc::new(Mumbling { pending: Arc::clone(&world.pending), writes: 1.into() });
    let reprocess = Reprocess::new(ReprocessPorts { pending, ..world.ports() });
    let plan = reprocess.plan_rebuild(log.id).await.unwrap();
    let mut begun = 0;
    reprocess
        .start_rebuild(&plan, |_, what| begun += u32::from(*what == RebuildStart::Started))
        .await
        .unwrap();
    assert_eq!((begun, world.pending.len()), (5, 5));
    world.work().await;
    for at in positions {
        world.assert_right(&log, at).await;
    }
}

#[tokio::test]
async fn a_rebuild_survives_the_loss_of_every_message() {
    let world = World::new();
    let (log, positions) = world.made("records").await;
    world.delete_objects("").await;
    world.rebuild(&log).await;
    while let Some(message) = world.queue.receive(1, 60).await.unwrap().pop() {
        world.queue.delete(&message.receipt).await.unwrap();
    }
    assert!(world.queue.is_empty());
    world.clock.advance_ms(ABANDONED_S * 1_000);
    let mended = world.repair().await;
    assert_eq!(mended.len(), marks().len());
    assert!(mended.iter().all(|(_, mended)| *mended == RepairOutcome::Sent));
    world.work().await;
    for at in positions {
        world.assert_right(&log, at).await;
    }
    assert!(world.pending.is_empty());
}
