//! Looks at everything and says what it finds.

use std::collections::BTreeMap;

use cellar_base::identity::LogId;
use cellar_base::limits::ABANDONED_S;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::is_finished;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::walk::{PageRead, Walk};
use super::{Finding, Found, Reprocess, Scope, Seen};
use crate::ports::{BlobKey, PortError};

/// A pending record, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pending {
    /// Seconds since its last sign of life.
    pub(super) silent_s: u64,
    /// Whether it makes anew what there is.
    pub(super) anew: bool,
}

impl Pending {
    /// Whether somebody was on it a short time ago.
    pub(super) fn is_alive(self) -> bool {
        self.silent_s < ABANDONED_S
    }
}

impl Reprocess {
    /// Looks at everything in the scope; `each` gets what is found, log by log, as it is read: its
    /// pending records first, then by position.
    ///
    /// # Errors
    /// [`PortError`] if a service does not answer. What cannot be read is a finding.
    pub async fn survey(
        &self,
        scope: Scope,
        mut each: impl FnMut(Finding),
    ) -> Result<Seen, PortError> {
        let mut seen = Seen::default();
        if let Some(log) = scope.log {
            let segments = self.segments_of(log).await?;
            self.survey_log(&segments, scope, &mut seen, &mut each).await?;
            return Ok(seen);
        }
        let (mut after, mut log) = (None, Vec::<Segment>::new());
        loop {
            let page = self.retried(|| self.ports.retention.all_segments(after.clone())).await?;
            for segment in page.segments {
                if log.first().is_some_and(|first| first.log != segment.log) {
                    let whole = std::mem::take(&mut log);
                    self.survey_log(&whole, scope, &mut seen, &mut each).await?;
                }
                log.push(segment);
            }
            after = page.next;
            if after.is_none() {
                self.survey_log(&log, scope, &mut seen, &mut each).await?;
                return Ok(seen);
            }
        }
    }

    async fn survey_log(
        &self,
        segments: &[Segment],
        scope: Scope,
        seen: &mut Seen,
        each: &mut impl FnMut(Finding),
    ) -> Result<(), PortError> {
        let Some(log) = segments.first().map(|segment| segment.log) else { return Ok(()) };
        seen.logs += 1;
        let pending = self.pending_of(log).await?;
        for (at, pending) in &pending {
            seen.pending += 1;
            let silent_s = pending.silent_s;
            let found = match pending.is_alive() {
                true => Found::UnderWay { silent_s },
                false => Found::Abandoned { silent_s },
            };
            each(Finding { log, at: *at, found });
        }
        for (index, segment) in segments.iter().enumerate() {
            // What a fork inherits is looked at where it stands.
            if segment.lineage.is_some() {
                continue;
            }
            let next = segments.get(index.saturating_add(1));
            // It ended when the next one began.
            if next.is_none_or(|next| next.created_s >= scope.since_s) {
                seen.segments += 1;
                let what = OfSegment { segment, since_s: scope.since_s, pending: &pending };
                self.survey_segment(&what, next.is_none(), seen, each).await?;
            }
        }
        Ok(())
    }

    async fn survey_segment(
        &self,
        what: &OfSegment<'_>,
        newest: bool,
        seen: &mut Seen,
        each: &mut impl FnMut(Finding),
    ) -> Result<(), PortError> {
        let (log, num) = (what.segment.log, what.segment.num);
        let start =
            Position::new(num, 0).map_err(|error| PortError::permanent(error.to_string()))?;
        let mut walk = Walk::new(self, what.segment, newest, start);
        loop {
            let page = match walk.page().await? {
                PageRead::Page(page) => page,
                PageRead::Unreadable { at, why } => {
                    each(Finding { log, at, found: Found::Unreadable { why } });
                    return Ok(());
                }
                PageRead::End => return Ok(()),
            };
            for entry in page.entries.iter().filter(|entry| entry.created_s >= what.since_s) {
                seen.entries += 1;
                let found = match &entry.content {
                    Content::Snapshot { .. } => {
                        seen.snapshots += 1;
                        what.unmade(entry, page.offloaded)
                    }
                    Content::External(external) => {
                        seen.bodies += 1;
                        self.body(&external.object).await?
                    }
                    Content::Edits(_) | Content::EndSegment => None,
                };
                found
                    .into_iter()
                    .for_each(|found| each(Finding { log, at: entry.position, found }));
            }
        }
    }

    /// What is wrong with the body of a large entry, if anything is.
    pub(super) async fn body(&self, object: &str) -> Result<Option<Found>, PortError> {
        let lost = || Some(Found::BodyLost { key: object.to_owned() });
        let Ok(key) = BlobKey::new(object) else { return Ok(lost()) };
        Ok(match self.retried(|| self.ports.blobs.pending(&key)).await? {
            Some(false) => None,
            Some(true) => Some(Found::BodyPending { key: object.to_owned() }),
            None => lost(),
        })
    }

    /// The pending records of a log.
    pub(super) async fn pending_of(
        &self,
        log: LogId,
    ) -> Result<BTreeMap<Position, Pending>, PortError> {
        let now_s = self.now_s();
        let mut all = BTreeMap::new();
        let end = SnapshotJob { log, position: Position::LAST };
        let mut next = self.retried(|| self.ports.pending.first_up_to(end)).await?;
        while let Some(record) = next {
            let silent_s = now_s.abs_diff(record.modified_s);
            let anew = record.rebuild.is_some();
            all.insert(record.job.position, Pending { silent_s, anew });
            next = self.retried(|| self.ports.pending.first_after(record.job)).await?;
        }
        Ok(all)
    }
}

/// What is looked at in one segment.
struct OfSegment<'a> {
    segment: &'a Segment,
    since_s: u64,
    pending: &'a BTreeMap<Position, Pending>,
}

impl OfSegment<'_> {
    /// What is to be done about a Snapshot entry that has no root and no record.
    fn unmade(&self, entry: &Entry, offloaded: bool) -> Option<Found> {
        let at = entry.position;
        let Content::Snapshot { root: None, .. } = entry.content else { return None };
        if at == Position::FIRST || self.pending.contains_key(&at) {
            return None;
        }
        let is_last = self.segment.last_snapshot == Some(at.num());
        Some(match offloaded {
            _ if is_last => Found::RootMissing,
            _ if is_finished(self.segment, at) => Found::PassedOver,
            true => Found::Offloaded,
            false => Found::NotMade,
        })
    }
}
