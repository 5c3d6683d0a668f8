//! Tests of surveys and repairs.

use cellar_base::limits::{ABANDONED_S, MAX_PAGE_ENTRIES};

use super::*;
use crate::ports::{PendingSnapshots as _, Segments as _};
use crate::retention::Offloader;

fn finding(log: &Log, at: Position, kind: FindingKind) -> Finding {
    Finding { log: log.id, at, kind }
}

#[tokio::test]
async fn lost_messages_are_sent_again_and_a_second_run_finds_nothing() {
    let world = World::new();
    let mut log = world.create("lost").await;
    let mut marks = Vec::new();
    for seed in 0..3 {
        world.append(&mut log, seed, 300).await;
        marks.push(world.mark(&mut log).await.position);
    }
    world.append(&mut log, 9, 10).await;
    let not_made: Vec<Finding> =
        marks.iter().map(|at| finding(&log, *at, FindingKind::NotBuilt)).collect();
    let (found, seen) = world.survey(Scope::default()).await;
    assert_eq!(found, not_made);
    let seen_of = |pending| SurveyCounts {
        logs: 1,
        segments: 1,
        entries: 8,
        snapshots: 4,
        bodies: 0,
        pending,
    };
    assert_eq!(seen, seen_of(0));
    assert!(world.queue.is_empty(), "looking changes nothing");
    // Repairs twice before any worker runs, so that each message is duplicated.
    for _ in 0..2 {
        let done = world.repair().await;
        assert!(done.iter().all(|(_, mended)| *mended == RepairOutcome::Sent), "{done:?}");
    }
    assert_eq!(world.queue.len(), 6);
    let jobs = marks.iter().map(|at| SnapshotJob { log: log.id, position: *at });
    let mut sent = jobs.collect::<std::collections::VecDeque<_>>();
    world.reprocess().drop_finished(&mut sent).await.unwrap();
    assert_eq!(sent.len(), 3, "nothing is done yet");
    world.work().await;
    world.reprocess().drop_finished(&mut sent).await.unwrap();
    assert!(sent.is_empty(), "{sent:?}");
    let (found, seen) = world.survey(Scope::default()).await;
    assert_eq!((found, seen), (vec![], seen_of(0)));
    assert!(world.repair().await.is_empty() && world.queue.is_empty());
    for at in marks.into_iter().chain([log.tail]) {
        world.assert_right(&log, at).await;
    }
}

#[tokio::test]
async fn skipped_snapshots_are_reported_and_not_built() {
    let world = World::new();
    let mut log = world.create("passed over").await;
    let first = world.mark(&mut log).await.position;
    let second = world.mark(&mut log).await;
    let third = world.mark(&mut log).await.position;
    world.tables.raise_last_snapshot(log.id, second.position).await.unwrap();
    let mut expected = vec![
        (finding(&log, first, FindingKind::Skipped), RepairOutcome::Nothing),
        (finding(&log, second.position, FindingKind::RootMissing), RepairOutcome::Nothing),
        (finding(&log, third, FindingKind::NotBuilt), RepairOutcome::Sent),
    ];
    // Workers never finish a snapshot without a root.
    assert_eq!(world.repair().await, expected);
    assert_eq!(world.queue.len(), 1);
    world.tables.set_root(log.id, second.position, "sheets/a/roots/b").await.unwrap();
    expected.remove(1);
    assert_eq!(world.repair().await, expected);
    assert_eq!(world.queue.len(), 2);
}

#[tokio::test]
async fn each_segment_has_its_own_last_snapshot() {
    let world = World::new();
    let mut log = world.create("across").await;
    world.append(&mut log, 1, 10).await;
    let old = world.mark(&mut log).await.position;
    world.roll(&mut log).await;
    // In the second segment, the first snapshot is finished. In the first segment, a snapshot after
    // the last finished one is missing.
    world.tables.raise_last_snapshot(log.id, log.tail).await.unwrap();
    world.tables.set_root(log.id, log.tail, "sheets/a/roots/b").await.unwrap();
    assert_eq!(world.findings().await, [finding(&log, old, FindingKind::NotBuilt)]);
}

#[tokio::test]
async fn pending_tags_are_removed_and_lost_bodies_are_reported() {
    let world = World::new();
    let mut log = world.create("bodies").await;
    let kept = world.append_large(&mut log, "uploads/a/kept").await;
    let (kept_at, lost_at) = (log.tail, log.tail.next_in_segment().unwrap());
    let lost = world.append_large(&mut log, "uploads/a/lost").await;
    let none = world.append_large(&mut log, "uploads/a/none").await;
    world.blobs.keep(&none).await.unwrap();
    world.blobs.delete(&lost).await.unwrap();
    let pending = FindingKind::BodyPending { key: kept.to_string() };
    let gone = FindingKind::BodyLost { key: lost.to_string() };
    assert!(
        pending.is_repairable() && !pending.is_lost() && gone.is_lost() && !gone.is_repairable()
    );
    let (found, seen) = world.survey(Scope::default()).await;
    assert_eq!(
        found,
        [finding(&log, kept_at, pending.clone()), finding(&log, lost_at, gone.clone())]
    );
    assert_eq!(seen.bodies, 3);
    assert_eq!(world.blobs.pending(&kept).await, Ok(Some(true)), "looking changes nothing");
    let expected = vec![
        (finding(&log, kept_at, pending.clone()), RepairOutcome::Kept),
        (finding(&log, lost_at, gone.clone()), RepairOutcome::Nothing),
    ];
    assert_eq!(world.repair().await, expected);
    assert_eq!(world.blobs.pending(&kept).await, Ok(Some(false)));
    assert_eq!(world.findings().await, [finding(&log, lost_at, gone)]);
    // The body is deleted between the survey and the repair.
    world.blobs.delete(&kept).await.unwrap();
    let mended = world.reprocess().repair(&finding(&log, kept_at, pending)).await;
    assert_eq!(mended, Ok(RepairOutcome::Lost));
}

#[tokio::test]
async fn an_abandoned_record_gets_a_message_whatever_its_entry_contains() {
    let world = World::new();
    let mut log = world.create("pending").await;
    let (one, two) = (world.mark(&mut log).await, world.mark(&mut log).await);
    let three = world.mark(&mut log).await;
    let now_s = world.clock.now_ms() / 1_000;
    // The first snapshot is finished: its worker died before it deleted the record.
    world.tables.set_root(log.id, one.position, "sheets/a/roots/b").await.unwrap();
    world.tables.raise_last_snapshot(log.id, one.position).await.unwrap();
    for (job, silent_s) in [(one, ABANDONED_S), (two, ABANDONED_S - 1)] {
        let written = world.pending.create(&record(job, now_s - silent_s)).await;
        assert_eq!(written, WriteOutcome::Written);
    }
    let abandoned = FindingKind::Abandoned { silent_s: ABANDONED_S };
    let under_way = FindingKind::InProgress { silent_s: ABANDONED_S - 1 };
    let expected = vec![
        (finding(&log, one.position, abandoned), RepairOutcome::Sent),
        (finding(&log, two.position, under_way), RepairOutcome::Nothing),
        (finding(&log, three.position, FindingKind::NotBuilt), RepairOutcome::Sent),
    ];
    let (_, seen) = world.survey(Scope::default()).await;
    assert_eq!((seen.pending, seen.snapshots), (2, 4));
    assert_eq!(world.repair().await, expected);
    // Pending records are surveyed even if all entries are older than the scope.
    let since_s = now_s + 1;
    let (found, seen) = world.survey(Scope { log: None, since_s }).await;
    assert_eq!((found.len(), seen.entries, seen.pending), (2, 0, 2));
}

#[tokio::test]
async fn pages_are_followed_to_their_end() {
    for entries in [MAX_PAGE_ENTRIES, MAX_PAGE_ENTRIES + 1] {
        let world = World::new();
        let mut log = world.create("pages").await;
        let edit = world.append(&mut log, 0, 1);
        edit.await;
        let one = world.tables.get(log.id, log.tail).await.unwrap().unwrap();
        while log.tail.entry_number() + 2 < entries {
            world.put(&mut log, one.content.clone(), |_| {}).await;
        }
        let at = world.mark(&mut log).await.position;
        assert_eq!(at.entry_number() + 1, entries);
        let (found, seen) = world.survey(Scope::default()).await;
        assert_eq!(found, [finding(&log, at, FindingKind::NotBuilt)], "{entries}");
        assert_eq!(seen.entries, u64::from(entries));
        let plan = world.reprocess().plan_rebuild(log.id).await.unwrap();
        assert_eq!((plan.counts.entries, plan.snapshots.len()), (u64::from(entries), 1));
    }
    // A page of segments of the in-memory table has three items.
    for segments in [3, 4] {
        let world = World::new();
        let mut log = world.create("segments").await;
        for _ in 1..segments {
            world.roll(&mut log).await;
        }
        let mut other = world.create("another").await;
        let at = world.mark(&mut other).await.position;
        let (found, seen) = world.survey(Scope::default()).await;
        assert_eq!((seen.logs, seen.segments), (2, segments + 1));
        assert!(found.contains(&finding(&other, at, FindingKind::NotBuilt)), "{found:?}");
        let newest = finding(&log, log.tail, FindingKind::NotBuilt);
        assert!(found.contains(&newest), "{found:?}");
        let (found, seen) = world.survey(Scope { log: Some(log.id), since_s: 0 }).await;
        assert_eq!((seen.logs, seen.segments), (1, segments));
        assert_eq!(found.last(), Some(&newest));
        assert!(found.iter().all(|finding| finding.log == log.id));
    }
}

#[tokio::test]
async fn a_missing_log_has_no_findings() {
    let world = World::new();
    world.create("there").await;
    let nowhere = LogId::from_uuid(uuid::Uuid::nil());
    let (found, seen) = world.survey(Scope { log: Some(nowhere), since_s: 0 }).await;
    assert_eq!((found, seen), (vec![], SurveyCounts::default()));
}

#[tokio::test]
async fn only_entries_since_the_given_time_are_surveyed() {
    let world = World::new();
    let mut log = world.create("since").await;
    world.mark(&mut log).await;
    world.clock.advance_ms(1_000_000);
    world.roll(&mut log).await;
    let rolled_s = world.clock.now_ms() / 1_000;
    let first = log.tail;
    world.clock.advance_ms(1_000_000);
    let late = world.mark(&mut log).await.position;
    let late_s = world.clock.now_ms() / 1_000;
    for (since_s, expected) in [
        (late_s + 1, vec![]),
        (late_s, vec![late]),
        (rolled_s + 1, vec![late]),
        (rolled_s, vec![first, late]),
    ] {
        let (found, seen) = world.survey(Scope { log: None, since_s }).await;
        assert_eq!(found.iter().map(|finding| finding.at).collect::<Vec<_>>(), expected);
        let segments = if since_s > rolled_s { 1 } else { 2 };
        assert_eq!(seen.segments, segments, "those that ended before are not read");
    }
}

impl World {
    /// Offloads and trims the oldest segment of a log.
    pub(super) async fn offload_first(&self, log: &Log) {
        use cellar_log::{retention::Plan, retention::Policy};
        self.clock.advance_ms(3 * 24 * 60 * 60 * 1_000);
        let (tables, blobs) = (|| Arc::clone(&self.tables), Arc::clone(&self.blobs));
        let offloader = Offloader::new(tables(), tables(), blobs, Arc::clone(&self.clock) as _);
        let policy = Policy { offload_after_days: 1, keep_segments: 2 };
        let mut planned = Vec::new();
        offloader.plan_all_logs(policy, |segment| planned.push(segment)).await.unwrap();
        planned.retain(|planned| planned.segment.log == log.id);
        assert_eq!(planned[0].plan, Plan::OffloadAndTrim);
        offloader.execute(&planned[0]).await.unwrap();
    }
}

#[tokio::test]
async fn offloaded_entries_are_read_from_their_copy() {
    let world = World::new();
    let mut log = world.create("offloaded").await;
    let body = world.append_large(&mut log, "uploads/a/body").await;
    let body_at = log.tail;
    let unmade = world.mark(&mut log).await.position;
    world.roll(&mut log).await;
    let second = log.tail;
    world.roll(&mut log).await;
    world.offload_first(&log).await;
    let key = body.to_string();
    let rest = [
        finding(&log, second, FindingKind::RootMissing),
        finding(&log, log.tail, FindingKind::NotBuilt),
    ];
    let with = |found: Vec<Finding>| found.into_iter().chain(rest.clone()).collect::<Vec<_>>();
    let offloaded = finding(&log, unmade, FindingKind::Offloaded);
    let pending = finding(&log, body_at, FindingKind::BodyPending { key: key.clone() });
    assert_eq!(world.findings().await, with(vec![pending, offloaded.clone()]));
    let mended = world.repair().await;
    assert_eq!(mended[0].1, RepairOutcome::Kept);
    assert_eq!(mended[1].1, RepairOutcome::Nothing, "its root could not be set");
    world.blobs.delete(&body).await.unwrap();
    let lost = finding(&log, body_at, FindingKind::BodyLost { key });
    assert_eq!(world.findings().await, with(vec![lost, offloaded]));
    // Without the offloaded copy, the segment is unreadable. The other segments are still surveyed.
    let offloads = world.blobs.list("offloaded/", None, 10).await.unwrap().blobs;
    world.blobs.delete(&BlobKey::new(&offloads[0].key).unwrap()).await.unwrap();
    let found = world.findings().await;
    assert_eq!(found[1..], rest);
    assert_eq!(found[0].at, Position::FIRST);
    let FindingKind::Unreadable { why } = &found[0].kind else { panic!("{found:?}") };
    assert!(found[0].kind.is_lost() && why.contains("does not exist"), "{why}");
}

#[tokio::test]
async fn a_gap_hides_only_the_rest_of_its_segment() {
    use crate::ports::Retention as _;
    let world = World::new();
    let mut log = world.create("hole").await;
    let before = world.mark(&mut log).await.position;
    world.append(&mut log, 1, 1).await;
    let hole = log.tail;
    world.mark(&mut log).await;
    let mut other = world.create("whole").await;
    let elsewhere = world.mark(&mut other).await.position;
    world.tables.delete(log.id, &[hole]).await.unwrap();
    let found = world.findings().await;
    let at = |log: &Log| -> Vec<Position> {
        found.iter().filter(|finding| finding.log == log.id).map(|finding| finding.at).collect()
    };
    assert_eq!((at(&log), at(&other)), (vec![before, hole], vec![elsewhere]));
    let hidden = found.iter().find(|finding| finding.at == hole && finding.log == log.id);
    assert!(matches!(&hidden.unwrap().kind, FindingKind::Unreadable { .. }), "{found:?}");
    // A closed segment without its End Segment.
    world.roll(&mut other).await;
    let end = Position::new(0, elsewhere.entry_number() + 1).unwrap();
    world.tables.delete(other.id, &[end]).await.unwrap();
    let scope = Scope { log: Some(other.id), since_s: 0 };
    let unreadable = |finding: &Finding| matches!(finding.kind, FindingKind::Unreadable { .. });
    let found = world.survey(scope).await.0;
    assert_eq!(found.iter().find(|found| unreadable(found)).map(|found| found.at), Some(end));
}
