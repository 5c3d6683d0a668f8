//! Reads the entries of one kind back to the oldest one that a later undo or revert has reversed.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::operation::Operation;

use super::{LogError, Logs};

/// Maximum number of entries that are searched. If they do not suffice, a sheet or row is restored at
/// its place in the state before its deletion.
const MAX_SEARCHED_ENTRIES: usize = 10_000;
/// Number of entries read at once. Larger pages would often contain entries that are not needed.
const PAGE_ENTRIES: u32 = 100;

/// Entries of one kind, collected from newest to oldest. Includes those between the states that undos
/// and reverts have restored and these undos and reverts.
pub(super) struct EntryHistory {
    /// The oldest entry that is needed.
    pub(super) first: Position,
    /// The oldest entry that was read.
    pub(super) oldest: Position,
    pub(super) entries: Vec<Arc<Entry>>,
    remaining: usize,
}

impl EntryHistory {
    /// Returns `None` if too many entries are needed.
    fn add(&mut self, entry: &Arc<Entry>, is_needed: fn(&Entry) -> bool) -> Option<()> {
        if entry.position < self.first {
            return Some(());
        }
        self.remaining = self.remaining.checked_sub(1)?;
        self.oldest = entry.position;
        if is_needed(entry) {
            self.first = self.first.min(first_needed_for(entry));
            self.entries.push(Arc::clone(entry));
        }
        Some(())
    }
}

impl Logs {
    /// Returns the needed entries from `first` to `head`, and those before that they have reversed.
    /// Returns `None` if too many entries would have to be read.
    pub(super) async fn entry_history(
        &self,
        log_id: LogId,
        first: Position,
        head: Position,
        is_needed: fn(&Entry) -> bool,
    ) -> Result<Option<EntryHistory>, LogError> {
        self.bounded_entry_history(log_id, (first, head), is_needed, MAX_SEARCHED_ENTRIES).await
    }

    pub(super) async fn bounded_entry_history(
        &self,
        log_id: LogId,
        (first, head): (Position, Position),
        is_needed: fn(&Entry) -> bool,
        max_entries: usize,
    ) -> Result<Option<EntryHistory>, LogError> {
        let (entries, remaining) = (Vec::new(), max_entries);
        let mut history = EntryHistory { first, oldest: head, entries, remaining };
        let mut next = Some(head);
        while let Some(page_start) = next
            && page_start >= history.first
        {
            let page = self.history(log_id, Some(page_start), PAGE_ENTRIES).await?;
            if page.entries.iter().try_for_each(|entry| history.add(entry, is_needed)).is_none() {
                return Ok(None);
            }
            next = page.next;
        }
        Ok(Some(history))
    }
}

pub(super) fn mutations_of(entry: &Entry) -> &[Mutation] {
    entry.edits().map(|edits| edits.mutations.as_slice()).unwrap_or_default()
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
