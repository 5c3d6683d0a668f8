//! Ctrl-C during an operation on a stack in AWS.

use std::cell::Cell;
use std::future::Future;

use crate::deployment::DeploymentPhase;
use crate::error::SynthError;

/// Runs `work` until it ends or the user presses Ctrl-C. `work` keeps `phase` up to date.
///
/// # Errors
/// [`SynthError::Interrupted`] with the phase at the time of Ctrl-C.
pub(super) async fn interruptible<T>(
    stack: &str,
    phase: &Cell<DeploymentPhase>,
    work: impl Future<Output = Result<T, SynthError>>,
) -> Result<T, SynthError> {
    tokio::select! {
        result = work => result,
        Ok(()) = tokio::signal::ctrl_c() => {
            Err(SynthError::Interrupted { stack: stack.to_owned(), phase: phase.get() })
        }
    }
}
