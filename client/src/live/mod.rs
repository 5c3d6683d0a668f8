//! A spreadsheet that can be viewed and edited online or offline.
//!
//! A [`LiveSheet`] combines the canonical state with the client's pending edits. The canonical
//! state (`canonical`) is the latest known snapshot root and the later log entries. The pending
//! edits are rebased onto the canonical state (`rebased`), so each edit is shown as the server
//! would commit it now ([`cellar_api::rebase`]).
//!
//! An edit is persisted and then shown without waiting for the server. [`LiveSheet::sync`] sends
//! pending edits and fetches new entries (`sync`). An edit's id and base position never change, so
//! each edit takes effect exactly once and in its author's order, even after crashes and lost
//! responses.
//!
//! After a table restore, a new client recreates the edits that were certainly not committed. Edits
//! that may have been committed are moved to a file (`start_over`).
//!
//! Memory usage is bounded ([`cellar_base::limits`]) and consists of the displayed chunks, the
//! pending edits and the entries after the root. If too many entries follow the root, a newer root
//! is loaded.

mod canonical;
mod disk_cache;
mod error;
#[cfg(feature = "cli")]
mod opened;
mod rebased;
mod start_over;
mod sync;

pub use error::LiveError;
#[cfg(feature = "cli")]
pub(crate) use opened::OpenedSpreadsheet;
pub use sync::{EditOutcome, SetAsideEdits, Settlement, SyncReport, poll_event};

#[cfg(feature = "cli")]
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use cellar_api::rebase::{Outlook, OwnEntries, PendingMutation};
use cellar_api::{wire::CellsReply, wire::NameView, wire::SentMutation, wire::SheetView};
#[cfg(feature = "cli")]
use cellar_base::identity::LogId;
use cellar_base::identity::{ClientKey, SubjectKey};
use cellar_base::limits::{MAX_LIVE_OBJECT_BYTES, MAX_LIVE_PENDING, MAX_LIVE_PENDING_BYTES};
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::{Operation, SheetId};

use crate::files::{FileError, FileLock, STATE_FOLDER};
#[cfg(feature = "cli")]
use crate::outbox::find_waiting;
use crate::outbox::{EditNumber, EditPayload, Outbox, OutboxState, new_client_id};
use crate::reader::{ChunkCache, SnapshotSource};
use crate::{Client, Spreadsheet};
use canonical::CanonicalState;
use rebased::RebasedView;
use sync::Answers;

/// An edit id that is smaller than the ids of all edits.
const NO_EDIT_ID: u64 = 0;
pub(crate) const FOLDER: &str = "live";

/// A spreadsheet that a subject (user) views and edits in a directory.
#[derive(Debug)]
pub struct LiveSheet {
    outbox: Outbox,
    source: SnapshotSource,
    subject: Option<SubjectKey>,
    outbox_state: OutboxState,
    /// The pending edits of `outbox_state`, including the operations of large edits.
    pending: Vec<PendingMutation>,
    own_entries: OwnEntries,
    canonical: CanonicalState,
    rebased_view: RebasedView,
    answers: Answers,
    /// Changes that the next successful sync reports.
    unreported: SyncReport,
    /// Prevents other processes from opening the spreadsheet in this directory until it is dropped.
    _lock: FileLock,
}

impl LiveSheet {
    /// Opens a spreadsheet whose files are in `dir/.cellar/`. If the spreadsheet was opened in this
    /// directory before, sends no request. Otherwise, loads the spreadsheet from the server. Edits
    /// are stored per subject (user) of the client's token, and are never sent as another subject.
    ///
    /// # Errors
    ///
    /// Returns [`LiveError::File`] if another process has opened the spreadsheet in this directory
    /// or a file cannot be used. Returns another [`LiveError`] if the spreadsheet cannot be loaded.
    pub async fn open(spreadsheet: Spreadsheet, dir: &Path) -> Result<Self, LiveError> {
        let subject = spreadsheet.client().subject_key();
        let outbox = open_outbox(spreadsheet.clone(), dir);
        let lock = outbox.try_lock()?;
        let cache = Arc::new(ChunkCache::new(dir));
        let source = SnapshotSource::new(spreadsheet, Some(cache));
        let saved_state = outbox.read()?;
        let canonical = CanonicalState::open(&source, &outbox, saved_state.as_ref()).await?;
        let outbox_state = match saved_state {
            Some(outbox_state) => outbox_state,
            None => create_state(&outbox, &canonical)?,
        };
        let own_entries = OwnEntries::new(client_key(subject, &outbox_state.client_id));
        let pending = load_pending(&outbox, &outbox_state)?;
        let rebased_view = RebasedView::new(&canonical, &own_entries, &pending);
        let unreported = SyncReport::empty(canonical.position());
        let mut live_sheet = Self {
            outbox,
            source,
            subject,
            outbox_state,
            pending,
            own_entries,
            canonical,
            rebased_view,
            answers: Answers::default(),
            unreported,
            _lock: lock,
        };
        live_sheet.reconcile_with_canonical().await?;
        Ok(live_sheet)
    }

    /// Removes the pending edits that the canonical state already contains. Starts over as a new
    /// client if the table incarnation has changed.
    async fn reconcile_with_canonical(&mut self) -> Result<(), LiveError> {
        if self.canonical.incarnation() != self.outbox_state.incarnation {
            return self.start_over(NO_EDIT_ID).await;
        }
        self.acknowledge_known_entries();
        Ok(self.save_and_rebase().await?)
    }

    #[cfg(feature = "cli")]
    pub(crate) fn spreadsheet(&self) -> &Spreadsheet {
        &self.outbox.spreadsheet
    }

    /// Returns the client that sends the requests.
    #[must_use]
    pub fn client(&self) -> &Client {
        self.outbox.spreadsheet.client()
    }

    /// Sends later requests with another client of the same stack and subject (user), such as one of
    /// [`Client::moved_to`]. Returns `false` and keeps the client if stack or subject differ, because
    /// the pending edits must not be sent there.
    #[must_use]
    pub fn set_client(&mut self, client: &Client) -> bool {
        let current = self.client();
        let is_same =
            client.identity() == current.identity() && client.subject() == current.subject();
        if is_same {
            let spreadsheet = client.spreadsheet(self.outbox.spreadsheet.id());
            self.source.spreadsheet = spreadsheet.clone();
            self.outbox.spreadsheet = spreadsheet;
        }
        is_same
    }

    /// Returns the number of pending edits in the files of `dir/.cellar/`. Works even while the
    /// spreadsheet is open in another process.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the files cannot be read.
    pub fn count_unsent_edits(spreadsheet: Spreadsheet, dir: &Path) -> Result<usize, FileError> {
        let state = open_outbox(spreadsheet, dir).read()?;
        Ok(state.map_or(0, |state| state.pending.len()))
    }

    /// Returns whether the spreadsheet was opened in `dir` before, so that it may be opened offline.
    #[cfg(feature = "cli")]
    pub(crate) fn was_opened(spreadsheet: Spreadsheet, dir: &Path) -> bool {
        open_outbox(spreadsheet, dir).read().is_ok_and(|state| state.is_some())
    }

    /// Returns the spreadsheets with pending edits in the files of `dir/.cellar/`.
    #[cfg(feature = "cli")]
    pub(crate) fn find_waiting(client: &Client, dir: &Path) -> Result<BTreeSet<LogId>, FileError> {
        find_waiting(client, &dir.join(STATE_FOLDER).join(FOLDER))
    }

    /// Returns the canonical position, which is that of the newest log entry in the view.
    #[must_use]
    pub fn position(&self) -> Position {
        self.canonical.position()
    }

    /// Returns the pending edits in order, each with its expected result. The expected result is
    /// what the server would commit if the edit arrived now. It is `None` as long as
    /// [`LiveSheet::view`] fails with [`LiveError::CannotRebase`].
    pub fn pending(&self) -> impl Iterator<Item = (&PendingMutation, Option<&Outlook>)> {
        let outlooks = self.rebased_view.outlooks().map(Some).chain(std::iter::repeat(None));
        self.pending.iter().zip(outlooks)
    }

    /// Saves an edit on disk, applies it to the view and returns its id. The coordinates of the
    /// edit refer to the current view. The next [`LiveSheet::sync`] sends the edit.
    ///
    /// # Errors
    ///
    /// Returns a [`LiveError`] if the edit was neither saved nor applied.
    pub fn edit(&mut self, operation: Operation) -> Result<u64, LiveError> {
        if matches!(operation, Operation::ImportSheet(_)) {
            return Err(LiveError::Import);
        }
        let operation = operation.validated().map_err(|fault| LiveError::Invalid { fault })?;
        // Do not accept the edit before the earlier edits can be rebased: it would be unclear to
        // which cells its coordinates refer.
        self.rebased_view.check_rebased()?;
        let (payload, object) = EditPayload::encode(operation.clone())
            .map_err(|fault| LiveError::TooLarge { fault })?;
        self.check_pending_limits(&payload, &operation)?;
        let object_bytes = payload.object_bytes();
        let EditNumber { id, base } =
            self.outbox.add_edit(&mut self.outbox_state, payload, object)?;
        let pending_edit = PendingMutation { id, base, operation, object_bytes };
        self.rebased_view.add_edit(&pending_edit);
        self.pending.push(pending_edit);
        Ok(id)
    }

    fn check_pending_limits(
        &self,
        payload: &EditPayload,
        operation: &Operation,
    ) -> Result<(), LiveError> {
        let edits = self.outbox_state.pending.len();
        let bytes = json_bytes(&self.outbox_state.pending).saturating_add(json_bytes(payload));
        let mut object_bytes = 0_usize;
        for edit in self.pending.iter().filter(|edit| edit.object_bytes.is_some()) {
            object_bytes = object_bytes.saturating_add(edit.operation.weight_bytes());
        }
        if payload.object_bytes().is_some() {
            object_bytes = object_bytes.saturating_add(operation.weight_bytes());
        }
        if exceeds_pending_limits(edits + 1, bytes, object_bytes) {
            return Err(LiveError::TooManyPending { edits, bytes, object_bytes });
        }
        Ok(())
    }

    /// Returns the cells of a rectangle, including pending edits. The cells are those of the sheet
    /// named `sheet`, or of the first sheet if `sheet` is `None`. Chunks that are not cached are
    /// downloaded.
    ///
    /// # Errors
    ///
    /// Returns [`LiveError::Reader`] if the cells cannot be read, or [`LiveError::CannotRebase`] if
    /// the pending edits must be sent before they can be shown.
    pub async fn view(
        &mut self,
        sheet: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<CellsReply, LiveError> {
        self.rebased_view.check_rebased()?;
        self.rebased_view.install(&mut self.canonical);
        let read_result = self.canonical.readable.read_cells(&self.source, sheet, rectangle).await;
        if let Err(error) = &read_result
            && error.unreadable_object().is_some()
        {
            // The missing object was probably replaced by a newer snapshot, which the next sync
            // loads.
            self.canonical.is_stale = true;
        }
        Ok(read_result?)
    }

    /// Returns the sheets in tab order, including pending edits.
    #[must_use]
    pub fn sheets(&self) -> Vec<SheetView> {
        let metadata = self.rebased_view.metadata();
        let to_view = |sheet: &SheetId| {
            let name = metadata.tabs.name(*sheet)?.to_owned();
            let extent = metadata.sheets.get(sheet)?.extent;
            Some(SheetView { sheet: *sheet, name, extent })
        };
        metadata.tabs.order().iter().filter_map(to_view).collect()
    }

    /// Returns the names that formulas can use, in alphabetical order, with the unsent edits.
    #[must_use]
    pub fn names(&self) -> Vec<NameView> {
        NameView::of(self.rebased_view.metadata())
    }

    /// Returns a number for a new sheet. It is greater than all sheet numbers that were ever used
    /// in the spreadsheet.
    #[must_use]
    pub fn next_sheet(&self) -> SheetId {
        self.rebased_view.metadata().tabs.next_sheet()
    }

    async fn save_and_rebase(&mut self) -> Result<(), FileError> {
        self.outbox_state.seen = self.canonical.position();
        self.canonical.update_disk_cache(&self.outbox);
        self.outbox.write(&self.outbox_state)?;
        self.outbox.delete_unreferenced_bodies(&self.outbox_state);
        self.rebase();
        if let Err(entries_needed) = self.rebased_view.check_rebased()
            && self.canonical.add_earlier_entries(&self.source, entries_needed.after).await
        {
            self.rebase();
        }
        Ok(())
    }

    fn rebase(&mut self) {
        self.rebased_view = RebasedView::new(&self.canonical, &self.own_entries, &self.pending);
    }
}

impl Spreadsheet {
    /// Opens the spreadsheet for editing, online or offline. Its state is stored in the client's
    /// folder.
    ///
    /// # Errors
    ///
    /// Returns [`LiveError::File`] if another process has opened the spreadsheet in this folder or
    /// a file cannot be used. Returns another [`LiveError`] if the spreadsheet cannot be loaded.
    pub async fn live(&self) -> Result<LiveSheet, LiveError> {
        LiveSheet::open(self.clone(), self.client().folder()?).await
    }
}

fn create_state(outbox: &Outbox, canonical: &CanonicalState) -> Result<OutboxState, FileError> {
    let state = OutboxState::new(
        outbox.key(),
        new_client_id(),
        canonical.incarnation(),
        canonical.position(),
    );
    outbox.write(&state)?;
    Ok(state)
}

fn exceeds_pending_limits(edit_count: usize, bytes: usize, object_bytes: usize) -> bool {
    edit_count > MAX_LIVE_PENDING
        || bytes > MAX_LIVE_PENDING_BYTES
        || object_bytes > MAX_LIVE_OBJECT_BYTES
}

/// Returns the maximum length if encoding fails, which never happens for plain data.
fn json_bytes(edits: &impl serde::Serialize) -> usize {
    serde_json::to_vec(edits).map_or(usize::MAX, |json| json.len())
}

/// Returns `None` if the token has no subject.
fn client_key(subject: Option<SubjectKey>, client_id: &str) -> Option<ClientKey> {
    ClientKey::derive(&subject?, client_id).ok()
}

/// Each stack and token subject has a separate outbox.
fn open_outbox(spreadsheet: Spreadsheet, dir: &Path) -> Outbox {
    Outbox::new(spreadsheet, &dir.join(STATE_FOLDER).join(FOLDER))
}

fn load_pending(outbox: &Outbox, state: &OutboxState) -> Result<Vec<PendingMutation>, FileError> {
    let mut pending_mutations = Vec::with_capacity(state.pending.len());
    for edit in &state.pending {
        let SentMutation { id, base, op } = outbox.load_mutation(edit)?;
        let object_bytes = edit.payload.object_bytes();
        pending_mutations.push(PendingMutation { id, base, operation: op, object_bytes });
    }
    Ok(pending_mutations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pending_limit_is_inclusive() {
        let (edits, bytes, objects) =
            (MAX_LIVE_PENDING, MAX_LIVE_PENDING_BYTES, MAX_LIVE_OBJECT_BYTES);
        assert!(!exceeds_pending_limits(edits, bytes, objects));
        assert!(exceeds_pending_limits(edits + 1, bytes, objects));
        assert!(exceeds_pending_limits(edits, bytes + 1, objects));
        assert!(exceeds_pending_limits(edits, bytes, objects + 1));
    }
}
