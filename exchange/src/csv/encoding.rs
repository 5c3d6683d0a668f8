//! Encodings of csv files.

use std::fmt;
use std::str::FromStr;

use encoding_rs::Encoding;

/// A text encoding, such as UTF-8 or windows-1252. It is parsed from one of the names in the
/// [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels), in which `latin1` is
/// another name of windows-1252.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

/// The text is not the name of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown encoding: pass utf-8, utf-16le, utf-16be, windows-1252, latin1 or another name of the Encoding Standard"
)]
pub struct NotAnEncoding;

impl TextEncoding {
    /// UTF-8, the encoding of a csv file unless its first bytes or the caller say otherwise.
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);

    /// Returns the name in the Encoding Standard, such as `UTF-16LE`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the encoding that a byte order mark at the start of a file indicates, and the length
    /// of the mark in bytes.
    pub(super) fn of_byte_order_mark(first_bytes: &[u8]) -> Option<(Self, usize)> {
        Encoding::for_bom(first_bytes).map(|(encoding, bytes)| (Self(encoding), bytes))
    }

    pub(super) fn decoder(self) -> encoding_rs::Decoder {
        self.0.new_decoder_without_bom_handling()
    }
}

impl FromStr for TextEncoding {
    type Err = NotAnEncoding;

    fn from_str(name: &str) -> Result<Self, NotAnEncoding> {
        Encoding::for_label_no_replacement(name.as_bytes()).map(Self).ok_or(NotAnEncoding)
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_names() {
        for (name, expected) in [
            ("utf-8", "UTF-8"),
            ("UTF-16LE", "UTF-16LE"),
            ("utf-16be", "UTF-16BE"),
            ("latin1", "windows-1252"),
            ("ISO-8859-1", "windows-1252"),
            ("shift_jis", "Shift_JIS"),
        ] {
            assert_eq!(name.parse::<TextEncoding>().unwrap().to_string(), expected);
        }
        // The last one is a name of the standard for encodings that must not be decoded.
        for name in ["", "utf-9", "iso-2022-kr"] {
            assert_eq!(name.parse::<TextEncoding>(), Err(NotAnEncoding), "{name}");
        }
    }
}
