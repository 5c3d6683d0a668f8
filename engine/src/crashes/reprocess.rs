//! Fault injection scenarios for reprocessing. An operator retries each command until it succeeds.

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
use super::workers::handle_queued_jobs;
use super::{FaultyPorts, at, edit_request, log, ports_with_edits, set_text};
use crate::ports::{
    BlobKey, Blobs as _, Entries as _, Jobs as _, PendingSnapshots as _, Segments as _,
    WriteOutcome,
};
use crate::reprocess::{Reprocess, ReprocessPorts, Scope};
use crate::snapshots::new_object;

struct Operator {
    commands: Vec<Command>,
}

#[derive(Clone, Copy)]
enum Command {
    Repair,
    Rebuild,
}

struct Process {
    ports: Arc<FaultyPorts>,
    reprocess: Reprocess,
}

impl Process {
    async fn repair_all(&self) -> Result<(), Retry> {
        let mut findings = Vec::new();
        let survey = self.reprocess.survey(Scope::default(), |finding| findings.push(finding));
        survey.await.map_err(|error| Retry(error.to_string()))?;
        let mut last_failure = None;
        for finding in findings {
            // Unreadable objects are reported but do not prevent other repairs.
            if finding.kind.is_lost() {
                last_failure = Some(Retry(format!("{finding:?}")));
            }
            if let Err(error) = self.reprocess.repair(&finding).await {
                last_failure = Some(Retry(error.to_string()));
            }
        }
        match last_failure {
            None => Ok(()),
            Some(retry) => Err(retry),
        }
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

    fn step_count(&self) -> usize {
        self.commands.len()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Process {
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
            Command::Repair => {
                // Advance the clock, so that the pending snapshots of earlier commands count as
                // abandoned.
                process.ports.clock.advance_ms(ABANDONED_S * 1_000);
                process.repair_all().await
            }
        }
    }

    async fn finish_other_work(&self, ports: Arc<FaultyPorts>) {
        handle_queued_jobs(&ports.workers(), &ports).await;
    }

    fn assert_final(&self, stored: &Stored, _: &[()], context: &str) {
        assert!(stored.pending.is_empty(), "{context}: a pending snapshot is left");
        for entry in stored.entries.values().filter(|entry| entry.position > Position::FIRST) {
            let is_unfinished = matches!(entry.content, Content::Snapshot { root: None, .. });
            assert!(!is_unfinished, "{context}: the snapshot at {} is missing", entry.position);
        }
    }
}

/// Creates a log whose entries 2, 4 and 6 are Snapshot entries. Their snapshot jobs are lost.
async fn ports_with_lost_jobs() -> Arc<FaultyPorts> {
    let ports = ports_with_edits(1).await;
    let logs = ports.logs();
    let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    for id in 2..5 {
        cache_tail(&logs, log()).await.unwrap();
        logs.upkeep(log(), &policy).await.unwrap();
        let base = at(0, 1);
        logs.append(edit_request(log(), 9, id, base, vec![set_text(2, &format!("edit {id}"))]))
            .await
            .unwrap();
    }
    ports
}

fn job_at(num: u32) -> SnapshotJob {
    SnapshotJob { log: log(), position: at(0, num) }
}

async fn prepare_repairs() -> Crashes<Operator> {
    let ports = ports_with_lost_jobs().await;
    append_large(&ports).await;
    tag_uploads(&ports).await;
    let start_s = super::START_MS / 1_000;
    let abandoned_snapshot = PendingSnapshot {
        job: job_at(4),
        created_s: start_s,
        modified_s: start_s,
        active: true,
        increment: 3,
        progress: Vec::new(),
        rebuild: None,
    };
    assert_eq!(ports.pending.create(&abandoned_snapshot).await, WriteOutcome::Written);
    Crashes::new(Operator { commands: vec![Command::Repair] }, ports).await
}

/// The first snapshot was skipped, so only a rebuild builds it.
async fn prepare_rebuild() -> Crashes<Operator> {
    let ports = ports_with_lost_jobs().await;
    let ports_with_snapshots = ports.copied(vec![]);
    for num in [2, 4, 6] {
        ports_with_snapshots.queue.send(&job_at(num).encode()).await.unwrap();
        handle_queued_jobs(&ports_with_snapshots.workers(), &ports_with_snapshots).await;
    }
    for (key, (bytes, _)) in ports_with_snapshots.blobs.contents() {
        ports.blobs.put(new_object(BlobKey::new(key).unwrap(), bytes)).await.unwrap();
    }
    let stored = Stored::read(&ports_with_snapshots);
    for num in [4, 6] {
        let Content::Snapshot { root: Some(root), .. } =
            &stored.entries[&(log(), at(0, num))].content
        else {
            panic!("{num} is made");
        };
        ports.tables.set_root(log(), at(0, num), root).await.unwrap();
    }
    ports.tables.raise_last_snapshot(log(), at(0, 6)).await.unwrap();
    let commands = vec![Command::Rebuild, Command::Repair];
    Crashes::new(Operator { commands }, ports).await
}

#[tokio::test]
async fn a_reprocessing_survives() {
    let crashes = prepare_repairs().await;
    assert!(crashes.requests() > 8);
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn a_rebuild_survives() {
    let crashes = prepare_rebuild().await;
    assert!(crashes.requests() > 20);
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_reprocessing_survives_whatever_two_requests_fail() {
    prepare_repairs().await.inject_each_pair_of_faults().await;
    prepare_rebuild().await.inject_each_pair_of_faults().await;
}
