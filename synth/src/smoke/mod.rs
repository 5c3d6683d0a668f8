//! The smoke test: a few requests through the public URL that check that a stack works.
//!
//! The test uses one spreadsheet per subject, which its nonce identifies, and clears the cells that it sets.
//! It leaves only its entries in that spreadsheet's log.

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
/// [`SynthError::Smoke`] if a check fails.
pub(crate) async fn run_with_progress(
    target: &Target<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.step("Smoke test");
    let report = run(target).await;
    step.finish(report.result(), |()| report.summary())
}
