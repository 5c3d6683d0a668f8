//! Which finished snapshot a read begins from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CACHED_ROOTS;
use cellar_base::position::Position;
use cellar_log::entry::Content;
use cellar_log::segment::Segment;
use cellar_snapshot::root::Root;

use super::{LogError, Logs};

/// Snapshot entries that are looked at, backwards, until one has a root; beyond that, the log is read
/// from further back, which is as right and takes longer.
const MAX_UNFINISHED: usize = 8;

/// The newest root of some logs, by the Snapshot entry that it stands in: it never changes there, but
/// by a rebuild, which makes the same state of other objects.
#[derive(Default)]
pub(super) struct KnownRoots {
    kept: Mutex<HashMap<LogId, (Position, Arc<Root>)>>,
}

impl KnownRoots {
    fn get(&self, log: LogId, at: Position) -> Option<Arc<Root>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&log).filter(|(of, _)| *of == at).map(|(_, root)| Arc::clone(root))
    }

    fn keep(&self, log: LogId, at: Position, root: &Arc<Root>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_CACHED_ROOTS && !kept.contains_key(&log) {
            kept.clear();
        }
        kept.insert(log, (at, Arc::clone(root)));
    }

    /// Hands on what a read through the root of a log came to. A root that lacks an object is not kept:
    /// the next read finds the one that was made anew.
    pub(super) fn heed<T>(&self, log: LogId, read: Result<T, LogError>) -> Result<T, LogError> {
        if matches!(read, Err(LogError::Snapshot(_))) {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&log);
        }
        read
    }
}

impl Logs {
    /// The root that a read at a position begins from, or at the newest, not older than `seen`; none
    /// if it begins with the log.
    pub(super) async fn root_for(
        &self,
        log: LogId,
        at: Option<Position>,
        seen: Option<Position>,
    ) -> Result<Option<Arc<Root>>, LogError> {
        let newest = self.newest_segments(log, seen).await?;
        // Whether there is such a log, its entries say.
        let Some(current) = newest.first() else { return Ok(None) };
        let last = newest.iter().find_map(Segment::newest_snapshot);
        // The state of a log's first entry is nothing, with or without a root.
        let last = last.filter(|last| *last != Position::FIRST);
        let all_seen = newest.last().is_some_and(|oldest| oldest.num == 0);
        match last {
            Some(last) if at.is_none_or(|at| last <= at) => self.newest_root(log, last).await,
            None if all_seen => Ok(None),
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
        self.roots.keep(log, at, &root);
        Ok(Some(root))
    }

    /// The newest finished snapshot at or before a position, with the key of its root; none if the log
    /// must be read from its beginning.
    pub(crate) async fn snapshot_before(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<(Position, String)>, LogError> {
        let (mut log, mut at) = (log, at);
        loop {
            // What is inherited has its snapshots where it stands.
            while let Some(lineage) = self.read(|| self.inherits(log, at)).await? {
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

    /// The same, within the segment of a position.
    async fn snapshot_in_segment(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<(Position, String)>, LogError> {
        let segment = self.read(|| self.segments.segment(log, at.segment(), false)).await?;
        let last = segment.and_then(|segment| segment.last_snapshot);
        let last = last.and_then(|num| Position::new(at.segment(), num).ok());
        // Nothing in this segment is finished, as far as is known.
        let Some(last) = last else { return Ok(None) };
        let mut candidate = match last <= at {
            true => Some(last),
            false => self.snapshot_entry_before(log, at).await?,
        };
        for _ in 0..MAX_UNFINISHED {
            let Some(position) = candidate else { return Ok(None) };
            match self
                .read(|| self.get_anywhere(log, position))
                .await?
                .map(|entry| entry.content.clone())
            {
                Some(Content::Snapshot { root: Some(root), .. }) => {
                    return Ok(Some((position, root)));
                }
                Some(Content::Snapshot { .. }) => {}
                // Trimmed without an offloaded: nothing of this segment can be read.
                None => return Ok(None),
                Some(_) => return Err(LogError::Corrupt { at: position }),
            }
            candidate = match position.num().checked_sub(1) {
                None => None,
                Some(num) => {
                    let before = Position::new(position.segment(), num).unwrap_or(Position::FIRST);
                    self.snapshot_entry_before(log, before).await?
                }
            };
        }
        Ok(None)
    }

    /// The last Snapshot entry of the segment at or before a position: the entry there says where.
    async fn snapshot_entry_before(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<Position>, LogError> {
        let entry = self.read(|| self.get_anywhere(log, at)).await?;
        let num = entry.map(|entry| entry.header.snapshot_num);
        Ok(num.and_then(|num| Position::new(at.segment(), num).ok()))
    }

    /// The root of the Snapshot entry at a position, if one stands there.
    pub(crate) async fn root_at(
        &self,
        log: LogId,
        at: Position,
    ) -> Result<Option<String>, LogError> {
        let entry = self.read(|| self.get_anywhere(log, at)).await?;
        Ok(match entry.as_deref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root, .. }) => root.clone(),
            _ => None,
        })
    }
}
