//! Runs a scenario with a seed, in a separate async runtime with virtual time.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::rare::RareEvent;
use crate::scenarios::Scenario;
use crate::simulation::Simulation;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunOutcome {
    /// The violated invariants, which are empty if the run succeeded.
    pub violations: Vec<String>,
    /// Hash of all events in the trace.
    pub trace_hash: u64,
    /// Number of trace events.
    pub events: u64,
    /// Simulated time, in milliseconds.
    pub elapsed_ms: u64,
    /// Number of occurrences per rare event.
    pub rare: BTreeMap<RareEvent, u64>,
    /// The lines of the trace, if they were requested.
    pub lines: Vec<String>,
}

/// Runs a scenario with a seed. `keep_text` determines whether the lines of the trace are kept.
#[must_use]
pub fn run(scenario: Scenario, seed: u64, keep_text: bool) -> RunOutcome {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return failed_run(format!("the runtime cannot be started: {error}")),
    };
    let run_simulation = async {
        let simulation = Simulation::new(scenario, seed, keep_text);
        simulation.run().await;
        let world = &simulation.world;
        RunOutcome {
            violations: world.violations(),
            trace_hash: world.trace.hash(),
            events: world.trace.events(),
            elapsed_ms: world.time.elapsed_ms(),
            rare: world.rare.all(),
            lines: world.trace.take_lines(),
        }
    };
    match catch_unwind(AssertUnwindSafe(|| runtime.block_on(run_simulation))) {
        Ok(outcome) => outcome,
        Err(_panic) => failed_run("the run panicked".to_owned()),
    }
}

fn failed_run(violation: String) -> RunOutcome {
    RunOutcome { violations: vec![violation], ..RunOutcome::default() }
}
