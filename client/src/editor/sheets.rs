//! Finds the number of a sheet. The number of a sheet does not change when it is renamed or moved.

use cellar_api::{wire::ProblemKind, wire::SheetView, wire::SheetsReply};
use cellar_sheet::operation::SheetId;

use super::{Editor, EditorError};
#[cfg(feature = "cli")]
use crate::files::FileError;
use crate::outbox::{OutboxState, new_client_id};
use crate::sheet_deletion::{find_sheet, list_sheet_names};
use crate::text::escape;

impl Editor {
    /// Returns the sheets at the newest position that was read or edited, which will be the base of
    /// the next edit.
    ///
    /// # Errors
    ///
    /// Returns an [`EditorError`] if a request fails or a local file cannot be used.
    pub async fn sheets(&self) -> Result<SheetsReply, EditorError> {
        let lock = self.outbox.lock().await?;
        let mut state = self.load_or_create_state().await?;
        match self.outbox.spreadsheet.sheets_at(state.seen).await {
            Ok(sheets) => {
                let first = first_sheet(&sheets);
                let (position, incarnation) = (sheets.position, sheets.incarnation);
                let has_one_sheet = sheets.sheets.len() == 1;
                let is_news = state.record_seen(position, incarnation, first, new_client_id());
                if is_news || state.has_one_sheet != has_one_sheet {
                    state.has_one_sheet = has_one_sheet;
                    self.outbox.write(&state)?;
                }
                Ok(sheets)
            }
            // If the tables were restored to an earlier time, the position no longer exists.
            Err(error) if is_position_missing(error.problem_kind()) => {
                drop(lock);
                self.newest_sheets().await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The newest position becomes the base of the next edit.
    pub(super) async fn newest_sheets(&self) -> Result<SheetsReply, EditorError> {
        let _lock = self.outbox.lock().await?;
        let mut state = self.load_or_create_state().await?;
        let sheets = self.outbox.spreadsheet.sheets().await?;
        let first = first_sheet(&sheets);
        state.record_seen(sheets.position, sheets.incarnation, first, new_client_id());
        state.has_one_sheet = sheets.sheets.len() == 1;
        self.outbox.write(&state)?;
        Ok(sheets)
    }

    /// Returns the number of the sheet named `name` (case-insensitive), or of the first sheet if
    /// `name` is `None`. If the number is stored on disk, no request is sent.
    ///
    /// # Errors
    ///
    /// Returns [`EditorError::UnknownSheet`] if the sheet does not exist, or another variant if a
    /// request fails or a local file cannot be used.
    pub async fn sheet(&self, name: Option<&str>) -> Result<SheetId, EditorError> {
        let Some(name) = name else {
            return self.first_sheet().await;
        };
        let sheets = self.sheets().await?;
        if let Some(found) = find_sheet(&sheets.sheets, name) {
            return Ok(found.sheet);
        }
        // The sheet may have been added after the position that was read last.
        let newest = self.newest_sheets().await?.sheets;
        match find_sheet(&newest, name) {
            Some(found) => Ok(found.sheet),
            None => Err(unknown_sheet(&newest, name)),
        }
    }

    /// Returns whether the spreadsheet is known to have only one sheet. Sends no request.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the state cannot be read.
    #[cfg(feature = "cli")]
    pub(crate) fn has_one_sheet(&self) -> Result<bool, FileError> {
        Ok(self.outbox.read()?.is_some_and(|state| state.has_one_sheet))
    }

    async fn first_sheet(&self) -> Result<SheetId, EditorError> {
        if let Some(saved_first_sheet) = self.load_or_save_new_state().await?.first_sheet {
            return Ok(saved_first_sheet);
        }
        let sheets = self.sheets().await?;
        first_sheet(&sheets).ok_or_else(|| unknown_sheet(&sheets.sheets, "the first"))
    }

    /// A new state is saved, so that the request for the newest position is not repeated.
    async fn load_or_save_new_state(&self) -> Result<OutboxState, EditorError> {
        let _lock = self.outbox.lock().await?;
        let is_new = self.outbox.read()?.is_none();
        let state = self.load_or_create_state().await?;
        if is_new {
            self.outbox.write(&state)?;
        }
        Ok(state)
    }
}

fn is_position_missing(kind: Option<ProblemKind>) -> bool {
    matches!(kind, Some(ProblemKind::ReloadRequired | ProblemKind::UnknownPosition))
}

fn first_sheet(sheets: &SheetsReply) -> Option<SheetId> {
    sheets.sheets.first().map(|first| first.sheet)
}

fn unknown_sheet(sheets: &[SheetView], name: &str) -> EditorError {
    EditorError::UnknownSheet { name: escape(name), sheets: list_sheet_names(sheets) }
}
