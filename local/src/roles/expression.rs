//! Finds the attribute names in DynamoDB expressions.

use std::collections::BTreeMap;

/// An attribute with the name of a keyword can occur only through an alias.
const KEYWORDS: [&str; 9] = ["ADD", "AND", "BETWEEN", "DELETE", "IN", "NOT", "OR", "REMOVE", "SET"];

/// Returns the top-level attribute names in a DynamoDB expression. In expressions, `#` starts an
/// alias of an attribute name, and `:` starts a value.
pub(super) fn top_level_attributes(
    expression: &str,
    aliases: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut attributes = Vec::new();
    let mut unread_text = expression;
    while let Some(word) = next_word(unread_text) {
        unread_text = word.following_text;
        let is_nested = matches!(word.previous_character, Some('.' | '['));
        let is_keyword = KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word.text));
        let is_value = word.text.starts_with(':');
        let is_function = word.following_text.trim_start().starts_with('(');
        if is_nested || is_keyword || is_value || is_function {
            continue;
        }
        let attribute = match aliases.get(word.text) {
            Some(attribute) => attribute,
            None => word.text,
        };
        attributes.push(attribute.to_owned());
    }
    attributes
}

struct Word<'a> {
    /// The last character before the current word, ignoring spaces.
    previous_character: Option<char>,
    text: &'a str,
    following_text: &'a str,
}

fn next_word(text: &str) -> Option<Word<'_>> {
    let is_word_character =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '#' | ':');
    let word_start = text.find(is_word_character)?;
    let (preceding_text, text) = text.split_at_checked(word_start)?;
    let word_length = text.find(|character| !is_word_character(character)).unwrap_or(text.len());
    let (word, following_text) = text.split_at_checked(word_length)?;
    let previous_character = preceding_text.trim_end().chars().next_back();
    Some(Word { previous_character, text: word, following_text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_top_level_attributes() {
        let aliases = [("#s", "S"), ("#e", "E.x")];
        let aliases = aliases.map(|(alias, name)| (alias.to_owned(), name.to_owned())).into();
        for (expression, names) in [
            ("", &[][..]),
            ("attribute_not_exists(#s)", &["S"]),
            ("#s = :s AND (attribute_not_exists (#e) OR #e < :l)", &["S", "E.x", "E.x"]),
            (
                "SET #e = if_not_exists(#s, :p), Plain = Other - :one",
                &["E.x", "S", "Plain", "Other"],
            ),
            ("remove a.b.c, d[1].e, f [ 2 ] set g=:g", &["a", "d", "f", "g"]),
            ("size(a) between :low and :high and NOT b in (:x, c)", &["a", "b", "c"]),
            ("#unknown", &["#unknown"]),
            ("a#b", &["a#b"]),
            ("é = :e", &["é"]),
        ] {
            assert_eq!(top_level_attributes(expression, &aliases), names, "{expression}");
        }
    }
}
