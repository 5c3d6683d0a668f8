//! Compares the defined names of two states.

use std::collections::BTreeSet;

use cellar_formula::changes::{MovedLines, SheetLines};
use cellar_formula::reference::{Area, Reference, ReferenceSheet};
use serde::{Deserialize, Serialize};

use super::Workbook;
use crate::metadata::{DefinedName, Tabs};
use cellar_grid::SheetId;

/// A name that differs between two states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NameDiff {
    /// The name.
    pub name: String,
    /// Its formula in the earlier state. Absent if it was not defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Its formula in the later state. Absent if it is not defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Workbook {
    /// Returns the names that differ between this state and a later one. A name whose references only
    /// moved with their cells does not differ, unless a reference was lost.
    pub(super) fn diff_names(
        &self,
        to: &Self,
        lines_of: impl Fn(SheetId) -> Option<SheetLines>,
    ) -> Vec<NameDiff> {
        let moves = self.moves_of_names(lines_of);
        let keys = self.names.iter().chain(to.names.iter()).map(|name| name.name().to_lowercase());
        let keys: BTreeSet<String> = keys.collect();
        let diff_of = |key: String| {
            let (before, after) = (self.names.get(&key), to.names.get(&key));
            let only_moved = before.zip(after).is_some_and(|(before, after)| {
                is_same(before, &self.tabs, after, &to.tabs, &moves)
            });
            let name = after.or(before)?.name().to_owned();
            let before = before.map(|name| name.formula(&self.tabs));
            let after = after.map(|name| name.formula(&to.tabs));
            // A sheet that an undo recovered has another number and the same name.
            let differs = !only_moved && before != after;
            differs.then_some(NameDiff { name, before, after })
        };
        keys.into_iter().filter_map(diff_of).collect()
    }

    /// Returns how the references of the names move, given the maps of the sheets.
    pub(super) fn moves_of_names(
        &self,
        lines_of: impl Fn(SheetId) -> Option<SheetLines>,
    ) -> MovedLines {
        let numbers = self.names.iter().flat_map(DefinedName::references);
        let numbers = numbers.filter_map(|reference| match reference.sheet {
            ReferenceSheet::Numbered(number) => Some(number),
            ReferenceSheet::Own | ReferenceSheet::Unknown(_) => None,
        });
        let numbers: BTreeSet<SheetId> = numbers.collect();
        numbers.into_iter().filter_map(|number| Some((number, lines_of(number)?))).collect()
    }

    /// Returns whether both states have the same names with the same formulas. All deleted references
    /// are equal.
    pub(crate) fn names_display_same(&self, later: &Self) -> bool {
        let text_of = |name: &DefinedName, tabs: &Tabs| {
            (name.name().to_owned(), resolved(name, tabs).formula(tabs))
        };
        let old_texts = self.names.iter().map(|name| text_of(name, &self.tabs));
        old_texts.eq(later.names.iter().map(|name| text_of(name, &later.tabs)))
    }
}

/// Returns whether a name only moved from an earlier state to a later one, and lost no reference.
pub(super) fn is_same(
    before: &DefinedName,
    tabs_before: &Tabs,
    after: &DefinedName,
    tabs_after: &Tabs,
    moves: &MovedLines,
) -> bool {
    let lost =
        |name: &DefinedName| name.references().filter(|one| one.area == Area::Deleted).count();
    let (old, new) = (resolved(before, tabs_before), resolved(after, tabs_after));
    resolved(&old.moved(moves), tabs_after) == new && lost(&old) == lost(&new)
}

/// Returns the name with `#REF!` for each reference to a sheet that does not exist.
pub(super) fn resolved(name: &DefinedName, tabs: &Tabs) -> DefinedName {
    name.map_references(|reference| {
        let exists = match reference.sheet {
            ReferenceSheet::Numbered(number) => tabs.name(number).is_some(),
            ReferenceSheet::Own | ReferenceSheet::Unknown(_) => false,
        };
        if exists && reference.area != Area::Deleted {
            return reference.clone();
        }
        Reference { sheet: ReferenceSheet::Own, area: Area::Deleted }
    })
}
