//! Smoke test: checks that a stack works, with a few requests to its public URL.
//!
//! All runs with the same token subject use the same spreadsheet, which has a fixed nonce (creation
//! key). At the end, the test clears the cells that it set, so that only log entries remain. If the
//! signing key is available, as in a deployment, the spreadsheet belongs to the person `smoke-test`
//! and is not in the list of the person who deploys.

mod checks;
mod report;
mod target;

use crate::cli::Output;
use crate::error::SynthError;

pub(crate) use checks::run_checks;
pub(crate) use target::{SmokeTarget, TokenSigner};

pub(crate) async fn check_with_progress(
    target: &SmokeTarget<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.start_step("Smoke test");
    let report = run_checks(target).await;
    step.finish(report.to_result(), |()| report.summary())
}
