//! Many seeds of one scenario, on as many threads as there are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::rare::Rare;
use crate::run::{Outcome, run};
use crate::scenarios::Scenario;

/// A seed whose run was not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedSeed {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// What was wrong first.
    pub why: String,
}

/// What came of many seeds of one scenario.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// How many seeds were run.
    pub seeds: u64,
    /// Those that failed.
    pub failed: Vec<FailedSeed>,
    /// How much happened.
    pub events: u64,
    /// How much time passed in the runs, milliseconds.
    pub elapsed_ms: u64,
    /// What seldom happens, and how often it did.
    pub rare: BTreeMap<Rare, u64>,
}

impl Summary {
    /// Adds what came of a run.
    fn add(&mut self, scenario: Scenario, seed: u64, outcome: Outcome) {
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

    /// What the scenario promises and never happened.
    #[must_use]
    pub fn never_happened(&self, scenario: Scenario) -> Vec<Rare> {
        let promised = scenario.shape().promised.iter();
        promised.copied().filter(|rare| !self.rare.contains_key(rare)).collect()
    }
}

/// Runs these seeds on so many threads and adds what came of them to a summary, in the order of the seeds.
pub fn run_seeds(scenario: Scenario, seeds: &[u64], threads: usize, summary: &mut Summary) {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, seeds.len().max(1)) {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let outcome = run(scenario, *seed, false);
                    let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    outcomes.insert(*seed, outcome);
                }
            });
        }
    });
    for (seed, outcome) in outcomes.into_inner().unwrap_or_else(PoisonError::into_inner) {
        summary.add(scenario, seed, outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_tells_what_failed_and_what_never_happened() {
        let mut summary = Summary::default();
        let violations = vec!["I1".to_owned(), "I2".to_owned()];
        let rare = BTreeMap::from([(Rare::PutLost, 2)]);
        let outcome = Outcome { violations, rare, events: 5, elapsed_ms: 7, ..Outcome::default() };
        summary.add(Scenario::AppendContention, 3, outcome.clone());
        summary.add(Scenario::AppendContention, 4, Outcome { violations: vec![], ..outcome });
        assert_eq!((summary.seeds, summary.events, summary.elapsed_ms), (2, 10, 14));
        assert_eq!(summary.rare, BTreeMap::from([(Rare::PutLost, 4)]));
        let failed: Vec<_> =
            summary.failed.iter().map(|failed| (failed.seed, &failed.why)).collect();
        assert_eq!(failed, [(3, &"I1".to_owned())]);
        let never = summary.never_happened(Scenario::AppendContention);
        assert!(never.contains(&Rare::Throttled) && !never.contains(&Rare::PutLost));
    }

    #[test]
    fn threads_change_nothing() {
        let summary = |threads| {
            let mut summary = Summary::default();
            run_seeds(Scenario::AppendContention, &[1, 2, 3], threads, &mut summary);
            summary
        };
        assert_eq!(summary(1), summary(3));
    }
}
