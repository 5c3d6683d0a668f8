//! Loads a log from its latest snapshot on, or only the entries after a position.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::load::{LoadPlan, UpdatePlan, plan_load, plan_update};
use cellar_log::segment::Segment;

use super::snapshot::last_position_of;
use super::walk::WalkEnd;
use super::{LogError, LogHead, Logs};
use crate::ports::ReadConsistency;

const NEWEST_SEGMENTS: u8 = 2;

/// Entries from oldest to newest, limited to one response.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Key of the snapshot root at the position of the first entry. `None` if the entries start at
    /// the beginning of the log or after a requested position.
    pub root: Option<String>,
    pub entries: Vec<Arc<Entry>>,
    /// Position of the log's latest entry, or the requested position.
    pub head: Position,
    /// How many times the tables had been restored when the latest entry was written.
    pub incarnation: u32,
    /// If `entries` was truncated, the position of its last entry. The next response starts after
    /// it.
    pub next: Option<Position>,
}

impl Logs {
    /// Returns the key of the latest snapshot root, and the entries from the position of the
    /// snapshot on. `min_position` is a position that the log is known to contain.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`] if the log does not exist, [`LogError::Corrupt`] if an entry
    /// is missing, or [`LogError::Store`] if the store fails.
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
        let loaded = match self
            .collect_entries(log_id, start, min_position, FirstEntry::Included)
            .await
        {
            Err(LogError::NoSuchPosition { .. }) => return Err(LogError::Corrupt { at: start }),
            loaded => loaded?,
        };
        let has_snapshot =
            newest_segments.iter().any(|segment| segment.newest_snapshot().is_some());
        // The state at the first entry of a log is empty, so its root is not needed.
        if !has_snapshot || start == Position::FIRST {
            return Ok(loaded);
        }
        let root_key = self.finished_root_key(log_id, start).await?;
        Ok(Loaded { root: Some(root_key), ..loaded })
    }

    /// Returns the key of the newest snapshot root at or before a position, and the entries from there up
    /// to the position, which [`Loaded::head`] is.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`] if the log does not exist, [`LogError::NoSuchPosition`] if it has no
    /// entry at `at`, or another [`LogError`] if the log cannot be read.
    pub async fn load_at(&self, log_id: LogId, at: Position) -> Result<Loaded, LogError> {
        let newest_segments = self.newest_segments(log_id, None).await?;
        let newest_segment = newest_segments.first().ok_or(LogError::NotFound)?.num;
        // `at` may be in a segment that does not exist, far beyond the newest one.
        let search_start = at.min(last_position_of(newest_segment));
        let snapshot = self.latest_snapshot_up_to(log_id, search_start).await?;
        // The state at the first entry of a log is empty, so its root is not needed.
        let snapshot = snapshot.filter(|snapshot| snapshot.position != Position::FIRST);
        let start = snapshot.as_ref().map_or(Position::FIRST, |snapshot| snapshot.position);
        let mut collector = ReplyCollector::new(start, FirstEntry::Included);
        self.walk(log_id, start, Some(at), |entry| {
            Ok(if entry.position > at { ControlFlow::Break(()) } else { collector.add(entry) })
        })
        .await?;
        let LogHead { head: newest, incarnation, .. } =
            collector.newest.ok_or(LogError::NotFound)?;
        let is_whole = newest >= at;
        if !is_whole && !collector.is_full {
            return Err(LogError::NoSuchPosition { at, newest });
        }
        Ok(Loaded {
            root: snapshot.map(|snapshot| snapshot.root_key),
            entries: collector.entries,
            head: at,
            incarnation,
            next: (!is_whole).then_some(newest),
        })
    }

    /// If the segments are inconsistent, they are read again with strong consistency, since the
    /// first read may have been stale.
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

    /// The root is added to an existing entry, so a cached entry may lack it. The entry is
    /// therefore read with strong consistency.
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

    /// Returns the entries after a position.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Reload`] if the position is too old,
    /// [`LogError::ReloadUnknownPosition`] if it does not exist in the log, or another [`LogError`] if
    /// the log cannot be read.
    pub async fn update(&self, log_id: LogId, after: Position) -> Result<Loaded, LogError> {
        if !self.tails.covers(self.clock.now_ms(), log_id, after) {
            let newest_segments = self.newest_segments(log_id, Some(after)).await?;
            match plan_update(&newest_segments, after) {
                UpdatePlan::ReadOn => {}
                UpdatePlan::NoLog => return Err(LogError::NotFound),
                UpdatePlan::Reload => return Err(LogError::Reload),
            }
        }
        match self.collect_entries(log_id, after, Some(after), FirstEntry::Excluded).await {
            // The log has no entry at `after`, so the client must have read another version of the
            // log, for example before the tables were restored.
            Err(LogError::NoSuchPosition { .. }) => {
                let newest = self.head(log_id, None).await?.head;
                Err(LogError::ReloadUnknownPosition { after, newest })
            }
            loaded => loaded,
        }
    }

    /// If the segment of `min_position` is missing, reads the segments again with strong
    /// consistency.
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

    async fn collect_entries(
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

    pub(super) async fn collect_entries_consistently(
        &self,
        log_id: LogId,
        after: Position,
    ) -> Result<Loaded, LogError> {
        let mut collector = ReplyCollector::new(after, FirstEntry::Excluded);
        let walk_end =
            self.walk_consistently(log_id, after, |entry| Ok(collector.add(entry))).await?;
        self.finish_reply(log_id, walk_end, collector).await
    }

    /// If the entries were truncated, reads the latest position of the log.
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
                let LogHead { head, incarnation, .. } = last_read;
                Ok(Loaded { root: None, entries, head, incarnation, next: None })
            }
            WalkEnd::Stopped => {
                let next = Some(last_read.head);
                let LogHead { head, incarnation, .. } = self.head(log_id, next).await?;
                Ok(Loaded { root: None, entries, head, incarnation, next })
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstEntry {
    Included,
    Excluded,
}

struct ReplyCollector {
    start: Position,
    first_entry: FirstEntry,
    entries: Vec<Arc<Entry>>,
    reply_bytes: usize,
    /// Position of the last visited entry, or `None` if no entry was visited.
    newest: Option<LogHead>,
    /// Whether an entry did not fit.
    is_full: bool,
}

impl ReplyCollector {
    fn new(start: Position, first_entry: FirstEntry) -> Self {
        let (entries, reply_bytes, newest, is_full) = (Vec::new(), 0, None, false);
        Self { start, first_entry, entries, reply_bytes, newest, is_full }
    }

    fn add(&mut self, entry: &Arc<Entry>) -> ControlFlow<()> {
        if self.first_entry == FirstEntry::Included || entry.position > self.start {
            self.reply_bytes = self.reply_bytes.saturating_add(entry.weight_bytes());
            // Return at least one entry regardless of its size. Otherwise, the client could never
            // read past it.
            if self.reply_bytes > MAX_REPLY_BYTES && !self.entries.is_empty() {
                self.is_full = true;
                return ControlFlow::Break(());
            }
            self.entries.push(Arc::clone(entry));
        }
        self.newest = Some(LogHead::of(entry));
        ControlFlow::Continue(())
    }
}
