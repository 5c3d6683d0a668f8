//! Differences in the order of sheets.

use serde::{Deserialize, Serialize};

use crate::metadata::Tabs;
use crate::operation::SheetId;

/// Sheets of two states that are in another order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OrderDiff {
    /// Names of all sheets in the earlier state, in tab order.
    pub before: Vec<String>,
    /// Names of all sheets in the later state, in tab order.
    pub after: Vec<String>,
}

/// Compares the order of the sheets that exist in both states. `new_number` returns the number in the
/// later state of a sheet of the earlier state, or `None` if it was deleted.
pub(super) fn diff_order(
    from: &Tabs,
    to: &Tabs,
    new_number: impl Fn(SheetId) -> Option<SheetId>,
) -> Option<OrderDiff> {
    let kept: Vec<SheetId> = from.order().iter().filter_map(|old| new_number(*old)).collect();
    let is_kept = |new: &&SheetId| kept.contains(new);
    if to.order().iter().filter(is_kept).eq(&kept) {
        return None;
    }
    let names = |tabs: &Tabs| {
        let name = |sheet: &SheetId| tabs.name(*sheet).unwrap_or_default().to_owned();
        tabs.order().iter().map(name).collect()
    };
    Some(OrderDiff { before: names(from), after: names(to) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::SheetNumbers;

    fn tabs(sheets: &[(u32, &str)]) -> Tabs {
        let named = sheets.iter().map(|(number, name)| (SheetId(*number), (*name).to_owned()));
        Tabs::from_parts(named.collect(), SheetNumbers::default())
    }

    #[test]
    fn only_sheets_of_both_states_can_be_in_another_order() {
        let from = tabs(&[(0, "A"), (1, "B"), (2, "C")]);
        let diff = |to: &[(u32, &str)], replaced: &[(u32, u32)]| {
            let to = tabs(to);
            let new_number = |old: SheetId| {
                let replacement = replaced.iter().find(|(replaced, _)| *replaced == old.0);
                let new = replacement.map_or(old, |(_, new)| SheetId(*new));
                to.name(new).map(|_| new)
            };
            diff_order(&from, &to, new_number).map(|order| {
                assert_eq!(order.before, ["A", "B", "C"]);
                order.after.join("")
            })
        };
        assert_eq!(diff(&[(0, "A"), (1, "X"), (2, "C")], &[]), None, "renamed");
        assert_eq!(diff(&[(7, "N"), (0, "A"), (2, "C")], &[]), None, "added and deleted");
        assert_eq!(diff(&[(0, "A"), (3, "B"), (2, "C")], &[(1, 3)]), None, "replaced");
        assert_eq!(diff(&[(1, "B"), (0, "A"), (2, "C")], &[]), Some("BAC".to_owned()));
        let moved = diff(&[(3, "B"), (0, "A"), (7, "N")], &[(1, 3)]);
        assert_eq!(moved, Some("BAN".to_owned()), "replaced at another place");
    }
}
