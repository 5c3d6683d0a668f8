//! Finds the distinct strings of a list.

use crate::chunk::code_table::{CodeTable, hash_of};
use crate::saturate::to_usize;

/// Number of strings after which the search checks again whether enough strings repeat.
const CHECK_INTERVAL: usize = 1_024;

/// Distinct strings in order of first occurrence, plus one code per string.
pub(super) struct DistinctTexts<'a> {
    pub(super) texts: Vec<&'a str>,
    pub(super) codes: Vec<i64>,
}

impl<'a> DistinctTexts<'a> {
    /// `expected_count` is the approximate number of strings. Returns `None` if hashes collide too
    /// often, or if more than three quarters of the strings are distinct. This limit is checked at
    /// regular intervals and at the end.
    pub(super) fn find_if_repetitive(
        texts: impl Iterator<Item = &'a str>,
        expected_count: usize,
    ) -> Option<Self> {
        let mut distinct = Self { texts: Vec::new(), codes: Vec::with_capacity(expected_count) };
        let mut table = CodeTable::new(expected_count);
        for text in texts {
            let is_equal = |code| distinct.texts.get(to_usize(code)) == Some(&text);
            let code = table.find_or_insert(hash_of(text.as_bytes()), is_equal)?;
            if to_usize(code) == distinct.texts.len() {
                distinct.texts.push(text);
            }
            distinct.codes.push(i64::from(code));
            let is_check_due = distinct.codes.len().is_multiple_of(CHECK_INTERVAL);
            if is_check_due && !distinct.has_enough_repeats() {
                return None;
            }
        }
        if distinct.has_enough_repeats() { Some(distinct) } else { None }
    }

    fn has_enough_repeats(&self) -> bool {
        self.texts.len() <= self.codes.len() / 4 * 3 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_texts_have_codes_in_the_order_in_which_they_come() {
        let texts = ["b", "", "b", "a", "", "b"];
        let distinct = DistinctTexts::find_if_repetitive(texts.into_iter(), 2).unwrap();
        assert_eq!(distinct.texts, ["b", "", "a"]);
        assert_eq!(distinct.codes, [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn texts_that_do_not_repeat_are_given_up() {
        let many: Vec<String> = (0..40_000).map(|number| format!("text {number:x}")).collect();
        let twice = many.iter().flat_map(|text| [text.as_str(), text]);
        let distinct = DistinctTexts::find_if_repetitive(twice, 80_000).unwrap();
        assert_eq!((distinct.texts.len(), distinct.codes.len()), (40_000, 80_000));
        assert_eq!(distinct.codes[79_999], 39_999);
        let never_repeated = many.iter().map(String::as_str);
        assert!(DistinctTexts::find_if_repetitive(never_repeated, 1).is_none(), "none repeats");
    }
}
