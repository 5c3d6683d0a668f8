//! Reads entries from newest to oldest, and compares the states at two positions.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::lineage::Lineage;
use cellar_sheet::workbook::WorkbookDiff;

use super::{LogError, Logs};

/// Future of a backward read. Boxed because the read is recursive: the source of a fork may itself
/// be a fork.
type RecursiveRead<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Arc<Entry>>, LogError>> + Send + 'a>>;

/// Entries from newest to oldest, limited to one response.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub entries: Vec<Arc<Entry>>,
    /// Position at which the next (older) page starts, or `None` if there are no older entries.
    pub next: Option<Position>,
}

impl Logs {
    /// Returns at most `limit` entries from newest to oldest. Starts at `from` (inclusive), which
    /// defaults to the latest entry.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`], [`LogError::NoSuchPosition`], [`LogError::Corrupt`] or
    /// [`LogError::Store`].
    pub async fn history(
        &self,
        log: LogId,
        from: Option<Position>,
        limit: u32,
    ) -> Result<History, LogError> {
        let newest = self.head(log, from).await?.head;
        if let Some(at) = from.filter(|from| *from > newest) {
            return Err(LogError::NoSuchPosition { at, newest });
        }
        let mut next = Some(from.unwrap_or(newest));
        let (mut entries, mut bytes) = (Vec::new(), 0_usize);
        let limit = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        while let Some(from) = next {
            if entries.len() >= limit {
                return Ok(History { entries, next });
            }
            let wanted = limit.saturating_sub(entries.len());
            for entry in self.page_back(log, from, wanted).await? {
                bytes = bytes.saturating_add(entry.weight_bytes());
                // Return at least one entry, regardless of its size, so that every response makes
                // progress.
                if bytes > MAX_REPLY_BYTES && !entries.is_empty() {
                    return Ok(History { entries, next });
                }
                next = self.before(log, entry.position).await?;
                entries.push(entry);
            }
        }
        Ok(History { entries, next: None })
    }

    /// Returns one or more entries at or before `from`, from newest to oldest. Entries of a trimmed
    /// segment are read from its offloaded copy.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NoSuchPosition`] if the segment ends before `from`.
    async fn page_back(
        &self,
        log: LogId,
        from: Position,
        wanted: usize,
    ) -> Result<Vec<Arc<Entry>>, LogError> {
        let limit = u32::try_from(wanted.max(1)).unwrap_or(u32::MAX);
        let limit = limit.min(cellar_base::limits::MAX_PAGE_ENTRIES);
        if let Some(lineage) = self.retry_read(|| self.lineage_if_inherited(log, from)).await? {
            return self.inherited_back(log, lineage, from, limit).await;
        }
        // If the first read misses entries, retry with a strongly consistent read.
        for consistent in [false, true] {
            let page =
                self.retry_read(|| self.entries.page_back(log, from, limit, consistent)).await?;
            let entries = contiguous_back(&page.entries, from);
            if !entries.is_empty() {
                return Ok(entries.to_vec());
            }
        }
        self.offloaded_back(log, from, wanted.max(1)).await
    }

    /// Returns between one and `limit` entries at or before `from`, from newest to oldest, from the
    /// segment's offloaded copy.
    async fn offloaded_back(
        &self,
        log: LogId,
        from: Position,
        limit: usize,
    ) -> Result<Vec<Arc<Entry>>, LogError> {
        // The table retains the last entry of a trimmed segment.
        let last = self.retry_read(|| self.entries.last(log, from.segment(), true)).await?;
        if let Some(last) = last
            && last.position < from
        {
            return Err(LogError::NoSuchPosition { at: from, newest: last.position });
        }
        let offloaded =
            self.retry_read(|| self.offloaded_entries(log, from.segment(), true)).await?;
        let offloaded = offloaded.ok_or(LogError::Corrupt { at: from })?;
        let older = offloaded.iter().rev().skip_while(|entry| entry.position > from);
        let older: Vec<Arc<Entry>> = older.take(limit).cloned().collect();
        if older.is_empty() { Err(LogError::Corrupt { at: from }) } else { Ok(older) }
    }

    /// Like [`Logs::page_back`], but for entries that a fork inherits.
    fn inherited_back(
        &self,
        log: LogId,
        lineage: Lineage,
        from: Position,
        limit: u32,
    ) -> RecursiveRead<'_> {
        Box::pin(async move {
            let end = lineage.end_segment_position();
            if from.segment() == end.segment() && from > end {
                return Err(LogError::NoSuchPosition { at: from, newest: end });
            }
            let mut older = Vec::new();
            if from > lineage.position {
                older.extend(self.retry_read(|| self.get(log, end)).await?);
            }
            let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
            if older.len() < wanted {
                let shared = from.min(lineage.position);
                let page = self.page_back(lineage.source, shared, wanted - older.len()).await?;
                let own = |entry: &Arc<Entry>| Arc::new(Entry { log, ..entry.as_ref().clone() });
                older.extend(page.iter().map(own));
            }
            Ok(older)
        })
    }

    /// Returns the position before `position`. The first position of a segment is preceded by the
    /// End Segment (last entry) of the previous segment.
    pub(super) async fn before(
        &self,
        log: LogId,
        position: Position,
    ) -> Result<Option<Position>, LogError> {
        if let Some(num) = position.entry_number().checked_sub(1) {
            return Ok(Position::new(position.segment(), num).ok());
        }
        let Some(segment) = position.segment().checked_sub(1) else { return Ok(None) };
        match self.retry_read(|| self.last(log, segment, true)).await? {
            Some(last) => Ok(Some(last.position)),
            None => Err(LogError::Corrupt { at: position }),
        }
    }

    /// Returns the differences between the states at two positions. Reads only the cells touched by
    /// the entries between them.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::TooLarge`] if the entries touched too many cells, and the same errors as
    /// [`Logs::view`].
    pub async fn diff(
        &self,
        log: LogId,
        from: Position,
        to: Position,
    ) -> Result<WorkbookDiff, LogError> {
        let changes = self.changes(log, from.min(to), from.max(to)).await?;
        let after = changes.after()?;
        Ok(if from <= to { changes.before.diff(&after) } else { after.diff(&changes.before) })
    }
}

/// Returns the entries of a backward page, starting at `from`, up to the first gap.
fn contiguous_back(entries: &[Arc<Entry>], from: Position) -> &[Arc<Entry>] {
    let expected = (0..=from.entry_number()).rev();
    let count = entries
        .iter()
        .zip(expected)
        .take_while(|(entry, num)| entry.position.entry_number() == *num)
        .count();
    entries.get(..count).unwrap_or_default()
}
