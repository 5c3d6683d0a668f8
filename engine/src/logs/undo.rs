//! Undo: resolves what takes back an entry.

use std::collections::BTreeSet;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::append::Resolved;
use cellar_log::entry::Entry;
use cellar_sheet::operation::Operation;
use cellar_sheet::workbook::{Workbook, undo};

use super::workbook::Replay;
use super::{LogError, Logs};

/// An entry that takes back others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TakesBack {
    /// Where it stands.
    at: Position,
    what: Taken,
}

/// What an entry takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// What one entry did.
    Entry(Position),
    /// All that was done behind a position.
    Behind(Position),
}

/// What an undo looks at: the states around the entry that it takes back, and the newest.
pub(super) struct States {
    target: Position,
    before: Option<Workbook>,
    after: Option<Workbook>,
    /// Undos and reverts that took effect; oldest first.
    taking_back: Vec<TakesBack>,
    now: Replay,
}

impl States {
    /// Before the target: with all that it touches.
    fn of(target: Position, now: Replay) -> Self {
        Self { target, before: None, after: None, taking_back: Vec::new(), now }
    }

    /// What takes the entry back; no operations if nothing of it is left, it was taken back before,
    /// or does not exist. `None` before anything was read.
    fn resolve(&self) -> Option<Resolved> {
        let (at, _) = self.now.reading.newest?;
        let (now, before) = (&self.now.workbook, self.before.as_ref());
        let before = before.filter(|_| !is_taken_back(&self.taking_back, self.target));
        let operations =
            before.and_then(|before| undo(before, self.after.as_ref().unwrap_or(now), now).ok());
        Some(Resolved { at, operations: operations.unwrap_or_default() })
    }
}

impl Logs {
    /// What is known before anything behind the target is read. Of a target that does not exist, nothing,
    /// at `base`.
    ///
    /// # Errors
    /// As [`Logs::changes`].
    pub(super) async fn states_before(
        &self,
        log: LogId,
        target: Position,
        base: Position,
    ) -> Result<States, LogError> {
        let nothing = || Ok(States::of(target, Replay::on(Workbook::default(), base)));
        let before = match self.before(log, target).await {
            Ok(Some(before)) => before,
            Ok(None) | Err(LogError::Corrupt { .. }) => return nothing(),
            Err(error) => return Err(error),
        };
        match self.changes(log, before, target).await {
            Ok(changes) => Ok(States::of(target, Replay::on(changes.before, target))),
            Err(LogError::NoSuchPosition { .. }) => nothing(),
            Err(error) => Err(error),
        }
    }

    /// Reads on to the newest entry, which is at least `must_reach`: nobody's edit is taken back but that
    /// of the target.
    ///
    /// # Errors
    /// [`LogError::TooLarge`], [`LogError::NotFound`]; otherwise as reading entries.
    pub(super) async fn resolve_undo(
        &self,
        log: LogId,
        states: &mut States,
        must_reach: Position,
    ) -> Result<Resolved, LogError> {
        let States { target, before, after, taking_back, now } = states;
        self.replay_on(log, now, None, Some(must_reach), |workbook, entry| {
            if entry.position == *target {
                *before = Some(workbook.clone());
            } else if before.is_some() && after.is_none() {
                *after = Some(workbook.clone());
            }
            taking_back.extend(taken_back_by(entry));
        })
        .await?;
        states.resolve().ok_or(LogError::NotFound)
    }
}

/// What an entry takes back.
fn taken_back_by(entry: &Entry) -> impl Iterator<Item = TakesBack> + '_ {
    let mutations = entry.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
    let effective = mutations.iter().filter(|mutation| mutation.rejection().is_none());
    effective.filter_map(|mutation| {
        let what = match &mutation.authored {
            Operation::Undo(undo) => Taken::Entry(undo.position),
            Operation::Revert(revert) => Taken::Behind(revert.position),
            _ => return None,
        };
        Some(TakesBack { at: entry.position, what })
    })
}

/// Whether an entry was taken back by something that was not taken back itself; oldest first.
fn is_taken_back(taking_back: &[TakesBack], target: Position) -> bool {
    let mut undone = BTreeSet::new();
    let mut restored: Vec<(Position, Position)> = Vec::new();
    let is_gone = |undone: &BTreeSet<_>, restored: &[(Position, Position)], at: Position| {
        undone.contains(&at) || restored.iter().any(|(to, by)| *to < at && at < *by)
    };
    for TakesBack { at, what } in taking_back.iter().rev() {
        if is_gone(&undone, &restored, *at) {
            continue;
        }
        match what {
            Taken::Entry(entry) => {
                undone.insert(*entry);
            }
            Taken::Behind(position) => restored.push((*position, *at)),
        }
    }
    is_gone(&undone, &restored, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    fn undo(num: u32, target: u32) -> TakesBack {
        TakesBack { at: at(num), what: Taken::Entry(at(target)) }
    }

    fn revert(num: u32, target: u32) -> TakesBack {
        TakesBack { at: at(num), what: Taken::Behind(at(target)) }
    }

    #[test]
    fn an_undo_of_an_undo_is_a_redo() {
        let log = [undo(5, 1), undo(6, 5), undo(7, 2)];
        assert!(!is_taken_back(&log, at(1)), "done again");
        assert!(is_taken_back(&log, at(5)) && is_taken_back(&log, at(2)));
        assert!(!is_taken_back(&log, at(3)) && !is_taken_back(&log, at(7)));
        assert!(is_taken_back(&log[..1], at(1)));
    }

    #[test]
    fn a_restore_takes_back_all_between_its_position_and_itself() {
        let log = [undo(3, 1), undo(4, 2), revert(6, 3)];
        let gone = |log: &[TakesBack]| (1..7).filter(|num| is_taken_back(log, at(*num))).collect();
        let (of_both, of_first): (Vec<_>, Vec<_>) = (gone(&log), gone(&log[..2]));
        assert_eq!(of_first, [1, 2]);
        assert_eq!(of_both, [1, 4, 5], "the undo of 2 as well: 2 is there again");
        let mut undone = log.to_vec();
        undone.push(undo(7, 6));
        assert_eq!(gone(&undone), [1, 2, 6], "as before the revert");
        undone.push(revert(8, 6));
        assert_eq!(gone(&undone), [1, 4, 5], "as behind the revert");
    }
}
