//! Tests of reprocessing lost messages, tags and objects, with in-memory ports and real workers.

mod forks;
mod rebuild;
mod survey;

use cellar_base::identity::{ClientKey, SubjectKey};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::{
    Content, Entry, ExternalEdits, FIRST_INCARNATION, Header, encode_external_body,
};
use cellar_log::transform::SpaceMap;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::*;
use crate::logs::Logs;
use crate::memory::{ManualClock, MemoryBlobs, MemoryPendingSnapshots, MemoryQueue, MemoryTables};
use crate::ports::{BlobKey, Clock as _, Jobs as _, NewBlob, PutOutcome, QueueRules, WriteOutcome};
use crate::sha256::sha256;
use crate::snapshots::{LevelsBuilder, SnapshotPorts, Snapshots};
use crate::system::SystemRandom;

/// Start time of all tests, in Unix milliseconds.
const BEGAN_MS: u64 = 1_795_246_133_000;
const FUNCTION_MS: u64 = 300_000;

struct World {
    clock: Arc<ManualClock>,
    tables: Arc<MemoryTables>,
    pending: Arc<MemoryPendingSnapshots>,
    blobs: Arc<MemoryBlobs>,
    queue: Arc<MemoryQueue>,
}

/// A log and the position of its tail, as seen by its only client.
struct Log {
    id: LogId,
    tail: Position,
    next_id: u64,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at(BEGAN_MS));
        Self {
            tables: Arc::default(),
            pending: Arc::default(),
            blobs: Arc::new(MemoryBlobs::new(Arc::clone(&clock) as _)),
            queue: Arc::new(MemoryQueue::new(Arc::clone(&clock) as _, QueueRules::LONGEST)),
            clock,
        }
    }

    fn ports(&self) -> ReprocessPorts {
        ReprocessPorts {
            entries: Arc::clone(&self.tables) as _,
            segments: Arc::clone(&self.tables) as _,
            retention: Arc::clone(&self.tables) as _,
            pending: Arc::clone(&self.pending) as _,
            blobs: Arc::clone(&self.blobs) as _,
            jobs: Arc::clone(&self.queue) as _,
            clock: Arc::clone(&self.clock) as _,
        }
    }

    fn reprocess(&self) -> Reprocess {
        Reprocess::new(self.ports())
    }

    fn logs(&self) -> Logs {
        let tables = || Arc::clone(&self.tables);
        let (blobs, clock) = (Arc::clone(&self.blobs), Arc::clone(&self.clock));
        Logs::new(tables(), tables(), blobs, clock, Arc::new(SystemRandom))
    }

    fn workers(&self) -> Snapshots {
        let tables = || Arc::clone(&self.tables);
        let builder = LevelsBuilder::new(Arc::new(self.logs()), Arc::clone(&self.blobs) as _);
        let ports = SnapshotPorts {
            entries: tables(),
            segments: tables(),
            pending: Arc::clone(&self.pending) as _,
            jobs: Arc::clone(&self.queue) as _,
            clock: Arc::clone(&self.clock) as _,
            random: Arc::new(SystemRandom),
        };
        Snapshots::new(ports, Arc::new(builder))
    }

    async fn create(&self, nonce: &str) -> Log {
        let id = LogId::derive(&SubjectKey::new("reprocess", "alice"), nonce).unwrap();
        self.logs().create(id, None).await.unwrap();
        Log { id, tail: Position::FIRST, next_id: 1 }
    }

    /// Sets a block of cells.
    async fn append(&self, log: &mut Log, seed: u32, cells: u32) {
        let cell = |number: u32| CellEdit {
            row: seed % 7 * 40 + number / 4,
            column: number % 4,
            value: Some(Value::Text(format!("{seed} {number} of some text"))),
            formula: None,
            format: None,
        };
        let cells = (0..cells).map(cell).collect();
        let operation = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
        let mutations = vec![NewMutation { id: log.next_id, base: log.tail, operation }];
        let (client, ack) = (ClientKey([1; 8]), log.next_id - 1);
        let request =
            Request::new(log.id, client, None, FIRST_INCARNATION, ack, mutations).unwrap();
        log.tail = self.logs().append(request).await.unwrap().tail;
        log.next_id += 1;
    }

    async fn put(&self, log: &mut Log, content: Content, header: impl FnOnce(&mut Header)) {
        let before = self.tables.get(log.id, log.tail).await.unwrap().unwrap();
        let position = before.next_position().unwrap();
        let mut entry = Entry { position, content, ..(*before).clone() };
        entry.created_s = self.clock.now_ms() / 1_000;
        header(&mut entry.header);
        assert_eq!(self.tables.put(&entry).await, PutOutcome::Accepted);
        log.tail = position;
    }

    /// Appends a Snapshot entry whose message is lost.
    async fn mark(&self, log: &mut Log) -> SnapshotJob {
        let num = log.tail.entry_number() + 1;
        let content = Content::Snapshot { root: None, trimmed_s: None };
        self.put(log, content, |header| header.snapshot_num = num).await;
        SnapshotJob { log: log.id, position: log.tail }
    }

    /// Appends a large entry whose body still has its pending tag. Returns the key of the body.
    async fn append_large(&self, log: &mut Log, key: &str) -> BlobKey {
        let value = Some(Value::Text(key.to_owned()));
        let cell = CellEdit { row: 500, column: 0, value, formula: None, format: None };
        let set = SetCells { sheet: SheetId::FIRST, cells: vec![cell] };
        let bytes = encode_external_body(&[Operation::SetCells(set)]).unwrap();
        let (key, sha256) = (BlobKey::new(key).unwrap(), sha256(&bytes));
        let external = ExternalEdits {
            client: ClientKey([1; 8]),
            first_id: log.next_id,
            count: 1,
            base: log.tail,
            object: key.to_string(),
            bytes: u64::try_from(bytes.len()).unwrap(),
            sha256,
            map: SpaceMap::default(),
        };
        let blob = NewBlob {
            key: key.clone(),
            bytes: bytes.into(),
            sha256,
            content_type: None,
            content_encoding: None,
            pending: true,
        };
        self.blobs.put(blob).await.unwrap();
        self.put(log, Content::External(external), |_| {}).await;
        log.next_id += 1;
        key
    }

    /// Ends the segment and starts the next one.
    async fn roll(&self, log: &mut Log) {
        let last = log.tail.segment_start();
        self.tables.raise_last_snapshot(log.id, last).await.unwrap();
        let tail = self.tables.get(log.id, log.tail).await.unwrap().unwrap();
        self.logs().roll(tail).await.unwrap();
        log.tail = log.tail.next_segment().unwrap();
    }

    async fn survey(&self, scope: Scope) -> (Vec<Finding>, SurveyCounts) {
        let mut findings = Vec::new();
        let seen = self.reprocess().survey(scope, |finding| findings.push(finding)).await.unwrap();
        (findings, seen)
    }

    async fn findings(&self) -> Vec<Finding> {
        self.survey(Scope::default()).await.0
    }

    /// Surveys and repairs all findings.
    async fn repair(&self) -> Vec<(Finding, RepairOutcome)> {
        let mut done = Vec::new();
        for finding in self.findings().await {
            let mended = self.reprocess().repair(&finding).await.unwrap();
            done.push((finding, mended));
        }
        done
    }

    /// Runs workers one after another until the queue is empty.
    async fn work(&self) {
        let ends_ms = self.clock.now_ms() + 2 * 60 * 60 * 1_000;
        let workers = self.workers();
        while !self.queue.is_empty() {
            assert!(self.clock.now_ms() < ends_ms, "it does not come to an end");
            let Some(message) = self.queue.receive(1, 1_800).await.unwrap().pop() else {
                self.clock.advance_ms(5_000);
                continue;
            };
            let job = SnapshotJob::decode(&message.body).unwrap();
            let deadline_ms = self.clock.now_ms() + FUNCTION_MS;
            let outcome = workers.handle(job, &message.receipt, deadline_ms).await;
            use cellar_snapshot::pending_snapshot::SnapshotOutcome;
            if matches!(outcome, SnapshotOutcome::Done | SnapshotOutcome::Drop) {
                self.queue.delete(&message.receipt).await.unwrap();
            }
        }
    }

    async fn cells(&self, log: &Log, at: Position) -> Vec<(u32, u32, Cell)> {
        use crate::logs::{CellsQuery, SheetName};
        let logs = self.logs();
        let (mut cells, mut from) = (Vec::new(), None);
        loop {
            let first = CellName { row: 0, column: 0 };
            let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
            let (rectangle, at) = (Rectangle { first, last }, Some(at));
            let query = CellsQuery {
                sheet: SheetName::First,
                rectangle,
                at,
                from,
                min_position: None,
                with_texts: false,
            };
            let read = logs.cells(log.id, &query).await.unwrap();
            cells.extend(read.cells.into_iter().map(|c| (c.row, c.column, c.cell)));
            from = read.next;
            if from.is_none() {
                return cells;
            }
        }
    }

    /// Asserts that reads through snapshots equal a replay.
    async fn assert_right(&self, log: &Log, at: Position) {
        let read = self.logs().workbook(log.id, Some(at), None).await.unwrap();
        let sheet = read.workbook.sheet(SheetId::FIRST).unwrap();
        let first = CellName { row: 0, column: 0 };
        let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
        let replayed = sheet.cells_in(Rectangle { first, last });
        let replayed = replayed.map(|((row, column), cell)| (row, column, cell));
        assert_eq!(self.cells(log, at).await, replayed.collect::<Vec<_>>(), "{at}");
    }

    async fn root(&self, log: &Log, at: Position) -> Option<String> {
        let entry = self.tables.get(log.id, at).await.unwrap().unwrap();
        let Content::Snapshot { root, .. } = &entry.content else { panic!("{at} is no snapshot") };
        root.clone()
    }

    async fn delete_objects(&self, part: &str) {
        let page = self.blobs.list("sheets/", None, 1_000).await.unwrap();
        assert!(page.next.is_none());
        for blob in page.blobs.iter().filter(|blob| blob.key.contains(part)) {
            self.blobs.delete(&BlobKey::new(&blob.key).unwrap()).await.unwrap();
        }
    }
}

fn record(job: SnapshotJob, modified_s: u64) -> PendingSnapshot {
    PendingSnapshot {
        job,
        created_s: modified_s,
        modified_s,
        active: true,
        increment: 3,
        progress: Vec::new(),
        rebuild: None,
    }
}
