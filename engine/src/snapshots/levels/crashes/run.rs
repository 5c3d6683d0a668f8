//! Invokes functions that build snapshots, with injected faults.

use std::sync::Arc;

use cellar_log::entry::Content;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::level::StoredTile;
use cellar_snapshot::snapshot_job::SnapshotJob;
use tokio::task::JoinHandle;

use super::super::progress::BuildProgress;
use super::super::tests::log;
use super::history::{History, Stored};
use crate::crashes::{Fault, FaultyPorts, handle_message};
use crate::logs::Logs;
use crate::ports::{Clock, Jobs, PendingSnapshots};
use crate::snapshots::Snapshots;

/// Lambda function timeout in the tests, in milliseconds.
const FUNCTION_MS: u64 = 300_000;
const QUEUE_VISIBILITY_S: u32 = 6 * 300;
/// Maximum duration of a run in milliseconds. It exceeds the delay that any single fault causes.
const PATIENCE_MS: u64 = 2 * 60 * 60 * 1_000;

pub(super) struct Run {
    pub(super) ports: Arc<FaultyPorts>,
    process: Snapshots,
    frozen: Vec<JoinHandle<()>>,
    function_ms: u64,
}

impl Run {
    pub(super) fn new(
        history: &History,
        stored: Option<&Run>,
        planned_faults: Vec<(usize, Fault)>,
    ) -> Self {
        let (mut tables, mut blobs, clock) = history.begin();
        if let Some(before) = stored {
            tables = before.ports.tables.copied();
            blobs = before.ports.blobs.copied(clock.clone());
        }
        let ports = FaultyPorts::new(planned_faults, tables, blobs, clock);
        let process = ports.workers();
        Self { ports, process, frozen: Vec::new(), function_ms: FUNCTION_MS }
    }

    pub(super) fn with_one_unit_per_call(mut self) -> Self {
        self.function_ms = 1;
        self
    }

    /// Finally, resumes the frozen workers and asserts that they do not change the stored data.
    pub(super) async fn finish(mut self, jobs: &[SnapshotJob], run_name: &str) -> Self {
        for job in jobs {
            self.ports.queue.send(&job.encode()).await.unwrap();
        }
        self.handle_all_messages(run_name).await;
        if !self.frozen.is_empty() {
            self.resume_frozen_workers(run_name).await;
        }
        self.ports.faults.pause_and_wake();
        assert!(self.ports.pending.is_empty(), "{run_name}: a record is left");
        self.ports.assert_nothing_was_lost(run_name);
        self
    }

    async fn resume_frozen_workers(&mut self, run_name: &str) {
        let stored_before = self.stored().await;
        self.ports.faults.pause_and_wake();
        for frozen_worker in std::mem::take(&mut self.frozen) {
            frozen_worker.await.unwrap();
        }
        self.handle_all_messages(run_name).await;
        self.stored().await.assert_equals(&stored_before, &format!("{run_name}, woken up"));
    }

    pub(super) async fn stored(&self) -> Stored {
        Stored::read(&self.ports.tables, &self.ports.blobs).await
    }

    pub(super) fn logs(&self) -> Logs {
        self.ports.logs()
    }

    async fn handle_all_messages(&mut self, run_name: &str) {
        let started_ms = now_ms(&self.ports);
        while !self.ports.queue.is_empty() {
            if self.invoke_function().await {
                self.assert_references_are_stored(run_name).await;
            } else {
                self.ports.clock.advance_ms(5_000);
            }
            let elapsed_ms = now_ms(&self.ports) - started_ms;
            assert!(elapsed_ms < PATIENCE_MS, "{run_name}: it does not come to an end");
        }
    }

    /// Returns `false` if no message is visible.
    async fn invoke_function(&mut self) -> bool {
        let messages = self.ports.queue.receive(1, QUEUE_VISIBILITY_S).await.unwrap();
        let Some(message) = messages.into_iter().next() else { return false };
        let (worker, ports) = (self.process.clone(), Arc::clone(&self.ports));
        let mut invocation = tokio::spawn(handle_message(worker, ports, message, self.function_ms));
        tokio::select! {
            biased;
            result = &mut invocation => result.unwrap(),
            () = self.ports.faults.died.notified() => {
                invocation.abort();
                assert!(invocation.await.unwrap_err().is_cancelled());
                self.process = self.ports.workers();
            }
            () = self.ports.faults.froze.notified() => {
                self.frozen.push(invocation);
                self.process = self.ports.workers();
            }
        }
        true
    }

    async fn assert_references_are_stored(&self, run_name: &str) {
        let stored = self.stored().await;
        let mut referenced_keys: Vec<String> = Vec::new();
        for entry in &stored.entries {
            if let Content::Snapshot { root: Some(root_key), .. } = &entry.content {
                referenced_keys.push(root_key.clone());
            }
        }
        let last_job = SnapshotJob { log: log(), position: stored.entries[0].position };
        let record = self.ports.pending.first_up_to(last_job).await.unwrap();
        if let Some(record) = record.filter(|record| !record.progress.is_empty()) {
            let progress = BuildProgress::decode(&record.progress).unwrap();
            referenced_keys.extend(keys_referenced_by(&progress));
        }
        for key in referenced_keys {
            let is_stored = stored.objects.contains_key(&key);
            assert!(is_stored, "{run_name}: {key} is referenced but not stored");
        }
    }
}

fn now_ms(ports: &FaultyPorts) -> u64 {
    ports.clock.now_ms()
}

fn keys_referenced_by(progress: &BuildProgress) -> Vec<String> {
    let mut keys = Vec::from_iter(progress.root.clone());
    if let Some(merge) = &progress.merge {
        keys.extend(merge.chain.map(|link| chunk_key(log(), link.hash)));
        for merged_tile in &merge.recent {
            if let StoredTile::Chunk(chunk) = merged_tile.tile.stored {
                keys.push(chunk_key(log(), chunk.hash));
            }
        }
    }
    keys
}
