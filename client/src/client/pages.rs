//! Streams the items of lists that the server returns in pages.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use cellar_api::wire::{
    CellAt, CellsReply, ChangesReply, DiffReply, EntriesReply, EntryView, FeedReply, ForksReply,
    HistoryReply, SpreadsheetsReply,
};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::CellName;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};

use super::{CellsQuery, FeedQuery};
use crate::ClientError;

/// A stream of list items. Pages of items are requested as they are needed.
///
/// The type implements [`Stream`] and has the methods that most programs need:
///
/// ```no_run
/// # async fn example(client: cellar::Client) -> Result<(), cellar::ClientError> {
/// let mut spreadsheets = client.spreadsheets(cellar::SpreadsheetsQuery::default());
/// while let Some(spreadsheet) = spreadsheets.try_next().await? {
///     println!("{} {}", spreadsheet.id, spreadsheet.name);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream sends no request until it is read"]
pub struct ItemStream<T> {
    items: BoxStream<'static, Result<T, ClientError>>,
}

impl<T: Send + 'static> ItemStream<T> {
    pub(crate) fn new(items: impl Stream<Item = Result<T, ClientError>> + Send + 'static) -> Self {
        Self { items: items.boxed() }
    }

    /// Returns the next item, or `None` at the end of the stream. An error ends the stream. Cancel
    /// safe.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if a request fails.
    pub async fn try_next(&mut self) -> Result<Option<T>, ClientError> {
        self.items.try_next().await
    }

    /// Returns all remaining items.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if a request fails.
    pub async fn collect(self) -> Result<Vec<T>, ClientError> {
        self.items.try_collect().await
    }

    pub(super) fn into_items<Item: Send + 'static>(
        self,
        page_items: fn(T) -> Vec<Item>,
    ) -> ItemStream<Item> {
        let items_of_page = move |page: T| stream::iter(page_items(page).into_iter().map(Ok));
        ItemStream::new(self.items.map_ok(items_of_page).try_flatten())
    }
}

impl<T> Stream for ItemStream<T> {
    type Item = Result<T, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.items.poll_next_unpin(context)
    }
}

impl<T> fmt::Debug for ItemStream<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ItemStream").finish_non_exhaustive()
    }
}

pub(crate) trait Page: Send + 'static {
    /// Identifies the place in the list at which a page starts.
    type Cursor: Clone + fmt::Display + Send + 'static;

    /// Returns `None` for the last page.
    fn next_cursor(&self) -> Option<Self::Cursor>;

    /// Returns whether the items of the page are after `start`, and whether the next page is after
    /// all of them. `start` is `None` for the first page of the list.
    fn advances(&self, start: Option<&Self::Cursor>) -> bool;
}

/// Every reader of pages must check each page. Otherwise, it would request the same pages forever,
/// or skip items without notice.
pub(crate) fn check_advances<P: Page>(
    page: &P,
    start: Option<&P::Cursor>,
    url: &str,
) -> Result<(), ClientError> {
    if page.advances(start) {
        return Ok(());
    }
    let start = start.map_or_else(|| "the start".to_owned(), ToString::to_string);
    Err(ClientError::BrokenList { url: url.to_owned(), start })
}

enum NextRequest<Cursor> {
    /// Request the page at this cursor, or the first page if there is no cursor.
    Page(Option<Cursor>),
    Nothing,
}

/// Starts at the first page if `start` is `None`. The stream fails at a page that does not advance.
pub(super) fn read_pages<S, P, Fetch, Fetched>(
    url: &str,
    source: &S,
    start: Option<P::Cursor>,
    fetch_page: Fetch,
) -> ItemStream<P>
where
    S: Clone + Send + Sync + 'static,
    P: Page,
    Fetch: Fn(S, Option<P::Cursor>) -> Fetched + Send + Sync + 'static,
    Fetched: Future<Output = Result<P, ClientError>> + Send + 'static,
{
    let (url, source) = (url.to_owned(), source.clone());
    let fetch = Arc::new(move |cursor| fetch_page(source.clone(), cursor));
    ItemStream::new(stream::try_unfold(NextRequest::Page(start), move |request| {
        let (url, fetch) = (url.clone(), Arc::clone(&fetch));
        async move {
            let NextRequest::Page(cursor) = request else { return Ok(None) };
            let page = fetch(cursor.clone()).await?;
            check_advances(&page, cursor.as_ref(), &url)?;
            let next_request = match page.next_cursor() {
                Some(next) => NextRequest::Page(Some(next)),
                None => NextRequest::Nothing,
            };
            Ok(Some((page, next_request)))
        }
    }))
}

/// Implements [`Page`] for responses whose field `next` contains the cursor of the next page. A page
/// may be empty.
macro_rules! impl_page {
    ($($reply:ty, $cursor:ty, $order:tt;)*) => {
        $(impl Page for $reply {
            type Cursor = $cursor;

            fn next_cursor(&self) -> Option<$cursor> {
                self.next
            }

            fn advances(&self, start: Option<&$cursor>) -> bool {
                match (start, &self.next) {
                    (Some(start), Some(next)) => next $order start,
                    _ => true,
                }
            }
        })*
    };
}

impl_page! {
    SpreadsheetsReply, LogId, >;
    ForksReply, u64, >;
    DiffReply, u64, >;
    // Newest first.
    ChangesReply, u64, <;
}

/// Returns the positions of the first and the last entry of a page.
fn end_positions(entries: &[EntryView]) -> [Option<Position>; 2] {
    [entries.first(), entries.last()].map(|entry| entry.map(|entry| entry.position))
}

/// The entries after the cursor, which is the position of the last entry of the previous page.
impl Page for EntriesReply {
    type Cursor = Position;

    fn next_cursor(&self) -> Option<Position> {
        self.next
    }

    fn advances(&self, start: Option<&Position>) -> bool {
        let [first, last] = end_positions(&self.entries);
        let is_after_start = first.is_none() || first.as_ref() > start;
        is_after_start && (self.next.is_none() || self.next == last)
    }
}

/// The entries from the cursor on, newest first.
impl Page for HistoryReply {
    type Cursor = Position;

    fn next_cursor(&self) -> Option<Position> {
        self.next
    }

    fn advances(&self, start: Option<&Position>) -> bool {
        let [first, last] = end_positions(&self.entries);
        let is_from_start = start.is_none() || first.as_ref() <= start;
        is_from_start && (self.next.is_none() || self.next < last)
    }
}

/// All pages are read at the log position of the first page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellsCursor {
    pub(super) at: Option<Position>,
    pub(super) cursor: String,
}

impl fmt::Display for CellsCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.cursor)
    }
}

impl CellsCursor {
    /// Returns the cursor of the page after one that was read at `position`. `next` is the field of that
    /// page.
    pub(super) fn after_page(position: Position, next: Option<&String>) -> Option<Self> {
        Some(Self { at: Some(position), cursor: next?.clone() })
    }

    /// Returns `None` if the query starts at the first page.
    pub(super) fn of_query(query: &CellsQuery) -> Option<Self> {
        Some(Self { at: query.at, cursor: query.cursor.clone()? })
    }

    pub(super) fn query_page(first: &CellsQuery, cursor: Option<Self>) -> CellsQuery {
        let first = first.clone();
        match cursor {
            Some(Self { at, cursor }) => CellsQuery { at, cursor: Some(cursor), ..first },
            None => first,
        }
    }
}

impl Page for CellsReply {
    type Cursor = CellsCursor;

    fn next_cursor(&self) -> Option<CellsCursor> {
        CellsCursor::after_page(self.position, self.next.as_ref())
    }

    /// The cursor is the first cell of the next page. The cells are in row-major order.
    fn advances(&self, start: Option<&CellsCursor>) -> bool {
        let cell = |cell: &CellAt| CellName { row: cell.row, column: cell.column };
        let start = start.and_then(|start| start.cursor.parse::<CellName>().ok());
        let first = self.cells.first().map(cell);
        if first.is_some() && first < start {
            return false;
        }
        let Some(next) = &self.next else { return true };
        let last = self.cells.last().map(cell);
        last.is_some() && next.parse().is_ok_and(|next: CellName| Some(next) > last)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FeedCursor {
    generation: Option<String>,
    checkpoint: u64,
}

impl fmt::Display for FeedCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.checkpoint.fmt(formatter)
    }
}

impl FeedCursor {
    /// Returns `None` if the query starts at the beginning of the feed.
    pub(crate) fn of_query(query: &FeedQuery) -> Option<Self> {
        Some(Self { generation: query.generation.clone(), checkpoint: query.after? })
    }

    pub(super) fn query_page(first: &FeedQuery, cursor: Option<Self>) -> FeedQuery {
        let first = first.clone();
        match cursor {
            Some(Self { generation, checkpoint }) => {
                FeedQuery { after: Some(checkpoint), generation, ..first }
            }
            None => first,
        }
    }
}

impl Page for FeedReply {
    type Cursor = FeedCursor;

    fn next_cursor(&self) -> Option<FeedCursor> {
        if self.at_end {
            return None;
        }
        Some(FeedCursor { generation: self.generation.clone(), checkpoint: self.checkpoint })
    }

    fn advances(&self, start: Option<&FeedCursor>) -> bool {
        let start = start.map(|start| start.checkpoint);
        let first = self.items.first().map(|item| item.checkpoint);
        let last = self.items.last().map(|item| item.checkpoint);
        let is_after_start = first.is_none() || first > start;
        let next = Some(self.checkpoint);
        is_after_start && next >= last && (self.at_end || next > start)
    }
}

#[cfg(test)]
mod tests;
