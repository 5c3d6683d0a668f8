//! Amounts, and what they cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Add as _;

use cellar_api::cost::Dollars;
use cellar_base::count::grouped;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::meter::{Meter, Rate};

/// Pico-dollars of the smallest amount that is shown to people.
const SHOWN: u128 = 100_000_000;
/// Columns of numbers, which stand at the right.
const NUMBERS: [usize; 2] = [2, 4];

/// How much of what is billed was used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Amounts(BTreeMap<Meter, u128>);

impl Amounts {
    /// So much more.
    pub(crate) fn add(&mut self, meter: Meter, amount: u128) {
        let sum = self.0.entry(meter).or_default();
        *sum = sum.saturating_add(amount);
    }

    /// How much.
    #[cfg(test)]
    pub(crate) fn of(&self, meter: Meter) -> u128 {
        self.0.get(&meter).copied().unwrap_or_default()
    }
}

/// What all of it costs.
#[derive(Debug, Serialize)]
pub(crate) struct Bill {
    items: Vec<Item>,
    /// US dollars, as a decimal number.
    total: String,
    #[serde(skip)]
    sum: Dollars,
}

/// A line of it.
#[derive(Debug, Serialize)]
struct Item {
    service: &'static str,
    what: &'static str,
    /// Rounded to thousandths.
    quantity: String,
    unit: &'static str,
    /// US dollars, as a decimal number.
    dollars: String,
    #[serde(skip)]
    cost: Dollars,
}

impl Bill {
    /// Puts prices to amounts; what is zero costs nothing and is left out.
    pub(crate) fn of(amounts: &Amounts) -> Self {
        let used = amounts.0.iter().filter(|(_, amount)| **amount > 0);
        let items: Vec<Item> =
            used.map(|(meter, amount)| Item::of(meter.rate(), *amount)).collect();
        let sum = items.iter().fold(Dollars::default(), |sum, item| sum.add(item.cost));
        Self { items, total: sum.to_decimal(), sum }
    }

    /// What all of it costs together, in dollars.
    pub(crate) fn total(&self) -> &str {
        &self.total
    }

    /// As a table, with the sum below it.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["service", "what", "quantity", "of", "dollars"]);
        for item in &self.items {
            let (quantity, unit) = (with_commas(&item.quantity), item.unit.to_owned());
            let (service, what) = (item.service.to_owned(), item.what.to_owned());
            table.add_row([service, what, quantity, unit, shown(item.cost)]);
        }
        table.add_row(["", "", "", "sum", &shown(self.sum)]);
        for number in NUMBERS {
            if let Some(column) = table.column_mut(number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }
}

impl Item {
    fn of(rate: Rate, amount: u128) -> Self {
        let Rate { service, what, unit, per_unit, price } = rate;
        let cost = Dollars::from_picodollars(rounded(amount.saturating_mul(price), per_unit));
        let dollars = cost.to_decimal();
        let quantity = thousandths(rounded(amount.saturating_mul(1_000), per_unit));
        Self { service, what, quantity, unit, dollars, cost }
    }
}

/// A quotient, to the nearest.
fn rounded(amount: u128, divisor: u128) -> u128 {
    amount.saturating_add(divisor / 2) / divisor.max(1)
}

/// `1234.5` of thousandths.
fn thousandths(amount: u128) -> String {
    let text = format!("{}.{:03}", amount / 1_000, amount % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `1,234.5`.
fn with_commas(number: &str) -> String {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut text = grouped(whole.parse::<u64>().unwrap_or(u64::MAX));
    if !fraction.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(text, ".{fraction}");
    }
    text
}

/// To four digits behind the point.
fn shown(dollars: Dollars) -> String {
    let amount = rounded(dollars.picodollars(), SHOWN);
    match (amount, dollars.picodollars()) {
        (0, 0) => "0.0000".to_owned(),
        (0, _) => "<0.0001".to_owned(),
        _ => format!(
            "{}.{:04}",
            grouped(u64::try_from(amount / 10_000).unwrap_or(u64::MAX)),
            amount % 10_000
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{GB, MONTH_HOURS};

    fn dollars(meter: Meter, amount: u128) -> String {
        let mut amounts = Amounts::default();
        amounts.add(meter, amount);
        Bill::of(&amounts).total
    }

    #[test]
    fn prices_match_the_public_price_list() {
        let (million, gb_month) = (1_000_000, GB * MONTH_HOURS);
        for (meter, amount, expected) in [
            (Meter::TableWrites, million, "0.625"),
            (Meter::TableReads, 2 * million, "0.125"),
            (Meter::TableStorage, gb_month, "0.25"),
            (Meter::TableBackup, gb_month, "0.2"),
            (Meter::Calls, million, "0.2"),
            (Meter::TimeOnArm, million * 1_024_000, "13.3334"),
            (Meter::TimeOnX86, million * 1_024_000, "16.6667"),
            (Meter::ObjectWrites, 1_000, "0.005"),
            (Meter::ObjectReads, 1_000, "0.0004"),
            (Meter::ObjectStorage, 1_000 * gb_month, "23"),
            (Meter::QueueRequests, million, "0.4"),
            (Meter::LogBytes, GB, "0.5"),
            (Meter::LogStorage, gb_month, "0.03"),
            (Meter::Traces, million, "5"),
            (Meter::Alarms, MONTH_HOURS, "0.1"),
            (Meter::Dashboards, MONTH_HOURS, "3"),
            (Meter::Keys, MONTH_HOURS, "1"),
            (Meter::TableReads, 1, "0.0000000625"),
            // Half a pico-dollar is one.
            (Meter::LogStorage, gb_month / 60_000_000_000 + 1, "0.000000000001"),
            (Meter::Calls, 0, "0"),
        ] {
            assert_eq!(dollars(meter, amount), expected, "{meter:?} {amount}");
        }
        assert!(!dollars(Meter::Keys, u128::MAX).is_empty());
    }

    #[test]
    fn what_is_used_is_a_table_with_a_sum() {
        let mut amounts = Amounts::default();
        amounts.add(Meter::TableWrites, 1_234_567);
        amounts.add(Meter::TableReads, 3);
        amounts.add(Meter::Alarms, 0);
        let bill = Bill::of(&amounts);
        let expected = "\
┌──────────┬────────┬───────────┬───────┬─────────┐
│ service  ┆ what   ┆  quantity ┆ of    ┆ dollars │
╞══════════╪════════╪═══════════╪═══════╪═════════╡
│ DynamoDB ┆ writes ┆ 1,234,567 ┆ units ┆  0.7716 │
│ DynamoDB ┆ reads  ┆       1.5 ┆ units ┆ <0.0001 │
│          ┆        ┆           ┆ sum   ┆  0.7716 │
└──────────┴────────┴───────────┴───────┴─────────┘";
        assert_eq!(bill.text(), expected);
        let json = serde_json::to_value(&bill).unwrap();
        assert_eq!(json["total"], "0.7716045625");
        assert_eq!(json["items"][1]["quantity"], "1.5");
        assert_eq!(json["items"][1]["dollars"], "0.0000001875");
        assert_eq!(shown(Dollars::from_picodollars(1_234_567 * 10_u128.pow(12))), "1,234,567.0000");
        assert_eq!(shown(Dollars::default()), "0.0000");
    }
}
