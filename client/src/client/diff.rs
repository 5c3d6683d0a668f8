//! Compares a spreadsheet at two positions.

use cellar_api::wire::DiffReply;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::workbook::SheetDiff;
use reqwest::Method;

use super::{Client, spreadsheet};
use crate::ClientError;

impl Client {
    /// `GET /v1/spreadsheets/{id}/diff`: compares the spreadsheet at two positions. Fetches all
    /// pages and merges them.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn diff(
        &self,
        id: LogId,
        from: Position,
        to: Position,
    ) -> Result<DiffReply, ClientError> {
        let mut diff = self.diff_page(id, from, to, None).await?;
        while let Some(cursor) = diff.next.take() {
            let page = self.diff_page(id, from, to, Some(cursor)).await?;
            // Guard against an endless loop if the server returns a bad cursor.
            if page.next.is_some_and(|next| next <= cursor) {
                let url = self.url().to_owned();
                let why = "`next` does not increase from page to page".to_owned();
                return Err(ClientError::NotUnderstood { url, why });
            }
            diff.next = page.next;
            for sheet in page.sheets {
                merge_sheet(&mut diff.sheets, sheet);
            }
        }
        Ok(diff)
    }

    async fn diff_page(
        &self,
        id: LogId,
        from: Position,
        to: Position,
        cursor: Option<u64>,
    ) -> Result<DiffReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("diff"))
            .with_position("from", Some(from))
            .with_position("to", Some(to))
            .with_text("cursor", cursor.map(|cursor| cursor.to_string()));
        self.transport.send(call).await
    }
}

/// Merges the next page into a sheet's diff. Each page contains every sheet, but only some of the
/// cells.
fn merge_sheet(sheets: &mut Vec<SheetDiff>, page: SheetDiff) {
    match sheets.iter_mut().find(|sheet| sheet.sheet == page.sheet) {
        Some(sheet) => {
            sheet.cells.extend(page.cells);
            sheet.deleted_cells.extend(page.deleted_cells);
        }
        None => sheets.push(page),
    }
}
