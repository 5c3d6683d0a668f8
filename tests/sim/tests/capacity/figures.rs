//! The tables and pictures of the capacity guide.

use std::fmt::Write as _;
use std::time::Duration;

use cellar_base::count::grouped;

use super::limits::{ALL, Limit, Limits};
use super::outcome::Outcome;
use super::page;
use super::picture::{self, Axis, Series};
use super::scenarios::{self, EDITORS, Step};

const PICTURE_OF_LIMITS: &str = "capacity-limits.svg";
const PICTURE_OF_STEPS: &str = "capacity-steps.svg";
const PICTURE_OF_MORNING: &str = "capacity-morning.svg";

/// The name of a load, and its outcome.
pub(super) type Row = (String, Outcome);

/// Returns the table of the limits, with their settings.
pub(super) fn table_of_limits() -> String {
    let limits = Limits::default();
    let mut table = "| limit | default | setting that moves it |\n|---|---|---|\n".to_owned();
    for limit in ALL {
        let default = limit.default_of(&limits);
        writeln!(table, "| {limit} | {default} | {} |", limit.setting()).unwrap();
    }
    table
}

/// Formats a time with the precision that matters.
fn time(ms: f64) -> String {
    match ms {
        0.0 => "-".to_owned(),
        ..1_000.0 => format!("{ms:.0} ms"),
        ..10_000.0 => format!("{:.1} s", ms / 1_000.0),
        _ => format!("{:.0} s", ms / 1_000.0),
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0".to_owned(),
        ..0.1 => "< 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// Formats a rounded number with commas.
fn count(number: f64) -> String {
    grouped(Duration::from_secs_f64(number.round()).as_secs())
}

/// Returns the limit that is reached, or the nearest one.
fn first_limit(outcome: &Outcome) -> String {
    match outcome.reached() {
        Some(limit) => format!("**{limit}**"),
        None => {
            let nearest = outcome.nearest();
            format!("none; {nearest} at {:.0} %", outcome.use_of(nearest) * 100.0)
        }
    }
}

/// Returns the table of latencies and limits.
pub(super) fn table_of_loads(rows: &[Row]) -> String {
    let mut table = "| load | edits/s | edit p50 | edit p99 | throttled | first limit |\n|---|---|---|---|---|---|\n".to_owned();
    for (name, outcome) in rows {
        writeln!(
            table,
            "| {name} | {} | {} | {} | {} | {} |",
            count(outcome.edits_per_s()),
            time(outcome.edit_latency_ms(50)),
            time(outcome.edit_latency_ms(99)),
            percent(outcome.throttled_share()),
            first_limit(outcome),
        )
        .unwrap();
    }
    table
}

/// Returns the table of requests, functions, delays and cost.
pub(super) fn table_of_cost(rows: &[Row]) -> String {
    let mut table = "| load | requests/s | functions | W/s of the hottest partition | snapshot p99 | feed p99 | dollars an hour | with `feed: everything` |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for (name, outcome) in rows {
        writeln!(
            table,
            "| {name} | {} | {} | {} | {} | {} | {:.2} | + {:.2} |",
            count(outcome.requests_per_s()),
            grouped(outcome.most_running),
            count(outcome.hottest_partition()),
            time(outcome.snapshot_delay_s() * 1_000.0),
            time(outcome.feed_delay_s() * 1_000.0),
            outcome.dollars_an_hour(),
            outcome.feed_dollars_an_hour(),
        )
        .unwrap();
    }
    table
}

pub(super) fn draw_limits(rows: &[Row]) {
    let shares = |limit: Limit| rows.iter().map(|(_, outcome)| outcome.use_of(limit)).collect();
    let groups: Vec<(String, Vec<f64>)> =
        ALL.into_iter().map(|limit| (limit.to_string(), shares(limit))).collect();
    let names: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let title = "How much of each limit is used (model, default limits)";
    page::write_picture(PICTURE_OF_LIMITS, &picture::bars(title, &groups, &names));
}

/// An arrival of all editors, and its outcome.
pub(super) struct Morning {
    pub(super) within_s: f64,
    pub(super) outcome: Outcome,
}

pub(super) fn table_of_mornings(mornings: &[Morning]) -> String {
    let mut table = "| all 10,000 open their sheet within | open p50 | open p99 | functions at once | functions started | throttled | first limit |\n|---|---|---|---|---|---|---|\n".to_owned();
    for Morning { within_s, outcome } in mornings {
        writeln!(
            table,
            "| {within_s:.0} s | {} | {} | {} | {} | {} | {} |",
            time(outcome.open_latency_ms(50)),
            time(outcome.open_latency_ms(99)),
            grouped(outcome.most_running),
            grouped(outcome.environments),
            percent(outcome.throttled_share()),
            first_limit(outcome),
        )
        .unwrap();
    }
    table
}

pub(super) fn draw_mornings(mornings: &[Morning]) {
    const SHOWN_S: usize = 60;
    let series = |morning: &Morning| {
        let running = morning.outcome.running_by_s.iter().take(SHOWN_S).enumerate();
        let points = running.map(|(second, running)| {
            (f64::from(u32::try_from(second).unwrap()), f64::from((*running).max(1)))
        });
        let name = format!("all open their sheet within {:.0} s", morning.within_s);
        Series { name, points: points.collect() }
    };
    let series: Vec<Series> = mornings.iter().map(series).collect();
    let mark = |value: u32| (f64::from(value), grouped(value));
    let seconds = Axis {
        title: "seconds since the first arrival",
        marks: [0, 10, 20, 30, 40, 50, 60].map(mark).to_vec(),
        is_logarithmic: false,
    };
    let running = Axis {
        title: "functions that run at the same time",
        marks: [1, 10, 100, 1_000].map(mark).to_vec(),
        is_logarithmic: true,
    };
    let title = "A morning rush on an idle stack (model)";
    page::write_picture(PICTURE_OF_MORNING, &picture::lines(title, [&seconds, &running], &series));
}

/// The outcomes of a step of the sweep, by edits of each editor.
pub(super) struct Sweep {
    pub(super) step: Step,
    pub(super) outcomes: Vec<(f64, Outcome)>,
}

impl Sweep {
    /// Raises the load until a limit is reached, and once more.
    pub(super) fn run(step: Step) -> Self {
        let mut outcomes = Vec::new();
        let mut reached = 0;
        for rate in scenarios::SWEPT_RATES {
            let outcome = scenarios::many_sheets(rate, step.limits).run();
            let latency = time(outcome.edit_latency_ms(99));
            println!("{}, {rate} edits/s each: {latency}, {}", step.name, first_limit(&outcome));
            if outcome.reached().is_some() {
                reached += 1;
            }
            outcomes.push((rate, outcome));
            if reached > 1 {
                break;
            }
        }
        Self { step, outcomes }
    }

    /// Returns the first rate at which a limit is reached, with this limit.
    pub(super) fn first_reached(&self) -> Option<(f64, Limit)> {
        self.outcomes.iter().find_map(|(rate, outcome)| Some((*rate, outcome.reached()?)))
    }

    fn highest_within(&self) -> Option<&(f64, Outcome)> {
        self.outcomes.iter().take_while(|(_, outcome)| outcome.reached().is_none()).last()
    }
}

pub(super) fn table_of_steps(sweeps: &[Sweep]) -> String {
    let mut table = "| settings | edits/s within all limits | dollars an hour there | next limit | at edits/s |\n|---|---|---|---|---|\n".to_owned();
    for sweep in sweeps {
        let (edits, dollars) = match sweep.highest_within() {
            Some((rate, outcome)) => {
                (count(rate * EDITORS), format!("{:.2}", outcome.dollars_an_hour()))
            }
            None => ("-".to_owned(), "-".to_owned()),
        };
        let (next, at) = match sweep.first_reached() {
            Some((rate, limit)) => (limit.to_string(), count(rate * EDITORS)),
            None => ("nothing".to_owned(), "-".to_owned()),
        };
        writeln!(table, "| {} | {edits} | {dollars} | {next} | {at} |", sweep.step.name).unwrap();
    }
    table
}

pub(super) fn draw_steps(sweeps: &[Sweep]) {
    let series = |sweep: &Sweep| {
        let point =
            |(rate, outcome): &(f64, Outcome)| (rate * EDITORS, outcome.edit_latency_ms(99));
        Series {
            name: sweep.step.name.replace('`', ""),
            points: sweep.outcomes.iter().map(point).collect(),
        }
    };
    let series: Vec<Series> = sweeps.iter().map(series).collect();
    let mark = |value: u32, label: &str| (f64::from(value), label.to_owned());
    let edits = Axis {
        title: "edits a second that 10,000 editors make on 5,000 sheets",
        marks: vec![
            mark(200, "200"),
            mark(500, "500"),
            mark(1_000, "1,000"),
            mark(2_000, "2,000"),
            mark(5_000, "5,000"),
            mark(10_000, "10,000"),
            mark(20_000, "20,000"),
        ],
        is_logarithmic: true,
    };
    let latency = Axis {
        title: "99 of 100 edits are saved within",
        marks: vec![
            mark(10, "10 ms"),
            mark(100, "100 ms"),
            mark(1_000, "1 s"),
            mark(10_000, "10 s"),
            mark(100_000, "100 s"),
        ],
        is_logarithmic: true,
    };
    let title = "Latency of edits as the load grows (model)";
    page::write_picture(PICTURE_OF_STEPS, &picture::lines(title, [&edits, &latency], &series));
}
