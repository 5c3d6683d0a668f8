//! Reads a log forward: first the cached entries, then pages from the store.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::forward_read::{AddedPage, ForwardRead, ReadStep};

use super::append::contiguous;
use super::{LogError, Logs};

/// Reason why a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// The walk reached the end of the log.
    EndOfLog,
    /// The visitor stopped the walk.
    Stopped,
}

impl Logs {
    /// Visits every entry, starting at `from` (inclusive), until the visitor breaks or the log
    /// ends. If the log appears to end before `must_reach`, retries the last read with strong
    /// consistency.
    pub(super) async fn walk(
        &self,
        log: LogId,
        from: Position,
        must_reach: Option<Position>,
        visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<WalkEnd, LogError> {
        self.run_walk(log, from, ForwardRead::begin(from, must_reach), visit).await
    }

    /// Like [`Logs::walk`], but strongly consistent, so that every acknowledged entry is visited.
    pub(super) async fn walk_consistently(
        &self,
        log: LogId,
        from: Position,
        visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<WalkEnd, LogError> {
        self.run_walk(log, from, ForwardRead::begin(from, None).consistently(), visit).await
    }

    async fn run_walk(
        &self,
        log: LogId,
        from: Position,
        mut read: ForwardRead,
        mut visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<WalkEnd, LogError> {
        for entry in self.tails.entries_from(self.clock.now_ms(), log, from) {
            if read.add_entry(&entry) && visit(&entry)?.is_break() {
                return Ok(WalkEnd::Stopped);
            }
        }
        let mut step = read.read_next_page();
        loop {
            let (from, consistent) = match step {
                ReadStep::Read { from, consistent } => (from, consistent),
                ReadStep::ReadLater { from, attempt } => {
                    self.pause(attempt).await;
                    (from, true)
                }
                ReadStep::End => return Ok(WalkEnd::EndOfLog),
                ReadStep::Corrupt { at } => return Err(LogError::Corrupt { at }),
            };
            let page = self.retry_read(|| self.page(log, from, consistent)).await?;
            self.cache_entries(contiguous(&page.entries));
            let mut all_taken = true;
            for entry in &page.entries {
                if !read.add_entry(entry) {
                    all_taken = false;
                    break;
                }
                if visit(entry)?.is_break() {
                    return Ok(WalkEnd::Stopped);
                }
            }
            step = read.step_after_page(AddedPage {
                is_contiguous: all_taken,
                is_empty: page.entries.is_empty(),
                has_more: page.more,
            });
        }
    }
}
