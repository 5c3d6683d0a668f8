//! Measures the cost of several stream shards that share one feed, and shows that a partitioned
//! feed would cost more. The engine's indexer runs in simulated time over an index with the latency
//! of an AWS table.
//!
//! A feed partitioned by the hash of the stream's name would divide each batch over all partitions.
//! The number of writers of each partition would stay the same, and the number of items would grow
//! (`ARCHITECTURE.md`, decided differently).
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking, and print figures if they are asked to"
)]

mod distant;
mod load;

use load::{Load, Outcome};

/// Batching window of `IndexerEntrySource`, in seconds.
const WINDOW_S: f64 = 5.0;

fn of(load: Load) -> Outcome {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(load.run())
}

#[test]
fn eight_shards_share_one_feed_and_partitions_would_only_cost_more() {
    let load = Load { shards: 8, per_s: 100.0, batch: 1_000, partitions: 1, for_s: 20.0 };
    let one = of(load);
    assert_eq!(one.failed, 0, "a call was delivered again: {one}");
    assert_eq!(one.items, 8 * 4, "a batch is one item: {one}");
    assert!(one.puts < one.items * 2, "fewer than one refusal for each item: {one}");
    assert!(one.late_s(100) < WINDOW_S + 0.1, "{one}");

    let four = of(Load { partitions: 4, ..load });
    assert_eq!(four.items, 4 * one.items, "a part of each batch for each partition: {four}");
    assert!(four.writes() > one.writes(), "{four}");
    assert!(four.puts * 10 > one.puts * 4 * 9, "as many refusals at each end: {four}");
    assert!(four.late_s(50) + 0.01 > one.late_s(50), "and it is no sooner there: {four}");
}

/// `cargo test --release -p cellar-sim --test shards -- --ignored --nocapture`
#[test]
#[ignore = "prints figures"]
fn figures() {
    for (batch, partitions) in [(100, 1), (100, 4), (1_000, 1), (1_000, 4)] {
        let load = Load { shards: 64, per_s: 200.0, batch, partitions, for_s: 20.0 };
        println!("{load}: {}", of(load));
    }
}
