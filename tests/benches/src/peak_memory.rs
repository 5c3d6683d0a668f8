//! Peak memory of imports and calculations. Each of them runs in a separate process, because a process reuses freed
//! memory, which would hide later peaks.

use std::process::Command;

use crate::clock::PeakMemory;
use crate::{Failure, peers, works};

/// Returns the peak megabytes of a system that imports or calculates `rows` rows, or `None` if the
/// operating system does not report memory.
pub(crate) fn of(system: &str, rows: u32) -> Result<Option<f64>, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["--peak", system, "--rows", &rows.to_string()]).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.trim().parse().ok().filter(|mb| *mb > 0.0))
}

/// Imports or calculates in this process. The output is discarded.
pub(crate) fn here(system: &str, rows: u32) -> Result<f64, Failure> {
    let prepared = peers::sheet::prepared(system, rows)?;
    let peak = PeakMemory::begin();
    match system {
        "cellar" => works::sheet::import_to_nowhere(rows)?,
        "formulas" => works::full_calculation::calculate_to_nowhere(rows)?,
        "formualizer" | "IronCalc" => peers::full_calculation::calculate_to_nowhere(system, rows)?,
        _ => peers::sheet::import_to_nowhere(system, rows, &prepared)?,
    }
    Ok(peak.and_then(|peak| peak.mb()).unwrap_or(0.0))
}
