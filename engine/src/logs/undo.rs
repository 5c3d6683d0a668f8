//! Resolves an undo: what takes back an entry now (design `2-log.md` §5).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use cellar_core::append::Resolved;
use cellar_core::identity::{ClientKey, LogId};
use cellar_core::operation::Operation;
use cellar_core::position::Position;
use cellar_core::workbook::{Workbook, undo};

use super::{LogError, Logs};

impl Logs {
    /// The operations that take back what the entry at `target` did, in the coordinates of the
    /// newest position; `None` if nothing of it is left, it was taken back before, or does not
    /// exist. Not older than `base`.
    ///
    /// # Errors
    /// As [`Logs::workbook`].
    pub async fn resolve_undo(
        &self,
        log: LogId,
        target: Position,
        base: Position,
    ) -> Result<Option<Resolved>, LogError> {
        let (mut before, mut after) = (None::<Workbook>, None::<Workbook>);
        let mut undos: Vec<(Position, Position)> = Vec::new();
        let now = self
            .replay(log, None, Some(base.max(target)), |workbook, entry| {
                if entry.position == target {
                    before = Some(workbook.clone());
                } else if before.is_some() && after.is_none() {
                    after = Some(workbook.clone());
                }
                let mutations = entry.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
                undos.extend(mutations.iter().filter_map(|mutation| match &mutation.authored {
                    Operation::Undo(undo) => Some((entry.position, undo.position)),
                    _ => None,
                }));
            })
            .await?;
        let Some(before) = before else { return Ok(None) };
        if is_undone(&undos, target) {
            return Ok(None);
        }
        let after = after.as_ref().unwrap_or(&now.workbook);
        let operations = undo(&before, after, &now.workbook).ok();
        Ok(operations.map(|operations| Resolved { at: now.position, operations }))
    }
}

impl Logs {
    /// Whether a mutation is in the log behind its base, as far as an eventually consistent read
    /// shows: enough to spare resolving an undo again that got through before.
    ///
    /// # Errors
    /// As [`Logs::update`].
    pub async fn has_mutation(
        &self,
        log: LogId,
        client: ClientKey,
        id: u64,
        base: Position,
    ) -> Result<bool, LogError> {
        let mut found = false;
        self.walk(log, base, None, |entry| {
            let ids = entry.mutation_ids();
            found |=
                ids.is_some_and(|(of, first, last)| of == client && (first..=last).contains(&id));
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .await?;
        Ok(found)
    }
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
