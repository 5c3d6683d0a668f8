//! Budgets of snapshots as deterministic counts. Uses fewer edits than the benchmark: 60 snapshots
//! of 1,000 edits each, on 6,000 rows of the reference data.

use cellar_reference_data::{COLUMNS, ReferenceValue, value};

use super::*;
use crate::fold::{Fold, FoldedLevel};

const SNAPSHOTS: u32 = 60;
const SNAPSHOT_EDITS: u32 = 1_000;
const ROWS: u32 = 6_000;

/// Returns an edit that copies a random cell from another row of its column.
fn edit(number: u32) -> Operation {
    let random = number.wrapping_mul(0x9E37_79B9).rotate_left(13).wrapping_mul(0x85EB_CA6B);
    let (row, column) = ((random >> 8) % ROWS, (random & 0xFF) % COLUMNS);
    let value = match value(number, column) {
        ReferenceValue::Empty => Value::Empty,
        ReferenceValue::Number(number) => Value::Number(number),
        ReferenceValue::Bool(value) => Value::Bool(value),
        ReferenceValue::Text(text) => Value::Text(text),
    };
    let edit = CellEdit { row, column, value: Some(value), formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

/// Returns the bytes of edits as a chunk of their own.
fn bytes_alone(operations: &[Operation]) -> usize {
    let mut fold = Fold::new(WorkbookMetadata::default());
    fold.apply_operations(operations).unwrap();
    let sheets = fold.finish().1.sheets;
    sheets.iter().map(|sheet| chunk_of(&sheet.tile).unwrap().stored.len()).sum()
}

/// Returns the number of objects that a reader of the first rows loads, and the number of
/// sequential requests, including the root.
fn first_view(store: &Store) -> (usize, usize) {
    const WINDOW: Window = Window { rows: 0..50, columns: 0..20 };
    let root = store.root.as_ref().unwrap();
    let mut fetched = 1;
    let (_, rounds) = store.ready(|objects| {
        assert!(
            matches!(view::read_metadata(root, objects), Ok(Fetch::Ready(_))),
            "it is in the root"
        );
        let (tail, tabs) = (FoldedLevel::default(), Tabs::default());
        let cells =
            view::read_window(Some(root), &tail, &tabs, SheetId::FIRST, &WINDOW, objects).unwrap();
        fetched += if let Fetch::Missing(wanted) = &cells { wanted.len() } else { 0 };
        cells
    });
    (fetched, 1 + rounds)
}

#[test]
fn snapshots_write_few_objects_and_bytes_and_a_first_view_reads_few() {
    let (mut store, mut edit_bytes, mut level_0) = (Store::default(), 0, 0);
    for snapshot in 0..SNAPSHOTS {
        let numbers = snapshot * SNAPSHOT_EDITS..(snapshot + 1) * SNAPSHOT_EDITS;
        let operations: Vec<Operation> = numbers.map(edit).collect();
        edit_bytes += bytes_alone(&operations);
        let (puts, merges) = (store.puts, store.merges);
        store.compact(&operations);
        if store.merges == merges {
            level_0 += 1;
            // The root and the clients.
            assert!(store.puts - puts <= 2, "{} objects", store.puts - puts);
        }
        let (objects, rounds) = first_view(&store);
        assert!(objects <= 7 && rounds <= 2, "{objects} objects in {rounds} rounds");
    }
    assert!(level_0 >= SNAPSHOTS / 2, "{level_0} stay in level 0");
    assert!(store.merges >= 8, "{} merges", store.merges);
    assert!(
        store.put_bytes <= 10 * edit_bytes,
        "{} bytes written for {edit_bytes} of edits",
        store.put_bytes
    );
}
