//! After each compaction step, the root equals a replay of the log.

mod arrays;
mod budgets;
mod dependents;
mod formulas;
mod import_formulas;
mod imports;
mod outdated;
mod touched;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::cells::visible_cells;
use crate::chunk::chunk_of;
use crate::fold::{Fold, FoldedLevel};
use crate::level::ChunkHash;
use crate::merge::{Merge, MergeStep, Window};
use crate::objects::{Fetch, ObjectKind, ObjectRequest, Objects};
use crate::root::Root;
use crate::view;
use cellar_base::identity::ClientKey;
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::metadata::{Tabs, WorkbookMetadata};
use cellar_sheet::operation::random::any_operation;
use cellar_sheet::operation::{CellEdit, InsertBefore, Operation, SetCells, SheetId};
use cellar_sheet::workbook::Workbook;

/// An object store with its newest root.
#[derive(Default)]
struct Store {
    objects: BTreeMap<ChunkHash, Vec<u8>>,
    root: Option<Root>,
    entries: u32,
    merges: usize,
    /// Number of stored objects, and their total length.
    puts: usize,
    put_bytes: usize,
    /// Number of tiles after which a merge is resumed from its cursor; 0 for never.
    resumed_every: usize,
}

impl Store {
    /// Calls `ask` until no object is missing. Also returns the number of sequential
    /// requests.
    fn ready<T>(&self, mut ask: impl FnMut(&Objects) -> Fetch<T>) -> (T, usize) {
        let (mut objects, mut rounds) = (Objects::default(), 0);
        loop {
            match ask(&objects) {
                Fetch::Ready(ready) => return (ready, rounds),
                Fetch::Missing(wanted) => {
                    assert!(!wanted.is_empty());
                    rounds += 1;
                    for wanted in wanted {
                        objects.insert(&wanted, &self.objects[&wanted.hash]).unwrap();
                    }
                }
            }
        }
    }

    fn put(&mut self, hash: ChunkHash, stored: Vec<u8>) {
        self.puts += 1;
        self.put_bytes += stored.len();
        self.objects.insert(hash, stored);
    }

    fn base(&self) -> CompactionBase {
        match &self.root {
            None => CompactionBase::default(),
            Some(root) => self.ready(|objects| CompactionBase::open(root, objects).unwrap()).0,
        }
    }

    fn folded(&mut self, base: &CompactionBase, operations: &[Operation]) -> FoldedEntries {
        let mut fold = CompactionFold::new(base);
        for operation in operations {
            self.entries += 1;
            let position = Position::new(0, self.entries).unwrap();
            let client = Some((ClientKey([1; 8]), u64::from(self.entries)));
            fold.fold_entry(position, 1_000, client, &[std::slice::from_ref(operation)]).unwrap();
        }
        fold.finish().unwrap()
    }

    fn compact(&mut self, operations: &[Operation]) {
        let base = self.base();
        let folded = self.folded(&base, operations);
        let next = match plan_compaction(&base, &folded).unwrap() {
            CompactionPlan::LevelZero(next) => *next,
            CompactionPlan::Merge(mut plan) => {
                let (inputs, _) = self.ready(|objects| {
                    plan.load_inputs_or_merge_all(&base, &folded, objects).unwrap()
                });
                let level = self.merge(&inputs);
                plan.finish(&base, &folded, &level).unwrap()
            }
        };
        for object in next.objects {
            self.put(object.chunk.hash, object.stored);
        }
        self.put(next.stored.chunk.hash, next.stored.stored.clone());
        let root = Root::unpack(next.stored.chunk.hash, &next.stored.stored).unwrap();
        assert_eq!(root, next.root);
        self.root = Some(root);
    }

    fn merge(&mut self, inputs: &[crate::merge::SheetInput]) -> crate::level::Level {
        self.merges += 1;
        let (mut merge, mut done) = (Merge::new(inputs.to_vec()), Vec::new());
        loop {
            match merge.step(&chunk_of).unwrap() {
                MergeStep::Load(chunks) => {
                    let mut objects = Objects::default();
                    for chunk in chunks {
                        let wanted = ObjectRequest::new(ObjectKind::Tile, chunk);
                        objects.insert(&wanted, &self.objects[&chunk.hash]).unwrap();
                        merge.provide(chunk.hash, objects.tile(&chunk.hash).unwrap().clone());
                    }
                }
                MergeStep::Tile { tile, chunk, cursor } => {
                    if let Some(chunk) = chunk {
                        self.put(chunk.chunk.hash, chunk.stored);
                    }
                    done.push(tile);
                    if self.resumed_every > 0 && done.len().is_multiple_of(self.resumed_every) {
                        merge = Merge::resume(inputs.to_vec(), done.clone(), cursor);
                    }
                }
                MergeStep::Done(level) => return level,
            }
        }
    }

    /// Asserts that the root with the operations in `tail` equals a workbook.
    fn assert_shows(&self, tail: &[Operation], workbook: &Workbook, window: &Window) {
        self.assert_shows_cells(tail, workbook, window, |cell| cell);
    }

    /// Asserts that the root with the operations in `tail` equals a workbook whose cells `shown`
    /// changes.
    fn assert_shows_cells(
        &self,
        tail: &[Operation],
        workbook: &Workbook,
        window: &Window,
        shown: impl Fn(Cell) -> Cell,
    ) {
        let base = self.base();
        let mut fold = Fold::new(base.metadata);
        fold.apply_operations(tail).unwrap();
        let (metadata, tail) = fold.finish();
        assert_eq!(workbook.tabs(), &metadata.tabs);
        assert_eq!(workbook.names(), &metadata.names);
        let rectangle = Rectangle {
            first: CellName { row: window.rows.start, column: window.columns.start },
            last: CellName { row: window.rows.end - 1, column: window.columns.end - 1 },
        };
        for (id, sheet) in workbook.sheets() {
            let own = &metadata.sheets[&id];
            assert_eq!((sheet.extent(), sheet.formats()), (own.extent, &own.formats));
            let expected = sheet.cells_in(rectangle).map(|(place, cell)| (place, shown(cell)));
            let expected: Vec<_> = expected.collect();
            let root = self.root.as_ref();
            let (tile, rounds) = self.ready(|objects| {
                view::read_window(root, &tail, &metadata.tabs, id, window, objects).unwrap()
            });
            assert!(rounds <= 4, "{rounds}");
            let estimated = |objects: &Objects| {
                crate::estimate_window(root, &tail, id, window, objects).unwrap()
            };
            let (estimate, _) = self.ready(estimated);
            assert!(estimate.cells >= u64::try_from(tile.cell_count()).unwrap(), "{estimate:?}");
            let found = visible_cells(&tile, &own.formats);
            let found: Vec<_> =
                found.into_iter().map(|cell| ((cell.row, cell.column), cell.cell)).collect();
            assert_eq!(found, expected);
        }
    }
}

/// Sets many cells of all kinds in one operation.
fn bulk() -> impl Strategy<Value = Operation> {
    (0..200_u32, 0..4_u32, 1..4_u32, 500..3_000_u32, any::<u32>()).prop_map(
        |(first_row, first_column, columns, count, seed)| {
            let cell = |number: u32| {
                let mixed = number.wrapping_mul(0x9E37_79B9) ^ seed;
                let value = match mixed % 9 {
                    0 => Value::Text(format!("text {mixed}")),
                    1 => Value::Bool(mixed.is_multiple_of(2)),
                    2 => Value::Empty,
                    _ => Value::Number(f64::from(mixed) / 7.0),
                };
                CellEdit {
                    row: first_row + number / columns,
                    column: first_column + number % columns,
                    value: Some(value),
                    formula: None,
                    format: mixed.is_multiple_of(50).then(|| "0.00".to_owned()),
                }
            };
            let cells = (0..count).map(cell).collect();
            Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
        },
    )
}

fn window() -> impl Strategy<Value = Window> {
    let side = || (0..300_u32, 1..100_u32).prop_map(|(first, count)| first..first + count);
    prop_oneof![
        1 => Just(Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS }),
        2 => (side(), 0..4_u32).prop_map(|(rows, first)| Window { rows, columns: first..first + 3 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn compaction_steps_equal_a_replay(
        rounds in vec((vec(any_operation(), 1..8), vec(bulk(), 0..3)), 1..12),
        tail in vec(any_operation(), 0..5),
        resumed_every in 0..3_usize,
        window in window(),
    ) {
        let mut store = Store { resumed_every, ..Store::default() };
        let mut workbook = Workbook::default();
        for (few, many) in rounds {
            let operations: Vec<Operation> = many.into_iter().chain(few).collect();
            workbook.apply_operations(&operations).unwrap();
            store.compact(&operations);
            store.assert_shows(&[], &workbook, &window);
        }
        workbook.apply_operations(&tail).unwrap();
        store.assert_shows(&tail, &workbook, &window);
    }
}

fn single(row: u32, column: u32, number: u32) -> Operation {
    let value = Some(Value::Number(f64::from(number)));
    let edit = CellEdit { row, column, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

#[test]
fn many_edits_flush_level_0_and_leave_few_levels() {
    let mut store = Store::default();
    let mut workbook = Workbook::default();
    let mut random = 1_u32;
    for _ in 0..60 {
        let operations: Vec<Operation> = (0..1_000)
            .map(|number| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                single(random >> 12 & 0xFFFF, random >> 28, number)
            })
            .collect();
        workbook.apply_operations(&operations).unwrap();
        store.compact(&operations);
    }
    let root = store.root.as_ref().unwrap();
    assert!((1..=6).contains(&root.levels.len()), "{}", root.levels.len());
    assert!(store.merges >= 3, "{}", store.merges);
    assert_eq!((root.entries, root.position.entry_number()), (60_000, 60_000));
    store.assert_shows(&[], &workbook, &Window { rows: 0..70_000, columns: 0..20 });
}

/// Sets rows of texts that do not compress; a few hundred rows fill a tile.
fn noisy_rows(rows: std::ops::Range<u32>) -> Operation {
    let text = |row: u32| {
        let mut bytes = [0; 120];
        blake3::Hasher::new().update(&row.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let cell = |row| CellEdit {
        row,
        column: 0,
        value: Some(Value::Text(text(row))),
        formula: None,
        format: None,
    };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: rows.map(cell).collect() })
}

#[test]
fn a_window_is_mapped_to_the_space_of_each_level() {
    let mut store = Store::default();
    let mut workbook = Workbook::default();
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 500, count: 3_000 };
    for operations in [
        vec![noisy_rows(0..3_000), noisy_rows(3_000..6_000)],
        vec![Operation::InsertRows(insert)],
        vec![noisy_rows(1_000..1_010)],
    ] {
        workbook.apply_operations(&operations).unwrap();
        store.compact(&operations);
    }
    let tiles = store.root.as_ref().unwrap().levels.iter().map(|level| level.bytes).sum::<u64>();
    assert!(tiles > 500_000, "{tiles}");
    for first in [0, 490, 990, 1_005, 3_495, 3_600, 5_000, 6_900, 8_995] {
        let window = Window { rows: first..first + 20, columns: 0..3 };
        store.assert_shows(&[], &workbook, &window);
    }
}
