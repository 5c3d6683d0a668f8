//! Compares a spreadsheet at two positions.

use cellar_api::wire::DiffReply;
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
        let mut pages =
            read_pages(self.client.url(), self, None, move |spreadsheet, cursor| async move {
                spreadsheet.diff_page(from, to, cursor).await
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
        from: Position,
        to: Position,
        cursor: Option<u64>,
    ) -> Result<DiffReply, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("diff")
            .with_position("from", Some(from))
            .with_position("to", Some(to))
            .with_text("cursor", cursor.map(|cursor| cursor.to_string()));
        self.client.transport.send(call).await
    }
}

/// Every page lists the sheet, but contains only some of its changed cells.
fn add_changed_cells(merged_sheets: &mut Vec<SheetDiff>, on_page: SheetDiff) {
    match merged_sheets.iter_mut().find(|merged| merged.sheet == on_page.sheet) {
        Some(merged) => {
            merged.cells.extend(on_page.cells);
            merged.deleted_cells.extend(on_page.deleted_cells);
        }
        None => merged_sheets.push(on_page),
    }
}
