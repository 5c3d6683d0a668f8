//! Imported sheets equal a replay of their cells, for any edits on top of them and any time at
//! which they are merged.

use super::*;
use crate::PackLimits;
use crate::index::pack_import_within;
use crate::level::{StoredTile, Stripe, StripeTile};
use crate::merge::SheetWriter;
use crate::tile::{Tile, TileColumn, TileValue};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{ImportSheet, Span};

type Cells = BTreeMap<(u32, u32), Cell>;

/// A sheet of an imported file.
#[derive(Debug, Clone)]
struct File {
    sheet: SheetId,
    replaces: Option<SheetId>,
    rows: u32,
    columns: u32,
    seed: u32,
    /// Limits of the index chunks; small limits give deep indexes.
    limits: PackLimits,
}

impl File {
    fn cells(&self) -> Cells {
        let places = (0..self.rows).flat_map(|row| (0..self.columns).map(move |c| (row, c)));
        let cell = |(row, column): (u32, u32)| {
            let mixed = (row * 31 + column).wrapping_mul(0x9E37_79B9) ^ self.seed;
            let value = match mixed % 7 {
                0 => return None,
                1 => Value::Bool(mixed.is_multiple_of(2)),
                2 => Value::Text(format!("{:x}", u128::from(mixed).pow(3))),
                _ => Value::Number(f64::from(mixed) / 3.0),
            };
            let formula = mixed.is_multiple_of(11).then(|| format!("=1+{mixed}"));
            let format = mixed.is_multiple_of(13).then(|| "0.00".to_owned());
            Some(((row, column), Cell { value, formula, format }))
        };
        places.filter_map(cell).collect()
    }

    /// Stores the chunks and returns the operation, as an import does before its entry is appended.
    fn operation(&self, store: &mut Store) -> Operation {
        let cells = self.cells();
        let (mut writer, mut stored) = (SheetWriter::default(), Vec::new());
        for first in (0..self.rows).step_by(100) {
            let block = cells.range((first, 0)..(first.saturating_add(100), 0));
            stored.extend(writer.push(tile_of(block), &chunk_of).unwrap());
        }
        let (written, last) = writer.finish(&chunk_of).unwrap();
        stored.extend(last);
        let (index, chunks) = pack_import_within(&written.stripes, self.limits).unwrap();
        for object in stored.into_iter().chain(chunks) {
            store.put(object.chunk.hash, object.stored);
        }
        Operation::ImportSheet(ImportSheet {
            sheet: self.sheet,
            name: "file".to_owned(),
            replaces: self.replaces,
            extent: written.extent,
            cells: written.cells,
            formulas: Some(written.formulas),
            sheets: BTreeMap::new(),
            tile_index: index,
        })
    }
}

fn tile_of<'a>(cells: impl Iterator<Item = (&'a (u32, u32), &'a Cell)>) -> Tile {
    let mut columns: BTreeMap<u32, TileColumn> = BTreeMap::new();
    for ((row, number), cell) in cells {
        let column = columns.entry(*number).or_insert_with(|| TileColumn::new(*number));
        match &cell.value {
            Value::Text(text) => column.values.push_text(*row, text),
            Value::Number(number) => column.values.push(*row, TileValue::Number(*number)),
            Value::Bool(value) => column.values.push(*row, TileValue::Bool(*value)),
            other => panic!("{other:?}"),
        }
        cell.formula.iter().for_each(|formula| column.formulas.push(*row, formula));
        cell.format.iter().for_each(|format| column.formats.push(*row, format));
    }
    Tile { columns: columns.into_values().collect() }
}

/// A step of a test case.
#[derive(Debug, Clone)]
enum Step {
    Edit(Operation),
    Import(File),
}

fn file() -> impl Strategy<Value = File> {
    let limits = prop_oneof![
        Just(PackLimits::IMPORT),
        Just(PackLimits {
            inline_bytes: 0,
            inline_total_bytes: 0,
            chunk_bytes: 60,
            referenced_bytes: u64::MAX
        }),
        Just(PackLimits {
            inline_bytes: 300,
            inline_total_bytes: 300,
            chunk_bytes: 60,
            referenced_bytes: u64::MAX
        }),
    ];
    let replaces = prop_oneof![Just(None), (0..4_u32).prop_map(|sheet| Some(SheetId(sheet)))];
    let size =
        prop_oneof![(1..30_u32, 1..6_u32), (200..2_000_u32, 1..4_u32), (1..4_u32, 100..300_u32)];
    (1..4_u32, replaces, size, any::<u32>(), limits).prop_map(
        |(sheet, replaces, (rows, columns), seed, limits)| File {
            sheet: SheetId(sheet),
            replaces,
            rows,
            columns,
            seed,
            limits,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => any_operation().prop_map(Step::Edit),
        1 => bulk().prop_map(Step::Edit),
        3 => file().prop_map(Step::Import),
    ]
}

/// Applies steps to a complete workbook. Returns the operations as the log stores them.
fn apply(steps: Vec<Step>, store: &mut Store, workbook: &mut Workbook) -> Vec<Operation> {
    let operations = steps.into_iter().map(|step| match step {
        Step::Edit(operation) => {
            workbook.apply_operation(&operation);
            operation
        }
        Step::Import(file) => {
            let operation = file.operation(store);
            let used = workbook.tabs().used().contains(file.sheet);
            workbook.apply_operation(&operation);
            if !used {
                workbook.fill(file.sheet, file.cells()).unwrap();
            }
            operation
        }
    });
    operations.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn imported_sheets_equal_a_replay(
        rounds in vec(vec(step(), 1..8), 1..8),
        tail in vec(step(), 0..6),
        resumed_every in 0..3_usize,
        window in window(),
    ) {
        let mut store = Store { resumed_every, ..Store::default() };
        let mut workbook = Workbook::default();
        for steps in rounds {
            let operations = apply(steps, &mut store, &mut workbook);
            store.compact(&operations);
            store.assert_shows(&[], &workbook, &window);
        }
        let tail = apply(tail, &mut store, &mut workbook);
        store.assert_shows(&tail, &workbook, &window);
    }
}

fn large(sheet: u32, replaces: Option<u32>) -> File {
    let (sheet, replaces) = (SheetId(sheet), replaces.map(SheetId));
    File { sheet, replaces, rows: 60_000, columns: 4, seed: 7, limits: PackLimits::IMPORT }
}

#[test]
fn the_tiles_of_an_import_are_merged_by_reference() {
    let (mut store, mut workbook) = (Store::default(), Workbook::default());
    let edit = |row| {
        let Operation::SetCells(mut set) = single(row, 1, 5) else { panic!() };
        set.sheet = SheetId(1);
        Step::Edit(Operation::SetCells(set))
    };
    let steps = vec![Step::Import(large(1, Some(0))), edit(30_000)];
    let operations = apply(steps, &mut store, &mut workbook);
    let puts = store.puts;
    store.compact(&operations);
    let root = store.root.clone().unwrap();
    assert_eq!((root.sheets.len(), root.levels.len()), (1, 1));
    // Only the edited tile, the small tiles at the ends and the root are written; all other tiles
    // are taken over.
    let made = store.puts - puts;
    assert!((2..=5).contains(&made), "{made}");
    assert!(root.totals.bytes > 400_000, "{}", root.totals.bytes);
    store.assert_shows(&[], &workbook, &Window { rows: 29_990..30_010, columns: 0..9 });
    store.assert_shows(&[], &workbook, &Window { rows: 0..70_000, columns: 0..9 });
}

#[test]
fn cells_of_a_tile_beyond_its_place_are_ignored() {
    let mut store = Store::default();
    let column = |number| {
        let mut column = TileColumn::new(number);
        (0..10).for_each(|row| column.values.push(row, TileValue::Number(f64::from(row))));
        column
    };
    let tile = Tile { columns: (0..5).map(column).collect() };
    let object = chunk_of(&tile).unwrap();
    store.put(object.chunk.hash, object.stored);
    let place = |first, count| StripeTile {
        rows: Span { first, count },
        cells: 50,
        stored: StoredTile::Chunk(object.chunk),
        formulas: None,
    };
    // Each place is smaller than its tile; the first tile would overlap the second place.
    let columns = Span { first: 0, count: 2 };
    let stripes = [Stripe { columns, tiles: vec![place(0, 3), place(3, 4)] }];
    let (index, _) = pack_import_within(&stripes, PackLimits::IMPORT).unwrap();
    let import = Operation::ImportSheet(ImportSheet {
        sheet: SheetId(1),
        name: "file".to_owned(),
        replaces: None,
        extent: Extent { rows: 7, columns: 2 },
        cells: 14,
        formulas: None,
        sheets: BTreeMap::new(),
        tile_index: index,
    });
    let mut workbook = Workbook::default();
    workbook.apply_operation(&import);
    let number = |row: u32| Value::Number(f64::from(row));
    let at = |row: u32| if row < 3 { number(row) } else { number(row - 3) };
    let cells = (0..7).flat_map(|row| (0..2).map(move |column| (row, column)));
    let cells =
        cells.map(|(row, column)| ((row, column), Cell { value: at(row), ..Cell::default() }));
    workbook.fill(SheetId(1), cells).unwrap();
    let window = Window { rows: 0..100, columns: 0..100 };
    store.assert_shows(std::slice::from_ref(&import), &workbook, &window);
    store.compact(&[import]);
    store.assert_shows(&[], &workbook, &window);
    let more = single(50, 0, 1);
    workbook.apply_operation(&more);
    store.compact(&[more]);
    store.assert_shows(&[], &workbook, &window);
}
