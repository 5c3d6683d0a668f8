//! Runs functions that build snapshots, with a fault injected into one of them.

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
/// Time limit in milliseconds after which an unfinished run fails the test. Exceeds the delay
/// caused by any single fault.
const PATIENCE_MS: u64 = 2 * 60 * 60 * 1_000;

/// A sequence of functions that build a log's snapshots.
pub(super) struct Run {
    pub(super) ports: Arc<FaultyPorts>,
    /// Index of the process that receives the next message.
    process: Snapshots,
    frozen: Vec<JoinHandle<()>>,
    function_ms: u64,
}

impl Run {
    /// Creates a run that starts with a history's data.
    pub(super) fn new(
        history: &History,
        stored: Option<&Run>,
        planned: Vec<(usize, Fault)>,
    ) -> Self {
        let (mut tables, mut blobs, clock) = history.begin();
        if let Some(before) = stored {
            tables = before.ports.tables.copied();
            blobs = before.ports.blobs.copied(clock.clone());
        }
        let ports = FaultyPorts::new(planned, tables, blobs, clock);
        let process = ports.workers();
        Self { ports, process, frozen: Vec::new(), function_ms: FUNCTION_MS }
    }

    /// Limits each function invocation to one piece of work.
    pub(super) fn hasty(mut self) -> Self {
        self.function_ms = 1;
        self
    }

    /// Sends these messages and invokes functions until no message is left, then resumes the frozen
    /// workers and asserts that they do not change the stored data.
    pub(super) async fn finish(mut self, jobs: &[SnapshotJob], what: &str) -> Self {
        for job in jobs {
            self.ports.queue.send(&job.encode()).await.unwrap();
        }
        self.drain(what).await;
        if !self.frozen.is_empty() {
            let before = self.stored().await;
            self.ports.faults.pause_and_wake();
            for frozen in std::mem::take(&mut self.frozen) {
                frozen.await.unwrap();
            }
            self.drain(what).await;
            self.stored().await.assert_is(&before, &format!("{what}, woken up"));
        }
        self.ports.faults.pause_and_wake();
        assert!(self.ports.pending.is_empty(), "{what}: a record is left");
        self.ports.assert_nothing_was_lost(what);
        self
    }

    pub(super) async fn stored(&self) -> Stored {
        Stored::read(&self.ports.tables, &self.ports.blobs).await
    }

    /// Creates a log service with empty caches.
    pub(super) fn logs(&self) -> Logs {
        self.ports.logs()
    }

    async fn drain(&mut self, what: &str) {
        let began_ms = now_ms(&self.ports);
        while !self.ports.queue.is_empty() {
            if self.call().await {
                self.assert_nothing_dangles(what).await;
            } else {
                self.ports.clock.advance_ms(5_000);
            }
            let took_ms = now_ms(&self.ports) - began_ms;
            assert!(took_ms < PATIENCE_MS, "{what}: it does not come to an end");
        }
    }

    /// Invokes a function with the next visible message, like Lambda. Returns `false` if no message
    /// is visible.
    async fn call(&mut self) -> bool {
        let received = self.ports.queue.receive(1, QUEUE_VISIBILITY_S).await.unwrap().pop();
        let Some(message) = received else { return false };
        let (worker, ports) = (self.process.clone(), Arc::clone(&self.ports));
        let mut called = tokio::spawn(handle_message(worker, ports, message, self.function_ms));
        tokio::select! {
            biased;
            ended = &mut called => ended.unwrap(),
            () = self.ports.faults.died.notified() => {
                called.abort();
                assert!(called.await.unwrap_err().is_cancelled());
                self.process = self.ports.workers();
            }
            () = self.ports.faults.froze.notified() => {
                self.frozen.push(called);
                self.process = self.ports.workers();
            }
        }
        true
    }

    /// Asserts that all objects referenced by entry roots and by the progress are stored.
    async fn assert_nothing_dangles(&self, what: &str) {
        let ports = &self.ports;
        let stored = self.stored().await;
        let roots = stored.entries.iter().filter_map(|entry| match &entry.content {
            Content::Snapshot { root, .. } => root.clone(),
            _ => None,
        });
        let mut named: Vec<String> = roots.collect();
        let last = SnapshotJob { log: log(), position: stored.entries[0].position };
        let record = ports.pending.first_up_to(last).await.unwrap();
        if let Some(record) = record.filter(|record| !record.progress.is_empty()) {
            named.extend(named_by(&BuildProgress::decode(&record.progress).unwrap()));
        }
        for key in named {
            assert!(stored.objects.contains_key(&key), "{what}: {key} is named and not stored");
        }
    }
}

fn now_ms(ports: &FaultyPorts) -> u64 {
    ports.clock.now_ms()
}

/// Returns the keys of the objects that the progress references.
fn named_by(progress: &BuildProgress) -> Vec<String> {
    let merge = progress.merge.iter();
    let tiles = merge.clone().flat_map(|merge| &merge.recent);
    let tiles = tiles.filter_map(|tile| match tile.place.stored {
        StoredTile::Chunk(chunk) => Some(chunk),
        _ => None,
    });
    let chunks = merge.filter_map(|merge| merge.chain).chain(tiles);
    let chunks = chunks.map(|chunk| chunk_key(log(), chunk.hash));
    progress.root.iter().cloned().chain(chunks).collect()
}
