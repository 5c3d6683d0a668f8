//! A compaction step of a snapshot's work: from one root, and what some entries did, to the next.
//!
//! Where a compaction step ends depends on the entries only, so any worker that repeats it comes to the same
//! root. Most compaction steps rewrite level 0, which is inside the root; when that has grown too large,
//! it is merged with the newest levels into a level of its own.

mod base;
mod counts;
mod level_0;
mod merge;
mod next;
#[cfg(test)]
mod tests;

pub use base::Base;
pub(super) use base::{clients, metadata};
pub use level_0::{CompactionPlan, plan_compaction};
pub use merge::MergePlan;
pub use next::NextRoot;

use super::fold::{Fold, FoldedLevel, LongTextObject};
use super::root::ClientMap;
use crate::SnapshotError;
use cellar_base::identity::{ClientKey, ClientName};
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::Operation;

/// The entries of a compaction step, as far as they are folded.
#[derive(Debug, Clone)]
pub struct CompactionFold {
    fold: Fold,
    clients: ClientMap,
    last: Option<(Position, u64)>,
    entries: u64,
}

/// The entries of a compaction step.
#[derive(Debug, Clone)]
pub struct FoldedEntries {
    /// The metadata behind the last.
    pub metadata: WorkbookMetadata,
    /// What they did.
    pub level: FoldedLevel,
    /// The last mutations of clients.
    pub clients: ClientMap,
    /// The last entry.
    pub last: Position,
    /// How many there are before it, and itself, in all of the log.
    pub entries: u64,
}

impl CompactionFold {
    /// Begins behind a base.
    #[must_use]
    pub fn new(base: &Base) -> Self {
        Self {
            fold: Fold::new(base.metadata.clone()),
            clients: base.clients.clone(),
            last: None,
            entries: base.entries,
        }
    }

    /// Folds an entry: whose mutations it has, with the id of the last, and what each committed.
    ///
    /// # Errors
    /// As [`Fold::apply_operations`].
    pub fn entry(
        &mut self,
        position: Position,
        created_s: u64,
        mutations: Option<(ClientKey, u64)>,
        committed: &[&[Operation]],
    ) -> Result<(), SnapshotError> {
        if let Some((client, last_id)) = mutations {
            self.clients.note(client, last_id, created_s);
        }
        for operations in committed {
            self.fold.apply_operations(operations)?;
        }
        self.last = Some((position, created_s));
        self.entries = self.entries.saturating_add(1);
        Ok(())
    }

    /// Notes what the client of an entry is called that was folded.
    pub fn client_name(&mut self, client: ClientKey, name: &ClientName) {
        self.clients.note_name(client, name);
    }

    /// Whether the compaction step ends here. Asked behind each entry.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.fold.is_full()
    }

    /// What the entries did; `None` if there was none.
    #[must_use]
    pub fn finish(self) -> Option<FoldedEntries> {
        let (last, now_s) = self.last?;
        let mut clients = self.clients;
        clients.prune(now_s);
        let (metadata, level) = self.fold.finish();
        Some(FoldedEntries { metadata, level, clients, last, entries: self.entries })
    }
}

impl FoldedEntries {
    /// Texts that are objects of their own.
    #[must_use]
    pub fn long_texts(&self) -> &[LongTextObject] {
        &self.level.long_texts
    }
}
