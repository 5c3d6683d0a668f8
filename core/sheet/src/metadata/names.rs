//! Names of the sheets of a workbook, which are unique when case is ignored.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::limits::MAX_SHEET_NAME_CHARACTERS;
use cellar_grid::SheetId;

/// Maximum number of digits of a number that is appended to a name. A workbook has fewer sheets
/// than there are such numbers.
const MAX_NUMBER_DIGITS: u32 = 9;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Names {
    /// Sheets, keyed by the length and the text of the lowercase name. Names such as `Sheet (2)`
    /// and `Sheet (3)` are therefore adjacent and in numeric order.
    by_lowercase: BTreeMap<(usize, String), SheetId>,
}

fn key(name: &str) -> (usize, String) {
    let lowercase = name.to_lowercase();
    (lowercase.len(), lowercase)
}

impl Names {
    /// Returns the sheet with this name, ignoring case.
    pub(super) fn get(&self, name: &str) -> Option<SheetId> {
        self.by_lowercase.get(&key(name)).copied()
    }

    pub(super) fn insert(&mut self, name: &str, sheet: SheetId) {
        self.by_lowercase.insert(key(name), sheet);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.by_lowercase.remove(&key(name));
    }

    /// Returns `name` if no sheet other than `named_sheet` has this name. Otherwise, returns `name`
    /// with the lowest unused number, such as `Sheet1 (2)`.
    pub(super) fn unique_name(&self, name: &str, named_sheet: Option<SheetId>) -> String {
        let is_unique = self.get(name).is_none_or(|sheet| Some(sheet) == named_sheet);
        if is_unique {
            return name.to_owned();
        }
        // A longer number leaves less space for the name. The numbers with one digit are tried
        // first, then those with two digits, and so on.
        for digit_count in 1..=MAX_NUMBER_DIGITS {
            let stem = stem_before_number(name, digit_count);
            let used_numbers = self.used_numbers(&stem, digit_count, named_sheet);
            for number in numbers_with_digits(digit_count) {
                if !used_numbers.contains(&number) {
                    return format!("{stem}{number})");
                }
            }
        }
        name.to_owned()
    }

    fn used_numbers(
        &self,
        stem: &str,
        digit_count: u32,
        named_sheet: Option<SheetId>,
    ) -> BTreeSet<usize> {
        let lowercase_stem = stem.to_lowercase();
        let name_bytes = lowercase_stem.len() + digit_bytes(digit_count) + ")".len();
        let first_key = (name_bytes, lowercase_stem.clone());
        let mut used_numbers = BTreeSet::new();
        for ((key_bytes, name), sheet) in self.by_lowercase.range(first_key..) {
            let Some(suffix) = name.strip_prefix(lowercase_stem.as_str()) else { break };
            if *key_bytes != name_bytes {
                break;
            }
            if Some(*sheet) != named_sheet {
                used_numbers.extend(suffix.strip_suffix(')').and_then(parse_plain_number));
            }
        }
        used_numbers
    }
}

/// Returns the numbers with `digit_count` digits, without 0 and 1.
fn numbers_with_digits(digit_count: u32) -> std::ops::Range<usize> {
    const FIRST_NUMBER: usize = 2;
    let end = 10_usize.saturating_pow(digit_count);
    (end / 10).max(FIRST_NUMBER)..end
}

fn digit_bytes(digit_count: u32) -> usize {
    usize::try_from(digit_count).unwrap_or(usize::MAX)
}

/// Parses a decimal number without a sign or leading zeros.
fn parse_plain_number(text: &str) -> Option<usize> {
    let is_plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

/// Returns the start of a numbered name, such as `Sheet1 (`. The name is truncated so that
/// `digit_count` digits and a closing parenthesis fit.
fn stem_before_number(name: &str, digit_count: u32) -> String {
    let suffix_characters = " ()".len() + digit_bytes(digit_count);
    let max_name_characters = MAX_SHEET_NAME_CHARACTERS.saturating_sub(suffix_characters);
    let truncated_name: String = name.chars().take(max_name_characters).collect();
    format!("{} (", truncated_name.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(names: &[&str]) -> Names {
        let mut all = Names::default();
        (0..).zip(names).for_each(|(id, name)| all.insert(name, SheetId(id)));
        all
    }

    /// Reference implementation that tries one number after another.
    fn first_free_name(names: &Names, name: &str, own: Option<SheetId>) -> String {
        let taken = |name: &str| names.get(name).is_some_and(|sheet| Some(sheet) != own);
        let numbered = |number: usize| {
            let suffix = format!(" ({number})");
            let max_length = MAX_SHEET_NAME_CHARACTERS - suffix.len();
            let truncated: String = name.chars().take(max_length).collect();
            format!("{}{suffix}", truncated.trim_end())
        };
        let mut candidates = std::iter::once(name.to_owned()).chain((2..).map(numbered));
        candidates.find(|candidate| !taken(candidate)).unwrap()
    }

    #[test]
    fn finds_the_first_free_number_among_similar_names() {
        let names = named(&["A", "a (2)", "A (3)", "a (+4)", "a (04)", "a (5)", "A (4", "a (4) "]);
        assert_eq!(names.unique_name("B", None), "B");
        assert_eq!(names.unique_name("a", None), "a (4)");
        assert_eq!(names.unique_name("A", Some(SheetId(0))), "A");
        assert_eq!(names.unique_name("A", Some(SheetId(1))), "A (2)");
    }

    #[test]
    fn finds_free_numbers_of_more_digits() {
        for name in
            ["A", "Σας ΑΣ", "a name of thirty-one characters", "a name with a blank there at  e"]
        {
            let mut names = Names::default();
            for id in 0..1_200 {
                let free = names.unique_name(name, None);
                assert!(free.chars().count() <= MAX_SHEET_NAME_CHARACTERS);
                assert_eq!(free, first_free_name(&names, name, None));
                names.insert(&free, SheetId(id));
            }
            names.remove(&first_free_name(&named(&[name]), name, None));
            assert_eq!(names.unique_name(name, None), first_free_name(&names, name, None));
        }
    }

    proptest! {
        #[test]
        fn free_name_agrees_with_the_model(
            taken in proptest::collection::vec("[aAΣσςİẞ ]{1,3}( \\([0+]?[1-9]{1,2}\\))?", 0..30),
            name in "[aAΣσςİẞ]{1,3}",
            own in proptest::option::of(0..4_u32),
        ) {
            let names = named(&taken.iter().map(String::as_str).collect::<Vec<_>>());
            let own = own.map(SheetId);
            prop_assert_eq!(names.unique_name(&name, own), first_free_name(&names, &name, own));
        }
    }
}
