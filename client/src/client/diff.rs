//! Compares a spreadsheet at two positions.

use cellar_api::wire::DiffReply;
use cellar_base::position::Position;
use cellar_sheet::workbook::SheetDiff;
use reqwest::Method;

use super::Spreadsheet;
use super::pages::read_pages;
use crate::ClientError;

impl Spreadsheet {
    /// Compares the spreadsheet at two positions (`GET /v1/spreadsheets/{id}/diff`). Fetches all
    /// pages and merges them.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn diff(&self, from: Position, to: Position) -> Result<DiffReply, ClientError> {
        let spreadsheet = self.clone();
        let mut pages = read_pages(self.client.url(), None, move |cursor| {
            let spreadsheet = spreadsheet.clone();
            async move { spreadsheet.diff_page(from, to, cursor).await }
        });
        let mut diff: Option<DiffReply> = None;
        while let Some(page) = pages.try_next().await? {
            match &mut diff {
                None => diff = Some(page),
                Some(diff) => {
                    diff.next = page.next;
                    page.sheets.into_iter().for_each(|sheet| merge_sheet(&mut diff.sheets, sheet));
                }
            }
        }
        diff.ok_or_else(|| ClientError::NotUnderstood {
            url: self.client.url().to_owned(),
            why: "the comparison has no pages".to_owned(),
        })
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

/// Merges the next page into a sheet's diff. Each page contains every sheet, but only some of the
/// changed cells.
fn merge_sheet(sheets: &mut Vec<SheetDiff>, page: SheetDiff) {
    match sheets.iter_mut().find(|sheet| sheet.sheet == page.sheet) {
        Some(sheet) => {
            sheet.cells.extend(page.cells);
            sheet.deleted_cells.extend(page.deleted_cells);
        }
        None => sheets.push(page),
    }
}
