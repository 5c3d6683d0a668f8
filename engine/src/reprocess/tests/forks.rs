//! Tests of forks: inherited entries are surveyed and built with the source, own entries like those
//! of any log.

use super::*;
use crate::logs::NewFork;

impl World {
    async fn fork(&self, source: &Log, at: Position) -> Log {
        let (subject, author) = (SubjectKey::new("reprocess", "alice"), None);
        let log = LogId::derive_fork(&subject, source.id, &at.to_string()).unwrap();
        let new = NewFork { log, source: source.id, at: Some(at), author };
        let head = self.logs().fork(new).await.unwrap().head;
        Log { id: log, tail: head, next_id: 1_000 }
    }
}

#[tokio::test]
async fn a_fork_builds_its_snapshots_despite_missing_snapshots_of_its_source() {
    let world = World::new();
    let mut source = world.create("never made").await;
    world.append(&mut source, 1, 60).await;
    let lost = world.mark(&mut source).await;
    world.append(&mut source, 2, 60).await;
    let mut fork = world.fork(&source, source.tail).await;
    world.append(&mut fork, 3, 60).await;
    let of_fork = world.mark(&mut fork).await;

    // The fork's own two messages were lost as well. Inherited snapshots are built by workers of
    // the source.
    let mut found = world.findings().await;
    found.sort_by_key(|finding| (finding.log, finding.at));
    let mut expected = [
        (source.id, lost.position),
        (fork.id, Position::new(1, 0).unwrap()),
        (fork.id, of_fork.position),
    ];
    expected.sort_unstable();
    let places: Vec<_> = found.iter().map(|finding| (finding.log, finding.at)).collect();
    assert_eq!(places, expected);
    assert!(found.iter().all(|finding| finding.kind == FindingKind::NotBuilt));
    for finding in found.iter().filter(|finding| finding.log == fork.id) {
        world.reprocess().repair(finding).await.unwrap();
    }
    world.work().await;
    assert!(world.root(&source, lost.position).await.is_none(), "it did not wait for that");
    assert!(world.root(&fork, of_fork.position).await.is_some());
    world.assert_right(&fork, fork.tail).await;
    world.assert_right(&fork, source.tail).await;
    let left: Vec<_> = world.findings().await.iter().map(|finding| finding.log).collect();
    assert_eq!(left, [source.id]);
}

#[tokio::test]
async fn a_family_that_lost_its_objects_is_rebuilt_log_by_log() {
    let world = World::new();
    let mut source = world.create("family").await;
    for seed in 0..2 {
        world.append(&mut source, seed, 600).await;
        let job = world.mark(&mut source).await;
        world.queue.send(&job.encode()).await.unwrap();
        world.work().await;
    }
    let shared = source.tail;
    world.append(&mut source, 7, 20).await;
    let mut fork = world.fork(&source, shared).await;
    let first = SnapshotJob { log: fork.id, position: fork.tail };
    world.append(&mut fork, 8, 600).await;
    let job = world.mark(&mut fork).await;
    for job in [first, job] {
        world.queue.send(&job.encode()).await.unwrap();
        world.work().await;
    }
    for lost in [false, true] {
        if lost {
            world.delete_objects("").await;
        }
        // Rebuilding one log deletes nothing of the other.
        for log in [&source, &fork] {
            let reprocess = world.reprocess();
            let plan = reprocess.plan_rebuild(log.id).await.unwrap();
            assert!(
                plan.snapshots.iter().all(|anew| anew.root.is_some() || anew.at == Position::FIRST)
            );
            reprocess.start_rebuild(&plan, |_, _| {}).await.unwrap();
            world.work().await;
            world.assert_right(log, log.tail).await;
            world.assert_right(log, shared).await;
            world.clock.advance_ms(1);
        }
        world.assert_right(&source, source.tail).await;
        world.assert_right(&fork, fork.tail).await;
        assert!(world.findings().await.is_empty());
    }
}
