//! The entries of a segment, page by page, wherever they are: in the table, or in the offloaded segment of a
//! segment that was trimmed.

use std::sync::Arc;

use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;

use super::Reprocess;
use crate::logs::{OffloadedRead, read_offloaded};
use crate::ports::PortError;

/// One page of entries without a hole, in ascending order.
pub(super) struct EntryPage {
    pub(super) entries: Vec<Arc<Entry>>,
    /// Whether they are in the table no more.
    pub(super) offloaded: bool,
}

/// What came of reading a page.
pub(super) enum PageRead {
    Page(EntryPage),
    /// The segment cannot be read from here on.
    Unreadable {
        at: Position,
        why: String,
    },
    End,
}

/// A segment that is being read.
pub(super) struct Walk<'a> {
    reprocess: &'a Reprocess,
    segment: &'a Segment,
    /// Whether it is the last of its log, which has no end yet.
    newest: bool,
    /// Where it goes on; none behind the end.
    next: Option<Position>,
}

impl<'a> Walk<'a> {
    /// The entries of a segment from a position on, inclusive.
    pub(super) fn new(
        reprocess: &'a Reprocess,
        segment: &'a Segment,
        newest: bool,
        from: Position,
    ) -> Self {
        Self { reprocess, segment, newest, next: Some(from) }
    }

    /// The next page.
    pub(super) async fn page(&mut self) -> Result<PageRead, PortError> {
        let Some(from) = self.next.take() else { return Ok(PageRead::End) };
        let (ports, log) = (&self.reprocess.ports, self.segment.log);
        let page = match self.reprocess.retried(|| ports.entries.page(log, from, true)).await {
            Ok(page) => page,
            Err(error) if error.temporary => return Err(error),
            // A record that cannot be read hides nothing of the other logs.
            Err(error) => return Ok(unreadable(from, error.to_string())),
        };
        let marked = page.entries.first().is_some_and(|first| first.is_trimmed());
        let whole = positions(from, &page.entries);
        if marked || whole < page.entries.len() {
            return self.offloaded(from, page.entries, whole).await;
        }
        let ended = page.entries.last().map(|last| matches!(last.content, Content::EndSegment));
        self.next = match page.more {
            true => page.entries.last().and_then(|last| last.position.next_in_segment()),
            false => None,
        };
        match ended {
            // Of a segment that goes on somewhere, the end is missing.
            None | Some(false) if self.next.is_none() && !self.newest => {
                self.offloaded(from, page.entries, whole).await
            }
            None => Ok(PageRead::End),
            Some(_) => Ok(PageRead::Page(EntryPage { entries: page.entries, offloaded: false })),
        }
    }

    /// The rest from the offloaded segment, where the table has a hole behind the first `whole` entries of a page
    /// from `from` on; without an offloaded segment, those and then what is wrong.
    async fn offloaded(
        &mut self,
        from: Position,
        mut entries: Vec<Arc<Entry>>,
        whole: usize,
    ) -> Result<PageRead, PortError> {
        self.next = None;
        let (ports, log, num) = (&self.reprocess.ports, self.segment.log, self.segment.num);
        let record = self.reprocess.retried(|| ports.segments.segment(log, num, true)).await?;
        let Some(name) = record.and_then(|record| record.offloaded) else {
            entries.truncate(whole);
            self.next = entries.last().and_then(|last| last.position.next_in_segment());
            let why = "entries are missing in the table, and the segment has no offloaded copy";
            return Ok(match self.next {
                Some(_) => PageRead::Page(EntryPage { entries, offloaded: false }),
                None => unreadable(from, why.to_owned()),
            });
        };
        let read = || read_offloaded(ports.blobs.as_ref(), log, num, &name);
        Ok(match self.reprocess.retried(read).await? {
            OffloadedRead::Whole(mut entries) => {
                entries.retain(|entry| entry.position >= from);
                PageRead::Page(EntryPage { entries, offloaded: true })
            }
            OffloadedRead::Unusable(why) => {
                unreadable(from, format!("the segment's offload {name} cannot be used: {why}"))
            }
        })
    }
}

fn unreadable(at: Position, why: String) -> PageRead {
    PageRead::Unreadable { at, why }
}

/// How many of these entries stand one behind the other from a position on.
fn positions(from: Position, entries: &[Arc<Entry>]) -> usize {
    let expected = std::iter::successors(Some(from), |at| at.next_in_segment());
    entries.iter().zip(expected).take_while(|(entry, at)| entry.position == *at).count()
}
