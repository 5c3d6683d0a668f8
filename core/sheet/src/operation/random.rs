//! Random operations for property tests in this crate and in its dependents.

#![allow(clippy::unwrap_used, reason = "used only in tests")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::cell::Value;
use crate::extent::Extent;

/// Exclusive upper bound on rows and columns in random operations. A small bound makes conflicts
/// between concurrent operations likely.
pub const SIDE: u32 = 12;

fn sheet() -> impl Strategy<Value = SheetId> {
    prop_oneof![4 => Just(SheetId::FIRST), 1 => (1..4_u32).prop_map(SheetId)]
}

pub fn any_spans() -> impl Strategy<Value = Spans> {
    let spans = vec((0..SIDE, 1..4_u32), 1..3).prop_map(|list| {
        let mut spans: Vec<_> =
            list.into_iter().map(|(first, count)| Span { first, count }).collect();
        spans.sort_by_key(|span| span.first);
        Spans::from_sorted(spans)
    });
    spans.boxed()
}

fn insert() -> impl Strategy<Value = InsertBefore> {
    (sheet(), 0..SIDE, 1..4_u32).prop_map(|(sheet, before, count)| InsertBefore {
        sheet,
        before,
        count,
    })
}

fn delete() -> impl Strategy<Value = DeleteSpans> {
    (sheet(), any_spans()).prop_map(|(sheet, spans)| DeleteSpans { sheet, spans })
}

fn set_cells() -> impl Strategy<Value = SetCells> {
    let cell = (0..SIDE, 0..SIDE, 0..1_000_u32, any::<bool>(), any::<bool>());
    let cells = vec(cell, 1..6).prop_map(|cells| {
        let edits =
            cells.into_iter().map(|(row, column, number, has_value, has_format)| CellEdit {
                row,
                column,
                value: has_value.then(|| match number % 7 {
                    0 => Value::Empty,
                    _ => Value::Number(f64::from(number)),
                }),
                formula: (has_value && number % 5 == 0).then(|| "=1+1".to_owned()),
                format: (!has_value || has_format)
                    .then(|| format!("0.{}", "0".repeat(1 + number as usize % 3))),
            });
        edits.collect()
    });
    (sheet(), cells).prop_map(|(sheet, cells): (_, Vec<CellEdit>)| {
        SetCells { sheet, cells }.validated().unwrap()
    })
}

/// Encoded tile index of a sheet without cells. A test in `cellar_snapshot` compares these bytes
/// with its encoder's output.
pub const EMPTY_TILE_INDEX: &[u8] = &[131, 9, 1, 130, 0, 130, 128, 128];

/// Creates an import with the used range `extent` that replaces the first sheet.
///
/// # Panics
/// Never, because the tile index is short.
#[must_use]
pub fn import_of(extent: Extent) -> ImportSheet {
    ImportSheet {
        sheet: SheetId(1),
        name: "a".to_owned(),
        replaces: Some(SheetId::FIRST),
        extent,
        cells: 27,
        tile_index: TileIndex::new(EMPTY_TILE_INDEX.to_vec()).unwrap(),
    }
}

/// Generates imports without cells. Tests in `cellar_snapshot` cover imported cells.
fn import() -> impl Strategy<Value = ImportSheet> {
    let replaces = prop_oneof![Just(None), sheet().prop_map(Some)];
    let index = || TileIndex::new(EMPTY_TILE_INDEX.to_vec()).unwrap();
    (1..4_u32, "[a-c]{1,2}", replaces).prop_map(move |(sheet, name, replaces)| ImportSheet {
        sheet: SheetId(sheet),
        name,
        replaces,
        extent: Extent::default(),
        cells: 0,
        tile_index: index(),
    })
}

/// Generates operations, most of which affect rows, columns and cells of the first sheet.
pub fn any_operation() -> impl Strategy<Value = Operation> {
    let rows = prop_oneof![3 => any_spans(), 1 => Just(Spans::all(Axis::Rows))];
    let columns = prop_oneof![3 => any_spans(), 1 => Just(Spans::all(Axis::Columns))];
    let range = (sheet(), rows, columns);
    let range = range.boxed();
    let format = prop_oneof![Just("0.0".to_owned()), Just("General".to_owned())];
    let name = "[a-c]{1,2}";
    prop_oneof![
        5 => set_cells().prop_map(Operation::SetCells),
        2 => range.clone().prop_map(|(sheet, rows, columns)| {
            Operation::ClearRange(ClearRange { sheet, rows, columns })
        }),
        3 => insert().prop_map(Operation::InsertRows),
        3 => delete().prop_map(Operation::DeleteRows),
        2 => insert().prop_map(Operation::InsertColumns),
        2 => delete().prop_map(Operation::DeleteColumns),
        2 => (range, format).prop_map(|((sheet, rows, columns), format)| {
            Operation::SetFormat(SetFormat { sheet, rows, columns, format })
        }),
        1 => (1..4_u32, name).prop_map(|(sheet, name)| {
            Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name })
        }),
        1 => (sheet(), name).prop_map(|(sheet, name)| {
            Operation::RenameSheet(RenameSheet { sheet, name })
        }),
        1 => (1..4_u32).prop_map(|sheet| Operation::DeleteSheet(DeleteSheet { sheet: SheetId(sheet) })),
        1 => (0..9_u32).prop_map(|num| {
            Operation::Undo(Undo { position: Position::new(0, num).unwrap() })
        }),
        1 => (0..9_u32).prop_map(|num| {
            Operation::Revert(Revert { position: Position::new(0, num).unwrap() })
        }),
        1 => import().prop_map(Operation::ImportSheet),
        1 => Just(Operation::Rejected(Rejection::new(RejectionReason::TooLarge, "it is large"))),
    ]
}
