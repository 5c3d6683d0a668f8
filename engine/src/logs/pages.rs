//! Pages of the log, wherever they are: in the table, in the offloaded segment of a trimmed segment, or in the log
//! that was forked.

use std::sync::{Arc, Mutex, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_OFFLOADED_OBJECT_BYTES, MAX_PAGE_ENTRIES};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::{retention::OffloadedFault, retention::decode_offloaded};

use super::Logs;
use super::append::contiguous;
use crate::ports::{BlobKey, Got, Page, PortError};

/// The offloaded segment that was read last, by its key, which names its content.
#[derive(Default)]
pub(super) struct LastOffloaded {
    read: Mutex<Option<(String, Offloaded)>>,
}

/// All entries of a segment, in ascending order.
pub(super) type Offloaded = Arc<Vec<Arc<Entry>>>;

impl Logs {
    /// One page forward from `from`, inclusive, within its segment. Where the table has a hole and
    /// the segment has an offloaded segment, the page comes from there; what a fork
    /// inherits comes from its source.
    pub(super) async fn page(
        &self,
        log: LogId,
        from: Position,
        consistent: bool,
    ) -> Result<Page, PortError> {
        if let Some(lineage) = self.inherits(log, from).await? {
            return self.inherited_page(log, lineage, from, consistent).await;
        }
        let page = self.entries.page(log, from, consistent).await?;
        let begins = page.entries.first().is_none_or(|first| first.position == from);
        if begins && contiguous(&page.entries).len() == page.entries.len() {
            return Ok(page);
        }
        let Some(offloaded) = self.offloaded(log, from.segment(), consistent).await? else {
            return Ok(page);
        };
        let limit = usize::try_from(MAX_PAGE_ENTRIES).unwrap_or(usize::MAX);
        let mut rest = offloaded.iter().filter(|entry| entry.position >= from);
        let entries = rest.by_ref().take(limit).cloned().collect();
        Ok(Page { entries, more: rest.next().is_some() })
    }

    /// The entries of a segment from its offloaded copy; `None` if it has none, or the object is gone or
    /// damaged: then the entries are gone, and saying so again and again would not bring them back.
    pub(super) async fn offloaded(
        &self,
        log: LogId,
        segment: u32,
        consistent: bool,
    ) -> Result<Option<Offloaded>, PortError> {
        let record = self.segments.segment(log, segment, consistent).await?;
        let Some(name) = record.and_then(|record| record.offloaded) else { return Ok(None) };
        if let Some(offloaded) = self.last_offloaded.get(&name) {
            return Ok(Some(offloaded));
        }
        match read_offloaded(self.blobs.as_ref(), log, segment, &name).await? {
            OffloadedRead::Whole(entries) => {
                let lifted = |entry: Arc<Entry>| {
                    Arc::new(Arc::unwrap_or_clone(entry).at_least(self.incarnation))
                };
                let offloaded = Arc::new(entries.into_iter().map(lifted).collect());
                self.last_offloaded.keep(&name, &offloaded);
                Ok(Some(offloaded))
            }
            OffloadedRead::Unusable(why) => {
                tracing::error!(%log, segment, object = name, why, "an offloaded segment cannot be used");
                Ok(None)
            }
        }
    }
}

impl LastOffloaded {
    fn get(&self, key: &str) -> Option<Offloaded> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.as_ref().filter(|(of, _)| of == key).map(|(_, offloaded)| Arc::clone(offloaded))
    }

    fn keep(&self, key: &str, offloaded: &Offloaded) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        *read = Some((key.to_owned(), Arc::clone(offloaded)));
    }
}

/// What is in the place of an offloaded segment.
pub(crate) enum OffloadedRead {
    /// Every entry of the segment, from the first to the End Segment.
    Whole(Vec<Arc<Entry>>),
    /// No such thing, for ever: why.
    Unusable(String),
}

/// Reads and checks an offloaded segment. One that a later Cellar wrote is an error: it is not lost.
pub(crate) async fn read_offloaded(
    blobs: &dyn crate::ports::Blobs,
    log: LogId,
    segment: u32,
    name: &str,
) -> Result<OffloadedRead, PortError> {
    let unusable = |why: String| Ok(OffloadedRead::Unusable(why));
    let key = match BlobKey::new(name) {
        Ok(key) => key,
        Err(error) => return unusable(error.to_string()),
    };
    let max_bytes = u64::try_from(MAX_OFFLOADED_OBJECT_BYTES).unwrap_or(u64::MAX);
    let bytes = match blobs.get(&key, max_bytes).await? {
        Got::Found { bytes, .. } => bytes,
        Got::Absent => return unusable("it is gone".to_owned()),
        Got::TooLong { length } => return unusable(format!("it has {length} bytes")),
    };
    let entries = match decode_offloaded(name, &bytes) {
        Ok(entries) => entries,
        Err(fault @ OffloadedFault::UnknownVersion(_)) => {
            return Err(PortError::permanent(format!("the offloaded segment {name}: {fault}")));
        }
        Err(fault) => return unusable(fault.to_string()),
    };
    let entries: Vec<Arc<Entry>> = entries.into_iter().map(Arc::new).collect();
    match is_whole(&entries, log, segment) {
        true => Ok(OffloadedRead::Whole(entries)),
        false => unusable("it does not hold the whole segment".to_owned()),
    }
}

/// Whether these are all entries of a segment that has ended.
pub(crate) fn is_whole(entries: &[Arc<Entry>], log: LogId, segment: u32) -> bool {
    let first = Position::new(segment, 0).ok();
    let ended = entries.last().is_some_and(|last| matches!(last.content, Content::EndSegment));
    entries.first().map(|entry| entry.position) == first
        && entries.iter().all(|entry| entry.log == log)
        && contiguous(entries).len() == entries.len()
        && ended
}
