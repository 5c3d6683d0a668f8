//! Creates valid sheet names for Excel.

use std::collections::BTreeSet;

/// Maximum sheet name length in Excel, in UTF-16 code units.
const MAX_NAME_UNITS: usize = 31;

#[derive(Debug, Default)]
pub(super) struct SheetNames {
    /// Sheet names in lower case, because Excel ignores letter case when it compares names.
    used_names: BTreeSet<String>,
}

impl SheetNames {
    /// Returns a name that Excel allows and that no other sheet has. The name is as similar to
    /// `name` as possible. Marks the name as used.
    pub(super) fn choose_name(&mut self, name: &str) -> String {
        let allowed_name = to_allowed_name(name);
        let mut candidate = with_suffix(&allowed_name, "");
        let mut number = 2_u64;
        while self.used_names.contains(&candidate.to_lowercase()) {
            candidate = with_suffix(&allowed_name, &format!(" ({number})"));
            number += 1;
        }
        self.used_names.insert(candidate.to_lowercase());
        candidate
    }
}

/// Replaces characters that Excel does not allow, and extends empty or reserved names.
fn to_allowed_name(name: &str) -> String {
    let replace_forbidden_character = |character: char| match character {
        '[' | ']' | ':' | '*' | '?' | '/' | '\\' => '_',
        _ if character.is_control() => '_',
        _ => character,
    };
    let replaced_name: String = name.chars().map(replace_forbidden_character).collect();
    let trimmed_name = replaced_name.trim_matches('\'');
    // "History" is a name that Excel reserves.
    let is_forbidden = trimmed_name.is_empty() || trimmed_name.eq_ignore_ascii_case("history");
    if is_forbidden { format!("{trimmed_name}_") } else { trimmed_name.to_owned() }
}

/// Truncates `name` if the result would be too long.
fn with_suffix(name: &str, suffix: &str) -> String {
    let max_name_units = MAX_NAME_UNITS.saturating_sub(suffix.len());
    let mut truncated_name = String::new();
    let mut unit_count = 0;
    for character in name.chars() {
        unit_count += character.len_utf16();
        if unit_count > max_name_units {
            break;
        }
        truncated_name.push(character);
    }
    // Excel does not allow a name that ends with an apostrophe.
    let allowed_name = truncated_name.trim_end_matches('\'');
    format!("{allowed_name}{suffix}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chooses_allowed_and_unique_names() {
        let mut names = SheetNames::default();
        for (name, expected) in [
            ("Prices", "Prices"),
            ("PRICES", "PRICES (2)"),
            ("a/b:[c]*?\\", "a_b__c____"),
            ("'quoted'", "quoted"),
            ("", "_"),
            ("''", "_ (2)"),
            ("History", "History_"),
            ("tab\there", "tab_here"),
        ] {
            assert_eq!(names.choose_name(name), expected);
        }
        let longest = "x".repeat(MAX_NAME_UNITS);
        assert_eq!(names.choose_name(&longest), longest);
        assert_eq!(
            names.choose_name(&format!("{longest}y")),
            format!("{} (2)", "x".repeat(MAX_NAME_UNITS - 4))
        );
        assert_eq!(names.choose_name(&"😀".repeat(20)).chars().count(), 15);
    }

    proptest! {
        #[test]
        fn excel_allows_every_chosen_name(given in proptest::collection::vec("\\PC{0,40}|[a'\\[/]{0,33}", 1..6)) {
            let mut names = SheetNames::default();
            let mut workbook = rust_xlsxwriter::Workbook::new();
            for name in given {
                workbook.add_worksheet().set_name(names.choose_name(&name)).unwrap();
            }
            prop_assert!(workbook.save_to_buffer().is_ok());
        }
    }
}
