//! Patterns that are searched in the texts of cells.

use cellar_base::limits::{MAX_REGEX_BYTES, MAX_SEARCH_BYTES};
use regex_lite::{Regex, RegexBuilder};

/// A text to find, ignoring case, or a regular expression.
#[derive(Debug, Clone)]
pub struct TextPattern(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Folded(String),
    Regex(Regex),
}

/// Error for a text that cannot be searched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// The text has no characters, so every cell would contain it.
    #[error("the text to find is empty; pass at least one character")]
    Empty,
    /// The text or regular expression is too long.
    #[error("the text to find has {bytes} bytes; at most {MAX_SEARCH_BYTES} are allowed")]
    TooLong {
        /// Length of the text in bytes.
        bytes: usize,
    },
    /// The regular expression is invalid.
    #[error("the regular expression is invalid: {why}")]
    Regex {
        /// Description of the error.
        why: String,
    },
    /// The compiled regular expression is too large, usually because of its repetitions.
    #[error(
        "the compiled regular expression has more than {MAX_REGEX_BYTES} bytes; use fewer or smaller \
         repetitions"
    )]
    RegexTooLarge,
}

/// Part of the crate's error for a regular expression that is too large.
const SIZE_LIMIT: &str = "size limit";

impl TextPattern {
    /// Creates a pattern that matches texts that contain `text`. Upper and lower case are equal, in
    /// all languages.
    ///
    /// # Errors
    ///
    /// Returns [`BadPattern::Empty`] or [`BadPattern::TooLong`].
    pub fn containing(text: &str) -> Result<Self, BadPattern> {
        check_length(text)?;
        Ok(Self(Kind::Folded(fold(text))))
    }

    /// Creates a pattern that matches texts in which `pattern` matches anywhere, in the syntax of the
    /// crate `regex-lite`. Case matters, unless the pattern starts with `(?i)`. The classes `\d`, `\s`
    /// and `\w`, and `(?i)`, know ASCII characters only.
    ///
    /// # Errors
    ///
    /// Returns a [`BadPattern`] if the pattern is empty or invalid, or exceeds a limit.
    pub fn regex(pattern: &str) -> Result<Self, BadPattern> {
        check_length(pattern)?;
        let compiled = RegexBuilder::new(pattern).size_limit(MAX_REGEX_BYTES).build();
        match compiled {
            Ok(regex) => Ok(Self(Kind::Regex(regex))),
            Err(error) => match error.to_string() {
                why if why.contains(SIZE_LIMIT) => Err(BadPattern::RegexTooLarge),
                why => Err(BadPattern::Regex { why }),
            },
        }
    }

    /// Returns whether the pattern occurs in `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match &self.0 {
            Kind::Folded(folded) => fold(text).contains(folded.as_str()),
            Kind::Regex(regex) => regex.is_match(text),
        }
    }

    /// Returns whether the pattern is a regular expression, which takes more time for each byte of
    /// text.
    #[must_use]
    pub fn is_regex(&self) -> bool {
        matches!(self.0, Kind::Regex(_))
    }
}

fn check_length(text: &str) -> Result<(), BadPattern> {
    match text.len() {
        0 => Err(BadPattern::Empty),
        bytes if bytes > MAX_SEARCH_BYTES => Err(BadPattern::TooLong { bytes }),
        _ => Ok(()),
    }
}

/// Returns `text` in lower case. In contrast to `str::to_lowercase`, the result for a character does not
/// depend on its neighbours, so a part of a text remains a part of it.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contains(text: &str, part: &str) -> bool {
        TextPattern::containing(part).unwrap().matches(text)
    }

    fn finds(text: &str, pattern: &str) -> bool {
        TextPattern::regex(pattern).unwrap().matches(text)
    }

    proptest! {
        #[test]
        fn every_part_of_a_text_is_found_in_any_case(text in "\\PC{1,20}", from in 0_usize..20) {
            let part: String = text.chars().skip(from).collect();
            prop_assume!(!part.is_empty());
            prop_assert!(contains(&text, &part));
            let folded = fold(&part);
            prop_assert!(contains(&text, &folded));
        }

        #[test]
        fn compiling_any_text_does_not_panic(pattern in "[\\\\a-c()\\[\\]{}*+?|.^$0-9-]{0,24}|\\PC{0,24}") {
            if let Ok(regex) = TextPattern::regex(&pattern) {
                let _ = regex.matches("aaaaabbbcc");
            }
        }
    }

    #[test]
    fn contained_texts_ignore_case() {
        assert!(contains("Austin, TX", "tx") && contains("austin, tx", "TX"));
        assert!(contains("ÜBUNG", "übung") && contains("ΣΑΣ", "Σ") && contains("σας", "ΣΑ"));
        assert!(!contains("Austin", "Austin ") && !contains("a", "ä") && !contains("", "a"));
        assert!(contains("a.c", ".") && !contains("abc", "."));
    }

    #[test]
    fn regular_expressions_match_anywhere_and_respect_case() {
        assert!(finds("Austin, TX", "T[XY]$") && !finds("Austin, tx", "T[XY]$"));
        assert!(finds("Austin, tx", "(?i)T[XY]$"));
        assert!(!finds("Austin", "^ustin") && finds("Austin", "^A.*n$"));
    }

    #[test]
    fn limits_the_length_of_patterns() {
        let long = "a".repeat(MAX_SEARCH_BYTES);
        let longer = "a".repeat(MAX_SEARCH_BYTES + 1);
        let error = BadPattern::TooLong { bytes: MAX_SEARCH_BYTES + 1 };
        assert!(TextPattern::containing(&long).is_ok());
        assert_eq!(TextPattern::containing(&longer).unwrap_err(), error);
        assert_eq!(TextPattern::regex(&longer).unwrap_err(), error);
        assert_eq!(TextPattern::containing("").unwrap_err(), BadPattern::Empty);
        assert_eq!(TextPattern::regex("").unwrap_err(), BadPattern::Empty);
    }

    #[test]
    fn limits_the_size_of_compiled_regular_expressions() {
        let fits = |count: u32, bytes: usize| {
            RegexBuilder::new(&format!("a{{{count}}}")).size_limit(bytes).build().is_ok()
        };
        let most = (1..10_000).rev().find(|count| fits(*count, MAX_REGEX_BYTES)).unwrap();
        assert!((100..5_000).contains(&most), "{most}");
        assert!(TextPattern::regex(&format!("a{{{most}}}")).is_ok());
        let refused = |pattern: &str| TextPattern::regex(pattern).unwrap_err();
        assert_eq!(refused(&format!("a{{{}}}", most + 1)), BadPattern::RegexTooLarge);
        assert_eq!(refused("((a{200}){200}){200}"), BadPattern::RegexTooLarge);
        assert_eq!(refused("(?:){4294967295}"), BadPattern::RegexTooLarge);
        let nested = "(".repeat(1_000) + &")".repeat(1_000);
        for pattern in [nested.as_str(), "(", "[", "*", "\\pL"] {
            let error = refused(pattern);
            assert!(matches!(error, BadPattern::Regex { .. }), "{pattern:.20}: {error}");
        }
    }

    /// A backtracking matcher would take longer than the age of the universe.
    #[test]
    fn matching_takes_time_proportional_to_the_text() {
        let text = "a".repeat(100_000);
        assert!(!finds(&text, "(a|a)*(a|a)*(a|a)*b"));
    }
}
