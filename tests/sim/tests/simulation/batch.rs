//! The summary of many runs.

use std::collections::BTreeMap;

use cellar_sim::batch::{Summary, run_seeds};
use cellar_sim::rare::RareEvent;
use cellar_sim::run::RunOutcome;
use cellar_sim::scenarios::Scenario;

#[test]
fn a_summary_lists_failed_seeds_and_missing_events() {
    let mut summary = Summary::default();
    let violations = vec!["I1".to_owned(), "I2".to_owned()];
    let rare = BTreeMap::from([(RareEvent::PutLost, 2)]);
    let outcome =
        RunOutcome { violations, rare, events: 5, elapsed_ms: 7, ..RunOutcome::default() };
    summary.add(Scenario::AppendContention, 3, outcome.clone());
    summary.add(Scenario::AppendContention, 4, RunOutcome { violations: vec![], ..outcome });
    assert_eq!((summary.seeds, summary.events, summary.elapsed_ms), (2, 10, 14));
    assert_eq!(summary.rare, BTreeMap::from([(RareEvent::PutLost, 4)]));
    let failed: Vec<_> = summary.failed.iter().map(|failed| (failed.seed, &failed.why)).collect();
    assert_eq!(failed, [(3, &"I1".to_owned())]);
    let never = summary.missing_events(Scenario::AppendContention);
    assert!(never.contains(&RareEvent::Throttled) && !never.contains(&RareEvent::PutLost));
}

#[test]
fn the_number_of_threads_does_not_change_the_summary() {
    let summary = |threads| {
        let mut summary = Summary::default();
        run_seeds(Scenario::AppendContention, &[1, 2, 3], threads, &mut summary);
        summary
    };
    assert_eq!(summary(1), summary(3));
}
