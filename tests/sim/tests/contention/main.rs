//! Measures appends of many editors to one sheet in AWS, where each request runs in a process of its
//! own. The engine runs in simulated time over tables with the latency of DynamoDB.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and print figures if they are asked to"
)]

mod distant;
mod editors;

use editors::{Load, Outcome, Pace};

fn of(load: Load) -> Outcome {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(load.run())
}

#[test]
fn a_hundred_editors_share_a_sheet_without_many_lost_races() {
    let outcome = of(Load { editors: 100, pace: Pace::PerSecond(0.5), for_s: 60.0 });
    assert!(outcome.writes_per_edit() <= 1.3, "{outcome}");
    assert!(outcome.latency_ms(99) <= 500, "{outcome}");
    assert_eq!(outcome.refusals, 0, "{outcome}");
}

/// `cargo test --release -p cellar-sim --test contention -- --ignored --nocapture`
#[test]
#[ignore = "prints figures"]
fn figures() {
    println!(
        "| editors | pace | edits/s | writes an edit | reads an edit | p50 ms | p99 ms | max ms | 503 | processes |"
    );
    for pace in [Pace::PerSecond(0.5), Pace::PerSecond(2.0), Pace::ClosedLoop] {
        for editors in [2, 8, 32, 100] {
            println!("| {editors} | {pace:?} {}", of(Load { editors, pace, for_s: 60.0 }));
        }
    }
}
