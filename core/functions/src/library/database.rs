//! Database functions, which aggregate the records that meet criteria.

use cellar_sheet::cell::{ErrorCode, Value};

use super::collect::{mean, squared_deviations};
use super::criteria::Criterion;
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_length, to_length};
use crate::operand::{Matrix, Operand, Outcome};
use crate::value::equal_texts;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("DAVERAGE", 3, 3, "wsw", |call| {
        let numbers = numbers(call)?;
        ensure(!numbers.is_empty(), ErrorCode::Div0)?;
        number_result(mean(&numbers))
    }),
    eager("DCOUNT", 3, 3, "wsw", |call| {
        let records = Records::of_call(call, true)?;
        let count = match records.field {
            None => records.selected.len(),
            Some(_) => records.values().filter(|value| matches!(value, Value::Number(_))).count(),
        };
        number_result(from_length(count))
    }),
    eager("DCOUNTA", 3, 3, "wsw", |call| {
        let records = Records::of_call(call, true)?;
        let count = match records.field {
            None => records.selected.len(),
            Some(_) => records.values().filter(|value| **value != Value::Empty).count(),
        };
        number_result(from_length(count))
    }),
    eager("DGET", 3, 3, "wsw", |call| {
        let records = Records::of_call(call, false)?;
        let mut values = records.values().filter(|value| **value != Value::Empty);
        let first = values.next().ok_or(ErrorCode::Value)?;
        ensure(values.next().is_none(), ErrorCode::Num)?;
        Ok(first.clone().into())
    }),
    eager("DMAX", 3, 3, "wsw", |call| {
        number_result(numbers(call)?.into_iter().reduce(f64::max).unwrap_or(0.0))
    }),
    eager("DMIN", 3, 3, "wsw", |call| {
        number_result(numbers(call)?.into_iter().reduce(f64::min).unwrap_or(0.0))
    }),
    eager("DPRODUCT", 3, 3, "wsw", |call| {
        let numbers = numbers(call)?;
        number_result(if numbers.is_empty() { 0.0 } else { numbers.iter().product() })
    }),
    eager("DSTDEV", 3, 3, "wsw", |call| number_result(variance(call, 1.0)?.sqrt())),
    eager("DSTDEVP", 3, 3, "wsw", |call| number_result(variance(call, 0.0)?.sqrt())),
    eager("DSUM", 3, 3, "wsw", |call| number_result(numbers(call)?.iter().sum())),
    eager("DVAR", 3, 3, "wsw", |call| number_result(variance(call, 1.0)?)),
    eager("DVARP", 3, 3, "wsw", |call| number_result(variance(call, 0.0)?)),
];

/// The records of a database that meet the criteria.
struct Records {
    database: std::rc::Rc<Matrix>,
    selected: Vec<usize>,
    field: Option<usize>,
}

impl Records {
    fn of_call(call: &Call<'_, '_>, may_omit_field: bool) -> Outcome<Self> {
        let database = call.matrix(0)?;
        ensure(database.rows > 1, ErrorCode::Value)?;
        let field = match call.operand(1) {
            Operand::Omitted if may_omit_field => None,
            _ => Some(field_of(&database, &call.value(1)?)?),
        };
        let criteria = call.matrix(2)?;
        let conditions = conditions_of(&database, &criteria)?;
        call.spend(database.rows.saturating_mul(conditions.len().max(1)))?;
        let selected = (1..database.rows)
            .filter(|row| {
                conditions.iter().any(|alternative| {
                    alternative.iter().all(|(column, criterion)| {
                        *column < database.columns && criterion.matches(database.get(*row, *column))
                    })
                })
            })
            .collect();
        Ok(Self { database, selected, field })
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        let field = self.field.unwrap_or(0);
        self.selected.iter().map(move |row| self.database.get(*row, field))
    }
}

fn column_named(database: &Matrix, name: &str) -> Option<usize> {
    let wanted = name.trim();
    database.row(0).iter().position(|header| {
        crate::value::to_text(header).is_ok_and(|text| equal_texts(text.trim(), wanted))
    })
}

fn field_of(database: &Matrix, field: &Value) -> Outcome<usize> {
    match field {
        Value::Text(name) => column_named(database, name).ok_or(ErrorCode::Value.into()),
        Value::Bool(true) => Ok(0),
        Value::Number(number) => {
            let is_column = (1.0..=from_length(database.columns)).contains(&number.trunc());
            ensure(is_column, ErrorCode::Value)?;
            Ok(to_length(*number) - 1)
        }
        _ => Err(ErrorCode::Value.into()),
    }
}

/// Parses the criteria range into one list of conditions per row. A record is selected if it meets
/// all conditions of at least one row.
fn conditions_of(database: &Matrix, criteria: &Matrix) -> Outcome<Vec<Vec<(usize, Criterion)>>> {
    ensure(criteria.rows > 1, ErrorCode::Value)?;
    let columns: Vec<Option<usize>> = criteria
        .row(0)
        .iter()
        .map(|header| {
            let name = crate::value::to_text(header).ok()?;
            column_named(database, &name)
        })
        .collect();
    let mut alternatives = Vec::new();
    for row in 1..criteria.rows {
        let mut alternative = Vec::new();
        for (column, value) in columns.iter().zip(criteria.row(row)) {
            if *value == Value::Empty {
                continue;
            }
            // A condition on a column that does not exist is never met.
            let column = column.unwrap_or(database.columns);
            alternative.push((column, database_criterion(value)));
        }
        alternatives.push(alternative);
    }
    Ok(alternatives)
}

/// Converts a cell of the criteria range to a criterion. Text without an operator is matched as a
/// prefix.
fn database_criterion(value: &Value) -> Criterion {
    match value {
        Value::Text(text)
            if !text.starts_with(['=', '<', '>'])
                && crate::value::parse_number(text, crate::value::DateRules::default())
                    .is_none() =>
        {
            Criterion::new(&Value::Text(format!("{text}*")))
        }
        other => Criterion::new(other),
    }
}

fn numbers(call: &Call<'_, '_>) -> Outcome<Vec<f64>> {
    let records = Records::of_call(call, false)?;
    let mut numbers = Vec::new();
    for value in records.values() {
        match value {
            Value::Number(number) => numbers.push(*number),
            Value::Error(code) => return Err((*code).into()),
            _ => {}
        }
    }
    Ok(numbers)
}

/// Computes the variance. `correction` is 1 for a sample (Bessel's correction) and 0 for a
/// population.
fn variance(call: &Call<'_, '_>, correction: f64) -> Outcome<f64> {
    let numbers = numbers(call)?;
    let freedom = from_length(numbers.len()) - correction;
    ensure(freedom > 0.0, ErrorCode::Div0)?;
    Ok(squared_deviations(&numbers) / freedom)
}
