//! The smoke test, which sends a few requests through the public URL to check that a stack works.
//!
//! The test uses one spreadsheet per subject, identified by a fixed nonce. At the end, the test
//! clears the cells that it has set. Only its entries in the log of that spreadsheet remain.

mod checks;
mod report;
mod target;

use crate::cli::Output;
use crate::error::SynthError;

pub(crate) use checks::run;
pub(crate) use target::Target;

/// Runs the smoke test as a step of a deployment.
///
/// # Errors
/// Returns [`SynthError::Smoke`] if a check fails.
pub(crate) async fn run_with_progress(
    target: &Target<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.step("Smoke test");
    let report = run(target).await;
    step.finish(report.result(), |()| report.summary())
}
