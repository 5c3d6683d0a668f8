//! Fault injection scenario in which a log is forked, the fork is edited and forked again, and the
//! first snapshots of the fork are built.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::upkeep::LogPolicy;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::run::Crashes;
use super::scenario::{Retry, Scenario, cache_tail, mutation_places, retry};
use super::workers::handle_queued_jobs;
use super::{
    FaultyPorts, at, edit_request, log, ports_with_edits, set_text, set_with_formulas, subject,
};
use crate::logs::{Logs, NewFork};
use crate::ports::Jobs as _;
use crate::snapshots::Snapshots;

struct Forking {
    steps: &'static [Step],
}

#[derive(Clone, Copy)]
enum Step {
    Fork,
    Append,
    KeepUp,
    ForkTheFork,
    MakeSnapshots,
}

struct Process {
    ports: Arc<FaultyPorts>,
    logs: Logs,
    workers: Snapshots,
}

/// A snapshot is built after the second edit.
const SOURCE_EDITS: u64 = 4;
const SNAPSHOT_AFTER_EACH_ENTRY: LogPolicy = LogPolicy {
    snapshot_entries: 1,
    snapshot_bytes: 1 << 20,
    segment_entries: 1 << 20,
    segment_bytes: 1 << 40,
};

fn fork_of(source: LogId, at: Option<Position>) -> NewFork {
    let log_id = LogId::derive_fork(&subject(), source, "fork").unwrap();
    NewFork { log: log_id, source, at, author: Some("alice".to_owned()) }
}

fn fork() -> NewFork {
    fork_of(log(), Some(at(0, 3)))
}

impl Process {
    async fn fork(&self, request: NewFork) -> Result<Vec<Position>, Retry> {
        let forked = self.logs.fork(request).await.map_err(retry)?;
        Ok(vec![forked.position, forked.head])
    }

    async fn append(&self) -> Result<Vec<Position>, Retry> {
        let edit = set_with_formulas(0, "of the fork", &["=B3+1"]);
        let request = edit_request(fork().log, 1, 1, at(0, 2), vec![edit]);
        let appended = mutation_places(self.logs.append(request).await.map_err(retry)?);
        Ok(appended.into_iter().filter_map(|(_, position, _)| position).collect())
    }

    async fn keep_up(&self) -> Result<Vec<Position>, Retry> {
        let tail = cache_tail(&self.logs, fork().log).await?;
        let upkept = self.logs.upkeep(tail.log, &SNAPSHOT_AFTER_EACH_ENTRY).await;
        upkept.map(|_| vec![]).map_err(retry)
    }

    async fn make_snapshots(&self) -> Result<Vec<Position>, Retry> {
        for position in [at(1, 0), at(1, 2)] {
            let job = SnapshotJob { log: fork().log, position };
            self.ports.queue.send(&job.encode()).await.unwrap();
        }
        handle_queued_jobs(&self.workers, &self.ports).await;
        Ok(vec![])
    }
}

impl Scenario for Forking {
    type Process = Process;
    type Caller = ();
    type Answer = Vec<Position>;

    fn step_count(&self) -> usize {
        self.steps.len()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Process {
        Process { ports: Arc::clone(ports), logs: ports.logs(), workers: ports.workers() }
    }

    async fn step(&self, process: &Process, (): &(), step: usize) -> Result<Self::Answer, Retry> {
        match self.steps[step] {
            Step::Fork => process.fork(fork()).await,
            Step::Append => process.append().await,
            Step::KeepUp => process.keep_up().await,
            Step::ForkTheFork => process.fork(fork_of(fork().log, None)).await,
            Step::MakeSnapshots => process.make_snapshots().await,
        }
    }

    async fn finish_other_work(&self, ports: Arc<FaultyPorts>) {
        handle_queued_jobs(&ports.workers(), &ports).await;
    }
}

async fn ports_with_source() -> Arc<FaultyPorts> {
    let ports = ports_with_edits(SOURCE_EDITS / 2).await;
    let logs = ports.logs();
    cache_tail(&logs, log()).await.unwrap();
    logs.upkeep(log(), &SNAPSHOT_AFTER_EACH_ENTRY).await.unwrap();
    let job = SnapshotJob { log: log(), position: at(0, 3) };
    ports.queue.send(&job.encode()).await.unwrap();
    handle_queued_jobs(&ports.workers(), &ports).await;
    for id in SOURCE_EDITS / 2 + 1..=SOURCE_EDITS {
        let request =
            edit_request(log(), 9, id, at(0, 3), vec![set_text(9, &format!("edit {id}"))]);
        logs.append(request).await.unwrap();
    }
    ports.faults.take_request_count();
    ports
}

async fn prepare_forks() -> Crashes<Forking> {
    let steps = &[Step::Fork, Step::Append, Step::KeepUp, Step::ForkTheFork];
    Crashes::new(Forking { steps }, ports_with_source().await).await
}

async fn prepare_first_snapshots() -> Crashes<Forking> {
    let ports = ports_with_source().await;
    let scenario = Forking { steps: &[Step::MakeSnapshots] };
    let process = scenario.start_process(&ports);
    process.fork(fork()).await.unwrap();
    process.append().await.unwrap();
    process.keep_up().await.unwrap();
    ports.faults.take_request_count();
    Crashes::new(scenario, ports).await
}

#[tokio::test]
async fn forks_survive() {
    let crashes = prepare_forks().await;
    assert_eq!(crashes.stored().forks.len(), 2);
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn the_first_snapshots_of_a_fork_survive() {
    let crashes = prepare_first_snapshots().await;
    let made = crashes.stored().segments_of(fork().log).last().unwrap().last_snapshot;
    assert_eq!(made, Some(2), "the fork has a snapshot of its own");
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_forks_survive_whatever_two_requests_fail() {
    prepare_forks().await.inject_each_pair_of_faults().await;
    prepare_first_snapshots().await.inject_each_pair_of_faults().await;
}
