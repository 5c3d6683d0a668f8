//! What a fork has of its source: the entries up to where it was forked, read there, as if they were its
//! own.
//!
//! Nothing of it is ever written under the fork's id. So no writer may take a place there for free: every
//! read that could say so is answered from the source, whose entries do not change.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_LINEAGES;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::lineage::{Inherited, Lineage, StalePage};

use super::{LogError, Logs};
use crate::ports::{Page, PortError};

/// A read of a source, which may be a fork in turn.
type Read<'a, T> = Pin<Box<dyn Future<Output = Result<T, PortError>> + Send + 'a>>;

/// Where some logs come from, which never changes; none for one that is no fork.
#[derive(Default)]
pub(super) struct KnownLineages {
    kept: Mutex<HashMap<LogId, Option<Lineage>>>,
}

impl KnownLineages {
    pub(super) fn get(&self, log: LogId) -> Option<Option<Lineage>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&log).copied()
    }

    pub(super) fn keep(&self, log: LogId, lineage: Option<Lineage>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_CACHED_LINEAGES && !kept.contains_key(&log) {
            kept.clear();
        }
        kept.insert(log, lineage);
    }
}

impl Logs {
    /// Where a log comes from, if it is a fork. A read unit the first time for what may be one by its id,
    /// nothing for others.
    pub(super) async fn lineage(&self, log: LogId) -> Result<Option<Lineage>, PortError> {
        if !log.may_be_fork() {
            return Ok(None);
        }
        if let Some(known) = self.lineages.get(log) {
            return Ok(known);
        }
        // Consistently: a fork that seems to be none would seem to be empty where it is not.
        let Some(origin) = self.segments.segment(log, 0, true).await? else { return Ok(None) };
        self.lineages.keep(log, origin.lineage);
        Ok(origin.lineage)
    }

    /// Where a log comes from, if the entry at a position is not its own.
    pub(super) async fn inherits(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<Lineage>, PortError> {
        Ok(self.lineage(log).await?.filter(|lineage| lineage.inherits(at)))
    }

    /// The log under whose prefix the objects of a log's snapshots are: the origin of all its forks.
    ///
    /// # Errors
    /// [`LogError::Store`].
    pub async fn family(&self, log: LogId) -> Result<LogId, LogError> {
        let lineage = self.read(|| self.lineage(log)).await?;
        Ok(lineage.map_or(log, |lineage| lineage.family))
    }

    /// The first position at which a log's own entry may stand: its first, unless it is a fork.
    ///
    /// # Errors
    /// [`LogError::Store`].
    pub(crate) async fn first_own(&self, log: LogId) -> Result<Position, LogError> {
        let lineage = self.read(|| self.lineage(log)).await?;
        Ok(lineage.and_then(|lineage| lineage.first_own()).unwrap_or(Position::FIRST))
    }

    /// One page of what a fork inherits, as [`Logs::page`].
    pub(super) fn inherited_page(
        &self,
        log: LogId,
        lineage: Lineage,
        from: Position,
        consistent: bool,
    ) -> Read<'_, Page> {
        Box::pin(async move {
            if from > lineage.end() {
                return Ok(Page { entries: Vec::new(), more: false });
            }
            // The End Segment is made of the last shared entry.
            let begin = from.min(lineage.position);
            for consistent in [consistent, true] {
                let page = self.page(lineage.source, begin, consistent).await?;
                match lineage.cut(log, begin, &page.entries, page.more) {
                    Ok(Inherited { mut entries, more }) => {
                        entries.retain(|entry| entry.position >= from);
                        return Ok(Page { entries, more });
                    }
                    Err(StalePage) => {
                        tracing::debug!(%log, %begin, "a page of the source was stale");
                    }
                }
            }
            let (source, position) = (lineage.source, lineage.position);
            Err(PortError::permanent(format!(
                "{log} was forked of {source} at {position}: it is gone"
            )))
        })
    }

    /// The entry at a position, read consistently; of what is inherited also if it was offloaded.
    pub(super) async fn get(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        match self.inherits(log, at).await? {
            None => self.entries.get(log, at).await,
            Some(lineage) => self.inherited(log, lineage, at).await,
        }
    }

    fn inherited(
        &self,
        log: LogId,
        lineage: Lineage,
        at: Position,
    ) -> Read<'_, Option<Arc<Entry>>> {
        Box::pin(async move {
            if at > lineage.end() {
                return Ok(None);
            }
            let shared = at.min(lineage.position);
            let found = self.get_anywhere(lineage.source, shared).await?;
            Ok(found.map(|entry| match at == shared {
                true => Arc::new(Entry { log, ..entry.as_ref().clone() }),
                false => Arc::new(lineage.end_behind(log, &entry)),
            }))
        })
    }

    /// The entry at a position, read consistently: from the table, or from the offloaded segment of a trimmed
    /// segment.
    pub(super) async fn get_anywhere(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        if let Some(entry) = self.get(log, at).await? {
            return Ok(Some(entry));
        }
        let page = self.page(log, at, true).await?;
        Ok(page.entries.into_iter().find(|entry| entry.position == at))
    }

    /// The newest entry of a segment.
    pub(super) async fn last(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let start = Position::new(segment, 0).unwrap_or(Position::FIRST);
        match self.inherits(log, start).await? {
            None => self.entries.last(log, segment, consistent).await,
            Some(lineage) if segment == lineage.position.segment() => {
                self.inherited(log, lineage, lineage.end()).await
            }
            // One that ended, and keeps its End Segment when it is trimmed.
            Some(lineage) => self.inherited_last(log, lineage.source, segment).await,
        }
    }

    fn inherited_last(
        &self,
        log: LogId,
        source: LogId,
        segment: u32,
    ) -> Read<'_, Option<Arc<Entry>>> {
        Box::pin(async move {
            let last = self.last(source, segment, true).await?;
            Ok(last.map(|entry| Arc::new(Entry { log, ..entry.as_ref().clone() })))
        })
    }

    /// Refuses to write where only the source's entries are.
    pub(super) async fn check_own(&self, log: LogId, at: Position) -> Result<(), PortError> {
        match self.inherits(log, at).await? {
            None => Ok(()),
            Some(_) => {
                Err(PortError::permanent(format!("{at} of the fork {log} is not its own to write")))
            }
        }
    }
}
