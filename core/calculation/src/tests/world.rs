//! A spreadsheet for tests that supplies cells to calculations.

use std::cell::Cell;

use cellar_formula::{Formula, Template};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::{Cell as StoredCell, Value, typed_or_text};
use cellar_sheet::metadata::{DefinedNames, Extent, SheetMetadata, WorkbookMetadata};
use cellar_snapshot::outdated::OutdatedAreas;

use crate::testing::MemoryCells;
use crate::{CalculatedWorkbook, Calculation, CellKey, FormulaResult};

pub(super) fn number(number: f64) -> Value {
    Value::Number(number)
}

#[derive(Debug, Clone, Default)]
pub(super) struct World {
    pub(super) stored: MemoryCells,
    sheets: Vec<String>,
    names: Vec<(String, String)>,
    windows_read: Cell<usize>,
}

impl World {
    pub(super) fn of(cells: &[(&str, &str)]) -> Self {
        let mut world = Self { sheets: vec!["Sheet1".into()], ..Self::default() };
        for (cell, text) in cells {
            world.set(0, cell, text);
        }
        world
    }

    pub(super) fn add_sheet(&mut self, name: &str, cells: &[(&str, &str)]) {
        let sheet = u32::try_from(self.sheets.len()).unwrap();
        self.sheets.push(name.into());
        for (cell, text) in cells {
            self.set(sheet, cell, text);
        }
    }

    pub(super) fn set_name(&mut self, name: &str, formula: &str) {
        self.names.push((name.into(), formula.into()));
    }

    pub(super) fn set(&mut self, sheet: u32, cell: &str, text: &str) {
        let cell: CellName = cell.parse().unwrap();
        self.set_at(sheet, cell.row, cell.column, text);
    }

    pub(super) fn set_at(&mut self, sheet: u32, row: u32, column: u32, text: &str) {
        let is_formula = text.starts_with('=');
        let cell = StoredCell {
            value: if is_formula { Value::Empty } else { typed_or_text(text).value },
            formula: is_formula.then(|| text.to_owned()),
            format: None,
        };
        self.stored.set(SheetId(sheet), (row, column), cell);
    }

    pub(super) fn set_stored(&mut self, sheet: u32, cell: &str, formula: &str, value: Value) {
        let CellName { row, column } = cell.parse().unwrap();
        let cell = StoredCell { value, formula: Some(formula.into()), format: None };
        self.stored.set(SheetId(sheet), (row, column), cell);
    }

    pub(super) fn set_format(&mut self, sheet: u32, cell: &str, format: &str) {
        let CellName { row, column } = cell.parse().unwrap();
        let cell = self.stored.cells.get_mut(&(SheetId(sheet), column, row)).unwrap();
        cell.format = Some(format.into());
    }

    pub(super) fn workbook(&self) -> CalculatedWorkbook {
        const NOON_S: u64 = 1_795_694_400;
        let names = self.sheets.iter().enumerate();
        let tabs =
            names.map(|(index, name)| (SheetId(u32::try_from(index).unwrap()), name.clone()));
        let mut metadata = WorkbookMetadata::default();
        metadata.tabs = cellar_sheet::metadata::Tabs::from_parts(
            tabs.collect(),
            cellar_sheet::metadata::SheetNumbers::default(),
        );
        for index in 0..u32::try_from(self.sheets.len()).unwrap() {
            let mut extent = Extent::default();
            let cells = self.stored.cells.keys().filter(|(sheet, ..)| *sheet == SheetId(index));
            for (_, column, row) in cells {
                extent.rows = extent.rows.max(row + 1);
                extent.columns = extent.columns.max(column + 1);
            }
            let sheet = SheetMetadata { extent, ..SheetMetadata::default() };
            metadata.sheets.insert(SheetId(index), sheet);
        }
        let stored = self.names.iter().map(|(name, text)| {
            let formula = Formula::parse(text, &metadata.tabs).unwrap();
            let template = Template::of(&formula, CellName { row: 0, column: 0 });
            (name.clone(), template.encoded().to_owned())
        });
        metadata.names = DefinedNames::from_stored(stored).unwrap();
        CalculatedWorkbook::new(&metadata, NOON_S, 7)
    }

    pub(super) fn calculation(&self) -> Calculation {
        Calculation::new(self.workbook(), OutdatedAreas::everything())
    }

    /// Returns a calculation that knows the cells that results fill.
    pub(super) fn spilled_calculation(&self) -> Calculation {
        self.stored.calculation(&self.workbook())
    }

    /// Runs a started request to completion by supplying the requested cells and texts.
    pub(super) fn run(&self, calculation: &mut Calculation) {
        let windows_read = self.stored.answer(calculation);
        self.windows_read.set(self.windows_read.get() + windows_read);
    }

    pub(super) fn windows_read(&self) -> usize {
        self.windows_read.get()
    }

    pub(super) fn results(
        &self,
        calculation: &mut Calculation,
        cells: &[&str],
    ) -> Vec<FormulaResult> {
        let key = |cell: &&str| CellKey { sheet: SheetId(0), cell: cell.parse().unwrap() };
        let keys: Vec<CellKey> = cells.iter().map(key).collect();
        calculation.start(keys.clone());
        self.run(calculation);
        keys.iter().map(|key| calculation.result(*key).unwrap()).collect()
    }

    pub(super) fn values(&self, calculation: &mut Calculation, cells: &[&str]) -> Vec<Value> {
        let results = self.results(calculation, cells);
        assert!(results.iter().all(|result| !result.is_stale), "{results:?}");
        results.into_iter().map(|result| result.value).collect()
    }
}
