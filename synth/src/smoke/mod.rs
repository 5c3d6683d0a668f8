//! Smoke test: checks that a stack works, using a few requests to its public URL.
//!
//! The test reuses one spreadsheet per token subject, identified by a fixed nonce. Finally, it
//! clears its cells, so that only its log entries remain.

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
