//! A handle to a spreadsheet, with the requests that read the spreadsheet's log and cells.

use std::sync::{Arc, Mutex, PoisonError};

use cellar_api::wire::{
    AppendReply, AppendRequest, CellAt, CellsReply, EntriesReply, EntryView, ForkReply,
    ForkRequest, ForkView, ForksReply, Head, HistoryReply, LoadReply, SheetsReply, StatsReply,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use reqwest::Method;

use super::pages::{CellsCursor, ItemStream, read_pages};
use super::transport::Call;
use super::{CellsQuery, Client};
use crate::ClientError;

/// HTTP status of the response if the request's `If-None-Match` header contains the current ETag.
const NOT_MODIFIED: u16 = 304;

/// A handle to one spreadsheet. Cheap to clone.
///
/// The names of methods that return a single page of a list end in `_page`. Other list methods
/// return an [`ItemStream`], which requests pages as they are needed.
#[derive(Debug, Clone)]
pub struct Spreadsheet {
    pub(super) client: Client,
    id: LogId,
    /// Shared by the clones of this handle.
    last_seen: Arc<Mutex<LastSeen>>,
}

/// The most recent use of a handle, which determines the base of the next edit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum LastSeen {
    /// The program has read and edited nothing through the handle.
    #[default]
    Nothing,
    /// The program has read cells or sheets at this head. The next edit is based on it.
    Read(Head),
    /// The program has edited the spreadsheet. The editor's state contains the position of the
    /// edit.
    Edited,
}

impl Client {
    /// Returns a handle to a spreadsheet. Sends no request. If the id does not exist, the first
    /// request fails.
    #[must_use]
    pub fn spreadsheet(&self, id: LogId) -> Spreadsheet {
        Spreadsheet { client: self.clone(), id, last_seen: Arc::default() }
    }
}

impl Spreadsheet {
    /// Returns the spreadsheet's id, which never changes.
    #[must_use]
    pub fn id(&self) -> LogId {
        self.id
    }

    /// Returns the client that sends all requests of this handle.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn last_seen(&self) -> LastSeen {
        *self.last_seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_last_seen(&self, last_seen: LastSeen) {
        *self.last_seen.lock().unwrap_or_else(PoisonError::into_inner) = last_seen;
    }

    /// Records that the program has read the newest state, which was at `position`.
    fn record_read(&self, position: Position, incarnation: u32) {
        self.set_last_seen(LastSeen::Read(Head { head: position, incarnation }));
    }

    /// Builds a call to `/v1/spreadsheets/{id}`.
    pub(super) fn call(&self, method: Method) -> Call {
        Call::new(method, &["v1", "spreadsheets", &self.id.to_string()])
    }

    /// Returns the cells of a sheet or range at one position, in row-major order.
    ///
    /// The first page determines the position. Later edits do not affect the other pages.
    pub fn cells(&self, query: CellsQuery) -> ItemStream<CellAt> {
        self.cell_pages(query).into_items(|page| page.cells)
    }

    /// Reads all cells of a sheet or range at one position.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if a request fails.
    pub async fn read_cells(&self, query: CellsQuery) -> Result<CellsReply, ClientError> {
        let mut pages = self.cell_pages(query);
        let Some(mut reply) = pages.try_next().await? else {
            return Err(self.client.unexpected_reply("the response has no pages"));
        };
        while let Some(page) = pages.try_next().await? {
            reply.cells.extend(page.cells);
            reply.next = page.next;
        }
        Ok(reply)
    }

    /// Like [`Spreadsheet::cells`], but returns whole pages. A page also contains the position, the
    /// sheet and the sheet's formats.
    pub fn cell_pages(&self, query: CellsQuery) -> ItemStream<CellsReply> {
        let spreadsheet = self.clone();
        read_pages(self.client.url(), CellsCursor::of_query(&query), move |cursor| {
            let spreadsheet = spreadsheet.clone();
            let query = CellsCursor::query_page(&query, cursor);
            async move { spreadsheet.cells_page(&query).await }
        })
    }

    /// Returns the log entries up to and including `until`, newest first. If `until` is `None`,
    /// starts at the newest position.
    pub fn history(&self, until: Option<Position>) -> ItemStream<EntryView> {
        self.history_pages(until, None).into_items(|page| page.entries)
    }

    /// Like [`Spreadsheet::history`], but requests pages of maximum size. Used by callers that read
    /// many entries.
    pub(crate) fn long_history(&self, until: Option<Position>) -> ItemStream<EntryView> {
        self.history_pages(until, Some(MAX_PAGE_ENTRIES)).into_items(|page| page.entries)
    }

    /// Like [`Spreadsheet::history`], but returns whole pages of up to `page_size` entries.
    pub(crate) fn history_pages(
        &self,
        until: Option<Position>,
        page_size: Option<u32>,
    ) -> ItemStream<HistoryReply> {
        let spreadsheet = self.clone();
        read_pages(self.client.url(), until, move |until| {
            let spreadsheet = spreadsheet.clone();
            async move { spreadsheet.history_page(until, page_size).await }
        })
    }

    /// Returns the log entries after a position, oldest first, up to the newest entry. To wait for
    /// further entries, use [`Spreadsheet::follow`].
    pub fn entries(&self, after: Position) -> ItemStream<EntryView> {
        self.entry_pages(after).into_items(|page| page.entries)
    }

    /// Like [`Spreadsheet::entries`], but returns whole pages.
    pub(crate) fn entry_pages(&self, after: Position) -> ItemStream<EntriesReply> {
        let spreadsheet = self.clone();
        read_pages(self.client.url(), Some(after), move |cursor| {
            let spreadsheet = spreadsheet.clone();
            async move { spreadsheet.entries_page(cursor.unwrap_or(after)).await }
        })
    }

    /// Returns the spreadsheet's forks, oldest first.
    pub fn forks(&self) -> ItemStream<ForkView> {
        let spreadsheet = self.clone();
        let pages = read_pages(self.client.url(), None, move |cursor| {
            let spreadsheet = spreadsheet.clone();
            async move { spreadsheet.forks_page(cursor).await }
        });
        pages.into_items(|page: ForksReply| page.forks)
    }

    /// Forks a spreadsheet (`POST /v1/spreadsheets/{id}/forks`). The nonce is an idempotency key: a
    /// request with a nonce that was already used returns the existing fork.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn fork(&self, request: &ForkRequest) -> Result<ForkReply, ClientError> {
        let call = self.call(Method::POST).with_segment("forks").with_body(request)?;
        self.client.transport.send(call).await
    }

    /// Returns one page of a spreadsheet's forks, oldest first (`GET /v1/spreadsheets/{id}/forks`).
    /// `cursor` is the `next` of the previous page.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn forks_page(&self, cursor: Option<u64>) -> Result<ForksReply, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("forks")
            .with_text("cursor", cursor.map(|cursor| cursor.to_string()));
        self.client.transport.send(call).await
    }

    /// Returns the newest snapshot root and the log entries after it (`GET /v1/spreadsheets/{id}`).
    /// The newest position in the response is at or after `min_position`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn load(&self, min_position: Option<Position>) -> Result<LoadReply, ClientError> {
        let call = self.call(Method::GET).with_position("min_position", min_position);
        self.client.transport.send(call).await
    }

    /// Returns the log entries after a position (`GET /v1/spreadsheets/{id}/entries`).
    ///
    /// # Errors
    /// Returns a [`ClientError`] if the request fails, in particular a problem of kind
    /// `ReloadRequired` if `after` is too old or, after a table restore, no longer exists.
    pub async fn entries_page(&self, after: Position) -> Result<EntriesReply, ClientError> {
        let call =
            self.call(Method::GET).with_segment("entries").with_position("after", Some(after));
        self.client.transport.send(call).await
    }

    /// Appends mutations (`POST /v1/spreadsheets/{id}/entries`). For edits that survive a client
    /// crash, use [`crate::editor`].
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. [`ClientError::certainly_not_done`] returns
    /// whether it is certain that the mutations were not appended.
    pub async fn append(&self, request: &AppendRequest) -> Result<AppendReply, ClientError> {
        let call = self.call(Method::POST).with_segment("entries").with_body(request)?;
        self.client.transport.send(call).await
    }

    /// Returns one page of cells at a position (`GET /v1/spreadsheets/{id}/cells`). To request the
    /// next page, set `at` to the `position` of the response and `cursor` to its `next`, or use
    /// [`Spreadsheet::cells`].
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails, in particular [`ClientError::NotUnderstood`]
    /// if the position of the response is not `at`.
    pub async fn cells_page(&self, query: &CellsQuery) -> Result<CellsReply, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("cells")
            .with_text("sheet", query.sheet.clone())
            .with_text("range", query.range.clone())
            .with_position("at", query.at)
            .with_text("cursor", query.cursor.clone())
            .with_position("min_position", query.min_position);
        let page: CellsReply = self.client.transport.send(call).await?;
        match query.at {
            Some(at) if at != page.position => {
                let why = format!("position {at} was requested, not {}", page.position);
                Err(self.client.unexpected_reply(why))
            }
            Some(_) => Ok(page),
            None => {
                self.record_read(page.position, page.incarnation);
                Ok(page)
            }
        }
    }

    /// Returns the newest position (`GET /v1/spreadsheets/{id}/head`).
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn head(&self) -> Result<Head, ClientError> {
        self.head_at_or_after(None).await
    }

    /// Like [`Spreadsheet::head`], but the result is at or after `min_position`, if there is one.
    /// For read-your-writes consistency, pass the position of your last write.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn head_at_or_after(
        &self,
        min_position: impl Into<Option<Position>>,
    ) -> Result<Head, ClientError> {
        let min_position = min_position.into();
        let call =
            self.call(Method::GET).with_segment("head").with_position("min_position", min_position);
        self.client.transport.send(call).await
    }

    /// Like [`Spreadsheet::head`], but returns `None` if `known` is still the newest position. This
    /// is the cheapest request for polling.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn head_if_changed(&self, known: Head) -> Result<Option<Head>, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("head")
            .with_position("min_position", Some(known.head))
            .if_none_match(known.etag());
        match self.client.transport.send::<Head>(call).await {
            Ok(head) if head == known => Ok(None),
            Ok(head) => Ok(Some(head)),
            Err(ClientError::UnexpectedStatus { status: NOT_MODIFIED, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns one page of log entries up to and including `until`, newest first
    /// (`GET /v1/spreadsheets/{id}/history`). If `until` is `None`, starts at the newest position.
    /// To request the next page, set `until` to the `next` of the previous page.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn history_page(
        &self,
        until: Option<Position>,
        limit: Option<u32>,
    ) -> Result<HistoryReply, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("history")
            .with_position("until", until)
            .with_text("limit", limit.map(|limit| limit.to_string()));
        self.client.transport.send(call).await
    }

    /// Returns the sheets in tab order at the newest position
    /// (`GET /v1/spreadsheets/{id}/sheets`).
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn sheets(&self) -> Result<SheetsReply, ClientError> {
        self.request_sheets(None, None).await
    }

    /// Returns the sheets in tab order at a position (`GET /v1/spreadsheets/{id}/sheets`).
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn sheets_at(&self, position: Position) -> Result<SheetsReply, ClientError> {
        self.request_sheets(Some(position), None).await
    }

    /// Like [`Spreadsheet::sheets`], but the newest position is at or after `min_position`, if there
    /// is one.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn sheets_at_or_after(
        &self,
        min_position: impl Into<Option<Position>>,
    ) -> Result<SheetsReply, ClientError> {
        self.request_sheets(None, min_position.into()).await
    }

    /// Requests the sheets at position `at` or, if `at` is `None`, at the newest position. The
    /// server's state is at or after `min_position`.
    pub(crate) async fn request_sheets(
        &self,
        at: Option<Position>,
        min_position: Option<Position>,
    ) -> Result<SheetsReply, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("sheets")
            .with_position("at", at)
            .with_position("min_position", min_position);
        let reply: SheetsReply = self.client.transport.send(call).await?;
        if at.is_none() {
            self.record_read(reply.position, reply.incarnation);
        }
        Ok(reply)
    }

    /// Returns the storage statistics and the cost of opening the spreadsheet
    /// (`GET /v1/spreadsheets/{id}/stats`), both at a position at or after `min_position`.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails.
    pub async fn stats(&self, min_position: Option<Position>) -> Result<StatsReply, ClientError> {
        let call = self
            .call(Method::GET)
            .with_segment("stats")
            .with_position("min_position", min_position);
        self.client.transport.send(call).await
    }
}
