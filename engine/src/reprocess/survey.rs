//! Surveys logs and reports findings.

use std::collections::BTreeMap;

use cellar_base::identity::LogId;
use cellar_base::limits::ABANDONED_S;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::is_finished;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::walk::{PageRead, SegmentReader};
use super::{Finding, FindingKind, Reprocess, Scope, SurveyCounts};
use crate::log_segment_scan::LogSegmentScan;
use crate::ports::{BlobKey, PortError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingState {
    pub(super) silent_s: u64,
    pub(super) is_rebuild: bool,
}

impl PendingState {
    /// Whether a worker is probably active, since the record was written recently.
    pub(super) fn is_alive(self) -> bool {
        self.silent_s < ABANDONED_S
    }

    fn to_finding(self) -> FindingKind {
        let silent_s = self.silent_s;
        if self.is_alive() {
            FindingKind::InProgress { silent_s }
        } else {
            FindingKind::Abandoned { silent_s }
        }
    }

    pub(super) fn is_active_rebuild(self) -> bool {
        self.is_rebuild && self.is_alive()
    }
}

impl Reprocess {
    /// Surveys the logs in `scope`. Calls `report` as soon as something is found. For each log,
    /// pending records are reported first, followed by entries in ascending order.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a request fails. Unreadable data is reported as a finding instead.
    pub async fn survey(
        &self,
        scope: Scope,
        mut report: impl FnMut(Finding),
    ) -> Result<SurveyCounts, PortError> {
        let mut counts = SurveyCounts::default();
        match scope.log {
            Some(log) => {
                let segments = self.segments_of(log).await?;
                self.survey_log(&segments, scope, &mut counts, &mut report).await?;
            }
            None => self.survey_all_logs(scope, &mut counts, &mut report).await?,
        }
        Ok(counts)
    }

    async fn survey_all_logs(
        &self,
        scope: Scope,
        counts: &mut SurveyCounts,
        report: &mut impl FnMut(Finding),
    ) -> Result<(), PortError> {
        let (retention, clock) = (self.ports.retention.as_ref(), self.ports.clock.as_ref());
        let mut all_logs = LogSegmentScan::new(retention, clock);
        while let Some(log_segments) = all_logs.next_log().await? {
            self.survey_log(&log_segments, scope, counts, report).await?;
        }
        Ok(())
    }

    /// `segments` must contain all segments of the log in ascending order.
    async fn survey_log(
        &self,
        segments: &[Segment],
        scope: Scope,
        counts: &mut SurveyCounts,
        report: &mut impl FnMut(Finding),
    ) -> Result<(), PortError> {
        let Some(log) = segments.first().map(|segment| segment.log) else { return Ok(()) };
        counts.logs += 1;
        let pending_states = self.pending_states(log).await?;
        for (position, pending_state) in &pending_states {
            counts.pending += 1;
            report(Finding { log, at: *position, kind: pending_state.to_finding() });
        }
        for (index, segment) in segments.iter().enumerate() {
            let next_segment = segments.get(index + 1);
            if !may_contain_surveyed_entries(segment, next_segment, scope.since_s) {
                continue;
            }
            counts.segments += 1;
            let survey = SegmentSurvey {
                segment,
                is_newest: next_segment.is_none(),
                since_s: scope.since_s,
                pending_states: &pending_states,
            };
            self.survey_segment(&survey, counts, report).await?;
        }
        Ok(())
    }

    async fn survey_segment(
        &self,
        survey: &SegmentSurvey<'_>,
        counts: &mut SurveyCounts,
        report: &mut impl FnMut(Finding),
    ) -> Result<(), PortError> {
        let SegmentSurvey { segment, is_newest, since_s, .. } = *survey;
        let log = segment.log;
        let segment_start = Position::new(segment.num, 0)
            .map_err(|error| PortError::permanent(error.to_string()))?;
        let mut reader = SegmentReader::new(self, segment, is_newest, segment_start);
        loop {
            let page = match reader.read_page().await? {
                PageRead::Page(page) => page,
                PageRead::Unreadable { at, why } => {
                    report(Finding { log, at, kind: FindingKind::Unreadable { why } });
                    return Ok(());
                }
                PageRead::End => return Ok(()),
            };
            for entry in page.entries.iter().filter(|entry| entry.created_s >= since_s) {
                let finding = self.survey_entry(survey, entry, page.is_offloaded, counts).await?;
                if let Some(kind) = finding {
                    report(Finding { log, at: entry.position, kind });
                }
            }
        }
    }

    async fn survey_entry(
        &self,
        survey: &SegmentSurvey<'_>,
        entry: &Entry,
        is_offloaded: bool,
        counts: &mut SurveyCounts,
    ) -> Result<Option<FindingKind>, PortError> {
        counts.entries += 1;
        match &entry.content {
            Content::Snapshot { .. } => {
                counts.snapshots += 1;
                Ok(survey.check_snapshot_entry(entry, is_offloaded))
            }
            Content::External(external) => {
                counts.bodies += 1;
                self.check_body_object(&external.object).await
            }
            Content::Edits(_) | Content::EndSegment => Ok(None),
        }
    }

    /// Returns `None` if the object is intact.
    pub(super) async fn check_body_object(
        &self,
        body_key: &str,
    ) -> Result<Option<FindingKind>, PortError> {
        let lost_body = FindingKind::BodyLost { key: body_key.to_owned() };
        let Ok(blob_key) = BlobKey::new(body_key) else { return Ok(Some(lost_body)) };
        let has_pending_tag = self.retried(|| self.ports.blobs.pending(&blob_key)).await?;
        match has_pending_tag {
            None => Ok(Some(lost_body)),
            Some(true) => Ok(Some(FindingKind::BodyPending { key: body_key.to_owned() })),
            Some(false) => Ok(None),
        }
    }

    pub(super) async fn pending_states(
        &self,
        log: LogId,
    ) -> Result<BTreeMap<Position, PendingState>, PortError> {
        let now_s = self.now_s();
        let mut states = BTreeMap::new();
        let job_at_end = SnapshotJob { log, position: Position::LAST };
        let mut next_record = self.retried(|| self.ports.pending.first_up_to(job_at_end)).await?;
        while let Some(record) = next_record {
            let silent_s = now_s.abs_diff(record.modified_s);
            let is_rebuild = record.rebuild.is_some();
            states.insert(record.job.position, PendingState { silent_s, is_rebuild });
            next_record = self.retried(|| self.ports.pending.first_after(record.job)).await?;
        }
        Ok(states)
    }
}

fn may_contain_surveyed_entries(
    segment: &Segment,
    next_segment: Option<&Segment>,
    since_s: u64,
) -> bool {
    // Inherited segments are surveyed with the source of the fork.
    let is_inherited = segment.lineage.is_some();
    // A segment is closed when the next segment is created, so it contains no newer entries.
    let is_too_old = next_segment.is_some_and(|next_segment| next_segment.created_s < since_s);
    !is_inherited && !is_too_old
}

struct SegmentSurvey<'a> {
    segment: &'a Segment,
    is_newest: bool,
    /// Entries created before this time are skipped, in seconds since the Unix epoch.
    since_s: u64,
    pending_states: &'a BTreeMap<Position, PendingState>,
}

impl SegmentSurvey<'_> {
    /// Returns `None` if the entry needs no snapshot, or if the snapshot has a pending record,
    /// which is reported separately.
    fn check_snapshot_entry(&self, entry: &Entry, is_offloaded: bool) -> Option<FindingKind> {
        let Content::Snapshot { root: None, .. } = entry.content else { return None };
        let position = entry.position;
        if position == Position::FIRST || self.pending_states.contains_key(&position) {
            return None;
        }
        let is_last_snapshot = self.segment.last_snapshot == Some(position.entry_number());
        if is_last_snapshot {
            Some(FindingKind::RootMissing)
        } else if is_finished(self.segment, position) {
            Some(FindingKind::Skipped)
        } else if is_offloaded {
            Some(FindingKind::Offloaded)
        } else {
            Some(FindingKind::NotBuilt)
        }
    }
}
