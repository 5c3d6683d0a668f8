//! Runs a hundred seeds of each scenario, and the seeds that failed once.

use cellar_sim::batch::{Summary, run_seeds};
use cellar_sim::failed_seeds;
use cellar_sim::run::run;
use cellar_sim::scenarios::Scenario;

const SEEDS: u64 = 100;

fn check_seeds(scenario: Scenario) {
    let (mut summary, seeds) = (Summary::default(), (1..=SEEDS).collect::<Vec<_>>());
    run_seeds(scenario, &seeds, 1, &mut summary);
    assert_eq!(
        summary.failed,
        [],
        "replay one: cargo run -p cellar-sim -- {scenario} --seed N --trace"
    );
    assert_eq!(summary.missing_events(scenario), [], "{:#?}", summary.rare);
}

macro_rules! scenarios {
    ($($name:ident: $scenario:ident,)*) => {
        $(#[test]
        fn $name() {
            check_seeds(Scenario::$scenario);
        })*

        #[test]
        fn every_scenario_is_run() {
            assert_eq!([$(Scenario::$scenario,)*], Scenario::ALL);
        }
    };
}

scenarios! {
    append_contention: AppendContention,
    roll_race: RollRace,
    snapshot_crashes: SnapshotCrashes,
    duplicate_storm: DuplicateStorm,
    slow_predecessor: SlowPredecessor,
    zombie_after_trim: ZombieAfterTrim,
    outage_and_reprocess: OutageAndReprocess,
    offline_clients: OfflineClients,
    fork_under_load: ForkUnderLoad,
    large_edits: LargeEdits,
    hostile_tenant: HostileTenant,
    hostile_member: HostileMember,
    new_version: NewVersion,
    catalog_feed: CatalogFeed,
}

#[test]
fn failed_seeds_do_not_fail_again() {
    for failed in failed_seeds::read().unwrap() {
        let scenario: Scenario = failed.scenario.parse().unwrap();
        let violations = run(scenario, failed.seed, false).violations;
        assert!(violations.is_empty(), "{failed:?}: {violations:?}");
    }
}
