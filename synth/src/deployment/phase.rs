//! Phases of an operation on an AWS stack, and the consequences of an interrupt in each phase.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DeploymentPhase {
    #[default]
    Preparing,
    Changing,
    /// The stack still uses its current tables.
    Restoring,
    /// With `--delete-data`, the data is also deleted.
    Deleting,
    Checking,
}

impl DeploymentPhase {
    pub(crate) fn stack_after_interrupt(self, stack_name: &str) -> String {
        match self {
            Self::Preparing => format!("stack {stack_name} was not changed"),
            Self::Changing => format!("AWS continues to change stack {stack_name}"),
            Self::Restoring => format!(
                "AWS continues to restore tables of stack {stack_name}, which still uses its current tables"
            ),
            Self::Deleting => format!("stack {stack_name} is only partly deleted"),
            Self::Checking => format!("stack {stack_name} is deployed but was not checked"),
        }
    }

    pub(crate) fn advice_after_interrupt(self, stack_name: &str) -> String {
        match self {
            Self::Preparing => {
                "run the same command again; a change set that was already created has no effect, and \
                 the next deployment deletes it"
                    .to_owned()
            }
            Self::Changing => format!(
                "run `synth deploy` again: it waits for the change and continues; to cancel an update, \
                 run `aws cloudformation cancel-update-stack --stack-name {stack_name}`"
            ),
            Self::Restoring => {
                "run `synth restore` again with the printed time: it resumes the restore".to_owned()
            }
            Self::Deleting => {
                "run `synth destroy` again with the same options: it deletes the rest".to_owned()
            }
            Self::Checking => {
                "run `synth deploy` again: it checks the stack and writes the profile".to_owned()
            }
        }
    }
}
