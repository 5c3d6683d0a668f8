//! Property tests: runs of formulas have the same results as their cells one by one.

use cellar_formula::{Formula, Template};
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, column_name};
use cellar_sheet::cell::{Cell, ErrorCode, Value};
use cellar_sheet::operation::random::{FormulaScope, any_formula_in};
use cellar_snapshot::merge::Window;
use proptest::collection::vec;
use proptest::prelude::*;

use super::world::World;
use crate::block::BLOCK_ROWS;
use crate::workbook::CYCLE_NOTE;
use crate::{Calculation, CellKey, FormulaResult};

const COLUMNS: u32 = 5;
const ROWS: u32 = 14;
/// The rows are in two blocks.
const FIRST_ROW: u32 = BLOCK_ROWS - 5;
/// The cell in which formulas are written.
const ORIGIN_ROW: u32 = FIRST_ROW + 3;

/// Names of functions, and operators, are written as they are. The other parts are:
/// `a` to `d` cells of the same or a near row, `F` a fixed cell, `R` a fixed range, `M` a range that
/// moves, `G` a range that grows, `U` the cell above, `D` the cell below.
const PATTERNS: [&str; 58] = [
    "a*b",
    "a+b-c",
    "a/b",
    "a^2",
    "a&\"-\"&b",
    "-a",
    "+a",
    "a%",
    "a>b",
    "a=b",
    "a<>F",
    "a+F",
    "2*a+1",
    "IF(a>b,c,d)",
    "IF(a,b)",
    "IF(a,,b)",
    "IF(a>2,a*1.1,0)",
    "IF(a=\"\",\"\",b)",
    "IFERROR(a/b,c)",
    "IFERROR(a,)",
    "IFNA(a,b)",
    "AND(a>1,b)",
    "OR(a,b)",
    "NOT(a)",
    "ROUND(a,1)",
    "ABS(a)+1",
    "SUM(a,b,3)",
    "SUM(a*2,b)",
    "MIN(M)",
    "MAX(M,a)",
    "SUM(M)",
    "SUM(G)",
    "MAX(G)",
    "SUM(G)+a",
    "SUM(R)",
    "SUM(R)+a",
    "a/SUM(R)",
    "VLOOKUP(a,R,1,FALSE)",
    "MATCH(a,R,0)",
    "U+a",
    "a+U",
    "U*1.01+a-b",
    "U&a",
    "U/a",
    "IF(a=\"\",U,U+a)",
    "IF(U>5,0,U+1)",
    "D+1",
    "INDEX(M,1,1)",
    "ROW(a)+b",
    "RAND()+a",
    "OFFSET(a,1,0)",
    "INDIRECT(\"A510\")+a",
    "M",
    "SUM(M*2)",
    "SUM(IF(a>1,b,c))",
    "TODAY()+a",
    "COUNT(G)",
    "F",
];

fn cell_text(draw: &mut impl FnMut(u32) -> u32) -> String {
    let column = column_name(draw(COLUMNS));
    let row = ORIGIN_ROW + 1;
    match draw(12) {
        0 => format!("{column}{}", row - 1),
        1 => format!("{column}{}", row + 1),
        2 => format!("${column}{row}"),
        3 => format!("Other!{column}{row}"),
        _ => format!("{column}{row}"),
    }
}

fn fixed_text(draw: &mut impl FnMut(u32) -> u32) -> String {
    format!("${}${}", column_name(draw(COLUMNS)), FIRST_ROW + 1 + draw(ROWS))
}

fn moving_text(draw: &mut impl FnMut(u32) -> u32) -> String {
    let row = ORIGIN_ROW + 1 - draw(2);
    let (first, last) = (column_name(draw(COLUMNS)), column_name(draw(COLUMNS)));
    format!("{first}{row}:{last}{}", row + draw(3))
}

fn formula_text(pattern: &str, own_column: u32, draw: &mut impl FnMut(u32) -> u32) -> String {
    let own = column_name(own_column);
    let mut text = String::from("=");
    let characters: Vec<char> = pattern.chars().collect();
    for (index, character) in characters.iter().enumerate() {
        let is_alone =
            |offset: usize| characters.get(offset).is_none_or(|near| !near.is_ascii_alphabetic());
        if !is_alone(index + 1) || (index > 0 && !is_alone(index - 1)) {
            text.push(*character);
            continue;
        }
        match character {
            'a'..='d' => text.push_str(&cell_text(draw)),
            'F' => text.push_str(&fixed_text(draw)),
            'R' => text.push_str(&format!("{}:{}", fixed_text(draw), fixed_text(draw))),
            'M' => text.push_str(&moving_text(draw)),
            'G' => {
                let column = column_name(draw(COLUMNS));
                text.push_str(&format!("${column}${}:{column}{}", FIRST_ROW + 1, ORIGIN_ROW + 1));
            }
            'U' => text.push_str(&format!("{own}{ORIGIN_ROW}")),
            'D' => text.push_str(&format!("{own}{}", ORIGIN_ROW + 2)),
            other => text.push(*other),
        }
    }
    text
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0..5_i32).prop_map(|number| Value::Number(f64::from(number))),
        2 => (-30..30_i32).prop_map(|number| Value::Number(f64::from(number) / 7.0)),
        1 => prop_oneof!["x", "3", "", "2026-11-26"].prop_map(Value::Text),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Error(ErrorCode::NotAvailable)),
        1 => Just(Value::Number(1e308)),
    ]
}

#[derive(Debug, Clone)]
enum ColumnKind {
    /// Numbers of a column that a computer has written.
    Numbers,
    Values(Vec<Option<Value>>),
    Formulas {
        pattern: String,
        draws: u128,
    },
    Drawn(String),
}

fn any_column() -> impl Strategy<Value = ColumnKind> {
    const SCOPE: FormulaScope = FormulaScope {
        rows: ROWS,
        columns: COLUMNS,
        sheets: &["Other"],
        names: &["total"],
        exceeds_limits: false,
    };
    let formulas = (proptest::sample::select(PATTERNS.to_vec()), any::<u128>());
    prop_oneof![
        2 => Just(ColumnKind::Numbers),
        2 => vec(proptest::option::weighted(0.9, any_value()), ROWS as usize)
            .prop_map(ColumnKind::Values),
        9 => formulas.prop_map(|(pattern, draws)| {
            ColumnKind::Formulas { pattern: pattern.to_owned(), draws }
        }),
        1 => any_formula_in(SCOPE).prop_map(ColumnKind::Drawn),
    ]
}

fn set_column(world: &mut World, sheet: u32, column: u32, kind: &ColumnKind) {
    let mut set = |row: u32, cell: Cell| world.stored.set(SheetId(sheet), (row, column), cell);
    let cell = |value: Value, formula: Option<String>| Cell { value, formula, format: None };
    let rows = FIRST_ROW..FIRST_ROW + ROWS;
    let text = match kind {
        ColumnKind::Numbers => {
            rows.for_each(|row| set(row, cell(Value::Number(f64::from(row % 4)), None)));
            return;
        }
        ColumnKind::Values(values) => {
            for (row, value) in rows.zip(values) {
                if let Some(value) = value {
                    set(row, cell(value.clone(), None));
                }
            }
            return;
        }
        ColumnKind::Drawn(text) => text.clone(),
        ColumnKind::Formulas { pattern, draws } => {
            let mut rest = *draws;
            formula_text(pattern, column, &mut |end| {
                let choice = rest % u128::from(end);
                rest /= u128::from(end);
                u32::try_from(choice).unwrap()
            })
        }
    };
    let formula = Formula::parse(&text, &cellar_formula::reference::NoSheets).unwrap();
    let template = Template::of(&formula, CellName { row: ORIGIN_ROW, column });
    for row in rows {
        let text = template.text_at(CellName { row, column }, &cellar_formula::reference::NoSheets);
        set(row, cell(Value::Empty, Some(text)));
    }
}

/// A cell that differs from the rest of its column.
fn any_exception() -> impl Strategy<Value = (u32, u32, Option<Value>, bool)> {
    (0..COLUMNS, 0..ROWS, proptest::option::of(any_value()), any::<bool>())
}

fn any_world() -> impl Strategy<Value = World> {
    let columns = vec(any_column(), COLUMNS as usize);
    (columns, any_column(), vec(any_exception(), 0..4)).prop_map(|(columns, other, exceptions)| {
        let mut world = World::of(&[]);
        world.add_sheet("Other", &[]);
        world.set_name("total", "=Sheet1!$A$509:$A$511");
        for (column, kind) in (0..).zip(&columns) {
            set_column(&mut world, 0, column, kind);
        }
        set_column(&mut world, 1, 0, &other);
        for (column, row, value, has_format) in exceptions {
            let row = FIRST_ROW + row;
            let key = (SheetId(0), column, row);
            if has_format {
                if let Some(cell) = world.stored.cells.get_mut(&key) {
                    cell.format = Some("yyyy-mm-dd".to_owned());
                }
            } else if let Some(value) = value {
                world.stored.set(
                    SheetId(0),
                    (row, column),
                    Cell { value, formula: None, format: None },
                );
            } else {
                world.stored.cells.remove(&key);
            }
        }
        world
    })
}

fn keys(world: &World) -> Vec<CellKey> {
    let with_formula = world.stored.cells.iter().filter(|(_, cell)| cell.formula.is_some());
    with_formula
        .map(|((sheet, column, row), _)| CellKey {
            sheet: *sheet,
            cell: CellName { row: *row, column: *column },
        })
        .collect()
}

/// Returns whether no formula has the number format of a cell that it may not read. Such a format is
/// only known if the cell was calculated before.
fn has_certain_formats(world: &World) -> bool {
    let mut formulas = world.stored.cells.values().filter_map(|cell| cell.formula.as_ref());
    formulas.all(|text| !["IF", "OFFSET", "INDEX"].iter().any(|name| text.contains(name)))
}

/// Results with the bits of numbers, and without the order of cycles.
fn shown(
    result: &FormulaResult,
    has_format: bool,
) -> (Result<u64, Value>, Option<String>, bool, Option<String>) {
    let value = match &result.value {
        Value::Number(number) => Ok(number.to_bits()),
        other => Err(other.clone()),
    };
    let note = result.note.as_ref().map(|note| match note.starts_with(CYCLE_NOTE) {
        true => CYCLE_NOTE.to_owned(),
        false => note.to_string(),
    });
    let format = result.format.clone().filter(|_| has_format);
    (value, format, result.is_stale, note)
}

fn results(
    calculation: &Calculation,
    keys: &[CellKey],
    has_formats: bool,
) -> Vec<(CellKey, impl PartialEq + std::fmt::Debug + use<>)> {
    let of = |key: &CellKey| (*key, shown(&calculation.result(*key).unwrap(), has_formats));
    keys.iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn runs_have_the_results_of_their_cells(
        world in any_world(),
        windows in vec((0..ROWS, 1..ROWS, 0..COLUMNS, 1..COLUMNS, any::<bool>()), 0..4),
    ) {
        let keys = keys(&world);
        let mut one_by_one = world.calculation();
        one_by_one.split_runs();
        one_by_one.start(keys.clone());
        world.run(&mut one_by_one);
        let mut calculation = world.calculation();
        for (row, rows, column, columns, is_area) in windows {
            let first_row = FIRST_ROW + row;
            let window =
                Window { rows: first_row..first_row + rows, columns: column..column + columns };
            if is_area {
                calculation.start_area(SheetId(0), &window);
            } else {
                let is_inside = |key: &&CellKey| {
                    key.sheet == SheetId(0)
                        && window.rows.contains(&key.cell.row)
                        && window.columns.contains(&key.cell.column)
                };
                calculation.start(keys.iter().filter(is_inside).copied().collect());
            }
            world.run(&mut calculation);
        }
        calculation.start(keys.clone());
        world.run(&mut calculation);
        let text = |key: &CellKey| {
            let stored = &world.stored.cells[&(key.sheet, key.cell.column, key.cell.row)];
            stored.formula.clone()
        };
        let has_formats = has_certain_formats(&world);
        let alone = results(&one_by_one, &keys, has_formats);
        let both = results(&calculation, &keys, has_formats).into_iter().zip(alone);
        for (in_runs, alone) in both {
            prop_assert_eq!(&in_runs, &alone, "{:?}", text(&in_runs.0));
        }
    }
}
