//! An operator who offloads and trims segments.

use std::sync::Arc;

use cellar_engine::retention::{Offloader, PlannedSegment};
use cellar_log::{retention::Plan, retention::Policy};

use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::simulation::Simulation;

/// Time between two runs of the command, in milliseconds.
const OFFLOAD_PERIOD_MS: u64 = 6 * 60 * 60 * 1_000;

/// Runs `synth offload` repeatedly.
pub(super) async fn run_offloader(simulation: &Simulation) {
    let operator = Process::new(&simulation.world, "offloader", Mortality::Spared);
    let port = Arc::new(operator.clone());
    let offloader = Offloader::new(
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        Arc::clone(&port) as _,
        port as _,
    );
    let policy = Policy { offload_after_days: 0, keep_segments: 0 };
    loop {
        simulation.world.sleep_ms(OFFLOAD_PERIOD_MS).await;
        let mut planned_segments = Vec::new();
        let survey = offloader.plan_all_logs(policy, |segment| planned_segments.push(segment));
        if let Err(error) = survey.await {
            operator.event(format_args!("no survey: {error}"));
            continue;
        }
        for planned_segment in &planned_segments {
            if !matches!(planned_segment.plan, Plan::Keep(_)) {
                execute_plan(&offloader, &operator, planned_segment).await;
            }
        }
    }
}

async fn execute_plan(offloader: &Offloader, operator: &Process, planned_segment: &PlannedSegment) {
    let segment_number = planned_segment.segment.num;
    match offloader.execute(planned_segment).await {
        Ok(result) => {
            operator.event(format_args!("segment {segment_number}: {result:?}"));
            if result.offloaded.is_some() {
                operator.world().count(RareEvent::Offloaded);
            }
            if result.deleted > 0 {
                operator.world().count(RareEvent::Trimmed);
            }
        }
        Err(error) => operator.event(format_args!("segment {segment_number} is kept: {error}")),
    }
}
