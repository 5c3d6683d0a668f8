//! Sets the termination protection of a deployed stack as `deletion_protection` says.

use super::aws_deployment::AwsDeployment;
use super::preview::Preview;
use crate::aws::StackState;
use crate::deployment::ProtectionChange;

impl AwsDeployment<'_> {
    /// A failure is only reported as a note, because the stack is already deployed. The next
    /// deployment tries again.
    pub(super) async fn apply_termination_protection(&self, stack: &StackState) {
        let Some(change) = self.protection_change(stack) else { return };
        let step = self.output.start_step(match change {
            ProtectionChange::TurnOn => "Protect the stack from deletion",
            ProtectionChange::TurnOff => "Turn off the termination protection",
        });
        let result = self.aws.set_termination_protection(&stack.id, change.turns_on()).await;
        if let Err(error) = step.finish(result, |()| self.project.config.stack.clone()) {
            let state = if change.turns_on() { "not protected" } else { "still protected" };
            self.output.print_note(&format!(
                "The stack is {state} from deletion: {error}. To try again, {} and run `synth deploy`.",
                error.remedy()
            ));
        }
    }

    pub(super) fn print_protection_change(&self, preview: &Preview) {
        let stack = preview.current_stack.as_ref();
        let note = match stack.and_then(|stack| self.protection_change(stack)) {
            Some(ProtectionChange::TurnOn) => {
                "\nThe stack is not protected from deletion. The deployment turns its protection on."
            }
            Some(ProtectionChange::TurnOff) => {
                "\nThe deployment turns off the termination protection of the stack."
            }
            None => return,
        };
        self.output.print_note(note);
    }

    pub(super) fn protection_change(&self, stack: &StackState) -> Option<ProtectionChange> {
        ProtectionChange::needed(stack, self.project.config.deletion_protection)
    }
}
