//! Actors of a scenario other than the clients that edit the log.

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
const MACHINE_COUNT: u8 = 4;
/// Number of deployments of a new version per run.
const DEPLOYMENT_COUNT: u32 = 3;
/// Duration of an outage of all functions, in milliseconds. The range extends from below the
/// maximum age of a record to above the stream's retention.
const OUTAGE_MS: std::ops::RangeInclusive<u64> = 6 * 60 * 60 * 1_000..=40 * 60 * 60 * 1_000;

/// Runs the actors whose work has an end. The run waits for these actors as for the clients.
pub(crate) async fn run_finite_actors(scenario: Scenario, simulation: Arc<Simulation>) {
    match scenario {
        Scenario::OfflineClients => run_machines(&simulation).await,
        Scenario::ForkUnderLoad => forks::run_forker(&simulation).await,
        Scenario::HostileTenant => hostile::run_tenant(&simulation).await,
        Scenario::HostileMember => members::run_members(&simulation).await,
        Scenario::OutageAndReprocess => run_outage(&simulation).await,
        Scenario::CatalogFeed => catalog::run_users(&simulation).await,
        _ => {}
    }
}

/// Runs the actors that continue until the faults stop.
pub(crate) async fn run_endless_actors(scenario: Scenario, simulation: Arc<Simulation>) {
    match scenario {
        Scenario::ZombieAfterTrim => offloader::run_offloader(&simulation).await,
        Scenario::NewVersion => run_deployments(&simulation).await,
        Scenario::CatalogFeed => catalog::run_operator(&simulation).await,
        _ => {}
    }
}

async fn run_machines(simulation: &Arc<Simulation>) {
    let mut machines = JoinSet::new();
    for number in 1..=MACHINE_COUNT {
        if let Some(machine) = Machine::new(simulation, number) {
            machines.spawn(machine.run(simulation.shape.habits));
        }
    }
    while machines.join_next().await.is_some() {}
}

/// Some time after the start, stops all functions for a long time.
async fn run_outage(simulation: &Simulation) {
    let (world, Some(pipeline)) = (&simulation.world, &simulation.pipeline) else { return };
    let max_think_ms = simulation.shape.habits.think_ms;
    world.sleep_ms(world.random.draw_in(0..=max_think_ms)).await;
    pipeline.set_outage(true);
    world.sleep_ms(world.random.draw_in(OUTAGE_MS)).await;
    pipeline.set_outage(false);
}

/// Deploys new versions with different limits, so that processes of two versions run concurrently.
async fn run_deployments(simulation: &Simulation) {
    let (world, policy) = (&simulation.world, simulation.shape.policy);
    for _ in 0..DEPLOYMENT_COUNT {
        let max_think_ms = simulation.shape.habits.think_ms;
        world.sleep_ms(world.random.draw_in(0..=4 * max_think_ms)).await;
        let snapshot_entries = 2 + world.random.draw_below(policy.snapshot_entries);
        let segment_entries = 16 * (1 + world.random.draw_below(3));
        simulation.fleet.redeploy(LogPolicy { snapshot_entries, segment_entries, ..policy });
    }
}
