//! Checks that the seed determines a run entirely.

use std::process::Command;

use cellar_sim::run::run;
use cellar_sim::scenarios::Scenario;

const SEEDS: [u64; 3] = [3, 58, 1_000_003];

#[test]
fn equal_seeds_give_equal_runs() {
    for scenario in Scenario::ALL {
        for seed in SEEDS {
            let (one, other) = (run(scenario, seed, true), run(scenario, seed, true));
            let different = one.lines.iter().zip(&other.lines).find(|(one, other)| one != other);
            assert_eq!(different, None, "{scenario} {seed}");
            assert_eq!(one, other, "{scenario} {seed}");
            assert!(one.events > 50, "{scenario} {seed}: {} events", one.events);
        }
        assert_ne!(run(scenario, 1, false).trace_hash, run(scenario, 2, false).trace_hash);
    }
}

#[test]
fn the_text_of_a_trace_changes_nothing() {
    let (told, untold) = (run(Scenario::RollRace, 5, true), run(Scenario::RollRace, 5, false));
    assert_eq!((told.trace_hash, told.events), (untold.trace_hash, untold.events));
    assert!(!told.lines.is_empty() && untold.lines.is_empty());
}

#[test]
fn equal_seeds_give_equal_runs_in_every_process() {
    let traced = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cellar-sim"));
        let output = command.args(["roll-race", "--seed", "7", "--trace"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (one, other) = (traced(), traced());
    assert!(one.lines().count() > 100 && one.contains(", trace "), "{one}");
    assert!(one == other, "two processes ran seed 7 differently");
}
