//! The view of a live sheet: the canonical state followed by the rebased pending edits.

use cellar_api::rebase::{EntriesNeeded, Outlook, OwnEntries, PendingMutation, Rebase};
use cellar_calculation::KeptCalculation;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_snapshot::fold::Fold;

use super::canonical::CanonicalState;

/// The canonical state with the effects of the pending edits.
#[derive(Debug)]
pub(super) struct RebasedView {
    /// The combined effect of the log entries after the snapshot root and of the pending edits.
    fold: Fold,
    rebase_result: Result<RebasedEdits, EntriesNeeded>,
    /// Whether cells are currently read from this view, that is, whether it is installed in the
    /// canonical state.
    is_installed: bool,
}

#[derive(Debug)]
struct RebasedEdits {
    rebase: Rebase,
    outlooks: Vec<Outlook>,
}

impl RebasedView {
    pub(super) fn new(
        canonical: &CanonicalState,
        own_entries: &OwnEntries,
        pending: &[PendingMutation],
    ) -> Self {
        let mut fold = canonical.tail.fold.clone();
        let begin_result = Rebase::begin(canonical.known(), own_entries, pending);
        let rebase_result =
            begin_result.map(|(rebase, outlooks)| RebasedEdits { rebase, outlooks });
        if let Ok(rebased) = &rebase_result {
            for outlook in &rebased.outlooks {
                apply_outlook(&mut fold, outlook);
            }
        }
        Self { fold, rebase_result, is_installed: false }
    }

    /// The error states which log entries are missing.
    pub(super) fn check_rebased(&self) -> Result<(), EntriesNeeded> {
        match &self.rebase_result {
            Ok(_) => Ok(()),
            Err(entries_needed) => Err(*entries_needed),
        }
    }

    pub(super) fn add_edit(&mut self, pending: &PendingMutation) {
        let Ok(rebased) = &mut self.rebase_result else { return };
        let outlook = rebased.rebase.add_pending(pending);
        apply_outlook(&mut self.fold, &outlook);
        rebased.outlooks.push(outlook);
        self.is_installed = false;
    }

    /// Empty if the edits could not be rebased.
    pub(super) fn outlooks(&self) -> impl Iterator<Item = &Outlook> {
        self.rebase_result.iter().flat_map(|rebased| &rebased.outlooks)
    }

    pub(super) fn metadata(&self) -> &WorkbookMetadata {
        self.fold.metadata()
    }

    /// Installs this view in the canonical state, so that cells are read including the pending
    /// edits.
    pub(super) fn install(&mut self, canonical: &mut CanonicalState) {
        if self.is_installed {
            return;
        }
        let (metadata, tail) = self.fold.clone().finish();
        canonical.readable.position = canonical.position();
        canonical.readable.created_s = canonical.tail.last_created_s;
        canonical.readable.calculation = KeptCalculation::None;
        canonical.readable.metadata = metadata;
        canonical.readable.tail = tail;
        self.is_installed = true;
    }
}

/// This can fail only for imports, which live sheets do not accept.
fn apply_outlook(fold: &mut Fold, outlook: &Outlook) {
    let apply_result = fold.apply_operations(outlook.operations());
    debug_assert!(apply_result.is_ok(), "a live sheet accepts no imports");
}
