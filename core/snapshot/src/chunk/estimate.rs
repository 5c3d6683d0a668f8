//! Estimates zstd-compressed sizes. The encoder tries several encodings of a column and chooses the
//! one with the smallest estimate. Estimates use only integer arithmetic, so that every machine
//! chooses the same encoding.

use std::sync::LazyLock;

use crate::saturate::{saturate_u32, to_usize};

/// Minimum input length for which entropy coding is assumed. Below this length, the entropy table
/// takes more bytes than it saves.
const MIN_COMPRESSED_INPUT: usize = 64;
/// Number of fractional bits of a fixed-point logarithm.
const FRACTION_BITS: u32 = 16;
/// The constant 0.3437 in fixed point, for the approximation log₂(1 + f) ≈ f + 0.3437 · f · (1 −
/// f). The error is at most 0.01.
const CURVATURE: u64 = 22_525;
/// Estimated size in bytes of one zstd match, which encodes a run of equal bytes between two rare
/// bytes.
const MATCH_BYTES: u64 = 3;
/// Number of distinct byte values per byte of the estimated entropy table.
const DISTINCT_BYTES_PER_TABLE_BYTE: u64 = 2;
/// Estimated overhead of a compressed block, in bytes.
const BLOCK_OVERHEAD_BYTES: u64 = 8;

/// The encoder chooses the smallest of several candidates for the same list.
pub(super) struct EncodingCandidate {
    pub(super) bytes: Vec<u8>,
    /// Estimated compressed size in bytes.
    pub(super) estimated_size: usize,
}

#[derive(Clone)]
pub(super) struct ByteCounts {
    counts: [u32; 256],
    total: u32,
}

impl Default for ByteCounts {
    fn default() -> Self {
        Self { counts: [0; 256], total: 0 }
    }
}

impl ByteCounts {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::of_items(bytes, |byte| *byte)
    }

    /// Counts one byte of each item.
    fn of_items<T>(items: &[T], byte_of: impl Fn(&T) -> u8) -> Self {
        // Alternate between two tables. With a single table, counting the second of two equal bytes
        // would wait until the increment for the first byte is finished.
        let mut even_counts = [0_u32; 256];
        let mut odd_counts = [0_u32; 256];
        let (pairs, unpaired_item) = items.as_chunks::<2>();
        for [even_item, odd_item] in pairs {
            increment_count(&mut even_counts, byte_of(even_item));
            increment_count(&mut odd_counts, byte_of(odd_item));
        }
        for item in unpaired_item {
            increment_count(&mut even_counts, byte_of(item));
        }
        let mut counts = even_counts;
        for (count, odd_count) in counts.iter_mut().zip(odd_counts) {
            *count += odd_count;
        }
        Self { counts, total: saturate_u32(items.len()) }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (count, other_count) in sum.counts.iter_mut().zip(other.counts) {
            *count += other_count;
        }
        sum.total = self.total.saturating_add(other.total);
        sum
    }

    /// Estimates the zstd-compressed size as the minimum of three estimates: entropy coding (at
    /// least one bit per byte, plus the table), matches between rare bytes, and no compression.
    pub(super) fn estimate_compressed_size(&self) -> usize {
        let input_size = to_usize(self.total);
        if input_size < MIN_COMPRESSED_INPUT {
            return input_size;
        }
        let small_weights = SMALL_COUNT_WEIGHTS.as_slice();
        let mut weight_sum = 0_u64;
        let mut distinct_bytes = 0_u64;
        let mut highest_count = 0_u32;
        for counts in self.counts.as_chunks::<8>().0 {
            // Most bytes are rare in integers and in ASCII texts.
            if *counts == [0; 8] {
                continue;
            }
            for count in counts {
                weight_sum += count_weight(small_weights, *count);
                distinct_bytes += u64::from(*count > 0);
                highest_count = highest_count.max(*count);
            }
        }
        let total = u64::from(self.total);
        let entropy = (total * log2(total)).saturating_sub(weight_sum);
        let min_coded_bits = total;
        let coded_bits = (entropy >> FRACTION_BITS).max(min_coded_bits);
        let table_bytes = distinct_bytes / DISTINCT_BYTES_PER_TABLE_BYTE;
        let entropy_coded_size = coded_bits / 8 + table_bytes;
        let rare_bytes = total.saturating_sub(u64::from(highest_count));
        let matched_size = rare_bytes * MATCH_BYTES;
        let compressed_size = BLOCK_OVERHEAD_BYTES + entropy_coded_size.min(matched_size);
        input_size.min(usize::try_from(compressed_size).unwrap_or(usize::MAX))
    }
}

pub(super) fn estimate_compressed_size(bytes: &[u8]) -> usize {
    estimate_compressed_plane(bytes, |byte| *byte)
}

/// Estimates the compressed size of a byte plane, which contains one byte of each number.
pub(super) fn estimate_compressed_plane<T>(numbers: &[T], byte_of: impl Fn(&T) -> u8) -> usize {
    if numbers.len() < MIN_COMPRESSED_INPUT {
        return numbers.len();
    }
    ByteCounts::of_items(numbers, byte_of).estimate_compressed_size()
}

fn increment_count(counts: &mut [u32; 256], byte: u8) {
    if let Some(count) = counts.get_mut(usize::from(byte)) {
        *count += 1;
    }
}

/// Precomputed results of [`count_weight`] for small counts, which are the most frequent.
static SMALL_COUNT_WEIGHTS: LazyLock<Vec<u64>> =
    LazyLock::new(|| (0..2_048).map(|count: u64| count * log2(count.max(1))).collect());

/// Returns `count · log₂(count)` in fixed point.
fn count_weight(small_weights: &[u64], count: u32) -> u64 {
    let precomputed_weight = small_weights.get(to_usize(count)).copied();
    precomputed_weight.unwrap_or_else(|| u64::from(count) * log2(u64::from(count)))
}

/// Returns the binary logarithm of a nonzero number in fixed point, in units of 1/65,536.
fn log2(number: u64) -> u64 {
    const ONE: u64 = 1 << FRACTION_BITS;
    let leading_zeros = number.leading_zeros();
    let whole_part = u64::from(63_u32.saturating_sub(leading_zeros));
    let bits_after_highest = number << leading_zeros << 1;
    let fraction = bits_after_highest >> (u64::BITS - FRACTION_BITS);
    let parabola = (fraction * (ONE - fraction)) >> FRACTION_BITS;
    let correction = (parabola * CURVATURE) >> FRACTION_BITS;
    (whole_part << FRACTION_BITS) + fraction + correction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_near() {
        for number in (1..5_000_u64).chain([1 << 20, (1 << 20) + 12_345, u64::from(u32::MAX)]) {
            #[allow(clippy::cast_precision_loss, reason = "small numbers")]
            let (exact, ours) = ((number as f64).log2(), log2(number) as f64 / 65_536.0);
            assert!((exact - ours).abs() < 0.01, "{number}: {exact} {ours}");
        }
    }

    #[test]
    fn what_bytes_take_is_near_what_zstd_makes_of_them() {
        let mut random = vec![0; 8_192];
        blake3::Hasher::new().finalize_xof().fill(&mut random);
        let map = |of: fn(u8) -> u8| random.iter().map(|byte| of(*byte)).collect::<Vec<u8>>();
        for bytes in [
            random.clone(),
            map(|byte| byte % 16),
            map(|byte| byte % 36),
            map(|byte| u8::from(byte < 25)),
            map(|byte| u8::from(byte < 3)),
        ] {
            let packed = zstd::bulk::compress(&bytes, 3).unwrap().len();
            let said = estimate_compressed_size(&bytes);
            assert!(said.abs_diff(packed) < packed / 8 + 16, "{said} {packed}");
        }
        assert!(estimate_compressed_size(&[7; 4_096]) < 16);
        assert_eq!(estimate_compressed_size(&[7; 5]), 5);
    }
}
