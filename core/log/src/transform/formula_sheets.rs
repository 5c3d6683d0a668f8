//! The sheets that an author's formulas refer to by name.

use std::collections::{BTreeMap, BTreeSet};

use cellar_formula::Formula;
use cellar_formula::reference::{NoSheets, ReferenceSheet, SheetNames};
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{Operation, SheetId};

/// The sheets that an author's formulas may refer to by name. References to a sheet that is missing
/// here do not follow edits. References to the sheet of the formula itself always do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormulaSheets {
    /// Sheets, keyed by the lowercase name that the author saw.
    by_name: BTreeMap<String, FormulaSheet>,
    later_names: BTreeMap<SheetId, String>,
}

/// A sheet that a formula refers to by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaSheet {
    /// Number of the sheet in the state that the author saw.
    pub sheet: SheetId,
    /// Name of the sheet in the later state, or `None` if it no longer exists.
    pub later_name: Option<String>,
}

impl FormulaSheets {
    /// Collects the sheets in `author_tabs`. `later_number` returns the number of a sheet in the
    /// later state.
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

    /// Creates the sheets from stored pairs of a lowercase name and a sheet.
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

    /// Returns whether there are no sheets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns whether every sheet still has the name that the author saw.
    pub(super) fn has_same_names(&self) -> bool {
        self.by_name.iter().all(|(name, sheet)| {
            sheet.later_name.as_ref().is_some_and(|later| later.to_lowercase() == *name)
        })
    }

    /// Returns only the sheets to which formulas in `operations` refer by name.
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

/// Returns whether a formula in the operation may refer to a sheet by name.
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

/// Looks up the numbers that the author saw and the names in the later state.
impl SheetNames for FormulaSheets {
    fn number(&self, name: &str) -> Option<SheetId> {
        self.by_name.get(&name.to_lowercase()).map(|sheet| sheet.sheet)
    }

    fn name(&self, number: SheetId) -> Option<&str> {
        self.later_names.get(&number).map(String::as_str)
    }
}
