//! Decides whether a deployment changes the termination protection of the stack, with which
//! CloudFormation refuses to delete the stack.

use crate::aws::StackState;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtectionChange {
    TurnOn,
    TurnOff,
}

impl ProtectionChange {
    /// `is_configured` is `deletion_protection` of the configuration. Returns `None` if the stack
    /// is already as configured.
    pub(crate) fn needed(stack: &StackState, is_configured: bool) -> Option<Self> {
        match (stack.termination_protection, is_configured) {
            (false, true) => Some(Self::TurnOn),
            (true, false) => Some(Self::TurnOff),
            (true, true) | (false, false) => None,
        }
    }

    pub(crate) fn turns_on(self) -> bool {
        self == Self::TurnOn
    }
}
