//! Calls to functions and lambdas.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use super::broadcast::{result_size, value_or_error};
use super::{Evaluator, Scope};
use crate::call::Call;
use crate::expression::{Expression, Expressions};
use crate::function::{Body, Function, LazyCall, Passing};
use crate::operand::{Lambda, Matrix, Operand, Outcome, Stop};

impl Evaluator<'_> {
    pub(super) fn call_function(
        &self,
        function: &'static Function,
        arguments: Expressions<'_>,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        if arguments.len() < function.least || arguments.len() > function.most {
            return Err(ErrorCode::Value.into());
        }
        match function.body {
            Body::Lazy(body) => body(&LazyCall { evaluator: self, arguments, scope, is_array }),
            Body::Eager(_) => {
                let mut operands = Vec::with_capacity(arguments.len());
                for (index, argument) in arguments.iter().enumerate() {
                    let passing = function.passing(index);
                    operands.push(self.argument(argument, passing, scope, is_array)?);
                }
                self.call_eager(function, operands)
            }
        }
    }

    /// Evaluates an argument. An error becomes an error value, because functions such as `ISERROR`
    /// accept error values as arguments.
    fn argument(
        &self,
        argument: Expression<'_>,
        passing: Passing,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        let is_array = is_array || passing == Passing::Array;
        let operand = match self.evaluate(argument, scope, is_array) {
            Err(Stop::Error(code)) => return Ok(Operand::Value(Value::Error(code))),
            other => other?,
        };
        match (passing, &operand) {
            (Passing::Single, Operand::Reference(_)) if !is_array => {
                match self.intersect(operand) {
                    Err(Stop::Error(code)) => Ok(Operand::Value(Value::Error(code))),
                    other => other,
                }
            }
            _ => Ok(operand),
        }
    }

    /// Calls a function with evaluated arguments. If an array is passed where a single value is
    /// expected, the function is called once for each element of the array.
    pub(crate) fn call_eager(
        &self,
        function: &'static Function,
        mut operands: Vec<Operand>,
    ) -> Outcome<Operand> {
        if operands.len() < function.least || operands.len() > function.most {
            return Err(ErrorCode::Value.into());
        }
        let Body::Eager(body) = function.body else { return Err(ErrorCode::Calc.into()) };
        let mut has_arrays = false;
        for (index, operand) in operands.iter_mut().enumerate() {
            if function.passing(index) == Passing::Single {
                let has_array = self.reduce_single(operand)?;
                match function.rejected_argument_error(index, operand) {
                    Some(code) => *operand = Operand::Value(Value::Error(code)),
                    None => has_arrays |= has_array,
                }
            }
        }
        if !has_arrays {
            return body(&Call { evaluator: self, arguments: &operands });
        }
        self.call_for_each(function, &operands, &mut |arguments| {
            body(&Call { evaluator: self, arguments })
        })
    }

    /// Replaces a reference to a single cell with the value of the cell. Returns whether the
    /// operand has several values.
    fn reduce_single(&self, operand: &mut Operand) -> Outcome<bool> {
        match operand {
            Operand::Array(_) => Ok(true),
            Operand::Reference(areas) => match areas.as_slice() {
                [area] if area.is_cell() => {
                    *operand = Operand::Value(self.read_cell(*area)?);
                    Ok(false)
                }
                [_] => Ok(true),
                _ => {
                    *operand = Operand::Value(Value::Error(ErrorCode::Value));
                    Ok(false)
                }
            },
            _ => Ok(false),
        }
    }

    fn call_for_each(
        &self,
        function: &Function,
        operands: &[Operand],
        body: &mut dyn FnMut(&[Operand]) -> Outcome<Operand>,
    ) -> Outcome<Operand> {
        let is_broadcast = |index: usize, operand: &Operand| {
            let is_value = matches!(operand, Operand::Array(_) | Operand::Reference(_));
            function.passing(index) == Passing::Single && is_value
        };
        let mut broadcast_operands = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            if is_broadcast(index, operand) {
                broadcast_operands.push(self.broadcast_operand(operand)?);
            }
        }
        let (rows, columns) = result_size(&broadcast_operands);
        self.spend_array(rows, columns)?;
        let mut arguments = operands.to_vec();
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                self.spend(1)?;
                let mut remaining = broadcast_operands.iter();
                for (index, argument) in arguments.iter_mut().enumerate() {
                    let is_broadcast =
                        operands.get(index).is_some_and(|operand| is_broadcast(index, operand));
                    if is_broadcast && let Some(operand) = remaining.next() {
                        let value = operand.at(row, column);
                        self.spend_copy(&value)?;
                        *argument = Operand::Value(value);
                    }
                }
                let result = body(&arguments).and_then(|result| self.first_value(&result));
                let value = value_or_error(result)?;
                self.spend_value(&value)?;
                values.push(value);
            }
        }
        Ok(Operand::matrix(Matrix { rows, columns, values }))
    }

    /// Reduces an operand to its first value, because the elements of an array cannot be arrays.
    pub(crate) fn first_value(&self, operand: &Operand) -> Outcome<Value> {
        match operand {
            Operand::Reference(areas) => match areas.first() {
                Some(area) => {
                    let first = area.first;
                    self.read_cell(crate::operand::Area::cell(area.sheet, first.row, first.column))
                }
                None => Err(ErrorCode::Ref.into()),
            },
            other => self.single(other),
        }
    }

    pub(super) fn call_value(
        &self,
        callee: &Operand,
        arguments: Expressions<'_>,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        if let Operand::Function(function) = callee {
            return self.call_function(function, arguments, scope, is_array);
        }
        let mut operands = Vec::with_capacity(arguments.len());
        for argument in arguments.iter() {
            operands.push(self.argument(argument, Passing::Whole, scope, is_array)?);
        }
        self.invoke(callee, operands)
    }

    /// Calls a lambda, or a function that was passed as an argument.
    pub(crate) fn invoke(&self, callee: &Operand, operands: Vec<Operand>) -> Outcome<Operand> {
        self.spend(1)?;
        match callee {
            Operand::Lambda(lambda) => self.invoke_lambda(lambda, operands),
            Operand::Function(function) => {
                self.budget.nested(|| self.call_eager(function, operands))
            }
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            _ => Err(ErrorCode::Value.into()),
        }
    }

    fn invoke_lambda(&self, lambda: &Rc<Lambda>, operands: Vec<Operand>) -> Outcome<Operand> {
        if operands.len() > lambda.parameters.len() {
            return Err(ErrorCode::Value.into());
        }
        let mut scope = lambda.scope.clone();
        let mut operands = operands.into_iter();
        for parameter in &lambda.parameters {
            let operand = match operands.next() {
                Some(operand) => operand,
                None if parameter.is_optional => Operand::Omitted,
                None => return Err(ErrorCode::Value.into()),
            };
            scope = scope.with(&parameter.name, operand);
        }
        self.budget.nested(|| self.evaluate(lambda.body.borrowed(), &scope, true))
    }
}
