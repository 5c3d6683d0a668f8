//! An operator who archives and purges.

use std::sync::Arc;

use cellar_core::retention::{Plan, Policy};
use cellar_engine::retention::{Archivist, Planned};

use crate::process::{Mortality, Process};
use crate::rare::Rare;
use crate::simulation::Simulation;

/// Milliseconds between two runs of the command.
const EVERY_MS: u64 = 6 * 60 * 60 * 1_000;

/// Archives and purges what may be, again and again.
pub(super) async fn archive(simulation: &Simulation) {
    let operator = Process::new(&simulation.world, "archivist", Mortality::Spared);
    let port = Arc::new(operator.clone());
    let archivist = Archivist::new(
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        port as _,
    );
    let policy = Policy { archive_after_days: 0, keep_segments: 0 };
    loop {
        simulation.world.sleep_ms(EVERY_MS).await;
        let mut planned = Vec::new();
        if let Err(error) = archivist.survey(policy, |segment| planned.push(segment)).await {
            operator.event(format_args!("no survey: {error}"));
            continue;
        }
        let due = |planned: &Planned| !matches!(planned.plan, Plan::Keep(_));
        for planned in planned.into_iter().filter(due) {
            carry_out(&archivist, &operator, &planned).await;
        }
    }
}

async fn carry_out(archivist: &Archivist, operator: &Process, planned: &Planned) {
    let num = planned.segment.num;
    match archivist.carry_out(planned).await {
        Ok(done) => {
            operator.event(format_args!("segment {num}: {done:?}"));
            if done.archive.is_some() {
                operator.world().count(Rare::Archived);
            }
            if done.deleted > 0 {
                operator.world().count(Rare::Purged);
            }
        }
        Err(error) => operator.event(format_args!("segment {num} stays: {error}")),
    }
}
