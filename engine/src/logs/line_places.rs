//! Reads where deleted rows and columns were among the others. An undo needs these places if undos of
//! other deletions have restored rows next to those that it restores.

use std::collections::BTreeMap;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{DeletedLinesOfSheets, LinePlaces};
use cellar_sheet::operation::{LineMove, Operation, SheetId};

use super::entry_history::{EntryHistory, mutations_of};
use super::reversals::ReversedEdits;
use super::{LogError, Logs};

impl Logs {
    /// Returns where the rows and columns that the entry at `target` deleted belong among those at
    /// `head`. Returns none if too many entries would have to be read.
    pub(super) async fn deleted_lines(
        &self,
        log_id: LogId,
        target: Position,
        head: Position,
    ) -> Result<DeletedLinesOfSheets, LogError> {
        let history = self.entry_history(log_id, target, head, changes_lines).await?;
        let Some(EntryHistory { entries, .. }) = history else {
            return Ok(DeletedLinesOfSheets::new());
        };
        let mut places = BTreeMap::<(SheetId, Axis), LinePlaces>::new();
        for entry in entries.iter().rev() {
            for mutation in mutations_of(entry) {
                let reversed = ReversedEdits::of(&mutation.authored);
                for operation in mutation.committed_operations() {
                    apply(&mut places, entry.position, reversed, operation);
                }
            }
        }
        let deleted = places.into_iter().map(|(key, places)| (key, places.deleted_at(target)));
        Ok(deleted.filter(|(_, lines)| !lines.is_empty()).collect())
    }
}

fn changes_lines(entry: &Entry) -> bool {
    let mut operations = mutations_of(entry).iter().flat_map(Mutation::committed_operations);
    operations.any(|operation| LineMove::of(operation).is_some())
}

fn apply(
    places: &mut BTreeMap<(SheetId, Axis), LinePlaces>,
    position: Position,
    reversed: Option<ReversedEdits>,
    operation: &Operation,
) {
    let is_restored = |deleted_at: Position| match reversed {
        None => false,
        Some(ReversedEdits::Entry(undone)) => deleted_at == undone,
        Some(ReversedEdits::After(after) | ReversedEdits::PartAfter(after)) => deleted_at > after,
    };
    let axis = match operation {
        Operation::InsertRows(_) | Operation::DeleteRows(_) => Axis::Rows,
        _ => Axis::Columns,
    };
    match operation {
        Operation::InsertRows(insert) | Operation::InsertColumns(insert) => {
            let places =
                places.entry((insert.sheet, axis)).or_insert_with(|| LinePlaces::new(axis));
            places.insert(insert.before, insert.count, is_restored);
        }
        Operation::DeleteRows(delete) | Operation::DeleteColumns(delete) => {
            let places =
                places.entry((delete.sheet, axis)).or_insert_with(|| LinePlaces::new(axis));
            places.delete(position, &delete.spans);
        }
        _ => {}
    }
}
