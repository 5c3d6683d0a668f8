//! Formats JSON so that printing it to a terminal is safe.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

use super::escape::is_unsafe_character;

/// Formats a value as JSON on a single line. Characters that are invisible, control a terminal or
/// change the text direction are written as `\u…` escapes.
#[must_use]
pub fn to_json(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, UnsafeTextEscaper);
    // Encoding plain data cannot fail, and JSON is always UTF-8.
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

struct UnsafeTextEscaper;

impl Formatter for UnsafeTextEscaper {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut escaped_until = 0;
        for (index, character) in fragment.char_indices() {
            if !is_unsafe_character(character) {
                continue;
            }
            let safe_part = fragment.get(escaped_until..index).unwrap_or("");
            CompactFormatter.write_string_fragment(writer, safe_part)?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            escaped_until = index + character.len_utf8();
        }
        CompactFormatter.write_string_fragment(writer, fragment.get(escaped_until..).unwrap_or(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_escaped_and_read_back() {
        for (text, json) in [
            ("plain ä 漢字 🎉 \" \\", r#""plain ä 漢字 🎉 \" \\""#),
            ("\u{1b}[2J\u{7}\n", r#""\u001b[2J\u0007\n""#),
            ("a\u{7f}\u{9b}2J\u{85}b", r#""a\u007f\u009b2J\u0085b""#),
            ("\u{202e}exe\u{2028}\u{feff}", r#""\u202eexe\u2028\ufeff""#),
            ("\u{e0041}", r#""\udb40\udc41""#),
        ] {
            let written = to_json(&serde_json::json!({ "a\u{202e}": text }));
            assert_eq!(written, format!(r#"{{"a\u202e":{json}}}"#));
            let read: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read["a\u{202e}"], text);
        }
    }

    #[test]
    fn every_unsafe_character_is_escaped() {
        for character in (0..=0x0010_ffff_u32).filter_map(char::from_u32) {
            let written = to_json(&character);
            assert!(!written.chars().any(is_unsafe_character), "{character:?}");
            assert_eq!(serde_json::from_str::<char>(&written).unwrap(), character);
        }
    }
}
