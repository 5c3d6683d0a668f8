//! Visits the entries of a log in ascending order: first the cached entries, then pages from the
//! store.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::forward_read::{AddedPage, ForwardRead, ReadStep};

use super::append::contiguous_prefix;
use super::{LogError, Logs};
use crate::ports::ReadConsistency;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEnd {
    EndOfLog,
    Stopped,
}

impl Logs {
    /// If the log seems to end before `min_position`, the last read was stale and is repeated with
    /// strong consistency.
    pub(super) async fn walk(
        &self,
        log_id: LogId,
        start_position: Position,
        min_position: Option<Position>,
        visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<WalkEnd, LogError> {
        let forward_read = ForwardRead::begin(start_position, min_position);
        self.drive_walk(log_id, start_position, forward_read, visit).await
    }

    /// Calls `visit` for every entry from `start_position` on, with strong consistency, so that no
    /// acknowledged entry is missed.
    pub(super) async fn walk_consistently(
        &self,
        log_id: LogId,
        start_position: Position,
        visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<WalkEnd, LogError> {
        let forward_read = ForwardRead::begin(start_position, None).consistently();
        self.drive_walk(log_id, start_position, forward_read, visit).await
    }

    async fn drive_walk(
        &self,
        log_id: LogId,
        start_position: Position,
        mut forward_read: ForwardRead,
        mut visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<WalkEnd, LogError> {
        for cached_entry in self.tails.entries_from(self.clock.now_ms(), log_id, start_position) {
            let is_next_entry = forward_read.add_entry(&cached_entry);
            if is_next_entry && visit(&cached_entry)?.is_break() {
                return Ok(WalkEnd::Stopped);
            }
        }
        let mut read_step = forward_read.read_next_page();
        loop {
            let (page_start, consistency) = match read_step {
                ReadStep::Read { from, consistency } => (from, consistency),
                ReadStep::ReadLater { from, attempt } => {
                    self.pause_before_retry(attempt).await;
                    (from, ReadConsistency::Strong)
                }
                ReadStep::End => return Ok(WalkEnd::EndOfLog),
                ReadStep::Corrupt { at } => return Err(LogError::Corrupt { at }),
            };
            let page = self.retry_read(|| self.read_page(log_id, page_start, consistency)).await?;
            self.cache_entries(contiguous_prefix(&page.entries));
            let page_end = visit_page(&page.entries, &mut forward_read, &mut visit)?;
            if page_end == PageEnd::Stopped {
                return Ok(WalkEnd::Stopped);
            }
            read_step = forward_read.step_after_page(AddedPage {
                is_contiguous: page_end == PageEnd::AllVisited,
                is_empty: page.entries.is_empty(),
                has_more: page.more,
            });
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageEnd {
    AllVisited,
    MissingEntry,
    Stopped,
}

fn visit_page(
    entries: &[Arc<Entry>],
    forward_read: &mut ForwardRead,
    visit: &mut impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError>,
) -> Result<PageEnd, LogError> {
    for entry in entries {
        let is_next_entry = forward_read.add_entry(entry);
        if !is_next_entry {
            return Ok(PageEnd::MissingEntry);
        }
        if visit(entry)?.is_break() {
            return Ok(PageEnd::Stopped);
        }
    }
    Ok(PageEnd::AllVisited)
}
