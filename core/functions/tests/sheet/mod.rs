//! A sheet with the numbers 1, 2, 3, … in column A.

use std::cell::Cell;

use cellar_functions::limits::Limits;
use cellar_functions::{
    ArrayMode, Block, CellSource, DateOrder, EvaluationContext, EvaluationError, EvaluationOutcome,
    SheetIndex, Size, evaluate_text,
};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Value;

/// A sheet with the numbers from 1 to this number in column A.
pub(crate) struct Numbers(pub(crate) u32);

thread_local! {
    static CELLS_READ_ALONE: Cell<u32> = const { Cell::new(0) };
}

/// Returns the number of cells that were read individually since the previous call.
#[allow(dead_code, reason = "some test targets do not use it")]
pub(crate) fn cells_read_alone() -> u32 {
    CELLS_READ_ALONE.take()
}

impl CellSource for Numbers {
    fn grid_size(&self) -> Size {
        Size { rows: 1_048_576, columns: 16_384 }
    }

    fn sheet_count(&self) -> u32 {
        1
    }

    fn sheet_index(&self, name: &str) -> Option<SheetIndex> {
        (name == "Sheet1").then_some(0)
    }

    fn sheet_name(&self, _sheet: SheetIndex) -> Option<String> {
        Some("Sheet1".to_owned())
    }

    fn used_size(&self, _sheet: SheetIndex) -> Size {
        Size { rows: self.0, columns: 1 }
    }

    fn cell(&self, _sheet: SheetIndex, cell: CellName) -> Value {
        CELLS_READ_ALONE.set(CELLS_READ_ALONE.get() + 1);
        if cell.column == 0 && cell.row < self.0 {
            Value::Number(f64::from(cell.row + 1))
        } else {
            Value::Empty
        }
    }

    fn visit_column(
        &self,
        _sheet: SheetIndex,
        _column: u32,
        first_row: u32,
        last_row: u32,
        visit: &mut dyn FnMut(Block<'_>) -> bool,
    ) {
        const BLOCK_ROWS: u32 = 4_096;
        let mut row = first_row;
        while row <= last_row {
            let end = (row + BLOCK_ROWS).min(last_row + 1);
            let numbers: Vec<f64> = (row..end).map(|row| f64::from(row + 1)).collect();
            if !visit(Block::Numbers(&numbers)) {
                return;
            }
            row = end;
        }
    }
}

pub(crate) fn evaluate_with(
    source: &dyn CellSource,
    formula: &str,
    limits: Limits,
) -> Result<EvaluationOutcome, EvaluationError> {
    let context = EvaluationContext {
        sheet: 0,
        cell: CellName { row: 0, column: 5 },
        now: 46_000.75,
        random_seed: 42,
        date_order: DateOrder::MonthFirst,
        array_mode: ArrayMode::Spill,
        limits,
    };
    evaluate_text(formula, &context, source)
}

#[allow(dead_code, reason = "some test targets do not use it")]
pub(crate) fn evaluate_over(
    source: &dyn CellSource,
    formula: &str,
) -> Result<EvaluationOutcome, EvaluationError> {
    evaluate_with(source, formula, Limits::default())
}
