//! Reads entries in reverse order, and compares the states at two positions.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_PAGE_ENTRIES, MAX_REPLY_BYTES};
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::lineage::Lineage;
use cellar_sheet::workbook::WorkbookDiff;

use super::lost_references::LostReferences;
use super::{LogError, Logs};
use crate::ports::ReadConsistency;

/// Boxed because the read is recursive: the source of a fork may itself be a fork.
type RecursiveRead<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Arc<Entry>>, LogError>> + Send + 'a>>;

/// Entries from newest to oldest, limited to one response.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub entries: Vec<Arc<Entry>>,
    /// Position at which the next page with older entries starts, or `None` if there are no older
    /// entries.
    pub next: Option<Position>,
}

impl Logs {
    /// Returns at most `limit` entries from newest to oldest. Starts at `start_position`
    /// (inclusive), or at the latest entry if `start_position` is `None`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`] or [`LogError::NoSuchPosition`] if the log or position does
    /// not exist, [`LogError::Corrupt`] if an entry is missing, or [`LogError::Store`] if the store
    /// fails.
    pub async fn history(
        &self,
        log_id: LogId,
        start_position: Option<Position>,
        limit: u32,
    ) -> Result<History, LogError> {
        let head = self.head(log_id, start_position).await?.head;
        let start = start_position.unwrap_or(head);
        if start > head {
            return Err(LogError::NoSuchPosition { at: start, newest: head });
        }
        let max_entries = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        let mut entries = Vec::new();
        let mut reply_bytes = 0_usize;
        let mut next_position = Some(start);
        while let Some(page_start) = next_position {
            if entries.len() >= max_entries {
                return Ok(History { entries, next: next_position });
            }
            let missing_count = max_entries - entries.len();
            for entry in self.read_page_back(log_id, page_start, missing_count).await? {
                reply_bytes = reply_bytes.saturating_add(entry.weight_bytes());
                // Return at least one entry regardless of its size. Otherwise, the client could
                // never read past it.
                if reply_bytes > MAX_REPLY_BYTES && !entries.is_empty() {
                    return Ok(History { entries, next: next_position });
                }
                next_position = self.position_before(log_id, entry.position).await?;
                entries.push(entry);
            }
        }
        Ok(History { entries, next: None })
    }

    /// Returns one or more entries from newest to oldest, starting at `start_position`. Entries of
    /// a trimmed segment are read from its offloaded copy.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NoSuchPosition`] if the segment ends before `start_position`.
    pub(super) async fn read_page_back(
        &self,
        log_id: LogId,
        start_position: Position,
        max_entries: usize,
    ) -> Result<Vec<Arc<Entry>>, LogError> {
        let page_limit = u32::try_from(max_entries).unwrap_or(u32::MAX).clamp(1, MAX_PAGE_ENTRIES);
        if let Some(lineage) =
            self.retry_read(|| self.lineage_if_inherited(log_id, start_position)).await?
        {
            return self.read_inherited_back(log_id, lineage, start_position, page_limit).await;
        }
        // If the eventually consistent read misses entries, retry with a strongly consistent read.
        for consistency in [ReadConsistency::Eventual, ReadConsistency::Strong] {
            let read_page =
                || self.entries.page_back(log_id, start_position, page_limit, consistency);
            let page = self.retry_read(read_page).await?;
            let entries_newest_first = contiguous_prefix_back(&page.entries, start_position);
            if !entries_newest_first.is_empty() {
                return Ok(entries_newest_first.to_vec());
            }
        }
        self.read_offloaded_back(log_id, start_position, max_entries.max(1)).await
    }

    /// Returns between one and `max_entries` entries from newest to oldest, starting at
    /// `start_position`.
    async fn read_offloaded_back(
        &self,
        log_id: LogId,
        start_position: Position,
        max_entries: usize,
    ) -> Result<Vec<Arc<Entry>>, LogError> {
        self.check_segment_reaches(log_id, start_position).await?;
        let segment = start_position.segment();
        let read_segment = || self.offloaded_entries(log_id, segment, ReadConsistency::Strong);
        let segment_entries = self.retry_read(read_segment).await?;
        let segment_entries = segment_entries.ok_or(LogError::Corrupt { at: start_position })?;
        let end = segment_entries.partition_point(|entry| entry.position <= start_position);
        let entries_up_to_start = segment_entries.get(..end).unwrap_or_default();
        let entries_newest_first: Vec<Arc<Entry>> =
            entries_up_to_start.iter().rev().take(max_entries).cloned().collect();
        if entries_newest_first.is_empty() {
            return Err(LogError::Corrupt { at: start_position });
        }
        Ok(entries_newest_first)
    }

    async fn check_segment_reaches(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<(), LogError> {
        let segment = position.segment();
        // The last entry of a trimmed segment stays in the table.
        let last_entry =
            self.retry_read(|| self.entries.last(log_id, segment, ReadConsistency::Strong)).await?;
        match last_entry {
            Some(last_entry) if last_entry.position < position => {
                Err(LogError::NoSuchPosition { at: position, newest: last_entry.position })
            }
            _ => Ok(()),
        }
    }

    fn read_inherited_back(
        &self,
        log_id: LogId,
        lineage: Lineage,
        start_position: Position,
        limit: u32,
    ) -> RecursiveRead<'_> {
        Box::pin(async move {
            let end = lineage.end_segment_position();
            if start_position.segment() == end.segment() && start_position > end {
                return Err(LogError::NoSuchPosition { at: start_position, newest: end });
            }
            let mut entries_newest_first = Vec::new();
            if start_position > lineage.position {
                let end_segment = self.retry_read(|| self.get_entry(log_id, end)).await?;
                entries_newest_first.extend(end_segment);
            }
            let max_entries = usize::try_from(limit).unwrap_or(usize::MAX);
            if entries_newest_first.len() < max_entries {
                let shared_position = start_position.min(lineage.position);
                let missing_count = max_entries - entries_newest_first.len();
                let source_entries =
                    self.read_page_back(lineage.source, shared_position, missing_count).await?;
                let inherited_entries =
                    source_entries.iter().map(|entry| Arc::new(entry.with_log(log_id)));
                entries_newest_first.extend(inherited_entries);
            }
            Ok(entries_newest_first)
        })
    }

    /// Returns the position of the entry before `position`, which may be the last entry of the
    /// previous segment.
    pub(super) async fn position_before(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<Option<Position>, LogError> {
        if let Some(previous_number) = position.entry_number().checked_sub(1) {
            return Ok(Position::new(position.segment(), previous_number).ok());
        }
        let Some(previous_segment) = position.segment().checked_sub(1) else { return Ok(None) };
        let last_entry = self
            .retry_read(|| self.last_entry(log_id, previous_segment, ReadConsistency::Strong))
            .await?;
        let last_entry = last_entry.ok_or(LogError::Corrupt { at: position })?;
        Ok(Some(last_entry.position))
    }

    /// Returns the differences between the states at two positions. Reads only the cells that were
    /// touched between these positions, and the formulas that lost references.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::TooLarge`] if too many cells were touched, or another [`LogError`] if
    /// the log cannot be read.
    pub async fn diff(
        &self,
        log_id: LogId,
        from: Position,
        to: Position,
    ) -> Result<WorkbookDiff, LogError> {
        let (start, end) = (from.min(to), from.max(to));
        let mut changes = self.read_changes(log_id, start, end).await?;
        let lost_references =
            self.add_formulas_that_lost_references(log_id, start, &mut changes).await?;
        let (older, newer) = (&changes.before, changes.state_after()?);
        let diff = if from <= to { older.diff(&newer) } else { newer.diff_to_earlier(older) };
        let formulas_incomplete = lost_references == LostReferences::Incomplete;
        Ok(WorkbookDiff { formulas_incomplete, ..diff })
    }

    /// Returns the differences from a state of one log to a state of another log. The logs must share
    /// history: one is a fork of the other, or both come from one log. Reads only the cells that were
    /// touched since.
    ///
    /// # Errors
    ///
    /// Returns [`ForkFault::Unrelated`](super::ForkFault::Unrelated) if the logs share no history,
    /// or the errors of [`Logs::diff`].
    pub async fn diff_logs(
        &self,
        (from_log, from): (LogId, Position),
        (to_log, to): (LogId, Position),
    ) -> Result<WorkbookDiff, LogError> {
        let shared = self.last_shared_position(from_log, to_log).await?.min(from).min(to);
        self.diff_branches(shared, (from_log, from), (to_log, to)).await
    }
}

fn contiguous_prefix_back(entries: &[Arc<Entry>], start_position: Position) -> &[Arc<Entry>] {
    let expected_numbers = (0..=start_position.entry_number()).rev();
    let prefix = entries
        .iter()
        .zip(expected_numbers)
        .take_while(|(entry, expected_number)| entry.position.entry_number() == *expected_number);
    entries.get(..prefix.count()).unwrap_or_default()
}
