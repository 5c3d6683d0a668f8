//! Who else acts in a scenario, besides its clients.

use std::sync::Arc;

use cellar_core::retention::{Plan, Policy};
use cellar_engine::retention::Archivist;

use crate::process::{Mortality, Process};
use crate::rare::Rare;
use crate::scenarios::Scenario;
use crate::simulation::Simulation;

/// Milliseconds between two runs of the command that archives.
const ARCHIVE_EVERY_MS: u64 = 6 * 60 * 60 * 1_000;

/// Does what belongs to a scenario, until its clients are done.
pub async fn act(scenario: Scenario, simulation: Arc<Simulation>) {
    if scenario == Scenario::ZombieAfterPurge {
        archive(&simulation).await;
    }
}

/// An operator archives and purges what he may, again and again.
async fn archive(simulation: &Simulation) {
    let world = &simulation.world;
    let operator = Process::new(world, "archivist", Mortality::Spared);
    let port = Arc::new(operator.clone());
    let archivist = Archivist::new(
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        port as _,
    );
    let policy = Policy { archive_after_days: 0, keep_segments: 0 };
    loop {
        world.sleep_ms(ARCHIVE_EVERY_MS).await;
        let mut planned = Vec::new();
        if let Err(error) = archivist.survey(policy, |segment| planned.push(segment)).await {
            operator.event(format_args!("no survey: {error}"));
            continue;
        }
        for planned in planned.into_iter().filter(|planned| !matches!(planned.plan, Plan::Keep(_)))
        {
            let num = planned.segment.num;
            match archivist.carry_out(&planned).await {
                Ok(done) => {
                    operator.event(format_args!("segment {num}: {done:?}"));
                    if done.archive.is_some() {
                        world.count(Rare::Archived);
                    }
                    if done.deleted > 0 {
                        world.count(Rare::Purged);
                    }
                }
                Err(error) => operator.event(format_args!("segment {num} stays: {error}")),
            }
        }
    }
}
