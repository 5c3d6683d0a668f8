//! The common course of maintenance commands: show the plan, confirm it, carry it out item by item.

use super::confirm::confirm;
use crate::cli::Output;
use crate::error::SynthError;

/// Options of a maintenance command.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaintenanceOptions {
    /// `--dry-run`: only show the plan.
    pub(super) dry_run: bool,
    /// `--yes`: skip the confirmation prompt.
    pub(super) yes: bool,
}

/// A plan to confirm.
pub(super) struct MaintenancePlan<'a> {
    /// The plan as text, printed before the prompt.
    pub(super) text: &'a dyn Fn() -> String,
    /// Number of items to process.
    pub(super) due: usize,
    /// Name of the action in errors, such as "purging".
    pub(super) action: &'static str,
    /// The question of the prompt.
    pub(super) question: String,
}

impl MaintenanceOptions {
    /// Returns whether to carry out the plan: not in a dry run, and not if nothing is due. Asks for
    /// confirmation, unless `--yes` or `--json` is given.
    ///
    /// # Errors
    /// [`SynthError::Unconfirmed`] if the user does not confirm.
    pub(super) async fn should_carry_out(
        self,
        plan: MaintenancePlan<'_>,
        output: &Output,
    ) -> Result<bool, SynthError> {
        if self.dry_run || plan.due == 0 {
            return Ok(false);
        }
        if !self.yes && !output.is_json() {
            output.note(&(plan.text)());
            confirm(plan.action, &plan.question).await?;
        }
        Ok(true)
    }
}

/// The outcomes of a batch whose items are processed independently: if one fails, the others are still
/// processed.
#[derive(Debug)]
pub(super) struct Batch<O, E> {
    /// Outcome of each item, in the order of processing.
    pub(super) outcomes: Vec<O>,
    /// Number of items that failed.
    pub(super) failed: usize,
    /// Error of the first item that failed.
    pub(super) first_error: Option<E>,
}

impl<O, E> Default for Batch<O, E> {
    fn default() -> Self {
        Self { outcomes: Vec::new(), failed: 0, first_error: None }
    }
}

impl<O, E> Batch<O, E> {
    /// Adds an item that succeeded, or needed no processing.
    pub(super) fn add(&mut self, outcome: O) {
        self.outcomes.push(outcome);
    }

    /// Adds an item that failed.
    pub(super) fn add_failure(&mut self, outcome: O, error: E) {
        self.failed += 1;
        self.outcomes.push(outcome);
        self.first_error.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_keeps_all_outcomes_and_the_first_error() {
        let mut batch = Batch::default();
        batch.add("one");
        batch.add_failure("two", 2);
        batch.add_failure("three", 3);
        assert_eq!(batch.outcomes, ["one", "two", "three"]);
        assert_eq!((batch.failed, batch.first_error), (2, Some(2)));
    }
}
