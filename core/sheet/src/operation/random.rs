//! Random operations for property tests.

#![allow(clippy::unwrap_used, reason = "used only in tests")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::cell::Value;
use crate::extent::Extent;

/// Exclusive upper bound on rows and columns in random operations. It is small so that concurrent
/// operations are likely to conflict.
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
    (sheet(), vec(cell_edit(), 1..6))
        .prop_map(|(sheet, cells)| SetCells { sheet, cells }.validated().unwrap())
}

fn cell_edit() -> impl Strategy<Value = CellEdit> {
    let random_parts = (0..SIDE, 0..SIDE, 0..1_000_u32, any::<bool>(), any::<bool>());
    random_parts.prop_map(|(row, column, number, has_value, may_have_format)| {
        let has_formula = has_value && number % 5 == 0;
        let has_format = !has_value || may_have_format;
        let value = if number % 7 == 0 { Value::Empty } else { Value::Number(f64::from(number)) };
        let decimals = "0".repeat(1 + number as usize % 3);
        CellEdit {
            row,
            column,
            value: has_value.then_some(value),
            formula: has_formula.then(|| "=1+1".to_owned()),
            format: has_format.then(|| format!("0.{decimals}")),
        }
    })
}

/// The encoded tile index of a sheet without cells. A test in `cellar_snapshot` checks that it
/// matches the encoder.
pub const EMPTY_TILE_INDEX: &[u8] = &[131, 9, 1, 130, 0, 130, 128, 128];

/// Creates an import with the used range `extent` that replaces the first sheet.
///
/// # Panics
/// Never panics, because the tile index is short.
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

/// Generates imports of blank sheets. Imported cells are tested in `cellar_snapshot`.
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

/// Generates operations. Most of them affect rows, columns and cells of the first sheet.
pub fn any_operation() -> impl Strategy<Value = Operation> {
    let rows = prop_oneof![3 => any_spans(), 1 => Just(Spans::all(Axis::Rows))].boxed();
    let columns = prop_oneof![3 => any_spans(), 1 => Just(Spans::all(Axis::Columns))].boxed();
    let clear_range = (sheet(), rows.clone(), columns.clone())
        .prop_map(|(sheet, rows, columns)| ClearRange { sheet, rows, columns });
    let format = prop_oneof![Just("0.0".to_owned()), Just("General".to_owned())];
    let set_format = (sheet(), rows, columns, format)
        .prop_map(|(sheet, rows, columns, format)| SetFormat { sheet, rows, columns, format });
    let new_sheet = || (1..4_u32).prop_map(SheetId);
    let sheet_name = "[a-c]{1,2}";
    let add_sheet = (new_sheet(), sheet_name).prop_map(|(sheet, name)| AddSheet { sheet, name });
    let rename_sheet = (sheet(), sheet_name).prop_map(|(sheet, name)| RenameSheet { sheet, name });
    let delete_sheet = new_sheet().prop_map(|sheet| DeleteSheet { sheet });
    let position = || (0..9_u32).prop_map(|number| Position::new(0, number).unwrap());
    prop_oneof![
        5 => set_cells().prop_map(Operation::SetCells),
        2 => clear_range.prop_map(Operation::ClearRange),
        3 => insert().prop_map(Operation::InsertRows),
        3 => delete().prop_map(Operation::DeleteRows),
        2 => insert().prop_map(Operation::InsertColumns),
        2 => delete().prop_map(Operation::DeleteColumns),
        2 => set_format.prop_map(Operation::SetFormat),
        1 => add_sheet.prop_map(Operation::AddSheet),
        1 => rename_sheet.prop_map(Operation::RenameSheet),
        1 => delete_sheet.prop_map(Operation::DeleteSheet),
        1 => position().prop_map(|position| Operation::Undo(Undo { position })),
        1 => position().prop_map(|position| Operation::Revert(Revert { position })),
        1 => import().prop_map(Operation::ImportSheet),
        1 => Just(Operation::Rejected(Rejection::new(RejectionReason::TooLarge, "it is large"))),
    ]
}
