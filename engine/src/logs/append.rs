//! Appends mutations by performing the actions of the append state machine.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, Appended, Refusal, Request};
use cellar_log::entry::Entry;

use super::append_queue::QueueIsFull;
use super::{LogError, Logs, WhenUnchanged};
use crate::ports::{PortError, PutOutcome, ReadConsistency};
use crate::unexpected_event::log_unexpected;

impl Logs {
    /// Appends a request's mutations. Each mutation is appended exactly once, even if the request
    /// is retried.
    ///
    /// # Errors
    ///
    /// - [`LogError::Refused`] if the state machine refuses the request.
    /// - [`LogError::Import`] if chunks of an import are missing or invalid.
    /// - [`LogError::NotFound`] if the log does not exist.
    /// - [`LogError::Store`] if the store fails permanently.
    pub async fn append(&self, request: Request) -> Result<Appended, LogError> {
        self.append_with(request, WhenUnchanged::Append).await
    }

    /// Like [`Logs::append`], but `when_unchanged` determines what happens to an undo or revert that
    /// would change nothing.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Logs::append`], or [`LogError::NothingToReverse`] if such an undo or
    /// revert is refused.
    pub async fn append_with(
        &self,
        request: Request,
        when_unchanged: WhenUnchanged,
    ) -> Result<Appended, LogError> {
        match request.resolution_request() {
            Some(resolution_request) => {
                self.append_undo_or_revert(request, resolution_request, when_unchanged).await
            }
            None => {
                self.verify_and_publish_imports(&request).await?;
                match request.replacing_import() {
                    Some(import) => self.append_replacing_import(&request, import).await,
                    None => self.append_unchecked(request).await,
                }
            }
        }
    }

    /// Appends a request whose imports have already been verified. If an undo or revert in the
    /// request was not resolved, it is rejected, unless the log already contains it.
    pub(super) async fn append_unchecked(&self, request: Request) -> Result<Appended, LogError> {
        let log_id = request.log();
        let turn = self.append_queue.wait_for_turn(log_id).await;
        let _turn = turn.map_err(|QueueIsFull| LogError::Refused(Refusal::Contention))?;
        let now_ms = self.clock.now_ms();
        let cached_tail = self.tails.entries_from(now_ms, log_id, request.lowest_base());
        let (mut append, mut action) = Append::begin(request, &cached_tail, self.inputs());
        let mut driver = AppendDriver::new(self, log_id);
        loop {
            let event = match action {
                AppendAction::Read { from, consistency } => {
                    driver.read_page(from, consistency).await
                }
                AppendAction::Put { entry } => driver.put_entry(entry).await,
                AppendAction::FindNewestSegment => driver.find_newest_segment().await,
                AppendAction::ReadState { at } => driver.read_state(at).await,
                AppendAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    AppendEvent::Waited
                }
                AppendAction::Finish(Ok(appended)) => return Ok(appended),
                AppendAction::Finish(Err(refusal)) => return Err(driver.into_error(refusal).await),
            };
            (append, action) = append.step(event, self.inputs());
        }
    }
}

/// Performs the actions of an append.
pub(super) struct AppendDriver<'a> {
    logs: &'a Logs,
    log: LogId,
    /// Returned if the append gives up.
    last_store_error: Option<PortError>,
}

impl<'a> AppendDriver<'a> {
    pub(super) fn new(logs: &'a Logs, log: LogId) -> Self {
        Self { logs, log, last_store_error: None }
    }

    pub(super) async fn read_page(
        &mut self,
        start_position: Position,
        consistency: ReadConsistency,
    ) -> AppendEvent {
        match self.logs.read_page(self.log, start_position, consistency).await {
            Ok(page) => {
                self.logs.cache_entries(contiguous_prefix(&page.entries));
                AppendEvent::Page { entries: page.entries, has_more: page.more }
            }
            Err(error) => self.record_failed_read(error),
        }
    }

    pub(super) async fn find_newest_segment(&mut self) -> AppendEvent {
        match self.logs.segments.newest(self.log, 1, ReadConsistency::Strong).await {
            Ok(segments) => AppendEvent::NewestSegment(segments.first().map(|segment| segment.num)),
            Err(error) => self.record_failed_read(error),
        }
    }

    pub(super) async fn read_state(&mut self, position: Position) -> AppendEvent {
        let log_id = self.log;
        match self.logs.open_view(log_id, Some(position), None).await {
            Ok(view) => AppendEvent::State(Some(Arc::new(view.metadata))),
            Err(LogError::Store(error)) => self.record_failed_read(error),
            Err(error) => {
                tracing::error!(log = %log_id, at = %position, %error, "cannot read the state for an append");
                AppendEvent::State(None)
            }
        }
    }

    async fn put_entry(&mut self, entry: Arc<Entry>) -> AppendEvent {
        let Entry { log: log_id, position, .. } = *entry;
        if let Err(error) = self.logs.check_not_inherited(log_id, position).await {
            self.last_store_error = Some(error);
            return AppendEvent::PutFailed;
        }
        match self.logs.entries.put(&entry).await {
            PutOutcome::Accepted => {
                self.logs.pokes.poke(log_id, position);
                self.logs.cache_entries(&[entry]);
                AppendEvent::PutAccepted
            }
            PutOutcome::Refused { winner } => {
                self.logs.cache_entries(std::slice::from_ref(&winner));
                AppendEvent::PutRefused { winner }
            }
            PutOutcome::Unknown(error) => {
                tracing::warn!(log = %log_id, at = %position, %error, "the outcome of a put is unknown");
                self.last_store_error = Some(error);
                AppendEvent::PutUnknown
            }
            PutOutcome::Failed(error) => {
                self.last_store_error = Some(error);
                AppendEvent::PutFailed
            }
        }
    }

    fn record_failed_read(&mut self, error: PortError) -> AppendEvent {
        tracing::warn!(log = %self.log, %error, "a read of an append failed");
        let temporary = error.temporary;
        self.last_store_error = Some(error);
        AppendEvent::ReadFailed { temporary }
    }

    /// If the base of the request is unknown, reads the log's first entry to find out whether the
    /// log exists at all.
    pub(super) async fn into_error(self, refusal: Refusal) -> LogError {
        match (refusal, self.last_store_error) {
            (Refusal::Store, Some(store_error)) => LogError::Store(store_error),
            (refusal @ Refusal::UnknownBase { .. }, _) => {
                let get_first_entry = || self.logs.get_entry(self.log, Position::FIRST);
                match self.logs.retry_read(get_first_entry).await {
                    Ok(None) => LogError::NotFound,
                    Ok(Some(_)) => LogError::Refused(refusal),
                    Err(error) => error,
                }
            }
            (Refusal::Unexpected(fault), _) => {
                log_unexpected(&fault);
                LogError::Refused(fault.into())
            }
            (refusal, _) => LogError::Refused(refusal),
        }
    }
}

pub(super) fn contiguous_prefix(entries: &[Arc<Entry>]) -> &[Arc<Entry>] {
    let is_next = |entry: &Arc<Entry>, following: &Arc<Entry>| {
        entry.next_position() == Some(following.position)
    };
    entries.chunk_by(is_next).next().unwrap_or_default()
}
