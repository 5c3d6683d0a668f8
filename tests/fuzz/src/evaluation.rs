//! Evaluation of formulas.

use std::sync::LazyLock;

use cellar_functions::limits::Limits;
use cellar_functions::{
    ArrayMode, CellSource, DateOrder, EvaluationContext, Formula, SheetIndex, Size, evaluate,
    function_names,
};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{ErrorCode, Value};

/// Work and memory of one evaluation, so that an input takes milliseconds.
const LIMITS: Limits = Limits { cells_read: 100_000, steps: 100_000, created_bytes: 10_000_000 };
const SHEETS: [&str; 2] = ["Sheet1", "Data"];
const USED: Size = Size { rows: 5, columns: 4 };
/// Bytes from this one on are not part of a formula in ASCII.
const FUNCTION: u8 = 128;

/// Two small sheets with values of all types, some formulas, a name and a spilled array.
struct SmallSheets;

impl CellSource for SmallSheets {
    fn grid_size(&self) -> Size {
        Size { rows: 1 << 30, columns: 1 << 22 }
    }

    fn sheet_count(&self) -> u32 {
        2
    }

    fn sheet_index(&self, name: &str) -> Option<SheetIndex> {
        let place = SHEETS.iter().position(|sheet| sheet.eq_ignore_ascii_case(name))?;
        u32::try_from(place).ok()
    }

    fn sheet_name(&self, sheet: SheetIndex) -> Option<String> {
        SHEETS.get(sheet as usize).map(|name| (*name).to_owned())
    }

    fn used_size(&self, _sheet: SheetIndex) -> Size {
        USED
    }

    fn cell(&self, sheet: SheetIndex, cell: CellName) -> Value {
        if cell.row >= USED.rows || cell.column >= USED.columns {
            return Value::Empty;
        }
        match (cell.row + cell.column * 3 + sheet) % 8 {
            0 => Value::Empty,
            1 => Value::Number(1.0),
            2 => Value::Number(-2.5),
            3 => Value::Text("abc".to_owned()),
            4 => Value::Text("1/2/2024".to_owned()),
            5 => Value::Bool(true),
            6 => Value::Error(ErrorCode::NotAvailable),
            _ => Value::Number(45_000.25),
        }
    }

    fn formula(&self, _sheet: SheetIndex, cell: CellName) -> Option<String> {
        (cell.row == 1).then(|| "=SUBTOTAL(9,A1:A3)".to_owned())
    }

    fn defined_name(&self, _sheet: SheetIndex, name: &str) -> Option<String> {
        match name {
            "RATE_X" => Some("=Sheet1!$A$1:$B$2".to_owned()),
            // A name may refer to itself.
            "LOOP_X" => Some("=1+loop_x".to_owned()),
            _ => None,
        }
    }

    fn spilled_area(&self, _sheet: SheetIndex, cell: CellName) -> Option<Rectangle> {
        let last = CellName { row: 2, column: 1 };
        (cell == CellName { row: 0, column: 0 }).then_some(Rectangle { first: cell, last })
    }

    fn is_row_hidden(&self, _sheet: SheetIndex, row: u32) -> bool {
        row == 2
    }
}

/// Returns the formula of an input. A byte from 128 on and the byte after it are a function, because
/// random bytes seldom spell one.
fn formula_text(bytes: &[u8], names: &[&str]) -> String {
    let mut text = String::from("=");
    let mut bytes = bytes.iter();
    while let Some(byte) = bytes.next() {
        if *byte < FUNCTION {
            text.push(char::from(*byte));
            continue;
        }
        let high = usize::from(*byte - FUNCTION);
        let number = high * 256 + usize::from(bytes.next().copied().unwrap_or_default());
        text.push_str(names.get(number % names.len().max(1)).unwrap_or(&"SUM"));
        text.push('(');
    }
    text
}

/// Evaluates a formula twice, as an array and with implicit intersection. Both evaluations have the
/// same result, and end within their limits.
pub fn check_evaluation(bytes: &[u8]) {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(function_names);
    let text = formula_text(bytes, &NAMES);
    let Ok(formula) = Formula::parse(&text) else { return };
    for array_mode in [ArrayMode::Spill, ArrayMode::Intersect] {
        let context = EvaluationContext {
            sheet: 0,
            cell: CellName { row: 2, column: 5 },
            now: 46_000.75,
            random_seed: 42,
            date_order: DateOrder::MonthFirst,
            array_mode,
            limits: LIMITS,
        };
        let result = evaluate(&formula, &context, &SmallSheets);
        assert_eq!(evaluate(&formula, &context, &SmallSheets), result, "{text}");
    }
}
