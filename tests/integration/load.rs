//! Short load runs over HTTP on a local cloud in a separate process, without checks of latency. The
//! command `load` runs the same scenarios for any time.

use std::time::Duration;

use cellar_engine::ports::Clock as _;
use cellar_engine::system::SystemClock;
use cellar_load::Program;
use cellar_load::plan::{Length, Plan, Rhythm, Scenario};
use cellar_load::report::Report;
use cellar_load::run::run;
use cellar_tests::fast_clock::FAST_SINCE_MS;

/// Returns a scenario with few requests per client.
fn short(scenario: Scenario, clients: u32, requests: u64) -> Plan {
    let plan = scenario.plan(clients, Duration::ZERO, None);
    Plan { length: Length::Requests(requests), snapshot_entries: 50, segment_entries: 500, ..plan }
}

async fn made(plan: &Plan) -> Report {
    let since_ms = SystemClock.now_ms().to_string();
    let variables = match plan.kills {
        0 => Vec::new(),
        _ => vec![(FAST_SINCE_MS.to_owned(), since_ms)],
    };
    let program = Program { path: env!("CARGO_BIN_EXE_test-synth").into(), variables };
    let report = run(plan, &program, |_| {}).await.unwrap();
    println!("{report}");
    assert_eq!(report.violations(), [""; 0]);
    // Edits of clients that leave early may be acknowledged; all other edits must be.
    assert!(report.found().acknowledged > 0 && report.found().compared > 0);
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_clients_at_once_lose_and_double_nothing() {
    let rhythm = Rhythm::Burst { requests: 4, every: Duration::ZERO };
    let plan = Plan { rhythm, ..short(Scenario::Burst, 100, 4) };
    let report = made(&plan).await;
    assert!(report.answered() >= 400, "{}", report.answered());
    assert!(report.repeated() > 0, "no response was abandoned");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_that_is_killed_at_the_peak_loses_and_doubles_nothing() {
    // No snapshots, because the lease of a killed worker expires only after minutes. `kills` waits
    // for it.
    let plan = Plan { kills: 2, snapshot_entries: 1_000, ..short(Scenario::Kill, 20, 16) };
    let plan = Plan { segment_entries: 10_000, ..plan };
    let report = made(&plan).await;
    assert!(report.answered() >= 320, "{}", report.answered());
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_clients_in_one_sheet_agree() {
    let report = made(&short(Scenario::OneSheet, 20, 10)).await;
    assert!(report.found().snapshots > 0, "nothing was compared with a snapshot");
}
