//! The texts that sheets share.

use std::io::Read;

use cellar_base::limits::MAX_SHARED_TEXT_BYTES;
use quick_xml::events::Event;

use crate::WorkbookError;
use crate::workbook::xml::{Xml, push_text};

/// Texts by number, one behind the other in memory.
#[derive(Debug, Default)]
pub(crate) struct SharedTexts {
    texts: String,
    ends: Vec<usize>,
}

impl SharedTexts {
    /// The text with a number.
    pub(crate) fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before));
        self.texts.get(start.copied().unwrap_or(0)..end)
    }

    /// Adds the next one.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), WorkbookError> {
        let used = self.ends.len().saturating_mul(size_of::<usize>());
        let bytes = used.saturating_add(self.texts.len()).saturating_add(text.len());
        if bytes > MAX_SHARED_TEXT_BYTES {
            return Err(WorkbookError::SharedTextsTooLarge);
        }
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        Ok(())
    }

    /// Reads `sharedStrings.xml`.
    pub(super) fn read<R: Read>(xml: &mut Xml<R>) -> Result<Self, WorkbookError> {
        let mut shared = Self::default();
        let mut text = String::new();
        // How pronunciation is written stands beside the text, and is none of it.
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
                        shared.push(&unescaped(&text))?;
                        if !text.is_empty() {
                            xml.found();
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

/// Resolves `_x000D_`: how Excel writes characters that xml does not have.
pub(super) fn unescaped(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("_x") {
        return text.into();
    }
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("_x") {
        resolved.push_str(before);
        match escaped(after) {
            Some((character, behind)) => {
                resolved.push(character);
                rest = behind;
            }
            None => {
                resolved.push_str("_x");
                rest = after;
            }
        }
    }
    resolved.push_str(rest);
    resolved.into()
}

/// The character of `000D_…`, and what is behind it.
fn escaped(text: &str) -> Option<(char, &str)> {
    let digits = text.get(..4)?;
    let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let behind = text.get(4..)?.strip_prefix('_')?;
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)?;
    Some((char::from_u32(number)?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (text, expected) in [
            ("a_x000D_\nb", "a\r\nb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_x00_", "_x00_"),
            ("_xD800_", "_xD800_"),
            ("_x+00A_", "_x+00A_"),
            ("_xé000_x", "_xé000_x"),
            ("max_x", "max_x"),
        ] {
            assert_eq!(unescaped(text), expected);
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
