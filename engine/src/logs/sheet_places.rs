//! Reads where deleted sheets were among the other sheets. A sheet that an earlier undo or revert
//! restored has the place of the sheet that it restored.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::metadata::{SheetPlaces, Tabs};
use cellar_sheet::operation::Operation;

use super::{LogError, Logs};

/// Maximum number of entries that are searched for sheets. If they do not suffice, a sheet is restored
/// at its place among the sheets of the state before its deletion.
const MAX_SEARCHED_ENTRIES: usize = 10_000;
/// Number of entries read at once. Larger pages would often contain entries that are not needed.
const PAGE_ENTRIES: u32 = 100;

/// Entries that change the tabs, collected from newest to oldest. Includes those between the states
/// that undos and reverts have restored and these undos and reverts.
pub(super) struct TabHistory {
    /// The oldest entry that is needed.
    pub(super) first: Position,
    /// The oldest entry that was read.
    pub(super) oldest: Position,
    entries: Vec<Arc<Entry>>,
    remaining: usize,
}

impl TabHistory {
    /// Returns `None` if too many entries are needed.
    fn add(&mut self, entry: &Arc<Entry>) -> Option<()> {
        if entry.position < self.first {
            return Some(());
        }
        self.remaining = self.remaining.checked_sub(1)?;
        self.oldest = entry.position;
        if changes_tabs(entry) {
            self.first = self.first.min(first_needed_for(entry));
            self.entries.push(Arc::clone(entry));
        }
        Some(())
    }
}

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
        let history = self.tab_history(log_id, position, head, MAX_SEARCHED_ENTRIES).await?;
        let Some(TabHistory { oldest, entries, .. }) = history else { return Ok(None) };
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

    pub(super) async fn tab_history(
        &self,
        log_id: LogId,
        first: Position,
        head: Position,
        max_entries: usize,
    ) -> Result<Option<TabHistory>, LogError> {
        let (entries, remaining) = (Vec::new(), max_entries);
        let mut history = TabHistory { first, oldest: head, entries, remaining };
        let mut next = Some(head);
        while let Some(page_start) = next
            && page_start >= history.first
        {
            let page = self.history(log_id, Some(page_start), PAGE_ENTRIES).await?;
            if page.entries.iter().try_for_each(|entry| history.add(entry)).is_none() {
                return Ok(None);
            }
            next = page.next;
        }
        Ok(Some(history))
    }
}

fn mutations_of(entry: &Entry) -> &[Mutation] {
    entry.edits().map(|edits| edits.mutations.as_slice()).unwrap_or_default()
}

fn changes_tabs(entry: &Entry) -> bool {
    let mut operations = mutations_of(entry).iter().flat_map(Mutation::committed_operations);
    operations.any(Operation::changes_tabs)
}

/// Returns the first entry that an undo or revert in this entry has reversed, or the position of this
/// entry. All entries of a merge are undone together.
fn first_needed_for(entry: &Entry) -> Position {
    let accepted = mutations_of(entry).iter().filter(|mutation| mutation.rejection().is_none());
    let reversed = accepted.filter_map(|mutation| match &mutation.authored {
        Operation::Undo(undo) => Some(undo.position),
        Operation::Revert(revert) => Some(revert.position),
        _ => None,
    });
    let merged = entry.merged().map(|merged| merged.after);
    reversed.chain(merged).min().map_or(entry.position, |first| first.min(entry.position))
}
