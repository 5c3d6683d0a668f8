//! Actors of a scenario besides its editing clients.

pub(crate) mod catalog;
mod forks;
mod hostile;
mod machine;
mod members;
mod offloader;

use std::sync::Arc;

use cellar_log::upkeep::LogPolicy;
use tokio::task::JoinSet;

use self::machine::Machine;
use crate::scenarios::Scenario;
use crate::simulation::Simulation;

/// Number of machines in the scenario with offline clients.
const MACHINES: u8 = 4;
/// Number of deployments of a new version in a run.
const DEPLOYMENTS: u32 = 3;
/// Duration of an outage of all functions, in milliseconds: the bounds include both less than the
/// maximum age of a record and more than the stream's retention.
const OUTAGE_MS: std::ops::RangeInclusive<u64> = 6 * 60 * 60 * 1_000..=40 * 60 * 60 * 1_000;

/// Runs the actors whose work ends by itself. The run waits for them as for its clients.
pub(crate) async fn work(scenario: Scenario, simulation: Arc<Simulation>) {
    match scenario {
        Scenario::OfflineClients => machines(&simulation).await,
        Scenario::ForkUnderLoad => forks::fork(&simulation).await,
        Scenario::HostileTenant => hostile::trouble(&simulation).await,
        Scenario::HostileMember => members::meet(&simulation).await,
        Scenario::OutageAndReprocess => outage(&simulation).await,
        Scenario::CatalogFeed => catalog::change(&simulation).await,
        _ => {}
    }
}

/// Runs the actors that act until the faults stop.
pub(crate) async fn act(scenario: Scenario, simulation: Arc<Simulation>) {
    match scenario {
        Scenario::ZombieAfterTrim => offloader::offload(&simulation).await,
        Scenario::NewVersion => deploy(&simulation).await,
        Scenario::CatalogFeed => catalog::operate(&simulation).await,
        _ => {}
    }
}

async fn machines(simulation: &Arc<Simulation>) {
    let mut machines = JoinSet::new();
    for number in 1..=MACHINES {
        if let Some(machine) = Machine::new(simulation, number) {
            machines.spawn(machine.live(simulation.shape.habits));
        }
    }
    while machines.join_next().await.is_some() {}
}

/// Stops all functions for a long time, some time after the start.
async fn outage(simulation: &Simulation) {
    let (world, Some(pipeline)) = (&simulation.world, &simulation.pipeline) else { return };
    let think_ms = simulation.shape.habits.think_ms;
    world.sleep_ms(world.random.within(0..=think_ms)).await;
    pipeline.set_outage(true);
    world.sleep_ms(world.random.within(OUTAGE_MS)).await;
    pipeline.set_outage(false);
}

/// Deploys new versions with other limits, so that processes of both versions run concurrently.
async fn deploy(simulation: &Simulation) {
    let (world, policy) = (&simulation.world, simulation.shape.policy);
    for _ in 0..DEPLOYMENTS {
        let think_ms = simulation.shape.habits.think_ms;
        world.sleep_ms(world.random.within(0..=4 * think_ms)).await;
        let snapshot_entries = 2 + world.random.below(policy.snapshot_entries);
        let segment_entries = 16 * (1 + world.random.below(3));
        simulation.fleet.redeploy(LogPolicy { snapshot_entries, segment_entries, ..policy });
    }
}
