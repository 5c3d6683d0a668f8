//! What is found, and what is done about it.

use cellar_base::limits::{ABANDONED_S, MAX_PAGE_ENTRIES};

use super::*;
use crate::ports::{PendingSnapshots as _, Segments as _};
use crate::retention::Offloader;

fn of(log: &Log, at: Position, found: Found) -> Finding {
    Finding { log: log.id, at, found }
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
    let not_made: Vec<Finding> = marks.iter().map(|at| of(&log, *at, Found::NotMade)).collect();
    let (found, seen) = world.survey(Scope::default()).await;
    assert_eq!(found, not_made);
    let seen_of =
        |pending| Seen { logs: 1, segments: 1, entries: 8, snapshots: 4, bodies: 0, pending };
    assert_eq!(seen, seen_of(0));
    assert!(world.queue.is_empty(), "looking changes nothing");
    // Twice, before anybody has worked: each message comes twice.
    for _ in 0..2 {
        let done = world.mend().await;
        assert!(done.iter().all(|(_, mended)| *mended == Mended::Sent), "{done:?}");
    }
    assert_eq!(world.queue.len(), 6);
    let jobs = marks.iter().map(|at| SnapshotJob { log: log.id, position: *at });
    let mut sent = jobs.collect::<std::collections::VecDeque<_>>();
    world.reprocess().drop_done(&mut sent).await.unwrap();
    assert_eq!(sent.len(), 3, "nothing is done yet");
    world.work().await;
    world.reprocess().drop_done(&mut sent).await.unwrap();
    assert!(sent.is_empty(), "{sent:?}");
    let (found, seen) = world.survey(Scope::default()).await;
    assert_eq!((found, seen), (vec![], seen_of(0)));
    assert!(world.mend().await.is_empty() && world.queue.is_empty());
    for at in marks.into_iter().chain([log.tail]) {
        world.assert_right(&log, at).await;
    }
}

#[tokio::test]
async fn what_a_later_snapshot_has_passed_over_is_told_and_not_made() {
    let world = World::new();
    let mut log = world.create("passed over").await;
    let first = world.mark(&mut log).await.position;
    let second = world.mark(&mut log).await;
    let third = world.mark(&mut log).await.position;
    world.tables.raise_last_snapshot(log.id, second.position).await.unwrap();
    let mut expected = vec![
        (of(&log, first, Found::PassedOver), Mended::Nothing),
        (of(&log, second.position, Found::RootMissing), Mended::Nothing),
        (of(&log, third, Found::NotMade), Mended::Sent),
    ];
    // What is finished without a root is no work of a worker.
    assert_eq!(world.mend().await, expected);
    assert_eq!(world.queue.len(), 1);
    world.tables.set_root(log.id, second.position, "sheets/a/roots/b").await.unwrap();
    expected.remove(1);
    assert_eq!(world.mend().await, expected);
    assert_eq!(world.queue.len(), 2);
}

#[tokio::test]
async fn snapshots_across_segments_are_each_measured_by_their_own() {
    let world = World::new();
    let mut log = world.create("across").await;
    world.append(&mut log, 1, 10).await;
    let old = world.mark(&mut log).await.position;
    world.roll(&mut log).await;
    // Of the second segment the first snapshot is finished; in the first one, one is missing behind it.
    world.tables.raise_last_snapshot(log.id, log.tail).await.unwrap();
    world.tables.set_root(log.id, log.tail, "sheets/a/roots/b").await.unwrap();
    assert_eq!(world.findings().await, [of(&log, old, Found::NotMade)]);
}

#[tokio::test]
async fn a_tag_that_is_left_is_removed_and_a_lost_body_is_told() {
    let world = World::new();
    let mut log = world.create("bodies").await;
    let kept = world.append_large(&mut log, "uploads/a/kept").await;
    let (kept_at, lost_at) = (log.tail, log.tail.next_in_segment().unwrap());
    let lost = world.append_large(&mut log, "uploads/a/lost").await;
    let none = world.append_large(&mut log, "uploads/a/none").await;
    world.blobs.keep(&none).await.unwrap();
    world.blobs.delete(&lost).await.unwrap();
    let pending = Found::BodyPending { key: kept.to_string() };
    let gone = Found::BodyLost { key: lost.to_string() };
    assert!(pending.is_due() && !pending.is_lost() && gone.is_lost() && !gone.is_due());
    let (found, seen) = world.survey(Scope::default()).await;
    assert_eq!(found, [of(&log, kept_at, pending.clone()), of(&log, lost_at, gone.clone())]);
    assert_eq!(seen.bodies, 3);
    assert_eq!(world.blobs.pending(&kept).await, Ok(Some(true)), "looking changes nothing");
    let expected = vec![
        (of(&log, kept_at, pending.clone()), Mended::Kept),
        (of(&log, lost_at, gone.clone()), Mended::Nothing),
    ];
    assert_eq!(world.mend().await, expected);
    assert_eq!(world.blobs.pending(&kept).await, Ok(Some(false)));
    assert_eq!(world.findings().await, [of(&log, lost_at, gone)]);
    // It goes between the look and the deed.
    world.blobs.delete(&kept).await.unwrap();
    let mended = world.reprocess().mend(&of(&log, kept_at, pending)).await;
    assert_eq!(mended, Ok(Mended::Lost));
}

#[tokio::test]
async fn a_record_that_nobody_touches_gets_a_message_whatever_its_entry_says() {
    let world = World::new();
    let mut log = world.create("pending").await;
    let (one, two) = (world.mark(&mut log).await, world.mark(&mut log).await);
    let three = world.mark(&mut log).await;
    let now_s = world.clock.now_ms() / 1_000;
    // The first is finished: its worker died before it deleted the record.
    world.tables.set_root(log.id, one.position, "sheets/a/roots/b").await.unwrap();
    world.tables.raise_last_snapshot(log.id, one.position).await.unwrap();
    for (job, silent_s) in [(one, ABANDONED_S), (two, ABANDONED_S - 1)] {
        let written = world.pending.create(&record(job, now_s - silent_s)).await;
        assert_eq!(written, WriteOutcome::Written);
    }
    let abandoned = Found::Abandoned { silent_s: ABANDONED_S };
    let under_way = Found::UnderWay { silent_s: ABANDONED_S - 1 };
    let expected = vec![
        (of(&log, one.position, abandoned), Mended::Sent),
        (of(&log, two.position, under_way), Mended::Nothing),
        (of(&log, three.position, Found::NotMade), Mended::Sent),
    ];
    let (_, seen) = world.survey(Scope::default()).await;
    assert_eq!((seen.pending, seen.snapshots), (2, 4));
    assert_eq!(world.mend().await, expected);
    // By a date after all of it, the records are still looked at.
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
        while log.tail.num() + 2 < entries {
            world.put(&mut log, one.content.clone(), |_| {}).await;
        }
        let at = world.mark(&mut log).await.position;
        assert_eq!(at.num() + 1, entries);
        let (found, seen) = world.survey(Scope::default()).await;
        assert_eq!(found, [of(&log, at, Found::NotMade)], "{entries}");
        assert_eq!(seen.entries, u64::from(entries));
        let plan = world.reprocess().plan_rebuild(log.id).await.unwrap();
        assert_eq!((plan.seen.entries, plan.snapshots.len()), (u64::from(entries), 1));
    }
    // A page of segments in memory has three.
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
        assert!(found.contains(&of(&other, at, Found::NotMade)), "{found:?}");
        let newest = of(&log, log.tail, Found::NotMade);
        assert!(found.contains(&newest), "{found:?}");
        let (found, seen) = world.survey(Scope { log: Some(log.id), since_s: 0 }).await;
        assert_eq!((seen.logs, seen.segments), (1, segments));
        assert_eq!(found.last(), Some(&newest));
        assert!(found.iter().all(|finding| finding.log == log.id));
    }
}

#[tokio::test]
async fn a_log_that_is_not_there_has_nothing() {
    let world = World::new();
    world.create("there").await;
    let nowhere = LogId::from_uuid(uuid::Uuid::nil());
    let (found, seen) = world.survey(Scope { log: Some(nowhere), since_s: 0 }).await;
    assert_eq!((found, seen), (vec![], Seen::default()));
}

#[tokio::test]
async fn entries_count_from_their_date_on() {
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
        offloader.survey(policy, |segment| planned.push(segment)).await.unwrap();
        planned.retain(|planned| planned.segment.log == log.id);
        assert_eq!(planned[0].plan, Plan::OffloadAndTrim);
        offloader.execute(&planned[0]).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_offloaded_is_read_from_there() {
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
    let rest = [of(&log, second, Found::RootMissing), of(&log, log.tail, Found::NotMade)];
    let with = |found: Vec<Finding>| found.into_iter().chain(rest.clone()).collect::<Vec<_>>();
    let offloaded = of(&log, unmade, Found::Offloaded);
    let pending = of(&log, body_at, Found::BodyPending { key: key.clone() });
    assert_eq!(world.findings().await, with(vec![pending, offloaded.clone()]));
    let mended = world.mend().await;
    assert_eq!(mended[0].1, Mended::Kept);
    assert_eq!(mended[1].1, Mended::Nothing, "its root could not be set");
    world.blobs.delete(&body).await.unwrap();
    let lost = of(&log, body_at, Found::BodyLost { key });
    assert_eq!(world.findings().await, with(vec![lost, offloaded]));
    // Without the offloaded segment there is nothing to read, and the rest is read all the same.
    let offloads = world.blobs.list("offloaded/", None, 10).await.unwrap().blobs;
    world.blobs.delete(&BlobKey::new(&offloads[0].key).unwrap()).await.unwrap();
    let found = world.findings().await;
    assert_eq!(found[1..], rest);
    assert_eq!(found[0].at, Position::FIRST);
    let Found::Unreadable { why } = &found[0].found else { panic!("{found:?}") };
    assert!(found[0].found.is_lost() && why.contains("it is gone"), "{why}");
}

#[tokio::test]
async fn a_hole_hides_nothing_before_it_and_no_other_log() {
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
    assert!(matches!(&hidden.unwrap().found, Found::Unreadable { .. }), "{found:?}");
    // A segment that has ended, without its end.
    world.roll(&mut other).await;
    let end = Position::new(0, elsewhere.num() + 1).unwrap();
    world.tables.delete(other.id, &[end]).await.unwrap();
    let scope = Scope { log: Some(other.id), since_s: 0 };
    let unreadable = |finding: &Finding| matches!(finding.found, Found::Unreadable { .. });
    let found = world.survey(scope).await.0;
    assert_eq!(found.iter().find(|found| unreadable(found)).map(|found| found.at), Some(end));
}
