//! Repairs findings.

use std::collections::VecDeque;

use cellar_snapshot::pending_snapshot::is_finished;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::{Finding, FindingKind, Reprocess};
use crate::ports::{BlobKey, KeepOutcome, PortError};

/// The result of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairOutcome {
    /// The snapshot job was sent to the queue.
    Sent,
    /// The pending tag of the uploaded object was removed.
    Kept,
    /// The object with the operations of the entry was deleted.
    Lost,
    /// Nothing was done, since the finding needs no repair or cannot be repaired.
    Nothing,
}

impl Reprocess {
    /// Repairs a finding by sending a snapshot job or by removing a pending tag.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a request fails. A retry is safe.
    pub async fn repair(&self, finding: &Finding) -> Result<RepairOutcome, PortError> {
        match &finding.kind {
            FindingKind::NotBuilt | FindingKind::Abandoned { .. } => {
                self.send_job(SnapshotJob { log: finding.log, position: finding.at }).await?;
                Ok(RepairOutcome::Sent)
            }
            FindingKind::BodyPending { key } => self.remove_pending_tag(key).await,
            FindingKind::Skipped
            | FindingKind::RootMissing
            | FindingKind::Offloaded
            | FindingKind::InProgress { .. }
            | FindingKind::BodyLost { .. }
            | FindingKind::Unreadable { .. } => Ok(RepairOutcome::Nothing),
        }
    }

    async fn remove_pending_tag(&self, body_key: &str) -> Result<RepairOutcome, PortError> {
        let blob_key =
            BlobKey::new(body_key).map_err(|error| PortError::permanent(error.to_string()))?;
        match self.retried(|| self.ports.blobs.keep(&blob_key)).await? {
            KeepOutcome::Kept => Ok(RepairOutcome::Kept),
            KeepOutcome::Absent => Ok(RepairOutcome::Lost),
        }
    }

    pub(super) async fn send_job(&self, job: SnapshotJob) -> Result<(), PortError> {
        let body = job.encode();
        self.retried(|| self.ports.jobs.send(&body)).await
    }

    /// Removes jobs from the front of `sent_jobs` until a job is not finished. Jobs of the same log
    /// must be in ascending order.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a request fails.
    pub async fn drop_finished(
        &self,
        sent_jobs: &mut VecDeque<SnapshotJob>,
    ) -> Result<(), PortError> {
        while let Some(job) = sent_jobs.front().copied() {
            let is_finished = self.is_job_finished(job).await?;
            if !is_finished {
                break;
            }
            sent_jobs.pop_front();
        }
        Ok(())
    }

    /// Returns whether the job's snapshot is finished and no earlier snapshot of the log is
    /// pending.
    async fn is_job_finished(&self, job: SnapshotJob) -> Result<bool, PortError> {
        let pending_record = self.retried(|| self.ports.pending.first_up_to(job)).await?;
        let segment_number = job.position.segment();
        let segment = self.read_segment(job.log, segment_number).await?;
        let has_snapshot = segment.is_some_and(|segment| is_finished(&segment, job.position));
        Ok(pending_record.is_none() && has_snapshot)
    }
}
