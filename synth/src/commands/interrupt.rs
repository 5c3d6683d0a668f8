//! Ctrl-C while something is done with a stack in AWS: it says what state that leaves.

use std::cell::Cell;
use std::future::Future;

use crate::error::SynthError;

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    /// The stack is as it was.
    #[default]
    Before,
    /// AWS changes the stack.
    Changing,
    /// Tables are restored beside those of the stack.
    Restoring,
    /// The stack is being deleted, perhaps with its data.
    Deleting,
    /// AWS has done what it was to do.
    After,
}

/// Does something with a stack until it is done or somebody does not want to wait any longer.
pub(super) async fn interruptible<T>(
    stack: &str,
    stage: &Cell<Stage>,
    work: impl Future<Output = Result<T, SynthError>>,
) -> Result<T, SynthError> {
    tokio::select! {
        done = work => done,
        Ok(()) = tokio::signal::ctrl_c() => {
            Err(SynthError::Interrupted { stack: stack.to_owned(), stage: stage.get() })
        }
    }
}
