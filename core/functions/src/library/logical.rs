//! Logical functions, and functions that define or call lambdas.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use super::collect::boolean_of;
use crate::call::{Call, ensure};
use crate::expression::{Expression, Node};
use crate::function::{Function, LazyCall, MANY, eager, lazy};
use crate::number::{from_length, to_length};
use crate::operand::{Lambda, Matrix, Operand, Outcome, Parameter, Stop};
use crate::value::{compare, to_bool};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("AND", 1, MANY, "w", |call| Ok(fold_booleans(call, |all, next| all && next)?.into())),
    eager("BYCOL", 2, 2, "a", by_column),
    eager("BYROW", 2, 2, "a", by_row),
    eager("FALSE", 0, 0, "s", |_| Ok(false.into())),
    lazy("IF", 1, 3, if_function),
    lazy("IFERROR", 2, 2, |call| replace_errors(call, |_| true)),
    lazy("IFNA", 2, 2, |call| replace_errors(call, |code| code == ErrorCode::NotAvailable)),
    lazy("IFS", 2, MANY, ifs),
    eager("ISOMITTED", 1, 1, "w", |call| Ok((!call.is_given(0)).into())),
    lazy("LAMBDA", 1, MANY, lambda),
    lazy("LET", 3, MANY, let_function),
    eager("MAKEARRAY", 3, 3, "ssw", make_array),
    eager("MAP", 2, MANY, "a", map),
    eager("NOT", 1, 1, "s", |call| Ok((!call.boolean(0)?).into())),
    eager("OR", 1, MANY, "w", |call| Ok(fold_booleans(call, |any, next| any || next)?.into())),
    eager("REDUCE", 3, 3, "waw", reduce),
    eager("SCAN", 3, 3, "waw", scan),
    lazy("SWITCH", 3, MANY, switch),
    eager("TRUE", 0, 0, "s", |_| Ok(true.into())),
    eager("XOR", 1, MANY, "w", |call| Ok(fold_booleans(call, |odd, next| odd != next)?.into())),
];

/// Combines all booleans in the arguments. Fails with `#VALUE!` if there are none.
fn fold_booleans(call: &Call<'_, '_>, combine: fn(bool, bool) -> bool) -> Outcome<bool> {
    let mut result = None;
    call.visit_values(0, &mut |origin, value| {
        if let Some(next) = boolean_of(origin, value)? {
            result = Some(result.map_or(next, |result| combine(result, next)));
        }
        Ok(())
    })?;
    result.ok_or(ErrorCode::Value.into())
}

impl LazyCall<'_, '_> {
    pub(super) fn evaluate(&self, index: usize) -> Outcome<Operand> {
        match self.arguments.get(index) {
            Some(argument) => self.evaluator.evaluate(argument, self.scope, self.is_array),
            None => Ok(Operand::Omitted),
        }
    }

    /// Evaluates an argument to a value or an array. An error becomes an error value.
    fn value_or_array(&self, index: usize) -> Outcome<Operand> {
        let operand = self
            .evaluate(index)
            .and_then(|operand| self.evaluator.value_operand(operand, self.is_array));
        match operand {
            Err(Stop::Error(code)) => Ok(Operand::Value(Value::Error(code))),
            other => other,
        }
    }

    /// Evaluates the branch that a condition selects. An omitted branch is 0.
    fn branch(&self, index: usize) -> Outcome<Operand> {
        match self.evaluate(index)? {
            Operand::Omitted => Ok(0.0.into()),
            other => Ok(other),
        }
    }
}

fn if_function(call: &LazyCall<'_, '_>) -> Outcome<Operand> {
    let condition = call.value_or_array(0)?;
    let evaluator = call.evaluator;
    if let Operand::Value(value) = &condition {
        return match (to_bool(value)?, call.arguments.len()) {
            (true, 1) => Ok(true.into()),
            (true, _) => call.branch(1),
            (false, 3) => call.branch(2),
            (false, _) => Ok(false.into()),
        };
    }
    let conditions = evaluator.matrix(&condition)?;
    let is_any = |wanted: bool| {
        conditions.values.iter().any(|value| to_bool(value).is_ok_and(|value| value == wanted))
    };
    let branch = |index: usize, wanted: bool| -> Outcome<Operand> {
        if call.arguments.len() <= index {
            return Ok(wanted.into());
        }
        if !is_any(wanted) {
            return Ok(Operand::Omitted);
        }
        match call.value_or_array(index)? {
            Operand::Value(Value::Empty) => Ok(0.0.into()),
            other => Ok(other),
        }
    };
    let (then, otherwise) = (branch(1, true)?, branch(2, false)?);
    evaluator.choose(&[condition, then, otherwise], &mut |values| match values {
        [condition, then, otherwise] => {
            Ok(if to_bool(condition)? { then.clone() } else { otherwise.clone() })
        }
        _ => Err(ErrorCode::Value.into()),
    })
}

fn replace_errors(call: &LazyCall<'_, '_>, is_replaced: fn(ErrorCode) -> bool) -> Outcome<Operand> {
    let first = call.value_or_array(0)?;
    match &first {
        Operand::Value(Value::Error(code)) if is_replaced(*code) => return call.branch(1),
        Operand::Value(Value::Error(code)) => return Err((*code).into()),
        Operand::Value(Value::Empty) => return Ok(0.0.into()),
        Operand::Value(_) => return Ok(first),
        _ => {}
    }
    let matrix = call.evaluator.matrix(&first)?;
    let is_error = |value: &Value| matches!(value, Value::Error(code) if is_replaced(*code));
    let replacement = if matrix.values.iter().any(is_error) {
        call.value_or_array(1)?
    } else {
        Operand::Value(Value::Empty)
    };
    call.evaluator.choose(&[first, replacement], &mut |values| match values {
        [value, replacement] if is_error(value) => Ok(replacement.clone()),
        [value, _] => Ok(value.clone()),
        _ => Err(ErrorCode::Value.into()),
    })
}

fn ifs(call: &LazyCall<'_, '_>) -> Outcome<Operand> {
    ensure(call.arguments.len().is_multiple_of(2), ErrorCode::NotAvailable)?;
    let mut operands = Vec::new();
    for index in 0..call.arguments.len() {
        let is_condition = index % 2 == 0;
        let operand = call.value_or_array(index)?;
        if is_condition
            && operands.is_empty()
            && let Operand::Value(value) = &operand
        {
            if to_bool(value)? {
                return call.branch(index + 1);
            }
            continue;
        }
        if operands.is_empty() && !is_condition {
            continue;
        }
        operands.push(operand);
    }
    ensure(!operands.is_empty(), ErrorCode::NotAvailable)?;
    call.evaluator.choose(&operands, &mut |values| {
        for pair in values.chunks(2) {
            if let [condition, value] = pair
                && to_bool(condition)?
            {
                return Ok(value.clone());
            }
        }
        Err(ErrorCode::NotAvailable.into())
    })
}

fn switch(call: &LazyCall<'_, '_>) -> Outcome<Operand> {
    let subject = match call.value_or_array(0)? {
        Operand::Value(Value::Error(code)) => return Err(code.into()),
        Operand::Value(value) => value,
        other => return switch_array(call, other),
    };
    let count = call.arguments.len();
    let mut index = 1;
    while index + 1 < count {
        let case = call.value_or_array(index)?;
        let case = call.evaluator.single(&case)?;
        if let Value::Error(code) = case {
            return Err(code.into());
        }
        if compare(&subject, &case).is_eq() {
            return call.branch(index + 1);
        }
        index += 2;
    }
    if index < count { call.branch(index) } else { Err(ErrorCode::NotAvailable.into()) }
}

fn switch_array(call: &LazyCall<'_, '_>, subject: Operand) -> Outcome<Operand> {
    let mut operands = vec![subject];
    for index in 1..call.arguments.len() {
        operands.push(call.value_or_array(index)?);
    }
    call.evaluator.choose(&operands, &mut |values| {
        let (subject, cases) = values.split_first().ok_or(ErrorCode::Value)?;
        if let Value::Error(code) = subject {
            return Err((*code).into());
        }
        for pair in cases.chunks(2) {
            match pair {
                [case, value] if compare(subject, case).is_eq() => return Ok(value.clone()),
                [default] => return Ok(default.clone()),
                _ => {}
            }
        }
        Err(ErrorCode::NotAvailable.into())
    })
}

/// Converts a name to a parameter. Brackets mark an optional parameter: `[name]` in a formula,
/// stored as `_xlop.name` in workbooks.
fn parameter_of(expression: Expression<'_>) -> Outcome<Parameter> {
    match expression.node() {
        Node::Name(name) => {
            let optional = name
                .strip_prefix("_XLOP.")
                .or_else(|| name.strip_prefix('[').and_then(|name| name.strip_suffix(']')));
            let plain = optional.unwrap_or(name);
            Ok(Parameter { name: plain.to_owned(), is_optional: optional.is_some() })
        }
        _ => Err(ErrorCode::Value.into()),
    }
}

fn let_function(call: &LazyCall<'_, '_>) -> Outcome<Operand> {
    ensure(!call.arguments.len().is_multiple_of(2), ErrorCode::Value)?;
    let mut scope = call.scope.clone();
    let mut arguments = call.arguments.iter();
    while let Some(first) = arguments.next() {
        let Some(value) = arguments.next() else {
            return call.evaluator.evaluate(first, &scope, call.is_array);
        };
        let parameter = parameter_of(first)?;
        let operand = match call.evaluator.evaluate(value, &scope, call.is_array) {
            Err(Stop::Error(code)) => Operand::Value(Value::Error(code)),
            other => other?,
        };
        scope = scope.with(&parameter.name, operand);
    }
    Err(ErrorCode::Value.into())
}

fn lambda(call: &LazyCall<'_, '_>) -> Outcome<Operand> {
    let mut arguments = call.arguments.iter();
    let body = arguments.next_back().ok_or(ErrorCode::Value)?.to_owned();
    let parameters = arguments.map(parameter_of).collect::<Outcome<Vec<_>>>()?;
    Ok(Operand::Lambda(Rc::new(Lambda { parameters, body, scope: call.scope.clone() })))
}

/// Calls the lambda in argument `callee` and returns its result as a single value. An error becomes
/// an error value.
fn invoke_for_value(call: &Call<'_, '_>, callee: usize, operands: Vec<Operand>) -> Outcome<Value> {
    let result = call.invoke(callee, operands);
    let value = match result.and_then(|result| single_result(call, &result)) {
        Err(Stop::Error(code)) => Value::Error(code),
        other => other?,
    };
    call.evaluator.spend_value(&value)?;
    Ok(value)
}

/// Converts the result of a lambda to a single value. Fails with `#CALC!` for an array or a range
/// of several cells, because arrays cannot be nested.
fn single_result(call: &Call<'_, '_>, result: &Operand) -> Outcome<Value> {
    match result {
        Operand::Array(_) => Err(ErrorCode::Calc.into()),
        Operand::Reference(_) => {
            let size = call.evaluator.size(result)?;
            ensure(size == (1, 1), ErrorCode::Calc)?;
            call.evaluator.single(result)
        }
        other => call.evaluator.single(other),
    }
}

fn by_row(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(0)?;
    let mut values = Vec::with_capacity(matrix.rows);
    for row in 0..matrix.rows {
        let operand = Operand::matrix(Matrix::from_row(matrix.row(row).to_vec()));
        values.push(invoke_for_value(call, 1, vec![operand])?);
    }
    Ok(Matrix::from_column(values).into())
}

fn by_column(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(0)?;
    let mut values = Vec::with_capacity(matrix.columns);
    for column in 0..matrix.columns {
        let operand =
            Operand::matrix(Matrix::from_column(matrix.column(column).cloned().collect()));
        values.push(invoke_for_value(call, 1, vec![operand])?);
    }
    Ok(Matrix::from_row(values).into())
}

fn make_array(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (rows, columns) = (call.number(0)?.trunc(), call.number(1)?.trunc());
    ensure(rows >= 1.0 && columns >= 1.0, ErrorCode::Value)?;
    let (rows, columns) = (to_length(rows), to_length(columns));
    call.evaluator.spend_array(rows, columns)?;
    let mut values = Vec::with_capacity(rows * columns);
    for row in 1..=rows {
        for column in 1..=columns {
            let operands = vec![from_length(row).into(), from_length(column).into()];
            values.push(invoke_for_value(call, 2, operands)?);
        }
    }
    Ok(Matrix { rows, columns, values }.into())
}

fn map(call: &Call<'_, '_>) -> Outcome<Operand> {
    let callee = call.len() - 1;
    let matrices = (0..callee).map(|index| call.matrix(index)).collect::<Outcome<Vec<_>>>()?;
    let rows = matrices.iter().map(|matrix| matrix.rows).max().unwrap_or(1);
    let columns = matrices.iter().map(|matrix| matrix.columns).max().unwrap_or(1);
    call.evaluator.spend_array(rows, columns)?;
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let is_inside = |matrix: &Rc<Matrix>| row < matrix.rows && column < matrix.columns;
            if !matrices.iter().all(is_inside) {
                values.push(Value::Error(ErrorCode::NotAvailable));
                continue;
            }
            let operands =
                matrices.iter().map(|matrix| matrix.get(row, column).clone().into()).collect();
            values.push(invoke_for_value(call, callee, operands)?);
        }
    }
    Ok(Matrix { rows, columns, values }.into())
}

/// Computes `REDUCE`. If the initial value is omitted, the first value of the array is used
/// instead.
fn reduce(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(1)?;
    let mut values = matrix.values.iter();
    let mut state = match call.operand(0) {
        Operand::Omitted => values.next().cloned().unwrap_or_default().into(),
        other => other.clone(),
    };
    for value in values {
        state = match call.invoke(2, vec![state, value.clone().into()]) {
            Err(Stop::Error(code)) => Operand::Value(Value::Error(code)),
            other => other?,
        };
    }
    Ok(state)
}

fn scan(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrix = call.matrix(1)?;
    let mut state = match call.operand(0) {
        Operand::Omitted => None,
        other => Some(other.clone()),
    };
    let mut values = Vec::with_capacity(matrix.values.len());
    for value in &matrix.values {
        let next = match state.take() {
            Some(state) => invoke_for_value(call, 2, vec![state, value.clone().into()])?,
            None => value.clone(),
        };
        state = Some(next.clone().into());
        values.push(next);
    }
    Ok(Matrix { rows: matrix.rows, columns: matrix.columns, values }.into())
}
