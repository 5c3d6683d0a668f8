//! The sheets that the formulas of an imported sheet name.

use std::collections::BTreeMap;

use super::ImportSheet;
use crate::metadata::Tabs;
use cellar_formula::reference::SheetNames;
use cellar_grid::SheetId;

/// The sheets that the formulas of an imported sheet name, by the names in the file. Case is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetsOfFile(BTreeMap<String, SheetId>);

impl SheetsOfFile {
    /// Returns the sheets that the formulas of an import name.
    #[must_use]
    pub fn of(import: &ImportSheet) -> Self {
        let sheets = import.sheets.iter();
        Self(sheets.map(|(name, number)| (name.to_lowercase(), *number)).collect())
    }

    /// Returns whether no sheet has a name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of the sheet that had the name in the file.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<SheetId> {
        if self.0.is_empty() { None } else { self.0.get(&name.to_lowercase()).copied() }
    }
}

/// The sheets to which names in the formulas of an imported sheet refer.
#[derive(Debug, Clone, Copy)]
pub struct NamesInFile<'a> {
    /// The sheets of the file, which have precedence. `None` for formulas that are not imported.
    pub file: Option<&'a SheetsOfFile>,
    /// The sheets of the spreadsheet.
    pub tabs: &'a Tabs,
}

impl SheetNames for NamesInFile<'_> {
    fn number(&self, name: &str) -> Option<SheetId> {
        let in_file = self.file.and_then(|file| file.number(name));
        in_file.or_else(|| self.tabs.named(name))
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        self.tabs.name(sheet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extent::Extent;
    use crate::operation::random::import_of;

    #[test]
    fn sheets_of_the_file_have_precedence_and_case_is_ignored() {
        let sheets = BTreeMap::from([("Größe".to_owned(), SheetId(4))]);
        let file = SheetsOfFile::of(&ImportSheet { sheets, ..import_of(Extent::default()) });
        assert_eq!((file.number("GRÖßE"), file.number("x")), (Some(SheetId(4)), None));
        let tabs = Tabs::default();
        let first_name = tabs.name(SheetId::FIRST).unwrap().to_owned();
        let names = NamesInFile { file: Some(&file), tabs: &tabs };
        assert_eq!(names.number("größe"), Some(SheetId(4)));
        assert_eq!(names.number(&first_name), Some(SheetId::FIRST));
        let sheets = BTreeMap::from([(first_name.to_lowercase(), SheetId(4))]);
        let file = SheetsOfFile::of(&ImportSheet { sheets, ..import_of(Extent::default()) });
        let names = NamesInFile { file: Some(&file), tabs: &tabs };
        assert_eq!(names.number(&first_name), Some(SheetId(4)));
    }
}
