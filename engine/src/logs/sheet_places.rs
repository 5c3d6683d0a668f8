//! Reads where deleted sheets were among the other sheets. A sheet that an earlier undo or revert
//! restored has the place of the sheet that it restored.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::metadata::{SheetPlaces, Tabs};
use cellar_sheet::operation::Operation;

use super::entry_history::{EntryHistory, mutations_of};
use super::{LogError, Logs};

/// States of the tabs between which sheets may have been deleted and restored.
pub(super) struct TabStates<'a> {
    /// The tabs before the oldest entry to reverse.
    pub(super) before: &'a Tabs,
    /// The tabs before the other entries to reverse.
    pub(super) between: Vec<&'a Tabs>,
    pub(super) now: &'a Tabs,
}

impl TabStates<'_> {
    fn is_sheet_deleted(&self) -> bool {
        let earlier = [self.before].into_iter().chain(self.between.iter().copied());
        earlier.flat_map(Tabs::order).any(|sheet| self.now.name(*sheet).is_none())
    }

    /// Returns whether a sheet was added or restored.
    fn is_sheet_new(&self) -> bool {
        let later = self.between.iter().copied().chain([self.now]);
        later.flat_map(Tabs::order).any(|sheet| self.before.name(*sheet).is_none())
    }
}

impl Logs {
    /// Returns the places of all sheets that existed between `position` and `head`. Returns `None` if
    /// the tabs before the entries to reverse show all places, or if too many entries would have to
    /// be read.
    pub(super) async fn sheet_places(
        &self,
        log_id: LogId,
        position: Position,
        head: Position,
        states: TabStates<'_>,
    ) -> Result<Option<SheetPlaces>, LogError> {
        if !states.is_sheet_deleted() || !states.is_sheet_new() {
            return Ok(None);
        }
        let Some(EntryHistory { oldest, entries, .. }) =
            self.entry_history(log_id, position, head, changes_tabs).await?
        else {
            return Ok(None);
        };
        let mut places = match self.position_before(log_id, oldest).await? {
            Some(before) => {
                let view = self.open_view(log_id, Some(before), None).await?;
                SheetPlaces::at(before, &view.metadata.tabs)
            }
            None => SheetPlaces::at(Position::FIRST, &Tabs::default()),
        };
        for entry in entries.iter().rev() {
            for mutation in mutations_of(entry) {
                let committed = mutation.committed_operations();
                places.apply(entry.position, &mutation.authored, committed);
            }
        }
        Ok(Some(places))
    }
}

pub(super) fn changes_tabs(entry: &Entry) -> bool {
    let mut operations = mutations_of(entry).iter().flat_map(Mutation::committed_operations);
    operations.any(Operation::changes_tabs)
}
