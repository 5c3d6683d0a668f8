//! Information about values, cells and sheets.

use cellar_sheet::a1::column_name;
use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::expression::Node;
use crate::function::{Function, LazyCall, eager, lazy};
use crate::number::{from_i64, from_length, to_i64};
use crate::operand::{Area, Operand, Outcome, Stop};
use crate::value::number_format;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("CELL", 1, 2, "sw", cell),
    eager("ERROR.TYPE", 1, 1, "s", error_type),
    eager("INFO", 1, 1, "s", info),
    eager("ISBLANK", 1, 1, "s", |call| is(call, |value| *value == Value::Empty)),
    eager("ISERR", 1, 1, "s", |call| {
        is(call, |value| matches!(value, Value::Error(code) if *code != ErrorCode::NotAvailable))
    }),
    eager("ISERROR", 1, 1, "s", |call| is(call, |value| matches!(value, Value::Error(_)))),
    eager("ISEVEN", 1, 1, "s", |call| Ok((parity(call)? == 0).into())),
    eager("ISFORMULA", 1, 1, "w", |call| {
        let area = first_area(call, 0)?;
        Ok(call.evaluator.source.formula(area.sheet, area.first).is_some().into())
    }),
    eager("ISLOGICAL", 1, 1, "s", |call| is(call, |value| matches!(value, Value::Bool(_)))),
    eager("ISNA", 1, 1, "s", |call| {
        is(call, |value| *value == Value::Error(ErrorCode::NotAvailable))
    }),
    eager("ISNONTEXT", 1, 1, "s", |call| is(call, |value| !matches!(value, Value::Text(_)))),
    eager("ISNUMBER", 1, 1, "s", |call| is(call, |value| matches!(value, Value::Number(_)))),
    eager("ISODD", 1, 1, "s", |call| Ok((parity(call)? == 1).into())),
    eager("ISREF", 1, 1, "w", |call| Ok(matches!(call.operand(0), Operand::Reference(_)).into())),
    eager("ISTEXT", 1, 1, "s", |call| is(call, |value| matches!(value, Value::Text(_)))),
    eager("N", 1, 1, "w", |call| {
        Ok(Operand::Value(match first_value(call)? {
            Value::Number(number) => Value::Number(number),
            Value::Bool(value) => Value::Number(f64::from(u8::from(value))),
            Value::Error(code) => return Err(code.into()),
            _ => Value::Number(0.0),
        }))
    }),
    eager("NA", 0, 0, "s", |_| Err(ErrorCode::NotAvailable.into())),
    lazy("SHEET", 0, 1, sheet),
    eager("SHEETS", 0, 1, "w", sheets),
    eager("T", 1, 1, "w", |call| {
        Ok(Operand::Value(match first_value(call)? {
            Value::Text(text) => Value::Text(text),
            Value::Error(code) => return Err(code.into()),
            _ => Value::Text(String::new()),
        }))
    }),
    eager("TYPE", 1, 1, "w", type_of),
];

fn is(call: &Call<'_, '_>, test: fn(&Value) -> bool) -> Outcome<Operand> {
    Ok(test(&call.any_value(0)?).into())
}

fn first_value(call: &Call<'_, '_>) -> Outcome<Value> {
    call.evaluator.first_value(call.operand(0))
}

/// Returns 1 for an odd number and 0 for an even number. Fails with `#VALUE!` for a boolean.
fn parity(call: &Call<'_, '_>) -> Outcome<i64> {
    ensure(!matches!(call.value(0)?, Value::Bool(_)), ErrorCode::Value)?;
    let number = call.number(0)?.trunc();
    Ok(to_i64((number % 2.0).abs()))
}

fn first_area(call: &Call<'_, '_>, index: usize) -> Outcome<Area> {
    match call.operand(index) {
        Operand::Reference(areas) => Ok(*areas.first().ok_or(ErrorCode::Ref)?),
        Operand::Value(Value::Error(code)) => Err((*code).into()),
        _ => Err(ErrorCode::Value.into()),
    }
}

fn error_type(call: &Call<'_, '_>) -> Outcome<Operand> {
    let number = match call.any_value(0)? {
        Value::Error(ErrorCode::Null) => 1.0,
        Value::Error(ErrorCode::Div0) => 2.0,
        Value::Error(ErrorCode::Value) => 3.0,
        Value::Error(ErrorCode::Ref) => 4.0,
        Value::Error(ErrorCode::Name) => 5.0,
        Value::Error(ErrorCode::Num) => 6.0,
        Value::Error(ErrorCode::NotAvailable) => 7.0,
        Value::Error(ErrorCode::GettingData) => 8.0,
        Value::Error(ErrorCode::Spill) => 9.0,
        Value::Error(ErrorCode::Connect) => 10.0,
        Value::Error(ErrorCode::Blocked) => 11.0,
        Value::Error(ErrorCode::Calc) => 14.0,
        _ => return Err(ErrorCode::NotAvailable.into()),
    };
    Ok(number.into())
}

fn info(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = match call.text(0)?.to_lowercase().as_str() {
        "numfile" => return number_result(f64::from(call.evaluator.source.sheet_count())),
        "recalc" => "Automatic",
        "system" => "pcdos",
        _ => return Err(ErrorCode::Value.into()),
    };
    Ok(text.to_owned().into())
}

fn sheet(call: &LazyCall<'_, '_>) -> Outcome<Operand> {
    let evaluator = call.evaluator;
    let by_name = |name: &str| {
        let index = evaluator.source.sheet_index(name).ok_or(ErrorCode::NotAvailable)?;
        Ok(f64::from(index + 1).into())
    };
    let Some(argument) = call.arguments.get(0) else {
        return Ok(f64::from(evaluator.context.sheet + 1).into());
    };
    match argument.node() {
        Node::Literal(Value::Text(name)) => by_name(name),
        _ => match evaluator.evaluate(argument, call.scope, call.is_array)? {
            Operand::Reference(areas) => {
                let area = areas.first().ok_or(ErrorCode::Ref)?;
                Ok(f64::from(area.sheet + 1).into())
            }
            Operand::Value(Value::Text(name)) => by_name(&name),
            _ => Err(ErrorCode::NotAvailable.into()),
        },
    }
}

fn sheets(call: &Call<'_, '_>) -> Outcome<Operand> {
    if !call.has(0) {
        return number_result(f64::from(call.evaluator.source.sheet_count()));
    }
    match call.operand(0) {
        Operand::Reference(areas) => {
            let mut sheets: Vec<_> = areas.iter().map(|area| area.sheet).collect();
            sheets.dedup();
            number_result(from_length(sheets.len()))
        }
        Operand::Value(Value::Error(code)) => Err((*code).into()),
        _ => Err(ErrorCode::NotAvailable.into()),
    }
}

fn type_of(call: &Call<'_, '_>) -> Outcome<Operand> {
    let is_array = match call.operand(0) {
        Operand::Array(_) => true,
        Operand::Reference(_) => call.evaluator.size(call.operand(0))? != (1, 1),
        Operand::Lambda(_) | Operand::Function(_) => return Ok(128.0.into()),
        _ => false,
    };
    if is_array {
        return Ok(64.0.into());
    }
    Ok(match call.any_value(0)? {
        Value::Number(_) | Value::Empty => 1.0,
        Value::Text(_) => 2.0,
        Value::Bool(_) => 4.0,
        Value::Error(_) => 16.0,
    }
    .into())
}

fn cell(call: &Call<'_, '_>) -> Outcome<Operand> {
    let topic = call.text(0)?.to_lowercase();
    let context = call.evaluator.context;
    let area = if call.has(1) {
        first_area(call, 1)?
    } else {
        Area::cell(context.sheet, context.cell.row, context.cell.column)
    };
    let first = Area::cell(area.sheet, area.first.row, area.first.column);
    let source = call.evaluator.source;
    let facts = source.facts(area.sheet, area.first);
    let format = facts.format.as_deref().unwrap_or("General");
    let value = || call.evaluator.read_cell(first);
    Ok(match topic.as_str() {
        "address" => address_text(call, first)?.into(),
        "col" => from_i64(i64::from(area.first.column) + 1).into(),
        "row" => from_i64(i64::from(area.first.row) + 1).into(),
        "contents" => match value()? {
            Value::Empty => 0.0.into(),
            Value::Error(code) => return Err(Stop::Error(code)),
            other => other.into(),
        },
        "color" => f64::from(u8::from(number_format::has_color_of_negatives(format))).into(),
        "parentheses" => f64::from(u8::from(number_format::has_parentheses(format))).into(),
        "format" => number_format::cell_code(format).into(),
        "prefix" => match value()? {
            Value::Text(_) => "'".to_owned().into(),
            _ => String::new().into(),
        },
        "protect" => 1.0.into(),
        "type" => match value()? {
            Value::Empty => "b",
            Value::Text(_) => "l",
            _ => "v",
        }
        .to_owned()
        .into(),
        "width" => f64::from(facts.column_width.unwrap_or(8)).into(),
        "filename" => String::new().into(),
        _ => return Err(ErrorCode::Value.into()),
    })
}

/// Returns the absolute address of a cell, preceded by the sheet name if the cell is not on the
/// sheet of the formula.
fn address_text(call: &Call<'_, '_>, area: Area) -> Outcome<String> {
    let address = format!("${}${}", column_name(area.first.column), u64::from(area.first.row) + 1);
    if area.sheet == call.evaluator.context.sheet {
        return Ok(address);
    }
    let name = call.evaluator.source.sheet_name(area.sheet).ok_or(ErrorCode::Ref)?;
    Ok(format!("{}!{address}", super::lookup::quoted_sheet(&name)))
}
