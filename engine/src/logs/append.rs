//! Drives the append machine: performs its actions and reports what came of them.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::CACHED_ENTRY_AGE_S;
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, Appended, Refusal, Request};
use cellar_log::entry::Entry;

use super::{LogError, Logs};
use crate::ports::{PortError, PutOutcome};

impl Logs {
    /// Appends a request's mutations: each exactly once, however often it is repeated.
    ///
    /// # Errors
    /// [`LogError::Refused`] as the machine decides, [`LogError::Import`] if an import is not all
    /// there, [`LogError::NotFound`] if there is no such log, [`LogError::Store`] if the store fails
    /// for good.
    pub async fn append(&self, request: Request) -> Result<Appended, LogError> {
        match request.to_resolve() {
            Some(asked) => self.append_resolved(request, asked).await,
            None => {
                self.check_imports(&request).await?;
                self.append_as_it_is(request).await
            }
        }
    }

    /// Appends a request whose undo, if it is one, has been resolved, and whose imports are checked.
    pub(super) async fn append_as_it_is(&self, request: Request) -> Result<Appended, LogError> {
        let (log, from) = (request.log(), request.lowest_base());
        let known = self.known_tail(log, from);
        let (mut append, mut action) = Append::begin(request, &known, self.inputs());
        let mut store_error = None;
        loop {
            let event = match action {
                AppendAction::Read { from, consistent } => {
                    self.append_read(log, from, consistent, &mut store_error).await
                }
                AppendAction::Put { entry } => self.append_put(entry, &mut store_error).await,
                AppendAction::FindNewestSegment => match self.segments.newest(log, 1, true).await {
                    Ok(newest) => {
                        AppendEvent::NewestSegment(newest.first().map(|newest| newest.num))
                    }
                    Err(error) => read_failed(log, error, &mut store_error),
                },
                AppendAction::ReadState { at } => {
                    self.append_state(log, at, &mut store_error).await
                }
                AppendAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    AppendEvent::Waited
                }
                AppendAction::Finish(Ok(appended)) => return Ok(appended),
                AppendAction::Finish(Err(refusal)) => {
                    return Err(self.refused(log, refusal, store_error).await);
                }
            };
            (append, action) = append.step(event, self.inputs());
        }
    }

    /// The entries from `from` on as far as they are known, if something may be put behind them
    /// unread: not if the newest of them is so old that its segment may have ended and been trimmed
    /// since. There the next key is free and the put would succeed in a dead segment.
    fn known_tail(&self, log: LogId, from: Position) -> Vec<Arc<Entry>> {
        let now_ms = self.clock.now_ms();
        let known = self.known.entries_from(now_ms, log, from);
        let is_young =
            |last: &Arc<Entry>| now_ms / 1_000 < last.created_s.saturating_add(CACHED_ENTRY_AGE_S);
        if known.last().is_some_and(is_young) { known } else { Vec::new() }
    }

    async fn append_read(
        &self,
        log: LogId,
        from: Position,
        consistent: bool,
        store_error: &mut Option<PortError>,
    ) -> AppendEvent {
        match self.page(log, from, consistent).await {
            Ok(page) => {
                self.learn(contiguous(&page.entries));
                AppendEvent::Page { entries: page.entries, more: page.more }
            }
            Err(error) => read_failed(log, error, store_error),
        }
    }

    async fn append_state(
        &self,
        log: LogId,
        at: Position,
        store_error: &mut Option<PortError>,
    ) -> AppendEvent {
        match self.view(log, Some(at), None).await {
            Ok(view) => AppendEvent::State(Some(Arc::new(view.metadata))),
            Err(LogError::Store(error)) => read_failed(log, error, store_error),
            Err(error) => {
                tracing::error!(%log, %at, %error, "an append cannot read the state");
                AppendEvent::State(None)
            }
        }
    }

    async fn append_put(
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
                self.learn(&[entry]);
                AppendEvent::PutAccepted
            }
            PutOutcome::Refused { winner } => {
                self.learn(std::slice::from_ref(&winner));
                AppendEvent::PutRefused { winner }
            }
            PutOutcome::Unknown(error) => {
                tracing::warn!(log = %entry.log, at = %entry.position, %error, "unknown outcome");
                *store_error = Some(error);
                AppendEvent::PutUnknown
            }
            PutOutcome::Failed(error) => {
                *store_error = Some(error);
                AppendEvent::PutFailed
            }
        }
    }

    /// A base that is not there may mean that the whole log is not: only then is one more read
    /// spent on finding out.
    async fn refused(
        &self,
        log: LogId,
        refusal: Refusal,
        store_error: Option<PortError>,
    ) -> LogError {
        match (refusal, store_error) {
            (Refusal::Store, Some(error)) => LogError::Store(error),
            (refusal @ Refusal::UnknownBase { .. }, _) => {
                match self.read(|| self.get(log, Position::FIRST)).await {
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
    tracing::warn!(%log, %error, "an append could not read");
    let temporary = error.temporary;
    *store_error = Some(error);
    AppendEvent::ReadFailed { temporary }
}

/// The entries of a page up to its first hole: only those are a cached tail.
pub(super) fn contiguous(entries: &[Arc<Entry>]) -> &[Arc<Entry>] {
    let broken = |pair: (&Arc<Entry>, &Arc<Entry>)| pair.0.next_position() != Some(pair.1.position);
    let hole = entries.iter().zip(entries.iter().skip(1)).position(broken);
    hole.and_then(|last| entries.get(..=last)).unwrap_or(entries)
}
