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
    /// The external body's pending tag was removed.
    Kept,
    /// The external body's object was deleted.
    Lost,
    /// The finding needs no repair or cannot be repaired.
    Nothing,
}

impl Reprocess {
    /// Repairs a finding if possible.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a port fails. Retrying the repair is safe.
    pub async fn repair(&self, finding: &Finding) -> Result<RepairOutcome, PortError> {
        match &finding.kind {
            FindingKind::NotBuilt | FindingKind::Abandoned { .. } => {
                self.send_job(SnapshotJob { log: finding.log, position: finding.at }).await?;
                Ok(RepairOutcome::Sent)
            }
            FindingKind::BodyPending { key } => {
                let key = BlobKey::new(key.as_str())
                    .map_err(|error| PortError::permanent(error.to_string()))?;
                Ok(match self.retried(|| self.ports.blobs.keep(&key)).await? {
                    KeepOutcome::Kept => RepairOutcome::Kept,
                    KeepOutcome::Absent => RepairOutcome::Lost,
                })
            }
            FindingKind::Skipped
            | FindingKind::RootMissing
            | FindingKind::Offloaded
            | FindingKind::InProgress { .. }
            | FindingKind::BodyLost { .. }
            | FindingKind::Unreadable { .. } => Ok(RepairOutcome::Nothing),
        }
    }

    pub(super) async fn send_job(&self, job: SnapshotJob) -> Result<(), PortError> {
        let body = job.encode();
        self.retried(|| self.ports.jobs.send(&body)).await
    }

    /// Removes finished jobs from the front of the queue `sent`. Jobs of the same log must be in
    /// ascending order.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if a table fails.
    pub async fn drop_finished(&self, sent: &mut VecDeque<SnapshotJob>) -> Result<(), PortError> {
        while let Some(job) = sent.front().copied() {
            let pending = self.retried(|| self.ports.pending.first_up_to(job)).await?;
            let (log, num) = (job.log, job.position.segment());
            let read = || self.ports.segments.segment(log, num, true);
            let segment = self.retried(read).await?;
            let is_done = segment.is_some_and(|segment| is_finished(&segment, job.position));
            if pending.is_some() || !is_done {
                return Ok(());
            }
            sent.pop_front();
        }
        Ok(())
    }
}
