//! Creates sheet names that Excel allows.

use std::collections::BTreeSet;

/// Maximum sheet name length in Excel, in UTF-16 code units.
const MAX_CHARACTERS: usize = 31;

/// Sheet names already used in a workbook.
#[derive(Debug, Default)]
pub(super) struct SheetNames {
    /// Names in lowercase, because Excel compares names case-insensitively.
    used: BTreeSet<String>,
}

impl SheetNames {
    /// Returns an unused name that Excel allows and that is as similar to `name` as possible.
    /// Records the name as used.
    pub(super) fn choose(&mut self, name: &str) -> String {
        let replace_forbidden = |character: char| match character {
            '[' | ']' | ':' | '*' | '?' | '/' | '\\' => '_',
            character if character.is_control() => '_',
            character => character,
        };
        let name: String = name.chars().map(replace_forbidden).collect();
        let name = name.trim_matches('\'');
        // "History" is a reserved name in Excel.
        let is_forbidden = name.is_empty() || name.eq_ignore_ascii_case("history");
        let name = if is_forbidden { format!("{name}_") } else { name.to_owned() };
        let mut candidate = truncate(&name, "");
        let mut number = 2_u64;
        while !self.used.insert(candidate.to_lowercase()) {
            candidate = truncate(&name, &format!(" ({number})"));
            number += 1;
        }
        candidate
    }
}

/// Appends `suffix` to `name`, truncating `name` to keep the result within the maximum length.
fn truncate(name: &str, suffix: &str) -> String {
    let max_units = MAX_CHARACTERS.saturating_sub(suffix.len());
    let mut units = 0;
    let fits = |character: &char| {
        units += character.len_utf16();
        units <= max_units
    };
    let mut truncated: String = name.chars().take_while(fits).collect();
    // Excel does not allow a trailing apostrophe.
    while truncated.ends_with('\'') {
        truncated.pop();
    }
    truncated.push_str(suffix);
    truncated
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
            assert_eq!(names.choose(name), expected);
        }
        let longest = "x".repeat(MAX_CHARACTERS);
        assert_eq!(names.choose(&longest), longest);
        assert_eq!(
            names.choose(&format!("{longest}y")),
            format!("{} (2)", "x".repeat(MAX_CHARACTERS - 4))
        );
        assert_eq!(names.choose(&"😀".repeat(20)).chars().count(), 15);
    }

    proptest! {
        #[test]
        fn excel_allows_every_chosen_name(given in proptest::collection::vec("\\PC{0,40}|[a'\\[/]{0,33}", 1..6)) {
            let mut names = SheetNames::default();
            let mut workbook = rust_xlsxwriter::Workbook::new();
            for name in given {
                workbook.add_worksheet().set_name(names.choose(&name)).unwrap();
            }
            prop_assert!(workbook.save_to_buffer().is_ok());
        }
    }
}
