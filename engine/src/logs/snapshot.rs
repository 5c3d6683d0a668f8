//! Finds the finished snapshot from which a read starts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_ROOTS;
use cellar_base::position::Position;
use cellar_log::entry::Content;
use cellar_log::segment::Segment;
use cellar_snapshot::root::Root;

use super::{LogError, Logs};
use crate::ports::ReadConsistency;

/// How many Snapshot entries of a segment are searched for a root, from newest to oldest. If none
/// of them has a root, a snapshot of an earlier segment is used, which makes the read slower but
/// not wrong.
const MAX_UNFINISHED_SNAPSHOTS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FinishedSnapshot {
    pub(crate) position: Position,
    pub(crate) root_key: String,
}

enum SnapshotEntry {
    Finished {
        root_key: String,
    },
    Unfinished,
    /// The entry was trimmed and its segment has no offloaded copy.
    Unreadable,
}

/// The root of an entry is replaced only by a rebuild, and then the old root has the same contents
/// as the new one.
#[derive(Default)]
pub(super) struct RootCache {
    roots: Mutex<HashMap<LogId, (Position, Arc<Root>)>>,
}

impl RootCache {
    fn newest(&self, log_id: LogId) -> Option<(Position, Arc<Root>)> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).get(&log_id).cloned()
    }

    fn insert(&self, log_id: LogId, position: Position, root: &Arc<Root>) {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if roots.len() >= MAX_CACHED_ROOTS && !roots.contains_key(&log_id) {
            roots.clear();
        }
        roots.insert(log_id, (position, Arc::clone(root)));
    }

    /// Removes the log's cached root if `result` states that a snapshot object is missing or
    /// damaged, so that the next read uses the rebuilt root. Returns `result` unchanged.
    pub(super) fn invalidate_on_error<T>(
        &self,
        log_id: LogId,
        result: Result<T, LogError>,
    ) -> Result<T, LogError> {
        if matches!(result, Err(LogError::Snapshot(_))) {
            self.roots.lock().unwrap_or_else(PoisonError::into_inner).remove(&log_id);
        }
        result
    }
}

pub(super) fn last_position_of(segment: u32) -> Position {
    Position::new(segment, u32::MAX).unwrap_or(Position::FIRST)
}

impl Logs {
    /// If `requested_position` is `None`, the latest state is read, and `min_position` is a
    /// position that the log is known to contain. Returns `None` if the read must start at the
    /// log's first entry.
    pub(super) async fn find_root_for_read(
        &self,
        log_id: LogId,
        requested_position: Option<Position>,
        min_position: Option<Position>,
    ) -> Result<Option<Arc<Root>>, LogError> {
        if requested_position.is_none()
            && let Some(root) = self.root_without_look_up(log_id)
        {
            return Ok(root);
        }
        let newest_segments = self.newest_segments(log_id, min_position).await?;
        // Even if no segment record is found, the log may exist. The caller notices this when it
        // reads the entries.
        let Some(current_segment) = newest_segments.first() else { return Ok(None) };
        let newest_snapshot = newest_segments.iter().find_map(Segment::newest_snapshot);
        // The state at the first entry of a log is empty, so its root is not needed.
        let newest_snapshot = newest_snapshot.filter(|position| *position != Position::FIRST);
        let is_up_to_requested =
            |snapshot: Position| requested_position.is_none_or(|requested| snapshot <= requested);
        let has_all_segments = newest_segments.last().is_some_and(|oldest| oldest.num == 0);
        match newest_snapshot {
            Some(snapshot) if is_up_to_requested(snapshot) => {
                Ok(Some(self.newest_root(log_id, snapshot).await?))
            }
            None if has_all_segments => Ok(None),
            _ => {
                let search_start =
                    requested_position.unwrap_or(last_position_of(current_segment.num));
                self.latest_root_up_to(log_id, search_start).await
            }
        }
    }

    /// Returns the snapshot from which the last read started, or `Some(None)` if it started at the
    /// first entry. Returns `None` if a newer snapshot may exist.
    ///
    /// A newer snapshot has an entry in the log. If another process has appended it, this read gets
    /// it like every entry, and only the next read uses the snapshot.
    fn root_without_look_up(&self, log_id: LogId) -> Option<Option<Arc<Root>>> {
        let cached_root = self.roots.newest(log_id);
        let start = cached_root.as_ref().map_or(Position::FIRST, |(position, _)| *position);
        let is_newest = self.tails.has_no_snapshot_after(self.clock.now_ms(), log_id, start);
        is_newest.then(|| cached_root.map(|(_, root)| root))
    }

    async fn latest_root_up_to(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Arc<Root>>, LogError> {
        match self.latest_snapshot_up_to(log_id, position).await? {
            Some(snapshot) => Ok(Some(Arc::new(self.objects.root(&snapshot.root_key).await?))),
            None => Ok(None),
        }
    }

    async fn newest_root(
        &self,
        log_id: LogId,
        snapshot_position: Position,
    ) -> Result<Arc<Root>, LogError> {
        if let Some((cached_position, cached_root)) = self.roots.newest(log_id)
            && cached_position == snapshot_position
        {
            return Ok(cached_root);
        }
        let root_key = self.finished_root_key(log_id, snapshot_position).await?;
        let root = Arc::new(self.objects.root(&root_key).await?);
        self.roots.insert(log_id, snapshot_position, &root);
        Ok(root)
    }

    pub(crate) async fn latest_snapshot_up_to(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<FinishedSnapshot>, LogError> {
        let mut searched_log = log_id;
        let mut search_start = position;
        loop {
            // The source of a fork stores the snapshots of inherited entries.
            while let Some(lineage) =
                self.retry_read(|| self.lineage_if_inherited(searched_log, search_start)).await?
            {
                searched_log = lineage.source;
                search_start = search_start.min(lineage.position);
            }
            let snapshot = self.latest_snapshot_in_segment(searched_log, search_start).await?;
            if snapshot.is_some() {
                return Ok(snapshot);
            }
            let Some(previous_segment) = search_start.segment().checked_sub(1) else {
                return Ok(None);
            };
            search_start = last_position_of(previous_segment);
        }
    }

    async fn latest_snapshot_in_segment(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<FinishedSnapshot>, LogError> {
        let segment_number = position.segment();
        let segment = self
            .retry_read(|| self.segments.segment(log_id, segment_number, ReadConsistency::Eventual))
            .await?;
        let newest_number = segment.and_then(|segment| segment.last_snapshot);
        let newest_snapshot = newest_number.and_then(|num| Position::new(segment_number, num).ok());
        let Some(newest_snapshot) = newest_snapshot else { return Ok(None) };
        let mut candidate = if newest_snapshot <= position {
            Some(newest_snapshot)
        } else {
            self.snapshot_entry_up_to(log_id, position).await?
        };
        for _ in 0..MAX_UNFINISHED_SNAPSHOTS {
            let Some(candidate_position) = candidate else { return Ok(None) };
            match self.read_snapshot_entry(log_id, candidate_position).await? {
                SnapshotEntry::Finished { root_key } => {
                    return Ok(Some(FinishedSnapshot { position: candidate_position, root_key }));
                }
                SnapshotEntry::Unfinished => {}
                SnapshotEntry::Unreadable => return Ok(None),
            }
            candidate = self.preceding_snapshot_entry(log_id, candidate_position).await?;
        }
        Ok(None)
    }

    async fn preceding_snapshot_entry(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Position>, LogError> {
        let Some(preceding_number) = position.entry_number().checked_sub(1) else {
            return Ok(None);
        };
        let preceding_position = Position::new(position.segment(), preceding_number);
        self.snapshot_entry_up_to(log_id, preceding_position.unwrap_or(Position::FIRST)).await
    }

    async fn read_snapshot_entry(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<SnapshotEntry, LogError> {
        let entry = self.retry_read(|| self.get_entry_even_if_trimmed(log_id, position)).await?;
        match entry.as_deref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root: Some(root_key), .. }) => {
                Ok(SnapshotEntry::Finished { root_key: root_key.clone() })
            }
            Some(Content::Snapshot { root: None, .. }) => Ok(SnapshotEntry::Unfinished),
            None => Ok(SnapshotEntry::Unreadable),
            Some(_) => Err(LogError::Corrupt { at: position }),
        }
    }

    /// Returns the position of the last Snapshot entry at or before `position` in the same segment.
    /// Each entry's header contains the number of that Snapshot entry.
    async fn snapshot_entry_up_to(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Position>, LogError> {
        let entry = self.retry_read(|| self.get_entry_even_if_trimmed(log_id, position)).await?;
        let Some(entry) = entry else { return Ok(None) };
        Ok(Position::new(position.segment(), entry.header.snapshot_num).ok())
    }

    /// Returns `None` if the snapshot is not finished.
    pub(crate) async fn root_at(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<String>, LogError> {
        let entry = self.retry_read(|| self.get_entry_even_if_trimmed(log_id, position)).await?;
        Ok(match entry.as_deref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root, .. }) => root.clone(),
            _ => None,
        })
    }
}
