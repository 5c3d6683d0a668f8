//! Numbers as integers divided by a power of ten: 12.75 is 1275 and two decimals.
//!
//! Division of two exact numbers is rounded once, to the `f64` that reading the decimal gives too.

use super::Form;
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers::{self, MAX_INTEGER};

/// Powers of ten, by the number of decimals: all exact.
const SCALES: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/// Numbers that are looked at to find how many decimals a column has.
const SAMPLE: usize = 64;
/// One exception in so many numbers at most: more of them are better written as bits.
const NUMBERS_PER_EXCEPTION: usize = 8;

/// Numbers written as decimals.
pub(super) struct Decimals {
    pub(super) bytes: Vec<u8>,
    pub(super) cost: usize,
    pub(super) exceptions: usize,
}

/// Writes the numbers if nearly all are decimals.
pub(super) fn write(values: &[f64]) -> Option<Decimals> {
    let mut decimals = common_decimals(values, 0)?;
    loop {
        let scale = *SCALES.get(decimals)?;
        if let Some((integers, exceptions)) = split(values, scale) {
            return Some(written(values, decimals, &integers, &exceptions));
        }
        // The sample did not show them: one decimal more may do.
        decimals = common_decimals(values, decimals + 1)?;
    }
}

/// The fewest decimals, at least `least`, with which nearly all of a sample can be written.
fn common_decimals(values: &[f64], least: usize) -> Option<usize> {
    let step = values.len().div_ceil(SAMPLE).max(1);
    let sample = || values.iter().step_by(step);
    let most = sample().count() / NUMBERS_PER_EXCEPTION;
    let fits =
        |scale: f64| sample().filter(|value| digits(**value, scale).is_none()).count() <= most;
    SCALES.iter().enumerate().skip(least).find(|(_, scale)| fits(**scale)).map(|(index, _)| index)
}

/// The integer that gives exactly `value` when it is divided by `scale`.
fn digits(value: f64, scale: f64) -> Option<i64> {
    let scaled = value * scale;
    let half = if scale > 1.0 { 0.5_f64.copysign(scaled) } else { 0.0 };
    #[allow(clippy::cast_possible_truncation, reason = "saturates, and the result is checked")]
    let integer = (scaled + half) as i64;
    let exact = integer.unsigned_abs() <= MAX_INTEGER.unsigned_abs()
        && number(integer, scale).to_bits() == value.to_bits();
    exact.then_some(integer)
}

fn number(integer: i64, scale: f64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "at most MAX_INTEGER, which is exact")]
    let integer = integer as f64;
    integer / scale
}

/// The integers, and the indexes of those that are none; `None` if these are too many.
fn split(values: &[f64], scale: f64) -> Option<(Vec<i64>, Vec<usize>)> {
    let most = values.len() / NUMBERS_PER_EXCEPTION;
    let mut integers = Vec::with_capacity(values.len());
    let mut exceptions = Vec::new();
    let mut before = 0;
    for (index, value) in values.iter().enumerate() {
        if let Some(integer) = digits(*value, scale) {
            before = integer;
        } else {
            if exceptions.len() >= most {
                return None;
            }
            exceptions.push(index);
        }
        // An exception stands as the number before it, which costs least.
        integers.push(before);
    }
    Some((integers, exceptions))
}

fn written(values: &[f64], decimals: usize, integers: &[i64], exceptions: &[usize]) -> Decimals {
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

/// Reads numbers with so many decimals.
pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    decimals: u8,
    exceptions: bool,
) -> Result<Vec<f64>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("an exception among numbers is out of range");
    let scale = *SCALES.get(usize::from(decimals)).ok_or(malformed)?;
    let integers = integers::read(reader, count)?;
    let mut values: Vec<f64> = integers.into_iter().map(|integer| number(integer, scale)).collect();
    if !exceptions {
        return Ok(values);
    }
    let exceptions = reader.count(count)?;
    let most = u32::try_from(count).unwrap_or(u32::MAX);
    let gaps = integers::read_counts(reader, exceptions, most)?;
    let bits = reader.bytes(exceptions.saturating_mul(8))?.as_chunks::<8>().0;
    let mut rest = values.as_mut_slice();
    for (gap, bits) in gaps.into_iter().zip(bits) {
        let gap = usize::try_from(gap).unwrap_or(usize::MAX);
        let behind = rest.get_mut(gap..).ok_or(malformed)?;
        let (value, behind) = behind.split_first_mut().ok_or(malformed)?;
        *value = f64::from_bits(u64::from_le_bytes(*bits));
        if !value.is_finite() {
            return Err(UnreadableChunk::Malformed("a number is not finite"));
        }
        rest = behind;
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
            assert_eq!(digits(value, scale), integer, "{value} · {scale}");
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
        // Every 64th is whole; the others have three decimals.
        let values: Vec<f64> = (0..4_096_u32)
            .map(|row| if row % 64 == 0 { 5.0 } else { f64::from(row) / 1e3 })
            .collect();
        assert_eq!(common_decimals(&values, 0), Some(0));
        assert_eq!(write(&values).unwrap().exceptions, 0);
    }
}
