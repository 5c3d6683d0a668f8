//! Runs the append state machine: performs its actions and feeds back their results.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::CACHED_ENTRY_AGE_S;
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, Appended, Refusal, Request};
use cellar_log::entry::Entry;

use super::{LogError, Logs};
use crate::ports::{PortError, PutOutcome};

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
        match request.resolution_request() {
            Some(asked) => self.append_resolved(request, asked).await,
            None => {
                self.check_imports(&request).await?;
                self.append_unchecked(request).await
            }
        }
    }

    /// Appends a request whose undo or revert, if any, is already resolved and whose imports are
    /// checked.
    pub(super) async fn append_unchecked(&self, request: Request) -> Result<Appended, LogError> {
        let (log, from) = (request.log(), request.lowest_base());
        let tail = self.fresh_tail_from(log, from);
        let (mut append, mut action) = Append::begin(request, &tail, self.inputs());
        let mut store_error = None;
        loop {
            let event = match action {
                AppendAction::Read { from, consistent } => {
                    self.read_append_page(log, from, consistent, &mut store_error).await
                }
                AppendAction::Put { entry } => self.put_append_entry(entry, &mut store_error).await,
                AppendAction::FindNewestSegment => match self.segments.newest(log, 1, true).await {
                    Ok(newest) => {
                        AppendEvent::NewestSegment(newest.first().map(|newest| newest.num))
                    }
                    Err(error) => read_failed(log, error, &mut store_error),
                },
                AppendAction::ReadState { at } => {
                    self.read_append_state(log, at, &mut store_error).await
                }
                AppendAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    AppendEvent::Waited
                }
                AppendAction::Finish(Ok(appended)) => return Ok(appended),
                AppendAction::Finish(Err(refusal)) => {
                    return Err(self.refusal_error(log, refusal, store_error).await);
                }
            };
            (append, action) = append.step(event, self.inputs());
        }
    }

    /// Returns the cached entries from `from` on if a new entry may be appended after them without
    /// a read. Returns no entries if the latest cached entry is old: its segment may have been
    /// closed and trimmed in the meantime, and a put at the next position would then succeed in a
    /// closed segment.
    fn fresh_tail_from(&self, log: LogId, from: Position) -> Vec<Arc<Entry>> {
        let now_ms = self.clock.now_ms();
        let cached = self.tails.entries_from(now_ms, log, from);
        if cached.last().is_some_and(|last| is_fresh(last, now_ms)) { cached } else { Vec::new() }
    }

    async fn read_append_page(
        &self,
        log: LogId,
        from: Position,
        consistent: bool,
        store_error: &mut Option<PortError>,
    ) -> AppendEvent {
        match self.page(log, from, consistent).await {
            Ok(page) => {
                self.cache_entries(contiguous(&page.entries));
                AppendEvent::Page { entries: page.entries, has_more: page.more }
            }
            Err(error) => read_failed(log, error, store_error),
        }
    }

    async fn read_append_state(
        &self,
        log: LogId,
        at: Position,
        store_error: &mut Option<PortError>,
    ) -> AppendEvent {
        match self.view(log, Some(at), None).await {
            Ok(view) => AppendEvent::State(Some(Arc::new(view.metadata))),
            Err(LogError::Store(error)) => read_failed(log, error, store_error),
            Err(error) => {
                tracing::error!(%log, %at, %error, "cannot read the state for an append");
                AppendEvent::State(None)
            }
        }
    }

    async fn put_append_entry(
        &self,
        entry: Arc<Entry>,
        store_error: &mut Option<PortError>,
    ) -> AppendEvent {
        if let Err(error) = self.check_own(entry.log, entry.position).await {
            *store_error = Some(error);
            return AppendEvent::PutFailed;
        }
        match self.entries.put(&entry).await {
            PutOutcome::Accepted => {
                self.pokes.poke(entry.log, entry.position);
                self.cache_entries(&[entry]);
                AppendEvent::PutAccepted
            }
            PutOutcome::Refused { winner } => {
                self.cache_entries(std::slice::from_ref(&winner));
                AppendEvent::PutRefused { winner }
            }
            PutOutcome::Unknown(error) => {
                tracing::warn!(log = %entry.log, at = %entry.position, %error, "the outcome of a put is unknown");
                *store_error = Some(error);
                AppendEvent::PutUnknown
            }
            PutOutcome::Failed(error) => {
                *store_error = Some(error);
                AppendEvent::PutFailed
            }
        }
    }

    /// Converts a refusal to an error. If the base is unknown, checks with one more read whether
    /// the log exists.
    async fn refusal_error(
        &self,
        log: LogId,
        refusal: Refusal,
        store_error: Option<PortError>,
    ) -> LogError {
        match (refusal, store_error) {
            (Refusal::Store, Some(error)) => LogError::Store(error),
            (refusal @ Refusal::UnknownBase { .. }, _) => {
                match self.retry_read(|| self.get(log, Position::FIRST)).await {
                    Ok(None) => LogError::NotFound,
                    Ok(Some(_)) => LogError::Refused(refusal),
                    Err(error) => error,
                }
            }
            (refusal, _) => LogError::Refused(refusal),
        }
    }
}

fn read_failed(log: LogId, error: PortError, store_error: &mut Option<PortError>) -> AppendEvent {
    tracing::warn!(%log, %error, "a read of an append failed");
    let temporary = error.temporary;
    *store_error = Some(error);
    AppendEvent::ReadFailed { temporary }
}

/// Returns the entries of a page up to its first gap.
pub(super) fn contiguous(entries: &[Arc<Entry>]) -> &[Arc<Entry>] {
    let has_gap =
        |(entry, next): (&Arc<Entry>, &Arc<Entry>)| entry.next_position() != Some(next.position);
    let last_before_gap = entries.iter().zip(entries.iter().skip(1)).position(has_gap);
    last_before_gap.and_then(|last| entries.get(..=last)).unwrap_or(entries)
}

/// Whether an entry is recent enough that its segment cannot have been trimmed yet.
pub(super) fn is_fresh(tail: &Entry, now_ms: u64) -> bool {
    now_ms / 1_000 < tail.created_s.saturating_add(CACHED_ENTRY_AGE_S)
}
