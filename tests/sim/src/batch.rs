//! Runs one scenario with many seeds on several threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::rare::RareEvent;
use crate::run::{RunOutcome, run};
use crate::scenarios::Scenario;

/// A seed whose run violated an invariant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedSeed {
    /// Name of the scenario.
    pub scenario: String,
    pub seed: u64,
    /// The first violation.
    pub why: String,
}

/// The combined results of running one scenario with many seeds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Number of seeds that were run.
    pub seeds: u64,
    /// The seeds that failed.
    pub failed: Vec<FailedSeed>,
    /// Total number of trace events.
    pub events: u64,
    /// Total simulated time, in milliseconds.
    pub elapsed_ms: u64,
    /// Number of occurrences per rare event.
    pub rare: BTreeMap<RareEvent, u64>,
}

impl Summary {
    /// Adds the result of a run.
    pub fn add(&mut self, scenario: Scenario, seed: u64, outcome: RunOutcome) {
        self.seeds += 1;
        self.events += outcome.events;
        self.elapsed_ms = self.elapsed_ms.saturating_add(outcome.elapsed_ms);
        for (rare, times) in outcome.rare {
            *self.rare.entry(rare).or_default() += times;
        }
        if let Some(why) = outcome.violations.into_iter().next() {
            self.failed.push(FailedSeed { scenario: scenario.to_string(), seed, why });
        }
    }

    /// Returns the rare events that the scenario is expected to cause but that never happened.
    #[must_use]
    pub fn missing_events(&self, scenario: Scenario) -> Vec<RareEvent> {
        let promised_events = scenario.shape().promised.iter().copied();
        promised_events.filter(|rare_event| !self.rare.contains_key(rare_event)).collect()
    }
}

/// Runs the seeds on several threads. Adds the results to `summary` in the order of the seeds.
pub fn run_seeds(scenario: Scenario, seeds: &[u64], threads: usize, summary: &mut Summary) {
    let next_seed_index = AtomicUsize::new(0);
    let outcomes_by_seed = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _thread in 0..threads.clamp(1, seeds.len().max(1)) {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next_seed_index.fetch_add(1, Ordering::SeqCst)) {
                    let with_trace = false;
                    let outcome = run(scenario, *seed, with_trace);
                    outcomes_by_seed
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(*seed, outcome);
                }
            });
        }
    });
    for (seed, outcome) in outcomes_by_seed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        summary.add(scenario, seed, outcome);
    }
}
