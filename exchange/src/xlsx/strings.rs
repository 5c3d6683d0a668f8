//! A workbook's shared texts.

use std::borrow::Cow;
use std::io::Read;

use cellar_base::limits::MAX_SHARED_TEXT_BYTES;
use quick_xml::events::Event;

use crate::workbook::xml::{Xml, push_text};
use crate::{Omission, WorkbookError};

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

    /// Returns [`WorkbookError::SharedTextsTooLarge`] if all texts together exceed the limit.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), WorkbookError> {
        let bytes_of_ends = self.ends.len() * size_of::<usize>();
        if bytes_of_ends + self.texts.len() + text.len() > MAX_SHARED_TEXT_BYTES {
            return Err(WorkbookError::SharedTextsTooLarge);
        }
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        Ok(())
    }

    pub(super) fn read<R: Read>(xml: &mut Xml<R>) -> Result<Self, WorkbookError> {
        let mut shared_texts = Self::default();
        let mut current_text = String::new();
        let mut in_text = false;
        // Skip phonetic elements (`rPh`), which contain the pronunciation of the text.
        let mut in_phonetic_text = false;
        let (mut is_formatted, mut is_phonetic) = (false, false);
        loop {
            match xml.next_event()? {
                Event::Start(tag) => match tag.local_name().as_ref() {
                    "si" => {
                        current_text.clear();
                        (is_formatted, is_phonetic) = (false, false);
                    }
                    "t" => in_text = !in_phonetic_text,
                    "rPr" => is_formatted = true,
                    "rPh" => (in_phonetic_text, is_phonetic) = (true, true),
                    _ => {}
                },
                Event::End(tag) => match tag.local_name().as_ref() {
                    "si" => {
                        shared_texts.push(&unescape(&current_text))?;
                        let counts = &mut xml.not_imported;
                        counts.add(Omission::FormattedTexts, u64::from(is_formatted));
                        counts.add(Omission::PhoneticTexts, u64::from(is_phonetic));
                        if !current_text.is_empty() {
                            xml.record_content();
                        }
                    }
                    "t" => in_text = false,
                    "rPh" => in_phonetic_text = false,
                    _ => {}
                },
                Event::Eof => return Ok(shared_texts),
                event if in_text => push_text(&event, &mut current_text),
                _ => {}
            }
            if current_text.len() > MAX_SHARED_TEXT_BYTES {
                return Err(WorkbookError::SharedTextsTooLarge);
            }
        }
    }
}

pub(crate) const ESCAPE_PREFIX: &str = "_x";

/// Replaces escape sequences such as `_x000D_`, which Excel uses for characters that XML does not
/// allow. Programs write their digits in upper case; a text such as `_x000d_` is only a text.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE_PREFIX) {
        return Cow::Borrowed(text);
    }
    let mut unescaped_text = String::with_capacity(text.len());
    let mut unread_text = text;
    while let Some((before, after_prefix)) = unread_text.split_once(ESCAPE_PREFIX) {
        unescaped_text.push_str(before);
        match parse_escape_sequence(after_prefix) {
            Some((character, after_escape)) => {
                unescaped_text.push(character);
                unread_text = after_escape;
            }
            None => {
                unescaped_text.push_str(ESCAPE_PREFIX);
                unread_text = after_prefix;
            }
        }
    }
    unescaped_text.push_str(unread_text);
    Cow::Owned(unescaped_text)
}

/// Parses an escape sequence after its prefix `_x`, such as `000D_…`. Returns the character and the
/// rest of the text.
fn parse_escape_sequence(text: &str) -> Option<(char, &str)> {
    const DIGIT_COUNT: usize = 4;
    let (digits, after_digits) = text.split_at_checked(DIGIT_COUNT)?;
    let after_escape = after_digits.strip_prefix('_')?;
    if !digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F')) {
        return None;
    }
    let code_point = u32::from_str_radix(digits, 16).ok()?;
    Some((char::from_u32(code_point)?, after_escape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_valid_escapes() {
        for (text, expected) in [
            ("a_x000D_\nb", "a\r\nb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_x000d_", "_x000d_"),
            ("_x005F_x000d_", "_x000d_"),
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
