//! Dictionary encoding of repeated numbers: the distinct numbers, plus one code per number.

use super::{NumberEncoding, NumbersHeader, encode_without_dictionary, read_distinct_numbers};
use crate::chunk::bytes::{ChunkReader, write_count};
use crate::chunk::code_table::{CodeTable, hash_of};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::estimate::EncodingCandidate;
use crate::chunk::integers;
use crate::saturate::{saturate_u32, to_usize};

/// Minimum list length for which a dictionary is tried.
const MIN_LENGTH: usize = 32;
/// Minimum average number of occurrences per distinct number. It is checked first for a sample and
/// then for the entire list.
const MIN_REPEATS: usize = 4;
/// Number of values in the sample that shows whether numbers repeat often enough.
const SAMPLE_LENGTH: usize = 256;
/// Approximate total length in bytes of the header byte and the number of distinct numbers.
const HEAD_BYTES: usize = 3;

/// Encodes numbers with a dictionary if they repeat often enough.
pub(super) fn encode_dictionary(values: &[f64]) -> Option<EncodingCandidate> {
    if values.len() < MIN_LENGTH {
        return None;
    }
    let sample = values.get(..SAMPLE_LENGTH).unwrap_or(values);
    let sample_is_repetitive = DistinctNumbers::find_if_repetitive(sample).is_some();
    if !sample_is_repetitive {
        return None;
    }
    let distinct = DistinctNumbers::find_if_repetitive(values)?;
    let header = NumbersHeader::without_decimals(NumberEncoding::Dictionary);
    let mut bytes = vec![header.to_byte()];
    write_count(&mut bytes, distinct.numbers.len());
    let encoded_numbers = encode_without_dictionary(&distinct.numbers);
    bytes.extend_from_slice(&encoded_numbers.bytes);
    let codes_size = integers::write_integers(&mut bytes, &distinct.codes);
    let estimated_size = HEAD_BYTES + encoded_numbers.estimated_size + codes_size;
    Some(EncodingCandidate { bytes, estimated_size })
}

/// Distinct numbers in order of first occurrence, plus one code per number.
struct DistinctNumbers {
    numbers: Vec<f64>,
    codes: Vec<i64>,
}

impl DistinctNumbers {
    /// Returns `None` if the average number of occurrences is below `MIN_REPEATS`, or if hashes collide
    /// too often.
    fn find_if_repetitive(values: &[f64]) -> Option<Self> {
        let max_distinct = values.len() / MIN_REPEATS;
        let mut numbers: Vec<f64> = Vec::new();
        let mut codes = Vec::with_capacity(values.len());
        let mut table = CodeTable::new(max_distinct);
        for value in values {
            let bits = value.to_bits();
            let is_equal =
                |code| numbers.get(to_usize(code)).is_some_and(|number| number.to_bits() == bits);
            let code = table.find_or_insert(hash_of(&bits.to_le_bytes()), is_equal)?;
            if to_usize(code) == numbers.len() {
                if numbers.len() >= max_distinct {
                    return None;
                }
                numbers.push(*value);
            }
            codes.push(i64::from(code));
        }
        Some(Self { numbers, codes })
    }
}

pub(super) fn read_dictionary<T: Copy>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    let empty = UnreadableChunk::Malformed("the dictionary of numbers is empty");
    let distinct_count = reader.read_count(count)?;
    let distinct_values = read_distinct_numbers(reader, distinct_count, to_value)?;
    let first_value = *distinct_values.first().ok_or(empty)?;
    let max_code = saturate_u32(distinct_values.len() - 1);
    integers::map_unsigned_integers(reader, count, max_code, |code| {
        distinct_values.get(to_usize(code)).copied().unwrap_or(first_value)
    })
}
