//! Stores numbers as scaled integers: 12.75 is stored as 1275 with two decimals. The integer and
//! the power of ten are exact. Dividing them therefore rounds only once and yields the same `f64`
//! as parsing the decimal number.

use super::{NumberEncoding, NumbersHeader};
use crate::chunk::bytes::{ChunkReader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::estimate::EncodingCandidate;
use crate::chunk::integers::{self, MAX_INTEGER};
use crate::saturate::{saturate_u32, to_usize};

/// Powers of ten, indexed by the number of decimals. All of them are exact.
const SCALES: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/// Approximate number of values in the sample from which a column's number of decimals is
/// estimated.
const SAMPLE_LENGTH: usize = 64;
/// Minimum number of values per exception. If exceptions are more frequent, another encoding is
/// smaller.
const NUMBERS_PER_EXCEPTION: usize = 8;
const NUMBER_BYTES: usize = 8;
/// Numbers that are divided together.
const DIVIDED_NUMBERS: usize = 64;

const TOO_MANY_DECIMALS: UnreadableChunk =
    UnreadableChunk::Malformed("numbers have too many decimals");
const EXCEPTION_OUT_OF_RANGE: UnreadableChunk =
    UnreadableChunk::Malformed("the index of an exception among decimals is out of range");

pub(super) struct EncodedDecimals {
    pub(super) encoded: EncodingCandidate,
    pub(super) exception_count: usize,
}

/// Returns `None` if too many of the numbers are exceptions.
pub(super) fn encode_decimals(values: &[f64]) -> Option<EncodedDecimals> {
    let mut decimals = common_decimals(values, 0)?;
    loop {
        let scale = *SCALES.get(decimals)?;
        if let Some(scaled) = ScaledIntegers::from_numbers(values, scale) {
            return Some(encode_scaled(values, decimals, &scaled));
        }
        // Some numbers outside the sample have more decimals than the sample. Retry with at least
        // one more decimal.
        decimals = common_decimals(values, decimals + 1)?;
    }
}

/// Returns the smallest number of decimals that suffices for nearly all numbers in the sample, but
/// at least `min_decimals`.
fn common_decimals(values: &[f64], min_decimals: usize) -> Option<usize> {
    let sample_step = values.len().div_ceil(SAMPLE_LENGTH).max(1);
    let sample: Vec<f64> = values.iter().step_by(sample_step).copied().collect();
    let max_exceptions = sample.len() / NUMBERS_PER_EXCEPTION;
    for (decimals, scale) in SCALES.iter().enumerate().skip(min_decimals) {
        let is_exception = |value: &&f64| to_scaled_integer(**value, *scale).is_none();
        if sample.iter().filter(is_exception).count() <= max_exceptions {
            return Some(decimals);
        }
    }
    None
}

/// Returns the integer that yields exactly `value` when divided by `scale`, or `None` if no integer
/// does.
fn to_scaled_integer(value: f64, scale: f64) -> Option<i64> {
    let scaled_value = value * scale;
    let rounding = if scale > 1.0 { 0.5_f64.copysign(scaled_value) } else { 0.0 };
    #[allow(clippy::cast_possible_truncation, reason = "saturates, and the result is checked")]
    let integer = (scaled_value + rounding) as i64;
    let is_exact = integer.unsigned_abs() <= MAX_INTEGER.unsigned_abs()
        && to_number(integer, scale).to_bits() == value.to_bits();
    is_exact.then_some(integer)
}

fn to_number(integer: i64, scale: f64) -> f64 {
    exact_number(integer) / scale
}

fn exact_number(integer: i64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "at most MAX_INTEGER, which is exact")]
    let number = integer as f64;
    number
}

struct ScaledIntegers {
    /// One integer per number. For an exception, the previous integer is repeated, because
    /// repetition compresses best.
    integers: Vec<i64>,
    /// Indices of the exceptions, which are numbers that do not equal their integer divided by the
    /// power of ten.
    exception_indices: Vec<usize>,
}

impl ScaledIntegers {
    /// Returns `None` if there are too many exceptions.
    fn from_numbers(values: &[f64], scale: f64) -> Option<Self> {
        let max_exceptions = values.len() / NUMBERS_PER_EXCEPTION;
        let mut integers = Vec::with_capacity(values.len());
        let mut exception_indices = Vec::new();
        let mut previous_integer = 0;
        for (index, value) in values.iter().enumerate() {
            if let Some(integer) = to_scaled_integer(*value, scale) {
                previous_integer = integer;
            } else if exception_indices.len() < max_exceptions {
                exception_indices.push(index);
            } else {
                return None;
            }
            integers.push(previous_integer);
        }
        Some(Self { integers, exception_indices })
    }
}

fn encode_scaled(values: &[f64], decimals: usize, scaled: &ScaledIntegers) -> EncodedDecimals {
    let exception_count = scaled.exception_indices.len();
    let encoding = if exception_count == 0 {
        NumberEncoding::Decimals
    } else {
        NumberEncoding::DecimalsWithExceptions
    };
    let header = NumbersHeader { encoding, decimals: u8::try_from(decimals).unwrap_or(0) };
    let mut bytes = vec![header.to_byte()];
    let mut estimated_size = 1 + integers::write_integers(&mut bytes, &scaled.integers);
    if exception_count > 0 {
        estimated_size += write_exceptions(&mut bytes, values, &scaled.exception_indices);
    }
    EncodedDecimals { encoded: EncodingCandidate { bytes, estimated_size }, exception_count }
}

/// Appends the exceptions, which are not stored as decimals. Returns their estimated compressed
/// size.
fn write_exceptions(output: &mut Vec<u8>, values: &[f64], exception_indices: &[usize]) -> usize {
    const COUNT_SIZE: usize = 2;
    write_count(output, exception_indices.len());
    let mut gaps = Vec::with_capacity(exception_indices.len());
    let mut min_index = 0;
    for index in exception_indices {
        gaps.push(index - min_index);
        min_index = index + 1;
    }
    let gaps_size = integers::write_lengths(output, gaps.into_iter());
    for value in exception_indices.iter().filter_map(|index| values.get(*index)) {
        output.extend_from_slice(&value.to_bits().to_le_bytes());
    }
    COUNT_SIZE + gaps_size + exception_indices.len() * NUMBER_BYTES
}

pub(super) fn read_decimals<T>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    decimals: u8,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    let scale = *SCALES.get(usize::from(decimals)).ok_or(TOO_MANY_DECIMALS)?;
    integers::map_integers(reader, count, |integers| {
        if decimals == 0 {
            // Divisions take most of the time.
            return integers.iter().map(|integer| to_value(exact_number(*integer))).collect();
        }
        let mut values = Vec::with_capacity(count);
        let mut quotients = [0.0; DIVIDED_NUMBERS];
        for block in integers.chunks(DIVIDED_NUMBERS) {
            divide(block, scale, &mut quotients);
            values.extend(quotients.iter().take(block.len()).map(|quotient| to_value(*quotient)));
        }
        values
    })
}

/// Divides at most [`DIVIDED_NUMBERS`] integers. The loops are separate, so that processors divide
/// several numbers at once.
fn divide(integers: &[i64], scale: f64, quotients: &mut [f64; DIVIDED_NUMBERS]) {
    for (quotient, integer) in quotients.iter_mut().zip(integers) {
        *quotient = exact_number(*integer);
    }
    for quotient in quotients {
        *quotient /= scale;
    }
}

pub(super) fn read_decimals_with_exceptions<T>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    decimals: u8,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    let mut values = read_decimals(reader, count, decimals, &to_value)?;
    let exception_count = reader.read_count(count)?;
    let gaps = integers::read_unsigned_integers(reader, exception_count, saturate_u32(count))?;
    let exception_bytes = reader.read_bytes(exception_count.saturating_mul(NUMBER_BYTES))?;
    let exceptions = exception_bytes.as_chunks::<NUMBER_BYTES>().0;
    let mut min_index = 0;
    for (gap, exception) in gaps.into_iter().zip(exceptions) {
        let index = to_usize(gap).checked_add(min_index).ok_or(EXCEPTION_OUT_OF_RANGE)?;
        let value = values.get_mut(index).ok_or(EXCEPTION_OUT_OF_RANGE)?;
        let number = f64::from_bits(u64::from_le_bytes(*exception));
        if !number.is_finite() {
            return Err(UnreadableChunk::Malformed("a number is not finite"));
        }
        *value = to_value(number);
        min_index = index + 1;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_or_not_used() {
        for (value, scale, integer) in [
            (12.75, 1e2, Some(1_275)),
            (-0.07, 1e2, Some(-7)),
            (0.1 + 0.2, 1e1, None),
            (-0.0, 1e0, None),
            (0.0, 1e2, Some(0)),
            (9_007_199_254_740_991.0, 1e0, Some(MAX_INTEGER)),
            (-9_007_199_254_740_991.0, 1e0, Some(-MAX_INTEGER)),
            (9_007_199_254_740_992.0, 1e0, None),
            (4_503_599_627_370_497.0, 1e0, Some(4_503_599_627_370_497)),
            (1e300, 1e15, None),
            (f64::MIN_POSITIVE, 1e15, None),
        ] {
            assert_eq!(to_scaled_integer(value, scale), integer, "{value} · {scale}");
        }
    }

    #[test]
    fn the_greatest_number_of_decimals() {
        let fifteen: Vec<f64> = (1..200_u32).map(|number| f64::from(number) / 1e15).collect();
        assert_eq!(common_decimals(&fifteen, 0), Some(15));
        let sixteen: Vec<f64> =
            (1..200_u32).map(|number| (f64::from(number) + 0.5) / 1e15).collect();
        assert_eq!(common_decimals(&sixteen, 0), None);
    }

    #[test]
    fn what_a_sample_does_not_show_is_found() {
        // Every 64th number is an integer; the others have three decimals.
        let values: Vec<f64> = (0..4_096_u32)
            .map(|row| if row % 64 == 0 { 5.0 } else { f64::from(row) / 1e3 })
            .collect();
        assert_eq!(common_decimals(&values, 0), Some(0));
        assert_eq!(encode_decimals(&values).unwrap().exception_count, 0);
    }
}
