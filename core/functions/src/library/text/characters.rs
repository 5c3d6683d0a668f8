//! Functions for character codes, letter case, spaces and URL encoding.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::to_u32;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ASC", 1, 1, "s", |call| {
        call.text_result(call.text(0)?.chars().map(half_width).collect())
    }),
    eager("CHAR", 1, 1, "s", |call| {
        let number = call.number(0)?.trunc();
        ensure((1.0..=255.0).contains(&number), ErrorCode::Value)?;
        let byte = u8::try_from(to_u32(number)).unwrap_or(0);
        call.text_result(windows_1252(byte).to_string())
    }),
    eager("CLEAN", 1, 1, "s", |call| {
        let text = call.text(0)?;
        call.text_result(text.chars().filter(|character| u32::from(*character) >= 32).collect())
    }),
    eager("CODE", 1, 1, "s", |call| {
        let first = call.text(0)?.chars().next().ok_or(ErrorCode::Value)?;
        let code = (0..=255).find(|byte| windows_1252(*byte) == first).unwrap_or(b'?');
        number_result(f64::from(code))
    }),
    eager("DBCS", 1, 1, "s", |call| {
        call.text_result(call.text(0)?.chars().map(full_width).collect())
    }),
    eager("ENCODEURL", 1, 1, "s", |call| call.text_result(encoded_url(&call.text(0)?))),
    eager("EXACT", 2, 2, "s", |call| Ok((call.text(0)? == call.text(1)?).into())),
    eager("LOWER", 1, 1, "s", |call| call.text_result(call.text(0)?.to_lowercase())),
    eager("PROPER", 1, 1, "s", |call| call.text_result(proper_case(&call.text(0)?))),
    eager("TRIM", 1, 1, "s", |call| {
        let text = call.text(0)?;
        let words: Vec<_> = text.split(' ').filter(|word| !word.is_empty()).collect();
        call.text_result(words.join(" "))
    }),
    eager("UNICHAR", 1, 1, "s", unicode_character),
    eager("UNICODE", 1, 1, "s", |call| {
        let first = call.text(0)?.chars().next().ok_or(ErrorCode::Value)?;
        number_result(f64::from(u32::from(first)))
    }),
    eager("UPPER", 1, 1, "s", |call| call.text_result(call.text(0)?.to_uppercase())),
];

/// Characters 128 to 159 of code page Windows-1252.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn windows_1252(byte: u8) -> char {
    let special = byte.checked_sub(128).and_then(|index| WINDOWS_1252.get(usize::from(index)));
    special.copied().unwrap_or(char::from(byte))
}

const FULL_WIDTH_OFFSET: u32 = 0xfee0;

fn half_width(character: char) -> char {
    match character {
        '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - FULL_WIDTH_OFFSET).unwrap_or(character)
        }
        other => other,
    }
}

fn full_width(character: char) -> char {
    match character {
        ' ' => '\u{3000}',
        '!'..='~' => char::from_u32(u32::from(character) + FULL_WIDTH_OFFSET).unwrap_or(character),
        other => other,
    }
}

fn encoded_url(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn proper_case(text: &str) -> String {
    let mut is_start = true;
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if is_start {
            result.extend(character.to_uppercase());
        } else {
            result.extend(character.to_lowercase());
        }
        is_start = !character.is_alphabetic();
    }
    result
}

fn unicode_character(call: &Call<'_, '_>) -> Outcome<Operand> {
    let number = call.number(0)?.trunc();
    ensure((1.0..=1_114_111.0).contains(&number), ErrorCode::Value)?;
    // Surrogate code points are not characters.
    let character = char::from_u32(to_u32(number)).ok_or(ErrorCode::NotAvailable)?;
    call.text_result(character.to_string())
}
