//! Folds the entries of a compaction step.

use super::base::CompactionBase;
use crate::error::SnapshotError;
use crate::fold::{Fold, FoldedLevel, FoldedSheet};
use crate::outdated::OutdatedAreas;
use crate::root::ClientMap;
use cellar_base::identity::{ClientKey, ClientName};
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, SheetId};

/// Combines the entries of a compaction step.
#[derive(Debug, Clone)]
pub struct CompactionFold {
    fold: Fold,
    clients: ClientMap,
    last_entry: Option<LastEntry>,
    /// Total number of entries since the start of the log.
    entry_count: u64,
}

#[derive(Debug, Clone, Copy)]
struct LastEntry {
    position: Position,
    /// Creation time of the entry, in seconds since the Unix epoch.
    created_s: u64,
}

/// The combined effect of all entries in a compaction step.
#[derive(Debug, Clone)]
pub struct FoldedEntries {
    /// Workbook metadata after the last entry.
    pub metadata: WorkbookMetadata,
    /// Net effect of the entries on cells.
    pub level: FoldedLevel,
    /// Last mutation of each client.
    pub clients: ClientMap,
    /// Position of the last entry.
    pub last_position: Position,
    /// Number of entries from the start of the log up to and including the last entry.
    pub entry_count: u64,
    /// Cells whose formulas have no valid values after the entries. [`find_outdated`] finds them;
    /// before, they are all cells.
    ///
    /// [`find_outdated`]: crate::outdated::find_outdated
    pub outdated: OutdatedAreas,
}

impl CompactionFold {
    /// Starts folding the entries that follow `base`.
    #[must_use]
    pub fn new(base: &CompactionBase) -> Self {
        Self {
            fold: Fold::new(base.metadata.clone()),
            clients: base.clients.clone(),
            last_entry: None,
            entry_count: base.entry_count,
        }
    }

    /// Folds an entry into the accumulated changes. `client` is the client that wrote the entry,
    /// with its last mutation id. `operations_by_mutation` contains the committed operations of
    /// each mutation.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if an import has an invalid tile index.
    pub fn fold_entry(
        &mut self,
        position: Position,
        created_s: u64,
        client: Option<(ClientKey, u64)>,
        operations_by_mutation: &[&[Operation]],
    ) -> Result<(), SnapshotError> {
        if let Some((client_key, last_mutation_id)) = client {
            self.clients.record_mutation(client_key, last_mutation_id, created_s);
        }
        for operations in operations_by_mutation {
            self.fold.apply_operations(operations)?;
        }
        self.last_entry = Some(LastEntry { position, created_s });
        self.entry_count += 1;
        Ok(())
    }

    /// Records a client's name from a folded entry.
    pub fn record_client_name(&mut self, client: ClientKey, name: &ClientName) {
        self.clients.record_name(client, name);
    }

    /// Returns whether the compaction step must end after the last folded entry.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.fold.is_full()
    }

    /// Returns the combined effect of the folded entries, or `None` if there are none.
    #[must_use]
    pub fn finish(self) -> Option<FoldedEntries> {
        let last_entry = self.last_entry?;
        let mut clients = self.clients;
        clients.prune(last_entry.created_s);
        let (metadata, level) = self.fold.finish();
        Some(FoldedEntries {
            metadata,
            level,
            clients,
            last_position: last_entry.position,
            entry_count: self.entry_count,
            outdated: OutdatedAreas::everything(),
        })
    }
}

impl FoldedEntries {
    /// Creates a step that adds the results of formulas to a root, without any entries.
    #[must_use]
    pub fn of_results(
        base: &CompactionBase,
        position: Position,
        sheets: Vec<FoldedSheet>,
        outdated: OutdatedAreas,
    ) -> Self {
        Self {
            metadata: base.metadata.clone(),
            level: FoldedLevel { sheets, ..FoldedLevel::default() },
            clients: base.clients.clone(),
            last_position: position,
            entry_count: base.entry_count,
            outdated,
        }
    }

    pub(super) fn sheet(&self, sheet_id: SheetId) -> Option<&FoldedSheet> {
        self.level.sheets.iter().find(|folded| folded.sheet == sheet_id)
    }

    pub(super) fn has_sheet(&self, sheet_id: SheetId) -> bool {
        self.metadata.sheets.contains_key(&sheet_id)
    }
}
