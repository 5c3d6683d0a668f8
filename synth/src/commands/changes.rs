//! Shows what a deployment would change.

use crate::aws::{Action, Change, Replacement};
use crate::cli::Output;

/// Shows all changes, those first by which something is lost.
pub(super) fn show(changes: &[Change], output: &Output) {
    let mut changes: Vec<&Change> = changes.iter().collect();
    changes.sort_by_key(|change| (rank(change), change.logical_id.as_str()));
    for change in changes {
        output.note(&text(change));
    }
}

fn rank(change: &Change) -> u8 {
    match (change.action, change.replacement) {
        (Action::Remove, _) => 0,
        (Action::Modify, Replacement::Yes) => 1,
        (Action::Modify, Replacement::Maybe) => 2,
        (Action::Modify, Replacement::No) => 3,
        (Action::Other, _) => 4,
        (Action::Add, _) => 5,
    }
}

fn text(change: &Change) -> String {
    let mark = match (change.action, change.replacement) {
        (Action::Add, _) => "+",
        (Action::Remove, _) => "-",
        (_, Replacement::Yes | Replacement::Maybe) => "!",
        _ => "~",
    };
    let anew = match (change.action, change.replacement) {
        (Action::Modify, Replacement::Yes) => ", made anew",
        (Action::Modify, Replacement::Maybe) => ", perhaps made anew",
        _ => "",
    };
    let properties = match change.properties.as_slice() {
        [] => String::new(),
        properties => format!(": {}", properties.join(", ")),
    };
    format!("  {mark} {} ({}{anew}){properties}", change.logical_id, change.resource_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_comes_first() {
        let change = |action, id: &str, replacement| Change {
            action,
            logical_id: id.to_owned(),
            resource_type: "T".to_owned(),
            replacement,
            properties: vec!["P".to_owned()],
        };
        let (no, yes) = (Replacement::No, Replacement::Yes);
        let added = change(Action::Add, "Added", no);
        let removed = change(Action::Remove, "Removed", no);
        let anew = change(Action::Modify, "Anew", yes);
        assert!(rank(&removed) < rank(&anew) && rank(&anew) < rank(&added));
        assert_eq!(text(&anew), "  ! Anew (T, made anew): P");
    }
}
