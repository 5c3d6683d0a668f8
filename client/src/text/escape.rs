//! Escapes untrusted text for output to a terminal.

use std::fmt::Write as _;

/// Escapes characters that could control a terminal or mislead a reader: control characters, ANSI
/// escape sequences, line breaks, invisible characters, and characters that change the text
/// direction.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            _ if is_unsafe_character(character) => {
                // Writing to a String cannot fail.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// If the text is longer, an ellipsis replaces the rest.
pub(crate) fn escape_shortened(text: &str, max_characters: usize) -> String {
    let start: String = text.chars().take(max_characters).collect();
    let ellipsis = if start.len() < text.len() { "…" } else { "" };
    format!("{}{ellipsis}", escape(&start))
}

/// Returns whether a character is invisible, controls a terminal or changes the text direction.
pub(super) fn is_unsafe_character(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Invisible: soft hyphen, Arabic letter mark, Hangul and Mongolian fillers.
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
            // Zero-width characters, joiners, direction marks; line and paragraph separators.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, isolates.
            | '\u{2060}'..='\u{206f}'
            // Byte order mark, annotations, tags.
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_unsafe_characters() {
        for (text, shown) in [
            ("plain, ä, 漢字, 🎉", "plain, ä, 漢字, 🎉"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m"),
            ("\u{9b}2J\u{7}\u{8}\u{0}", "\\u{9b}2J\\u{7}\\u{8}\\u{0}"),
            ("abc\u{202e}cod.exe", "abc\\u{202e}cod.exe"),
            ("\u{2066}\u{200b}\u{feff}", "\\u{2066}\\u{200b}\\u{feff}"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }
}
