//! Undo: resolves what takes back an entry, and puts it behind the very state on which it was
//! resolved (design `2-log.md` §5).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cellar_core::append::{Appended, AskedUndo, Refusal, Request, Resolved};
use cellar_core::entry::Entry;
use cellar_core::identity::LogId;
use cellar_core::limits::MAX_UNDO_ATTEMPTS;
use cellar_core::operation::Operation;
use cellar_core::position::Position;
use cellar_core::workbook::{Workbook, undo};

use super::workbook::Replay;
use super::{LogError, Logs};

/// What an undo looks at: the states around the entry that it takes back, and the newest.
struct States {
    target: Position,
    before: Option<Workbook>,
    after: Option<Workbook>,
    /// Undos that took effect, and what they took back; oldest first.
    undos: Vec<(Position, Position)>,
    now: Replay,
}

impl States {
    /// Before the target: with all that it touches.
    fn of(target: Position, now: Replay) -> Self {
        Self { target, before: None, after: None, undos: Vec::new(), now }
    }

    /// What takes the entry back; no operations if nothing of it is left, it was taken back before,
    /// or does not exist. `None` before anything was read.
    fn resolve(&self) -> Option<Resolved> {
        let (at, _) = self.now.reading.newest?;
        let (now, before) = (&self.now.workbook, self.before.as_ref());
        let before = before.filter(|_| !is_undone(&self.undos, self.target));
        let operations =
            before.and_then(|before| undo(before, self.after.as_ref().unwrap_or(now), now).ok());
        Some(Resolved { at, operations: operations.unwrap_or_default() })
    }
}

impl Logs {
    /// Appends an undo. What others do meanwhile is read too, and the undo resolved again, until it
    /// stands behind all of it: nobody's edit is taken back but that of its target.
    pub(super) async fn append_undo(
        &self,
        request: Request,
        asked: AskedUndo,
    ) -> Result<Appended, LogError> {
        let log = request.log();
        // A repeat is found in the log, whatever the state has become.
        if self.has_mutation(log, asked).await? {
            return self.append_as_it_is(request).await;
        }
        let mut states = match self.state_before(log, asked).await {
            Ok(now) => States::of(asked.target, now),
            Err(error) if is_unreadable(&error) => return self.append_as_it_is(request).await,
            Err(error) => return Err(error),
        };
        let mut must_reach = asked.base;
        for _ in 0..MAX_UNDO_ATTEMPTS {
            match self.read_states(log, &mut states, must_reach).await {
                Ok(()) => {}
                Err(error) if is_unreadable(&error) => return self.append_as_it_is(request).await,
                Err(error) => return Err(error),
            }
            let resolved = states.resolve().ok_or(LogError::NotFound)?;
            match self.append_as_it_is(request.clone().resolved(resolved)).await {
                Err(LogError::Refused(Refusal::StaleUndo { newest })) => must_reach = newest,
                done => return done,
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    /// The state before the target, as far as that touches it; of a target that does not exist, nothing.
    async fn state_before(&self, log: LogId, asked: AskedUndo) -> Result<Replay, LogError> {
        let nothing = || Ok(Replay::on(Workbook::default(), asked.base));
        let before = match self.before(log, asked.target).await {
            Ok(Some(before)) => before,
            Ok(None) | Err(LogError::Corrupt { .. }) => return nothing(),
            Err(error) => return Err(error),
        };
        match self.changes(log, before, asked.target).await {
            Ok(changes) => Ok(Replay::on(changes.before, asked.target)),
            Err(LogError::NoSuchPosition { .. }) => nothing(),
            Err(error) => Err(error),
        }
    }

    async fn read_states(
        &self,
        log: LogId,
        states: &mut States,
        must_reach: Position,
    ) -> Result<(), LogError> {
        let States { target, before, after, undos, now } = states;
        self.replay_on(log, now, None, Some(must_reach), |workbook, entry| {
            if entry.position == *target {
                *before = Some(workbook.clone());
            } else if before.is_some() && after.is_none() {
                *after = Some(workbook.clone());
            }
            undos.extend(undone_by(entry).map(|target| (entry.position, target)));
        })
        .await
    }

    /// Whether an undo is in the log behind its base, as far as an eventually consistent read
    /// shows: enough to spare resolving it again if it got through before.
    async fn has_mutation(&self, log: LogId, asked: AskedUndo) -> Result<bool, LogError> {
        let mut found = false;
        let walked = self.walk(log, asked.base, None, |entry| {
            let ids = entry.mutation_ids();
            found |= ids.is_some_and(|(client, first, last)| {
                client == asked.client && (first..=last).contains(&asked.id)
            });
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match walked.await {
            // The append looks for itself.
            Ok(_) | Err(LogError::Corrupt { .. }) => Ok(found),
            Err(error) => Err(error),
        }
    }
}

/// What cannot be read now cannot be read later: an undo of it is rejected, or its author would repeat it
/// for ever, and nothing behind it would get through.
fn is_unreadable(error: &LogError) -> bool {
    matches!(error, LogError::TooLarge(_) | LogError::Corrupt { .. } | LogError::Snapshot(_))
}

/// What the undos of an entry took back.
fn undone_by(entry: &Entry) -> impl Iterator<Item = Position> + '_ {
    let mutations = entry.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
    mutations.iter().filter_map(|mutation| match &mutation.authored {
        Operation::Undo(undo) if mutation.rejection().is_none() => Some(undo.position),
        _ => None,
    })
}

/// Whether an entry was taken back by an undo that was not taken back itself; `undos` are pairs of
/// an undo and what it took back, oldest first.
fn is_undone(undos: &[(Position, Position)], target: Position) -> bool {
    let mut undone = BTreeSet::new();
    for (undo, target) in undos.iter().rev() {
        if !undone.contains(undo) {
            undone.insert(*target);
        }
    }
    undone.contains(&target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undo_of_an_undo_is_a_redo() {
        let at = |num| Position::new(0, num).unwrap();
        let undos = [(at(5), at(1)), (at(6), at(5)), (at(7), at(2))];
        assert!(!is_undone(&undos, at(1)), "done again");
        assert!(is_undone(&undos, at(5)) && is_undone(&undos, at(2)));
        assert!(!is_undone(&undos, at(3)) && !is_undone(&undos, at(7)));
        assert!(is_undone(&undos[..1], at(1)));
    }
}
