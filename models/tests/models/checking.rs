//! Checks of models: with all of their safety rules, and for the violations without one rule.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model};

/// The bounds that the checker requires of a model.
pub(crate) trait Checked:
    Model<
        State: Clone + Debug + Hash + PartialEq + Send + Sync + 'static,
        Action: Clone + Debug + PartialEq,
    > + Send
    + Sync
    + 'static
{
}

impl<M> Checked for M where
    M: Model<
            State: Clone + Debug + Hash + PartialEq + Send + Sync + 'static,
            Action: Clone + Debug + PartialEq,
        > + Send
        + Sync
        + 'static
{
}

/// Visits every state and prints the bounds and the speed. Fails with the shortest path to a state
/// that violates a property, or if a `sometimes` property holds in no state.
pub(crate) fn check(name: &str, bounds: &str, model: impl Checked) {
    let began = Instant::now();
    let checker = model.checker().threads(2).spawn_bfs().join();
    let (states, seconds) = (checker.unique_state_count(), began.elapsed().as_secs_f64());
    println!(
        "{name}: {states} states, depth {}, {seconds:.1} s, {:.0} states/s; {bounds}",
        checker.max_depth(),
        states as f64 / seconds,
    );
    checker.assert_properties();
}

/// Checks that the model violates each of `properties`; fails if one holds in every state.
pub(crate) fn expect_violations(name: &str, model: impl Checked, properties: &[&'static str]) {
    let began = Instant::now();
    let all: BTreeSet<_> = properties.iter().copied().collect();
    let checker = model.checker().finish_when(HasDiscoveries::AllOf(all)).spawn_bfs().join();
    for property in properties {
        let path = checker.discovery(property);
        assert!(path.is_some(), "{name}: \"{property}\" holds without the rule");
        let actions = path.map(stateright::Path::into_actions).unwrap_or_default();
        println!("{name}: \"{property}\" breaks in {} steps: {actions:?}", actions.len());
    }
    println!(
        "{name}: {} states, {:.1} s",
        checker.unique_state_count(),
        began.elapsed().as_secs_f64()
    );
}
