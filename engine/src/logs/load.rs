//! Loads a log from its latest snapshot, and reads the entries after a position.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::load::{LoadPlan, UpdatePlan, plan_load, plan_update};

use super::walk::WalkEnd;
use super::{LogError, LogHead, Logs};

/// Number of latest segments that a read needs: the current segment and its predecessor.
const NEWEST_SEGMENTS: u8 = 2;

/// Entries from oldest to newest, limited to one response.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Root key of the snapshot on which `entries` are based, or `None` if the entries start at the
    /// beginning of the log.
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
    /// Returns the entries, starting at the latest snapshot. Includes at least every entry up to
    /// `min_position`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`], [`LogError::Corrupt`] or [`LogError::Store`].
    pub async fn load(
        &self,
        log: LogId,
        min_position: Option<Position>,
    ) -> Result<Loaded, LogError> {
        let mut newest = self.newest_segments(log, min_position).await?;
        if matches!(plan_load(&newest), LoadPlan::Corrupt { .. }) {
            // The read may be stale, so report corruption only after a strongly consistent read.
            newest = self.retry_read(|| self.segments.newest(log, NEWEST_SEGMENTS, true)).await?;
        }
        let from = match plan_load(&newest) {
            LoadPlan::From(position) => position,
            LoadPlan::NoLog => return Err(LogError::NotFound),
            LoadPlan::Corrupt { segment } => {
                let at = Position::new(segment, 0).unwrap_or(Position::FIRST);
                return Err(LogError::Corrupt { at });
            }
        };
        let loaded = match self.collect(log, from, min_position, true).await {
            Err(LogError::NoSuchPosition { .. }) => return Err(LogError::Corrupt { at: from }),
            loaded => loaded?,
        };
        // The state at a log's first entry is empty, so its root is not worth a read.
        let has_snapshot = newest.iter().any(|segment| segment.newest_snapshot().is_some());
        let has_root = has_snapshot && from != Position::FIRST;
        let root = if has_root { Some(self.root(log, from).await?) } else { None };
        Ok(Loaded { root, ..loaded })
    }

    /// Returns the root key of the finished snapshot at `at`. The root is added to an existing
    /// entry, so cached entries and eventually consistent reads may lack it.
    pub(super) async fn root(&self, log: LogId, at: Position) -> Result<String, LogError> {
        let entry = self.retry_read(|| self.get(log, at)).await?;
        match entry.as_ref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root: Some(root), .. }) => Ok(root.clone()),
            _ => Err(LogError::Corrupt { at }),
        }
    }

    /// Returns the entries after `after`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Reload`] if the client is too far behind or if `after` is not in the
    /// log, and the same errors as [`Logs::load`].
    pub async fn update(&self, log: LogId, after: Position) -> Result<Loaded, LogError> {
        if !self.tails.covers(self.clock.now_ms(), log, after) {
            let newest = self.newest_segments(log, Some(after)).await?;
            match plan_update(&newest, after) {
                UpdatePlan::ReadOn => {}
                UpdatePlan::NoLog => return Err(LogError::NotFound),
                UpdatePlan::Reload => return Err(LogError::Reload),
            }
        }
        let updated = self.collect(log, after, Some(after), false).await;
        match updated {
            // The log has no entry at `after`, so the client has read a different version of the
            // log.
            Err(LogError::NoSuchPosition { .. }) => Err(LogError::Reload),
            updated => updated,
        }
    }

    /// Returns a log's latest segments. If they are older than `min_position`, retries with a
    /// strongly consistent read.
    pub(super) async fn newest_segments(
        &self,
        log: LogId,
        min_position: Option<Position>,
    ) -> Result<Vec<cellar_log::segment::Segment>, LogError> {
        let newest = self.retry_read(|| self.segments.newest(log, NEWEST_SEGMENTS, false)).await?;
        let current = newest.first().map(|segment| segment.num);
        if current.is_some() && current >= min_position.map(Position::segment) {
            return Ok(newest);
        }
        self.retry_read(|| self.segments.newest(log, NEWEST_SEGMENTS, true)).await
    }

    /// Collects the entries after `from`, or from `from` on if `inclusive` is set, until the
    /// response is full.
    async fn collect(
        &self,
        log: LogId,
        from: Position,
        must_reach: Option<Position>,
        inclusive: bool,
    ) -> Result<Loaded, LogError> {
        let mut collector = ReplyCollector::new(from, inclusive);
        let must_reach = must_reach.max(Some(from));
        let walk_end = self.walk(log, from, must_reach, |entry| Ok(collector.add(entry))).await?;
        self.finish_reply(log, walk_end, collector).await
    }

    /// Collects the entries after `from` with strongly consistent reads.
    pub(super) async fn collect_consistently(
        &self,
        log: LogId,
        from: Position,
    ) -> Result<Loaded, LogError> {
        let mut collector = ReplyCollector::new(from, false);
        let walk_end = self.walk_consistently(log, from, |entry| Ok(collector.add(entry))).await?;
        self.finish_reply(log, walk_end, collector).await
    }

    /// Builds the response. A truncated response requires one more read to find the log's head.
    async fn finish_reply(
        &self,
        log: LogId,
        walk_end: WalkEnd,
        collector: ReplyCollector,
    ) -> Result<Loaded, LogError> {
        let ReplyCollector { from, entries, newest, .. } = collector;
        let Some((last, incarnation)) = newest else {
            return Err(LogError::NoSuchPosition { at: from, newest: from });
        };
        if walk_end == WalkEnd::EndOfLog {
            return Ok(Loaded { root: None, entries, head: last, incarnation, next: None });
        }
        let LogHead { head, incarnation } = self.head(log, Some(last)).await?;
        Ok(Loaded { root: None, entries, head, incarnation, next: Some(last) })
    }
}

/// Entries collected for one response.
struct ReplyCollector {
    from: Position,
    inclusive: bool,
    entries: Vec<Arc<Entry>>,
    bytes: usize,
    /// Position and incarnation of the latest visited entry.
    newest: Option<(Position, u32)>,
}

impl ReplyCollector {
    fn new(from: Position, inclusive: bool) -> Self {
        Self { from, inclusive, entries: Vec::new(), bytes: 0, newest: None }
    }

    /// Adds an entry; breaks if the response is full.
    fn add(&mut self, entry: &Arc<Entry>) -> ControlFlow<()> {
        if self.inclusive || entry.position > self.from {
            self.bytes = self.bytes.saturating_add(entry.weight_bytes());
            // Return at least one entry, regardless of its size, so that every response makes
            // progress.
            if self.bytes > MAX_REPLY_BYTES && !self.entries.is_empty() {
                return ControlFlow::Break(());
            }
            self.entries.push(Arc::clone(entry));
        }
        self.newest = Some((entry.position, entry.header.incarnation));
        ControlFlow::Continue(())
    }
}
