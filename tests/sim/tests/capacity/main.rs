//! Models a region with the limits of AWS, in simulated time: which limit a stack reaches first, and
//! what an hour costs. The capacity guide (`docs/operate/capacity.md`) has the figures.
//!
//! Appends, polls, reads, access checks, Snapshot entries and the feed are those of the engine. The
//! tables are in memory, with the latency and the limits of DynamoDB. The functions of the account,
//! the change stream, the queue and the time of a snapshot job are a model.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and print figures if they are asked to"
)]

mod bucket;
#[path = "../shards/distant.rs"]
mod distant_index;
mod editors;
mod figures;
mod functions;
mod limits;
mod load;
mod outcome;
mod page;
mod picture;
mod pipeline;
mod region;
mod scenarios;
mod tables;
mod throughput;

use figures::{Morning, Row, Sweep};
use limits::{Limit, Limits};
use load::Load;
use scenarios::{many_sheets, morning, one_sheet, steps};

#[test]
fn the_table_of_limits_is_up_to_date() {
    page::assert_section("limits", &figures::table_of_limits());
}

#[test]
fn a_hundred_editors_of_a_sheet_stay_within_the_limits() {
    let outcome = one_sheet(100, 0.5).run();
    assert_eq!((outcome.reached(), outcome.throttles(), outcome.unsent), (None, 0, 0));
    assert!(outcome.edit_latency_ms(99) < 500.0, "{} ms", outcome.edit_latency_ms(99));
}

#[test]
fn ten_thousand_editors_stay_within_the_default_limits() {
    let outcome = many_sheets(0.05, Limits::default()).shortened().run();
    assert_eq!((outcome.reached(), outcome.throttles(), outcome.unsent), (None, 0, 0));
    assert!(outcome.edit_latency_ms(99) < 100.0, "{} ms", outcome.edit_latency_ms(99));
}

/// A tenth of the editors with a tenth of each limit.
#[test]
fn a_raised_limit_moves_the_bottleneck_to_the_next_of_the_guide() {
    let guide = page::guide();
    for (step, limit) in [(1, Limit::Invocations), (2, Limit::TableWrites), (3, Limit::Snapshots)] {
        let step = steps()[step];
        let outcome = many_sheets(0.7, step.limits).shortened().to_a_tenth().run();
        assert_eq!(outcome.reached(), Some(limit), "{}", step.name);
        let row = guide.lines().find(|line| line.starts_with(&format!("| {} |", step.name)));
        assert!(row.unwrap().contains(&format!("| {limit} |")), "{row:?}");
    }
}

/// `UPDATE_SNAPSHOTS=1 cargo test --release -p cellar-sim --test capacity -- --ignored --nocapture`
#[test]
#[ignore = "prints figures"]
fn figures_of_the_guide() {
    let run = |(name, load): (&str, Load)| -> Row { (name.to_owned(), load.run()) };
    let rows = [
        ("100 on one sheet, 0.05 edits/s each", one_sheet(100, 0.05)),
        ("100 on one sheet, 0.5 edits/s each", one_sheet(100, 0.5)),
        ("100 on one sheet, 2 edits/s each", one_sheet(100, 2.0)),
        ("10,000 on 5,000 sheets, 0.05 edits/s each", many_sheets(0.05, Limits::default())),
        ("10,000 on 5,000 sheets, 0.5 edits/s each", many_sheets(0.5, Limits::default())),
        ("10,000 on 5,000 sheets, 2 edits/s each", many_sheets(2.0, Limits::default())),
    ]
    .map(run);
    let loads = figures::table_of_loads(&rows);
    let cost = figures::table_of_cost(&rows);
    println!("{loads}\n{cost}");
    let mornings = [60.0, 10.0, 1.0]
        .map(|within_s| Morning { within_s, outcome: morning(within_s, Limits::default()).run() });
    let openings = figures::table_of_mornings(&mornings);
    println!("{openings}");
    let sweeps = steps().map(Sweep::run);
    let raised = figures::table_of_steps(&sweeps);
    println!("{raised}");
    figures::draw_limits(&rows);
    figures::draw_mornings(&mornings);
    figures::draw_steps(&sweeps);
    for (name, table) in
        [("loads", loads), ("cost", cost), ("mornings", openings), ("steps", raised)]
    {
        page::write_section(name, &table);
    }
}
