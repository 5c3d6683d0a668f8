//! Finds the finished snapshot on which a read is based.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_ROOTS;
use cellar_base::position::Position;
use cellar_log::entry::Content;
use cellar_log::segment::Segment;
use cellar_snapshot::root::Root;

use super::{LogError, Logs};

/// Maximum number of Snapshot entries per segment that are searched backward for a root. If none of
/// them has a root, the read is based on an earlier segment, which is slower but correct.
const MAX_UNFINISHED_SNAPSHOTS: usize = 8;

/// Cache of each log's latest root and the position of its Snapshot entry. A cached root stays
/// valid: an entry's root changes only if a rebuild replaces it with an equivalent root.
#[derive(Default)]
pub(super) struct RootCache {
    roots: Mutex<HashMap<LogId, (Position, Arc<Root>)>>,
}

impl RootCache {
    fn get(&self, log: LogId, at: Position) -> Option<Arc<Root>> {
        let roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let (position, root) = roots.get(&log)?;
        if *position != at {
            return None;
        }
        Some(Arc::clone(root))
    }

    fn insert(&self, log: LogId, at: Position, root: &Arc<Root>) {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if roots.len() >= MAX_CACHED_ROOTS && !roots.contains_key(&log) {
            roots.clear();
        }
        roots.insert(log, (at, Arc::clone(root)));
    }

    /// Returns `result` unchanged. If a snapshot object is missing or damaged, evicts the root from
    /// the cache, so that the next read finds the rebuilt root.
    pub(super) fn invalidate_on_error<T>(
        &self,
        log: LogId,
        result: Result<T, LogError>,
    ) -> Result<T, LogError> {
        if matches!(result, Err(LogError::Snapshot(_))) {
            self.roots.lock().unwrap_or_else(PoisonError::into_inner).remove(&log);
        }
        result
    }
}

impl Logs {
    /// Returns the root on which a read at `at` is based. `at` defaults to the latest position,
    /// which is at or after `min_position`. Returns `None` if no snapshot is usable; the read then
    /// starts at the log's first entry.
    pub(super) async fn root_for(
        &self,
        log: LogId,
        at: Option<Position>,
        min_position: Option<Position>,
    ) -> Result<Option<Arc<Root>>, LogError> {
        let newest = self.newest_segments(log, min_position).await?;
        // Segment records may be missing even if the log exists, so its existence is checked with
        // the entries.
        let Some(current) = newest.first() else { return Ok(None) };
        let last = newest.iter().find_map(Segment::newest_snapshot);
        // The state at a log's first entry is empty, so its root is not worth a read.
        let last = last.filter(|last| *last != Position::FIRST);
        let has_all_segments = newest.last().is_some_and(|oldest| oldest.num == 0);
        match last {
            Some(last) if at.is_none_or(|at| last <= at) => self.newest_root(log, last).await,
            None if has_all_segments => Ok(None),
            _ => {
                let end = Position::new(current.num, u32::MAX).unwrap_or(Position::FIRST);
                match self.snapshot_before(log, at.unwrap_or(end)).await? {
                    None => Ok(None),
                    Some((_, key)) => Ok(Some(Arc::new(self.objects.root(&key).await?))),
                }
            }
        }
    }

    async fn newest_root(&self, log: LogId, at: Position) -> Result<Option<Arc<Root>>, LogError> {
        if let Some(root) = self.roots.get(log, at) {
            return Ok(Some(root));
        }
        let key = self.root(log, at).await?;
        let root = Arc::new(self.objects.root(&key).await?);
        self.roots.insert(log, at, &root);
        Ok(Some(root))
    }

    /// Returns the latest finished snapshot at or before `at` with its root key, or `None` if the
    /// log must be read from its first entry.
    pub(crate) async fn snapshot_before(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<(Position, String)>, LogError> {
        let (mut log, mut at) = (log, at);
        loop {
            // Snapshots of inherited entries are stored in the source.
            while let Some(lineage) = self.retry_read(|| self.lineage_if_inherited(log, at)).await?
            {
                (log, at) = (lineage.source, at.min(lineage.position));
            }
            let found = self.snapshot_in_segment(log, at).await?;
            if found.is_some() {
                return Ok(found);
            }
            let Some(before) = at.segment().checked_sub(1) else { return Ok(None) };
            at = Position::new(before, u32::MAX).unwrap_or(Position::FIRST);
        }
    }

    /// Returns the latest finished snapshot at or before `at` within the segment of `at`.
    async fn snapshot_in_segment(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<(Position, String)>, LogError> {
        let segment = self.retry_read(|| self.segments.segment(log, at.segment(), false)).await?;
        let last = segment.and_then(|segment| segment.last_snapshot);
        let last = last.and_then(|num| Position::new(at.segment(), num).ok());
        // The segment record contains no finished snapshot.
        let Some(last) = last else { return Ok(None) };
        let mut candidate =
            if last <= at { Some(last) } else { self.snapshot_entry_before(log, at).await? };
        for _ in 0..MAX_UNFINISHED_SNAPSHOTS {
            let Some(position) = candidate else { return Ok(None) };
            let entry = self.retry_read(|| self.get_anywhere(log, position)).await?;
            match entry.as_deref().map(|entry| &entry.content) {
                Some(Content::Snapshot { root: Some(root), .. }) => {
                    return Ok(Some((position, root.clone())));
                }
                Some(Content::Snapshot { .. }) => {}
                // The segment was trimmed and has no offloaded copy, so its entries are unreadable.
                None => return Ok(None),
                Some(_) => return Err(LogError::Corrupt { at: position }),
            }
            candidate = match position.entry_number().checked_sub(1) {
                None => None,
                Some(num) => {
                    let before = Position::new(position.segment(), num).unwrap_or(Position::FIRST);
                    self.snapshot_entry_before(log, before).await?
                }
            };
        }
        Ok(None)
    }

    /// Returns the segment's last Snapshot entry at or before `at`, whose position is in the header
    /// of the entry at `at`.
    async fn snapshot_entry_before(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<Position>, LogError> {
        let entry = self.retry_read(|| self.get_anywhere(log, at)).await?;
        let num = entry.map(|entry| entry.header.snapshot_num);
        Ok(num.and_then(|num| Position::new(at.segment(), num).ok()))
    }

    /// Returns the root of the Snapshot entry at a position.
    pub(crate) async fn root_at(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<String>, LogError> {
        let entry = self.retry_read(|| self.get_anywhere(log, at)).await?;
        Ok(match entry.as_deref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root, .. }) => root.clone(),
            _ => None,
        })
    }
}
