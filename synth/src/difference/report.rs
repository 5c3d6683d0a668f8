//! The report of a difference, as printed with `--json`.

use cellar_stacks::difference::{ChangeAction, Difference, ResourceChange, Severity};
use serde::Serialize;

use super::old::{OldTemplate, TemplateSource};

#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) stack: &'a str,
    pub(crate) against: &'a TemplateSource,
    pub(crate) notes: &'a [String],
    pub(crate) counts: Counts,
    #[serde(flatten)]
    pub(crate) difference: &'a Difference,
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
        }
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
