//! Scenarios for reprocessing: an operator retries each command until it succeeds.

use std::sync::Arc;

use cellar_base::limits::ABANDONED_S;
use cellar_base::position::Position;
use cellar_log::entry::Content;
use cellar_log::upkeep::LogPolicy;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::relay::tag_uploads;
use super::run::Crashes;
use super::scenario::{Retry, Scenario, cache_tail};
use super::stored::Stored;
use super::uploads::append_large;
use super::workers::work;
use super::{FaultyPorts, at, edited, edits, log, set};
use crate::ports::{
    BlobKey, Blobs as _, Entries as _, Jobs as _, PendingSnapshots as _, Segments as _,
    WriteOutcome,
};
use crate::reprocess::{Reprocess, ReprocessPorts, Scope};
use crate::snapshots::new_object;

/// An operator's commands, each retried until it succeeds.
struct Operator {
    commands: Vec<Command>,
}

#[derive(Clone, Copy)]
enum Command {
    /// Surveys all logs and repairs all findings.
    Mend,
    /// Rebuilds every snapshot of the log.
    Rebuild,
}

struct Process {
    ports: Arc<FaultyPorts>,
    reprocess: Reprocess,
}

impl Process {
    async fn mend(&self) -> Result<(), Retry> {
        let mut findings = Vec::new();
        let survey = self.reprocess.survey(Scope::default(), |finding| findings.push(finding));
        survey.await.map_err(|error| Retry(error.to_string()))?;
        let mut failed = Ok(());
        for finding in findings {
            // Unreadable objects are reported but do not prevent other repairs.
            if finding.kind.is_lost() {
                failed = Err(Retry(format!("{finding:?}")));
            }
            if let Err(error) = self.reprocess.repair(&finding).await {
                failed = Err(Retry(error.to_string()));
            }
        }
        failed
    }

    async fn rebuild(&self) -> Result<(), Retry> {
        let retry = |error: crate::reprocess::RebuildRefusal| Retry(error.to_string());
        let plan = self.reprocess.plan_rebuild(log()).await.map_err(retry)?;
        self.reprocess.start_rebuild(&plan, |_, _| {}).await.map_err(retry)
    }
}

impl Scenario for Operator {
    type Process = Process;
    type Caller = ();
    type Answer = ();

    fn steps(&self) -> usize {
        self.commands.len()
    }

    fn process(&self, ports: &Arc<FaultyPorts>) -> Process {
        let reprocess = Reprocess::new(ReprocessPorts {
            entries: Arc::clone(ports) as _,
            segments: Arc::clone(ports) as _,
            retention: Arc::clone(ports) as _,
            pending: Arc::clone(ports) as _,
            blobs: Arc::clone(ports) as _,
            jobs: Arc::clone(ports) as _,
            clock: Arc::clone(&ports.clock) as _,
        });
        Process { ports: Arc::clone(ports), reprocess }
    }

    async fn step(&self, process: &Process, (): &(), step: usize) -> Result<(), Retry> {
        match self.commands[step] {
            Command::Rebuild => process.rebuild().await,
            Command::Mend => {
                // Enough time has passed for pending snapshots of earlier commands to count as
                // abandoned.
                process.ports.clock.advance_ms(ABANDONED_S * 1_000);
                process.mend().await
            }
        }
    }

    /// Workers handle the jobs.
    async fn settle(&self, ports: Arc<FaultyPorts>) {
        work(&ports.workers(), &ports).await;
    }

    fn assert_ended(&self, stored: &Stored, _: &[()], what: &str) {
        assert!(stored.pending.is_empty(), "{what}: a pending snapshot is left");
        for entry in stored.entries.values().filter(|entry| entry.position > Position::FIRST) {
            let unmade = matches!(entry.content, Content::Snapshot { root: None, .. });
            assert!(!unmade, "{what}: the snapshot at {} is missing", entry.position);
        }
    }
}

/// Creates a log with Snapshot entries at 2, 4 and 6 whose jobs are lost.
async fn marked() -> Arc<FaultyPorts> {
    let ports = edited(1).await;
    let logs = ports.logs();
    let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    for id in 2..5 {
        cache_tail(&logs, log()).await.unwrap();
        logs.upkeep(log(), &policy).await.unwrap();
        let base = at(0, 1);
        logs.append(edits(log(), 9, id, base, vec![set(2, &format!("edit {id}"))])).await.unwrap();
    }
    ports
}

fn job(num: u32) -> SnapshotJob {
    SnapshotJob { log: log(), position: at(0, num) }
}

/// Simulates lost jobs, an abandoned pending snapshot left by one of them, and an upload that still
/// has its `pending` tag.
async fn mending() -> Crashes<Operator> {
    let before = marked().await;
    append_large(&before).await;
    tag_uploads(&before).await;
    let begun_s = super::START_MS / 1_000;
    let record = PendingSnapshot {
        job: job(4),
        created_s: begun_s,
        modified_s: begun_s,
        active: true,
        increment: 3,
        progress: Vec::new(),
        rebuild: None,
    };
    assert_eq!(before.pending.create(&record).await, WriteOutcome::Written);
    Crashes::new(Operator { commands: vec![Command::Mend] }, before).await
}

/// The first of the three snapshots was skipped; only a rebuild creates it.
async fn rebuilding() -> Crashes<Operator> {
    let before = marked().await;
    let made = before.copied(vec![]);
    for num in [2, 4, 6] {
        made.queue.send(&job(num).encode()).await.unwrap();
        work(&made.workers(), &made).await;
    }
    for (key, (bytes, _)) in made.blobs.contents() {
        before.blobs.put(new_object(BlobKey::new(key).unwrap(), bytes)).await.unwrap();
    }
    let made = Stored::read(&made);
    for num in [4, 6] {
        let Content::Snapshot { root: Some(root), .. } =
            &made.entries[&(log(), at(0, num))].content
        else {
            panic!("{num} is made");
        };
        before.tables.set_root(log(), at(0, num), root).await.unwrap();
    }
    before.tables.raise_last_snapshot(log(), at(0, 6)).await.unwrap();
    let commands = vec![Command::Rebuild, Command::Mend];
    Crashes::new(Operator { commands }, before).await
}

#[tokio::test]
async fn a_reprocessing_survives() {
    let crashes = mending().await;
    assert!(crashes.requests() > 8);
    crashes.at_each_request().await;
}

#[tokio::test]
async fn a_rebuild_survives() {
    let crashes = rebuilding().await;
    assert!(crashes.requests() > 20);
    crashes.at_each_request().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_reprocessing_survives_whatever_two_requests_fail() {
    mending().await.at_any_two_requests().await;
    rebuilding().await.at_any_two_requests().await;
}
