//! Reads a segment's entries page by page, from the table or, if the segment was trimmed, from its
//! offloaded copy.

use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;

use super::Reprocess;
use crate::logs::{OffloadedRead, read_offloaded};
use crate::ports::PortError;

/// A page of consecutive entries in ascending order.
pub(super) struct EntryPage {
    pub(super) entries: Vec<Arc<Entry>>,
    /// Whether the entries were read from the offloaded copy.
    pub(super) is_offloaded: bool,
}

/// Result of reading a page.
pub(super) enum PageRead {
    Page(EntryPage),
    /// The entries from this position to the end of the segment are unreadable.
    Unreadable {
        at: Position,
        why: String,
    },
    End,
}

/// Reads the entries of a segment.
pub(super) struct SegmentReader<'a> {
    reprocess: &'a Reprocess,
    segment: &'a Segment,
    /// Whether the segment is the latest of its log. Only the latest segment has no End Segment
    /// (last entry of a closed segment).
    is_newest: bool,
    /// Position at which the next page starts, or `None` at the end of the segment.
    next: Option<Position>,
}

impl<'a> SegmentReader<'a> {
    /// Creates a reader that starts at a position of a segment.
    pub(super) fn new(
        reprocess: &'a Reprocess,
        segment: &'a Segment,
        is_newest: bool,
        from: Position,
    ) -> Self {
        Self { reprocess, segment, is_newest, next: Some(from) }
    }

    pub(super) async fn read_page(&mut self) -> Result<PageRead, PortError> {
        let Some(from) = self.next.take() else { return Ok(PageRead::End) };
        let (ports, log) = (&self.reprocess.ports, self.segment.log);
        let page = match self.reprocess.retried(|| ports.entries.page(log, from, true)).await {
            Ok(page) => page,
            Err(error) if error.temporary => return Err(error),
            // Report the unreadable record as a finding, so that the survey of other logs
            // continues.
            Err(error) => return Ok(unreadable(from, error.to_string())),
        };
        let is_trimmed = page.entries.first().is_some_and(|first| first.is_trimmed());
        let contiguous = count_contiguous(from, &page.entries);
        if is_trimmed || contiguous < page.entries.len() {
            return self.read_offloaded_copy(from, page.entries, contiguous).await;
        }
        let ends_segment =
            page.entries.last().map(|last| matches!(last.content, Content::EndSegment));
        self.next = if page.more {
            page.entries.last().and_then(|last| last.position.next_in_segment())
        } else {
            None
        };
        match ends_segment {
            // Only the latest segment may lack its End Segment (last entry of a closed segment).
            None | Some(false) if self.next.is_none() && !self.is_newest => {
                self.read_offloaded_copy(from, page.entries, contiguous).await
            }
            None => Ok(PageRead::End),
            Some(_) => Ok(PageRead::Page(EntryPage { entries: page.entries, is_offloaded: false })),
        }
    }

    /// Reads the rest of a segment from its offloaded copy. Only the first `contiguous` of the
    /// table's `entries` have no gap. If the segment has no copy, these entries are returned first,
    /// and the next call returns `Unreadable`.
    async fn read_offloaded_copy(
        &mut self,
        from: Position,
        mut entries: Vec<Arc<Entry>>,
        contiguous: usize,
    ) -> Result<PageRead, PortError> {
        self.next = None;
        let (ports, log, num) = (&self.reprocess.ports, self.segment.log, self.segment.num);
        let record = self.reprocess.retried(|| ports.segments.segment(log, num, true)).await?;
        let Some(name) = record.and_then(|record| record.offloaded) else {
            entries.truncate(contiguous);
            self.next = entries.last().and_then(|last| last.position.next_in_segment());
            let why = "entries are missing from the table, and the segment has no offloaded copy";
            return Ok(match self.next {
                Some(_) => PageRead::Page(EntryPage { entries, is_offloaded: false }),
                None => unreadable(from, why.to_owned()),
            });
        };
        let read = || read_offloaded(ports.blobs.as_ref(), log, num, &name);
        Ok(match self.reprocess.retried(read).await? {
            OffloadedRead::Whole(mut entries) => {
                entries.retain(|entry| entry.position >= from);
                PageRead::Page(EntryPage { entries, is_offloaded: true })
            }
            OffloadedRead::Unusable(why) => unreadable(
                from,
                format!("the segment's offloaded copy {name} cannot be used: {why}"),
            ),
        })
    }
}

fn unreadable(at: Position, why: String) -> PageRead {
    PageRead::Unreadable { at, why }
}

/// Returns the number of leading entries with consecutive positions starting at `from`.
fn count_contiguous(from: Position, entries: &[Arc<Entry>]) -> usize {
    let expected = std::iter::successors(Some(from), |at| at.next_in_segment());
    entries.iter().zip(expected).take_while(|(entry, at)| entry.position == *at).count()
}
