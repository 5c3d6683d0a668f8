//! Steps that all maintenance commands share: show the plan, prompt for confirmation, and process
//! one item at a time.

use super::confirm::confirm;
use crate::cli::Output;
use crate::error::SynthError;

#[derive(Debug, Clone, Copy)]
pub(super) struct MaintenanceOptions {
    pub(super) dry_run: bool,
    pub(super) yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportKind {
    Plan,
    Result,
}

pub(super) struct MaintenancePlan {
    pub(super) text: String,
    pub(super) item_count: usize,
    pub(super) action: &'static str,
    pub(super) question: String,
}

impl MaintenanceOptions {
    /// Prompts for confirmation unless `--yes` or `--json` is given.
    ///
    /// Returns `false` without a prompt if this is a dry run or if the plan has no items to
    /// process.
    ///
    /// # Errors
    ///
    /// Returns [`SynthError::Unconfirmed`] if the user does not confirm.
    pub(super) async fn should_carry_out(
        self,
        plan: MaintenancePlan,
        output: &Output,
    ) -> Result<bool, SynthError> {
        if self.dry_run || plan.item_count == 0 {
            return Ok(false);
        }
        if !self.yes && !output.is_json() {
            output.print_note(&plan.text);
            confirm(plan.action, &plan.question).await?;
        }
        Ok(true)
    }
}

/// If an item fails, the remaining items are still processed.
#[derive(Debug)]
pub(super) struct BatchOutcome<O, E> {
    /// Outcome of each item, in processing order.
    pub(super) outcomes: Vec<O>,
    pub(super) failed_count: usize,
    pub(super) first_error: Option<E>,
}

impl<O, E> Default for BatchOutcome<O, E> {
    fn default() -> Self {
        Self { outcomes: Vec::new(), failed_count: 0, first_error: None }
    }
}

impl<O, E> BatchOutcome<O, E> {
    /// Adds the outcome of an item that succeeded or was skipped.
    pub(super) fn add_outcome(&mut self, outcome: O) {
        self.outcomes.push(outcome);
    }

    pub(super) fn add_failure(&mut self, outcome: O, error: E) {
        self.failed_count += 1;
        self.outcomes.push(outcome);
        self.first_error.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_keeps_all_outcomes_and_the_first_error() {
        let mut batch = BatchOutcome::default();
        batch.add_outcome("one");
        batch.add_failure("two", 2);
        batch.add_failure("three", 3);
        assert_eq!(batch.outcomes, ["one", "two", "three"]);
        assert_eq!((batch.failed_count, batch.first_error), (2, Some(2)));
    }
}
