//! A few numbers that come again and again: each once, and its code for every row.

use std::collections::HashMap;

use super::{Form, read_nested, without_dictionary};
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;

/// Fewer numbers than this are not worth it.
const LEAST_NUMBERS: usize = 32;
/// Each distinct number must come so often, first in a sample and then in all.
const LEAST_REPEATS: usize = 4;
/// Numbers that are looked at to see whether they repeat.
const SAMPLE: usize = 256;

/// Writes the numbers if they repeat. Says what they will take compressed.
pub(super) fn write(values: &[f64]) -> Option<(Vec<u8>, usize)> {
    if values.len() < LEAST_NUMBERS {
        return None;
    }
    codes(values.get(..SAMPLE.min(values.len())).unwrap_or_default())?;
    let (distinct, codes) = codes(values)?;
    let mut bytes = vec![Form::Dictionary.head(0)];
    write_count(&mut bytes, distinct.len());
    let (nested, cost) = without_dictionary(&distinct);
    bytes.extend_from_slice(&nested);
    let cost = 3 + cost + integers::write(&mut bytes, &codes);
    Some((bytes, cost))
}

/// Distinct numbers in the order in which they come first, and a code for each; `None` if they are
/// too many.
fn codes(values: &[f64]) -> Option<(Vec<f64>, Vec<i64>)> {
    let mut known: HashMap<u64, i64> = HashMap::new();
    let (mut distinct, mut codes) = (Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        let next = i64::try_from(distinct.len()).unwrap_or(i64::MAX);
        let code = *known.entry(value.to_bits()).or_insert(next);
        if code == next {
            if distinct.len() >= values.len() / LEAST_REPEATS {
                return None;
            }
            distinct.push(*value);
        }
        codes.push(code);
    }
    Some((distinct, codes))
}

/// Reads them.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<Vec<f64>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a code has no number");
    let distinct = reader.count(count)?;
    let distinct = read_nested(reader, distinct, false)?;
    if distinct.is_empty() {
        return Err(malformed);
    }
    let most = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let codes = integers::read_counts(reader, count, most.saturating_sub(1))?;
    let value = |code: u32| distinct.get(usize::try_from(code).ok()?).copied();
    Ok(codes.into_iter().map(|code| value(code).unwrap_or_default()).collect())
}
