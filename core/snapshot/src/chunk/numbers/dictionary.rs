//! Dictionary encoding of repeated numbers: the distinct numbers, plus one code per number.

use std::collections::HashMap;

use super::{Form, encode_without_dictionary, read_nested};
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;

/// Minimum list length for which a dictionary is tried.
const MIN_NUMBERS: usize = 32;
/// Minimum average number of repetitions, both in the sample and in the whole list.
const MIN_REPEATS: usize = 4;
/// Sample size for detecting repetitions.
const SAMPLE: usize = 256;

/// Encodes numbers with a dictionary if they repeat often enough. Returns the bytes and their
/// estimated compressed size.
pub(super) fn write(values: &[f64]) -> Option<(Vec<u8>, usize)> {
    if values.len() < MIN_NUMBERS {
        return None;
    }
    assign_codes(values.get(..SAMPLE.min(values.len())).unwrap_or_default())?;
    let (distinct, codes) = assign_codes(values)?;
    let mut bytes = vec![Form::Dictionary.head(0)];
    write_count(&mut bytes, distinct.len());
    let (nested, nested_cost) = encode_without_dictionary(&distinct);
    bytes.extend_from_slice(&nested);
    let cost = 3 + nested_cost + integers::write(&mut bytes, &codes);
    Some((bytes, cost))
}

/// Returns the distinct numbers in order of first occurrence and a code for each number, or `None`
/// if there are too many distinct numbers.
fn assign_codes(values: &[f64]) -> Option<(Vec<f64>, Vec<i64>)> {
    let mut codes_by_bits: HashMap<u64, i64> = HashMap::new();
    let (mut distinct, mut codes) = (Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        let next_code = i64::try_from(distinct.len()).unwrap_or(i64::MAX);
        let code = *codes_by_bits.entry(value.to_bits()).or_insert(next_code);
        if code == next_code {
            if distinct.len() >= values.len() / MIN_REPEATS {
                return None;
            }
            distinct.push(*value);
        }
        codes.push(code);
    }
    Some((distinct, codes))
}

/// Decodes numbers from a dictionary and codes.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<Vec<f64>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("the dictionary of numbers is empty");
    let distinct_count = reader.count(count)?;
    let distinct = read_nested(reader, distinct_count, false)?;
    if distinct.is_empty() {
        return Err(malformed);
    }
    let code_end = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let codes = integers::read_counts(reader, count, code_end.saturating_sub(1))?;
    let value_of = |code: u32| distinct.get(usize::try_from(code).ok()?).copied();
    Ok(codes.into_iter().map(|code| value_of(code).unwrap_or_default()).collect())
}
