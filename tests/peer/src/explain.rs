//! Explains differences between the engines by rules that only the peer follows.

use std::fmt::Write;

use crate::Pair;
use crate::cells::Cells;
use crate::ours;
use crate::rules::Rule;

/// Returns the smallest set of the peer's rules with which Cellar produces the peer's cells. The
/// set is empty if both engines agree. Returns `None` if no set explains the difference.
#[must_use]
pub fn explain(pair: &Pair, theirs: &Cells) -> Option<Vec<Rule>> {
    subsets().into_iter().find(|rules| ours::cells(pair, rules) == *theirs)
}

/// Returns all sets of rules, starting with the smallest.
fn subsets() -> Vec<Vec<Rule>> {
    let mut subsets = vec![vec![]];
    for rule in Rule::ALL {
        let with: Vec<Vec<Rule>> =
            subsets.iter().map(|rules| [rules.as_slice(), &[rule]].concat()).collect();
        subsets.extend(with);
    }
    subsets.sort_by_key(Vec::len);
    subsets
}

/// Describes a pair of operations and the cells that differ, one per line.
#[must_use]
pub fn difference(pair: &Pair, theirs: &Cells) -> String {
    let ours = ours::cells(pair, &[]);
    let mut places: Vec<_> = ours.keys().chain(theirs.keys()).collect();
    places.sort_unstable();
    places.dedup();
    let mut text = format!("{}\n", serde_json::to_string(pair).unwrap());
    for place in places.into_iter().filter(|place| ours.get(place) != theirs.get(place)) {
        let (row, column) = place;
        let (ours, theirs) = (ours.get(place), theirs.get(place));
        writeln!(text, "    row {row}, column {column}: ours {ours:?}, theirs {theirs:?}").unwrap();
    }
    text
}
