//! A roll and upkeep by themselves, each repeated until it is answered.

use std::sync::Arc;

use cellar_log::upkeep::LogPolicy;

use super::driver::{Again, Driver, again, learn_tail};
use super::run::Crashes;
use super::{FaultyPorts, at, edited, log};
use crate::logs::Logs;
use crate::ports::Segments as _;

/// Learns the tail of a log, and does what it needs: by this policy, or a roll if there is none.
struct Keeping {
    policy: Option<LogPolicy>,
}

impl Driver for Keeping {
    type Process = Logs;
    type Caller = ();
    type Answer = ();

    fn process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, logs: &Logs, (): &(), _: usize) -> Result<(), Again> {
        let tail = learn_tail(logs, log()).await?;
        match &self.policy {
            Some(policy) => logs.upkeep(log(), policy).await.map(drop).map_err(again),
            // Who has read the segment that began meanwhile does not end that one, too.
            None if tail.position.segment() > 0 => Ok(()),
            None => logs.roll(tail).await.map(drop).map_err(again),
        }
    }
}

async fn rolled() -> Crashes<Keeping> {
    let before = edited(3).await;
    before.tables.raise_last_snapshot(log(), at(0, 0)).await.unwrap();
    Crashes::of(Keeping { policy: None }, before).await
}

async fn marked() -> Crashes<Keeping> {
    let policy = LogPolicy { snapshot_entries: 3, ..LogPolicy::default() };
    Crashes::of(Keeping { policy: Some(policy) }, edited(3).await).await
}

async fn rolled_by_upkeep() -> Crashes<Keeping> {
    let before = edited(16).await;
    before.tables.raise_last_snapshot(log(), at(0, 0)).await.unwrap();
    let policy = LogPolicy { segment_entries: 16, ..LogPolicy::default() };
    Crashes::of(Keeping { policy: Some(policy) }, before).await
}

#[tokio::test]
async fn a_roll_survives() {
    for crashes in [rolled().await, rolled_by_upkeep().await] {
        assert_eq!(crashes.stored().segments_of(log()).len(), 2);
        crashes.at_each_request().await;
    }
}

#[tokio::test]
async fn a_snapshot_entry_survives() {
    let crashes = marked().await;
    assert!(crashes.stored().entries.contains_key(&(log(), at(0, 4))));
    crashes.at_each_request().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_upkeep_survives_whatever_two_requests_fail() {
    for crashes in [rolled().await, rolled_by_upkeep().await, marked().await] {
        crashes.at_any_two_requests().await;
    }
}
