//! Property tests on random sheets: the results do not depend on the order of requests, and each
//! result is the value of its formula.

use std::collections::HashMap;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::FormatLayer;
use cellar_sheet::operation::random::{FormulaScope, any_formula_in};
use cellar_sheet::workbook::CellAt;
use cellar_snapshot::merge::Window;
use proptest::collection::vec;
use proptest::prelude::*;

use super::world::World;
use crate::CellKey;
use crate::testing::{SheetCells, ShownCells};

const ROWS: u32 = 6;
const COLUMNS: u32 = 4;

const SCOPE: FormulaScope = FormulaScope {
    rows: ROWS,
    columns: COLUMNS,
    sheets: &["Other"],
    names: &["total"],
    exceeds_limits: false,
};

fn any_cell() -> impl Strategy<Value = String> {
    prop_oneof![
        14 => any_formula_in(SCOPE),
        3 => (1..9_u32).prop_map(|number| number.to_string()),
    ]
}

fn any_world() -> impl Strategy<Value = World> {
    vec(((0..5_u32).prop_map(|sheet| sheet / 4), 0..ROWS, 0..COLUMNS, any_cell()), 4..24).prop_map(
        |cells| {
            let mut world = World::of(&[]);
            world.add_sheet("Other", &[]);
            world.set_name("total", "=Sheet1!$A$1:$A$3");
            for (sheet, row, column, text) in cells {
                world.set_at(sheet, row, column, &text);
            }
            world
        },
    )
}

fn formulas(world: &World) -> Vec<CellKey> {
    let with_formula = world.stored.cells.iter().filter(|(_, cell)| cell.formula.is_some());
    with_formula
        .map(|((sheet, column, row), _)| CellKey {
            sheet: *sheet,
            cell: CellName { row: *row, column: *column },
        })
        .collect()
}

/// Runs the requests in order. Returns the value of each formula and whether the result has a note.
fn calculated(world: &World, order: &[Vec<CellKey>]) -> HashMap<(u32, CellName), (Value, bool)> {
    let mut calculation = world.spilled_calculation();
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
        let mut calculation = world.spilled_calculation();
        calculation.start(formulas(&world));
        world.run(&mut calculation);
        let mut sheets = SheetCells::new();
        for sheet in [SheetId(0), SheetId(1)] {
            let mut cells = Vec::new();
            let everything = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };
            calculation.show_spilled_cells(sheet, &everything, &FormatLayer::default(), &mut cells);
            sheets.insert(sheet, cells.into_iter().map(CellAt::from).collect());
        }
        for ((sheet, column, row), stored) in &world.stored.cells {
            let mut shown = CellAt::new(*row, *column, stored.clone());
            if let Some(result) = calculation.result(CellKey { sheet: *sheet, cell: shown.name() }) {
                shown.cell.value = result.value;
                (shown.stale, shown.note) = (result.is_stale, result.note.map(|note| note.to_string()));
            }
            sheets.entry(*sheet).or_default().push(shown);
        }
        let workbook = calculation.workbook.clone();
        let counts = ShownCells::new(&workbook, &sheets).check_formulas();
        prop_assert_eq!(counts.map(|counts| counts.stale), Ok(0));
    }
}
