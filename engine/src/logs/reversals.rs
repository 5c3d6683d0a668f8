//! The undos and reverts of a log, and which entries they have reversed.

use std::collections::BTreeSet;

use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_sheet::operation::{Operation, Revert};

/// An undo or revert in the log. Rejected ones are not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AppliedReversal {
    position: Position,
    reversed: ReversedEdits,
}

/// The edits that an undo or revert reverses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReversedEdits {
    /// The entry at this position or, if it is of a merge, all entries of the merge.
    Entry(Position),
    /// All edits after this position.
    After(Position),
    /// The edits of a sheet or range after this position.
    PartAfter(Position),
}

impl ReversedEdits {
    /// Returns `None` if the operation is neither an undo nor a revert.
    pub(super) fn of(authored: &Operation) -> Option<Self> {
        match authored {
            Operation::Undo(undo) => Some(Self::Entry(undo.position)),
            Operation::Revert(revert) => Some(Self::of_revert(*revert)),
            _ => None,
        }
    }

    fn of_revert(revert: Revert) -> Self {
        match revert.sheet {
            None => Self::After(revert.position),
            Some(_) => Self::PartAfter(revert.position),
        }
    }
}

pub(super) fn reversals_in(entry: &Entry) -> Vec<AppliedReversal> {
    let Some(edits) = entry.edits() else { return Vec::new() };
    let mut reversals = Vec::new();
    for mutation in &edits.mutations {
        let Some(reversed) = ReversedEdits::of(&mutation.authored) else { continue };
        if mutation.rejection().is_none() {
            reversals.push(AppliedReversal { position: entry.position, reversed });
        }
    }
    reversals
}

/// Returns whether the whole entry at `target` is reversed. `reversals` must be sorted from oldest to
/// newest.
pub(super) fn is_reversed(reversals: &[AppliedReversal], target: Position) -> bool {
    let mut effective = EffectiveReversals::default();
    // Only a later undo or revert can reverse an earlier one, so start with the newest.
    for reversal in reversals.iter().rev() {
        let position = reversal.position;
        // An undo that was reverted in one sheet or range no longer reverses its whole entry.
        if !effective.reverses(position) && !effective.reverses_partly(position) {
            effective.add(reversal);
        }
    }
    effective.reverses(target)
}

/// Like [`is_reversed`], for entries that are undone together: an undo of one of them reverses all.
pub(super) fn is_any_reversed(reversals: &[AppliedReversal], targets: &BTreeSet<Position>) -> bool {
    let Some(first) = targets.first().copied() else { return false };
    let of_first = |reversal: &AppliedReversal| match reversal.reversed {
        ReversedEdits::Entry(position) if targets.contains(&position) => {
            AppliedReversal { reversed: ReversedEdits::Entry(first), ..*reversal }
        }
        _ => *reversal,
    };
    is_reversed(&reversals.iter().map(of_first).collect::<Vec<_>>(), first)
}

/// Undos and reverts that no later undo or revert has reversed.
#[derive(Default)]
struct EffectiveReversals {
    undone: BTreeSet<Position>,
    reverted: Vec<RevertedRange>,
    partly_reverted: Vec<RevertedRange>,
}

/// Both bounds are exclusive.
struct RevertedRange {
    after: Position,
    before: Position,
}

impl RevertedRange {
    fn contains(&self, position: Position) -> bool {
        self.after < position && position < self.before
    }
}

impl EffectiveReversals {
    fn add(&mut self, reversal: &AppliedReversal) {
        let range_after = |after| RevertedRange { after, before: reversal.position };
        match reversal.reversed {
            ReversedEdits::Entry(position) => {
                self.undone.insert(position);
            }
            ReversedEdits::After(after) => self.reverted.push(range_after(after)),
            ReversedEdits::PartAfter(after) => self.partly_reverted.push(range_after(after)),
        }
    }

    fn reverses(&self, position: Position) -> bool {
        self.undone.contains(&position)
            || self.reverted.iter().any(|range| range.contains(position))
    }

    fn reverses_partly(&self, position: Position) -> bool {
        self.partly_reverted.iter().any(|range| range.contains(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn undo(num: u32, target: u32) -> AppliedReversal {
        AppliedReversal { position: at(num), reversed: ReversedEdits::Entry(at(target)) }
    }

    fn revert(num: u32, target: u32) -> AppliedReversal {
        AppliedReversal { position: at(num), reversed: ReversedEdits::After(at(target)) }
    }

    #[test]
    fn an_undo_of_an_undo_is_a_redo() {
        let log = [undo(5, 1), undo(6, 5), undo(7, 2)];
        assert!(!is_reversed(&log, at(1)), "redone");
        assert!(is_reversed(&log, at(5)) && is_reversed(&log, at(2)));
        assert!(!is_reversed(&log, at(3)) && !is_reversed(&log, at(7)));
        assert!(is_reversed(&log[..1], at(1)));
    }

    #[test]
    fn a_revert_reverses_all_entries_between_its_position_and_itself() {
        let log = [undo(3, 1), undo(4, 2), revert(6, 3)];
        let reversed = |log: &[AppliedReversal]| -> Vec<u32> {
            (1..7).filter(|num| is_reversed(log, at(*num))).collect()
        };
        assert_eq!(reversed(&log[..2]), [1, 2]);
        assert_eq!(reversed(&log), [1, 4, 5], "the undo of 2 is reversed, so 2 is in effect again");
        let mut undone = log.to_vec();
        undone.push(undo(7, 6));
        assert_eq!(reversed(&undone), [1, 2, 6], "as before the revert");
        undone.push(revert(8, 6));
        assert_eq!(reversed(&undone), [1, 4, 5], "as after the revert");
    }

    #[test]
    fn an_undo_of_one_entry_of_a_merge_reverses_all() {
        let merge = BTreeSet::from([at(1), at(2), at(3)]);
        assert!(is_any_reversed(&[undo(5, 3)], &merge) && is_any_reversed(&[undo(5, 2)], &merge));
        assert!(!is_any_reversed(&[undo(5, 4)], &merge));
        assert!(!is_any_reversed(&[undo(5, 3), undo(6, 5)], &merge), "redone");
        assert!(is_any_reversed(&[revert(5, 0)], &merge));
        assert!(!is_any_reversed(&[revert(5, 1)], &merge), "the first entry is in effect");
    }

    #[test]
    fn a_revert_of_a_part_reverses_no_whole_entry() {
        let part = AppliedReversal { position: at(6), reversed: ReversedEdits::PartAfter(at(3)) };
        let log = [undo(4, 1), undo(5, 2), part];
        let reversed = |log: &[AppliedReversal]| -> Vec<u32> {
            (1..7).filter(|num| is_reversed(log, at(*num))).collect()
        };
        assert_eq!(reversed(&log), [0_u32; 0], "parts of 1 and 2 may be in effect again");
        let mut undone = log.to_vec();
        undone.push(undo(7, 6));
        assert_eq!(reversed(&undone), [1, 2, 6]);
    }
}
