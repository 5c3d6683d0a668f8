//! Handles Ctrl-C during AWS stack operations.

use std::cell::Cell;
use std::future::Future;

use crate::deployment::DeploymentPhase;
use crate::error::SynthError;

/// Runs `operation` until it completes or the user presses Ctrl-C. The operation updates `phase` as
/// it proceeds.
///
/// # Errors
/// Returns [`SynthError::Interrupted`] with the current phase if the user presses Ctrl-C.
pub(super) async fn run_interruptibly<T>(
    stack_name: &str,
    phase: &Cell<DeploymentPhase>,
    operation: impl Future<Output = Result<T, SynthError>>,
) -> Result<T, SynthError> {
    tokio::select! {
        result = operation => result,
        Ok(()) = tokio::signal::ctrl_c() => {
            Err(SynthError::Interrupted { stack: stack_name.to_owned(), phase: phase.get() })
        }
    }
}
