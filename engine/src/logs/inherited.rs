//! Reads the entries that a fork inherits from its source.
//!
//! An inherited entry is stored only in the source. When it is requested from the fork, it is read
//! from the source. If nothing were returned instead, writers would consider the position free.

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
use crate::ports::{Page, PortError, ReadConsistency};

/// Boxed because the read is recursive: the source of a fork may itself be a fork.
type RecursiveRead<'a, T> = Pin<Box<dyn Future<Output = Result<T, PortError>> + Send + 'a>>;

/// Caches the lineages of logs, which never change. A value of `None` states that the log is not a
/// fork.
#[derive(Default)]
pub(super) struct LineageCache {
    lineages: Mutex<HashMap<LogId, Option<Lineage>>>,
}

impl LineageCache {
    /// Returns the cached lineage of a log, or `None` if it is not known whether the log is a fork.
    pub(super) fn get(&self, log_id: LogId) -> Option<Option<Lineage>> {
        let lineages = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        lineages.get(&log_id).copied()
    }

    pub(super) fn insert(&self, log_id: LogId, lineage: Option<Lineage>) {
        let mut lineages = self.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        if lineages.len() >= MAX_CACHED_LINEAGES && !lineages.contains_key(&log_id) {
            lineages.clear();
        }
        lineages.insert(log_id, lineage);
    }
}

impl Logs {
    /// Returns the lineage of a fork, or `None` if the log is not a fork. The first call for a fork
    /// reads one record. Later calls use the cache. Ids that cannot belong to a fork need no read.
    pub(super) async fn lineage(&self, log_id: LogId) -> Result<Option<Lineage>, PortError> {
        if !log_id.may_be_fork() {
            return Ok(None);
        }
        if let Some(cached_lineage) = self.lineages.get(log_id) {
            return Ok(cached_lineage);
        }
        // Use a strongly consistent read. If the lineage were missed, inherited positions would be
        // considered free.
        let Some(first_segment) = self.segments.segment(log_id, 0, ReadConsistency::Strong).await?
        else {
            return Ok(None);
        };
        self.lineages.insert(log_id, first_segment.lineage);
        Ok(first_segment.lineage)
    }

    pub(super) async fn lineage_if_inherited(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Lineage>, PortError> {
        Ok(self.lineage(log_id).await?.filter(|lineage| lineage.inherits(position)))
    }

    /// Returns the original log of a fork family. The snapshot objects of all logs of the family
    /// are stored under its id.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the store fails.
    pub async fn family(&self, log_id: LogId) -> Result<LogId, LogError> {
        let lineage = self.retry_read(|| self.lineage(log_id)).await?;
        Ok(lineage.map_or(log_id, |lineage| lineage.family))
    }

    /// Returns [`Position::FIRST`] if the log is not a fork.
    pub(crate) async fn first_own_position(&self, log_id: LogId) -> Result<Position, LogError> {
        let lineage = self.retry_read(|| self.lineage(log_id)).await?;
        Ok(lineage.and_then(|lineage| lineage.first_own_position()).unwrap_or(Position::FIRST))
    }

    pub(super) fn inherited_page(
        &self,
        log_id: LogId,
        lineage: Lineage,
        start_position: Position,
        consistency: ReadConsistency,
    ) -> RecursiveRead<'_, Page> {
        Box::pin(async move {
            if start_position > lineage.end_segment_position() {
                return Ok(Page { entries: Vec::new(), more: false });
            }
            // If the fork inherits only the first part of a segment, the entry that closes the
            // segment is not stored. It is derived from the last shared entry.
            let source_start = start_position.min(lineage.position);
            for read_consistency in [consistency, ReadConsistency::Strong] {
                let page = self.read_page(lineage.source, source_start, read_consistency).await?;
                match lineage.inherited_page(log_id, source_start, &page.entries, page.more) {
                    Ok(Inherited { mut entries, has_more }) => {
                        entries.retain(|entry| entry.position >= start_position);
                        return Ok(Page { entries, more: has_more });
                    }
                    Err(StalePage) => {
                        tracing::debug!(log = %log_id, read_from = %source_start, "a page of the source was stale");
                    }
                }
            }
            let Lineage { source, position, .. } = lineage;
            Err(PortError::permanent(format!(
                "fork {log_id} shares the entries of {source} up to {position}, but {source} has no entry there"
            )))
        })
    }

    /// Returns the entry at a position with strong consistency. If a fork inherits the entry, it is
    /// read from the source, including offloaded segments. Otherwise, it is read only from the
    /// table, so that the result is `None` if the entry was trimmed.
    pub(super) async fn get_entry(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        match self.lineage_if_inherited(log_id, position).await? {
            None => self.entries.get(log_id, position).await,
            Some(lineage) => self.inherited_entry(log_id, lineage, position).await,
        }
    }

    fn inherited_entry(
        &self,
        log_id: LogId,
        lineage: Lineage,
        position: Position,
    ) -> RecursiveRead<'_, Option<Arc<Entry>>> {
        Box::pin(async move {
            if position > lineage.end_segment_position() {
                return Ok(None);
            }
            let shared_position = position.min(lineage.position);
            let shared_entry =
                self.get_entry_even_if_trimmed(lineage.source, shared_position).await?;
            let Some(shared_entry) = shared_entry else { return Ok(None) };
            let inherited_entry = if position == shared_position {
                shared_entry.with_log(log_id)
            } else {
                lineage.end_segment_after(log_id, &shared_entry)
            };
            Ok(Some(Arc::new(inherited_entry)))
        })
    }

    /// Returns the entry at a position with strong consistency.
    pub(super) async fn get_entry_even_if_trimmed(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        if let Some(entry) = self.get_entry(log_id, position).await? {
            return Ok(Some(entry));
        }
        let page = self.read_page(log_id, position, ReadConsistency::Strong).await?;
        Ok(page.entries.into_iter().find(|entry| entry.position == position))
    }

    pub(super) async fn last_entry(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Entry>>, PortError> {
        let segment_start = Position::new(segment, 0).unwrap_or(Position::FIRST);
        match self.lineage_if_inherited(log_id, segment_start).await? {
            None => self.entries.last(log_id, segment, consistency).await,
            Some(lineage) if segment == lineage.position.segment() => {
                self.inherited_entry(log_id, lineage, lineage.end_segment_position()).await
            }
            // The fork inherits the whole segment, so the segment is closed. Its last entry stays
            // in the source's table even if the segment was trimmed.
            Some(lineage) => self.inherited_last_entry(log_id, lineage.source, segment).await,
        }
    }

    fn inherited_last_entry(
        &self,
        log_id: LogId,
        source: LogId,
        segment: u32,
    ) -> RecursiveRead<'_, Option<Arc<Entry>>> {
        Box::pin(async move {
            let source_entry = self.last_entry(source, segment, ReadConsistency::Strong).await?;
            Ok(source_entry.map(|entry| Arc::new(entry.with_log(log_id))))
        })
    }

    /// Returns an error if the fork inherits the entry at `position`, so that the fork does not
    /// overwrite it.
    pub(super) async fn check_not_inherited(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<(), PortError> {
        if self.lineage_if_inherited(log_id, position).await?.is_some() {
            return Err(PortError::permanent(format!(
                "fork {log_id} cannot write at {position}, since it inherits this entry from its source"
            )));
        }
        Ok(())
    }
}
