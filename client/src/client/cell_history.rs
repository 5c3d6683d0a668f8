//! Reads the history of cells.

use cellar_api::wire::{CellHistoryCursor, CellHistoryEntry, CellHistoryReply};
use cellar_base::position::Position;
use reqwest::Method;

use super::Spreadsheet;
use super::pages::{ItemStream, Page, read_pages};
use crate::ClientError;

/// Selects the cells and changes of [`Spreadsheet::cell_history`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CellHistoryQuery {
    /// Sheet name. If `None`, the sheet of the range or the first sheet.
    pub sheet: Option<String>,
    /// Range in A1 notation. If `None`, the whole sheet.
    pub range: Option<String>,
    /// Position of the newest entry, at which the sheet and range are named. If `None`, the newest
    /// position.
    pub until: Option<Position>,
    /// Only changes after this position.
    pub since: Option<Position>,
    /// Only changes by this author.
    pub author: Option<String>,
    /// Maximum number of entries with changes per page.
    pub limit: Option<u32>,
}

impl CellHistoryQuery {
    /// Creates a query for a cell or range in A1 notation, such as `B2`.
    #[must_use]
    pub fn of_range(range: impl Into<String>) -> Self {
        Self { range: Some(range.into()), ..Self::default() }
    }

    /// Creates a query for the sheet with the given name.
    #[must_use]
    pub fn of_sheet(name: impl Into<String>) -> Self {
        Self { sheet: Some(name.into()), ..Self::default() }
    }

    /// Selects the changes after a position.
    #[must_use]
    pub fn since(self, position: Position) -> Self {
        Self { since: Some(position), ..self }
    }

    /// Selects the changes by an author.
    #[must_use]
    pub fn by(self, author: impl Into<String>) -> Self {
        Self { author: Some(author.into()), ..self }
    }
}

impl Spreadsheet {
    /// Returns the changes of some cells, newest first, with their old and new contents. The cells are
    /// followed back through inserted and deleted rows and columns.
    pub fn cell_history(&self, query: CellHistoryQuery) -> ItemStream<CellHistoryEntry> {
        self.cell_history_pages(query).into_items(|page| page.changes)
    }

    pub(crate) fn cell_history_pages(
        &self,
        query: CellHistoryQuery,
    ) -> ItemStream<CellHistoryReply> {
        read_pages(self.client.url(), self, None, move |spreadsheet, cursor| {
            let query = query.clone();
            async move { spreadsheet.cell_history_page(&query, cursor).await }
        })
    }

    /// Returns one page of the changes of some cells
    /// (`GET /v1/spreadsheets/{id}/cells/history`). `cursor` is the `next` of the previous page. A
    /// page may be empty even if it is not the last one.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn cell_history_page(
        &self,
        query: &CellHistoryQuery,
        cursor: Option<String>,
    ) -> Result<CellHistoryReply, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("cells")
            .with_segment("history")
            .with_text("sheet", query.sheet.clone())
            .with_text("range", query.range.clone())
            .with_position("until", query.until)
            .with_position("since", query.since)
            .with_text("author", query.author.clone())
            .with_text("limit", query.limit.map(|limit| limit.to_string()))
            .with_text("cursor", cursor);
        self.client.transport.send(call).await
    }
}

/// The changes from the entry of the cursor on, newest first.
impl Page for CellHistoryReply {
    type Cursor = String;

    fn next_cursor(&self) -> Option<String> {
        self.next.clone()
    }

    fn advances(&self, start: Option<&String>) -> bool {
        let position = |cursor: &String| {
            cursor.parse::<CellHistoryCursor>().ok().map(|cursor| cursor.position)
        };
        let start = start.and_then(position);
        let [first, last] = [self.changes.first(), self.changes.last()]
            .map(|change| change.map(|change| change.position));
        let is_from_start = start.is_none() || first <= start;
        let Some(next) = &self.next else { return is_from_start };
        let Some(next) = position(next) else { return false };
        let is_before = |other: Option<Position>| other.is_none_or(|other| next < other);
        is_from_start && is_before(start) && is_before(last)
    }
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellHistoryChange;
    use cellar_sheet::operation::SheetId;

    use super::*;

    fn page(numbers: &[u32], next: Option<u32>) -> CellHistoryReply {
        let change = |number: &u32| CellHistoryEntry {
            position: Position::new(0, *number).unwrap(),
            created_s: 0,
            author: None,
            merged: None,
            sheet: SheetId::FIRST,
            name: "Sheet1".into(),
            change: CellHistoryChange::SheetAdded,
            recovered: None,
        };
        let next = next.map(cursor);
        CellHistoryReply { changes: numbers.iter().map(change).collect(), truncated: false, next }
    }

    fn cursor(number: u32) -> String {
        format!("{number}~0~0-1~0-1")
    }

    #[test]
    fn a_page_must_be_older_than_the_preceding_one() {
        let start = Some(cursor(9));
        for good in [page(&[], None), page(&[9, 9, 4], Some(3)), page(&[], Some(8))] {
            assert!(good.advances(start.as_ref()), "{good:?}");
        }
        let garbled = CellHistoryReply { next: Some("x".into()), ..page(&[], None) };
        for bad in [page(&[10], None), page(&[9, 4], Some(4)), page(&[], Some(9)), garbled] {
            assert!(!bad.advances(start.as_ref()), "{bad:?}");
        }
    }
}
