//! Which sheet an edit is about: by its number, which stays when it is renamed or moved.

use cellar_api::{wire::ProblemKind, wire::SheetView, wire::SheetsReply};
use cellar_sheet::operation::SheetId;

use super::{Editor, EditorError};
use crate::outbox::new_name;
use crate::sheet_loss::{find_sheet, listed_sheets};
use crate::table::escape;

impl Editor {
    /// The sheets at the base of the next edit: what was last seen of the spreadsheet.
    ///
    /// # Errors
    /// [`EditorError`].
    pub async fn sheets(&self) -> Result<SheetsReply, EditorError> {
        let _lock = self.outbox.lock().await?;
        let mut state = self.load_or_begin().await?;
        match self.outbox.client.sheets(self.outbox.spreadsheet, Some(state.seen), None).await {
            Ok(sheets)
                if state.saw(sheets.position, sheets.incarnation, first(&sheets), new_name()) =>
            {
                self.outbox.write(&state)?;
                Ok(sheets)
            }
            Ok(sheets) => Ok(sheets),
            // Restored to before it: the next edit begins anew.
            Err(error) if is_gone(error.problem_kind()) => {
                drop(_lock);
                self.newest_sheets().await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The newest sheets; they are the base of the next edit from now on.
    async fn newest_sheets(&self) -> Result<SheetsReply, EditorError> {
        let _lock = self.outbox.lock().await?;
        let mut state = self.load_or_begin().await?;
        let sheets = self.outbox.client.sheets(self.outbox.spreadsheet, None, None).await?;
        state.saw(sheets.position, sheets.incarnation, first(&sheets), new_name());
        self.outbox.write(&state)?;
        Ok(sheets)
    }

    /// The number of the sheet with a name, whatever the case of its letters; of the first sheet
    /// without one. Asks the server only if it has to.
    ///
    /// # Errors
    /// [`EditorError::UnknownSheet`], or what kept it from being found.
    pub async fn sheet(&self, name: Option<&str>) -> Result<SheetId, EditorError> {
        let Some(name) = name else {
            return self.first_sheet().await;
        };
        let sheets = self.sheets().await?;
        if let Some(found) = find_sheet(&sheets.sheets, name) {
            return Ok(found.sheet);
        }
        // It may be newer than what was seen.
        let sheets = self.newest_sheets().await?;
        let sheets = &sheets.sheets;
        find_sheet(sheets, name).map(|found| found.sheet).ok_or_else(|| unknown(sheets, name))
    }

    async fn first_sheet(&self) -> Result<SheetId, EditorError> {
        {
            let _lock = self.outbox.lock().await?;
            let is_new = self.outbox.read()?.is_none();
            let state = self.load_or_begin().await?;
            if is_new {
                // What was asked for it is not asked for again.
                self.outbox.write(&state)?;
            }
            if let Some(first) = state.first_sheet {
                return Ok(first);
            }
        }
        let sheets = self.sheets().await?;
        first(&sheets).ok_or_else(|| unknown(&sheets.sheets, "the first"))
    }
}

fn is_gone(kind: Option<ProblemKind>) -> bool {
    matches!(kind, Some(ProblemKind::ReloadRequired | ProblemKind::UnknownPosition))
}

fn first(sheets: &SheetsReply) -> Option<SheetId> {
    sheets.sheets.first().map(|first| first.sheet)
}

fn unknown(sheets: &[SheetView], name: &str) -> EditorError {
    EditorError::UnknownSheet { name: escape(name), sheets: listed_sheets(sheets) }
}
