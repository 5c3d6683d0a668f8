//! Crash tests of rebuilt snapshots.

use cellar_snapshot::pending_snapshot::Rebuild;

use super::*;

const OLD: &str = "sheets/a/roots/old";
const RUN: u64 = 1_795_246_132_999;

fn anew(num: u32, replaces: Option<&str>) -> PendingSnapshot {
    PendingSnapshot {
        job: job(num),
        created_s: RUN / 1_000,
        modified_s: RUN / 1_000,
        active: false,
        increment: RUN,
        progress: Vec::new(),
        rebuild: Some(Rebuild { run: RUN, replaces: replaces.map(str::to_owned) }),
    }
}

/// Creates a log with finished snapshots with old roots, and pending records to rebuild them.
async fn finished(planned: Vec<(usize, Fault)>) -> Arc<World> {
    let world = World::new(planned).await;
    for num in [0, 1] {
        let set = world.ports.tables.set_root(log(), job(num).position, OLD).await;
        assert_eq!(set.as_deref(), Ok(OLD));
        world.ports.tables.raise_last_snapshot(log(), job(num).position).await.unwrap();
        assert_eq!(world.ports.pending.create(&anew(num, Some(OLD))).await, WriteOutcome::Written);
    }
    world
}

async fn survives_anew(planned: Vec<(usize, Fault)>, messages: &[u32], ms: u64) -> usize {
    let what = format!("{planned:?} {messages:?}");
    let world = finished(planned).await;
    for num in messages {
        world.ports.queue.send(&job(*num).encode()).await.unwrap();
    }
    world.run(ms).await;
    world.assert_made(&[0, 1], &what).await;
    let seen = world.seen.lock().unwrap();
    let last_of_first = seen.iter().rposition(|(its, _)| *its == job(0));
    let first_of_second = seen.iter().position(|(its, _)| *its == job(1));
    assert!(last_of_first < first_of_second, "{what}: one on the other");
    world.ports.faults.requests()
}

#[tokio::test]
async fn rebuilds_survive_a_fault_at_any_request() {
    // The last message wakes snapshots whose messages were lost.
    for (messages, ms) in [([0, 1].as_slice(), FUNCTION_MS), (&[1, 0, 1, 0], 1), (&[1], 1)] {
        let requests = survives_anew(vec![], messages, ms).await;
        assert!(requests > 20);
        for at in 0..requests {
            for fault in FAULTS {
                survives_anew(vec![(at, fault)], messages, ms).await;
            }
        }
    }
}

#[tokio::test]
async fn a_root_set_concurrently_is_replaced_like_the_old_one() {
    let world = finished(vec![]).await;
    let other = "sheets/a/roots/other";
    let replaced = world.ports.tables.replace_root(log(), job(0).position, Some(OLD), other).await;
    assert_eq!(replaced, Ok(Some(other.to_owned())));
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    assert_eq!(world.call(FUNCTION_MS).await, Some(Some(SnapshotOutcome::Done)));
    let entry = world.ports.tables.get(log(), job(0).position).await.unwrap().unwrap();
    let anew = Content::Snapshot { root: Some(root(&job(0))), trimmed_s: None };
    assert_eq!(entry.content, anew);
    assert_eq!(world.ports.pending.len(), 1, "that of the second");
}

#[tokio::test]
async fn a_concurrently_trimmed_entry_does_not_block_a_rebuild() {
    use crate::ports::Retention as _;
    let world = finished(vec![]).await;
    world.ports.tables.delete(log(), &[job(1).position]).await.unwrap();
    for num in [0, 1] {
        world.ports.queue.send(&job(num).encode()).await.unwrap();
    }
    world.run(FUNCTION_MS).await;
    let entry = world.ports.tables.get(log(), job(0).position).await.unwrap().unwrap();
    let anew = Content::Snapshot { root: Some(root(&job(0))), trimmed_s: None };
    assert_eq!(entry.content, anew, "the other");
    assert!(world.ports.pending.is_empty());
    assert_eq!(
        world.ports.tables.get(log(), job(1).position).await,
        Ok(None),
        "and it is not made"
    );
}

#[tokio::test]
async fn a_late_worker_does_not_delete_the_record_of_a_rebuild() {
    // Root, `L`, delete: the ordinary worker freezes before the delete.
    let world = World::new(vec![(5 + 2 + 3 + 2 + 2, Fault::DiesBefore)]).await;
    world.ports.queue.send(&job(0).encode()).await.unwrap();
    assert_eq!(world.call(FUNCTION_MS).await, Some(None));
    let left = world.ports.pending.first_up_to(job(0)).await.unwrap().unwrap();
    // An operator starts a rebuild meanwhile.
    let again = anew(0, Some(&root(&job(0))));
    assert_eq!(world.ports.pending.replace(&again, left.increment).await, WriteOutcome::Written);
    // The frozen worker resumes.
    assert_eq!(world.ports.pending.delete(job(0), None).await, Ok(()));
    let stale = PendingSnapshot { increment: left.increment + 1, ..left.clone() };
    assert_eq!(world.ports.pending.replace(&stale, left.increment).await, WriteOutcome::Refused);
    assert_eq!(world.ports.pending.first_up_to(job(0)).await, Ok(Some(again)));
}
