//! The `tags:` section of `cellar.yaml`. A tag is valid only if every AWS service in the stack
//! accepts it.

use std::collections::{BTreeMap, HashSet};

use super::error::{ConfigProblem, TagFault};
use super::limits::{TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX};

pub(super) fn find_tag_problems(tags: &BTreeMap<String, String>) -> Vec<ConfigProblem> {
    let mut problems = Vec::new();
    if tags.len() > TAGS_MAX {
        problems.push(ConfigProblem::TooManyTags { count: tags.len() });
    }
    let mut seen_lowercase_keys = HashSet::new();
    for (key, value) in tags {
        if let Some(fault) = find_tag_fault(key, value, &mut seen_lowercase_keys) {
            problems.push(ConfigProblem::Tag { key: key.clone(), fault });
        }
    }
    problems
}

/// If the key is valid, adds it to `seen_lowercase_keys`.
fn find_tag_fault(
    key: &str,
    value: &str,
    seen_lowercase_keys: &mut HashSet<String>,
) -> Option<TagFault> {
    if !is_valid_text(key, 1, TAG_KEY_CHARS_MAX) {
        return Some(TagFault::Key);
    }
    if is_reserved_key(key) {
        return Some(TagFault::Reserved);
    }
    let is_new_key = seen_lowercase_keys.insert(key.to_lowercase());
    if !is_new_key {
        return Some(TagFault::Case);
    }
    if !is_valid_text(value, 0, TAG_VALUE_CHARS_MAX) {
        return Some(TagFault::Value);
    }
    None
}

/// Returns whether a key starts with `aws:` in any letter case. AWS reserves this prefix.
fn is_reserved_key(key: &str) -> bool {
    const RESERVED_PREFIX: &str = "aws:";
    let prefix = key.get(..RESERVED_PREFIX.len());
    prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(RESERVED_PREFIX))
}

fn is_valid_text(text: &str, min_chars: usize, max_chars: usize) -> bool {
    let is_allowed = |letter: char| {
        letter.is_alphanumeric()
            || matches!(letter, ' ' | '_' | '.' | ':' | '/' | '=' | '+' | '-' | '@')
    };
    (min_chars..=max_chars).contains(&text.chars().count())
        && text.trim() == text
        && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(tags: &[(&str, &str)]) -> Vec<TagFault> {
        let owned = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let problems = find_tag_problems(&owned.collect());
        let fault = |problem| match problem {
            ConfigProblem::Tag { fault, .. } => fault,
            other => panic!("{other}"),
        };
        problems.into_iter().map(fault).collect()
    }

    #[test]
    fn only_texts_that_every_service_accepts_are_valid() {
        let (key, value) = ("ü".repeat(128), "ü".repeat(256));
        for tag in [("a", ""), ("cost center:1/2", "R&D".replace('&', "+").as_str())] {
            assert_eq!(faults(&[tag]), [], "{tag:?}");
        }
        assert_eq!(faults(&[(&key, &value)]), []);
        for key in ["", " a", "a ", "a\nb", "a*", "a&b", &"k".repeat(129)] {
            assert_eq!(faults(&[(key, "")]), [TagFault::Key], "{key:?}");
        }
        for value in [" a", "a\tb", "a;b", &"v".repeat(257)] {
            assert_eq!(faults(&[("a", value)]), [TagFault::Value], "{value:?}");
        }
        for key in ["aws:a", "AWS:a", "aWs:"] {
            assert_eq!(faults(&[(key, "")]), [TagFault::Reserved], "{key}");
        }
        assert_eq!(faults(&[("Team", ""), ("team", "")]), [TagFault::Case]);
    }

    #[test]
    fn the_number_of_tags_is_bounded() {
        let tags = |count: usize| (0..count).map(|n| (format!("t{n}"), String::new())).collect();
        assert_eq!(find_tag_problems(&tags(50)), []);
        assert_eq!(find_tag_problems(&tags(51)), [ConfigProblem::TooManyTags { count: 51 }]);
    }
}
