//! Compares snapshots with alternative stores, and prints one table.
//!
//! `cargo run --release --manifest-path tests/benches/Cargo.toml -- [--json|--markdown] [--rows N]
//! [--edits N] [--only fold|sheet|formulas|calculation|totals|values]`; `--no-default-features` before
//! `--` omits the alternative stores.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "numbers of a benchmark are far below 2^52, and are shown with three digits"
)]

mod clock;
mod data;
mod options;
mod peak_memory;
mod peers;
mod report;
mod worker;
mod works;

use options::{Format, Options};

/// Reason why a benchmark could not run.
type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let options = Options::of(std::env::args().skip(1))?;
    if let Some(system) = &options.peak {
        println!("{}", peak_memory::here(system, options.rows)?);
        return Ok(());
    }
    let mut rows = Vec::new();
    if options.wants("fold") {
        rows.extend(works::fold::run(&options)?);
    }
    if options.wants("sheet") {
        rows.extend(works::sheet::run(&options)?);
    }
    if options.wants("formulas") {
        rows.extend(works::formulas::run(&options)?);
    }
    if options.wants("calculation") {
        rows.extend(works::full_calculation::run(&options)?);
    }
    if options.wants("totals") {
        rows.extend(works::running_total::run(&options)?);
    }
    if options.wants("values") {
        rows.extend(works::excel_values::run()?);
    }
    match options.format {
        Format::Text => print!("{}", report::table(&rows)),
        Format::Json => println!("{}", serde_json::to_string_pretty(&report::json(&rows))?),
        Format::Markdown => print!("{}", report::markdown(&rows)),
    }
    Ok(())
}
