//! Offloads and trims old segments. Idempotent, and safe to run during appends and reads.

use std::sync::Arc;

use bytes::Bytes;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_OFFLOADED_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_log::{
    retention::Fences, retention::Keep, retention::OffloadedFault, retention::Plan,
    retention::Policy, retention::Trim, retention::TrimAction, retention::TrimEvent,
    retention::TrimRefusal, retention::Trimmed, retention::encode_offloaded,
    retention::offloaded_key, retention::plan_retention,
};

use crate::logs::{OffloadedRead, is_complete_segment, read_offloaded};
use crate::ports::{BlobKey, Blobs, Clock, Entries, NewBlob, PortError, Retention};
use crate::retry::retried;
use crate::sha256::sha256;

/// Error offloading or trimming a segment. No data is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetentionError {
    /// A store request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// The segment cannot be encoded as one object.
    #[error("segment {segment} of {log} cannot be offloaded: {fault}")]
    Offload { log: LogId, segment: u32, fault: OffloadedFault },
    /// The segment has gaps or no End Segment (last entry).
    #[error("segment {segment} of {log} has gaps or no End Segment; it was not offloaded")]
    NotWhole { log: LogId, segment: u32 },
    /// The trim was refused.
    #[error("segment {segment} of {log} was not trimmed: {refusal}")]
    Trim { log: LogId, segment: u32, refusal: TrimRefusal },
}

/// A segment and its retention plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSegment {
    pub segment: Segment,
    /// Number of entries in the segment, including trimmed entries.
    pub entries: u64,
    /// Total size of the segment's entry bodies in the table, in bytes.
    pub body_bytes: u64,
    /// Time when the segment was closed, in seconds since the Unix epoch; `None` for a log's latest
    /// segment.
    pub ended_s: Option<u64>,
    pub plan: Plan,
}

/// Result of offloading or trimming a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffloadOutcome {
    /// Key of the segment's offloaded copy.
    pub offloaded: Option<String>,
    /// Size of the offloaded copy in bytes, or `None` if this call did not write the copy.
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

    /// Runs an idempotent request with retries.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.clock.as_ref(), call).await
    }

    /// Plans the retention of every segment of every log, one log at a time. Calls `each` for each
    /// planned segment.
    ///
    /// # Errors
    ///
    /// Returns [`RetentionError::Store`] if a request fails.
    pub async fn survey(
        &self,
        policy: Policy,
        mut each: impl FnMut(PlannedSegment),
    ) -> Result<(), RetentionError> {
        let (mut after, mut log_segments) = (None, Vec::<Segment>::new());
        loop {
            let page = self.retried(|| self.retention.all_segments(after.clone())).await?;
            for segment in page.segments {
                if log_segments.first().is_some_and(|first| first.log != segment.log) {
                    self.plan_log(&log_segments, policy, &mut each).await?;
                    log_segments.clear();
                }
                log_segments.push(segment);
            }
            after = page.next;
            if after.is_none() {
                return self.plan_log(&log_segments, policy, &mut each).await;
            }
        }
    }

    async fn plan_log(
        &self,
        log_segments: &[Segment],
        policy: Policy,
        each: &mut impl FnMut(PlannedSegment),
    ) -> Result<(), RetentionError> {
        let Some(newest) = log_segments.iter().map(|segment| segment.num).max() else {
            return Ok(());
        };
        let now_s = self.clock.now_ms() / 1_000;
        for (index, segment) in log_segments.iter().enumerate() {
            // A segment is closed when the next one is opened.
            let ended_s = log_segments.get(index + 1).map(|next| next.created_s);
            let closed_s = ended_s.unwrap_or(now_s);
            let plan_if =
                |is_trimmed| plan_retention(segment, newest, closed_s, is_trimmed, now_s, policy);
            let plan = match plan_if(false) {
                Plan::Keep(keep) => Plan::Keep(keep),
                // Check for an earlier trim only if the segment would be trimmed, since the check
                // costs reads.
                Plan::Trim | Plan::OffloadAndTrim => plan_if(self.is_trimmed(segment).await?),
            };
            let last = self.retried(|| self.entries.last(segment.log, segment.num, false)).await?;
            let count_entries = |last: &Arc<Entry>| u64::from(last.position.entry_number()) + 1;
            each(PlannedSegment {
                segment: segment.clone(),
                entries: last.as_ref().map_or(0, count_entries),
                body_bytes: last.as_ref().map_or(0, |last| last.header.segment_bytes),
                ended_s,
                plan,
            });
        }
        Ok(())
    }

    /// Whether a segment was already trimmed, so that only its first entry and its End Segment
    /// (last entry) remain.
    async fn is_trimmed(&self, segment: &Segment) -> Result<bool, RetentionError> {
        let Ok(first_position) = Position::new(segment.num, 0) else { return Ok(false) };
        let first = self.retried(|| self.entries.get(segment.log, first_position)).await?;
        if !first.is_some_and(|first| first.is_trimmed()) {
            return Ok(false);
        }
        let Some(second) = first_position.next_in_segment() else { return Ok(true) };
        let rest = self.retried(|| self.entries.page(segment.log, second, true)).await?;
        Ok(rest.entries.len() <= 1)
    }

    /// Executes a segment's plan.
    ///
    /// # Errors
    ///
    /// Returns [`RetentionError`], which identifies the segment. The call may be retried.
    pub async fn execute(
        &self,
        planned: &PlannedSegment,
    ) -> Result<OffloadOutcome, RetentionError> {
        let segment = &planned.segment;
        match planned.plan {
            Plan::Keep(Keep::Newest | Keep::TooYoung | Keep::TrimmedAlready | Keep::Inherited) => {
                Ok(OffloadOutcome { offloaded: None, offloaded_bytes: None, deleted: 0 })
            }
            Plan::OffloadAndTrim => self.offload_and_trim(segment).await,
            Plan::Trim => match self.trim(segment, segment.offloaded.as_deref()).await {
                // The offloaded copy is missing or damaged, but the table still contains the
                // entries, so the segment is offloaded again.
                Err(RetentionError::Trim { refusal: TrimRefusal::NotOffloaded, .. }) => {
                    self.offload_and_trim(segment).await
                }
                trimmed => {
                    let Trimmed { deleted } = trimmed?;
                    let offloaded = segment.offloaded.clone();
                    Ok(OffloadOutcome { offloaded, offloaded_bytes: None, deleted })
                }
            },
        }
    }

    async fn offload_and_trim(&self, segment: &Segment) -> Result<OffloadOutcome, RetentionError> {
        let (key, bytes) = self.offload(segment).await?;
        let Trimmed { deleted } = self.trim(segment, Some(&key)).await?;
        Ok(OffloadOutcome { offloaded: Some(key), offloaded_bytes: Some(bytes), deleted })
    }

    /// Packs a segment into an object and records the object key. Returns the key and the size in
    /// bytes.
    async fn offload(&self, segment: &Segment) -> Result<(String, u64), RetentionError> {
        let (log, num) = (segment.log, segment.num);
        let entries = self.whole_segment(log, num).await?;
        let plain: Vec<Entry> = entries.iter().map(|entry| without_trim_mark(entry)).collect();
        let object = encode_offloaded(&plain).map_err(|fault| RetentionError::Offload {
            log,
            segment: num,
            fault,
        })?;
        let key = offloaded_key(log, num, &object);
        let blob_key =
            BlobKey::new(key.clone()).map_err(|error| PortError::permanent(error.to_string()))?;
        let bytes = u64::try_from(object.len()).unwrap_or(u64::MAX);
        let blob = NewBlob {
            key: blob_key,
            sha256: sha256(&object),
            bytes: Bytes::from(object),
            content_type: Some("application/octet-stream".to_owned()),
            content_encoding: None,
            pending: false,
        };
        self.retried(|| self.blobs.put(blob.clone())).await?;
        self.retried(|| self.retention.set_offloaded(log, num, &key)).await?;
        Ok((key, bytes))
    }

    /// Reads all entries of a closed segment.
    async fn whole_segment(
        &self,
        log: LogId,
        segment: u32,
    ) -> Result<Vec<Arc<Entry>>, RetentionError> {
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut next = Position::new(segment, 0).ok();
        while let Some(from) = next {
            let page = self.retried(|| self.entries.page(log, from, true)).await?;
            let last = page.entries.last().map(|last| last.position);
            let bytes = page.entries.last().map_or(0, |last| last.header.segment_bytes);
            if usize::try_from(bytes).map_or(true, |bytes| bytes > MAX_OFFLOADED_BYTES) {
                let fault = OffloadedFault::TooLarge;
                return Err(RetentionError::Offload { log, segment, fault });
            }
            entries.extend(page.entries);
            next = last.filter(|_| page.more).and_then(Position::next_in_segment);
        }
        if is_complete_segment(&entries, log, segment) {
            return Ok(entries);
        }
        Err(RetentionError::NotWhole { log, segment })
    }

    async fn trim(
        &self,
        segment: &Segment,
        offloaded: Option<&str>,
    ) -> Result<Trimmed, RetentionError> {
        let (log, num) = (segment.log, segment.num);
        let start =
            Position::new(num, 0).map_err(|error| PortError::permanent(error.to_string()))?;
        let (mut trim, mut action) = Trim::begin(start, Fences::default());
        let mut store_error = None;
        loop {
            let event = match action {
                TrimAction::Finish(Ok(trimmed)) => return Ok(trimmed),
                TrimAction::Finish(Err(refusal)) => {
                    return Err(match (refusal, store_error) {
                        (TrimRefusal::Store, Some(error)) => RetentionError::Store(error),
                        (refusal, _) => RetentionError::Trim { log, segment: num, refusal },
                    });
                }
                action => self.retried(|| self.perform(log, num, offloaded, &action)).await,
            };
            let event = event.unwrap_or_else(|error| {
                store_error = Some(error);
                TrimEvent::Failed
            });
            (trim, action) = trim.step(event, self.clock.now_ms() / 1_000);
        }
    }

    async fn perform(
        &self,
        log: LogId,
        segment: u32,
        offloaded: Option<&str>,
        action: &TrimAction,
    ) -> Result<TrimEvent, PortError> {
        Ok(match action {
            TrimAction::ReadLast => TrimEvent::Last(self.entries.last(log, segment, true).await?),
            TrimAction::CheckOffloaded { last } => {
                let Some(key) = offloaded else { return Ok(TrimEvent::OffloadedIsIncomplete) };
                match read_offloaded(self.blobs.as_ref(), log, segment, key).await? {
                    OffloadedRead::Whole(entries)
                        if entries.last().is_some_and(|end| end.position == *last) =>
                    {
                        TrimEvent::OffloadedIsComplete
                    }
                    OffloadedRead::Whole(_) | OffloadedRead::Unusable(_) => {
                        TrimEvent::OffloadedIsIncomplete
                    }
                }
            }
            TrimAction::Mark { trimmed_s } => {
                self.retention.mark_trimmed(log, segment, *trimmed_s).await?;
                TrimEvent::Marked
            }
            TrimAction::Read { from } => {
                let page = self.entries.page(log, *from, true).await?;
                TrimEvent::Page { entries: page.entries, has_more: page.more }
            }
            TrimAction::Delete { positions } => {
                self.retention.delete(log, positions).await?;
                TrimEvent::Deleted
            }
            TrimAction::Finish(_) => TrimEvent::Failed,
        })
    }
}

/// Returns the entry without its trim mark, so that every offload of a segment produces the same
/// object.
fn without_trim_mark(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Content::Snapshot { trimmed_s, .. } = &mut entry.content {
        *trimmed_s = None;
    }
    entry
}
