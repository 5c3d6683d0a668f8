//! Loads a log from the latest snapshot, or reads the entries after a position.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::load::{LoadPlan, UpdatePlan, plan_load, plan_update};
use cellar_log::segment::Segment;

use super::walk::WalkEnd;
use super::{LogError, LogHead, Logs};
use crate::ports::ReadConsistency;

/// Number of latest segments that a read needs: the current segment and the previous segment.
const NEWEST_SEGMENTS: u8 = 2;

/// Entries from oldest to newest, limited to one response.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Root key of the snapshot at the position of the first entry. `None` if the entries start at
    /// the beginning of the log or after a requested position.
    pub root: Option<String>,
    pub entries: Vec<Arc<Entry>>,
    /// Position of the log's latest entry.
    pub head: Position,
    /// Incarnation (restore counter) of the latest entry.
    pub incarnation: u32,
    /// If `entries` was truncated, the position after which the next response starts.
    pub next: Option<Position>,
}

impl Logs {
    /// Returns the root key of the latest snapshot and the entries from its position on. The head
    /// in the result is at or after `min_position`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`], [`LogError::Corrupt`] or [`LogError::Store`].
    pub async fn load(
        &self,
        log_id: LogId,
        min_position: Option<Position>,
    ) -> Result<Loaded, LogError> {
        let newest_segments = self.intact_newest_segments(log_id, min_position).await?;
        let start = match plan_load(&newest_segments) {
            LoadPlan::From(position) => position,
            LoadPlan::NoLog => return Err(LogError::NotFound),
            LoadPlan::Corrupt { segment } => {
                let at = Position::new(segment, 0).unwrap_or(Position::FIRST);
                return Err(LogError::Corrupt { at });
            }
        };
        let loaded = match self.collect(log_id, start, min_position, FirstEntry::Included).await {
            Err(LogError::NoSuchPosition { .. }) => return Err(LogError::Corrupt { at: start }),
            loaded => loaded?,
        };
        let has_snapshot =
            newest_segments.iter().any(|segment| segment.newest_snapshot().is_some());
        // The state at a log's first entry is empty, so there is no need to read its root.
        if !has_snapshot || start == Position::FIRST {
            return Ok(loaded);
        }
        let root_key = self.finished_root_key(log_id, start).await?;
        Ok(Loaded { root: Some(root_key), ..loaded })
    }

    /// Returns the latest segments of a log. If they seem corrupt, the read may have been stale, so
    /// the segments are read again with strong consistency.
    async fn intact_newest_segments(
        &self,
        log_id: LogId,
        min_position: Option<Position>,
    ) -> Result<Vec<Segment>, LogError> {
        let newest_segments = self.newest_segments(log_id, min_position).await?;
        match plan_load(&newest_segments) {
            LoadPlan::Corrupt { .. } => {
                self.read_newest_segments(log_id, ReadConsistency::Strong).await
            }
            LoadPlan::From(_) | LoadPlan::NoLog => Ok(newest_segments),
        }
    }

    /// Returns the root key of the finished snapshot at `position`. The read is strongly consistent,
    /// since a cached or stale entry may lack the root, which is added to an existing entry.
    pub(super) async fn finished_root_key(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<String, LogError> {
        let entry = self.retry_read(|| self.get_entry(log_id, position)).await?;
        match entry.as_deref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root: Some(root_key), .. }) => Ok(root_key.clone()),
            _ => Err(LogError::Corrupt { at: position }),
        }
    }

    /// Returns the entries after the position `after`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Reload`] if the client is too far behind or if `after` is not in the
    /// log, and the same errors as [`Logs::load`].
    pub async fn update(&self, log_id: LogId, after: Position) -> Result<Loaded, LogError> {
        if !self.tails.covers(self.clock.now_ms(), log_id, after) {
            let newest_segments = self.newest_segments(log_id, Some(after)).await?;
            match plan_update(&newest_segments, after) {
                UpdatePlan::ReadOn => {}
                UpdatePlan::NoLog => return Err(LogError::NotFound),
                UpdatePlan::Reload => return Err(LogError::Reload),
            }
        }
        match self.collect(log_id, after, Some(after), FirstEntry::Excluded).await {
            // The log has no entry at `after`, so the client must have read a different version of
            // the log.
            Err(LogError::NoSuchPosition { .. }) => Err(LogError::Reload),
            loaded => loaded,
        }
    }

    /// Returns the latest segments of a log. If there are none, or if all of them precede the
    /// segment of `min_position`, retries with a strongly consistent read.
    pub(super) async fn newest_segments(
        &self,
        log_id: LogId,
        min_position: Option<Position>,
    ) -> Result<Vec<Segment>, LogError> {
        let newest_segments = self.read_newest_segments(log_id, ReadConsistency::Eventual).await?;
        let min_segment = min_position.map_or(0, Position::segment);
        match newest_segments.first() {
            Some(current_segment) if current_segment.num >= min_segment => Ok(newest_segments),
            _ => self.read_newest_segments(log_id, ReadConsistency::Strong).await,
        }
    }

    async fn read_newest_segments(
        &self,
        log_id: LogId,
        consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, LogError> {
        self.retry_read(|| self.segments.newest(log_id, NEWEST_SEGMENTS, consistency)).await
    }

    /// Collects entries from `start` on until the response is full.
    async fn collect(
        &self,
        log_id: LogId,
        start: Position,
        min_position: Option<Position>,
        first_entry: FirstEntry,
    ) -> Result<Loaded, LogError> {
        let mut collector = ReplyCollector::new(start, first_entry);
        let min_position = min_position.max(Some(start));
        let walk_end =
            self.walk(log_id, start, min_position, |entry| Ok(collector.add(entry))).await?;
        self.finish_reply(log_id, walk_end, collector).await
    }

    /// Collects the entries after the position `after` with strongly consistent reads.
    pub(super) async fn collect_consistently(
        &self,
        log_id: LogId,
        after: Position,
    ) -> Result<Loaded, LogError> {
        let mut collector = ReplyCollector::new(after, FirstEntry::Excluded);
        let walk_end =
            self.walk_consistently(log_id, after, |entry| Ok(collector.add(entry))).await?;
        self.finish_reply(log_id, walk_end, collector).await
    }

    /// Builds the response. If it is truncated, one more read is needed to find the log's head.
    async fn finish_reply(
        &self,
        log_id: LogId,
        walk_end: WalkEnd,
        collector: ReplyCollector,
    ) -> Result<Loaded, LogError> {
        let ReplyCollector { start, entries, newest, .. } = collector;
        let Some(last_read) = newest else {
            return Err(LogError::NoSuchPosition { at: start, newest: start });
        };
        match walk_end {
            WalkEnd::EndOfLog => {
                let LogHead { head, incarnation } = last_read;
                Ok(Loaded { root: None, entries, head, incarnation, next: None })
            }
            WalkEnd::Stopped => {
                let next = Some(last_read.head);
                let LogHead { head, incarnation } = self.head(log_id, next).await?;
                Ok(Loaded { root: None, entries, head, incarnation, next })
            }
        }
    }
}

/// Whether the response includes the entry at the start position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstEntry {
    Included,
    Excluded,
}

/// Entries collected for one response.
struct ReplyCollector {
    start: Position,
    first_entry: FirstEntry,
    entries: Vec<Arc<Entry>>,
    reply_bytes: usize,
    /// Position and incarnation of the last visited entry.
    newest: Option<LogHead>,
}

impl ReplyCollector {
    fn new(start: Position, first_entry: FirstEntry) -> Self {
        Self { start, first_entry, entries: Vec::new(), reply_bytes: 0, newest: None }
    }

    /// Adds an entry. Breaks if the response is full.
    fn add(&mut self, entry: &Arc<Entry>) -> ControlFlow<()> {
        if self.first_entry == FirstEntry::Included || entry.position > self.start {
            self.reply_bytes = self.reply_bytes.saturating_add(entry.weight_bytes());
            // Return at least one entry, regardless of its size, so that the client makes progress.
            if self.reply_bytes > MAX_REPLY_BYTES && !self.entries.is_empty() {
                return ControlFlow::Break(());
            }
            self.entries.push(Arc::clone(entry));
        }
        self.newest = Some(LogHead::of(entry));
        ControlFlow::Continue(())
    }
}
