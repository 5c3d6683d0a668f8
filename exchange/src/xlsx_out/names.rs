//! Names of sheets that Excel takes.

use std::collections::BTreeSet;

/// Characters of a sheet's name, in Excel.
const MAX_CHARACTERS: usize = 31;

/// Names that have been given.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// In lower case: Excel does not tell them apart by case.
    used: BTreeSet<String>,
}

impl Names {
    /// The name itself if Excel takes it, else one that is as near as can be.
    pub(super) fn legal(&mut self, name: &str) -> String {
        let allowed = |character: char| match character {
            '[' | ']' | ':' | '*' | '?' | '/' | '\\' => '_',
            character if character.is_control() => '_',
            character => character,
        };
        let name: String = name.chars().map(allowed).collect();
        let name = name.trim_matches('\'');
        // Excel keeps this one for itself.
        let reserved = name.is_empty() || name.eq_ignore_ascii_case("history");
        let name = if reserved { format!("{name}_") } else { name.to_owned() };
        let mut found = cut(&name, "");
        let mut number = 2_u64;
        while !self.used.insert(found.to_lowercase()) {
            found = cut(&name, &format!(" ({number})"));
            number = number.saturating_add(1);
        }
        found
    }
}

/// As much of a name as fits with what is behind it.
fn cut(name: &str, suffix: &str) -> String {
    let room = MAX_CHARACTERS.saturating_sub(suffix.len());
    let mut units = 0;
    let fits = |character: &char| {
        units += character.len_utf16();
        units <= room
    };
    let mut cut: String = name.chars().take_while(fits).collect();
    // An apostrophe at an end is not allowed.
    while cut.ends_with('\'') {
        cut.pop();
    }
    cut.push_str(suffix);
    cut
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names() {
        let mut names = Names::default();
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
            assert_eq!(names.legal(name), expected);
        }
        let longest = "x".repeat(MAX_CHARACTERS);
        assert_eq!(names.legal(&longest), longest);
        assert_eq!(
            names.legal(&format!("{longest}y")),
            format!("{} (2)", "x".repeat(MAX_CHARACTERS - 4))
        );
        assert_eq!(names.legal(&"😀".repeat(20)).chars().count(), 15);
    }

    proptest! {
        #[test]
        fn excel_takes_every_name(given in proptest::collection::vec("\\PC{0,40}|[a'\\[/]{0,33}", 1..6)) {
            let mut names = Names::default();
            let mut workbook = rust_xlsxwriter::Workbook::new();
            for name in given {
                workbook.add_worksheet().set_name(names.legal(&name)).unwrap();
            }
            prop_assert!(workbook.save_to_buffer().is_ok());
        }
    }
}
