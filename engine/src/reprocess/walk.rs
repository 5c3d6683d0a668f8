//! Reads the entries of a segment page by page. Entries of a trimmed segment are read from its
//! offloaded copy.

use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;

use super::Reprocess;
use crate::logs::{OffloadedRead, read_offloaded};
use crate::ports::{Page, PortError, ReadConsistency};

pub(super) struct EntryPage {
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) is_offloaded: bool,
}

pub(super) enum PageRead {
    Page(EntryPage),
    /// The entries from this position to the end of the segment are unreadable.
    Unreadable {
        at: Position,
        why: String,
    },
    End,
}

pub(super) struct SegmentReader<'a> {
    reprocess: &'a Reprocess,
    segment: &'a Segment,
    /// All other segments are closed.
    is_newest: bool,
    /// Position at which the next page starts, or `None` at the end of the segment.
    next_position: Option<Position>,
}

impl<'a> SegmentReader<'a> {
    pub(super) fn new(
        reprocess: &'a Reprocess,
        segment: &'a Segment,
        is_newest: bool,
        start: Position,
    ) -> Self {
        Self { reprocess, segment, is_newest, next_position: Some(start) }
    }

    pub(super) async fn read_page(&mut self) -> Result<PageRead, PortError> {
        let Some(page_start) = self.next_position.take() else { return Ok(PageRead::End) };
        let page = match self.read_table_page(page_start).await {
            Ok(page) => page,
            Err(error) if error.temporary => return Err(error),
            // An unreadable record is not an error, so that the survey continues with other logs.
            Err(error) => return Ok(unreadable(page_start, error.to_string())),
        };
        let is_trimmed = page.entries.first().is_some_and(|entry| entry.is_trimmed());
        let contiguous_count = count_contiguous(page_start, &page.entries);
        let has_gap = contiguous_count < page.entries.len();
        if is_trimmed || has_gap || self.lacks_end_segment(&page) {
            return self.read_offloaded_copy(page_start, page.entries, contiguous_count).await;
        }
        self.next_position = next_page_start(&page);
        if page.entries.is_empty() {
            return Ok(PageRead::End);
        }
        Ok(PageRead::Page(EntryPage { entries: page.entries, is_offloaded: false }))
    }

    async fn read_table_page(&self, page_start: Position) -> Result<Page, PortError> {
        let entries = &self.reprocess.ports.entries;
        let log = self.segment.log;
        let read_page = || entries.page(log, page_start, ReadConsistency::Strong);
        self.reprocess.retried(read_page).await
    }

    fn lacks_end_segment(&self, page: &Page) -> bool {
        let is_last_page = next_page_start(page).is_none();
        let last_entry = page.entries.last();
        let ends_with_end_segment =
            last_entry.is_some_and(|entry| matches!(entry.content, Content::EndSegment));
        !self.is_newest && is_last_page && !ends_with_end_segment
    }

    /// If there is no copy, returns the first `contiguous_count` entries from the table, after
    /// which an entry is missing. The next call then returns `Unreadable`.
    async fn read_offloaded_copy(
        &mut self,
        page_start: Position,
        table_entries: Vec<Arc<Entry>>,
        contiguous_count: usize,
    ) -> Result<PageRead, PortError> {
        self.next_position = None;
        let (log, segment_number) = (self.segment.log, self.segment.num);
        let segment = self.reprocess.read_segment(log, segment_number).await?;
        let Some(copy_name) = segment.and_then(|segment| segment.offloaded) else {
            return Ok(self.take_page_before_gap(page_start, table_entries, contiguous_count));
        };
        let blobs = self.reprocess.ports.blobs.as_ref();
        let read_copy = || read_offloaded(blobs, log, segment_number, &copy_name);
        match self.reprocess.retried(read_copy).await? {
            OffloadedRead::Whole(mut entries) => {
                entries.retain(|entry| entry.position >= page_start);
                Ok(PageRead::Page(EntryPage { entries, is_offloaded: true }))
            }
            OffloadedRead::Unusable(reason) => Ok(unreadable(
                page_start,
                format!("the segment's offloaded copy {copy_name} cannot be used: {reason}"),
            )),
        }
    }

    /// Returns `Unreadable` if the first entry is already missing.
    fn take_page_before_gap(
        &mut self,
        page_start: Position,
        table_entries: Vec<Arc<Entry>>,
        contiguous_count: usize,
    ) -> PageRead {
        let mut entries = table_entries;
        entries.truncate(contiguous_count);
        self.next_position = entries.last().and_then(|entry| entry.position.next_in_segment());
        if self.next_position.is_none() {
            let reason =
                "entries are missing from the table, and the segment has no offloaded copy";
            return unreadable(page_start, reason.to_owned());
        }
        PageRead::Page(EntryPage { entries, is_offloaded: false })
    }
}

fn next_page_start(page: &Page) -> Option<Position> {
    let last_entry = page.entries.last()?;
    if page.more { last_entry.position.next_in_segment() } else { None }
}

fn unreadable(at: Position, why: String) -> PageRead {
    PageRead::Unreadable { at, why }
}

fn count_contiguous(start: Position, entries: &[Arc<Entry>]) -> usize {
    let expected_positions =
        std::iter::successors(Some(start), |position| position.next_in_segment());
    let entries_and_positions = entries.iter().zip(expected_positions);
    entries_and_positions.take_while(|(entry, position)| entry.position == *position).count()
}
