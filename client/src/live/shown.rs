//! What is shown: the canonical state with the edits that wait on top.

use cellar_api::rebase::{EntriesNeeded, Outlook, OwnEntries, PendingMutation, Rebase};
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_snapshot::fold::Fold;

use super::canonical::Canonical;

/// The edits that wait, on a canonical state.
#[derive(Debug)]
pub(super) struct Shown {
    /// What the entries behind the root did, and the edits on top.
    pub(super) fold: Fold,
    placed: Result<Placed, EntriesNeeded>,
    /// It was read from since it changed.
    pub(super) is_read: bool,
}

#[derive(Debug)]
struct Placed {
    rebase: Rebase,
    outlooks: Vec<Outlook>,
}

impl Shown {
    /// All edits on a canonical state.
    pub(super) fn of(canonical: &Canonical, own: &OwnEntries, pending: &[PendingMutation]) -> Self {
        let mut fold = canonical.tail.fold.clone();
        let placed = Rebase::begin(canonical.known(), own, pending);
        let placed = placed.map(|(rebase, outlooks)| Placed { rebase, outlooks });
        for outlook in placed.iter().flat_map(|placed| &placed.outlooks) {
            apply(&mut fold, outlook);
        }
        Self { fold, placed, is_read: false }
    }

    /// Whether it can be told where the edits stand.
    pub(super) fn placed(&self) -> Result<(), EntriesNeeded> {
        self.placed.as_ref().map(|_| ()).map_err(|needed| *needed)
    }

    /// Adds the newest edit.
    pub(super) fn add(&mut self, pending: &PendingMutation) {
        let Ok(placed) = &mut self.placed else { return };
        let outlook = placed.rebase.add_pending(pending);
        apply(&mut self.fold, &outlook);
        placed.outlooks.push(outlook);
        self.is_read = false;
    }

    pub(super) fn outlooks(&self) -> impl Iterator<Item = &Outlook> {
        self.placed.iter().flat_map(|placed| &placed.outlooks)
    }

    pub(super) fn metadata(&self) -> &WorkbookMetadata {
        self.fold.metadata()
    }
}

/// Applies a pending edit. Only an unreadable import fails, and a live sheet accepts no imports.
fn apply(fold: &mut Fold, outlook: &Outlook) {
    let applied = fold.apply_operations(outlook.operations());
    debug_assert!(applied.is_ok(), "a live sheet accepts no imports");
}
