//! A workbook's shared texts.

use std::io::Read;

use cellar_base::limits::MAX_SHARED_TEXT_BYTES;
use quick_xml::events::Event;

use crate::WorkbookError;
use crate::workbook::xml::{Xml, push_text};

/// Texts by index, stored consecutively in a single string.
#[derive(Debug, Default)]
pub(crate) struct SharedTexts {
    texts: String,
    /// End offset of each text in `texts`.
    ends: Vec<usize>,
}

impl SharedTexts {
    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let previous_end = index.checked_sub(1).and_then(|previous| self.ends.get(previous));
        self.texts.get(previous_end.copied().unwrap_or(0)..end)
    }

    /// Adds a text.
    ///
    /// # Errors
    /// Returns [`WorkbookError::SharedTextsTooLarge`] if the total text size exceeds the limit.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), WorkbookError> {
        let bytes_of_ends = self.ends.len() * size_of::<usize>();
        if bytes_of_ends + self.texts.len() + text.len() > MAX_SHARED_TEXT_BYTES {
            return Err(WorkbookError::SharedTextsTooLarge);
        }
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        Ok(())
    }

    /// Reads the part `sharedStrings.xml`.
    pub(super) fn read<R: Read>(xml: &mut Xml<R>) -> Result<Self, WorkbookError> {
        let mut shared = Self::default();
        let mut text = String::new();
        // Skip phonetic elements (`rPh`), which contain the pronunciation of the text.
        let (mut in_text, mut in_phonetic) = (false, false);
        loop {
            match xml.next()? {
                Event::Start(tag) => match tag.local_name().as_ref() {
                    "si" => text.clear(),
                    "t" => in_text = !in_phonetic,
                    "rPh" => in_phonetic = true,
                    _ => {}
                },
                Event::End(tag) => match tag.local_name().as_ref() {
                    "si" => {
                        shared.push(&unescape(&text))?;
                        if !text.is_empty() {
                            xml.record_content();
                        }
                    }
                    "t" => in_text = false,
                    "rPh" => in_phonetic = false,
                    _ => {}
                },
                Event::Eof => return Ok(shared),
                event if in_text => push_text(&event, &mut text),
                _ => {}
            }
            if text.len() > MAX_SHARED_TEXT_BYTES {
                return Err(WorkbookError::SharedTextsTooLarge);
            }
        }
    }
}

/// Replaces escape sequences such as `_x000D_`, which Excel uses for characters that XML does not
/// allow.
pub(super) fn unescape(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("_x") {
        return text.into();
    }
    let mut unescaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("_x") {
        unescaped.push_str(before);
        match parse_escape(after) {
            Some((character, after_escape)) => {
                unescaped.push(character);
                rest = after_escape;
            }
            None => {
                unescaped.push_str("_x");
                rest = after;
            }
        }
    }
    unescaped.push_str(rest);
    unescaped.into()
}

/// Parses an escape sequence after its prefix, such as `000D_…`. Returns the character and the
/// remaining text.
fn parse_escape(text: &str) -> Option<(char, &str)> {
    let digits = text.get(..4)?;
    let after_escape = text.get(4..)?.strip_prefix('_')?;
    // `from_str_radix` alone would accept a leading sign.
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let code = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code)?, after_escape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_valid_escapes() {
        for (text, expected) in [
            ("a_x000D_\nb", "a\r\nb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_x00_", "_x00_"),
            ("_xD800_", "_xD800_"),
            ("_x+00A_", "_x+00A_"),
            ("_xé000_x", "_xé000_x"),
            ("max_x", "max_x"),
        ] {
            assert_eq!(unescape(text), expected);
        }
    }

    #[test]
    fn texts_end_at_their_limit() {
        let mut shared = SharedTexts::default();
        shared.push(&"x".repeat(MAX_SHARED_TEXT_BYTES - 8)).unwrap();
        shared.push("").unwrap();
        assert_eq!(shared.get(1), Some(""));
        assert!(matches!(shared.push(""), Err(WorkbookError::SharedTextsTooLarge)));
        assert_eq!(shared.get(2), None);
    }
}
