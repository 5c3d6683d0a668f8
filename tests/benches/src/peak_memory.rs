//! The greatest memory of an import: each in a process of its own, since memory that was used before
//! is used again without notice.

use std::process::Command;

use crate::clock::PeakMemory;
use crate::{Failure, peers, works};

/// Megabytes that a system takes to import so many rows; `None` where the operating system does not
/// tell.
pub(crate) fn of(system: &str, rows: u32) -> Result<Option<f64>, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["--peak", system, "--rows", &rows.to_string()]).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.trim().parse().ok().filter(|mb| *mb > 0.0))
}

/// Imports in this process. What is written goes nowhere, as if to another machine.
pub(crate) fn here(system: &str, rows: u32) -> Result<f64, Failure> {
    let prepared = peers::sheet::prepared(system, rows)?;
    let peak = PeakMemory::begin();
    match system {
        "cellar" => works::sheet::import_to_nowhere(rows)?,
        _ => peers::sheet::import_to_nowhere(system, rows, &prepared)?,
    }
    Ok(peak.and_then(|peak| peak.mb()).unwrap_or(0.0))
}
