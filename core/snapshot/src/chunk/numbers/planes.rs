//! Stores numbers as byte planes. The first plane contains the lowest byte of every number, the
//! second plane the second byte, and so on. The planes with the sign and exponent compress well,
//! the lowest planes do not.

use super::{NumberEncoding, NumbersHeader};
use crate::chunk::byte_planes::{numbers_of_planes, plane_byte};
use crate::chunk::bytes::ChunkReader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::estimate::{self, EncodingCandidate};
use crate::saturate::to_usize;

const PLANE_COUNT: u32 = 8;

pub(super) fn encode_planes(values: &[f64]) -> EncodingCandidate {
    let number_bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
    let plain_size = estimate_size_of_planes(&number_bits);
    let xored_bits = xor_with_previous(&number_bits);
    let xored_size = estimate_size_of_planes(&xored_bits);
    if xored_size < plain_size {
        let bytes = write_planes(NumberEncoding::XoredPlanes, &xored_bits);
        EncodingCandidate { bytes, estimated_size: xored_size }
    } else {
        let bytes = write_planes(NumberEncoding::Planes, &number_bits);
        EncodingCandidate { bytes, estimated_size: plain_size }
    }
}

fn xor_with_previous(number_bits: &[u64]) -> Vec<u64> {
    let previous_bits = std::iter::once(&0).chain(number_bits);
    previous_bits.zip(number_bits).map(|(previous, bits)| previous ^ bits).collect()
}

fn estimate_size_of_planes(number_bits: &[u64]) -> usize {
    const HEADER_SIZE: usize = 1;
    let plane_size = |plane_index| {
        estimate::estimate_compressed_plane(number_bits, |bits| plane_byte(*bits, plane_index))
    };
    HEADER_SIZE + (0..PLANE_COUNT).map(plane_size).sum::<usize>()
}

fn write_planes(encoding: NumberEncoding, number_bits: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 + number_bits.len() * to_usize(PLANE_COUNT));
    bytes.push(NumbersHeader::without_decimals(encoding).to_byte());
    for plane_index in 0..PLANE_COUNT {
        bytes.extend(number_bits.iter().map(|bits| plane_byte(*bits, plane_index)));
    }
    bytes
}

pub(super) fn read_planes<T>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    map_finite_numbers(&read_planes_of_bits(reader, count)?, to_value)
}

pub(super) fn read_xored_planes<T>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    let mut number_bits = read_planes_of_bits(reader, count)?;
    let mut previous_bits = 0;
    for bits in &mut number_bits {
        *bits ^= previous_bits;
        previous_bits = *bits;
    }
    map_finite_numbers(&number_bits, to_value)
}

fn read_planes_of_bits(
    reader: &mut ChunkReader<'_>,
    count: usize,
) -> Result<Vec<u64>, UnreadableChunk> {
    // Read all planes first, so that memory is reserved only if the input is long enough.
    let plane_bytes = reader.read_bytes(count.saturating_mul(to_usize(PLANE_COUNT)))?;
    Ok(numbers_of_planes(plane_bytes, count))
}

fn map_finite_numbers<T>(
    number_bits: &[u64],
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    let numbers = || number_bits.iter().map(|bits| f64::from_bits(*bits));
    // Processors check several numbers at once, because the loop does not end early.
    let are_finite = numbers().fold(true, |are_finite, number| are_finite & number.is_finite());
    if !are_finite {
        return Err(UnreadableChunk::Malformed("a number is not finite"));
    }
    Ok(numbers().map(to_value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_near_the_one_before_are_written_as_changes() {
        let chosen_encoding = |values: &[f64]| {
            let bytes = encode_planes(values).bytes;
            NumbersHeader::read(&mut ChunkReader::new(&bytes)).unwrap().encoding
        };
        let near: Vec<f64> =
            (0..500_u32).map(|row| 1.0 / 3.0 + f64::from(row / 50) / 7.0).collect();
        assert_eq!(chosen_encoding(&near), NumberEncoding::XoredPlanes);
        let far: Vec<f64> = (1..500_u32).map(|row| (f64::from(row) * 1e3).sin()).collect();
        assert_eq!(chosen_encoding(&far), NumberEncoding::Planes);
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let bytes = write_planes(NumberEncoding::Planes, &[number.to_bits(), 0]);
            assert!(
                read_planes(&mut ChunkReader::new(&bytes[1..]), 2, |number| number).is_err(),
                "{number}"
            );
        }
    }
}
