//! Walks the log forward: what the process knows first, then page by page from the store.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::forward_read::{ForwardRead, ReadStep};

use super::append::contiguous;
use super::{LogError, Logs};

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    /// At the end of the log.
    ToEnd,
    /// Where the visitor stopped it.
    Stopped,
}

impl Logs {
    /// Visits the entries from `from` on, inclusive, without missing any, until the visitor breaks
    /// or the log ends; an end before `must_reach` is read again consistently.
    pub(super) async fn walk(
        &self,
        log: LogId,
        from: Position,
        must_reach: Option<Position>,
        visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<Walked, LogError> {
        self.walk_by(log, from, ForwardRead::begin(from, must_reach), visit).await
    }

    /// The same, seeing every acknowledged write.
    pub(super) async fn walk_consistently(
        &self,
        log: LogId,
        from: Position,
        visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<Walked, LogError> {
        self.walk_by(log, from, ForwardRead::begin(from, None).consistently(), visit).await
    }

    async fn walk_by(
        &self,
        log: LogId,
        from: Position,
        mut read: ForwardRead,
        mut visit: impl FnMut(&Arc<Entry>) -> Result<ControlFlow<()>, LogError> + Send,
    ) -> Result<Walked, LogError> {
        for entry in self.known.entries_from(self.clock.now_ms(), log, from) {
            if read.add_entry(&entry) && visit(&entry)?.is_break() {
                return Ok(Walked::Stopped);
            }
        }
        let mut step = read.read();
        loop {
            let (from, consistent) = match step {
                ReadStep::Read { from, consistent } => (from, consistent),
                ReadStep::ReadLater { from, attempt } => {
                    self.pause(attempt).await;
                    (from, true)
                }
                ReadStep::End => return Ok(Walked::ToEnd),
                ReadStep::Corrupt { at } => return Err(LogError::Corrupt { at }),
            };
            let page = self.read(|| self.page(log, from, consistent)).await?;
            self.learn(contiguous(&page.entries));
            let mut whole = true;
            for entry in &page.entries {
                if !read.add_entry(entry) {
                    whole = false;
                    break;
                }
                if visit(entry)?.is_break() {
                    return Ok(Walked::Stopped);
                }
            }
            step = read.after_page(whole, page.entries.is_empty(), page.more);
        }
    }
}
