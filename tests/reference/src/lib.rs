//! Reference data for benchmarks: rows with 10 columns that look like a company's orders. Each
//! value is a pure function of its row and column, so that all benchmarks use the same cells
//! without reading a file.
//!
//! | column | contents | bits of entropy per row |
//! |---|---|---|
//! | 0 id | row + 1 | 0 |
//! | 1 product | one of 200 names, ⌊200 · u³⌋: the first name has a sixth of all rows | 6.57 |
//! | 2 code | 12 of 36 characters, unique | 62.04 |
//! | 3 quantity | an integer, 0-999 | 9.97 |
//! | 4 price | 0.00-9,999.99 | 19.93 |
//! | 5 measure | an `f64` in [0, 1) with all its 53 bits; 5 % empty | 50.64 |
//! | 6 date | a date serial that rises by one about every 64 rows | 0.09 |
//! | 7 active | a boolean, 90 % true | 0.47 |
//! | 8 note | 1-8 of 256 words; 70 % empty | 12.58 |
//! | 9 total | quantity × price, rounded to cents | 0, because it is derived from both |
//!
//! The sum is 162.29 bits per row with 9.25 populated cells, or 2.19 bytes per populated cell. No
//! encoding can be smaller. A store that keeps the total as an independent number needs up to 0.4
//! bytes more.

mod words;

pub use words::{product_name, word};

/// Number of columns.
pub const COLUMNS: u32 = 10;
/// Names of the columns.
pub const NAMES: [&str; 10] =
    ["id", "product", "code", "quantity", "price", "measure", "date", "active", "note", "total"];
/// Number of products.
pub const PRODUCTS: u32 = 200;
/// Number of words in notes.
pub const WORDS: u32 = 256;
/// Average number of populated cells per 1,000 rows.
pub const POPULATED_PER_1000_ROWS: u32 = 9_250;
/// Lower bound for every encoding, in bytes per populated cell.
pub const ENTROPY_BYTES_PER_CELL: f64 = 2.19;

/// A value of the data.
#[derive(Debug, Clone, PartialEq)]
pub enum ReferenceValue {
    /// No value.
    Empty,
    /// A number or a date.
    Number(f64),
    Bool(bool),
    Text(String),
}

/// Returns the value of a cell. Columns after the last one are `Empty`.
#[must_use]
pub fn value(row: u32, column: u32) -> ReferenceValue {
    match column {
        0 => ReferenceValue::Number(f64::from(row) + 1.0),
        1 => ReferenceValue::Text(product_name(product(row))),
        2 => ReferenceValue::Text(code(row)),
        3 => ReferenceValue::Number(f64::from(quantity(row))),
        4 => ReferenceValue::Number(f64::from(price_cents(row)) / 100.0),
        5 => measure(row).map_or(ReferenceValue::Empty, ReferenceValue::Number),
        6 => ReferenceValue::Number(f64::from(date(row))),
        7 => ReferenceValue::Bool(below(row, 7, 10) != 0),
        8 => note(row).map_or(ReferenceValue::Empty, ReferenceValue::Text),
        9 => ReferenceValue::Number(f64::from(quantity(row) * price_cents(row)) / 100.0),
        _ => ReferenceValue::Empty,
    }
}

fn product(row: u32) -> u32 {
    // Computes ⌊200 · u³⌋, where u is in units of 1/65,536.
    let u = random(row, 1) >> 48;
    low((u * u * u * u64::from(PRODUCTS)) >> 48)
}

fn code(row: u32) -> String {
    const LETTERS: [char; 36] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H',
        'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z',
    ];
    let letter = |place: u32| {
        let number = usize::try_from(below(row, 200 + place, 36)).unwrap_or_default();
        LETTERS.get(number).copied().unwrap_or('0')
    };
    (0..12).map(letter).collect()
}

fn quantity(row: u32) -> u32 {
    below(row, 3, 1_000)
}

fn price_cents(row: u32) -> u32 {
    below(row, 4, 1_000_000)
}

fn measure(row: u32) -> Option<f64> {
    // The high part and the low part of the 53 bits are exact, and so is their sum.
    let bits = random(row, 5) >> 11;
    let number = f64::from(low(bits >> 32)) * 4_294_967_296.0 + f64::from(low(bits));
    (below(row, 105, 20) != 0).then_some(number / 9_007_199_254_740_992.0)
}

/// Returns the number of days since 1899-12-30. The day changes at one random row in every 64 rows.
fn date(row: u32) -> u32 {
    const FIRST_OF_2020: u32 = 43_831;
    let block = row / 64;
    FIRST_OF_2020 + block + u32::from(row % 64 >= below(block, 6, 64))
}

fn note(row: u32) -> Option<String> {
    if below(row, 8, 10) < 7 {
        return None;
    }
    let count = 1 + below(row, 108, 8);
    let words = (0..count).map(|place| word(below(row, 300 + place, WORDS)));
    Some(words.collect::<Vec<_>>().join(" "))
}

/// Returns a uniformly distributed number below `end`.
fn below(row: u32, stream: u32, end: u32) -> u32 {
    low(((random(row, stream) >> 32) * u64::from(end)) >> 32)
}

/// Returns 64 pseudorandom bits for a row of a stream, by applying the last step of splitmix64
/// twice.
fn random(row: u32, stream: u32) -> u64 {
    let mix = |mut bits: u64| {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    let seed = (u64::from(stream) << 32 | u64::from(row)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mix(mix(seed).wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// Returns the low 32 bits.
fn low(number: u64) -> u32 {
    let [b0, b1, b2, b3, ..] = number.to_le_bytes();
    u32::from_le_bytes([b0, b1, b2, b3])
}

#[cfg(test)]
mod tests;
