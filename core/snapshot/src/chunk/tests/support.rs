//! Tiles for tests.

use proptest::prelude::*;

use crate::tile::{Tile, TileColumn, TileValue};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS, MAX_TILE_TEXT_BYTES};
use cellar_sheet::cell::ErrorCode;

/// A value that owns its text.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Plain(TileValue),
    Text(String),
    Long(String, u8),
}

pub(super) fn push(column: &mut TileColumn, row: u32, value: &Value) {
    match value {
        Value::Plain(value) => column.values.push(row, *value),
        Value::Text(text) => column.values.push_text(row, text),
        Value::Long(preview, number) => {
            let bytes = u32::try_from(MAX_TILE_TEXT_BYTES).unwrap() + 1 + u32::from(*number);
            column.values.push_long_text(row, preview, [*number; 32], bytes);
        }
    }
}

/// Returns a tile with every kind of value, formulas, formats, gaps, and a column with only
/// formats.
pub(super) fn sample() -> Tile {
    let mut mixed = TileColumn::new(2);
    let values = [
        Value::Plain(TileValue::Empty),
        Value::Plain(TileValue::Number(12.75)),
        Value::Plain(TileValue::Number(-0.0)),
        Value::Plain(TileValue::Bool(true)),
        Value::Plain(TileValue::Error(ErrorCode::NotAvailable)),
        Value::Text("Grüße, \"Welt\"".into()),
        Value::Text(String::new()),
        Value::Long("It begins so".into(), 7),
        Value::Plain(TileValue::Number(1e300)),
    ];
    for (row, value) in (4..).step_by(3).zip(&values) {
        push(&mut mixed, row, value);
    }
    mixed.formulas.push(7, "=A1*2");
    mixed.formulas.push(16, "=NA()");
    mixed.formats.push(7, "0.00");
    mixed.formats.push(8, "General");
    mixed.formats.push(1_000, "0.00");
    let mut numbers = TileColumn::new(3);
    let mut formats = TileColumn::new(MAX_COLUMNS - 1);
    for row in 0..20 {
        numbers.values.push(4 + row, TileValue::Number(f64::from(row * row % 7) / 4.0));
        numbers.formats.push(4 + row, "0.00");
        numbers.formulas.push(4 + row, &format!("=B{row}/4"));
    }
    formats.formats.push(MAX_ROWS - 1, "yyyy-mm-dd");
    Tile { columns: vec![mixed, numbers, formats] }
}

/// Returns a tile with templates of formulas, texts of formulas, and cells without formulas.
pub(super) fn with_templates() -> Tile {
    let mut filled = TileColumn::new(1);
    for row in 0..40 {
        filled.values.push(2 + row, TileValue::Number(f64::from(row) / 4.0));
        filled.templates.push(2 + row, "=\u{1}r0c-1\u{2}*\u{1}R0C0\u{2}");
    }
    let mut mixed = TileColumn::new(4);
    for row in 0..7 {
        mixed.values.push(row * 3, TileValue::Bool(row % 2 == 0));
    }
    mixed.formulas.push(3, "=SUM(");
    mixed.templates.push(6, "=SUM(\u{1}r-4c0:R1C3\u{2})+\u{1}'No sheet'!x\u{2}");
    mixed.formulas.push(9, "no formula");
    mixed.templates.push(12, "=\u{1}7!r-1:r1\u{2}&\u{1}C3:c2\u{2}");
    mixed.formats.push(12, "0.00");
    Tile { columns: vec![filled, mixed] }
}

fn value() -> impl Strategy<Value = Value> {
    let numbers = [-0.0, 5e-324, f64::MIN, f64::MAX, 9_007_199_254_740_993.0, 9.3e18, 0.1 + 0.2];
    let text = prop_oneof![
        4 => "[a-c]{0,3}".boxed(),
        2 => "[ab]{1,2}( [ab]{1,2}){1,4}".boxed(),
        1 => "\\PC{0,9}".boxed(),
        1 => (0..=MAX_TILE_TEXT_BYTES).prop_map(|bytes| "x".repeat(bytes)).boxed(),
    ];
    prop_oneof![
        Just(Value::Plain(TileValue::Empty)),
        any::<bool>().prop_map(|value| Value::Plain(TileValue::Bool(value))),
        (1..=12_u8).prop_map(|code| {
            Value::Plain(TileValue::Error(ErrorCode::from_number(code).unwrap()))
        }),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| Value::Plain(TileValue::Number(number))),
        proptest::sample::select(numbers.to_vec())
            .prop_map(|number| Value::Plain(TileValue::Number(number))),
        any::<i16>().prop_map(|number| Value::Plain(TileValue::Number(f64::from(number) / 100.0))),
        text.prop_map(Value::Text),
        ("\\PC{0,5}", any::<u8>()).prop_map(|(preview, number)| Value::Long(preview, number)),
    ]
}

fn template_of(number: u8) -> String {
    format!("=SUM(\u{1}r-{number}c0:R7C1\u{2})*\u{1}3!r0c{number}\u{2}")
}

/// A strategy for columns with values of few kinds, in near and distant rows.
fn column() -> impl Strategy<Value = TileColumn> {
    let gap = prop_oneof![8 => Just(0_u32), 2 => 0..5_u32, 1 => 0..1_000_000_u32];
    let values = proptest::collection::vec(value(), 1..4);
    let extra = proptest::option::weighted(0.2, "[0#]{1,3}|General");
    let formula = proptest::option::weighted(0.2, "=[A-C][0-9]{1,2}\\PC?");
    let template = prop_oneof![Just(0_u8), 1..3_u8];
    let cells = proptest::collection::vec((gap, any::<u8>(), extra, (formula, template)), 1..60);
    let first = prop_oneof![Just(0_u32), 0..100_u32, 0..MAX_ROWS - 100_000_000];
    (first, values, cells, any::<bool>(), 1..9_usize).prop_map(
        |(first, values, cells, only, times)| {
            let mut column = TileColumn::new(0);
            let mut row = first;
            for (gap, pick, format, formula) in cells.iter().cycle().take(cells.len() * times) {
                row += gap / u32::try_from(times).unwrap() + 1;
                if !only {
                    push(&mut column, row, &values[usize::from(*pick) % values.len()]);
                    match formula {
                        (Some(formula), 0) => column.formulas.push(row, formula),
                        (Some(_), number) => column.templates.push(row, &template_of(*number)),
                        (None, _) => {}
                    }
                }
                format.iter().for_each(|format| column.formats.push(row, format));
            }
            if column.is_empty() {
                column.formats.push(row, "0");
            }
            column
        },
    )
}

/// A strategy for tiles.
pub(super) fn tile() -> impl Strategy<Value = Tile> {
    let gap = prop_oneof![5 => 0..3_u32, 1 => 0..MAX_COLUMNS / 8];
    proptest::collection::vec((gap, column()), 0..6).prop_map(|columns| {
        let mut next = 0;
        let columns = columns.into_iter().map(|(gap, mut column)| {
            column.index = next + gap;
            next = column.index + 1;
            column
        });
        Tile { columns: columns.collect() }
    })
}
