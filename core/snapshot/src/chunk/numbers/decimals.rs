//! Numbers encoded as scaled integers: 12.75 is stored as 1275 with two decimals.
//!
//! The integer and the power of ten are both exact, so the division rounds only once and yields the
//! same `f64` as parsing the decimal.

use super::Form;
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers::{self, MAX_INTEGER};

/// Powers of ten, indexed by the number of decimals. All are exact.
const SCALES: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/// Sample size for estimating how many decimals a column has.
const SAMPLE: usize = 64;
/// Minimum ratio of numbers to exceptions. With more exceptions, another encoding is smaller.
const NUMBERS_PER_EXCEPTION: usize = 8;

/// Numbers encoded as decimals.
pub(super) struct Decimals {
    pub(super) bytes: Vec<u8>,
    pub(super) cost: usize,
    pub(super) exceptions: usize,
}

/// Encodes numbers as decimals, or returns `None` if too few of them fit.
pub(super) fn write(values: &[f64]) -> Option<Decimals> {
    let mut decimals = common_decimals(values, 0)?;
    loop {
        let scale = *SCALES.get(decimals)?;
        if let Some((integers, exceptions)) = to_integers(values, scale) {
            return Some(encode(values, decimals, &integers, &exceptions));
        }
        // The sample missed numbers with more decimals; retry with at least one more.
        decimals = common_decimals(values, decimals + 1)?;
    }
}

/// Returns the smallest number of decimals, at least `min_decimals`, that suffices for nearly all
/// sampled numbers.
fn common_decimals(values: &[f64], min_decimals: usize) -> Option<usize> {
    let step = values.len().div_ceil(SAMPLE).max(1);
    let sample = || values.iter().step_by(step);
    let max_exceptions = sample().count() / NUMBERS_PER_EXCEPTION;
    let fits_sample = |scale: f64| {
        sample().filter(|value| to_integer(**value, scale).is_none()).count() <= max_exceptions
    };
    let mut scales = SCALES.iter().enumerate().skip(min_decimals);
    scales.find(|(_, scale)| fits_sample(**scale)).map(|(decimals, _)| decimals)
}

/// Returns the integer that divided by `scale` yields exactly `value`, or `None` if there is none.
fn to_integer(value: f64, scale: f64) -> Option<i64> {
    let scaled = value * scale;
    let half = if scale > 1.0 { 0.5_f64.copysign(scaled) } else { 0.0 };
    #[allow(clippy::cast_possible_truncation, reason = "saturates, and the result is checked")]
    let integer = (scaled + half) as i64;
    let exact = integer.unsigned_abs() <= MAX_INTEGER.unsigned_abs()
        && to_number(integer, scale).to_bits() == value.to_bits();
    exact.then_some(integer)
}

fn to_number(integer: i64, scale: f64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "at most MAX_INTEGER, which is exact")]
    let integer = integer as f64;
    integer / scale
}

/// Returns the integers and the indices of the exceptions, or `None` if there are too many
/// exceptions.
fn to_integers(values: &[f64], scale: f64) -> Option<(Vec<i64>, Vec<usize>)> {
    let max_exceptions = values.len() / NUMBERS_PER_EXCEPTION;
    let mut integers = Vec::with_capacity(values.len());
    let mut exceptions = Vec::new();
    let mut previous = 0;
    for (index, value) in values.iter().enumerate() {
        if let Some(integer) = to_integer(*value, scale) {
            previous = integer;
        } else {
            if exceptions.len() >= max_exceptions {
                return None;
            }
            exceptions.push(index);
        }
        // An exception repeats the previous integer, which compresses best.
        integers.push(previous);
    }
    Some((integers, exceptions))
}

fn encode(values: &[f64], decimals: usize, integers: &[i64], exceptions: &[usize]) -> Decimals {
    let form = if exceptions.is_empty() { Form::Decimals } else { Form::WithExceptions };
    let mut bytes = vec![form.head(u8::try_from(decimals).unwrap_or(0))];
    let mut cost = 1 + integers::write(&mut bytes, integers);
    if !exceptions.is_empty() {
        write_count(&mut bytes, exceptions.len());
        let mut next = 0;
        let gaps = exceptions.iter().map(|index| {
            let gap = index - next;
            next = index + 1;
            gap
        });
        cost += 2 + integers::write_counts(&mut bytes, gaps);
        for value in exceptions.iter().filter_map(|index| values.get(*index)) {
            bytes.extend_from_slice(&value.to_bits().to_le_bytes());
            cost += 8;
        }
    }
    Decimals { bytes, cost, exceptions: exceptions.len() }
}

/// Decodes numbers with this number of decimals.
pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    decimals: u8,
    has_exceptions: bool,
) -> Result<Vec<f64>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("an exception among numbers is out of range");
    let scale = *SCALES.get(usize::from(decimals)).ok_or(malformed)?;
    let integers = integers::read(reader, count)?;
    let mut values: Vec<f64> =
        integers.into_iter().map(|integer| to_number(integer, scale)).collect();
    if !has_exceptions {
        return Ok(values);
    }
    let exception_count = reader.count(count)?;
    let max_gap = u32::try_from(count).unwrap_or(u32::MAX);
    let gaps = integers::read_counts(reader, exception_count, max_gap)?;
    let bits = reader.bytes(exception_count.saturating_mul(8))?.as_chunks::<8>().0;
    let mut rest = values.as_mut_slice();
    for (gap, bits) in gaps.into_iter().zip(bits) {
        let gap = usize::try_from(gap).unwrap_or(usize::MAX);
        let from_exception = rest.get_mut(gap..).ok_or(malformed)?;
        let (value, after) = from_exception.split_first_mut().ok_or(malformed)?;
        *value = f64::from_bits(u64::from_le_bytes(*bits));
        if !value.is_finite() {
            return Err(UnreadableChunk::Malformed("a number is not finite"));
        }
        rest = after;
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
            assert_eq!(to_integer(value, scale), integer, "{value} · {scale}");
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
        assert_eq!(write(&values).unwrap().exceptions, 0);
    }
}
