//! Formulas after each compaction step equal a model.

use super::*;
use crate::fold::FoldedLevel;
use crate::formula_model::{FormulaModel, any_operation_with_formulas};
use crate::level::{StoredTile, Stripe, StripeTile};
use crate::tile::{Tile, TileColumn, TileValue};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{AddSheet, DeleteSpans, ImportSheet, Span, Spans};

const ALL: Window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };

impl Store {
    fn assert_shows_model(&self, tail: &[Operation], model: &FormulaModel, window: &Window) {
        self.assert_shows_cells(tail, &model.workbook, window, |cell| model.shown(cell));
    }
}

/// Returns an operation that exceeds level 0.
fn large() -> impl Strategy<Value = Option<Operation>> {
    prop_oneof![2 => Just(None), 1 => bulk().prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn formulas_after_compaction_steps_equal_a_replay(
        rounds in vec((vec(any_operation_with_formulas(), 1..12), large()), 1..10),
        tail in vec(any_operation_with_formulas(), 0..8),
        resumed_every in 0..3_usize,
        window in window(),
    ) {
        let mut store = Store { resumed_every, ..Store::default() };
        let mut model = FormulaModel::default();
        for (mut operations, large) in rounds {
            operations.splice(0..0, large);
            model.apply_operations(&operations);
            store.compact(&operations);
            store.assert_shows_model(&[], &model, &window);
        }
        model.apply_operations(&tail);
        store.assert_shows_model(&tail, &model, &window);
    }
}

fn formula_cells(sheet: u32, formulas: impl Iterator<Item = (u32, u32, String)>) -> Operation {
    let cells = formulas.map(|(row, column, formula)| CellEdit {
        row,
        column,
        value: Some(Value::Number(1.0)),
        formula: Some(formula),
        format: None,
    });
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells: cells.collect() })
}

fn add_sheet(sheet: u32, name: &str) -> Operation {
    let (sheet, name) = (SheetId(sheet), name.to_owned());
    Operation::AddSheet(AddSheet { sheet, name, before: None })
}

/// Returns insertions and deletions of single rows of a sheet, at places that are far apart.
fn moves(sheet: u32, count: u32) -> Vec<Operation> {
    let sheet = SheetId(sheet);
    let one = |number: u32| {
        let row = number.wrapping_mul(2_654_435_761) % 5_000;
        if number.is_multiple_of(2) {
            Operation::InsertRows(InsertBefore { sheet, before: row, count: 1 })
        } else {
            Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(row, 1) })
        }
    };
    (0..count).map(one).collect()
}

/// Returns the number of objects that a reader of a window loads, and the number of sequential
/// requests.
fn loaded(store: &Store, window: &Window) -> (usize, usize) {
    let root = store.root.as_ref().unwrap();
    let metadata = store.base().metadata;
    let mut loaded = 0;
    let (_, rounds) = store.ready(|objects| {
        let tail = FoldedLevel::default();
        let (sheet, tabs) = (SheetId::FIRST, &metadata.tabs);
        let cells = view::read_window(Some(root), &tail, tabs, sheet, window, objects).unwrap();
        loaded += if let Fetch::Missing(wanted) = &cells { wanted.len() } else { 0 };
        cells
    });
    (loaded, rounds)
}

#[test]
fn a_window_of_2_000_formulas_after_4_000_moves_takes_few_objects() {
    const WINDOW: Window = Window { rows: 0..1_000, columns: 0..20 };
    let counts = |formula: &dyn Fn(u32) -> Option<String>| {
        let mut store = Store::default();
        let mut model = FormulaModel::default();
        let filled = noisy_rows(0..3_000);
        let cells =
            (0..2_000).filter_map(|number| Some((number / 2, 1 + number % 2, formula(number)?)));
        let mut steps = vec![vec![add_sheet(1, "Data"), filled, formula_cells(0, cells)]];
        // Moves of both sheets, in several levels.
        for part in moves(0, 2_000).chunks(500) {
            steps.push(part.to_vec());
        }
        for part in moves(1, 2_000).chunks(500) {
            steps.push(part.to_vec());
        }
        for step in steps {
            model.apply_operations(&step);
            store.compact(&step);
        }
        store.assert_shows_model(&[], &model, &WINDOW);
        loaded(&store, &WINDOW)
    };
    let without = counts(&|_| None);
    let with = counts(&|number| Some(format!("=SUM(A{}:A4000)+Data!B$77", number / 2 + 1)));
    // The tiles with formulas are larger, and the moves of the other sheet are one more chunk.
    assert!(with.0 <= without.0 + 4 && with.1 <= without.1 + 1, "{with:?} {without:?}");
}

/// The version in the header of an object.
fn version(bytes: &[u8]) -> u8 {
    bytes[2]
}

#[test]
fn only_roots_with_formulas_have_version_2() {
    let mut store = Store::default();
    let mut steps = vec![vec![add_sheet(1, "Data"), single(3, 3, 1)]];
    steps.push(moves(0, 30));
    let root_bytes =
        |store: &Store| crate::cbor::encode(crate::cbor::Kind::Root, store.root.as_ref().unwrap());
    for step in &steps {
        store.compact(step);
        assert_eq!(version(&root_bytes(&store)), 1);
    }
    store.compact(&[formula_cells(0, [(0, 0, "=A2".to_owned())].into_iter())]);
    assert_eq!(version(&root_bytes(&store)), 2);
    let mut as_version_1 = root_bytes(&store);
    as_version_1[2] = 1;
    assert!(Root::decode(&root_bytes(&store)).is_ok());
    assert!(Root::decode(&as_version_1).is_err(), "older releases must refuse it");
}

/// Stores a tile with texts of formulas, and returns its import.
fn import(store: &mut Store, sheet: u32, replaces: Option<u32>, formulas: &[&str]) -> Operation {
    let mut column = TileColumn::new(0);
    for (row, formula) in (0..).zip(formulas) {
        column.values.push(row, TileValue::Number(1.0));
        column.formulas.push(row, formula);
    }
    let rows = u32::try_from(formulas.len()).unwrap();
    let object = chunk_of(&Tile { columns: vec![column] }).unwrap();
    let place = StripeTile {
        rows: Span { first: 0, count: rows },
        cells: rows,
        stored: StoredTile::Chunk(object.chunk),
        formulas: Some(crate::TileFormulas::counted(rows)),
    };
    store.put(object.chunk.hash, object.stored);
    let stripes = [Stripe { columns: Span { first: 0, count: 128 }, tiles: vec![place] }];
    let (tile_index, _) = crate::index::pack_import(&stripes).unwrap();
    Operation::ImportSheet(ImportSheet {
        sheet: SheetId(sheet),
        name: "file".to_owned(),
        replaces: replaces.map(SheetId),
        extent: Extent { rows, columns: 1 },
        cells: u64::from(rows),
        formulas: None,
        sheets: BTreeMap::new(),
        tile_index,
    })
}

#[test]
fn imported_formulas_follow_the_rows_that_move_after_the_import() {
    const FORMULAS: [&str; 4] = ["=A5", "=sum(Data!A5:A6)", "=Data!A9+1", "=SUM("];
    let insert = |sheet, before| {
        Operation::InsertRows(InsertBefore { sheet: SheetId(sheet), before, count: 2 })
    };
    for (compacted_each, extra_steps) in [(false, 0), (true, 0), (false, 2), (true, 2)] {
        let (mut store, mut model) = (Store::default(), FormulaModel::default());
        let mut steps = vec![add_sheet(1, "Data"), single(0, 0, 1), insert(1, 0)];
        steps.push(import(&mut store, 2, None, &FORMULAS));
        steps.extend([insert(1, 3), insert(2, 2), insert(1, 0)]);
        steps.extend(moves(1, extra_steps));
        let mut tail = Vec::new();
        for step in steps {
            model.apply(&step);
            if let Operation::ImportSheet(import) = &step {
                let cells = (0..).zip(FORMULAS).map(|(row, formula)| {
                    let formula = Some(model.number_of(import.sheet, formula));
                    let cell = Cell { value: Value::Number(1.0), formula, format: None };
                    ((row, 0), cell)
                });
                let cells: Vec<_> = cells.collect();
                model.workbook.fill(import.sheet, cells).unwrap();
            }
            tail.push(step);
            store.assert_shows_model(&tail, &model, &ALL);
            if compacted_each {
                store.compact(&std::mem::take(&mut tail));
                store.assert_shows_model(&tail, &model, &ALL);
            }
        }
        if !tail.is_empty() {
            store.compact(&tail);
        }
        store.assert_shows_model(&[], &model, &ALL);
        let last = [insert(2, 0), insert(1, 0)];
        model.apply_operations(&last);
        store.compact(&last);
        store.assert_shows_model(&[], &model, &ALL);
    }
}
