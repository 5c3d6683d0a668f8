//! Offloads old log segments to objects and trims them in the table. May run concurrently with
//! appends and reads, and may be repeated.

use std::sync::Arc;

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_OFFLOADED_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_log::{
    retention::Fences, retention::KeepReason, retention::OffloadedFault, retention::Plan,
    retention::Policy, retention::Trim, retention::TrimAction, retention::TrimEvent,
    retention::TrimRefusal, retention::Trimmed, retention::encode_offloaded,
    retention::offloaded_key, retention::plan_retention,
};

use crate::log_segment_scan::LogSegmentScan;
use crate::logs::{OffloadedRead, is_complete_segment, read_offloaded};
use crate::ports::{
    BlobKey, Blobs, Clock, Entries, NewBlob, PortError, ReadConsistency, Retention,
};
use crate::retry::retry_temporary_errors;
use crate::sha256::sha256;
use crate::unexpected_event::log_unexpected;

/// Error that occurs while a segment is offloaded or trimmed. No data is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetentionError {
    /// A store request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// The segment cannot be encoded as one object, for example because it is too large.
    #[error("cannot offload segment {segment} of log {log}: {fault}")]
    Offload { log: LogId, segment: u32, fault: OffloadedFault },
    /// Entries are missing from the segment, or the segment is not closed.
    #[error("segment {segment} of log {log} is incomplete, so it was not offloaded")]
    NotWhole { log: LogId, segment: u32 },
    /// The trim was refused.
    #[error("cannot trim segment {segment} of log {log}: {refusal}")]
    Trim { log: LogId, segment: u32, refusal: TrimRefusal },
}

/// A segment and its retention plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSegment {
    pub segment: Segment,
    /// Number of entries in the segment, including trimmed entries.
    pub entries: u64,
    /// Total size in bytes of the bodies of the segment's entries in the table.
    pub body_bytes: u64,
    /// Time at which the segment was closed, in seconds since the Unix epoch. `None` for the latest
    /// segment of a log, which is still open.
    pub ended_s: Option<u64>,
    pub plan: Plan,
}

/// Result of offloading or trimming a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffloadOutcome {
    /// Key of the segment's offloaded copy.
    pub offloaded: Option<String>,
    /// Size of the offloaded copy in bytes, if this call wrote it.
    pub offloaded_bytes: Option<u64>,
    /// Number of entries deleted from the table.
    pub deleted: u64,
}

/// Offloads and trims segments.
pub struct Offloader {
    entries: Arc<dyn Entries>,
    retention: Arc<dyn Retention>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
}

impl Offloader {
    /// Creates an offloader over these ports.
    #[must_use]
    pub fn new(
        entries: Arc<dyn Entries>,
        retention: Arc<dyn Retention>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { entries, retention, blobs, clock }
    }

    /// Performs an idempotent request. Temporary failures are retried for a limited time.
    async fn retry<T, F>(&self, send_request: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retry_temporary_errors(self.clock.as_ref(), send_request).await
    }

    /// Plans for each segment of each log whether it is offloaded and trimmed. Calls `report` for
    /// each segment.
    ///
    /// # Errors
    ///
    /// Returns [`RetentionError::Store`] if a request fails.
    pub async fn plan_all_logs(
        &self,
        policy: Policy,
        mut report: impl FnMut(PlannedSegment),
    ) -> Result<(), RetentionError> {
        let mut all_logs = LogSegmentScan::new(self.retention.as_ref(), self.clock.as_ref());
        while let Some(log_segments) = all_logs.next_log().await? {
            self.plan_log(&log_segments, policy, &mut report).await?;
        }
        Ok(())
    }

    async fn plan_log(
        &self,
        log_segments: &[Segment],
        policy: Policy,
        report: &mut impl FnMut(PlannedSegment),
    ) -> Result<(), RetentionError> {
        let Some(newest_number) = log_segments.iter().map(|segment| segment.num).max() else {
            return Ok(());
        };
        for (index, segment) in log_segments.iter().enumerate() {
            // A segment is closed when the next segment is opened.
            let ended_s = log_segments.get(index + 1).map(|next_segment| next_segment.created_s);
            let plan = self.plan_segment(segment, newest_number, ended_s, policy).await?;
            let Segment { log: log_id, num, .. } = *segment;
            let last_entry =
                self.retry(|| self.entries.last(log_id, num, ReadConsistency::Eventual)).await?;
            let entry_count = |last: &Arc<Entry>| u64::from(last.position.entry_number()) + 1;
            report(PlannedSegment {
                segment: segment.clone(),
                entries: last_entry.as_ref().map_or(0, entry_count),
                body_bytes: last_entry.map_or(0, |last| last.header.segment_bytes),
                ended_s,
                plan,
            });
        }
        Ok(())
    }

    async fn plan_segment(
        &self,
        segment: &Segment,
        newest_number: u32,
        ended_s: Option<u64>,
        policy: Policy,
    ) -> Result<Plan, RetentionError> {
        let now_s = self.clock.now_ms() / 1_000;
        let closed_s = ended_s.unwrap_or(now_s);
        let plan_assuming_trimmed = |is_trimmed: bool| {
            plan_retention(segment, newest_number, closed_s, is_trimmed, now_s, policy)
        };
        match plan_assuming_trimmed(false) {
            Plan::Keep(reason) => Ok(Plan::Keep(reason)),
            // Only a segment that would be trimmed is read, to find out whether it was already
            // trimmed.
            Plan::Trim | Plan::OffloadAndTrim => {
                Ok(plan_assuming_trimmed(self.is_trimmed(segment).await?))
            }
        }
    }

    /// Returns whether a segment was already trimmed, so that only its first and last entry are in
    /// the table.
    async fn is_trimmed(&self, segment: &Segment) -> Result<bool, RetentionError> {
        let Ok(first_position) = Position::new(segment.num, 0) else { return Ok(false) };
        let first_entry = self.retry(|| self.entries.get(segment.log, first_position)).await?;
        let has_trim_mark = first_entry.is_some_and(|entry| entry.is_trimmed());
        if !has_trim_mark {
            return Ok(false);
        }
        let Some(second_position) = first_position.next_in_segment() else { return Ok(true) };
        let later_page = self
            .retry(|| self.entries.page(segment.log, second_position, ReadConsistency::Strong))
            .await?;
        let has_only_end_segment = later_page.entries.len() <= 1;
        Ok(has_only_end_segment)
    }

    /// Offloads and trims a segment according to its plan.
    ///
    /// # Errors
    ///
    /// Returns [`RetentionError`] if the plan could not be completed. A retry is safe.
    pub async fn execute(
        &self,
        planned_segment: &PlannedSegment,
    ) -> Result<OffloadOutcome, RetentionError> {
        let segment = &planned_segment.segment;
        match planned_segment.plan {
            Plan::Keep(
                KeepReason::Newest
                | KeepReason::TooYoung
                | KeepReason::TrimmedAlready
                | KeepReason::Inherited,
            ) => Ok(OffloadOutcome { offloaded: None, offloaded_bytes: None, deleted: 0 }),
            Plan::OffloadAndTrim => self.offload_and_trim(segment).await,
            Plan::Trim => match self.trim(segment, segment.offloaded.as_deref()).await {
                Ok(Trimmed { deleted }) => {
                    let offloaded = segment.offloaded.clone();
                    Ok(OffloadOutcome { offloaded, offloaded_bytes: None, deleted })
                }
                // The offloaded copy is missing or damaged, but the table still contains the
                // entries. Offload the segment again.
                Err(RetentionError::Trim { refusal: TrimRefusal::NotOffloaded, .. }) => {
                    self.offload_and_trim(segment).await
                }
                Err(error) => Err(error),
            },
        }
    }

    async fn offload_and_trim(&self, segment: &Segment) -> Result<OffloadOutcome, RetentionError> {
        let OffloadedCopy { key, bytes } = self.offload(segment).await?;
        let Trimmed { deleted } = self.trim(segment, Some(&key)).await?;
        Ok(OffloadOutcome { offloaded: Some(key), offloaded_bytes: Some(bytes), deleted })
    }

    async fn offload(&self, segment: &Segment) -> Result<OffloadedCopy, RetentionError> {
        let Segment { log: log_id, num, .. } = *segment;
        let entries = self.read_whole_segment(log_id, num).await?;
        let entries: Vec<Entry> = entries.iter().map(|entry| without_trim_mark(entry)).collect();
        let object = encode_offloaded(&entries).map_err(|fault| RetentionError::Offload {
            log: log_id,
            segment: num,
            fault,
        })?;
        let key = offloaded_key(log_id, num, &object);
        let bytes = u64::try_from(object.len()).unwrap_or(u64::MAX);
        let blob = NewBlob {
            key: BlobKey::new(key.clone()).map_err(PortError::from_permanent)?,
            sha256: sha256(&object),
            bytes: Bytes::from(object),
            content_type: Some("application/octet-stream".to_owned()),
            content_encoding: None,
            pending: false,
        };
        self.retry(|| self.blobs.put(blob.clone())).await?;
        self.retry(|| self.retention.set_offloaded(log_id, num, &key)).await?;
        Ok(OffloadedCopy { key, bytes })
    }

    async fn read_whole_segment(
        &self,
        log_id: LogId,
        segment: u32,
    ) -> Result<Vec<Arc<Entry>>, RetentionError> {
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut next_position = Position::new(segment, 0).ok();
        while let Some(page_start) = next_position {
            let page = self
                .retry(|| self.entries.page(log_id, page_start, ReadConsistency::Strong))
                .await?;
            let Some(last_entry) = page.entries.last() else { break };
            let is_too_large = usize::try_from(last_entry.header.segment_bytes)
                .map_or(true, |segment_bytes| segment_bytes > MAX_OFFLOADED_BYTES);
            if is_too_large {
                let fault = OffloadedFault::TooLarge;
                return Err(RetentionError::Offload { log: log_id, segment, fault });
            }
            next_position = if page.more { last_entry.position.next_in_segment() } else { None };
            entries.extend(page.entries);
        }
        if is_complete_segment(&entries, log_id, segment) {
            return Ok(entries);
        }
        Err(RetentionError::NotWhole { log: log_id, segment })
    }

    async fn trim(
        &self,
        segment: &Segment,
        offloaded_key: Option<&str>,
    ) -> Result<Trimmed, RetentionError> {
        let Segment { log: log_id, num, .. } = *segment;
        let segment_start = Position::new(num, 0).map_err(PortError::from_permanent)?;
        let (mut trim, mut action) = Trim::begin(segment_start, Fences::default());
        let mut last_store_error = None;
        loop {
            let event = match action {
                TrimAction::Finish(Ok(trimmed)) => return Ok(trimmed),
                TrimAction::Finish(Err(refusal)) => {
                    if let TrimRefusal::Unexpected(fault) = &refusal {
                        log_unexpected(fault);
                    }
                    return Err(match (refusal, last_store_error) {
                        (TrimRefusal::Store, Some(error)) => RetentionError::Store(error),
                        (refusal, _) => RetentionError::Trim { log: log_id, segment: num, refusal },
                    });
                }
                action => {
                    let perform = || self.perform_trim(log_id, num, offloaded_key, &action);
                    match self.retry(perform).await {
                        Ok(event) => event,
                        Err(error) => {
                            last_store_error = Some(error);
                            TrimEvent::Failed
                        }
                    }
                }
            };
            (trim, action) = trim.step(event, self.clock.now_ms() / 1_000);
        }
    }

    async fn perform_trim(
        &self,
        log_id: LogId,
        segment: u32,
        offloaded_key: Option<&str>,
        action: &TrimAction,
    ) -> Result<TrimEvent, PortError> {
        match action {
            TrimAction::ReadLast => Ok(TrimEvent::Last(
                self.entries.last(log_id, segment, ReadConsistency::Strong).await?,
            )),
            TrimAction::CheckOffloaded { last } => {
                self.check_offloaded(log_id, segment, offloaded_key, *last).await
            }
            TrimAction::Mark { trimmed_s } => {
                self.retention.mark_trimmed(log_id, segment, *trimmed_s).await?;
                Ok(TrimEvent::Marked)
            }
            TrimAction::Read { from } => {
                let page = self.entries.page(log_id, *from, ReadConsistency::Strong).await?;
                Ok(TrimEvent::Page { entries: page.entries, has_more: page.more })
            }
            TrimAction::Delete { positions } => {
                self.retention.delete(log_id, positions).await?;
                Ok(TrimEvent::Deleted)
            }
            TrimAction::Finish(_) => Err(PortError::permanent("the trim has finished")),
        }
    }

    async fn check_offloaded(
        &self,
        log_id: LogId,
        segment: u32,
        offloaded_key: Option<&str>,
        last_position: Position,
    ) -> Result<TrimEvent, PortError> {
        let Some(object_key) = offloaded_key else { return Ok(TrimEvent::OffloadedIsIncomplete) };
        match read_offloaded(self.blobs.as_ref(), log_id, segment, object_key).await? {
            OffloadedRead::Whole(entries)
                if entries.last().is_some_and(|end| end.position == last_position) =>
            {
                Ok(TrimEvent::OffloadedIsComplete)
            }
            OffloadedRead::Whole(_) | OffloadedRead::Unusable(_) => {
                Ok(TrimEvent::OffloadedIsIncomplete)
            }
        }
    }
}

struct OffloadedCopy {
    key: String,
    bytes: u64,
}

/// Returns a copy of the entry without the attribute that marks its segment as trimmed, so that
/// offloading the segment again produces the same object.
fn without_trim_mark(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Content::Snapshot { trimmed_s, .. } = &mut entry.content {
        *trimmed_s = None;
    }
    entry
}
