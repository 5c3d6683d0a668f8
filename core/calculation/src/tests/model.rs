//! A recursive evaluator whose results serve as a reference for tests.

use std::cell::RefCell;
use std::collections::HashMap;

use cellar_functions::{
    ArrayMode, CellSource, DateOrder, EvaluationContext, EvaluationOutcome, Formula, SheetIndex,
    Size, evaluate, limits::Limits,
};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};

use super::world::World;
use crate::{CalculatedWorkbook, CellKey};

/// Evaluates each formula recursively when its cell is read.
pub(super) struct Model<'a> {
    world: &'a World,
    workbook: CalculatedWorkbook,
    results: RefCell<HashMap<(u32, CellName), Value>>,
    /// Values of formula cells that are used instead of evaluating their formulas.
    fixed: HashMap<(u32, CellName), Value>,
}

impl<'a> Model<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        let (results, fixed) = (RefCell::default(), HashMap::new());
        Self { world, workbook: world.workbook(), results, fixed }
    }

    /// Creates a model in which formula cells have the values in `fixed`.
    pub(super) fn with_fixed(world: &'a World, fixed: HashMap<(u32, CellName), Value>) -> Self {
        Self { fixed, ..Self::new(world) }
    }

    /// Evaluates the formula of a cell, even if its result is already known.
    pub(super) fn evaluate(&self, sheet: u32, cell: CellName) -> Value {
        let test_cell = &self.world.cells[&(sheet, cell.column, cell.row)];
        let context = EvaluationContext {
            sheet,
            cell,
            now: self.workbook.now(),
            random_seed: self.workbook.seed_of(CellKey { sheet: SheetId(sheet), cell }),
            date_order: DateOrder::default(),
            array_mode: ArrayMode::Spill,
            limits: Limits::default(),
        };
        let formula = Formula::parse(test_cell.formula.as_ref().unwrap()).unwrap();
        match evaluate(&formula, &context, self).unwrap() {
            EvaluationOutcome::Value(value) => value,
            EvaluationOutcome::Array(_) => Value::Error(ErrorCode::Spill),
        }
    }
}

impl CellSource for Model<'_> {
    fn grid_size(&self) -> Size {
        Size { rows: cellar_base::limits::MAX_ROWS, columns: cellar_base::limits::MAX_COLUMNS }
    }

    fn sheet_count(&self) -> u32 {
        self.workbook.sheet_count()
    }

    fn sheet_index(&self, name: &str) -> Option<SheetIndex> {
        self.workbook.index_named(name)
    }

    fn sheet_name(&self, sheet: SheetIndex) -> Option<String> {
        self.workbook.sheet_at(sheet).map(|(_, name, _)| name.clone())
    }

    fn used_size(&self, sheet: SheetIndex) -> Size {
        let extent = self.workbook.extent(SheetId(sheet));
        Size { rows: extent.rows, columns: extent.columns }
    }

    fn cell(&self, sheet: SheetIndex, cell: CellName) -> Value {
        let Some(test_cell) = self.world.cells.get(&(sheet, cell.column, cell.row)) else {
            return Value::Empty;
        };
        if test_cell.formula.is_none() {
            return test_cell.value.clone();
        }
        if let Some(fixed) = self.fixed.get(&(sheet, cell)) {
            return fixed.clone();
        }
        if let Some(result) = self.results.borrow().get(&(sheet, cell)) {
            return result.clone();
        }
        let result = self.evaluate(sheet, cell);
        self.results.borrow_mut().insert((sheet, cell), result.clone());
        result
    }

    fn defined_name(&self, _: SheetIndex, name: &str) -> Option<String> {
        self.workbook.named_formula(name).map(str::to_owned)
    }
}
