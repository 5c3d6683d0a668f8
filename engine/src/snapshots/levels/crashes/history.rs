//! Log histories from which crash tests build snapshots, and copies of the data that is stored
//! afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use cellar_base::limits::MIN_STRIPE_COLUMNS;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::segment::Segment;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::super::tests::{World, log};
use crate::crashes::reading::{self, Cells};
use crate::logs::Logs;
use crate::memory::{ManualClock, MemoryBlobs, MemoryTables};
use crate::ports::{BlobKey, Blobs, Entries, GetOutcome, ReadConsistency, Segments};

pub(super) const START_MS: u64 = 1_795_246_133_000;

pub(super) struct History {
    tables: MemoryTables,
    blobs: MemoryBlobs,
    pub(super) jobs: Vec<SnapshotJob>,
    pub(super) cells: Vec<Cells>,
}

/// All stored data of a log, except for object write times.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stored {
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) segments: Vec<Segment>,
    pub(super) objects: BTreeMap<String, Bytes>,
}

impl History {
    pub(super) async fn of(operations_by_snapshot: Vec<Vec<Operation>>) -> Self {
        let mut world = World::new().await;
        let mut jobs = Vec::new();
        let mut cells = Vec::new();
        for operations in operations_by_snapshot {
            for operation in operations {
                world.append(operation).await;
            }
            let job = world.mark().await;
            cells.push(replay_cells(&world.logs(), job.position).await);
            jobs.push(job);
        }
        let (tables, blobs) = (world.tables.copied(), world.blobs.copied(clock()));
        Self { tables, blobs, jobs, cells }
    }

    pub(super) fn begin(&self) -> (MemoryTables, MemoryBlobs, Arc<ManualClock>) {
        let clock = clock();
        (self.tables.copied(), self.blobs.copied(clock.clone()), clock)
    }
}

pub(super) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(START_MS))
}

impl Stored {
    pub(super) async fn read(tables: &MemoryTables, blobs: &MemoryBlobs) -> Self {
        Self {
            entries: read_snapshot_entries(tables).await,
            segments: tables.newest(log(), 9, ReadConsistency::Strong).await.unwrap(),
            objects: read_objects(blobs).await,
        }
    }

    pub(super) fn assert_equals(&self, expected: &Self, context: &str) {
        assert_eq!(self.segments, expected.segments, "{context}: the segments");
        assert_eq!(self.entries, expected.entries, "{context}: the roots");
        let keys = |stored: &Self| stored.objects.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(self), keys(expected), "{context}: the objects");
        assert!(self.objects == expected.objects, "{context}: an object has changed");
    }
}

/// Returns the Snapshot entries, newest first. These are the only entries that may change (I2).
async fn read_snapshot_entries(tables: &MemoryTables) -> Vec<Arc<Entry>> {
    let mut snapshot_entries = Vec::new();
    let last_entry = tables.last(log(), 0, ReadConsistency::Strong).await.unwrap().unwrap();
    let mut snapshot_number = last_entry.header.snapshot_num;
    while snapshot_number > 0 {
        let position = Position::new(0, snapshot_number).unwrap();
        snapshot_entries.push(tables.get(log(), position).await.unwrap().unwrap());
        let previous_position = Position::new(0, snapshot_number - 1).unwrap();
        let previous_entry = tables.get(log(), previous_position).await.unwrap().unwrap();
        snapshot_number = previous_entry.header.snapshot_num;
    }
    snapshot_entries
}

async fn read_objects(blobs: &MemoryBlobs) -> BTreeMap<String, Bytes> {
    let page = blobs.list("", None, 1_000).await.unwrap();
    assert!(page.next.is_none(), "one page lists the objects");
    let mut objects = BTreeMap::new();
    for listed in page.blobs {
        let outcome = blobs.get(&BlobKey::new(&listed.key).unwrap(), u64::MAX).await.unwrap();
        let GetOutcome::Found { bytes, .. } = outcome else { panic!("{outcome:?}") };
        objects.insert(listed.key, bytes);
    }
    objects
}

pub(super) async fn replay_cells(logs: &Logs, at: Position) -> Cells {
    reading::replay_cells(logs, log(), at).await
}

pub(super) async fn read_cells(
    logs: &Logs,
    at: Position,
    sheets: impl IntoIterator<Item = &SheetId>,
) -> Cells {
    reading::read_cells(logs, log(), at, sheets).await
}

/// Returns a text that compresses poorly.
fn noise(seed: u32, bytes: usize) -> String {
    let mut state = u64::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'!' + u8::try_from(state % 90).unwrap())
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

fn set(sheet: u32, cells: impl IntoIterator<Item = (u32, u32, Value)>) -> Operation {
    let edit = |(row, column, value)| {
        let (formula, format) = (None, None);
        CellEdit { row, column, value: Some(value), formula, format }
    };
    let cells = cells.into_iter().map(edit).collect();
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells }).validated().unwrap()
}

fn texts(sheet: u32, rows: impl IntoIterator<Item = u32>, bytes: usize) -> Operation {
    let text = |row: u32| Value::Text(noise(sheet * 1_009 + row, bytes));
    set(sheet, rows.into_iter().map(|row| (row, row % 3, text(row))))
}

/// Returns an operation that sets long texts, which compress to only a few bytes.
fn compressible_texts(sheet: u32, count: u32, bytes: usize) -> Operation {
    let text = |row: u32| Value::Text(noise(row, 3).repeat(bytes / 3));
    set(sheet, (0..count).map(|row| (row * 2, row % 3, text(row))))
}

/// Returns formulas of two sheets, which read each other and values of the first sheet.
fn formulas(rows: std::ops::Range<u32>) -> Vec<Operation> {
    let edit = |(row, column, formula)| CellEdit {
        row,
        column,
        value: Some(Value::Empty),
        formula: Some(formula),
        format: None,
    };
    let reading = |row: u32| (row, 8, format!("=COUNTA(A{0}:D$4)+'more 1'!I{0}", row + 1));
    let read = |row: u32| (row, 8, format!("=SUM(Sheet1!$F$2:$F$9,I{row})", row = row + 2));
    let set = |sheet, cells: Vec<_>| Operation::SetCells(SetCells { sheet: SheetId(sheet), cells });
    vec![
        set(0, rows.clone().map(reading).map(edit).collect()).validated().unwrap(),
        set(1, rows.map(read).map(edit).collect()).validated().unwrap(),
    ]
}

fn sheet(number: u32) -> Operation {
    let name = format!("more {number}");
    Operation::AddSheet(AddSheet { sheet: SheetId(number), name, before: None })
}

fn insert_rows(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

fn delete_rows(spans: Spans) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
}

/// Building the snapshots requires an LSM level 0, a flush, another level 0 with a long text after
/// rows were moved, and a merge of two levels into several chunks.
pub(super) fn flushes_and_a_merge() -> Vec<Vec<Operation>> {
    let numbers = (0..600).map(|row| (row, 5, Value::Number(f64::from(row))));
    let mut snapshots = vec![
        vec![texts(0, [0, 5, 10], 300), sheet(1), texts(1, [0, 1], 100)],
        vec![
            texts(0, 0..3, 1_500),
            sheet(2),
            compressible_texts(1, 11, 1_500),
            compressible_texts(2, 7, 999),
        ],
        vec![insert_rows(1, 3), texts(0, [2], 5_000), delete_rows(Spans::one(9, 2))],
        // An LSM level is merged if the newer levels have at least half as many bytes. Sizes are
        // estimated from the number of cells.
        vec![texts(0, 9..45, 1_500), set(0, numbers), insert_rows(20, 3), texts(1, [6, 8], 90)],
    ];
    for (operations, first_row) in snapshots.iter_mut().zip([0, 2, 3, 5]) {
        operations.extend(formulas(first_row..first_row + 3));
    }
    snapshots
}

/// Building the snapshots requires an LSM level that contains a chunk with a single row, and a
/// merge that reuses this chunk although its row was moved.
pub(super) fn a_tile_that_stays() -> Vec<Vec<Operation>> {
    let row = (0..MIN_STRIPE_COLUMNS).map(|column| (0, column, Value::Text(noise(column, 700))));
    // An LSM level is merged if the newer levels have at least half as many bytes. Sizes are
    // estimated from the number of cells.
    let number =
        |at: u32| (20 + at / 20, at % 20, Value::Number(f64::from(at.wrapping_mul(0x9E37_79B9))));
    vec![
        vec![set(0, row), texts(0, [10, 11], 1_500)],
        vec![insert_rows(0, 7), set(0, (0..6_500).map(number))],
    ]
}

/// Returns operations whose merge has more finished tiles than the stored progress can contain.
pub(super) fn many_sheets(count: u32) -> Vec<Vec<Operation>> {
    let sheets = (1..count).map(sheet);
    let filled = (0..count).map(|number| texts(number, [number, number + 9], 400));
    vec![sheets.chain(filled).collect()]
}
