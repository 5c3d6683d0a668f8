//! What bytes will take once they are compressed.
//!
//! The encoder writes a column in several ways and keeps what will be smallest behind zstd, not
//! before it. Only whole numbers are used, so that every machine chooses the same.

/// Below this, tables of codes cost more than they save.
const SMALL_BYTES: usize = 64;
/// Counts are halved to sixteen bits of fraction.
const FRACTION_BITS: u32 = 16;
/// 0.3437 of [`FRACTION_BITS`]: log₂(1 + f) ≈ f + 0.3437 · f · (1 − f), to 0.01.
const CURVE: u64 = 22_525;

/// Bytes that zstd makes of `bytes`, about: their entropy byte by byte, and a table of codes.
pub(super) fn packed_bytes(bytes: &[u8]) -> usize {
    if bytes.len() < SMALL_BYTES {
        return bytes.len();
    }
    let mut counts = [[0_u32; 256]; 2];
    let [even, odd] = &mut counts;
    let (pairs, last) = bytes.as_chunks::<2>();
    for [one, two] in pairs {
        bump(even, *one);
        bump(odd, *two);
    }
    last.iter().for_each(|byte| bump(even, *byte));
    let total = log2(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    let (mut bits, mut table) = (0_u64, 0_usize);
    for (even, odd) in even.iter().zip(odd) {
        let count = u64::from(*even) + u64::from(*odd);
        if count > 0 {
            bits += count * total.saturating_sub(log2(count));
            table += 1;
        }
    }
    let coded = usize::try_from(bits >> (FRACTION_BITS + 3)).unwrap_or(usize::MAX);
    bytes.len().min(coded.saturating_add(table / 2 + 8))
}

/// The same for planes of `count` bytes each, and a few bytes before them.
pub(super) fn packed_planes(bytes: &[u8], count: usize) -> usize {
    let planes = bytes.rchunks(count.max(1));
    planes.map(packed_bytes).fold(0, usize::saturating_add)
}

fn bump(counts: &mut [u32; 256], byte: u8) {
    if let Some(count) = counts.get_mut(usize::from(byte)) {
        *count += 1;
    }
}

/// The binary logarithm of a number that is not zero, in 65,536ths.
fn log2(number: u64) -> u64 {
    let zeros = number.leading_zeros();
    let whole = u64::from(63_u32.saturating_sub(zeros));
    let fraction = (number << zeros << 1) >> (64 - FRACTION_BITS);
    let one = 1_u64 << FRACTION_BITS;
    let curve = ((fraction * (one - fraction)) >> FRACTION_BITS) * CURVE >> FRACTION_BITS;
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
    fn entropy_is_what_it_should_be() {
        let bytes: Vec<u8> = (0..=255).cycle().take(4_096).collect();
        assert_eq!(packed_bytes(&bytes), 4_096);
        let digits: Vec<u8> = bytes.iter().map(|byte| byte % 16).collect();
        assert!((2_048..2_080).contains(&packed_bytes(&digits)), "{}", packed_bytes(&digits));
        assert!(packed_bytes(&[7; 4_096]) < 16);
        assert_eq!(packed_bytes(&[7; 5]), 5);
    }
}
