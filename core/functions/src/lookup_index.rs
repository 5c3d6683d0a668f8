//! An index of the values of a column, for exact searches.

use std::collections::HashMap;

use cellar_sheet::cell::Value;

use crate::source::Block;
use crate::value::compare_numbers;

/// The values of consecutive cells of a column, by value. A search finds the same cell as a scan.
#[derive(Debug, Default)]
pub struct LookupIndex {
    /// Numbers and their places, in ascending order.
    numbers: Vec<(f64, u32)>,
    /// Texts in lower case.
    texts: HashMap<Box<str>, Places>,
    booleans: [Option<Places>; 2],
    cell_count: u32,
    text_bytes: usize,
}

/// The first and the last place of a value, counted from the first cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Places {
    first: u32,
    last: u32,
}

impl Places {
    fn one(place: u32) -> Self {
        Self { first: place, last: place }
    }

    fn add(&mut self, place: u32) {
        self.last = place;
    }
}

impl LookupIndex {
    /// Appends cells. [`LookupIndex::finish`] must be called after the last ones.
    pub fn push(&mut self, block: Block<'_>) {
        match block {
            Block::Empty(cells) => self.cell_count += cells,
            Block::Numbers(numbers) => {
                for number in numbers {
                    self.numbers.push((*number, self.cell_count));
                    self.cell_count += 1;
                }
            }
            Block::Values(values) => values.iter().for_each(|value| self.push_value(value)),
        }
    }

    fn push_value(&mut self, value: &Value) {
        let place = self.cell_count;
        self.cell_count += 1;
        match value {
            Value::Number(number) => self.numbers.push((*number, place)),
            Value::Text(text) => {
                let text = lower_case(text);
                match self.texts.get_mut(&text) {
                    Some(places) => places.add(place),
                    None => {
                        self.text_bytes += text.len();
                        self.texts.insert(text, Places::one(place));
                    }
                }
            }
            Value::Bool(boolean) => {
                let places = self.booleans.get_mut(usize::from(*boolean));
                if let Some(places) = places {
                    places.get_or_insert(Places::one(place)).add(place);
                }
            }
            Value::Empty | Value::Error(_) => {}
        }
    }

    /// Sorts the numbers.
    pub fn finish(&mut self) {
        self.numbers.sort_unstable_by(|one, other| {
            let order = one.0.total_cmp(&other.0);
            order.then(one.1.cmp(&other.1))
        });
    }

    /// Returns the first or the last place of a number, text or boolean.
    #[must_use]
    pub fn find(&self, wanted: &Value, is_last: bool) -> Option<u32> {
        let places = match wanted {
            Value::Number(number) => self.places_of_number(*number)?,
            Value::Text(text) => *self.texts.get(&lower_case(text))?,
            Value::Bool(boolean) => (*self.booleans.get(usize::from(*boolean))?)?,
            Value::Empty | Value::Error(_) => return None,
        };
        Some(if is_last { places.last } else { places.first })
    }

    /// Different numbers are equal if they have the same 15 significant digits.
    fn places_of_number(&self, wanted: f64) -> Option<Places> {
        /// At least the relative difference of equal numbers.
        const TOLERANCE: f64 = 4e-14;
        let margin = wanted.abs() * TOLERANCE;
        let (least, most) = (wanted - margin, wanted + margin);
        let mut index = self.numbers.partition_point(|(number, _)| *number < least);
        let mut found: Option<Places> = None;
        while let Some((number, first)) =
            self.numbers.get(index).filter(|(number, _)| *number <= most)
        {
            let rest = self.numbers.get(index..).unwrap_or_default();
            let count = rest.partition_point(|(other, _)| other.total_cmp(number).is_le());
            let last = rest.get(count.saturating_sub(1)).map_or(*first, |(_, last)| *last);
            if compare_numbers(wanted, *number).is_eq() {
                let places = found.get_or_insert(Places { first: *first, last });
                places.first = places.first.min(*first);
                places.last = places.last.max(last);
            }
            index += count;
        }
        found
    }

    /// Returns the approximate memory use in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        const TEXT_ENTRY_BYTES: usize = 40;
        self.numbers.len() * size_of::<(f64, u32)>()
            + self.texts.len() * TEXT_ENTRY_BYTES
            + self.text_bytes
    }
}

fn lower_case(text: &str) -> Box<str> {
    if text.is_ascii() {
        return text.to_ascii_lowercase().into_boxed_str();
    }
    text.chars().flat_map(char::to_lowercase).collect::<String>().into_boxed_str()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::value::equal_texts;

    fn any_value() -> impl Strategy<Value = Value> {
        let near = (0..4_u32, -60..60_i32)
            .prop_map(|(whole, steps)| Value::Number(f64::from(whole) + f64::from(steps) * 1e-15));
        prop_oneof![
            3 => near,
            2 => (-3..4_i32).prop_map(|number| Value::Number(f64::from(number) / 3.0)),
            1 => prop_oneof![Just(0.0), Just(-0.0), Just(1e300), Just(5e-324)].prop_map(Value::Number),
            3 => "[aAbBäÄßİ]{0,2}".prop_map(Value::Text),
            1 => any::<bool>().prop_map(Value::Bool),
            1 => Just(Value::Empty),
        ]
    }

    fn matches(wanted: &Value, value: &Value) -> bool {
        match (wanted, value) {
            (Value::Number(wanted), Value::Number(number)) => {
                compare_numbers(*wanted, *number).is_eq()
            }
            (Value::Text(wanted), Value::Text(text)) => equal_texts(wanted, text),
            (Value::Empty, _) => false,
            (wanted, value) => wanted == value,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn a_search_finds_the_cell_that_a_scan_finds(
            values in vec(any_value(), 0..24), wanted in any_value(), split in 0..24_usize,
        ) {
            let mut index = LookupIndex::default();
            let (before, after) = values.split_at(split.min(values.len()));
            index.push(Block::Values(before));
            index.push(Block::Empty(2));
            index.push(Block::Numbers(&[2.0]));
            index.push(Block::Values(after));
            index.finish();
            let extra = [Value::Empty, Value::Empty, Value::Number(2.0)];
            let all: Vec<&Value> = before.iter().chain(&extra).chain(after).collect();
            let place = |place: Option<usize>| place.map(|place| u32::try_from(place).unwrap());
            let first = all.iter().position(|value| matches(&wanted, value));
            let last = all.iter().rposition(|value| matches(&wanted, value));
            prop_assert_eq!(index.find(&wanted, false), place(first));
            prop_assert_eq!(index.find(&wanted, true), place(last));
        }
    }
}
