//! Sheet names: unique, ignoring case.

use std::collections::{BTreeMap, BTreeSet};

use crate::sheet_id::SheetId;
use cellar_base::limits::MAX_SHEET_NAME_CHARACTERS;

/// Sheets by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Names {
    /// Ordered by length first, so that numbered names of one length are adjacent and in numeric
    /// order.
    by_folded: BTreeMap<(usize, String), SheetId>,
}

fn key(name: &str) -> (usize, String) {
    let folded = name.to_lowercase();
    (folded.len(), folded)
}

impl Names {
    /// Returns the sheet with a name.
    pub(super) fn get(&self, name: &str) -> Option<SheetId> {
        self.by_folded.get(&key(name)).copied()
    }

    pub(super) fn insert(&mut self, name: &str, sheet: SheetId) {
        self.by_folded.insert(key(name), sheet);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.by_folded.remove(&key(name));
    }

    /// Returns the name, or the name with the first free number appended if another sheet than
    /// `own` has it.
    pub(super) fn free(&self, name: &str, own: Option<SheetId>) -> String {
        if self.get(name).is_none_or(|sheet| Some(sheet) == own) {
            return name.to_owned();
        }
        // With one more number than there are sheets, at least one is free.
        let most = self.by_folded.len().saturating_add(2);
        let (mut first, mut digits) = (2_usize, 1_usize);
        while first <= most {
            let end = 10_usize.saturating_pow(u32::try_from(digits).unwrap_or(u32::MAX));
            let stem = stem(name, digits);
            let taken = self.numbers(&stem, digits, own);
            if let Some(free) = (first..end).find(|number| !taken.contains(number)) {
                return format!("{stem}{free})");
            }
            (first, digits) = (end, digits.saturating_add(1));
        }
        name.to_owned()
    }

    /// Returns the numbers with this many digits that sheets other than `own` have after a stem.
    fn numbers(&self, stem: &str, digits: usize, own: Option<SheetId>) -> BTreeSet<usize> {
        let stem = stem.to_lowercase();
        let length = stem.len().saturating_add(digits).saturating_add(")".len());
        let behind = self.by_folded.range((length, stem.clone())..);
        let alike = behind.map_while(|((other, name), sheet)| {
            (*other == length).then_some(())?;
            Some((name.strip_prefix(stem.as_str())?, *sheet))
        });
        let numbers = alike.filter(|(_, sheet)| Some(*sheet) != own).filter_map(|(rest, _)| {
            let number = rest.strip_suffix(')')?;
            let plain = !number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit());
            if plain { number.parse().ok() } else { None }
        });
        numbers.collect()
    }
}

/// Returns the part of a name before a number of this many digits, truncated to the maximum length.
fn stem(name: &str, digits: usize) -> String {
    let around = " ()".len().saturating_add(digits);
    let room = MAX_SHEET_NAME_CHARACTERS.saturating_sub(around);
    let cut: String = name.chars().take(room).collect();
    format!("{} (", cut.trim_end())
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

    /// The plain idea: try one number after the other.
    fn tried(names: &Names, name: &str, own: Option<SheetId>) -> String {
        let taken = |name: &str| names.get(name).is_some_and(|sheet| Some(sheet) != own);
        let numbered = |number: usize| {
            let suffix = format!(" ({number})");
            let room = MAX_SHEET_NAME_CHARACTERS - suffix.len();
            let cut: String = name.chars().take(room).collect();
            format!("{}{suffix}", cut.trim_end())
        };
        let mut candidates = std::iter::once(name.to_owned()).chain((2..).map(numbered));
        candidates.find(|candidate| !taken(candidate)).unwrap()
    }

    #[test]
    fn the_first_free_number_is_found_whatever_is_between() {
        let names = named(&["A", "a (2)", "A (3)", "a (+4)", "a (04)", "a (5)", "A (4", "a (4) "]);
        assert_eq!(names.free("B", None), "B");
        assert_eq!(names.free("a", None), "a (4)");
        assert_eq!(names.free("A", Some(SheetId(0))), "A");
        assert_eq!(names.free("A", Some(SheetId(1))), "A (2)");
    }

    #[test]
    fn numbers_go_on_where_they_get_longer() {
        for name in
            ["A", "Σας ΑΣ", "a name of thirty-one characters", "a name with a blank there at  e"]
        {
            let mut names = Names::default();
            for id in 0..1_200 {
                let free = names.free(name, None);
                assert!(free.chars().count() <= MAX_SHEET_NAME_CHARACTERS);
                assert_eq!(free, tried(&names, name, None));
                names.insert(&free, SheetId(id));
            }
            names.remove(&tried(&named(&[name]), name, None));
            assert_eq!(names.free(name, None), tried(&names, name, None));
        }
    }

    proptest! {
        #[test]
        fn it_is_what_trying_finds(
            taken in proptest::collection::vec("[aAΣσςİẞ ]{1,3}( \\([0+]?[1-9]{1,2}\\))?", 0..30),
            name in "[aAΣσςİẞ]{1,3}",
            own in proptest::option::of(0..4_u32),
        ) {
            let names = named(&taken.iter().map(String::as_str).collect::<Vec<_>>());
            let own = own.map(SheetId);
            prop_assert_eq!(names.free(&name, own), tried(&names, &name, own));
        }
    }
}
