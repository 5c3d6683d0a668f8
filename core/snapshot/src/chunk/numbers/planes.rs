//! Numbers as byte planes: the lowest byte of every number first, then the second byte, and so on.
//! Sign and exponent planes compress well; the lowest planes do not.

use super::Form;
use crate::chunk::bytes::Reader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::estimate;

/// Encodes numbers as plain or XORed byte planes, whichever is smaller. Returns the bytes and their
/// estimated compressed size.
pub(super) fn write(values: &[f64]) -> (Vec<u8>, usize) {
    let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
    let xored: Vec<u64> = std::iter::once(0)
        .chain(bits.iter().copied())
        .zip(&bits)
        .map(|(previous, bits)| previous ^ bits)
        .collect();
    let (plain, plain_cost) = encode_planes(Form::Planes, &bits);
    let (changes, changes_cost) = encode_planes(Form::Changes, &xored);
    if changes_cost < plain_cost { (changes, changes_cost) } else { (plain, plain_cost) }
}

fn encode_planes(form: Form, bits: &[u64]) -> (Vec<u8>, usize) {
    let mut bytes = Vec::with_capacity(1 + bits.len() * 8);
    bytes.push(form.head(0));
    for plane in 0..8 {
        bytes.extend(bits.iter().map(|bits| (bits >> (8 * plane)).to_le_bytes()[0]));
    }
    let cost = estimate::packed_planes(&bytes, bits.len());
    (bytes, cost)
}

/// Decodes plain or XORed byte planes.
pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    is_xored: bool,
) -> Result<Vec<f64>, UnreadableChunk> {
    // Read all planes first, so that memory is reserved only if the input is long enough.
    let planes = reader.bytes(count.saturating_mul(8))?;
    let mut bits = vec![0_u64; count];
    for (plane, bytes) in planes.chunks_exact(count.max(1)).enumerate() {
        for (bits, byte) in bits.iter_mut().zip(bytes) {
            *bits |= u64::from(*byte) << (8 * plane);
        }
    }
    if is_xored {
        let mut previous = 0;
        for bits in &mut bits {
            *bits ^= previous;
            previous = *bits;
        }
    }
    let values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
    if values.iter().any(|value| !value.is_finite()) {
        return Err(UnreadableChunk::Malformed("a number is not finite"));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_near_the_one_before_are_written_as_changes() {
        let near: Vec<f64> =
            (0..500_u32).map(|row| 1.0 / 3.0 + f64::from(row / 50) / 7.0).collect();
        assert_eq!(write(&near).0[0], Form::Changes.head(0));
        let far: Vec<f64> = (1..500_u32).map(|row| (f64::from(row) * 1e3).sin()).collect();
        assert_eq!(write(&far).0[0], Form::Planes.head(0));
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let (bytes, _) = encode_planes(Form::Planes, &[number.to_bits(), 0]);
            assert!(read(&mut Reader::new(&bytes[1..]), 2, false).is_err(), "{number}");
        }
    }
}
