//! `tags:` of `cellar.yaml`, within the limits that all of the stack's services share.

use std::collections::{BTreeMap, HashSet};

use super::error::{ConfigProblem, TagFault};
use super::limits::{TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX};

/// Everything that is wrong with tags.
pub(super) fn check(tags: &BTreeMap<String, String>, problems: &mut Vec<ConfigProblem>) {
    if tags.len() > TAGS_MAX {
        problems.push(ConfigProblem::TooManyTags { count: tags.len() });
    }
    let mut seen = HashSet::new();
    for (key, value) in tags {
        let fault = if !is_within(key, 1, TAG_KEY_CHARS_MAX) {
            TagFault::Key
        } else if is_of_aws(key) {
            TagFault::Reserved
        } else if !seen.insert(key.to_lowercase()) {
            TagFault::Case
        } else if !is_within(value, 0, TAG_VALUE_CHARS_MAX) {
            TagFault::Value
        } else {
            continue;
        };
        problems.push(ConfigProblem::Tag { key: key.clone(), fault });
    }
}

/// A prefix that nobody else may use, in any case.
fn is_of_aws(key: &str) -> bool {
    key.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("aws:"))
}

/// The characters that every service takes.
fn is_within(text: &str, from: usize, to: usize) -> bool {
    let is_fine = |letter: char| {
        letter.is_alphanumeric()
            || matches!(letter, ' ' | '_' | '.' | ':' | '/' | '=' | '+' | '-' | '@')
    };
    (from..=to).contains(&text.chars().count()) && text.trim() == text && text.chars().all(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(tags: &[(&str, &str)]) -> Vec<TagFault> {
        let mut problems = Vec::new();
        let owned = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        check(&owned.collect(), &mut problems);
        let fault = |problem| match problem {
            ConfigProblem::Tag { fault, .. } => fault,
            other => panic!("{other}"),
        };
        problems.into_iter().map(fault).collect()
    }

    #[test]
    fn tags_are_what_every_service_takes() {
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
    fn as_many_tags_as_a_resource_takes() {
        let tags = |count: usize| (0..count).map(|n| (format!("t{n}"), String::new())).collect();
        let mut problems = Vec::new();
        check(&tags(50), &mut problems);
        assert_eq!(problems, []);
        check(&tags(51), &mut problems);
        assert_eq!(problems, [ConfigProblem::TooManyTags { count: 51 }]);
    }
}
