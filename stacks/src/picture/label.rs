//! Escapes labels, so that Mermaid shows them unchanged.

use super::limits::NAME_CHARS_MAX;
use crate::difference::printable;

/// Shortens a name to [`NAME_CHARS_MAX`] characters, and escapes it.
pub(super) fn escaped_name(name: &str) -> String {
    let printable_name = printable(name);
    let mut characters = printable_name.chars();
    let mut escaped = escape(&characters.by_ref().take(NAME_CHARS_MAX).collect::<String>());
    if characters.next().is_some() {
        escaped.push('…');
    }
    escaped
}

/// Replaces all characters except letters, digits and spaces by the entity codes of Mermaid.
///
/// Mermaid replaces entity codes after it has looked for Markdown, links and icons in a label, so a
/// name can be none of these.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_alphanumeric() || character == ' ' {
            escaped.push(character);
        } else {
            escaped.push_str(&format!("#{};", u32::from(character)));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_digits_and_spaces_are_not_escaped() {
        assert_eq!(escaped_name("Größe 1"), "Größe 1");
        assert_eq!(escaped_name("a\"]; `b`"), "a#34;#93;#59; #96;b#96;");
        assert_eq!(escaped_name("#35;%%{x}%%"), "#35;35#59;#37;#37;#123;x#125;#37;#37;");
        assert!(!escaped_name("a\nb\u{202e}").contains(['\n', '\u{202e}']));
    }

    #[test]
    fn names_are_bounded() {
        let longest = "a".repeat(NAME_CHARS_MAX);
        assert_eq!(escaped_name(&longest), longest);
        assert_eq!(escaped_name(&format!("{longest}a")), format!("{longest}…"));
    }
}
