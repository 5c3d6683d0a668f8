//! Property tests on random sheets: the results do not depend on the order of requests, and each
//! result is the value of its formula.

use std::collections::HashMap;

use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use proptest::collection::vec;
use proptest::prelude::*;

use super::model::Model;
use super::world::World;
use crate::CellKey;

const ROWS: u32 = 6;
const COLUMNS: u32 = 4;

fn any_cell_name() -> impl Strategy<Value = String> {
    (0..ROWS, 0..COLUMNS, any::<bool>()).prop_map(|(row, column, is_other)| {
        let sheet = if is_other && row % 3 == 0 { "Other!" } else { "" };
        format!("{sheet}{}", CellName { row, column })
    })
}

fn any_range() -> impl Strategy<Value = String> {
    (0..ROWS, 0..COLUMNS, 0..3_u32, 0..2_u32).prop_map(|(row, column, rows, columns)| {
        let last = CellName { row: row + rows, column: column + columns };
        format!("{}:{last}", CellName { row, column })
    })
}

fn any_formula() -> impl Strategy<Value = String> {
    let (cell, range) = (any_cell_name().boxed(), any_range().boxed());
    prop_oneof![
        3 => (cell.clone(), cell.clone()).prop_map(|(one, other)| format!("={one}+{other}")),
        3 => range.clone().prop_map(|range| format!("=SUM({range})")),
        2 => (cell.clone(), cell.clone(), cell.clone())
            .prop_map(|(test, one, other)| format!("=IF({test}>2,{one},{other})")),
        1 => (cell.clone(), range.clone())
            .prop_map(|(cell, range)| format!("=IFERROR(MATCH({cell},{range},0),9)")),
        1 => (cell.clone(), cell.clone())
            .prop_map(|(one, other)| format!("=IFERROR({one},{other})")),
        1 => (1..ROWS, cell).prop_map(|(row, cell)| format!("=INDIRECT(\"A{row}\")+{cell}")),
        1 => (1..ROWS, range).prop_map(|(row, range)| format!("=SUM(OFFSET({range},{row},0))")),
        3 => (1..9_u32).prop_map(|number| number.to_string()),
    ]
}

fn any_world() -> impl Strategy<Value = World> {
    vec(((0..5_u32).prop_map(|sheet| sheet / 4), 0..ROWS, 0..COLUMNS, any_formula()), 4..24)
        .prop_map(|cells| {
            let mut world = World::of(&[]);
            world.add_sheet("Other", &[]);
            for (sheet, row, column, text) in cells {
                world.set_at(sheet, row, column, &text);
            }
            world
        })
}

fn formulas(world: &World) -> Vec<CellKey> {
    let with_formula = world.cells.iter().filter(|(_, cell)| cell.formula.is_some());
    with_formula
        .map(|((sheet, column, row), _)| CellKey {
            sheet: SheetId(*sheet),
            cell: CellName { row: *row, column: *column },
        })
        .collect()
}

/// Runs the requests in order. Returns the value of each formula and whether the result has a note.
fn calculated(world: &World, order: &[Vec<CellKey>]) -> HashMap<(u32, CellName), (Value, bool)> {
    let mut calculation = world.calculation();
    let mut values = HashMap::new();
    for keys in order {
        calculation.start(keys.clone());
        world.run(&mut calculation);
        for key in keys {
            let result = calculation.result(*key).unwrap();
            assert!(!result.is_stale, "{result:?}");
            values.insert((key.sheet.0, key.cell), (result.value, result.note.is_some()));
        }
    }
    values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_order_of_requests_changes_nothing(world in any_world(), seed in any::<u64>()) {
        let keys = formulas(&world);
        let together = calculated(&world, std::slice::from_ref(&keys));
        let mut shuffled = keys;
        let mut random = seed;
        for index in (1..shuffled.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            shuffled.swap(index, (random >> 33) as usize % (index + 1));
        }
        let one_by_one: Vec<Vec<CellKey>> = shuffled.iter().map(|key| vec![*key]).collect();
        prop_assert_eq!(&together, &calculated(&world, &one_by_one));
        prop_assert_eq!(&together, &calculated(&world, &[shuffled]));
    }

    /// The value of a formula in a cycle is `#REF!`. All other results equal the value of their
    /// formula.
    #[test]
    fn an_evaluation_of_each_formula_changes_nothing(world in any_world()) {
        let values = calculated(&world, &[formulas(&world)]);
        let fixed = values.iter().map(|(key, (value, _))| (*key, value.clone())).collect();
        let model = Model::with_fixed(&world, fixed);
        for ((sheet, cell), (value, is_in_cycle)) in &values {
            if !is_in_cycle {
                prop_assert_eq!(&model.evaluate(*sheet, *cell), value, "{} {}", sheet, cell);
            }
        }
    }
}
