//! Parses numbers of at most eight bytes, which most numbers in files are. All bytes are processed
//! as one word, without a branch that depends on the number of digits.

use super::recognise::{Number, POWERS_OF_TEN};

pub(crate) const WORD_BYTES: usize = 8;
const WORD_BITS: usize = 64;
const BITS_PER_BYTE: usize = 8;

/// Parses the first `length` of `first_bytes`. Returns `None` if they are not such a number, or have
/// to be parsed with `parse_number`. Otherwise both return the same number.
#[inline]
pub(crate) fn parse_short_number(first_bytes: [u8; WORD_BYTES], length: usize) -> Option<Number> {
    if !(1..=WORD_BYTES).contains(&length) {
        return None;
    }
    let word = u64::from_le_bytes(first_bytes);
    let is_negative = first_bytes.first() == Some(&b'-');
    let (word, length) =
        if is_negative { (word >> BITS_PER_BYTE, length - 1) } else { (word, length) };
    let integer_digits = first_point(word).min(length);
    let has_point = integer_digits < length;
    let digit_count = length - usize::from(has_point);
    let decimals = digit_count - integer_digits;
    let has_leading_zero = integer_digits > 1 && word & 0xff == u64::from(b'0');
    if integer_digits == 0 || has_leading_zero || (has_point && decimals == 0) {
        return None;
    }
    let digits = align_digits(without_byte(word, integer_digits), digit_count);
    let mantissa = parse_eight_digits(digits)?;
    let mut value = mantissa as f64;
    if decimals > 0 {
        // Both operands are exact, so the quotient is the nearest floating-point number. It is not
        // small enough to need an exponent.
        value /= POWERS_OF_TEN.get(decimals)?;
    }
    let ends_with_zero = digits >> (WORD_BITS - BITS_PER_BYTE) == u64::from(b'0');
    Some(Number {
        value: if is_negative { -value } else { value },
        is_general: decimals == 0 || !ends_with_zero,
        fixed_decimals: if has_point { u8::try_from(decimals).ok() } else { None },
    })
}

/// Returns the index of the first `.`, or the length of a word.
fn first_point(word: u64) -> usize {
    const POINTS: u64 = repeat(b'.');
    let zero_at_points = word ^ POINTS;
    // The lowest bit of the result belongs to the first zero byte.
    let zeros = zero_at_points.wrapping_sub(repeat(1)) & !zero_at_points & repeat(0x80);
    zeros.trailing_zeros() as usize / BITS_PER_BYTE
}

/// Removes the byte at an index, which must be between 1 and 8. The bytes after it move by one.
fn without_byte(word: u64, index: usize) -> u64 {
    let bytes_before = u64::MAX >> (WORD_BITS - index * BITS_PER_BYTE);
    (word & bytes_before) | (word >> BITS_PER_BYTE & !bytes_before)
}

/// Moves the first `count` bytes to the end of the word, after digits 0.
fn align_digits(word: u64, count: usize) -> u64 {
    const ZEROS: u64 = repeat(b'0');
    let free_bits = WORD_BITS - count * BITS_PER_BYTE;
    let leading_zeros = ZEROS & !(u64::MAX << free_bits);
    (word << free_bits) | leading_zeros
}

/// Returns `None` if a byte is not a digit. The first byte is the most significant digit.
fn parse_eight_digits(digits: u64) -> Option<u64> {
    /// Two digits, four digits and eight digits: the sum of the number before, times a power of
    /// ten, and the number after it.
    const PAIR: u64 = (10 << 8) + 1;
    const PAIR_OF_PAIRS: u64 = (100 << 16) + 1;
    const PAIR_OF_FOURS: u64 = (10_000 << 32) + 1;
    let digits = digits ^ repeat(b'0');
    let exceeds_nine = digits.wrapping_add(repeat(0x7f - 9)) | digits;
    if exceeds_nine & repeat(0x80) != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(PAIR) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(PAIR_OF_PAIRS) >> 16 & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(PAIR_OF_FOURS) >> 32)
}

const fn repeat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; WORD_BYTES])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::recognise::parse_number;
    use super::*;

    fn parse(text: &str, later_bytes: &str) -> Option<Number> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.extend_from_slice(later_bytes.as_bytes());
        parse_short_number(*bytes.first_chunk().unwrap(), text.len())
    }

    #[test]
    fn numbers_of_up_to_eight_bytes_are_parsed() {
        for text in ["0", "7", "-7", "12345678", "-1234567", "0.5", "12.80", "123456.7", "0.000001"]
        {
            let found = parse(text, ",1.5,123456");
            assert!(found.is_some() && found == parse_number(text), "{text}");
        }
        for text in
            ["", "-", ".", ".5", "5.", "-.5", "007", "00", "1.2.3", "1e3", "+1", "12345678.9"]
        {
            assert_eq!(parse(text, ",1.5,123456"), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn equals_the_general_parser(
            text in "-?[0-9]{0,8}(\\.[0-9]{0,7})?|[-+0-9.eE:/]{0,9}|\\PC{0,4}",
            later_bytes in "[-0-9.,\n]{8}",
        ) {
            if let Some(number) = parse(&text, &later_bytes) {
                let expected = parse_number(&text).unwrap();
                prop_assert_eq!(number, expected);
                prop_assert_eq!(number.value.to_bits(), expected.value.to_bits());
            }
        }
    }
}
