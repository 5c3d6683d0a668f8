//! Estimates zstd-compressed sizes.
//!
//! The encoder tries several encodings of a column and keeps the one with the smallest estimate.
//! Estimates use integer arithmetic only, so every machine chooses the same encoding.

use std::sync::LazyLock;

/// Minimum input length for which an entropy table is assumed. On shorter inputs, the table costs
/// more than it saves.
const SMALL_BYTES: usize = 64;
/// Number of fractional bits in a fixed-point logarithm.
const FRACTION_BITS: u32 = 16;
/// The constant 0.3437 in fixed point, for the approximation log₂(1 + f) ≈ f + 0.3437 · f · (1 −
/// f). The error is at most 0.01.
const CURVE: u64 = 22_525;
/// Size of a zstd match that covers a run of equal bytes between two rare bytes, in bytes.
const REPETITION_BYTES: u64 = 3;

/// Number of occurrences of each byte value.
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
        // Alternate between two tables, so that counting two equal bytes in a row does not stall on
        // the previous increment.
        let mut counts = [[0_u32; 256]; 2];
        let [even, odd] = &mut counts;
        let (pairs, last) = bytes.as_chunks::<2>();
        for [one, two] in pairs {
            bump(even, *one);
            bump(odd, *two);
        }
        last.iter().for_each(|byte| bump(even, *byte));
        even.iter_mut().zip(odd).for_each(|(even, odd)| *even += *odd);
        Self { counts: *even, total: u32::try_from(bytes.len()).unwrap_or(u32::MAX) }
    }

    /// Returns the sum of the two tables.
    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
        sum.total = self.total.saturating_add(other.total);
        sum
    }

    /// Estimates the zstd-compressed size as the minimum of three estimates: entropy coding (at
    /// least one bit per byte, plus the table), matches between rare bytes, and no compression.
    pub(super) fn packed_bytes(&self) -> usize {
        let total = u64::from(self.total);
        let size = usize::try_from(total).unwrap_or(usize::MAX);
        if size < SMALL_BYTES {
            return size;
        }
        let weights = WEIGHTS.as_slice();
        let (mut saved, mut distinct, mut most) = (0_u64, 0_u64, 0_u32);
        for count in self.counts {
            saved += weight(weights, count);
            distinct += u64::from(count > 0);
            most = most.max(count);
        }
        let bits = (total * log2(total)).saturating_sub(saved);
        let coded = (bits >> FRACTION_BITS).max(total) / 8 + distinct / 2;
        let rare = total.saturating_sub(u64::from(most));
        let packed = 8 + coded.min(rare * REPETITION_BYTES);
        size.min(usize::try_from(packed).unwrap_or(usize::MAX))
    }
}

/// Estimates the compressed size of `bytes`, like [`ByteCounts::packed_bytes`].
pub(super) fn packed_bytes(bytes: &[u8]) -> usize {
    if bytes.len() < SMALL_BYTES { bytes.len() } else { ByteCounts::of(bytes).packed_bytes() }
}

/// Like [`packed_bytes`], but estimates each plane of `count` bytes separately, as well as the
/// bytes before the first full plane.
pub(super) fn packed_planes(bytes: &[u8], count: usize) -> usize {
    let planes = bytes.rchunks(count.max(1));
    planes.map(packed_bytes).fold(0, usize::saturating_add)
}

fn bump(counts: &mut [u32; 256], byte: u8) {
    if let Some(count) = counts.get_mut(usize::from(byte)) {
        *count += 1;
    }
}

/// Precomputed `n * log2(n)` for small `n`, since most counts are small.
static WEIGHTS: LazyLock<Vec<u64>> =
    LazyLock::new(|| (0..2_048).map(|n: u64| n * log2(n.max(1))).collect());

fn weight(weights: &[u64], count: u32) -> u64 {
    let index = usize::try_from(count).unwrap_or(usize::MAX);
    weights.get(index).copied().unwrap_or_else(|| u64::from(count) * log2(u64::from(count)))
}

/// Returns the binary logarithm of a nonzero number in fixed point, in units of 1/65,536.
fn log2(number: u64) -> u64 {
    let zeros = number.leading_zeros();
    let whole = u64::from(63_u32.saturating_sub(zeros));
    let fraction = (number << zeros << 1) >> (64 - FRACTION_BITS);
    let one = 1_u64 << FRACTION_BITS;
    let parabola = (fraction * (one - fraction)) >> FRACTION_BITS;
    let curve = (parabola * CURVE) >> FRACTION_BITS;
    (whole << FRACTION_BITS) + fraction + curve
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
            let said = packed_bytes(&bytes);
            assert!(said.abs_diff(packed) < packed / 8 + 16, "{said} {packed}");
        }
        assert!(packed_bytes(&[7; 4_096]) < 16);
        assert_eq!(packed_bytes(&[7; 5]), 5);
    }
}
