//! Tests that build snapshots of logs in memory. Wherever the work is interrupted, reads from the
//! snapshots must return the same cells as a replay of the log.

mod positions;
mod values;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::limits::{MAX_COLUMNS, MAX_PROGRESS_BYTES, MAX_ROWS};
use cellar_base::position::Position;
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::{Content, Entry, FIRST_INCARNATION};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::{CellEdit, InsertBefore, Operation, SetCells, SheetId};

use super::progress::{BuildProgress, StoredProgress};
use super::*;
use crate::logs::{CellsQuery, SheetName};
use crate::memory::{ManualClock, MemoryBlobs, MemoryTables};
use crate::ports::{BlobKey, Entries, PutOutcome, Segments};
use crate::system::SystemRandom;

/// A log with its stores.
pub(super) struct World {
    pub(super) tables: Arc<MemoryTables>,
    pub(super) blobs: Arc<MemoryBlobs>,
    clock: Arc<ManualClock>,
    tail: Position,
    next_id: u64,
}

pub(super) fn log() -> LogId {
    LogId::derive(&SubjectKey::new("tests", "alice"), "levels").unwrap()
}

impl World {
    pub(super) async fn new() -> Self {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let tables = Arc::new(MemoryTables::default());
        let blobs = Arc::new(MemoryBlobs::new(Arc::clone(&clock) as _));
        let world = Self { tables, blobs, clock, tail: Position::FIRST, next_id: 1 };
        world.logs().create(log(), None).await.unwrap();
        world
    }

    /// Creates a log service with empty caches, as a new process would.
    pub(super) fn logs(&self) -> Logs {
        let tables = Arc::clone(&self.tables);
        let (blobs, clock) = (Arc::clone(&self.blobs), Arc::clone(&self.clock));
        Logs::new(Arc::clone(&tables) as _, tables, blobs, clock, Arc::new(SystemRandom))
    }

    fn builder(&self) -> LevelsBuilder {
        LevelsBuilder::new(Arc::new(self.logs()), Arc::clone(&self.blobs) as _)
    }

    pub(super) async fn append(&mut self, operation: Operation) {
        let mutations = vec![NewMutation { id: self.next_id, base: self.tail, operation }];
        let ack = self.next_id - 1;
        let request =
            Request::new(log(), ClientKey([1; 8]), None, FIRST_INCARNATION, ack, mutations)
                .unwrap();
        self.tail = self.logs().append(request).await.unwrap().tail;
        self.next_id += 1;
    }

    /// Appends a Snapshot entry.
    pub(super) async fn mark(&mut self) -> SnapshotJob {
        let before = self.tables.get(log(), self.tail).await.unwrap().unwrap();
        let position = before.next_position().unwrap();
        let mut header = before.header.clone();
        header.snapshot_num = position.entry_number();
        header.snapshot_bytes = header.segment_bytes;
        let content = Content::Snapshot { root: None, trimmed_s: None };
        let entry = Entry { log: log(), position, created_s: 1, author: None, header, content };
        assert_eq!(self.tables.put(&entry).await, PutOutcome::Accepted);
        self.tail = position;
        SnapshotJob { log: log(), position }
    }

    /// Builds a snapshot and sets its root. If `restless` is set, each unit of work is performed by
    /// a new worker.
    async fn build(&self, job: SnapshotJob, restless: bool) -> String {
        self.build_from(job, Vec::new(), restless).await
    }

    /// Rebuilds a snapshot from the first entry of the log.
    async fn rebuild(&self, job: SnapshotJob) -> String {
        self.build_from(job, LevelsBuilder::rebuild_progress(None), false).await
    }

    async fn build_from(&self, job: SnapshotJob, begin: Vec<u8>, restless: bool) -> String {
        self.build_with(job, begin, restless, CalculationPieces::default()).await.0
    }

    /// Also returns the number of units of work.
    async fn build_with(
        &self,
        job: SnapshotJob,
        begin: Vec<u8>,
        restless: bool,
        pieces: CalculationPieces,
    ) -> (String, usize) {
        let new_builder = || self.builder().with_pieces(pieces);
        let (mut builder, mut progress, mut units) = (new_builder(), begin, 0);
        loop {
            units += 1;
            match builder.step(&job, &progress).await.unwrap() {
                BuildStep::Progress(next) => {
                    assert!(next.len() <= MAX_PROGRESS_BYTES && next != progress);
                    progress = next;
                }
                BuildStep::EarlierSnapshot(position) => panic!("{position} is earlier"),
                BuildStep::Finished { root } => {
                    self.tables.set_root(log(), job.position, &root).await.unwrap();
                    self.tables.raise_last_snapshot(log(), job.position).await.unwrap();
                    return (root, units);
                }
            }
            if restless {
                builder = new_builder();
            }
        }
    }

    /// Returns all cells, read from snapshots.
    async fn cells(&self, at: Option<Position>) -> Vec<((u32, u32), Cell)> {
        let logs = self.logs();
        let (mut cells, mut from) = (Vec::new(), None);
        loop {
            let first = CellName { row: 0, column: 0 };
            let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
            let rectangle = Rectangle { first, last };
            let query = CellsQuery {
                sheet: SheetName::First,
                rectangle,
                at,
                from,
                min_position: None,
                with_texts: false,
            };
            let read = logs.cells(log(), &query).await.unwrap();
            cells.extend(read.cells.into_iter().map(|c| ((c.row, c.column), c.cell)));
            from = read.next;
            if from.is_none() {
                return cells;
            }
        }
    }

    /// Returns all cells, computed by replaying the log.
    async fn replayed(&self, at: Option<Position>) -> Vec<((u32, u32), Cell)> {
        let read = self.logs().workbook(log(), at, None).await.unwrap();
        let sheet = read.workbook.sheet(SheetId::FIRST).unwrap();
        let first = CellName { row: 0, column: 0 };
        let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
        sheet.cells_in(Rectangle { first, last }).collect()
    }
}

/// Returns an operation that sets the maximum number of cells, starting at row `row`. Each cell
/// contains a text of length `text`.
fn block(row: u32, seed: u32, text: usize) -> Operation {
    let cell = |number: u32| {
        let mixed = (number ^ seed).wrapping_mul(0x9E37_79B9);
        CellEdit {
            row: row + number / 4,
            column: number % 4,
            value: Some(match mixed % 5 {
                0 => Value::Text(format!("{mixed:0text$}")),
                _ => Value::Number(f64::from(mixed) / 3.0),
            }),
            formula: None,
            format: None,
        }
    };
    let cells = (0..2_000).map(cell).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

#[tokio::test]
async fn reads_through_snapshots_equal_a_replay_at_any_position() {
    for restless in [false, true] {
        let mut world = World::new().await;
        let mut positions = Vec::new();
        for round in 0..12_u32 {
            world.append(block(round % 5 * 300, round, 10)).await;
            positions.push(world.tail);
            let insert = InsertBefore { sheet: SheetId::FIRST, before: round * 37, count: 3 };
            world.append(Operation::InsertRows(insert)).await;
            positions.push(world.tail);
            if round % 2 == 1 {
                let job = world.mark().await;
                world.build(job, restless).await;
                positions.push(world.tail);
            }
        }
        for at in positions {
            assert_eq!(world.cells(Some(at)).await, world.replayed(Some(at)).await, "{at}");
        }
        assert_eq!(world.cells(None).await, world.replayed(None).await);
    }
}

#[tokio::test]
async fn a_repeated_snapshot_has_the_same_root() {
    let mut world = World::new().await;
    for round in 0..4 {
        world.append(block(round * 500, round, 30)).await;
    }
    let job = world.mark().await;
    let root = world.build(job, false).await;
    let stats = world.logs().stats(log(), None).await.unwrap().snapshot.unwrap();
    assert_eq!((stats.position, stats.entries), (job.position, 6), "each entry once");
    world.append(block(0, 9, 10)).await;
    let next = world.mark().await;
    world.build(next, false).await;
    let stats = world.logs().stats(log(), None).await.unwrap().snapshot.unwrap();
    assert_eq!((stats.position, stats.entries), (next.position, 8));
    assert_eq!(world.build(job, false).await, root);
    assert_eq!(world.rebuild(job).await, root);
}

/// The base of a worker may be outdated after a stale read or because the worker was suspended.
#[tokio::test]
async fn an_outdated_base_produces_the_same_objects() {
    let mut world = World::new().await;
    let mut jobs = Vec::new();
    for round in 0..3 {
        world.append(block(round * 200, round, 30)).await;
        let job = world.mark().await;
        jobs.push((job, world.build(job, false).await));
    }
    let before = world.blobs.list("", None, 1_000).await.unwrap();
    let oldest = BuildProgress::default().encode();
    assert!(!oldest.is_empty());
    for (job, root) in jobs {
        assert_eq!(world.build_from(job, oldest.clone(), false).await, root, "{}", job.position);
    }
    assert_eq!(world.blobs.list("", None, 1_000).await.unwrap(), before, "no other objects");
}

#[tokio::test]
async fn an_earlier_snapshot_is_requested_first() {
    let mut world = World::new().await;
    world.append(block(0, 1, 10)).await;
    let first = world.mark().await;
    world.append(block(9, 2, 10)).await;
    let second = world.mark().await;
    let earlier = world.builder().step(&second, &[]).await;
    assert_eq!(earlier, Ok(BuildStep::EarlierSnapshot(first.position)));
    world.build(first, true).await;
    world.build(second, true).await;
    assert_eq!(world.cells(None).await, world.replayed(None).await);
}

#[tokio::test]
async fn long_texts_are_complete_in_every_level() {
    let mut world = World::new().await;
    let text = "ä".repeat(20_000);
    let edit = |row| CellEdit {
        row,
        column: 0,
        value: Some(Value::Text(format!("{row} {text}"))),
        formula: None,
        format: None,
    };
    let set = |row| {
        let cells = vec![edit(row)];
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
    };
    world.append(set(0)).await;
    let job = world.mark().await;
    world.build(job, false).await;
    world.append(set(1)).await;
    assert_eq!(world.cells(None).await, world.replayed(None).await);
    assert_eq!(world.cells(None).await.len(), 2);
}

/// Sets long texts that are almost equal. Compressed, they are only a few bytes long, but
/// uncompressed they are too long for one chunk.
fn wide_row(part: u32) -> Operation {
    let text = "x".repeat(4_000);
    let cell = |number: u32| CellEdit {
        row: 0,
        column: part * 60 + number,
        value: Some(Value::Text(format!("{number}{text}"))),
        formula: None,
        format: None,
    };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: (0..60).map(cell).collect() })
}

#[tokio::test]
async fn a_row_too_large_for_a_wide_stripe_gets_narrow_stripes() {
    for restless in [false, true] {
        let mut world = World::new().await;
        for part in 0..20 {
            world.append(wide_row(part)).await;
        }
        let first = world.mark().await;
        world.build(first, restless).await;
        // Compressed, the texts are only a few bytes long, so all columns would be stored in the
        // same tiles.
        for round in 1..4 {
            world.append(block(round * 600, round, 20)).await;
        }
        let second = world.mark().await;
        let mut narrow = world.builder().step(&second, &[]).await;
        while let Ok(BuildStep::Progress(next)) = &narrow
            && !matches!(
                StoredProgress::decode(next),
                Ok(StoredProgress::InProgress(BuildProgress { has_narrow_stripes: true, .. }))
            )
        {
            narrow = world.builder().step(&second, next).await;
        }
        assert!(matches!(narrow, Ok(BuildStep::Progress(_))), "{narrow:?}");
        world.build(second, restless).await;
        assert_eq!(world.cells(None).await, world.replayed(None).await);
    }
}

#[tokio::test]
async fn missing_and_damaged_chunks_are_reported_and_other_chunks_stay_readable() {
    let mut world = World::new().await;
    for round in 0..6 {
        world.append(block(round * 500, round, 40)).await;
    }
    let job = world.mark().await;
    world.build(job, false).await;
    let page = world.blobs.list("sheets/", None, 1_000).await.unwrap();
    let chunks: Vec<_> = page.blobs.iter().filter(|b| b.key.contains("/chunks/")).collect();
    assert!(chunks.len() >= 2, "{}", chunks.len());
    for chunk in &chunks {
        world.blobs.delete(&BlobKey::new(&chunk.key).unwrap()).await.unwrap();
    }
    let first = CellName { row: 0, column: 0 };
    let rectangle = Rectangle { first, last: CellName { row: 9, column: 9 } };
    let (at, from, seen) = (None, None, None);
    let query = CellsQuery {
        sheet: SheetName::First,
        rectangle,
        at,
        from,
        min_position: seen,
        with_texts: false,
    };
    let error = world.logs().cells(log(), &query).await.unwrap_err();
    assert!(error.to_string().contains("the log still has all data"), "{error}");
    // No data is lost, since the log is complete and a rebuild stores the chunks again.
    assert!(!world.rebuild(job).await.is_empty());
    assert_eq!(world.cells(None).await, world.replayed(None).await);
}

/// Appends blocks of cells, each followed by a Snapshot entry, and builds the snapshots.
async fn marked(world: &mut World, rounds: u32) -> Vec<SnapshotJob> {
    let mut jobs = Vec::new();
    for round in 0..rounds {
        world.append(block(round * 300, round, 20)).await;
        let job = world.mark().await;
        world.build(job, false).await;
        jobs.push(job);
    }
    jobs
}

async fn delete_all(world: &World, part: &str) {
    let page = world.blobs.list("sheets/", None, 1_000).await.unwrap();
    assert!(page.next.is_none());
    for blob in page.blobs.iter().filter(|blob| blob.key.contains(part)) {
        world.blobs.delete(&BlobKey::new(&blob.key).unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn each_rebuilt_snapshot_is_based_on_the_previous() {
    let mut world = World::new().await;
    let jobs = marked(&mut world, 4).await;
    let before = world.cells(None).await;
    for part in ["/chunks/", "/roots/", ""] {
        delete_all(&world, part).await;
        assert!(world.builder().step(&jobs[3], &[]).await.is_ok_and(|step| {
            // Unless a rebuild is requested, a worker considers the snapshot finished although its
            // objects are missing.
            matches!(step, BuildStep::Finished { .. })
        }));
        let mut behind = None;
        for job in &jobs {
            world.build_from(*job, LevelsBuilder::rebuild_progress(behind), true).await;
            behind = Some(job.position);
        }
        for job in &jobs {
            let at = Some(job.position);
            assert_eq!(world.cells(at).await, world.replayed(at).await, "{part} {at:?}");
        }
        assert_eq!(world.cells(None).await, before);
    }
}

#[tokio::test]
async fn a_rebuild_does_not_wait_for_earlier_snapshots() {
    let mut world = World::new().await;
    world.append(block(0, 1, 10)).await;
    world.mark().await;
    world.append(block(9, 2, 10)).await;
    let second = world.mark().await;
    // The first snapshot is never built, since no compaction step of the rebuild needs it.
    world.build_from(second, LevelsBuilder::rebuild_progress(None), true).await;
    assert_eq!(world.cells(None).await, world.replayed(None).await);
}

#[tokio::test]
async fn a_rebuild_survives_the_loss_of_its_base() {
    let mut world = World::new().await;
    let jobs = marked(&mut world, 2).await;
    let roots = [jobs[0].position, Position::FIRST, Position::new(0, 1).unwrap()];
    delete_all(&world, "/roots/").await;
    for behind in roots {
        world.build_from(jobs[1], LevelsBuilder::rebuild_progress(Some(behind)), true).await;
        assert_eq!(world.cells(None).await, world.replayed(None).await);
    }
}

#[tokio::test]
async fn a_reader_of_a_lost_root_finds_the_rebuilt_root() {
    let mut world = World::new().await;
    // Each cell fills a chunk of its own, and a few more edits still fit into the step.
    let blocks = (0..6).map(|round| block(round * 500, round, 40));
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 5, count: 2 };
    let mut jobs = Vec::new();
    for operations in [blocks.collect(), vec![Operation::InsertRows(insert)]] {
        for operation in operations {
            world.append(operation).await;
        }
        jobs.push(world.mark().await);
        world.build(jobs[jobs.len() - 1], false).await;
    }
    let reader = world.logs();
    let first = CellName { row: 0, column: 0 };
    let rectangle = Rectangle { first, last: CellName { row: 9, column: 9 } };
    let (at, from, seen) = (None, None, None);
    let query = CellsQuery {
        sheet: SheetName::First,
        rectangle,
        at,
        from,
        min_position: seen,
        with_texts: false,
    };
    let before = reader.open_view(log(), None, None).await.unwrap().position;
    delete_all(&world, "").await;
    let error = reader.cells(log(), &query).await.unwrap_err().to_string();
    assert!(
        error.contains(&format!("`synth reprocess --rebuild --spreadsheet {}`", log())),
        "{error}"
    );
    // The rebuild starts at the first entry of the log and needs only one compaction step, so it
    // creates different objects than the workers.
    let old = reader.root_at(log(), jobs[1].position).await.unwrap();
    let new = {
        let (builder, mut progress) = (world.builder(), LevelsBuilder::rebuild_progress(None));
        loop {
            match builder.step(&jobs[1], &progress).await.unwrap() {
                BuildStep::Progress(next) => progress = next,
                BuildStep::EarlierSnapshot(position) => panic!("{position}"),
                BuildStep::Finished { root } => break root,
            }
        }
    };
    assert_ne!(old.as_deref(), Some(new.as_str()), "else this says nothing");
    let replaced =
        world.tables.replace_root(log(), jobs[1].position, old.as_deref(), &new).await.unwrap();
    assert_eq!(replaced, Some(new));
    assert_eq!(reader.open_view(log(), None, None).await.unwrap().position, before);
    assert!(!reader.cells(log(), &query).await.unwrap().cells.is_empty());
}
