//! Fault injection scenarios for offloading and trimming. An operator retries the command until it
//! succeeds. Some writers freeze before their segment is trimmed and resume afterwards.

use std::sync::Arc;

use cellar_base::limits::TRIM_FENCE_S;
use cellar_base::position::Position;
use cellar_log::append::Request;
use cellar_log::entry::Entry;
use cellar_log::invariants::{
    MutationId, check_acknowledged, check_once, complete_history, readable_entries,
};
use cellar_log::{
    retention::KeepReason, retention::Plan, retention::Policy, retention::decode_offloaded,
};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::run::Crashes;
use super::scenario::{
    MutationPlace, Promise, Retry, Scenario, cache_tail, mutation_places, retry,
};
use super::stored::Stored;
use super::workers::handle_queued_jobs;
use super::{FaultyPorts, at, edit_request, log, ports_with_edits, set_text};
use crate::logs::Logs;
use crate::ports::{Jobs as _, Segments as _};
use crate::retention::Offloader;

const POLICY: Policy = Policy { offload_after_days: 1, keep_segments: 2 };
/// Duration in milliseconds that exceeds the minimum age of a closed segment before it is trimmed.
const LATER_MS: u64 = (TRIM_FENCE_S + 3_600) * 1_000;

struct Offloading;

fn offloader(ports: &Arc<FaultyPorts>) -> Offloader {
    let (entries, retention) = (Arc::clone(ports) as _, Arc::clone(ports) as _);
    Offloader::new(entries, retention, Arc::clone(ports) as _, Arc::clone(&ports.clock) as _)
}

/// If a segment fails, the remaining segments are still processed.
async fn offload(offloader: &Offloader) -> Result<Vec<(u32, Plan)>, Retry> {
    let mut planned_segments = Vec::new();
    let survey = offloader.plan_all_logs(POLICY, |planned| planned_segments.push(planned)).await;
    survey.map_err(|error| Retry(error.to_string()))?;
    let mut last_failure = None;
    for planned_segment in &planned_segments {
        if let Err(error) = offloader.execute(planned_segment).await {
            last_failure = Some(Retry(error.to_string()));
        }
    }
    if let Some(retry) = last_failure {
        return Err(retry);
    }
    Ok(planned_segments.into_iter().map(|planned| (planned.segment.num, planned.plan)).collect())
}

impl Scenario for Offloading {
    type Process = Offloader;
    type Caller = ();
    type Answer = Vec<(u32, Plan)>;

    fn step_count(&self) -> usize {
        2
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Offloader {
        offloader(ports)
    }

    async fn step(
        &self,
        offloader: &Offloader,
        (): &(),
        step: usize,
    ) -> Result<Self::Answer, Retry> {
        let plans = offload(offloader).await?;
        // The plans of the first step are not compared, since they depend on earlier attempts.
        Ok(if step == 0 { vec![] } else { plans })
    }
}

/// A writer whose process dies or freezes. The current segment is closed, offloaded and trimmed
/// before the write is retried or the process resumes.
struct FrozenWriter {
    requests: Vec<Request>,
}

impl Scenario for FrozenWriter {
    type Process = Logs;
    type Caller = ();
    type Answer = Vec<MutationPlace>;

    const PROMISE: Promise = Promise::ConsistentData;

    fn step_count(&self) -> usize {
        self.requests.len()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, logs: &Logs, (): &(), step: usize) -> Result<Vec<MutationPlace>, Retry> {
        Ok(mutation_places(logs.append(self.requests[step].clone()).await.map_err(retry)?))
    }

    async fn run_other_writers(&self, ports: Arc<FaultyPorts>) {
        for segment in 0..2 {
            roll(&ports, segment).await;
        }
        ports.clock.advance_ms(LATER_MS);
        offload(&offloader(&ports)).await.unwrap();
        assert!(ports.tables.contents().0[0].is_trimmed());
    }

    fn assert_final(&self, stored: &Stored, answers: &[Vec<MutationPlace>], context: &str) {
        let table_entries: Vec<Arc<Entry>> =
            stored.entries_of(log()).cloned().map(Arc::new).collect();
        let offloaded_entries = offloaded_entries(stored);
        let client = self.requests[0].client();
        let acknowledged_ids = answers.iter().flatten().map(|(id, ..)| *id);
        let acknowledged: Vec<_> = acknowledged_ids.map(|id| MutationId { client, id }).collect();
        assert_eq!(acknowledged.len(), self.requests.len(), "{context}");
        check_once(&complete_history(&table_entries, &offloaded_entries))
            .unwrap_or_else(|violation| panic!("{context}: {violation}"));
        check_acknowledged(&readable_entries(&table_entries, &offloaded_entries), acknowledged)
            .unwrap_or_else(|violation| panic!("{context}: {violation}"));
    }
}

fn offloaded_entries(stored: &Stored) -> Vec<Arc<Entry>> {
    let mut entries = Vec::new();
    for segment in stored.segments_of(log()) {
        if let Some(key) = &segment.offloaded {
            let object = &stored.objects[key].0;
            entries.extend(decode_offloaded(key, object).unwrap().into_iter().map(Arc::new));
        }
    }
    entries
}

async fn roll(ports: &Arc<FaultyPorts>, segment: u32) {
    let logs = ports.logs();
    let first_position = at(segment, 0);
    ports.tables.raise_last_snapshot(log(), first_position).await.unwrap();
    let tail = cache_tail(&logs, log()).await.unwrap();
    logs.roll(tail).await.unwrap();
    let job = SnapshotJob { log: log(), position: at(segment + 1, 0) };
    ports.queue.send(&job.encode()).await.unwrap();
    handle_queued_jobs(&ports.workers(), ports).await;
}

/// The last segment was opened more than a day ago.
async fn prepare_offloading() -> Crashes<Offloading> {
    let ports = ports_with_edits(2).await;
    for segment in 0..3 {
        roll(&ports, segment).await;
        for num in 0..2 {
            let mutation_id = u64::from(segment * 2 + num + 3);
            let base = at(segment + 1, num);
            let edit = set_text(1, &format!("edit {mutation_id}"));
            let request = edit_request(log(), 9, mutation_id, base, vec![edit]);
            ports.logs().append(request).await.unwrap();
        }
    }
    ports.clock.advance_ms(LATER_MS);
    ports.faults.take_request_count();
    Crashes::new(Offloading, ports).await
}

async fn prepare_frozen_writer() -> Crashes<FrozenWriter> {
    let requests = (1..=3).map(|id| {
        edit_request(log(), 1, id, Position::FIRST, vec![set_text(0, &format!("written {id}"))])
    });
    let ports = ports_with_edits(2).await;
    Crashes::new(FrozenWriter { requests: requests.collect() }, ports).await
}

#[tokio::test]
async fn offloading_and_trimming_survive() {
    let crashes = prepare_offloading().await;
    let trimmed_plan = Plan::Keep(KeepReason::TrimmedAlready);
    assert_eq!(crashes.answers()[1][..2], [(0, trimmed_plan), (1, trimmed_plan)]);
    // Only the first and the last entry of each trimmed segment remain in the table.
    assert_eq!(crashes.stored().entries.keys().filter(|(_, at)| at.segment() < 2).count(), 4);
    assert_eq!(offloaded_entries(crashes.stored()).len(), 8);
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn writers_survive_the_trim_of_their_segment() {
    let crashes = prepare_frozen_writer().await;
    assert_eq!(crashes.requests(), 4, "one read and three puts");
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_retention_survives_whatever_two_requests_fail() {
    prepare_offloading().await.inject_each_pair_of_faults().await;
    prepare_frozen_writer().await.inject_each_pair_of_faults().await;
}
