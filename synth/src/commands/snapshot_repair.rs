//! Repairs missing snapshots, and waits until they are built.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar_engine::ports::PortError;
use cellar_engine::reprocess::{Reprocess, ReprocessPorts};
use cellar_engine::system::SystemClock;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::data::StackData;
use super::reprocess_report::JobsResult;
use crate::cli::Output;
use crate::error::SynthError;

/// Maximum time during which no snapshot finishes.
const STALL_TIMEOUT: Duration = Duration::from_secs(5 * 60);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(super) struct SnapshotRepair {
    pub(super) reprocess: Reprocess,
    /// URL of the stack if the stack keeps running after this command.
    running_url: Option<String>,
}

impl SnapshotRepair {
    /// Returns [`SynthError::OtherLocalStack`] if the running local stack is an earlier version,
    /// which has no snapshots.
    pub(super) fn new(data: &StackData) -> Result<Self, SynthError> {
        let Some(snapshots) = &data.snapshots else {
            let url = data.running_url.clone().unwrap_or_default();
            return Err(SynthError::OtherLocalStack { url, setting: "version" });
        };
        let ports = ReprocessPorts {
            entries: Arc::clone(&data.tables) as _,
            segments: Arc::clone(&data.tables) as _,
            retention: Arc::clone(&data.tables) as _,
            pending: Arc::clone(&snapshots.pending) as _,
            blobs: Arc::clone(&data.blobs) as _,
            jobs: Arc::clone(&snapshots.jobs) as _,
            clock: Arc::new(SystemClock),
        };
        Ok(Self { reprocess: Reprocess::new(ports), running_url: data.running_url.clone() })
    }

    /// Does not wait if the stack keeps running, because the stack then builds the snapshots later.
    pub(super) async fn wait_for_jobs(
        &self,
        mut jobs: VecDeque<SnapshotJob>,
        output: &Output,
    ) -> JobsResult {
        let job_count = jobs.len();
        if job_count == 0 {
            return JobsResult::None;
        }
        if let Some(url) = &self.running_url {
            return JobsResult::LeftToStack { url: url.clone() };
        }
        let step = output.start_step("Build the snapshots");
        let wait_result = self.wait_until_finished(&mut jobs).await;
        if wait_result.is_ok() && jobs.is_empty() {
            step.succeed(&format!("{job_count} built"));
        } else {
            step.fail();
        }
        // The jobs have already been sent, so an error while waiting is only printed and does not
        // fail the command.
        if let Err(error) = wait_result {
            output.print_note(&format!("Cannot read the state of the snapshots: {error}"));
        }
        JobsResult::Waited { jobs: job_count, unfinished: jobs.len() }
    }

    /// Stops waiting if no snapshot finishes within [`STALL_TIMEOUT`].
    async fn wait_until_finished(&self, jobs: &mut VecDeque<SnapshotJob>) -> Result<(), PortError> {
        let mut last_progress = Instant::now();
        loop {
            let previous_count = jobs.len();
            self.reprocess.drop_finished(jobs).await?;
            if jobs.len() < previous_count {
                last_progress = Instant::now();
            }
            if jobs.is_empty() || last_progress.elapsed() > STALL_TIMEOUT {
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
