//! Finds attributes in DynamoDB expressions.

use std::collections::BTreeMap;

/// Expression keywords. Attributes with these names must be aliased.
const KEYWORDS: [&str; 9] = ["ADD", "AND", "BETWEEN", "DELETE", "IN", "NOT", "OR", "REMOVE", "SET"];

/// Returns an expression's top-level attributes. Aliases start with `#`, values with `:`.
pub(super) fn top_level_attributes(
    expression: &str,
    aliases: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some((before, word, after)) = next_word(rest) {
        rest = after;
        let is_nested = matches!(before, Some('.' | '['));
        let is_keyword = KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word));
        let is_value = word.starts_with(':');
        let is_function = after.trim_start().starts_with('(');
        if !is_nested && !is_keyword && !is_value && !is_function {
            found.push(aliases.get(word).map_or(word, String::as_str).to_owned());
        }
    }
    found
}

/// Returns the next word, the character before the word and the text after it.
fn next_word(text: &str) -> Option<(Option<char>, &str, &str)> {
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '#' | ':');
    let (gap, from) = text.split_at_checked(text.find(is_word)?)?;
    let end = from.find(|letter| !is_word(letter)).unwrap_or(from.len());
    let (word, rest) = from.split_at_checked(end)?;
    Some((gap.trim_end().chars().next_back(), word, rest))
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
