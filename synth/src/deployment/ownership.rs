//! Determines whether a stack belongs to Cellar. A stack that does not belong to Cellar is never
//! changed or deleted.

use cellar_stacks::cellar::{OUTPUT_API_URL, OUTPUT_BUCKET, OUTPUT_ENTRY_TABLE};

use crate::aws::StackState;

/// Key of a tag on a stack and on all its resources. The value of the tag is the stack name.
pub(crate) const STACK_TAG: &str = "cellar:stack";
/// Outputs that identify a Cellar stack without the tag. No other stack has all of these outputs.
const IDENTIFYING_OUTPUTS: [&str; 3] = [OUTPUT_API_URL, OUTPUT_BUCKET, OUTPUT_ENTRY_TABLE];

/// Also returns true for a deleted stack and for a stack that consists only of change sets, because
/// these stacks contain nothing that could be lost.
pub(crate) fn is_cellar_stack(stack_name: &str, stack: &StackState) -> bool {
    let is_tagged = stack.tags.get(STACK_TAG).is_some_and(|tag_value| tag_value == stack_name);
    let has_all_outputs =
        IDENTIFYING_OUTPUTS.iter().all(|output_name| stack.outputs.contains_key(*output_name));
    let is_empty = matches!(stack.status.as_str(), "REVIEW_IN_PROGRESS" | "DELETE_COMPLETE");
    is_tagged || has_all_outputs || is_empty
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
            termination_protection: false,
        }
    }

    #[test]
    fn recognizes_a_stack_by_its_tag_or_all_its_outputs() {
        for (outputs, tags, expected) in [
            (&IDENTIFYING_OUTPUTS[..], &[][..], true),
            (&IDENTIFYING_OUTPUTS[..2], &[], false),
            (&[], &[(STACK_TAG, "cellar")], true),
            (&[], &[(STACK_TAG, "another")], false),
            (&[], &[("stack", "cellar")], false),
        ] {
            let state = state("CREATE_COMPLETE", outputs, tags);
            assert_eq!(is_cellar_stack("cellar", &state), expected, "{outputs:?} {tags:?}");
        }
        for (status, expected) in
            [("REVIEW_IN_PROGRESS", true), ("ROLLBACK_COMPLETE", false), ("DELETE_FAILED", false)]
        {
            assert_eq!(is_cellar_stack("cellar", &state(status, &[], &[])), expected, "{status}");
        }
    }
}
