//! Escapes texts for XML. A character that XML does not allow becomes an escape sequence such as
//! `_x0001_` (ECMA-376 22.9.2.19), and so does the underscore of a text that looks like one.

use crate::xlsx::ESCAPE_PREFIX;

const ESCAPE_DIGITS: usize = 4;

/// Appends the text to the contents of an element or an attribute.
pub(super) fn push_escaped(xml: &mut String, text: &str) {
    if !text.bytes().any(may_need_escape) && !text.contains(['\u{fffe}', '\u{ffff}']) {
        xml.push_str(text);
        return;
    }
    for (index, character) in text.char_indices() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            _ if is_not_allowed(character) => push_sequence(xml, character),
            '_' if is_like_sequence(text.get(index..).unwrap_or_default()) => {
                push_sequence(xml, character);
            }
            _ => xml.push(character),
        }
    }
}

fn may_need_escape(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'_' | 0..=0x1f)
}

/// A carriage return is allowed in XML, but it would be read as a line feed.
fn is_not_allowed(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

fn push_sequence(xml: &mut String, character: char) {
    xml.push_str(&format!("{ESCAPE_PREFIX}{:04X}_", u32::from(character)));
}

/// Whether the text would be read as an escape sequence. Some programs also read digits in lower
/// case. The underscore at the end may be that of a sequence which follows.
fn is_like_sequence(text: &str) -> bool {
    let Some(after_prefix) = text.strip_prefix(ESCAPE_PREFIX) else { return false };
    let Some((digits, after_digits)) = after_prefix.split_at_checked(ESCAPE_DIGITS) else {
        return false;
    };
    let has_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let next = after_digits.chars().next();
    has_digits && next.is_some_and(|next| next == '_' || is_not_allowed(next))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::xlsx::unescape;

    fn escaped(text: &str) -> String {
        let mut xml = String::new();
        push_escaped(&mut xml, text);
        xml
    }

    #[test]
    fn only_what_is_not_allowed_or_looks_escaped_is_escaped() {
        for (text, expected) in [
            ("plain _x_ \t\n ä\u{7f}", "plain _x_ \t\n ä\u{7f}"),
            ("a\r\n\u{1}\u{ffff}", "a_x000D_\n_x0001__xFFFF_"),
            ("<a & \"b\">", "&lt;a &amp; &quot;b&quot;&gt;"),
            ("_x000D_", "_x005F_x000D_"),
            ("_x000d_", "_x005F_x000d_"),
            ("_x000D_x000D_", "_x005F_x000D_x005F_x000D_"),
            ("_x000D\u{1}", "_x005F_x000D_x0001_"),
            ("_x00D_ _X000D_ _x000D _x000G_", "_x00D_ _X000D_ _x000D _x000G_"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn escaped_text_is_read_back(
            text in "(_x[0-9A-Fa-f]{4}|_|x|_x005F_|[\u{1}-\u{20}]|\u{ffff}|[&<>\"]|ä){0,8}",
        ) {
            let xml = escaped(&text);
            let text_in_xml = quick_xml::escape::unescape(&xml).unwrap();
            prop_assert_eq!(unescape(&text_in_xml).into_owned(), text);
        }
    }
}
