//! Streams the items of lists that the server returns in pages.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use cellar_api::wire::{
    CellsReply, ChangesReply, DiffReply, EntriesReply, FeedReply, ForksReply, HistoryReply,
    SpreadsheetsReply,
};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
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

impl<T> std::fmt::Debug for ItemStream<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ItemStream").finish_non_exhaustive()
    }
}

pub(super) trait Page: Send + 'static {
    /// Identifies the place in the list at which a page starts.
    type Cursor: Clone + Send + 'static;

    fn next_cursor(&self) -> Option<Self::Cursor>;

    fn advances(&self, cursor: &Self::Cursor, next: &Self::Cursor) -> bool;
}

enum NextRequest<Cursor> {
    /// Request the page at this cursor, or the first page if there is no cursor.
    Page(Option<Cursor>),
    Nothing,
}

/// Starts at the first page if `start` is `None`. The stream fails if the server returns a cursor
/// that does not advance, because the stream would otherwise be infinite.
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
            let next_request = request_after(&page, cursor.as_ref(), &url)?;
            Ok(Some((page, next_request)))
        }
    }))
}

fn request_after<P: Page>(
    page: &P,
    cursor: Option<&P::Cursor>,
    url: &str,
) -> Result<NextRequest<P::Cursor>, ClientError> {
    let Some(next) = page.next_cursor() else { return Ok(NextRequest::Nothing) };
    if let Some(cursor) = cursor
        && !page.advances(cursor, &next)
    {
        let why = "the cursor `next` does not advance from page to page".to_owned();
        return Err(ClientError::NotUnderstood { url: url.to_owned(), why });
    }
    Ok(NextRequest::Page(Some(next)))
}

/// Implements [`Page`] for responses whose field `next` contains the cursor of the next page.
macro_rules! impl_page {
    ($($reply:ty, $cursor:ty, $order:tt;)*) => {
        $(impl Page for $reply {
            type Cursor = $cursor;

            fn next_cursor(&self) -> Option<$cursor> {
                self.next
            }

            fn advances(&self, cursor: &$cursor, next: &$cursor) -> bool {
                next $order cursor
            }
        })*
    };
}

impl_page! {
    SpreadsheetsReply, LogId, >;
    ForksReply, u64, >;
    DiffReply, u64, >;
    EntriesReply, Position, >;
    // Newest first.
    HistoryReply, Position, <;
    ChangesReply, u64, <;
}

/// All pages are read at the log position of the first page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellsCursor {
    at: Option<Position>,
    cursor: String,
}

impl CellsCursor {
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
        Some(CellsCursor { at: Some(self.position), cursor: self.next.clone()? })
    }

    fn advances(&self, cursor: &CellsCursor, next: &CellsCursor) -> bool {
        // The server's cursors for cells are opaque and cannot be compared. It is sufficient that
        // the cursor has changed and the page contains cells.
        next.cursor != cursor.cursor && !self.cells.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FeedCursor {
    generation: Option<String>,
    checkpoint: u64,
}

impl FeedCursor {
    /// Returns `None` if the query starts at the beginning of the feed.
    pub(super) fn of_query(query: &FeedQuery) -> Option<Self> {
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

    fn advances(&self, cursor: &FeedCursor, next: &FeedCursor) -> bool {
        next.checkpoint > cursor.checkpoint
    }
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ForkView;

    use super::*;

    fn view(number: u8) -> ForkView {
        ForkView {
            id: LogId::from_uuid(uuid::Uuid::from_bytes([number; 16])),
            position: Position::FIRST,
            created_s: u64::from(number),
            author: None,
        }
    }

    /// Lists forks from a fake server, whose pages have the given `next` cursors. Returns the
    /// creation times of the forks and the number of requests.
    async fn forks_of(next: &'static [Option<u64>]) -> (Result<Vec<u64>, ClientError>, u64) {
        let requests = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let counted = std::sync::Arc::clone(&requests);
        let pages = read_pages("http://h", &(), None, move |(), _: Option<u64>| {
            let index = counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let index = usize::try_from(index).unwrap();
            let number = u8::try_from(index).unwrap();
            async move { Ok(ForksReply { forks: vec![view(number)], next: next[index] }) }
        });
        let forks = pages.into_items(|page| page.forks).collect().await;
        let times = forks.map(|forks| forks.into_iter().map(|fork| fork.created_s).collect());
        (times, requests.load(std::sync::atomic::Ordering::Relaxed))
    }

    #[tokio::test]
    async fn reads_all_pages_in_order() {
        let (forks, requests) = forks_of(&[Some(1), Some(7), None]).await;
        assert_eq!((forks.unwrap(), requests), (vec![0, 1, 2], 3));
    }

    #[tokio::test]
    async fn a_cursor_that_does_not_advance_is_an_error() {
        for next in [&[Some(5), Some(5), None], &[Some(5), Some(4), None]] {
            let (forks, requests) = forks_of(next).await;
            assert!(matches!(forks, Err(ClientError::NotUnderstood { .. })), "{forks:?}");
            assert_eq!(requests, 2);
        }
    }

    #[test]
    fn history_and_changes_advance_to_older_positions() {
        let position = |number| Position::new(0, number).unwrap();
        let page = HistoryReply { entries: Vec::new(), next: Some(position(3)) };
        assert!(page.advances(&position(4), &position(3)));
        assert!(!page.advances(&position(3), &position(3)));
        let page = EntriesReply {
            head: position(9),
            incarnation: 0,
            entries: Vec::new(),
            next: Some(position(3)),
        };
        assert!(page.advances(&position(2), &position(3)));
        assert!(!page.advances(&position(4), &position(3)));
    }
}
