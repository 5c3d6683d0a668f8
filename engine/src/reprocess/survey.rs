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
use crate::ports::{BlobKey, PortError};

/// The parts of a pending record that a survey needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingState {
    /// Seconds since the last write of the record.
    pub(super) silent_s: u64,
    /// Whether the record belongs to a rebuild.
    pub(super) is_rebuild: bool,
}

impl PendingState {
    /// Whether a worker wrote the record recently.
    pub(super) fn is_alive(self) -> bool {
        self.silent_s < ABANDONED_S
    }

    /// Whether a worker is rebuilding the snapshot.
    pub(super) fn is_active_rebuild(self) -> bool {
        self.is_rebuild && self.is_alive()
    }
}

impl Reprocess {
    /// Surveys all logs in the scope, one at a time. Calls `report` immediately for each finding:
    /// first for pending records, then for entries in ascending order.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a port fails. Unreadable data is reported as a finding, not as an
    /// error.
    pub async fn survey(
        &self,
        scope: Scope,
        mut report: impl FnMut(Finding),
    ) -> Result<SurveyCounts, PortError> {
        let mut counts = SurveyCounts::default();
        if let Some(log) = scope.log {
            let segments = self.segments_of(log).await?;
            self.survey_log(&segments, scope, &mut counts, &mut report).await?;
            return Ok(counts);
        }
        let (mut after, mut log_segments) = (None, Vec::<Segment>::new());
        loop {
            let page = self.retried(|| self.ports.retention.all_segments(after.clone())).await?;
            for segment in page.segments {
                if log_segments.first().is_some_and(|first| first.log != segment.log) {
                    let segments = std::mem::take(&mut log_segments);
                    self.survey_log(&segments, scope, &mut counts, &mut report).await?;
                }
                log_segments.push(segment);
            }
            after = page.next;
            if after.is_none() {
                self.survey_log(&log_segments, scope, &mut counts, &mut report).await?;
                return Ok(counts);
            }
        }
    }

    async fn survey_log(
        &self,
        segments: &[Segment],
        scope: Scope,
        counts: &mut SurveyCounts,
        report: &mut impl FnMut(Finding),
    ) -> Result<(), PortError> {
        let Some(log) = segments.first().map(|segment| segment.log) else { return Ok(()) };
        counts.logs += 1;
        let pending = self.pending_states(log).await?;
        for (at, pending) in &pending {
            counts.pending += 1;
            let silent_s = pending.silent_s;
            let kind = if pending.is_alive() {
                FindingKind::InProgress { silent_s }
            } else {
                FindingKind::Abandoned { silent_s }
            };
            report(Finding { log, at: *at, kind });
        }
        for (index, segment) in segments.iter().enumerate() {
            // Inherited segments of a fork are surveyed with its source.
            if segment.lineage.is_some() {
                continue;
            }
            let next = segments.get(index.saturating_add(1));
            // A segment is closed when the next segment is created.
            if next.is_none_or(|next| next.created_s >= scope.since_s) {
                counts.segments += 1;
                let survey = SegmentSurvey { segment, since_s: scope.since_s, pending: &pending };
                self.survey_segment(&survey, next.is_none(), counts, report).await?;
            }
        }
        Ok(())
    }

    async fn survey_segment(
        &self,
        survey: &SegmentSurvey<'_>,
        is_newest: bool,
        counts: &mut SurveyCounts,
        report: &mut impl FnMut(Finding),
    ) -> Result<(), PortError> {
        let (log, num) = (survey.segment.log, survey.segment.num);
        let start =
            Position::new(num, 0).map_err(|error| PortError::permanent(error.to_string()))?;
        let mut reader = SegmentReader::new(self, survey.segment, is_newest, start);
        loop {
            let page = match reader.read_page().await? {
                PageRead::Page(page) => page,
                PageRead::Unreadable { at, why } => {
                    report(Finding { log, at, kind: FindingKind::Unreadable { why } });
                    return Ok(());
                }
                PageRead::End => return Ok(()),
            };
            for entry in page.entries.iter().filter(|entry| entry.created_s >= survey.since_s) {
                counts.entries += 1;
                let kind = match &entry.content {
                    Content::Snapshot { .. } => {
                        counts.snapshots += 1;
                        survey.find_unbuilt(entry, page.is_offloaded)
                    }
                    Content::External(external) => {
                        counts.bodies += 1;
                        self.check_body_object(&external.object).await?
                    }
                    Content::Edits(_) | Content::EndSegment => None,
                };
                if let Some(kind) = kind {
                    report(Finding { log, at: entry.position, kind });
                }
            }
        }
    }

    /// Returns the finding for an external body, or `None` if the body is intact.
    pub(super) async fn check_body_object(
        &self,
        object: &str,
    ) -> Result<Option<FindingKind>, PortError> {
        let lost = || Some(FindingKind::BodyLost { key: object.to_owned() });
        let Ok(key) = BlobKey::new(object) else { return Ok(lost()) };
        Ok(match self.retried(|| self.ports.blobs.pending(&key)).await? {
            Some(false) => None,
            Some(true) => Some(FindingKind::BodyPending { key: object.to_owned() }),
            None => lost(),
        })
    }

    /// Returns the state of each pending record of a log.
    pub(super) async fn pending_states(
        &self,
        log: LogId,
    ) -> Result<BTreeMap<Position, PendingState>, PortError> {
        let now_s = self.now_s();
        let mut states = BTreeMap::new();
        let end = SnapshotJob { log, position: Position::LAST };
        let mut next = self.retried(|| self.ports.pending.first_up_to(end)).await?;
        while let Some(record) = next {
            let silent_s = now_s.abs_diff(record.modified_s);
            let is_rebuild = record.rebuild.is_some();
            states.insert(record.job.position, PendingState { silent_s, is_rebuild });
            next = self.retried(|| self.ports.pending.first_after(record.job)).await?;
        }
        Ok(states)
    }
}

/// Survey of one segment.
struct SegmentSurvey<'a> {
    segment: &'a Segment,
    since_s: u64,
    pending: &'a BTreeMap<Position, PendingState>,
}

impl SegmentSurvey<'_> {
    /// Returns the finding for a Snapshot entry that has neither a root nor a pending record.
    fn find_unbuilt(&self, entry: &Entry, is_offloaded: bool) -> Option<FindingKind> {
        let at = entry.position;
        let Content::Snapshot { root: None, .. } = entry.content else { return None };
        if at == Position::FIRST || self.pending.contains_key(&at) {
            return None;
        }
        Some(if self.segment.last_snapshot == Some(at.entry_number()) {
            FindingKind::RootMissing
        } else if is_finished(self.segment, at) {
            FindingKind::Skipped
        } else if is_offloaded {
            FindingKind::Offloaded
        } else {
            FindingKind::NotBuilt
        })
    }
}
