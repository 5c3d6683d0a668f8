//! Folding and merging a history in any pieces equals a replay.

mod crowded;
mod formulas;
mod world;

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use self::world::World;
use super::*;
use crate::cells::visible_cells;
use crate::fold::{Fold, FoldedLevel, FoldedSheet};
use crate::tile::Tile;
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS, TARGET_CHUNK_BYTES};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::random::any_operation;
use cellar_sheet::operation::{
    CellEdit, ClearRange, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Span, Spans,
};
use cellar_sheet::workbook::Workbook;

const ALL: Window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };

/// Folds each piece of a history into a level.
fn folded(pieces: &[&[Operation]]) -> (WorkbookMetadata, Vec<FoldedLevel>) {
    let mut metadata = WorkbookMetadata::default();
    let levels = pieces.iter().map(|piece| {
        let mut fold = Fold::new(metadata.clone());
        fold.apply_operations(piece).unwrap();
        let (next, level) = fold.finish();
        metadata = next;
        level
    });
    let levels = levels.collect();
    (metadata, levels)
}

fn of_sheet(levels: &[FoldedLevel], id: SheetId) -> Vec<&FoldedSheet> {
    levels.iter().flat_map(|level| level.sheets.iter().filter(|sheet| sheet.sheet == id)).collect()
}

fn merged(sheets: &[&FoldedSheet], window: &Window, below: OlderLevels) -> Tile {
    let changes: Vec<_> = sheets.iter().map(|sheet| &sheet.moves).collect();
    let sources = map_levels_to_newest(&changes);
    let part = |(sheet, source)| {
        let sheet: &&FoldedSheet = sheet;
        PlacedTile {
            tile: &sheet.tile,
            first_row: 0,
            first_column: 0,
            size: TileSize::SHEET,
            mapping: source,
            formulas: FormulaMapping::unmoved(),
        }
    };
    let parts: Vec<PlacedTile<'_>> = sheets.iter().zip(&sources).map(part).collect();
    merge_window(&parts, window, below)
}

/// Merges several levels of a sheet into one.
fn as_one(sheets: &[&FoldedSheet], below: OlderLevels) -> Option<FoldedSheet> {
    let first = sheets.first()?;
    let all = compose_moves(&sheets.iter().map(|sheet| &sheet.moves).collect::<Vec<_>>());
    Some(FoldedSheet {
        sheet: first.sheet,
        moves: all,
        tile: Arc::new(merged(sheets, &ALL, below)),
    })
}

fn replayed(operations: &[Operation]) -> Workbook {
    let mut workbook = Workbook::default();
    workbook.apply_operations(operations).unwrap();
    workbook
}

fn rectangle(window: &Window) -> Rectangle {
    Rectangle {
        first: CellName { row: window.rows.start, column: window.columns.start },
        last: CellName { row: window.rows.end - 1, column: window.columns.end - 1 },
    }
}

fn assert_shows(
    workbook: &Workbook,
    metadata: &WorkbookMetadata,
    levels: &[FoldedLevel],
    window: &Window,
) {
    assert_eq!(workbook.tabs(), &metadata.tabs);
    for (id, sheet) in workbook.sheets() {
        let own = &metadata.sheets[&id];
        assert_eq!((sheet.extent(), sheet.formats()), (own.extent, &own.formats));
        let expected: Vec<_> = sheet.cells_in(rectangle(window)).collect();
        let found = visible_cells(
            &with_formula_texts(
                merged(&of_sheet(levels, id), window, OlderLevels::Absent),
                &metadata.tabs,
            ),
            &own.formats,
        );
        let found: Vec<_> =
            found.into_iter().map(|cell| ((cell.row, cell.column), cell.cell)).collect();
        assert_eq!(found, expected);
    }
}

/// Splits a history at random places.
fn pieces<'a>(operations: &'a [Operation], cuts: &[usize]) -> Vec<&'a [Operation]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (operations.len() + 1)).collect();
    cuts.sort_unstable();
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([operations.len()]);
    starts.zip(ends).map(|(start, end)| &operations[start..end]).collect()
}

fn window() -> impl Strategy<Value = Window> {
    let side = || (0..14_u32, 1..14_u32).prop_map(|(first, count)| first..first + count);
    prop_oneof![
        1 => Just(ALL),
        2 => (side(), side()).prop_map(|(rows, columns)| Window { rows, columns }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn levels_equal_a_replay(
        operations in vec(any_operation(), 0..40),
        cuts in vec(any::<usize>(), 0..6),
        window in window(),
    ) {
        let (metadata, levels) = folded(&pieces(&operations, &cuts));
        assert_shows(&replayed(&operations), &metadata, &levels, &window);
    }

    #[test]
    fn merged_levels_equal_a_replay(
        operations in vec(any_operation(), 0..40),
        cuts in vec(any::<usize>(), 1..6),
        (first, count) in (0..6_usize, 1..6_usize),
        window in window(),
    ) {
        let (metadata, levels) = folded(&pieces(&operations, &cuts));
        let first = first.min(levels.len());
        let end = (first + count).min(levels.len());
        let mut fewer = levels[..first].to_vec();
        let mut one = FoldedLevel::default();
        for id in metadata.tabs.order() {
            let sheets = of_sheet(&levels[first..end], *id);
            let formatted = !metadata.sheets[id].formats.is_empty();
            let bottom = if formatted { OlderLevels::Absent } else { OlderLevels::AbsentWithoutRangeFormats };
            let below = if first == 0 { bottom } else { OlderLevels::Present };
            // A sheet that later levels format may not have had range formats when these levels
            // were merged.
            let below = if end == levels.len() || first > 0 { below } else { OlderLevels::Absent };
            one.sheets.extend(as_one(&sheets, below));
        }
        fewer.push(one);
        fewer.extend_from_slice(&levels[end..]);
        assert_shows(&replayed(&operations), &metadata, &fewer, &window);
    }

    #[test]
    fn levels_in_tiles_equal_a_replay_wherever_their_merge_was_interrupted(
        operations in vec(any_operation(), 0..60),
        cuts in vec(any::<usize>(), 1..8),
        merged in vec(0..4_usize, 9),
        (bytes_per_cell, resumed_every, spread) in (1..6_000_usize, 0..3_usize, 1..300_u32),
        window in window(),
    ) {
        let operations: Vec<_> = operations.into_iter().map(|o| spread_out(o, spread)).collect();
        let mut world = World { bytes_per_cell, resumed_every, ..World::default() };
        for (piece, merged) in pieces(&operations, &cuts).into_iter().zip(merged) {
            world.snapshot(piece, merged);
        }
        let columns = window.columns.start * spread..window.columns.end.saturating_mul(spread).min(MAX_COLUMNS);
        world.assert_shows(&replayed(&operations), &Window { columns, ..window });
    }
}

fn fill(rows: std::ops::Range<u32>, plus: f64) -> Operation {
    let cell = |row, column| CellEdit {
        row,
        column,
        value: Some(Value::Number(f64::from(row) + plus)),
        formula: None,
        format: None,
    };
    let cells = rows.flat_map(|row| (0..4).map(move |column| cell(row, column))).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

#[test]
fn untouched_tiles_are_taken_over() {
    // 100 cells fill a tile.
    let bytes_per_cell = TARGET_CHUNK_BYTES / 100;
    let mut world = World { bytes_per_cell, ..World::default() };
    let mut history = vec![fill(0..500, 0.0), fill(0..1, 0.25)];
    world.snapshot(&history[..1], 0);
    assert_eq!(world.tiles(), 21, "20 full ones, the first is smaller");
    // The size of folded cells is estimated, so the first merge chooses narrower stripes.
    world.snapshot(&history[1..], 1);
    for (operation, reused) in [
        (fill(250..251, 0.5), 17..=20),
        // Half a tile is deleted, and the tiles below move unchanged.
        (
            Operation::DeleteRows(DeleteSpans {
                sheet: SheetId::FIRST,
                spans: Spans::one(200, 12),
            }),
            17..=20,
        ),
        (
            Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before: 100, count: 1 }),
            17..=20,
        ),
        (
            Operation::InsertColumns(InsertBefore { sheet: SheetId::FIRST, before: 1, count: 1 }),
            0..=0,
        ),
    ] {
        world.reused = 0;
        history.push(operation.clone());
        world.snapshot(std::slice::from_ref(&operation), 1);
        assert!(reused.contains(&world.reused), "{operation:?}: {}", world.reused);
        assert!((19..=23).contains(&world.tiles()), "{}", world.tiles());
        world.assert_shows(&replayed(&history), &ALL);
    }
}

/// Returns an operation that affects some tiles of a sheet of 400 rows and 4 columns.
fn any_change() -> impl Strategy<Value = Operation> {
    let rows = || (0..400_u32, 1..60_u32);
    let sheet = SheetId::FIRST;
    prop_oneof![
        4 => (0..400_u32, 1..8_u32, any::<u16>())
            .prop_map(|(row, count, plus)| fill(row..row + count, f64::from(plus))),
        1 => rows().prop_map(move |(before, count)| {
            Operation::InsertRows(InsertBefore { sheet, before, count })
        }),
        1 => rows().prop_map(move |(first, count)| {
            Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(first, count) })
        }),
        1 => (rows(), 0..4_u32).prop_map(move |((first, count), column)| {
            let (rows, columns) = (Spans::one(first, count), Spans::one(column, 1));
            Operation::ClearRange(ClearRange { sheet, rows, columns })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn only_untouched_tiles_are_taken_over(
        changes in vec(vec(any_change(), 1..4), 1..6),
        merged in vec(1..3_usize, 6),
        resumed_every in 0..3_usize,
    ) {
        let bytes_per_cell = TARGET_CHUNK_BYTES / 100;
        let mut world = World { bytes_per_cell, resumed_every, ..World::default() };
        let mut history = vec![fill(0..400, 0.0), fill(0..1, 0.25)];
        world.snapshot(&history[..1], 0);
        world.snapshot(&history[1..], 1);
        for (operations, merged) in changes.into_iter().zip(merged) {
            world.snapshot(&operations, merged);
            history.extend(operations);
            world.assert_shows(&replayed(&history), &ALL);
        }
    }
}

/// Multiplies columns by a factor, so that the sheet has several stripes.
fn spread_out(mut operation: Operation, by: u32) -> Operation {
    let spans = |spans: &Spans| match *spans == Spans::all(Axis::Columns) {
        true => spans.clone(),
        false => {
            let spread = spans.iter().map(|s| Span { first: s.first * by, count: s.count * by });
            Spans::from_sorted(spread.collect())
        }
    };
    match &mut operation {
        Operation::SetCells(set) => set.cells.iter_mut().for_each(|edit| edit.column *= by),
        Operation::ClearRange(clear) => clear.columns = spans(&clear.columns),
        Operation::SetFormat(set) => set.columns = spans(&set.columns),
        Operation::DeleteColumns(delete) => delete.spans = spans(&delete.spans),
        Operation::InsertColumns(insert) => {
            insert.before *= by;
            insert.count *= by;
        }
        _ => {}
    }
    operation
}
