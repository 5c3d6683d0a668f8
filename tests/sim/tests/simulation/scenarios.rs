//! The names of the scenarios.

use cellar_sim::scenarios::Scenario;

#[test]
fn scenarios_are_found_by_their_names() {
    for scenario in Scenario::ALL {
        assert_eq!(scenario.name().parse(), Ok(scenario));
    }
    let error = "x".parse::<Scenario>().unwrap_err().to_string();
    assert!(error.contains("append-contention, roll-race"), "{error}");
}
