//! Encodes and decodes a column's numbers: finite `f64` values, preserved bit for bit.

mod decimals;
mod dictionary;
mod planes;

use super::bytes::Reader;
use super::error::UnreadableChunk;

/// Encoding of numbers. Stored in the high bits of the first byte; the low bits contain the number
/// of decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Integers divided by a power of ten.
    Decimals,
    /// Like `Decimals`, but exceptions are stored as raw `f64` bits.
    WithExceptions,
    /// Byte planes: the lowest byte of every number first, then the second byte, and so on.
    Planes,
    /// Like `Planes`, but each number is XORed with the previous number.
    Changes,
    /// The distinct numbers, plus one code per number.
    Dictionary,
}

const FORMS: [Form; 5] =
    [Form::Decimals, Form::WithExceptions, Form::Planes, Form::Changes, Form::Dictionary];

impl Form {
    fn number(self) -> u8 {
        match self {
            Self::Decimals => 0,
            Self::WithExceptions => 1,
            Self::Planes => 2,
            Self::Changes => 3,
            Self::Dictionary => 4,
        }
    }

    fn head(self, decimals: u8) -> u8 {
        self.number() << 4 | decimals
    }
}

/// A dictionary is not tried if at least this many numbers already compress to one byte.
const DENSE_NUMBERS_PER_BYTE: usize = 4;

/// Encodes finite numbers. Returns their estimated compressed size.
pub(super) fn write(out: &mut Vec<u8>, values: &[f64]) -> usize {
    let (bytes, cost) = encode_without_dictionary(values);
    if cost > values.len() / DENSE_NUMBERS_PER_BYTE
        && let Some((dictionary_bytes, dictionary_cost)) = dictionary::write(values)
        && dictionary_cost < cost
    {
        out.extend_from_slice(&dictionary_bytes);
        return dictionary_cost;
    }
    out.extend_from_slice(&bytes);
    cost
}

fn encode_without_dictionary(values: &[f64]) -> (Vec<u8>, usize) {
    let decimals = match decimals::write(values) {
        Some(decimals) if decimals.exceptions == 0 => return (decimals.bytes, decimals.cost),
        decimals => decimals,
    };
    let (planes_bytes, planes_cost) = planes::write(values);
    match decimals {
        Some(decimals) if decimals.cost <= planes_cost => (decimals.bytes, decimals.cost),
        _ => (planes_bytes, planes_cost),
    }
}

/// Decodes `count` finite numbers. The caller must have checked `count`.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<Vec<f64>, UnreadableChunk> {
    read_nested(reader, count, true)
}

fn read_nested(
    reader: &mut Reader<'_>,
    count: usize,
    may_be_dictionary: bool,
) -> Result<Vec<f64>, UnreadableChunk> {
    let unknown = UnreadableChunk::Malformed("numbers are encoded in an unknown form");
    let head = reader.byte()?;
    let form = FORMS.into_iter().find(|form| form.number() == head >> 4).ok_or(unknown)?;
    let decimals = head & 0x0f;
    if decimals > 0 && !matches!(form, Form::Decimals | Form::WithExceptions) {
        return Err(unknown);
    }
    match form {
        Form::Decimals => decimals::read(reader, count, decimals, false),
        Form::WithExceptions => decimals::read(reader, count, decimals, true),
        Form::Planes => planes::read(reader, count, false),
        Form::Changes => planes::read(reader, count, true),
        Form::Dictionary if may_be_dictionary => dictionary::read(reader, count),
        Form::Dictionary => Err(unknown),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round(values: &[f64]) -> (Form, usize) {
        let mut bytes = Vec::new();
        write(&mut bytes, values);
        let mut reader = Reader::new(&bytes);
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read(&mut reader, values.len()).unwrap()), bits(values));
        assert_eq!(reader.len(), 0);
        (FORMS[usize::from(bytes[0] >> 4)], bytes.len())
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
            if let Ok(values) = read(&mut Reader::new(&bytes), count) {
                prop_assert_eq!(values.len(), count);
                prop_assert!(values.iter().all(|value| value.is_finite()));
            }
        }
    }

    #[test]
    fn the_smallest_form_is_chosen() {
        let prices: Vec<f64> =
            (0..5_000_u32).map(|row| f64::from(row * 7_919 % 100_003) / 100.0).collect();
        assert_eq!(round(&prices).0, Form::Decimals);
        let mut mixed = prices;
        for (index, number) in [(7, -0.0), (9, 1e300), (4_999, 0.1 + 0.2), (0, 5e-324)] {
            mixed[index] = number;
        }
        assert_eq!(round(&mixed).0, Form::WithExceptions);
        let mut random = [0; 40_000];
        blake3::Hasher::new().finalize_xof().fill(&mut random);
        let words = random.as_chunks::<8>().0.iter();
        let roots: Vec<f64> = words
            .map(|word| f64::from(u32::from_le_bytes(*word.first_chunk().unwrap())).sqrt())
            .collect();
        assert_eq!(round(&roots).0, Form::Planes);
        let rates: Vec<f64> =
            (0..5_000).map(|row| [0.1 + 0.2, 1.0 / 3.0, 7e200][row * row % 3]).collect();
        assert_eq!(round(&rates).0, Form::Dictionary);
        assert_eq!(round(&[12.75]).1, 3);
        assert_eq!(round(&[-0.0]).1, 9);
    }
}
