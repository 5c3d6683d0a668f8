//! The arguments of a function.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::evaluate::Evaluator;
use crate::number::{to_i64, to_length};
use crate::operand::{Area, Matrix, Operand, Outcome, Stop};
use crate::value::{to_bool, to_number_by, to_text};

/// A call with evaluated arguments.
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

    /// Returns whether an argument is present. It may be left out between two commas.
    pub(crate) fn has(&self, index: usize) -> bool {
        index < self.arguments.len()
    }

    /// Returns whether an argument is present and not left out between two commas.
    pub(crate) fn is_given(&self, index: usize) -> bool {
        !matches!(self.operand(index), Operand::Omitted)
    }

    /// Returns the value of an argument. It may be an error value.
    pub(crate) fn any_value(&self, index: usize) -> Outcome<Value> {
        match self.operand(index) {
            Operand::Value(value) => Ok(value.clone()),
            other => self.evaluator.single_or_error(Ok(other.clone())),
        }
    }

    /// Returns the value of an argument, or its error.
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

    /// Returns a number, or `default` if the argument is absent. Left out between commas is 0.
    pub(crate) fn number_or(&self, index: usize, default: f64) -> Outcome<f64> {
        if self.has(index) { self.number(index) } else { Ok(default) }
    }

    /// Returns a number, or `default` if the argument is absent or left out between commas.
    pub(crate) fn given_number_or(&self, index: usize, default: f64) -> Outcome<f64> {
        if self.is_given(index) { self.number(index) } else { Ok(default) }
    }

    /// Returns the integer part of a number.
    pub(crate) fn integer(&self, index: usize) -> Outcome<i64> {
        Ok(to_i64(self.number(index)?))
    }

    pub(crate) fn integer_or(&self, index: usize, default: i64) -> Outcome<i64> {
        if self.has(index) { self.integer(index) } else { Ok(default) }
    }

    /// Returns a number of things, or `#VALUE!` if the number is negative.
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

    /// Returns the values of an argument as an array. The array may contain error values.
    pub(crate) fn matrix(&self, index: usize) -> Outcome<Rc<Matrix>> {
        match self.operand(index) {
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            other => self.evaluator.matrix(other),
        }
    }

    /// Returns the only area of a reference, or `#VALUE!` for anything else.
    pub(crate) fn area(&self, index: usize) -> Outcome<Area> {
        match self.operand(index) {
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            other => self.evaluator.only_area(other),
        }
    }

    pub(crate) fn spend(&self, steps: usize) -> Outcome<()> {
        self.evaluator.spend(crate::number::count(steps))
    }

    /// Counts the iterations of a special function, which grow with the root of its parameters.
    pub(crate) fn spend_iterations(&self, parameters: f64, evaluations: usize) -> Outcome<()> {
        const MOST_ITERATIONS: f64 = 100_000.0;
        let iterations = to_length(parameters.abs().sqrt().min(MOST_ITERATIONS)) + 1;
        self.spend(iterations.saturating_mul(evaluations))
    }

    /// Returns a text as result, or `#VALUE!` if it is too long.
    pub(crate) fn text_result(&self, text: String) -> Outcome<Operand> {
        self.evaluator.text_value(text).map(Operand::Value)
    }

    /// Calls a lambda argument.
    pub(crate) fn invoke(&self, index: usize, operands: Vec<Operand>) -> Outcome<Operand> {
        self.evaluator.invoke(self.operand(index), operands)
    }

    /// Fails with the error of the first argument that is an error value.
    pub(crate) fn check_errors(&self) -> Outcome<()> {
        for operand in self.arguments {
            if let Operand::Value(Value::Error(code)) = operand {
                return Err(Stop::Error(*code));
            }
        }
        Ok(())
    }
}

/// Returns a finite number, or `#NUM!`.
pub(crate) fn number_result(number: f64) -> Outcome<Operand> {
    if number.is_finite() { Ok(Operand::number(number)) } else { Err(ErrorCode::Num.into()) }
}

/// Returns an error if the condition does not hold.
pub(crate) fn ensure(condition: bool, code: ErrorCode) -> Outcome<()> {
    if condition { Ok(()) } else { Err(code.into()) }
}
