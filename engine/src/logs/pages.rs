//! Reads pages of entries from the table, from the offloaded copy of a trimmed segment, or from the
//! source of a fork.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_OFFLOADED_OBJECT_BYTES, MAX_PAGE_ENTRIES};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::{retention::OffloadedFault, retention::decode_offloaded};

use super::Logs;
use super::append::contiguous_prefix;
use crate::ports::{BlobKey, Blobs, GetOutcome, Page, PortError, ReadConsistency};

/// Caches the entries of the offloaded segment that was read last, identified by its object key. An
/// object key contains a hash of the content, so the cached entries are never outdated.
#[derive(Default)]
pub(super) struct OffloadedCache {
    last: Mutex<Option<(String, SegmentEntries)>>,
}

/// All entries of a segment, in ascending order.
pub(super) type SegmentEntries = Arc<Vec<Arc<Entry>>>;

impl Logs {
    /// If the table lacks entries of the page, the page is read from the offloaded copy of the
    /// segment. Inherited entries are read from the source of the fork.
    pub(super) async fn read_page(
        &self,
        log_id: LogId,
        start_position: Position,
        consistency: ReadConsistency,
    ) -> Result<Page, PortError> {
        if let Some(lineage) = self.lineage_if_inherited(log_id, start_position).await? {
            return self.inherited_page(log_id, lineage, start_position, consistency).await;
        }
        let page = self.entries.page(log_id, start_position, consistency).await?;
        let lacks_start =
            page.entries.first().is_some_and(|entry| entry.position != start_position);
        let has_gap = contiguous_prefix(&page.entries).len() < page.entries.len();
        if !lacks_start && !has_gap {
            return Ok(page);
        }
        match self.offloaded_entries(log_id, start_position.segment(), consistency).await? {
            Some(offloaded_entries) => Ok(offloaded_page(&offloaded_entries, start_position)),
            None => Ok(page),
        }
    }

    /// Returns all entries of a segment from its offloaded copy, or `None` if the copy is missing
    /// or unusable.
    pub(super) async fn offloaded_entries(
        &self,
        log_id: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<SegmentEntries>, PortError> {
        let record = self.segments.segment(log_id, segment, consistency).await?;
        let Some(object_key) = record.and_then(|record| record.offloaded) else { return Ok(None) };
        if let Some(cached_entries) = self.last_offloaded.get(&object_key) {
            return Ok(Some(cached_entries));
        }
        match read_offloaded(self.blobs.as_ref(), log_id, segment, &object_key).await? {
            OffloadedRead::Whole(entries) => {
                let raise_incarnation = |entry: Arc<Entry>| {
                    Arc::new(Arc::unwrap_or_clone(entry).raise_incarnation(self.incarnation))
                };
                let entries = Arc::new(entries.into_iter().map(raise_incarnation).collect());
                self.last_offloaded.insert(&object_key, &entries);
                Ok(Some(entries))
            }
            OffloadedRead::Unusable(reason) => {
                tracing::error!(log = %log_id, segment, object = object_key, reason, "the offloaded segment is unusable");
                Ok(None)
            }
        }
    }
}

fn offloaded_page(segment_entries: &[Arc<Entry>], start_position: Position) -> Page {
    let page_limit = usize::try_from(MAX_PAGE_ENTRIES).unwrap_or(usize::MAX);
    let skipped_count = segment_entries.partition_point(|entry| entry.position < start_position);
    let remaining_entries = segment_entries.get(skipped_count..).unwrap_or_default();
    let more = remaining_entries.len() > page_limit;
    Page { entries: remaining_entries.iter().take(page_limit).cloned().collect(), more }
}

impl OffloadedCache {
    fn get(&self, key: &str) -> Option<SegmentEntries> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (cached_key, entries) = last.as_ref()?;
        if cached_key != key {
            return None;
        }
        Some(Arc::clone(entries))
    }

    fn insert(&self, key: &str, entries: &SegmentEntries) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((key.to_owned(), Arc::clone(entries)));
    }
}

pub(crate) enum OffloadedRead {
    /// All entries of the segment in ascending order.
    Whole(Vec<Arc<Entry>>),
    /// A retry would not help.
    Unusable(String),
}

/// An unknown format version is an error instead of [`OffloadedRead::Unusable`], since a newer
/// release can read the copy.
pub(crate) async fn read_offloaded(
    blobs: &dyn Blobs,
    log_id: LogId,
    segment: u32,
    object_key: &str,
) -> Result<OffloadedRead, PortError> {
    let bytes = match get_offloaded_object(blobs, object_key).await? {
        OffloadedObject::Found(bytes) => bytes,
        OffloadedObject::Unusable(reason) => return Ok(OffloadedRead::Unusable(reason)),
    };
    let entries = match decode_offloaded(object_key, &bytes) {
        Ok(entries) => entries,
        Err(fault @ OffloadedFault::UnknownVersion(_)) => {
            return Err(PortError::permanent(format!(
                "cannot read the offloaded segment {object_key}: {fault}"
            )));
        }
        Err(fault) => return Ok(OffloadedRead::Unusable(fault.to_string())),
    };
    let entries: Vec<Arc<Entry>> = entries.into_iter().map(Arc::new).collect();
    if !is_complete_segment(&entries, log_id, segment) {
        let reason = "the object does not contain every entry of the segment";
        return Ok(OffloadedRead::Unusable(reason.to_owned()));
    }
    Ok(OffloadedRead::Whole(entries))
}

enum OffloadedObject {
    Found(Bytes),
    /// The object key is invalid, or the object is missing or too long.
    Unusable(String),
}

async fn get_offloaded_object(
    blobs: &dyn Blobs,
    object_key: &str,
) -> Result<OffloadedObject, PortError> {
    let key = match BlobKey::new(object_key) {
        Ok(key) => key,
        Err(error) => return Ok(OffloadedObject::Unusable(error.to_string())),
    };
    let max_bytes = u64::try_from(MAX_OFFLOADED_OBJECT_BYTES).unwrap_or(u64::MAX);
    match blobs.get(&key, max_bytes).await? {
        GetOutcome::Found { bytes, .. } => Ok(OffloadedObject::Found(bytes)),
        GetOutcome::Absent => Ok(OffloadedObject::Unusable("the object does not exist".to_owned())),
        GetOutcome::TooLong { length } => Ok(OffloadedObject::Unusable(format!(
            "the object is {length} bytes long, but the maximum is {max_bytes} bytes"
        ))),
    }
}

pub(crate) fn is_complete_segment(entries: &[Arc<Entry>], log_id: LogId, segment: u32) -> bool {
    let start = Position::new(segment, 0).ok();
    let is_closed = entries.last().is_some_and(|last| matches!(last.content, Content::EndSegment));
    entries.first().map(|entry| entry.position) == start
        && entries.iter().all(|entry| entry.log == log_id)
        && contiguous_prefix(entries).len() == entries.len()
        && is_closed
}
