//! Evaluates operators.

use std::cmp::Ordering;

use cellar_sheet::cell::{ErrorCode, Value};

use super::{Evaluator, Scope};
use crate::expression::{Expression, Operator, Prefix};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome, Stop};
use crate::value::{compare, to_number_by, to_text};

/// Relative magnitude below which the difference of two numbers is replaced by 0, as in Excel.
const NEGLIGIBLE_RATIO: f64 = 1.0 / (1_u64 << 49) as f64;

impl Evaluator<'_> {
    /// Applies a binary operator to an evaluated left operand and an unevaluated right operand. If
    /// both are errors, the result is the left error.
    pub(super) fn apply_operator(
        &self,
        operator: Operator,
        left: Operand,
        right: Expression<'_>,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        if operator.joins_references() {
            let right = self.evaluate(right, scope, true)?;
            return self.combine_references(operator, &left, &right);
        }
        let left = self.value_operand(left, is_array)?;
        let right = self.value_operand(self.evaluate(right, scope, is_array)?, is_array)?;
        if let (Operand::Value(left), Operand::Value(right)) = (&left, &right) {
            return Ok(Operand::Value(self.apply(operator, left, right)?));
        }
        self.broadcast(&[left, right], &mut |values| match values {
            [left, right] => self.apply(operator, left, right),
            _ => Err(ErrorCode::Value.into()),
        })
    }

    /// Replaces a reference to a single cell with the value of the cell. If `is_array` is false,
    /// implicit intersection first reduces a reference to several cells to one cell. Fails if the
    /// value is an error value.
    pub(crate) fn value_operand(&self, operand: Operand, is_array: bool) -> Outcome<Operand> {
        let operand = match operand {
            Operand::Reference(_) if !is_array => self.intersect(operand)?,
            other => other,
        };
        match &operand {
            Operand::Reference(areas) => match areas.as_slice() {
                [area] if area.is_cell() => match self.read_cell(*area)? {
                    Value::Error(code) => Err(code.into()),
                    value => Ok(Operand::Value(value)),
                },
                [_] => Ok(operand),
                _ => Err(ErrorCode::Value.into()),
            },
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            Operand::Omitted => Ok(Operand::Value(Value::Empty)),
            Operand::Lambda(_) | Operand::Function(_) => Err(ErrorCode::Calc.into()),
            Operand::Value(_) | Operand::Array(_) => Ok(operand),
        }
    }

    pub(super) fn apply_sign(
        &self,
        sign: Prefix,
        operand: Operand,
        is_array: bool,
    ) -> Outcome<Operand> {
        match sign {
            Prefix::Minus => self.apply_to_number(operand, is_array, |number| -number),
            Prefix::Plus | Prefix::Intersect => Ok(operand),
        }
    }

    pub(super) fn apply_percent(&self, operand: Operand, is_array: bool) -> Outcome<Operand> {
        self.apply_to_number(operand, is_array, |number| number / 100.0)
    }

    fn apply_to_number(
        &self,
        operand: Operand,
        is_array: bool,
        change: fn(f64) -> f64,
    ) -> Outcome<Operand> {
        let operand = self.value_operand(operand, is_array)?;
        self.broadcast(&[operand], &mut |values| {
            let number = to_number_by(values.first().unwrap_or(&Value::Empty), self.date_rules())?;
            Ok(Value::Number(change(number)))
        })
    }

    pub(super) fn apply(&self, operator: Operator, left: &Value, right: &Value) -> Outcome<Value> {
        for value in [left, right] {
            if let Value::Error(code) = value {
                return Err((*code).into());
            }
        }
        let number = |value: &Value| match value {
            Value::Number(number) => Ok(*number),
            other => to_number_by(other, self.date_rules()),
        };
        match operator {
            Operator::Concatenate => {
                let mut text = to_text(left)?;
                text.push_str(&to_text(right)?);
                self.text_value(text)
            }
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Power => finite(calculate(operator, number(left)?, number(right)?)?),
            _ => Ok(Value::Bool(holds(operator, compare(left, right)))),
        }
    }

    /// Returns a string as a value. Fails with `#VALUE!` if the string is too long for a cell.
    pub(crate) fn text_value(&self, text: String) -> Outcome<Value> {
        self.spend_text(text.len())?;
        let is_long = text.len() > crate::limits::MAX_TEXT_CHARACTERS;
        if is_long && text.chars().count() > crate::limits::MAX_TEXT_CHARACTERS {
            return Err(ErrorCode::Value.into());
        }
        Ok(Value::Text(text))
    }
}

fn finite(number: f64) -> Outcome<Value> {
    if number.is_finite() { Ok(Value::Number(number)) } else { Err(ErrorCode::Num.into()) }
}

pub(super) fn calculate(operator: Operator, left: f64, right: f64) -> Result<f64, Stop> {
    Ok(match operator {
        Operator::Add => add(left, right),
        Operator::Subtract => add(left, -right),
        Operator::Multiply => left * right,
        Operator::Divide if right == 0.0 => return Err(ErrorCode::Div0.into()),
        Operator::Divide => left / right,
        _ => power(left, right)?,
    })
}

/// Adds two numbers. As in Excel, a result that consists only of rounding errors is replaced by 0.
fn add(left: f64, right: f64) -> f64 {
    let sum = left + right;
    let is_difference = left.is_sign_negative() != right.is_sign_negative();
    if is_difference && sum.abs() < left.abs() * NEGLIGIBLE_RATIO { 0.0 } else { sum }
}

/// Raises a number to a power. Fails if the result is undefined or not finite.
pub(crate) fn power(base: f64, exponent: f64) -> Result<f64, Stop> {
    if base == 0.0 && exponent == 0.0 {
        return Err(ErrorCode::Num.into());
    }
    if base == 0.0 && exponent < 0.0 {
        return Err(ErrorCode::Div0.into());
    }
    let result = base.power(exponent);
    if result.is_nan() && base < 0.0 {
        // Odd roots of negative numbers are defined, such as `(-8)^(1/3)`.
        let root = 1.0 / exponent;
        let is_odd_root = (root - root.round()).abs() < 1e-12 && root.round() % 2.0 != 0.0;
        return if is_odd_root { Ok(-(-base).power(exponent)) } else { Err(ErrorCode::Num.into()) };
    }
    if result.is_finite() { Ok(result) } else { Err(ErrorCode::Num.into()) }
}

pub(super) fn holds(operator: Operator, ordering: Ordering) -> bool {
    match operator {
        Operator::Equal => ordering.is_eq(),
        Operator::NotEqual => ordering.is_ne(),
        Operator::Less => ordering.is_lt(),
        Operator::Greater => ordering.is_gt(),
        Operator::LessOrEqual => ordering.is_le(),
        _ => ordering.is_ge(),
    }
}
