//! Results of formualizer for the formulas of workbooks. Each formula reads the values that Excel
//! calculated for the other cells.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cellar_sheet::cell::{ErrorCode, Value};
use formualizer_common::ExcelError;
use formualizer_workbook::{LiteralValue, Workbook, WorkbookConfig};

use crate::Failure;
use crate::works::excel_values::CellFormula;
use crate::works::excel_values::facts;

fn loaded(values: &facts::Workbook) -> Result<Workbook, Failure> {
    let mut workbook = Workbook::new_with_config(WorkbookConfig::ephemeral());
    for sheet in &values.sheets {
        if !workbook.has_sheet(&sheet.name) {
            workbook.add_sheet(&sheet.name)?;
        }
    }
    for sheet in &values.sheets {
        for ((row, column), value) in &sheet.cells {
            workbook.set_value(&sheet.name, row + 1, column + 1, to_literal(value))?;
        }
    }
    Ok(workbook)
}

fn to_literal(value: &Value) -> LiteralValue {
    match value {
        Value::Number(number) => LiteralValue::Number(*number),
        Value::Text(text) => LiteralValue::Text(text.clone()),
        Value::Bool(value) => LiteralValue::Boolean(*value),
        Value::Error(code) => LiteralValue::Error(ExcelError::from_error_string(&code.to_string())),
        _ => LiteralValue::Empty,
    }
}

fn from_literal(literal: LiteralValue) -> Option<Value> {
    Some(match literal {
        LiteralValue::Int(number) => Value::Number(number as f64),
        LiteralValue::Number(number) => Value::Number(number),
        LiteralValue::Text(text) => Value::Text(text),
        LiteralValue::Boolean(value) => Value::Bool(value),
        // A formula shows an empty cell as 0.
        LiteralValue::Empty => Value::Number(0.0),
        LiteralValue::Error(error) => {
            Value::Error(error.kind.to_string().parse::<ErrorCode>().ok()?)
        }
        LiteralValue::Array(rows) => {
            return from_literal(rows.into_iter().next()?.into_iter().next()?);
        }
        other => Value::Number(other.as_serial_number()?),
    })
}

/// Evaluates one formula. Returns `None` if the library refuses it or fails.
fn evaluated(workbook: &mut Workbook, formula: &CellFormula<'_>) -> Option<Value> {
    let sheet = &formula.workbook.sheets[formula.sheet];
    let cell = formula.fact.area.first;
    let (row, column) = (cell.row + 1, cell.column + 1);
    let text = format!("={}", formula.fact.formula.trim_start_matches('='));
    let result = workbook
        .set_formula(&sheet.name, row, column, &text)
        .ok()
        .and_then(|()| workbook.evaluate_cell(&sheet.name, row, column).ok());
    let value = to_literal(sheet.cells.get(&(cell.row, cell.column))?);
    workbook.set_value(&sheet.name, row, column, value).ok()?;
    result.and_then(from_literal)
}

pub(super) fn formualizer(formulas: &[CellFormula<'_>]) -> Result<Vec<bool>, Failure> {
    let mut workbooks: BTreeMap<&str, Workbook> = BTreeMap::new();
    let mut right = Vec::new();
    for formula in formulas {
        let name = formula.workbook.name.as_str();
        let mut workbook = match workbooks.remove(name) {
            Some(workbook) => workbook,
            None => loaded(formula.workbook)?,
        };
        // A panic counts as a difference. The workbook is loaded again afterwards.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let result = evaluated(&mut workbook, formula);
            (workbook, result)
        }));
        right.push(match result {
            Ok((workbook, result)) => {
                workbooks.insert(name, workbook);
                result.is_some_and(|result| formula.is_right(&result))
            }
            Err(_) => false,
        });
    }
    Ok(right)
}
