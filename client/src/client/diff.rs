//! What differs between two positions, all pages of it.

use cellar_api::wire::DiffReply;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::workbook::SheetDiff;
use reqwest::Method;

use super::{Client, spreadsheet};
use crate::ClientError;

impl Client {
    /// `GET /v1/spreadsheets/{id}/diff`: what differs between the states at two positions, every
    /// page of it in one.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn diff(
        &self,
        id: LogId,
        from: Position,
        to: Position,
    ) -> Result<DiffReply, ClientError> {
        let mut whole = self.diff_page(id, from, to, 0).await?;
        while let Some(skip) = whole.next.take() {
            let page = self.diff_page(id, from, to, skip).await?;
            // A page that does not go on would be asked for again for ever.
            if page.next.is_some_and(|next| next <= skip) {
                let (url, why) = (self.url().to_owned(), "its pages do not go on".to_owned());
                return Err(ClientError::NotUnderstood { url, why });
            }
            whole.next = page.next;
            page.sheets.into_iter().for_each(|sheet| add(&mut whole.sheets, sheet));
        }
        Ok(whole)
    }

    async fn diff_page(
        &self,
        id: LogId,
        from: Position,
        to: Position,
        skip: u64,
    ) -> Result<DiffReply, ClientError> {
        let call = spreadsheet(Method::GET, id, Some("diff"))
            .with_position("from", Some(from))
            .with_position("to", Some(to))
            .with_text("cursor", (skip > 0).then(|| skip.to_string()));
        self.transport.send(call).await
    }
}

/// Every page names every sheet; the cells are what is cut.
fn add(sheets: &mut Vec<SheetDiff>, page: SheetDiff) {
    match sheets.iter_mut().find(|sheet| sheet.sheet == page.sheet) {
        Some(sheet) => {
            sheet.cells.extend(page.cells);
            sheet.deleted_cells.extend(page.deleted_cells);
        }
        None => sheets.push(page),
    }
}
