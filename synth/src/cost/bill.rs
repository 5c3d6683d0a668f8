//! A bill for the measured or estimated usage of AWS services.

use std::collections::BTreeMap;
use std::ops::Add as _;

use cellar_api::cost::Dollars;
use cellar_base::count::grouped;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::meter::{Meter, Rate};

/// Smallest amount that a bill shows, in pico-dollars. It is $0.0001.
const PICODOLLARS_SHOWN: u128 = 100_000_000;
const NUMBER_COLUMNS: [usize; 2] = [2, 4];
/// Smallest quantity, in thousandths, that the text shows without decimals.
const WHOLE_THOUSANDTHS_MIN: u128 = 100_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Amounts(BTreeMap<Meter, u128>);

impl Amounts {
    pub(crate) fn add(&mut self, meter: Meter, amount: u128) {
        let sum = self.0.entry(meter).or_default();
        *sum = sum.saturating_add(amount);
    }

    #[cfg(test)]
    pub(crate) fn get(&self, meter: Meter) -> u128 {
        self.0.get(&meter).copied().unwrap_or_default()
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Bill {
    items: Vec<BillItem>,
    /// Total cost in US dollars, as a decimal number.
    total: String,
    #[serde(skip)]
    sum: Dollars,
}

#[derive(Debug, Serialize)]
struct BillItem {
    service: &'static str,
    #[serde(rename = "what")]
    item: &'static str,
    /// Used quantity, rounded to thousandths.
    quantity: String,
    unit: &'static str,
    dollars: String,
    #[serde(skip)]
    quantity_thousandths: u128,
    #[serde(skip)]
    cost: Dollars,
}

impl Bill {
    /// Meters with an amount of zero are omitted.
    pub(crate) fn new(amounts: &Amounts) -> Self {
        let used = amounts.0.iter().filter(|(_, amount)| **amount > 0);
        let items: Vec<BillItem> =
            used.map(|(meter, amount)| BillItem::new(meter.rate(), *amount)).collect();
        let sum = items.iter().fold(Dollars::default(), |sum, item| sum.add(item.cost));
        Self { items, total: sum.to_decimal(), sum }
    }

    pub(crate) fn total(&self) -> &str {
        &self.total
    }

    pub(crate) const fn sum(&self) -> Dollars {
        self.sum
    }

    pub(crate) fn to_text(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["service", "item", "quantity", "unit", "dollars"]);
        for item in &self.items {
            table.add_row([
                item.service.to_owned(),
                item.item.to_owned(),
                format_quantity(item.quantity_thousandths),
                item.unit.to_owned(),
                format_dollars(item.cost),
            ]);
        }
        table.add_row(["", "", "", "total", &format_dollars(self.sum)]);
        for column_index in NUMBER_COLUMNS {
            if let Some(column) = table.column_mut(column_index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }
}

impl BillItem {
    fn new(rate: Rate, amount: u128) -> Self {
        let Rate { service, item, unit, amount_per_unit, unit_price } = rate;
        let picodollars = divide_rounded(amount.saturating_mul(unit_price), amount_per_unit);
        let cost = Dollars::from_picodollars(picodollars);
        let quantity_thousandths = divide_rounded(amount.saturating_mul(1_000), amount_per_unit);
        let quantity = format_thousandths(quantity_thousandths);
        Self {
            service,
            item,
            quantity,
            unit,
            dollars: cost.to_decimal(),
            quantity_thousandths,
            cost,
        }
    }
}

fn divide_rounded(dividend: u128, divisor: u128) -> u128 {
    dividend.saturating_add(divisor / 2) / divisor.max(1)
}

fn format_thousandths(amount: u128) -> String {
    let text = format!("{}.{:03}", amount / 1_000, amount % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a quantity for reading: with commas, and without decimals from 100 on.
fn format_quantity(thousandths: u128) -> String {
    if thousandths < WHOLE_THOUSANDTHS_MIN {
        return format_thousandths(thousandths);
    }
    grouped(divide_rounded(thousandths, 1_000))
}

fn format_dollars(dollars: Dollars) -> String {
    let ten_thousandths = divide_rounded(dollars.picodollars(), PICODOLLARS_SHOWN);
    if ten_thousandths == 0 && dollars.picodollars() > 0 {
        return "<0.0001".to_owned();
    }
    let whole = u64::try_from(ten_thousandths / 10_000).unwrap_or(u64::MAX);
    format!("{}.{:04}", grouped(whole), ten_thousandths % 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::units::{GB, MONTH_HOURS};

    fn dollars(meter: Meter, amount: u128) -> String {
        let mut amounts = Amounts::default();
        amounts.add(meter, amount);
        Bill::new(&amounts).total
    }

    #[test]
    fn prices_match_the_price_list() {
        let (million, gb_month) = (1_000_000, GB * MONTH_HOURS);
        for (meter, amount, expected) in [
            (Meter::TableWrites, million, "0.625"),
            (Meter::TableReads, 2 * million, "0.125"),
            (Meter::TableStorage, gb_month, "0.25"),
            (Meter::TableBackup, gb_month, "0.2"),
            (Meter::Invocations, million, "0.2"),
            (Meter::ArmTime, million * 1_024_000, "13.3334"),
            (Meter::X86Time, million * 1_024_000, "16.6667"),
            (Meter::ObjectWrites, 1_000, "0.005"),
            (Meter::ObjectReads, 1_000, "0.0004"),
            (Meter::ObjectStorage, 1_000 * gb_month, "23"),
            (Meter::QueueRequests, million, "0.4"),
            (Meter::LogBytes, GB, "0.5"),
            (Meter::LogStorage, gb_month, "0.03"),
            (Meter::Traces, million, "5"),
            (Meter::Alarms, MONTH_HOURS, "0.1"),
            (Meter::Dashboards, MONTH_HOURS, "3"),
            (Meter::KmsKeys, MONTH_HOURS, "1"),
            (Meter::TableReads, 1, "0.0000000625"),
            // An amount of half a pico-dollar is rounded up.
            (Meter::LogStorage, gb_month / 60_000_000_000 + 1, "0.000000000001"),
            (Meter::Invocations, 0, "0"),
        ] {
            assert_eq!(dollars(meter, amount), expected, "{meter:?} {amount}");
        }
        assert!(!dollars(Meter::KmsKeys, u128::MAX).is_empty());
    }

    #[test]
    fn quantities_from_a_hundred_on_have_no_decimals() {
        for (thousandths, text) in [
            (0, "0"),
            (1_500, "1.5"),
            (WHOLE_THOUSANDTHS_MIN - 1, "99.999"),
            (WHOLE_THOUSANDTHS_MIN, "100"),
            (WHOLE_THOUSANDTHS_MIN + 499, "100"),
            (8_666_674, "8,667"),
            (568_293_500, "568,294"),
            (u128::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(format_quantity(thousandths), text);
        }
    }

    #[test]
    fn formats_a_table_with_a_total() {
        let mut amounts = Amounts::default();
        amounts.add(Meter::TableWrites, 1_234_567);
        amounts.add(Meter::TableReads, 3);
        amounts.add(Meter::Alarms, 0);
        let bill = Bill::new(&amounts);
        let expected = "\
┌──────────┬────────┬───────────┬───────┬─────────┐
│ service  ┆ item   ┆  quantity ┆ unit  ┆ dollars │
╞══════════╪════════╪═══════════╪═══════╪═════════╡
│ DynamoDB ┆ writes ┆ 1,234,567 ┆ units ┆  0.7716 │
│ DynamoDB ┆ reads  ┆       1.5 ┆ units ┆ <0.0001 │
│          ┆        ┆           ┆ total ┆  0.7716 │
└──────────┴────────┴───────────┴───────┴─────────┘";
        assert_eq!(bill.to_text(), expected);
        let json = serde_json::to_value(&bill).unwrap();
        assert_eq!(json["total"], "0.7716045625");
        assert_eq!(json["items"][1]["quantity"], "1.5");
        assert_eq!(json["items"][1]["dollars"], "0.0000001875");
        assert_eq!(
            format_dollars(Dollars::from_picodollars(1_234_567 * 10_u128.pow(12))),
            "1,234,567.0000"
        );
        assert_eq!(format_dollars(Dollars::default()), "0.0000");
    }
}
