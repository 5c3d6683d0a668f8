//! Generates the table of `docs/cost.md` from the budgets that the integration tests assert.

use cellar_api::cost::Prices;
use cellar_tests::budgets::{BUDGETS, Budget};

use super::{assert_section, push_row, push_table_head};

/// Number of operations for which the table states the price.
const OPERATIONS: u64 = 1_000_000;

#[test]
fn the_table_of_costs_is_up_to_date() {
    let mut table = String::new();
    push_table_head(&mut table, &["operation", "units", "dollars per million"]);
    for budget in BUDGETS {
        push_row(&mut table, &[budget.operation, &units(&budget), &dollars_per_million(&budget)]);
    }
    assert_section("docs/cost.md", "operations", &table);
}

fn units(budget: &Budget) -> String {
    let mut units = vec![];
    if budget.cost.write_units > 0 {
        units.push(format!("{} W", budget.cost.write_units));
    }
    if budget.cost.read_half_units > 0 {
        units.push(format!("{} R", budget.cost.read_units()));
    }
    for (count, name) in [
        (budget.cost.object_puts, "PUT"),
        (budget.cost.object_gets, "GET"),
        (budget.cost.object_tags, "tag request"),
    ] {
        if count > 0 {
            units.push(format!("{count} {name}"));
        }
    }
    let bound = if budget.is_upper_bound { "≤ " } else { "" };
    format!("{bound}{}", units.join(" + "))
}

/// Returns the price of a million operations, rounded up to a cent.
fn dollars_per_million(budget: &Budget) -> String {
    const PICODOLLARS_PER_CENT: u128 = 10_000_000_000;
    let picodollars = Prices::US_EAST_1.dollars(&budget.cost).picodollars();
    let cents = (picodollars * u128::from(OPERATIONS)).div_ceil(PICODOLLARS_PER_CENT);
    format!("{}.{:02}", cents / 100, cents % 100)
}
