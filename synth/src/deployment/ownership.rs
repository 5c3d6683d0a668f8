//! Which stacks are Cellar's: no other is changed or deleted, whatever its name.

use cellar_stacks::cellar::{OUTPUT_API_URL, OUTPUT_BUCKET, OUTPUT_ENTRY_TABLE};

use crate::aws::StackState;

/// The tag of a stack and all its resources that says which stack of Cellar they are of.
pub(crate) const STACK_TAG: &str = "cellar:stack";
/// Outputs that only a stack of Cellar has together: one that was deployed without our tag.
const OUTPUTS: [&str; 3] = [OUTPUT_API_URL, OUTPUT_BUCKET, OUTPUT_ENTRY_TABLE];

/// Whether a stack of that name is one of Cellar's. One that was only ever planned has nothing that
/// could be lost, and counts as one.
pub(crate) fn is_ours(name: &str, state: &StackState) -> bool {
    state.tags.get(STACK_TAG).is_some_and(|stack| stack == name)
        || OUTPUTS.iter().all(|output| state.outputs.contains_key(*output))
        || matches!(state.status.as_str(), "REVIEW_IN_PROGRESS" | "DELETE_COMPLETE")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn state(status: &str, outputs: &[&str], tags: &[(&str, &str)]) -> StackState {
        StackState {
            id: "arn".to_owned(),
            status: status.to_owned(),
            reason: None,
            changed_ms: None,
            outputs: outputs.iter().map(|name| ((*name).to_owned(), String::new())).collect(),
            parameters: BTreeMap::new(),
            tags: tags
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn a_stack_is_ours_by_its_tag_or_by_all_its_outputs() {
        for (outputs, tags, ours) in [
            (&OUTPUTS[..], &[][..], true),
            (&OUTPUTS[..2], &[], false),
            (&[], &[(STACK_TAG, "cellar")], true),
            (&[], &[(STACK_TAG, "another")], false),
            (&[], &[("stack", "cellar")], false),
        ] {
            let state = state("CREATE_COMPLETE", outputs, tags);
            assert_eq!(is_ours("cellar", &state), ours, "{outputs:?} {tags:?}");
        }
        for (status, ours) in
            [("REVIEW_IN_PROGRESS", true), ("ROLLBACK_COMPLETE", false), ("DELETE_FAILED", false)]
        {
            assert_eq!(is_ours("cellar", &state(status, &[], &[])), ours, "{status}");
        }
    }
}
