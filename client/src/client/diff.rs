//! Compares a spreadsheet at two positions, or with another one that shares its history.

use cellar_api::wire::DiffReply;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::workbook::SheetDiff;
use reqwest::Method;

use super::Spreadsheet;
use super::pages::read_pages;
use crate::ClientError;

impl Spreadsheet {
    /// Compares the spreadsheet at two positions (`GET /v1/spreadsheets/{id}/diff`). Requests all
    /// pages of the comparison and merges them.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn diff(&self, from: Position, to: Position) -> Result<DiffReply, ClientError> {
        self.diff_pages(None, from, to).await
    }

    /// Compares a position of this spreadsheet with a position of another one that shares its
    /// history, such as its source (`GET /v1/spreadsheets/{id}/diff/{other_id}`). Requests all pages
    /// of the comparison and merges them.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if a request fails, or if the spreadsheets share no history.
    pub async fn diff_with(
        &self,
        from: Position,
        other: LogId,
        to: Position,
    ) -> Result<DiffReply, ClientError> {
        self.diff_pages(Some(other), from, to).await
    }

    /// Without `other`, both positions are of this spreadsheet.
    async fn diff_pages(
        &self,
        other: Option<LogId>,
        from: Position,
        to: Position,
    ) -> Result<DiffReply, ClientError> {
        let mut pages =
            read_pages(self.client.url(), self, None, move |spreadsheet, cursor| async move {
                spreadsheet.diff_page(other, from, to, cursor).await
            });
        let Some(mut diff) = pages.try_next().await? else {
            return Err(self.client.unexpected_reply("the comparison has no pages"));
        };
        while let Some(page) = pages.try_next().await? {
            diff.next = page.next;
            for sheet in page.sheets {
                add_changed_cells(&mut diff.sheets, sheet);
            }
        }
        Ok(diff)
    }

    async fn diff_page(
        &self,
        other: Option<LogId>,
        from: Position,
        to: Position,
        cursor: Option<u64>,
    ) -> Result<DiffReply, ClientError> {
        let call = self.call(Method::GET).with_segment("diff");
        let call = match other {
            Some(other) => call.with_segment(&other.to_string()),
            None => call,
        };
        let call = call
            .with_position("from", Some(from))
            .with_position("to", Some(to))
            .with_text("cursor", cursor.map(|cursor| cursor.to_string()));
        self.client.transport.send(call).await
    }
}

/// Every page lists the sheet, but contains only some of its changed cells.
fn add_changed_cells(merged_sheets: &mut Vec<SheetDiff>, on_page: SheetDiff) {
    // Two spreadsheets may each have a new sheet with the same number.
    let is_same =
        |merged: &&mut SheetDiff| (merged.sheet, merged.change) == (on_page.sheet, on_page.change);
    match merged_sheets.iter_mut().find(is_same) {
        Some(merged) => {
            merged.cells.extend(on_page.cells);
            merged.deleted_cells.extend(on_page.deleted_cells);
        }
        None => merged_sheets.push(on_page),
    }
}
