//! Sheets that the formulas of an author name.

use std::collections::{BTreeMap, BTreeSet};

use cellar_formula::Formula;
use cellar_formula::reference::{NoSheets, ReferenceSheet, SheetNames};
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{Operation, SheetId};

/// The sheets that the formulas of an author may name. Without them, only references to the own
/// sheet of a formula can follow edits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormulaSheets {
    /// Keyed by the lowercase name that the author has seen.
    by_name: BTreeMap<String, FormulaSheet>,
    later_names: BTreeMap<SheetId, String>,
}

/// A sheet that a formula names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaSheet {
    /// Number of the sheet for the author.
    pub sheet: SheetId,
    /// Name of the sheet in the later state, or `None` if it no longer exists.
    pub later_name: Option<String>,
}

impl FormulaSheets {
    /// Creates the sheets of `author_tabs`. `later_number` returns the later number of a sheet.
    pub(super) fn new(
        author_tabs: &Tabs,
        later_tabs: &Tabs,
        later_number: impl Fn(SheetId) -> Option<SheetId>,
    ) -> Self {
        let sheets = author_tabs.order().iter().filter_map(|sheet| {
            let later_name = later_number(*sheet).and_then(|number| later_tabs.name(number));
            let later_name = later_name.map(str::to_owned);
            let name = author_tabs.name(*sheet)?.to_lowercase();
            Some((name, FormulaSheet { sheet: *sheet, later_name }))
        });
        Self::from_names(sheets)
    }

    /// Creates the sheets of a stored map, with their lowercase names.
    pub fn from_names(sheets: impl IntoIterator<Item = (String, FormulaSheet)>) -> Self {
        let by_name: BTreeMap<String, FormulaSheet> = sheets.into_iter().collect();
        let later_names = by_name
            .values()
            .filter_map(|FormulaSheet { sheet, later_name }| Some((*sheet, later_name.clone()?)));
        Self { later_names: later_names.collect(), by_name }
    }

    /// Returns the sheets with their lowercase names.
    pub fn names(&self) -> impl Iterator<Item = (&str, &FormulaSheet)> {
        self.by_name.iter().map(|(name, sheet)| (name.as_str(), sheet))
    }

    /// Returns whether no sheet is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns whether all sheets still have the names that the author has seen.
    pub(super) fn has_same_names(&self) -> bool {
        self.by_name.iter().all(|(name, sheet)| {
            sheet.later_name.as_ref().is_some_and(|later| later.to_lowercase() == *name)
        })
    }

    /// Returns only the sheets that the formulas of `operations` name.
    #[must_use]
    pub(super) fn named_in(&self, operations: &[Operation]) -> Self {
        let mut names = BTreeSet::new();
        for operation in operations {
            for text in formulas_with_sheets(operation) {
                let Ok(formula) = Formula::parse(text, &NoSheets) else { continue };
                names.extend(formula.references().filter_map(
                    |placed| match &placed.reference.sheet {
                        ReferenceSheet::Unknown(name) => Some(name.to_lowercase()),
                        ReferenceSheet::Own | ReferenceSheet::Numbered(_) => None,
                    },
                ));
            }
        }
        let named = self.by_name.iter().filter(|(name, _)| names.contains(*name));
        Self::from_names(named.map(|(name, sheet)| (name.clone(), sheet.clone())))
    }
}

/// Returns whether a formula of the operation may name a sheet.
#[must_use]
pub fn may_name_sheets(operation: &Operation) -> bool {
    formulas_with_sheets(operation).next().is_some()
}

fn formulas_with_sheets(operation: &Operation) -> impl Iterator<Item = &str> {
    let cells = match operation {
        Operation::SetCells(set) => set.cells.as_slice(),
        _ => &[],
    };
    let formulas = cells.iter().filter_map(|edit| edit.formula.as_deref());
    formulas.filter(|text| text.contains('!'))
}

/// Numbers are those for the author, and names are those of the later state.
impl SheetNames for FormulaSheets {
    fn number(&self, name: &str) -> Option<SheetId> {
        self.by_name.get(&name.to_lowercase()).map(|sheet| sheet.sheet)
    }

    fn name(&self, number: SheetId) -> Option<&str> {
        self.later_names.get(&number).map(String::as_str)
    }
}
