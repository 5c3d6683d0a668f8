//! A spreadsheet for tests that supplies cells to calculations.

use std::cell::Cell;
use std::collections::BTreeMap;

use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_formula::{Formula, Template};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::{Value, typed_or_text};
use cellar_sheet::metadata::{DefinedNames, Extent, SheetMetadata, WorkbookMetadata};
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

use crate::{CalculatedWorkbook, Calculation, CalculationStep, CellKey, CellWindow, FormulaResult};

pub(super) fn number(number: f64) -> Value {
    Value::Number(number)
}

/// Returns a fake hash that consists of the length and the first bytes of the text.
fn hash_of(text: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&text.len().to_be_bytes());
    hash[8..].copy_from_slice(&text.as_bytes()[..24]);
    hash
}

/// A cell of the test spreadsheet: a value, or a formula with its stored value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TestCell {
    pub(super) value: Value,
    pub(super) formula: Option<String>,
    pub(super) format: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct World {
    /// Cells, keyed by sheet, column and row.
    pub(super) cells: BTreeMap<(u32, u32, u32), TestCell>,
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
        let cell = TestCell {
            value: if is_formula { Value::Empty } else { typed_or_text(text).value },
            formula: is_formula.then(|| text.to_owned()),
            format: None,
        };
        self.cells.insert((sheet, column, row), cell);
    }

    pub(super) fn set_stored(&mut self, sheet: u32, cell: &str, formula: &str, value: Value) {
        let CellName { row, column } = cell.parse().unwrap();
        let cell = TestCell { value, formula: Some(formula.into()), format: None };
        self.cells.insert((sheet, column, row), cell);
    }

    pub(super) fn set_format(&mut self, sheet: u32, cell: &str, format: &str) {
        let CellName { row, column } = cell.parse().unwrap();
        self.cells.get_mut(&(sheet, column, row)).unwrap().format = Some(format.into());
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
            for (_, column, row) in self.cells.keys().filter(|(sheet, ..)| *sheet == index) {
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
        Calculation::new(self.workbook())
    }

    pub(super) fn tile(&self, window: &CellWindow) -> Tile {
        let CellWindow { sheet, window } = window;
        let mut tile = Tile::default();
        for column in window.columns.clone() {
            let mut tile_column = TileColumn::new(column);
            let rows = (sheet.0, column, window.rows.start)..(sheet.0, column, window.rows.end);
            for ((_, _, row), cell) in self.cells.range(rows) {
                match &cell.value {
                    Value::Text(text) if text.len() > MAX_TILE_TEXT_BYTES => {
                        let bytes = u32::try_from(text.len()).unwrap();
                        tile_column.values.push_long_text(*row, "preview", hash_of(text), bytes);
                    }
                    Value::Text(text) => tile_column.values.push_text(*row, text),
                    Value::Number(number) => {
                        tile_column.values.push(*row, TileValue::Number(*number));
                    }
                    Value::Bool(value) => tile_column.values.push(*row, TileValue::Bool(*value)),
                    Value::Error(code) => tile_column.values.push(*row, TileValue::Error(*code)),
                    Value::Empty => tile_column.values.push(*row, TileValue::Empty),
                }
                if let Some(format) = &cell.format {
                    tile_column.formats.push(*row, format);
                }
                if let Some(formula) = &cell.formula {
                    tile_column.formulas.push(*row, formula);
                }
            }
            if !tile_column.is_empty() {
                tile.columns.push(tile_column);
            }
        }
        tile
    }

    /// Runs a started request to completion by supplying the requested cells and texts.
    pub(super) fn run(&self, calculation: &mut Calculation) {
        /// More steps than any test needs.
        const MAX_STEPS: usize = 100_000;
        for _ in 0..MAX_STEPS {
            match calculation.step() {
                CalculationStep::Done => return,
                CalculationStep::Cells(windows) => {
                    assert!(!windows.is_empty());
                    for window in windows {
                        self.windows_read.set(self.windows_read.get() + 1);
                        calculation.supply(&window, &self.tile(&window));
                    }
                }
                CalculationStep::LongTexts(hashes) => {
                    for hash in hashes {
                        let is_wanted = |text: &&String| hash_of(text) == hash;
                        let text = self.texts().find(is_wanted).unwrap();
                        calculation.supply_text(&hash, Some(text.clone()));
                    }
                }
            }
        }
        panic!("the calculation does not end");
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        self.cells.values().filter_map(|cell| match &cell.value {
            Value::Text(text) => Some(text),
            _ => None,
        })
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
