//! A handle to a spreadsheet, with the requests that read the spreadsheet's log and cells.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use cellar_api::wire::{
    AppendReply, AppendRequest, CellAt, CellsReply, EntriesReply, EntryView, ForkReply,
    ForkRequest, ForkView, ForksReply, Head, HistoryReply, LoadReply, PositionOrTime, SheetsReply,
    StatsReply,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use reqwest::Method;

use super::pages::{CellsCursor, ItemStream, read_pages};
use super::transport::Call;
use super::{CellsQuery, Client};
use crate::ClientError;

/// HTTP status "Not Modified": the ETag in the request's `If-None-Match` header is still current.
const NOT_MODIFIED: u16 = 304;

/// A handle to a spreadsheet. It is cheap to clone.
///
/// Methods whose names end in `_page` return a single page of a list. All other methods for lists
/// return an [`ItemStream`], which requests pages when they are needed.
#[derive(Debug, Clone)]
pub struct Spreadsheet {
    pub(super) client: Client,
    id: LogId,
    /// Shared by the clones of this handle.
    last_seen: Arc<Mutex<LastSeen>>,
}

/// The last use of a handle by a program, which determines the base of the program's next edit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum LastSeen {
    #[default]
    Nothing,
    /// The program has read cells or sheets at this head, which becomes the base of its next edit.
    Read(Head),
    /// The program has edited the spreadsheet. The position of its edit is stored in the editor's
    /// state.
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

    /// Records that the program has read the newest state, which was the state at `position`.
    fn record_read(&self, position: Position, incarnation: u32) {
        self.set_last_seen(LastSeen::Read(Head { head: position, incarnation }));
    }

    /// Creates a request to a path below `/v1/spreadsheets/{id}`.
    pub(super) fn call(&self, method: Method) -> Call {
        Call::new(method, &["v1", "spreadsheets", &self.id.to_string()])
    }

    /// Returns the cells of a sheet or range in row-major order. All pages are read at the position
    /// of the first page, so later edits do not affect the result.
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

    /// Like [`Spreadsheet::cells`], but returns whole pages. Each page also contains the position,
    /// the sheet and its formats.
    pub fn cell_pages(&self, query: CellsQuery) -> ItemStream<CellsReply> {
        let start = CellsCursor::of_query(&query);
        read_pages(self.client.url(), self, start, move |spreadsheet, cursor| {
            let query = CellsCursor::query_page(&query, cursor);
            async move { spreadsheet.cells_page(&query).await }
        })
    }

    /// Returns the log entries up to and including `until`, newest first. If `until` is `None`,
    /// starts at the newest position.
    pub fn history(&self, until: Option<Position>) -> ItemStream<EntryView> {
        self.history_pages(until, None).into_items(|page| page.entries)
    }

    /// Requests the largest possible pages, for callers that read many entries.
    pub(crate) fn long_history(&self, until: Option<Position>) -> ItemStream<EntryView> {
        self.history_pages(until, Some(MAX_PAGE_ENTRIES)).into_items(|page| page.entries)
    }

    pub(crate) fn history_pages(
        &self,
        until: Option<Position>,
        page_size: Option<u32>,
    ) -> ItemStream<HistoryReply> {
        read_pages(self.client.url(), self, until, move |spreadsheet, until| async move {
            spreadsheet.history_page(until, page_size).await
        })
    }

    /// Returns the log entries after a position, oldest first, up to the newest entry. To wait for
    /// further entries, use [`Spreadsheet::follow`].
    pub fn entries(&self, after: Position) -> ItemStream<EntryView> {
        self.entry_pages(after).into_items(|page| page.entries)
    }

    pub(crate) fn entry_pages(&self, after: Position) -> ItemStream<EntriesReply> {
        read_pages(self.client.url(), self, Some(after), move |spreadsheet, cursor| async move {
            spreadsheet.entries_page(cursor.unwrap_or(after)).await
        })
    }

    /// Returns the spreadsheet's forks, oldest first.
    pub fn forks(&self) -> ItemStream<ForkView> {
        let pages = read_pages(self.client.url(), self, None, |spreadsheet, cursor| async move {
            spreadsheet.forks_page(cursor).await
        });
        pages.into_items(|page: ForksReply| page.forks)
    }

    /// Forks a spreadsheet (`POST /v1/spreadsheets/{id}/forks`). The nonce is an idempotency key:
    /// if a request with this nonce has already created a fork, that fork is returned.
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

    /// Returns the newest snapshot root at or before a position and the entries from there up to it (`GET
    /// /v1/spreadsheets/{id}?at=…`). If `next` is set, there are too many entries for one reply.
    pub(crate) async fn load_at(&self, at: Position) -> Result<LoadReply, ClientError> {
        let call = self.call(Method::GET).with_position("at", Some(at));
        self.client.transport.send(call).await
    }

    /// Returns the log entries after a position (`GET /v1/spreadsheets/{id}/entries`).
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. A problem of kind `ReloadRequired` means
    /// that `after` is too old, or that it no longer exists because the tables were restored.
    pub async fn entries_page(&self, after: Position) -> Result<EntriesReply, ClientError> {
        let call =
            self.call(Method::GET).with_segment("entries").with_position("after", Some(after));
        self.client.transport.send(call).await
    }

    /// Appends mutations (`POST /v1/spreadsheets/{id}/entries`). For edits that must survive a
    /// crash of the client, use [`crate::editor`].
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
        self.check_read(query.at, page.position, page.incarnation)?;
        Ok(page)
    }

    /// Checks that cells were read at the requested position, and records that the program has seen the
    /// newest state if it requested it.
    pub(super) fn check_read(
        &self,
        requested: Option<Position>,
        position: Position,
        incarnation: u32,
    ) -> Result<(), ClientError> {
        match requested {
            Some(at) if at != position => {
                let why = format!("position {at} was requested, not {position}");
                Err(self.client.unexpected_reply(why))
            }
            Some(_) => Ok(()),
            None => {
                self.record_read(position, incarnation);
                Ok(())
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

    /// Like [`Spreadsheet::head`], but never returns a position before `min_position`. For
    /// read-your-writes consistency, pass the position of your last write.
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
    /// request costs less than any other request for polling.
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

    /// Returns the last entry whose time is not later than `time`. The state at its position is the
    /// state as it was at that time. The time of an entry is the clock of the server that wrote it,
    /// in whole seconds; the fraction of a second in `time` has no effect.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails. A problem of kind `UnknownPosition` means that
    /// the spreadsheet was created after `time`.
    pub async fn entry_at_time(&self, time: SystemTime) -> Result<EntryView, ClientError> {
        let unix_s = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        let until = PositionOrTime::Time { unix_s };
        let call = self
            .call(Method::GET)
            .with_segment("history")
            .with_text("until", Some(until.to_string()))
            .with_text("limit", Some("1".to_owned()));
        let page: HistoryReply = self.client.transport.send(call).await?;
        let entry = page.entries.into_iter().next();
        entry.ok_or_else(|| self.client.unexpected_reply("the response has no entry"))
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

    /// Like [`Spreadsheet::sheets`], but never returns the sheets at a position before
    /// `min_position`.
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

    /// `at` is `None` for the newest position. The server reads at `min_position` or later.
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

    /// Returns the storage statistics and the cost of opening the spreadsheet (`GET
    /// /v1/spreadsheets/{id}/stats`). Both refer to a position that is at or after `min_position`.
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
