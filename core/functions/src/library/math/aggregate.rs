//! `SUBTOTAL` and `AGGREGATE`.

use cellar_sheet::cell::{ErrorCode, Value};

use super::super::collect::{Origin, mean, squared_deviations};
use super::super::statistics::{median, mode_of, percentile_exclusive, percentile_inclusive};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::number::{from_length, to_i64, to_length};
use crate::operand::{Area, Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] =
    &[eager("AGGREGATE", 3, MANY, "ssw", aggregate), eager("SUBTOTAL", 2, MANY, "sw", subtotal)];

/// The kinds of cells that `SUBTOTAL` or `AGGREGATE` ignores.
#[derive(Debug, Clone, Copy)]
struct Exclusions {
    hidden_rows: bool,
    errors: bool,
    nested: bool,
}

/// The values that `SUBTOTAL` or `AGGREGATE` aggregates: all numbers, and the number of non-empty
/// cells.
#[derive(Debug, Default)]
struct Values {
    numbers: Vec<f64>,
    filled: usize,
}

fn subtotal(call: &Call<'_, '_>) -> Outcome<Operand> {
    const HIDDEN_OFFSET: f64 = 100.0;
    let code = call.number(0)?.trunc();
    let excludes_hidden = code > HIDDEN_OFFSET;
    let code = if excludes_hidden { code - HIDDEN_OFFSET } else { code };
    ensure((1.0..=11.0).contains(&code), ErrorCode::Value)?;
    let exclusions = Exclusions { hidden_rows: excludes_hidden, errors: false, nested: true };
    let mut values = Values::default();
    for operand in call.arguments.iter().skip(1) {
        match operand {
            Operand::Reference(_) => collect(call, operand, exclusions, &mut values)?,
            Operand::Value(Value::Error(code)) => return Err((*code).into()),
            _ => return Err(ErrorCode::Value.into()),
        }
    }
    number_result(basic_total(code, &values)?)
}

fn aggregate(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (code, options) = (call.number(0)?.trunc(), call.number(1)?.trunc());
    ensure((1.0..=19.0).contains(&code) && (0.0..=7.0).contains(&options), ErrorCode::Value)?;
    let exclusions = Exclusions {
        hidden_rows: [1.0, 3.0, 5.0, 7.0].contains(&options),
        errors: [2.0, 3.0, 6.0, 7.0].contains(&options),
        nested: options < 4.0,
    };
    let has_parameter = code >= 14.0;
    let mut values = Values::default();
    let last = if has_parameter { 3 } else { call.len() };
    for operand in call.arguments.iter().take(last).skip(2) {
        collect(call, operand, exclusions, &mut values)?;
    }
    if !has_parameter {
        return number_result(basic_total(code, &values)?);
    }
    ensure(call.len() > 3, ErrorCode::Value)?;
    let parameter = call.number(3)?;
    number_result(ranked_total(code, &mut values.numbers, parameter)?)
}

fn collect(
    call: &Call<'_, '_>,
    operand: &Operand,
    exclusions: Exclusions,
    values: &mut Values,
) -> Outcome<()> {
    let mut add = |origin: Origin, value: &Value| {
        match value {
            Value::Error(code) if !exclusions.errors => return Err((*code).into()),
            Value::Error(_) | Value::Empty => {}
            Value::Number(number) => {
                values.numbers.push(*number);
                values.filled += 1;
            }
            Value::Bool(value) if origin == Origin::Argument => {
                values.numbers.push(f64::from(u8::from(*value)));
                values.filled += 1;
            }
            _ => values.filled += 1,
        }
        Ok(())
    };
    let Operand::Reference(areas) = operand else { return call.visit_operand(operand, &mut add) };
    for area in areas.iter() {
        let Some(used) = call.evaluator.used_part(*area) else { continue };
        for column in used.first.column..=used.last.column {
            for row in used.first.row..=used.last.row {
                let cell = Area::cell(used.sheet, row, column);
                if !is_excluded(call, cell, exclusions) {
                    add(Origin::Cell, &call.evaluator.read_cell(cell)?)?;
                }
            }
        }
    }
    Ok(())
}

fn is_excluded(call: &Call<'_, '_>, cell: Area, exclusions: Exclusions) -> bool {
    let source = call.evaluator.source;
    if exclusions.hidden_rows && source.is_row_hidden(cell.sheet, cell.first.row) {
        return true;
    }
    exclusions.nested
        && source.formula(cell.sheet, cell.first).is_some_and(|formula| {
            let upper = formula.to_uppercase();
            upper.contains("SUBTOTAL(") || upper.contains("AGGREGATE(")
        })
}

fn basic_total(code: f64, values: &Values) -> Outcome<f64> {
    let numbers = &values.numbers;
    let length = from_length(numbers.len());
    let needs = |least: f64, code: ErrorCode| ensure(length >= least, code);
    Ok(match to_i64(code) {
        1 => {
            needs(1.0, ErrorCode::Div0)?;
            mean(numbers)
        }
        2 => length,
        3 => from_length(values.filled),
        4 => numbers.iter().copied().reduce(f64::max).unwrap_or(0.0),
        5 => numbers.iter().copied().reduce(f64::min).unwrap_or(0.0),
        6 if numbers.is_empty() => 0.0,
        6 => numbers.iter().product(),
        7 | 10 => {
            needs(2.0, ErrorCode::Div0)?;
            let variance = squared_deviations(numbers) / (length - 1.0);
            if code == 7.0 { variance.sqrt() } else { variance }
        }
        8 | 11 => {
            needs(1.0, ErrorCode::Div0)?;
            let variance = squared_deviations(numbers) / length;
            if code == 8.0 { variance.sqrt() } else { variance }
        }
        9 => numbers.iter().sum(),
        12 => {
            needs(1.0, ErrorCode::Num)?;
            median(numbers.clone())
        }
        _ => mode_of(numbers).ok_or(ErrorCode::NotAvailable)?,
    })
}

fn ranked_total(code: f64, numbers: &mut [f64], parameter: f64) -> Outcome<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let rank = to_length(parameter.ceil());
    let picked = match to_i64(code) {
        14 => numbers.iter().rev().nth(rank.wrapping_sub(1)).copied(),
        15 => numbers.get(rank.wrapping_sub(1)).copied(),
        16 => percentile_inclusive(numbers, parameter),
        17 if (0.0..=4.0).contains(&parameter) => {
            percentile_inclusive(numbers, parameter.trunc() / 4.0)
        }
        18 => percentile_exclusive(numbers, parameter),
        19 => percentile_exclusive(numbers, parameter.trunc() / 4.0),
        _ => None,
    };
    picked.ok_or(ErrorCode::Num.into())
}
