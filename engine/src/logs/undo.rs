//! Undo: computes the operations that reverse an entry.

use std::collections::BTreeSet;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::append::Resolution;
use cellar_log::entry::Entry;
use cellar_sheet::operation::Operation;
use cellar_sheet::workbook::{Workbook, undo};

use super::committed::ReadUntil;
use super::workbook::Replay;
use super::{LogError, Logs};

/// An undo or revert in the log. Rejected ones are not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reversal {
    position: Position,
    reversed: ReversedEdits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReversedEdits {
    Entry(Position),
    /// All edits after this position.
    After(Position),
}

pub(super) struct UndoStates {
    target: Position,
    before: Option<Workbook>,
    after: Option<Workbook>,
    /// Undos and reverts after the entry to undo, from oldest to newest. Rejected ones are not
    /// included.
    reversals: Vec<Reversal>,
    latest: Replay,
}

impl UndoStates {
    fn new(target: Position, latest: Replay) -> Self {
        Self { target, before: None, after: None, reversals: Vec::new(), latest }
    }

    /// There are no operations if the entry does not exist, is already undone, or if later edits
    /// replaced all its changes. Returns `None` if no entry has been read yet.
    fn resolve(&self) -> Option<Resolution> {
        let head = self.latest.cursor.newest?.head;
        Some(Resolution { state_position: head, operations: self.reversing_operations() })
    }

    fn reversing_operations(&self) -> Vec<Operation> {
        let Some(before) = &self.before else { return Vec::new() };
        if is_reversed(&self.reversals, self.target) {
            return Vec::new();
        }
        let latest = &self.latest.workbook;
        let after = self.after.as_ref().unwrap_or(latest);
        undo(before, after, latest).unwrap_or_default()
    }
}

impl Logs {
    /// If the entry does not exist, the result contains no states, and the next read starts at
    /// `base`.
    pub(super) async fn read_undo_states(
        &self,
        log_id: LogId,
        target: Position,
        base: Position,
    ) -> Result<UndoStates, LogError> {
        let no_states = UndoStates::new(target, Replay::resume(Workbook::default(), base));
        let position_before = match self.position_before(log_id, target).await {
            Ok(Some(position_before)) => position_before,
            Ok(None) | Err(LogError::Corrupt { .. }) => return Ok(no_states),
            Err(error) => return Err(error),
        };
        match self.read_changes(log_id, position_before, target).await {
            Ok(changes) => Ok(UndoStates::new(target, Replay::resume(changes.before, target))),
            Err(LogError::NoSuchPosition { .. }) => Ok(no_states),
            Err(error) => Err(error),
        }
    }

    /// Reads the entries up to the latest one and computes the operations that undo the target
    /// entry. Later edits by other authors are preserved. `min_position` is a position that the log
    /// is known to contain.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::TooLarge`] if the state exceeds the memory limit, [`LogError::NotFound`]
    /// if the log does not exist, or another [`LogError`] if an entry cannot be read.
    pub(super) async fn resolve_undo(
        &self,
        log_id: LogId,
        states: &mut UndoStates,
        min_position: Position,
    ) -> Result<Resolution, LogError> {
        let UndoStates { target, before, after, reversals, latest } = states;
        let until = ReadUntil::Newest { min_position: Some(min_position) };
        self.continue_replay(log_id, latest, until, |workbook, entry| {
            if entry.position == *target {
                *before = Some(workbook.clone());
            } else if before.is_some() && after.is_none() {
                *after = Some(workbook.clone());
            }
            reversals.extend(reversals_in(entry));
        })
        .await?;
        states.resolve().ok_or(LogError::NotFound)
    }
}

fn reversals_in(entry: &Entry) -> Vec<Reversal> {
    let Some(edits) = entry.edits() else { return Vec::new() };
    let mut reversals = Vec::new();
    for mutation in &edits.mutations {
        let reversed = match &mutation.authored {
            Operation::Undo(undo) => ReversedEdits::Entry(undo.position),
            Operation::Revert(revert) => ReversedEdits::After(revert.position),
            _ => continue,
        };
        if mutation.rejection().is_none() {
            reversals.push(Reversal { position: entry.position, reversed });
        }
    }
    reversals
}

/// `reversals` must be sorted from oldest to newest.
fn is_reversed(reversals: &[Reversal], target: Position) -> bool {
    let mut effective = EffectiveReversals::default();
    // Only a later undo or revert can reverse an earlier one, so start with the newest.
    for reversal in reversals.iter().rev() {
        if !effective.reverses(reversal.position) {
            effective.add(reversal);
        }
    }
    effective.reverses(target)
}

/// Undos and reverts that no later undo or revert has reversed.
#[derive(Default)]
struct EffectiveReversals {
    undone: BTreeSet<Position>,
    reverted: Vec<RevertedRange>,
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
    fn add(&mut self, reversal: &Reversal) {
        match reversal.reversed {
            ReversedEdits::Entry(position) => {
                self.undone.insert(position);
            }
            ReversedEdits::After(after) => {
                self.reverted.push(RevertedRange { after, before: reversal.position });
            }
        }
    }

    fn reverses(&self, position: Position) -> bool {
        self.undone.contains(&position)
            || self.reverted.iter().any(|range| range.contains(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn undo(num: u32, target: u32) -> Reversal {
        Reversal { position: at(num), reversed: ReversedEdits::Entry(at(target)) }
    }

    fn revert(num: u32, target: u32) -> Reversal {
        Reversal { position: at(num), reversed: ReversedEdits::After(at(target)) }
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
        let reversed = |log: &[Reversal]| -> Vec<u32> {
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
}
