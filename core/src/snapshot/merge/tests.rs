//! Whatever is folded and merged in whatever pieces, shows what a replay shows.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::limits::{MAX_COLUMNS, MAX_ROWS};
use crate::operation::tests::any_operation;
use crate::operation::{Operation, SheetId};
use crate::snapshot::cells::cells;
use crate::snapshot::fold::{Fold, FoldedLevel, FoldedSheet};
use crate::snapshot::outline::Outline;
use crate::snapshot::tile::Tile;
use crate::workbook::Workbook;

const ALL: Window = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };

/// Folds pieces of a history into a level each.
fn folded(pieces: &[&[Operation]]) -> (Outline, Vec<FoldedLevel>) {
    let mut outline = Outline::default();
    let levels = pieces.iter().map(|piece| {
        let mut fold = Fold::new(outline.clone());
        fold.apply_operations(piece);
        let (next, level) = fold.finish();
        outline = next;
        level
    });
    let levels = levels.collect();
    (outline, levels)
}

fn of_sheet(levels: &[FoldedLevel], id: SheetId) -> Vec<&FoldedSheet> {
    levels.iter().flat_map(|level| level.sheets.iter().filter(|sheet| sheet.sheet == id)).collect()
}

fn changes<'a>(sheet: &'a FoldedSheet) -> LevelChanges<'a> {
    LevelChanges {
        rows: &sheet.rows,
        columns: &sheet.columns,
        value_clears: &sheet.value_clears,
        format_clears: &sheet.format_clears,
    }
}

fn merged(sheets: &[&FoldedSheet], window: &Window, below: Below) -> Tile {
    let changes: Vec<_> = sheets.iter().map(|sheet| changes(sheet)).collect();
    let sources = sources(&changes);
    let part = |(sheet, source)| {
        let sheet: &&FoldedSheet = sheet;
        Part { tile: &sheet.tile, first_row: 0, first_column: 0, source }
    };
    let parts: Vec<Part<'_>> = sheets.iter().zip(&sources).map(part).collect();
    merge_window(&parts, window, below)
}

/// Several levels of a sheet as one.
fn as_one(sheets: &[&FoldedSheet], below: Below) -> Option<FoldedSheet> {
    let first = sheets.first()?;
    let all = composed(&sheets.iter().map(|sheet| changes(sheet)).collect::<Vec<_>>());
    Some(FoldedSheet {
        sheet: first.sheet,
        rows: all.rows,
        columns: all.columns,
        value_clears: all.value_clears,
        format_clears: all.format_clears,
        tile: merged(sheets, &ALL, below),
    })
}

fn replayed(operations: &[Operation]) -> Workbook {
    let mut workbook = Workbook::default();
    workbook.apply_operations(operations).unwrap();
    workbook
}

fn assert_shows(workbook: &Workbook, outline: &Outline, levels: &[FoldedLevel], window: &Window) {
    assert_eq!(workbook.tabs(), &outline.tabs);
    for (id, sheet) in workbook.sheets() {
        let own = &outline.sheets[&id];
        assert_eq!((sheet.extent(), sheet.formats()), (own.extent, &own.formats));
        let last = |range: &std::ops::Range<u32>| range.end - 1;
        let rectangle = crate::a1::Rectangle {
            first: crate::a1::CellName { row: window.rows.start, column: window.columns.start },
            last: crate::a1::CellName { row: last(&window.rows), column: last(&window.columns) },
        };
        let expected: Vec<_> = sheet.cells_in(rectangle).collect();
        let found = cells(&merged(&of_sheet(levels, id), window, Below::Nothing), &own.formats);
        let found: Vec<_> =
            found.into_iter().map(|cell| ((cell.row, cell.column), cell.cell)).collect();
        assert_eq!(found, expected);
    }
}

/// Cuts a history at random places.
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
    fn levels_show_what_a_replay_shows(
        operations in vec(any_operation(), 0..40),
        cuts in vec(any::<usize>(), 0..6),
        window in window(),
    ) {
        let (outline, levels) = folded(&pieces(&operations, &cuts));
        assert_shows(&replayed(&operations), &outline, &levels, &window);
    }

    #[test]
    fn merged_levels_show_the_same(
        operations in vec(any_operation(), 0..40),
        cuts in vec(any::<usize>(), 1..6),
        (first, count) in (0..6_usize, 1..6_usize),
        window in window(),
    ) {
        let (outline, levels) = folded(&pieces(&operations, &cuts));
        let first = first.min(levels.len());
        let end = (first + count).min(levels.len());
        let mut fewer = levels[..first].to_vec();
        let mut one = FoldedLevel::default();
        for id in outline.tabs.order() {
            let sheets = of_sheet(&levels[first..end], *id);
            let formatted = !outline.sheets[id].formats.is_empty();
            let bottom = if formatted { Below::Nothing } else { Below::NothingFormatted };
            let below = if first == 0 { bottom } else { Below::Levels };
            // A sheet that later levels format could have had none when these were merged.
            let below = if end == levels.len() || first > 0 { below } else { Below::Nothing };
            one.sheets.extend(as_one(&sheets, below));
        }
        fewer.push(one);
        fewer.extend_from_slice(&levels[end..]);
        assert_shows(&replayed(&operations), &outline, &fewer, &window);
    }
}
