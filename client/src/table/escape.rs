//! Text that somebody else wrote, made harmless for a terminal.

use std::fmt::Write as _;

/// Escapes what could control a terminal or mislead a reader: control characters (so also every
/// ANSI escape sequence), line ends, and what turns the direction of text or has no width.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            _ if is_hostile(character) => {
                // Writing to a String cannot fail.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Whether a character controls a terminal, turns the direction of text, or is not seen.
pub(super) fn is_hostile(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Soft hyphen, Arabic letter mark, Hangul and Mongolian fillers: not seen.
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
            // No width, joiners and marks of direction; line and paragraph separators.
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
    fn what_controls_a_terminal_is_shown_instead() {
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
