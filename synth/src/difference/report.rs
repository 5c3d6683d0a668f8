//! The report of a difference, as printed with `--json`.

use cellar_stacks::difference::{ChangeAction, Difference, Document, ResourceChange, Severity};
use cellar_stacks::picture::{PictureError, draw_changes};
use serde::Serialize;

use super::old::{OldTemplate, TemplateSource};
use crate::cost::CostMovement;

#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) stack: &'a str,
    pub(crate) against: &'a TemplateSource,
    pub(crate) notes: &'a [String],
    pub(crate) counts: Counts,
    #[serde(flatten)]
    pub(crate) difference: &'a Difference,
    /// `None` if the change moves no cost, or if nothing was deployed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<CostMovement>,
    /// Whether a deployment creates another stack instead of updating the old one.
    #[serde(skip)]
    pub(crate) is_other_stack: bool,
    /// The old and the new template, if both exist and differ.
    #[serde(skip)]
    templates: Option<(&'a Document, &'a Document)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) resources: usize,
    /// Number of changes that put data at risk.
    pub(crate) destructive: usize,
    pub(crate) broadened: usize,
    /// Number of resources that are replaced or may be replaced.
    pub(crate) replaced: usize,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        stack_name: &'a str,
        old_template: &'a OldTemplate,
        difference: &'a Difference,
    ) -> Self {
        let count_changes = |matches: fn(&ResourceChange) -> bool| {
            difference.resources.iter().filter(|change| matches(change)).count()
        };
        let counts = Counts {
            resources: difference.resources.len(),
            destructive: count_changes(|change| change.severity == Severity::Destructive),
            broadened: difference.permissions.broadened.len(),
            replaced: count_changes(is_replaced),
        };
        Self {
            stack: stack_name,
            against: &old_template.source,
            notes: &old_template.notes,
            counts,
            difference,
            cost: None,
            is_other_stack: false,
            templates: None,
        }
    }

    /// Adds how the change from the old to the new template moves the cost, and what the picture of
    /// the change needs.
    pub(crate) fn with_templates(mut self, old: &'a OldTemplate, new: &'a Document) -> Self {
        let old_document = old.document.as_ref().filter(|_| !self.difference.is_empty());
        self.templates = old_document.map(|old_document| (old_document, new));
        let with_cost = old_document.filter(|document| document.resources().next().is_some());
        self.cost = with_cost.and_then(|old_document| CostMovement::between(old_document, new));
        self
    }

    /// Draws the new stack with its changes. Returns `None` if there is no old template, or no
    /// difference.
    pub(super) fn picture(&self) -> Option<Result<String, PictureError>> {
        let (old, new) = self.templates?;
        Some(draw_changes(old, new, &self.difference.resources))
    }
}

pub(super) fn is_replaced(change: &ResourceChange) -> bool {
    matches!(change.action, ChangeAction::Replace | ChangeAction::MayReplace)
}

#[cfg(test)]
mod tests {
    use crate::difference::samples::{check_json_snapshot, samples};

    #[test]
    fn the_json_matches_the_snapshots() {
        for sample in
            samples().into_iter().filter(|sample| ["mixed", "none"].contains(&sample.name))
        {
            let json = serde_json::to_value(sample.report()).unwrap();
            check_json_snapshot(&format!("{}.json", sample.name), &json);
        }
    }
}
