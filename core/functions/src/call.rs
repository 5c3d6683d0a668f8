//! Access to the arguments of a function call.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::evaluate::Evaluator;
use crate::number::{to_i64, to_length};
use crate::operand::{Area, Matrix, Operand, Outcome, Stop};
use crate::value::{to_bool, to_number_by, to_text};

/// A function call whose arguments have been evaluated.
pub(crate) struct Call<'c, 'e> {
    pub(crate) evaluator: &'c Evaluator<'e>,
    pub(crate) arguments: &'c [Operand],
}

impl Call<'_, '_> {
    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    pub(crate) fn operand(&self, index: usize) -> &Operand {
        self.arguments.get(index).unwrap_or(&Operand::Omitted)
    }

    /// Returns whether the call has an argument at `index`. The argument may be omitted, like the
    /// second one in `F(1,,2)`.
    pub(crate) fn has(&self, index: usize) -> bool {
        index < self.arguments.len()
    }

    /// Returns whether the call has an argument at `index` that is not omitted.
    pub(crate) fn is_given(&self, index: usize) -> bool {
        !matches!(self.operand(index), Operand::Omitted)
    }

    /// Returns the value of an argument, which may be an error value.
    pub(crate) fn any_value(&self, index: usize) -> Outcome<Value> {
        match self.operand(index) {
            Operand::Value(value) => Ok(value.clone()),
            other => self.evaluator.single_or_error(Ok(other.clone())),
        }
    }

    /// Returns the value of an argument. Fails if it is an error value.
    pub(crate) fn value(&self, index: usize) -> Outcome<Value> {
        match self.any_value(index)? {
            Value::Error(code) => Err(code.into()),
            value => Ok(value),
        }
    }

    pub(crate) fn number(&self, index: usize) -> Outcome<f64> {
        match self.operand(index) {
            Operand::Value(Value::Number(number)) => Ok(*number),
            _ => to_number_by(&self.value(index)?, self.evaluator.date_rules()),
        }
    }

    /// Returns an argument as a number, or `default` if the call has fewer arguments. An omitted
    /// argument is 0.
    pub(crate) fn number_or(&self, index: usize, default: f64) -> Outcome<f64> {
        if self.has(index) { self.number(index) } else { Ok(default) }
    }

    /// Returns an argument as a number, or `default` if it is omitted or the call has fewer
    /// arguments.
    pub(crate) fn given_number_or(&self, index: usize, default: f64) -> Outcome<f64> {
        if self.is_given(index) { self.number(index) } else { Ok(default) }
    }

    /// Returns an argument as a number, truncated to an integer.
    pub(crate) fn integer(&self, index: usize) -> Outcome<i64> {
        Ok(to_i64(self.number(index)?))
    }

    pub(crate) fn integer_or(&self, index: usize, default: i64) -> Outcome<i64> {
        if self.has(index) { self.integer(index) } else { Ok(default) }
    }

    /// Returns an argument as a count, truncated to an integer, or `default` if the call has fewer
    /// arguments. Fails with `#VALUE!` if the count is negative.
    pub(crate) fn length_or(&self, index: usize, default: usize) -> Outcome<usize> {
        if !self.has(index) {
            return Ok(default);
        }
        let number = self.number(index)?;
        if number < 0.0 { Err(ErrorCode::Value.into()) } else { Ok(to_length(number)) }
    }

    pub(crate) fn text(&self, index: usize) -> Outcome<String> {
        let value = self.value(index)?;
        self.evaluator.spend_copy(&value)?;
        to_text(&value)
    }

    pub(crate) fn text_or(&self, index: usize, default: &str) -> Outcome<String> {
        if self.has(index) { self.text(index) } else { Ok(default.to_owned()) }
    }

    pub(crate) fn boolean(&self, index: usize) -> Outcome<bool> {
        to_bool(&self.value(index)?)
    }

    pub(crate) fn boolean_or(&self, index: usize, default: bool) -> Outcome<bool> {
        if self.has(index) { self.boolean(index) } else { Ok(default) }
    }

    pub(crate) fn given_boolean_or(&self, index: usize, default: bool) -> Outcome<bool> {
        if self.is_given(index) { self.boolean(index) } else { Ok(default) }
    }

    /// Returns an argument as an array, which may contain error values. Fails if the argument
    /// itself is an error value.
    pub(crate) fn matrix(&self, index: usize) -> Outcome<Rc<Matrix>> {
        match self.operand(index) {
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            other => self.evaluator.matrix(other),
        }
    }

    /// Returns the area of a reference. Fails with `#VALUE!` if the argument is not a reference to
    /// a single area.
    pub(crate) fn area(&self, index: usize) -> Outcome<Area> {
        match self.operand(index) {
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            other => self.evaluator.only_area(other),
        }
    }

    pub(crate) fn spend(&self, steps: usize) -> Outcome<()> {
        self.evaluator.spend(crate::number::count(steps))
    }

    /// Counts the iterations of a special function as steps. The number of iterations in each
    /// evaluation is proportional to the square root of `parameters`.
    pub(crate) fn spend_iterations(&self, parameters: f64, evaluations: usize) -> Outcome<()> {
        const MAX_ITERATIONS: f64 = 100_000.0;
        let iterations = to_length(parameters.abs().sqrt().min(MAX_ITERATIONS)) + 1;
        self.spend(iterations.saturating_mul(evaluations))
    }

    /// Returns a string as the result. Fails with `#VALUE!` if the string is too long for a cell.
    pub(crate) fn text_result(&self, text: String) -> Outcome<Operand> {
        self.evaluator.text_value(text).map(Operand::Value)
    }

    /// Calls the lambda or function that is passed as an argument.
    pub(crate) fn invoke(&self, index: usize, operands: Vec<Operand>) -> Outcome<Operand> {
        self.evaluator.invoke(self.operand(index), operands)
    }

    /// Fails with the first error value among the arguments.
    pub(crate) fn check_errors(&self) -> Outcome<()> {
        for operand in self.arguments {
            if let Operand::Value(Value::Error(code)) = operand {
                return Err(Stop::Error(*code));
            }
        }
        Ok(())
    }
}

/// Returns a number as the result. Fails with `#NUM!` if the number is infinite or NaN.
pub(crate) fn number_result(number: f64) -> Outcome<Operand> {
    if number.is_finite() { Ok(Operand::number(number)) } else { Err(ErrorCode::Num.into()) }
}

/// Fails with `code` if `condition` is false.
pub(crate) fn ensure(condition: bool, code: ErrorCode) -> Outcome<()> {
    if condition { Ok(()) } else { Err(code.into()) }
}
