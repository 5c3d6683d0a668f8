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

impl Stage {
    /// How it leaves the stack if nobody waits any longer.
    pub(crate) fn left(self, stack: &str) -> String {
        match self {
            Self::Before => format!("the stack {stack} is as it was"),
            Self::Changing => format!("AWS is changing the stack {stack}, and goes on with it"),
            Self::Restoring => format!(
                "AWS goes on restoring tables of the stack {stack}, which works with those it had"
            ),
            Self::Deleting => format!("the stack {stack} is being deleted"),
            Self::After => format!("the stack {stack} is deployed; it was not checked"),
        }
    }

    /// What to do then.
    pub(crate) fn next_step(self, stack: &str) -> String {
        match self {
            Self::Before => {
                "run the same command again: it begins anew; a change set that it may have \
                             left behind changes nothing, and goes with the next deployment"
                    .to_owned()
            }
            Self::Changing => format!(
                "run `synth deploy` again: it waits for that and goes on; `aws cloudformation \
                 cancel-update-stack --stack-name {stack}` takes an update back"
            ),
            Self::Restoring => {
                "run `synth restore` again, with the moment that it named: it goes on".to_owned()
            }
            Self::Deleting => "what is deleted is gone; run `synth destroy` again, with the same \
                               arguments: it deletes the rest"
                .to_owned(),
            Self::After => {
                "run `synth deploy` again: it checks the stack and writes the profile".to_owned()
            }
        }
    }
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
