//! Offloads and trims old segments: run by an operator, at any time, any
//! number of times, also while others append and read.

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
    retention::offloaded_key, retention::plan,
};

use crate::logs::{OffloadedRead, is_whole, read_offloaded};
use crate::ports::{BlobKey, Blobs, Clock, Entries, NewBlob, PortError, Retention};
use crate::retry::retried;
use crate::sha256::sha256;

/// Why a segment could not be offloaded or trimmed; nothing is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetentionError {
    /// The store does not answer or refuses.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// It does not fit an offloaded segment.
    #[error("segment {segment} of {log} cannot be offloaded: {fault}")]
    Offload {
        /// The log.
        log: LogId,
        /// The segment.
        segment: u32,
        /// Why.
        fault: OffloadedFault,
    },
    /// It has holes, or no End Segment.
    #[error("segment {segment} of {log} is not whole: it is left as it is")]
    NotWhole {
        /// The log.
        log: LogId,
        /// The segment.
        segment: u32,
    },
    /// The trim was given up.
    #[error("segment {segment} of {log} was not trimmed: {refusal}")]
    Trim {
        /// The log.
        log: LogId,
        /// The segment.
        segment: u32,
        /// Why.
        refusal: TrimRefusal,
    },
}

/// A segment, and what is to be done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The segment.
    pub segment: Segment,
    /// Entries that it has, or had before it was trimmed.
    pub entries: u64,
    /// Bytes of their bodies in the table.
    pub body_bytes: u64,
    /// When it ended, Unix seconds; the newest of a log has not.
    pub ended_s: Option<u64>,
    /// What is to be done.
    pub plan: Plan,
}

/// What was done with a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The key of its offloaded copy.
    pub offloaded: Option<String>,
    /// Bytes of the offloaded segment, if it was written now.
    pub offloaded_bytes: Option<u64>,
    /// Entries deleted from the table.
    pub deleted: u64,
}

/// Offloading and trimming over the ports.
pub struct Offloader {
    entries: Arc<dyn Entries>,
    retention: Arc<dyn Retention>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
}

impl Offloader {
    /// Over these ports.
    #[must_use]
    pub fn new(
        entries: Arc<dyn Entries>,
        retention: Arc<dyn Retention>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { entries, retention, blobs, clock }
    }

    /// Repeats what failed for a while: all of it is idempotent.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.clock.as_ref(), call).await
    }

    /// Plans for every segment of every log; `each` gets them log by log, as they are read.
    ///
    /// # Errors
    /// [`RetentionError::Store`].
    pub async fn survey(
        &self,
        policy: Policy,
        mut each: impl FnMut(Planned),
    ) -> Result<(), RetentionError> {
        let (mut after, mut log) = (None, Vec::<Segment>::new());
        loop {
            let page = self.retried(|| self.retention.all_segments(after.clone())).await?;
            for segment in page.segments {
                if log.first().is_some_and(|first| first.log != segment.log) {
                    self.plan_log(&std::mem::take(&mut log), policy, &mut each).await?;
                }
                log.push(segment);
            }
            after = page.next;
            if after.is_none() {
                return self.plan_log(&log, policy, &mut each).await;
            }
        }
    }

    async fn plan_log(
        &self,
        log: &[Segment],
        policy: Policy,
        each: &mut impl FnMut(Planned),
    ) -> Result<(), RetentionError> {
        let Some(newest) = log.iter().map(|segment| segment.num).max() else { return Ok(()) };
        let now_s = self.clock.now_ms() / 1_000;
        for (index, segment) in log.iter().enumerate() {
            // A segment ends when the one behind it begins.
            let ended_s = log.get(index.saturating_add(1)).map(|next| next.created_s);
            let closed_s = ended_s.unwrap_or(now_s);
            let planned = |trimmed| plan(segment, newest, closed_s, trimmed, now_s, policy);
            let plan = match planned(false) {
                Plan::Keep(keep) => Plan::Keep(keep),
                // Only for these is a read spent.
                _ => planned(self.is_trimmed(segment).await?),
            };
            let last = || self.entries.last(segment.log, segment.num, false);
            let last = self.retried(last).await?;
            let count = |last: &Arc<Entry>| u64::from(last.position.num()).saturating_add(1);
            each(Planned {
                segment: segment.clone(),
                entries: last.as_ref().map_or(0, count),
                body_bytes: last.as_ref().map_or(0, |last| last.header.segment_bytes),
                ended_s,
                plan,
            });
        }
        Ok(())
    }

    /// A segment of which nothing but its first entry and its End Segment is left.
    async fn is_trimmed(&self, segment: &Segment) -> Result<bool, RetentionError> {
        let Ok(first) = Position::new(segment.num, 0) else { return Ok(false) };
        let marked = self.retried(|| self.entries.get(segment.log, first)).await?;
        if !marked.is_some_and(|first| first.is_trimmed()) {
            return Ok(false);
        }
        let Some(behind) = first.next_in_segment() else { return Ok(true) };
        let left = self.retried(|| self.entries.page(segment.log, behind, true)).await?;
        Ok(left.entries.len() <= 1)
    }

    /// Does what was planned.
    ///
    /// # Errors
    /// [`RetentionError`] with the segment; repeat it later.
    pub async fn carry_out(&self, planned: &Planned) -> Result<Done, RetentionError> {
        let segment = &planned.segment;
        let (key, offloaded_bytes) = match planned.plan {
            Plan::Keep(Keep::Newest | Keep::TooYoung | Keep::TrimmedAlready | Keep::Inherited) => {
                return Ok(Done { offloaded: None, offloaded_bytes: None, deleted: 0 });
            }
            Plan::Trim => match self.trim(segment, segment.offloaded.as_deref()).await {
                // The object was lost or damaged while the entries are still there: once more.
                Err(RetentionError::Trim { refusal: TrimRefusal::NotOffloaded, .. }) => {
                    let (key, bytes) = self.offload(segment).await?;
                    (key, Some(bytes))
                }
                trimmed => {
                    let Trimmed { deleted } = trimmed?;
                    let offloaded = segment.offloaded.clone();
                    return Ok(Done { offloaded, offloaded_bytes: None, deleted });
                }
            },
            Plan::OffloadAndTrim => {
                let (key, bytes) = self.offload(segment).await?;
                (key, Some(bytes))
            }
        };
        let Trimmed { deleted } = self.trim(segment, Some(&key)).await?;
        Ok(Done { offloaded: Some(key), offloaded_bytes, deleted })
    }

    /// Packs a segment into an object and records its key; gives the key and its bytes.
    async fn offload(&self, segment: &Segment) -> Result<(String, u64), RetentionError> {
        let (log, num) = (segment.log, segment.num);
        let entries = self.whole_segment(log, num).await?;
        let plain: Vec<Entry> = entries.iter().map(|entry| unmarked(entry)).collect();
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

    /// All entries of a segment that has ended.
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
        if is_whole(&entries, log, segment) {
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
                let Some(key) = offloaded else { return Ok(TrimEvent::OffloadedIsDamaged) };
                match read_offloaded(self.blobs.as_ref(), log, segment, key).await? {
                    OffloadedRead::Whole(entries)
                        if entries.last().is_some_and(|end| end.position == *last) =>
                    {
                        TrimEvent::OffloadedIsComplete
                    }
                    OffloadedRead::Whole(_) | OffloadedRead::Unusable(_) => {
                        TrimEvent::OffloadedIsDamaged
                    }
                }
            }
            TrimAction::Mark { trimmed_s } => {
                self.retention.mark_trimmed(log, segment, *trimmed_s).await?;
                TrimEvent::Marked
            }
            TrimAction::Read { from } => {
                let page = self.entries.page(log, *from, true).await?;
                TrimEvent::Page { entries: page.entries, more: page.more }
            }
            TrimAction::Delete { positions } => {
                self.retention.delete(log, positions).await?;
                TrimEvent::Deleted
            }
            TrimAction::Finish(_) => TrimEvent::Failed,
        })
    }
}

/// An entry as it was before a trim marked it: an offloaded segment is the same however often it is made.
fn unmarked(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Content::Snapshot { trimmed_s, .. } = &mut entry.content {
        *trimmed_s = None;
    }
    entry
}
