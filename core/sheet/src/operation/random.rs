//! Random operations for property tests.

#![allow(clippy::unwrap_used, reason = "used only in tests")]

mod formulas;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::cell::Value;
use crate::extent::Extent;
pub use cellar_grid::testing::{SIDE, any_spans};
pub use formulas::{FormulaScope, any_formula, any_formula_in};

fn sheet() -> impl Strategy<Value = SheetId> {
    prop_oneof![4 => Just(SheetId::FIRST), 1 => (1..4_u32).prop_map(SheetId)]
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

fn set_cells(formula: impl Strategy<Value = String>) -> impl Strategy<Value = Operation> {
    (sheet(), vec((cell_edit(), formula), 1..6)).prop_map(|(sheet, edits)| {
        let with_formula = |(edit, formula): (CellEdit, String)| CellEdit {
            formula: edit.formula.as_ref().map(|_| formula),
            ..edit
        };
        let cells = edits.into_iter().map(with_formula).collect();
        Operation::SetCells(SetCells { sheet, cells }).validated().unwrap()
    })
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
        formulas: None,
        sheets: BTreeMap::new(),
        tile_index: TileIndex::new(EMPTY_TILE_INDEX.to_vec()).unwrap(),
    }
}

fn revert() -> impl Strategy<Value = Revert> {
    let span = || proptest::option::of((0..SIDE, 1..4_u32));
    let range = proptest::option::of((sheet(), span(), span()));
    (0..9_u32, range).prop_map(|(number, range)| {
        let whole = Revert::whole(Position::new(0, number).unwrap());
        let Some((sheet, rows, columns)) = range else { return whole };
        let to_span = |(first, count)| Span { first, count };
        let (rows, columns) = (rows.map(to_span), columns.map(to_span));
        Revert { sheet: Some(sheet), rows, columns, ..whole }
    })
}

/// Generates imports of blank sheets. Imported cells are tested in `cellar_snapshot`.
fn import() -> impl Strategy<Value = ImportSheet> {
    let replaces = prop_oneof![Just(None), sheet().prop_map(Some)];
    let index = || TileIndex::new(EMPTY_TILE_INDEX.to_vec()).unwrap();
    let formulas = prop_oneof![Just(None), (0..3_u64).prop_map(Some)];
    let sheets = proptest::collection::btree_map("[d-f]", 0..4_u32, 0..3);
    (1..4_u32, "[a-c]{1,2}", replaces, formulas, sheets).prop_map(
        move |(sheet, name, replaces, formulas, sheets)| {
            // Greater numbers are those of later imports of the same entry.
            let sheets =
                sheets.into_iter().map(|(name, number)| (name, SheetId(number.min(sheet))));
            ImportSheet {
                sheet: SheetId(sheet),
                name,
                replaces,
                extent: Extent::default(),
                cells: 0,
                formulas,
                sheets: sheets.collect(),
                tile_index: index(),
            }
        },
    )
}

/// Generates definitions and deletions of names.
fn set_name() -> impl Strategy<Value = SetName> {
    let reference = || {
        prop_oneof![
            4 => (0..SIDE, 1..6_u32).prop_map(|(first, count)| {
                format!("S!$A${}:$C${}", first + 1, first + count)
            }),
            1 => (1..SIDE).prop_map(|row| format!("S!$B${row}")),
            1 => Just("S!$B:$D".to_owned()),
        ]
    };
    let formula = prop_oneof![
        1 => Just("=0.19".to_owned()),
        3 => reference().prop_map(|one| format!("={one}")),
        1 => (reference(), reference()).prop_map(|(one, two)| format!("=SUM({one},{two})")),
    ];
    let formula = proptest::option::weighted(0.8, formula);
    ("[n-p]{1,2}", formula, sheet()).prop_map(|(name, formula, sheet)| {
        let sheets = BTreeMap::from([("S".to_owned(), sheet)]);
        SetName { name, formula, sheets }.validated().unwrap()
    })
}

/// Generates operations. Most of them affect rows, columns and cells of the first sheet. Formulas
/// have no references.
pub fn any_operation() -> impl Strategy<Value = Operation> {
    operation_with(Just("=1+1".to_owned()))
}

/// Like [`any_operation`], with formulas that have references.
pub fn any_operation_with_formulas() -> impl Strategy<Value = Operation> {
    operation_with(any_formula())
}

fn operation_with(
    formula: impl Strategy<Value = String> + 'static,
) -> impl Strategy<Value = Operation> {
    let rows = prop_oneof![3 => any_spans(), 1 => Just(Spans::all(Axis::Rows))].boxed();
    let columns = prop_oneof![3 => any_spans(), 1 => Just(Spans::all(Axis::Columns))].boxed();
    let clear_range = (sheet(), rows.clone(), columns.clone())
        .prop_map(|(sheet, rows, columns)| ClearRange { sheet, rows, columns });
    let format = prop_oneof![Just("0.0".to_owned()), Just("General".to_owned())];
    let set_format = (sheet(), rows, columns, format)
        .prop_map(|(sheet, rows, columns, format)| SetFormat { sheet, rows, columns, format });
    let new_sheet = || (1..4_u32).prop_map(SheetId);
    let sheet_name = "[a-c]{1,2}";
    let next_sheet = prop_oneof![Just(None), sheet().prop_map(Some)];
    let add_sheet = (new_sheet(), sheet_name, next_sheet)
        .prop_map(|(sheet, name, before)| AddSheet { sheet, name, before });
    let rename_sheet = (sheet(), sheet_name).prop_map(|(sheet, name)| RenameSheet { sheet, name });
    let delete_sheet = new_sheet().prop_map(|sheet| DeleteSheet { sheet });
    let position = || (0..9_u32).prop_map(|number| Position::new(0, number).unwrap());
    prop_oneof![
        5 => set_cells(formula),
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
        1 => revert().prop_map(Operation::Revert),
        1 => import().prop_map(Operation::ImportSheet),
        1 => set_name().prop_map(Operation::SetName),
        1 => Just(Operation::Rejected(Rejection::new(RejectionReason::TooLarge, "it is large"))),
    ]
}
