//! Fault injection scenarios that close a log segment and open the next one, without appending
//! edits. Failed calls are retried until they succeed.

use std::sync::Arc;

use cellar_log::upkeep::LogPolicy;

use super::run::Crashes;
use super::scenario::{Retry, Scenario, cache_tail, retry};
use super::{FaultyPorts, at, log, ports_with_edits};
use crate::logs::Logs;
use crate::ports::Segments as _;

/// Caches the latest entries of the log. Then performs upkeep if `policy` is set. Otherwise, closes
/// the segment and opens the next one.
struct Keeping {
    policy: Option<LogPolicy>,
}

impl Scenario for Keeping {
    type Process = Logs;
    type Caller = ();
    type Answer = ();

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, logs: &Logs, (): &(), _: usize) -> Result<(), Retry> {
        let tail = cache_tail(logs, log()).await?;
        match &self.policy {
            Some(policy) => logs.upkeep(log(), policy).await.map(drop).map_err(retry),
            // On a retry, the next segment may already be open. It must not be closed.
            None if tail.position.segment() > 0 => Ok(()),
            None => logs.roll(tail).await.map(drop).map_err(retry),
        }
    }
}

async fn prepare_rolled() -> Crashes<Keeping> {
    let before = ports_with_edits(3).await;
    before.tables.raise_last_snapshot(log(), at(0, 0)).await.unwrap();
    Crashes::new(Keeping { policy: None }, before).await
}

async fn prepare_marked() -> Crashes<Keeping> {
    let policy = LogPolicy { snapshot_entries: 3, ..LogPolicy::default() };
    Crashes::new(Keeping { policy: Some(policy) }, ports_with_edits(3).await).await
}

async fn prepare_rolled_by_upkeep() -> Crashes<Keeping> {
    let before = ports_with_edits(16).await;
    before.tables.raise_last_snapshot(log(), at(0, 0)).await.unwrap();
    let policy = LogPolicy { segment_entries: 16, ..LogPolicy::default() };
    Crashes::new(Keeping { policy: Some(policy) }, before).await
}

#[tokio::test]
async fn a_roll_survives() {
    for crashes in [prepare_rolled().await, prepare_rolled_by_upkeep().await] {
        assert_eq!(crashes.stored().segments_of(log()).len(), 2);
        crashes.inject_each_fault().await;
    }
}

#[tokio::test]
async fn a_snapshot_entry_survives() {
    let crashes = prepare_marked().await;
    assert!(crashes.stored().entries.contains_key(&(log(), at(0, 4))));
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_upkeep_survives_whatever_two_requests_fail() {
    for crashes in
        [prepare_rolled().await, prepare_rolled_by_upkeep().await, prepare_marked().await]
    {
        crashes.inject_each_pair_of_faults().await;
    }
}
