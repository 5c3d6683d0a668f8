//! Does something about what was found.

use std::collections::VecDeque;

use cellar_snapshot::pending_snapshot::is_finished;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::{Finding, Found, Reprocess};
use crate::ports::{BlobKey, KeepOutcome, PortError};

/// What was done about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mended {
    /// The job of the snapshot was sent.
    Sent,
    /// The body stays.
    Kept,
    /// The body is gone.
    Lost,
    /// Nothing was to be done.
    Nothing,
}

impl Reprocess {
    /// Does what there is to do about a finding.
    ///
    /// # Errors
    /// [`PortError`]; repeat it later.
    pub async fn mend(&self, finding: &Finding) -> Result<Mended, PortError> {
        match &finding.found {
            Found::NotMade | Found::Abandoned { .. } => {
                self.send(SnapshotJob { log: finding.log, position: finding.at }).await?;
                Ok(Mended::Sent)
            }
            Found::BodyPending { key } => {
                let key = BlobKey::new(key.as_str())
                    .map_err(|error| PortError::permanent(error.to_string()))?;
                Ok(match self.retried(|| self.ports.blobs.keep(&key)).await? {
                    KeepOutcome::Kept => Mended::Kept,
                    KeepOutcome::Absent => Mended::Lost,
                })
            }
            Found::PassedOver
            | Found::RootMissing
            | Found::Offloaded
            | Found::UnderWay { .. }
            | Found::BodyLost { .. }
            | Found::Unreadable { .. } => Ok(Mended::Nothing),
        }
    }

    pub(super) async fn send(&self, job: SnapshotJob) -> Result<(), PortError> {
        let body = job.encode();
        self.retried(|| self.ports.jobs.send(&body)).await
    }

    /// Takes the jobs that are done off the front of those that were sent, which are in ascending
    /// order within a log.
    ///
    /// # Errors
    /// [`PortError`] if a table does not answer.
    pub async fn drop_done(&self, sent: &mut VecDeque<SnapshotJob>) -> Result<(), PortError> {
        while let Some(job) = sent.front().copied() {
            let pending = self.retried(|| self.ports.pending.first_up_to(job)).await?;
            let (log, num) = (job.log, job.position.segment());
            let read = || self.ports.segments.segment(log, num, true);
            let segment = self.retried(read).await?;
            let finished = segment.is_some_and(|segment| is_finished(&segment, job.position));
            if pending.is_some() || !finished {
                return Ok(());
            }
            sent.pop_front();
        }
        Ok(())
    }
}
