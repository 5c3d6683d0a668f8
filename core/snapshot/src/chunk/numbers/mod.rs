//! Encodes and decodes a column's numbers, which are finite `f64` values. The decoded numbers are
//! bit-for-bit identical.

mod decimals;
mod dictionary;
mod planes;

use super::bytes::ChunkReader;
use super::error::UnreadableChunk;
use super::estimate::EncodingCandidate;

/// Encoding of numbers, stored in the high bits of the first byte. The low bits contain the number
/// of decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberEncoding {
    /// Integers divided by a power of ten.
    Decimals = 0,
    /// Like `Decimals`, but some numbers are exceptions, which are stored as the bits of their
    /// `f64`.
    DecimalsWithExceptions = 1,
    /// Byte planes. The first plane contains the lowest byte of every number, the second plane the
    /// second byte, and so on.
    Planes = 2,
    /// Like `Planes`, but each number is XORed with the previous number.
    XoredPlanes = 3,
    Dictionary = 4,
}

const NUMBER_ENCODINGS: [NumberEncoding; 5] = [
    NumberEncoding::Decimals,
    NumberEncoding::DecimalsWithExceptions,
    NumberEncoding::Planes,
    NumberEncoding::XoredPlanes,
    NumberEncoding::Dictionary,
];

impl NumberEncoding {
    fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u8) -> Option<Self> {
        NUMBER_ENCODINGS.into_iter().find(|encoding| encoding.number() == number)
    }

    fn has_decimals(self) -> bool {
        matches!(self, Self::Decimals | Self::DecimalsWithExceptions)
    }
}

#[derive(Clone, Copy)]
struct NumbersHeader {
    encoding: NumberEncoding,
    /// Number of decimals, or 0 for encodings without decimals.
    decimals: u8,
}

const UNKNOWN_ENCODING: UnreadableChunk =
    UnreadableChunk::Malformed("a list of numbers has an unknown encoding");

impl NumbersHeader {
    const ENCODING_SHIFT: u8 = 4;
    const DECIMALS_MASK: u8 = 0x0f;

    fn without_decimals(encoding: NumberEncoding) -> Self {
        Self { encoding, decimals: 0 }
    }

    fn to_byte(self) -> u8 {
        self.encoding.number() << Self::ENCODING_SHIFT | self.decimals
    }

    fn read(reader: &mut ChunkReader<'_>) -> Result<Self, UnreadableChunk> {
        let byte = reader.read_byte()?;
        let encoding = NumberEncoding::from_number(byte >> Self::ENCODING_SHIFT);
        let encoding = encoding.ok_or(UNKNOWN_ENCODING)?;
        let decimals = byte & Self::DECIMALS_MASK;
        if decimals > 0 && !encoding.has_decimals() {
            return Err(UNKNOWN_ENCODING);
        }
        Ok(Self { encoding, decimals })
    }
}

/// If the smallest other encoding stores at least this number of values per byte, no dictionary is
/// tried.
const DENSE_NUMBERS_PER_BYTE: usize = 4;

/// Encodes finite numbers with the smallest estimated size.
pub(super) fn write_numbers(output: &mut Vec<u8>, values: &[f64]) {
    let mut smallest = encode_without_dictionary(values);
    let is_dense = smallest.estimated_size <= values.len() / DENSE_NUMBERS_PER_BYTE;
    if !is_dense
        && let Some(dictionary) = dictionary::encode_dictionary(values)
        && dictionary.estimated_size < smallest.estimated_size
    {
        smallest = dictionary;
    }
    output.extend_from_slice(&smallest.bytes);
}

fn encode_without_dictionary(values: &[f64]) -> EncodingCandidate {
    let Some(decimals) = decimals::encode_decimals(values) else {
        return planes::encode_planes(values);
    };
    if decimals.exception_count == 0 {
        return decimals.encoded;
    }
    let planes = planes::encode_planes(values);
    if decimals.encoded.estimated_size <= planes.estimated_size { decimals.encoded } else { planes }
}

/// Returns what `to_value` makes of each number. The caller must have checked `count`, because memory
/// is reserved for all numbers.
pub(super) fn read_numbers<T: Copy>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    let header = NumbersHeader::read(reader)?;
    match header.encoding {
        NumberEncoding::Dictionary => dictionary::read_dictionary(reader, count, to_value),
        _ => read_after_header(reader, count, header, to_value),
    }
}

/// Decodes the distinct numbers of a dictionary, which must not be encoded with another dictionary.
fn read_distinct_numbers<T: Copy>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    let header = NumbersHeader::read(reader)?;
    read_after_header(reader, count, header, to_value)
}

fn read_after_header<T: Copy>(
    reader: &mut ChunkReader<'_>,
    count: usize,
    header: NumbersHeader,
    to_value: impl Fn(f64) -> T,
) -> Result<Vec<T>, UnreadableChunk> {
    match header.encoding {
        NumberEncoding::Decimals => {
            decimals::read_decimals(reader, count, header.decimals, to_value)
        }
        NumberEncoding::DecimalsWithExceptions => {
            decimals::read_decimals_with_exceptions(reader, count, header.decimals, to_value)
        }
        NumberEncoding::Planes => planes::read_planes(reader, count, to_value),
        NumberEncoding::XoredPlanes => planes::read_xored_planes(reader, count, to_value),
        NumberEncoding::Dictionary => Err(UNKNOWN_ENCODING),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round(values: &[f64]) -> (NumberEncoding, usize) {
        let mut bytes = Vec::new();
        write_numbers(&mut bytes, values);
        let mut reader = ChunkReader::new(&bytes);
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(
            bits(&read_numbers(&mut reader, values.len(), |number| number).unwrap()),
            bits(values)
        );
        assert_eq!(reader.unread_byte_count(), 0);
        (NUMBER_ENCODINGS[usize::from(bytes[0] >> 4)], bytes.len())
    }

    fn finite() -> impl Strategy<Value = f64> {
        let special =
            [0.0, -0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN, 9_007_199_254_740_991.0];
        prop_oneof![
            any::<f64>().prop_filter("finite", |number| number.is_finite()),
            proptest::sample::select(special.to_vec()),
            any::<i32>().prop_map(f64::from),
            (any::<i32>(), 0..9_i32)
                .prop_map(|(digits, places)| f64::from(digits) / 10_f64.powi(places)),
            (-9_007_199_254_740_995_i64..9_007_199_254_740_995).prop_map(|number| {
                #[allow(clippy::cast_precision_loss, reason = "near the greatest exact integer")]
                let number = number as f64;
                number
            }),
        ]
    }

    proptest! {
        #[test]
        fn numbers_read_back(values in proptest::collection::vec(finite(), 1..60), repeat in 1..20_usize) {
            round(&values);
            round(&values.repeat(repeat));
        }

        #[test]
        fn any_bytes_are_finite_numbers_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..80),
            count in 1..3_000_usize,
        ) {
            if let Ok(values) = read_numbers(&mut ChunkReader::new(&bytes), count, |number| number) {
                prop_assert_eq!(values.len(), count);
                prop_assert!(values.iter().all(|value| value.is_finite()));
            }
        }
    }

    #[test]
    fn the_smallest_form_is_chosen() {
        let prices: Vec<f64> =
            (0..5_000_u32).map(|row| f64::from(row * 7_919 % 100_003) / 100.0).collect();
        assert_eq!(round(&prices).0, NumberEncoding::Decimals);
        let mut mixed = prices;
        for (index, number) in [(7, -0.0), (9, 1e300), (4_999, 0.1 + 0.2), (0, 5e-324)] {
            mixed[index] = number;
        }
        assert_eq!(round(&mixed).0, NumberEncoding::DecimalsWithExceptions);
        let mut random = [0; 40_000];
        blake3::Hasher::new().finalize_xof().fill(&mut random);
        let words = random.as_chunks::<8>().0.iter();
        let roots: Vec<f64> = words
            .map(|word| f64::from(u32::from_le_bytes(*word.first_chunk().unwrap())).sqrt())
            .collect();
        assert_eq!(round(&roots).0, NumberEncoding::Planes);
        let rates: Vec<f64> =
            (0..5_000).map(|row| [0.1 + 0.2, 1.0 / 3.0, 7e200][row * row % 3]).collect();
        assert_eq!(round(&rates).0, NumberEncoding::Dictionary);
        assert_eq!(round(&[12.75]).1, 3);
        assert_eq!(round(&[-0.0]).1, 9);
    }
}
