//! Load and update: the entries a session starts from, and those since.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::load::{LoadPlan, UpdatePlan, plan_load, plan_update};

use super::walk::Walked;
use super::{LogError, Logs};

/// Segments that decide where to read: the current one and the one before.
const NEWEST_SEGMENTS: u8 = 2;

/// Entries, oldest first, as many as fit one reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The root object of the snapshot they start from, if there is one.
    pub root: Option<String>,
    /// The entries.
    pub entries: Vec<Arc<Entry>>,
    /// The newest entry known.
    pub head: Position,
    /// Its incarnation.
    pub incarnation: u32,
    /// If the entries were cut: the position after which to go on.
    pub next: Option<Position>,
}

impl Logs {
    /// Loads: the entries from the newest snapshot on. The
    /// reply is never older than `seen`.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::Corrupt`], [`LogError::Store`].
    pub async fn load(&self, log: LogId, seen: Option<Position>) -> Result<Loaded, LogError> {
        let mut newest = self.newest_segments(log, seen).await?;
        if matches!(plan_load(&newest), LoadPlan::Corrupt { .. }) {
            // Not on the evidence of a read that may be stale.
            newest = self.read(|| self.segments.newest(log, NEWEST_SEGMENTS, true)).await?;
        }
        let from = match plan_load(&newest) {
            LoadPlan::From(position) => position,
            LoadPlan::NoLog => return Err(LogError::NotFound),
            LoadPlan::Corrupt { segment } => {
                let at = Position::new(segment, 0).unwrap_or(Position::FIRST);
                return Err(LogError::Corrupt { at });
            }
        };
        let loaded = match self.collect(log, from, seen, true).await {
            Err(LogError::NoSuchPosition { .. }) => return Err(LogError::Corrupt { at: from }),
            loaded => loaded?,
        };
        // The state of a log's first entry is nothing: its root is not worth a read.
        let has_snapshot = newest.iter().any(|segment| segment.newest_snapshot().is_some());
        let has_root = has_snapshot && from != Position::FIRST;
        let root = if has_root { Some(self.root(log, from).await?) } else { None };
        Ok(Loaded { root, ..loaded })
    }

    /// The root of a finished snapshot. It is written to an entry that was there before, so it is
    /// the one thing that neither what is known nor a stale read may answer.
    pub(super) async fn root(&self, log: LogId, at: Position) -> Result<String, LogError> {
        let entry = self.read(|| self.get(log, at)).await?;
        match entry.as_ref().map(|entry| &entry.content) {
            Some(Content::Snapshot { root: Some(root), .. }) => Ok(root.clone()),
            _ => Err(LogError::Corrupt { at }),
        }
    }

    /// Updates: the entries after `after`.
    ///
    /// # Errors
    /// [`LogError::Reload`] if the client is too far behind or `after` is not in the log;
    /// otherwise as [`Logs::load`].
    pub async fn update(&self, log: LogId, after: Position) -> Result<Loaded, LogError> {
        if !self.known.covers(self.clock.now_ms(), log, after) {
            let newest = self.newest_segments(log, Some(after)).await?;
            match plan_update(&newest, after) {
                UpdatePlan::ReadOn => {}
                UpdatePlan::NoLog => return Err(LogError::NotFound),
                UpdatePlan::Reload => return Err(LogError::Reload),
            }
        }
        let updated = self.collect(log, after, Some(after), false).await;
        match updated {
            // Nothing at `after` itself: the client has read what this log does not have.
            Err(LogError::NoSuchPosition { .. }) => Err(LogError::Reload),
            updated => updated,
        }
    }

    /// The newest segments; read again consistently if they are older than what was seen.
    pub(super) async fn newest_segments(
        &self,
        log: LogId,
        seen: Option<Position>,
    ) -> Result<Vec<cellar_log::segment::Segment>, LogError> {
        let newest = self.read(|| self.segments.newest(log, NEWEST_SEGMENTS, false)).await?;
        let current = newest.first().map(|segment| segment.num);
        if current.is_some() && current >= seen.map(Position::segment) {
            return Ok(newest);
        }
        self.read(|| self.segments.newest(log, NEWEST_SEGMENTS, true)).await
    }

    /// Collects entries from `from` on, itself included or not, up to the size of a reply.
    async fn collect(
        &self,
        log: LogId,
        from: Position,
        must_reach: Option<Position>,
        inclusive: bool,
    ) -> Result<Loaded, LogError> {
        let mut collected = Collected::new(from, inclusive);
        let must_reach = must_reach.max(Some(from));
        let walked = self.walk(log, from, must_reach, |entry| Ok(collected.take(entry))).await?;
        self.loaded(log, walked, collected).await
    }

    /// What there is from `from` on, itself not included, seeing every acknowledged write.
    pub(super) async fn collect_consistently(
        &self,
        log: LogId,
        from: Position,
    ) -> Result<Loaded, LogError> {
        let mut collected = Collected::new(from, false);
        let walked = self.walk_consistently(log, from, |entry| Ok(collected.take(entry))).await?;
        self.loaded(log, walked, collected).await
    }

    async fn loaded(
        &self,
        log: LogId,
        walked: Walked,
        collected: Collected,
    ) -> Result<Loaded, LogError> {
        let Collected { from, entries, newest, .. } = collected;
        let Some((last, incarnation)) = newest else {
            return Err(LogError::NoSuchPosition { at: from, newest: from });
        };
        if walked == Walked::ToEnd {
            return Ok(Loaded { root: None, entries, head: last, incarnation, next: None });
        }
        let headed = self.head(log, Some(last)).await?;
        let (head, incarnation) = (headed.head, headed.incarnation);
        Ok(Loaded { root: None, entries, head, incarnation, next: Some(last) })
    }
}

/// Entries of a reply, on their way.
struct Collected {
    from: Position,
    inclusive: bool,
    entries: Vec<Arc<Entry>>,
    bytes: usize,
    newest: Option<(Position, u32)>,
}

impl Collected {
    fn new(from: Position, inclusive: bool) -> Self {
        Self { from, inclusive, entries: Vec::new(), bytes: 0, newest: None }
    }

    fn take(&mut self, entry: &Arc<Entry>) -> ControlFlow<()> {
        if self.inclusive || entry.position > self.from {
            self.bytes = self.bytes.saturating_add(entry.weight_bytes());
            // At least one, however large, so that every reply makes progress.
            if self.bytes > MAX_REPLY_BYTES && !self.entries.is_empty() {
                return ControlFlow::Break(());
            }
            self.entries.push(Arc::clone(entry));
        }
        self.newest = Some((entry.position, entry.header.incarnation));
        ControlFlow::Continue(())
    }
}
