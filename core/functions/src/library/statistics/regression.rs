//! Correlation and regression.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::from_length;
use crate::numerics::linear::{LeastSquares, least_squares};
use crate::numerics::real::Real;
use crate::operand::{Matrix, Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("CORREL", 2, 2, "a", |call| number_result(correlation(call)?)),
    eager("COVAR", 2, 2, "a", |call| covariance(call, 0.0)),
    eager("COVARIANCE.P", 2, 2, "a", |call| covariance(call, 0.0)),
    eager("COVARIANCE.S", 2, 2, "a", |call| covariance(call, 1.0)),
    eager("FORECAST", 3, 3, "saa", forecast),
    eager("FORECAST.LINEAR", 3, 3, "saa", forecast),
    eager("GROWTH", 1, 4, "aaas", |call| predicted(call, true)),
    eager("INTERCEPT", 2, 2, "a", |call| {
        let moments = Moments::of_call(call, 1, 0)?;
        number_result(moments.mean_y - moments.slope()? * moments.mean_x)
    }),
    eager("LINEST", 1, 4, "aass", |call| coefficients(call, false)),
    eager("LOGEST", 1, 4, "aass", |call| coefficients(call, true)),
    eager("PEARSON", 2, 2, "a", |call| number_result(correlation(call)?)),
    eager("RSQ", 2, 2, "a", |call| number_result(correlation(call)?.powi(2))),
    eager("SLOPE", 2, 2, "a", |call| number_result(Moments::of_call(call, 1, 0)?.slope()?)),
    eager("STEYX", 2, 2, "a", |call| {
        let moments = Moments::of_call(call, 1, 0)?;
        ensure(moments.count >= 3.0 && moments.xx > 0.0, ErrorCode::Div0)?;
        let residual = moments.yy - moments.xy * moments.xy / moments.xx;
        number_result((residual.max(0.0) / (moments.count - 2.0)).sqrt())
    }),
    eager("TREND", 1, 4, "aaas", |call| predicted(call, false)),
];

/// The means of paired values x and y, and the sums of products of their deviations from the means.
struct Moments {
    count: f64,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Moments {
    fn of_call(call: &Call<'_, '_>, x: usize, y: usize) -> Outcome<Self> {
        let pairs = call.pairs(x, y)?;
        let count = from_length(pairs.len());
        ensure(count >= 1.0, ErrorCode::Div0)?;
        let mean_x = pairs.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = pairs.iter().map(|(_, y)| y).sum::<f64>() / count;
        let sum = |term: &dyn Fn(f64, f64) -> f64| {
            pairs.iter().map(|(x, y)| term(x - mean_x, y - mean_y)).sum::<f64>()
        };
        Ok(Self {
            count,
            mean_x,
            mean_y,
            xx: sum(&|x, _| x * x),
            yy: sum(&|_, y| y * y),
            xy: sum(&|x, y| x * y),
        })
    }

    fn slope(&self) -> Outcome<f64> {
        ensure(self.xx > 0.0, ErrorCode::Div0)?;
        Ok(self.xy / self.xx)
    }
}

fn correlation(call: &Call<'_, '_>) -> Outcome<f64> {
    let moments = Moments::of_call(call, 0, 1)?;
    ensure(moments.xx > 0.0 && moments.yy > 0.0, ErrorCode::Div0)?;
    Ok(moments.xy / (moments.xx * moments.yy).sqrt())
}

fn covariance(call: &Call<'_, '_>, correction: f64) -> Outcome<Operand> {
    let moments = Moments::of_call(call, 0, 1)?;
    let freedom = moments.count - correction;
    ensure(freedom > 0.0, ErrorCode::Div0)?;
    number_result(moments.xy / freedom)
}

fn forecast(call: &Call<'_, '_>) -> Outcome<Operand> {
    let moments = Moments::of_call(call, 2, 1)?;
    let slope = moments.slope()?;
    number_result(moments.mean_y + slope * (call.number(0)? - moments.mean_x))
}

/// A linear regression problem, with one vector for each independent variable.
struct Problem {
    target: Vec<f64>,
    variables: Vec<Vec<f64>>,
    has_constant: bool,
    /// Whether each variable is a row of its argument instead of a column.
    is_by_row: bool,
}

fn numbers(matrix: &Matrix) -> Outcome<Vec<f64>> {
    let number = |value: &Value| match value {
        Value::Number(number) => Ok(*number),
        Value::Error(code) => Err((*code).into()),
        _ => Err(ErrorCode::Value.into()),
    };
    matrix.values.iter().map(number).collect()
}

/// Splits a matrix into variables, which are its rows if `is_by_row` and its columns otherwise.
fn variables_of(matrix: &Matrix, is_by_row: bool) -> Outcome<Vec<Vec<f64>>> {
    let all = numbers(matrix)?;
    let (count, length) =
        if is_by_row { (matrix.rows, matrix.columns) } else { (matrix.columns, matrix.rows) };
    let place = |variable: usize, index: usize| {
        if is_by_row {
            variable * matrix.columns + index
        } else {
            index * matrix.columns + variable
        }
    };
    let value = |place: usize| all.get(place).copied().unwrap_or(0.0);
    Ok((0..count)
        .map(|variable| (0..length).map(|index| value(place(variable, index))).collect())
        .collect())
}

impl Problem {
    fn of_call(call: &Call<'_, '_>, is_exponential: bool, constant: usize) -> Outcome<Self> {
        let y = call.matrix(0)?;
        let mut target = numbers(&y)?;
        if is_exponential {
            ensure(target.iter().all(|y| *y > 0.0), ErrorCode::Num)?;
            target.iter_mut().for_each(|y| *y = y.natural_logarithm());
        }
        let x = if call.is_given(1) { Some(call.matrix(1)?) } else { None };
        let is_by_row = y.rows == 1 && x.as_ref().is_none_or(|x| x.columns == y.columns);
        let variables = match &x {
            None => vec![(1..=target.len()).map(from_length).collect()],
            Some(x) if x.rows == y.rows && x.columns == y.columns => vec![numbers(x)?],
            Some(x) => variables_of(x, is_by_row)?,
        };
        let has_lengths = variables.iter().all(|variable| variable.len() == target.len());
        ensure(has_lengths, ErrorCode::Ref)?;
        let has_constant = call.given_boolean_or(constant, true)?;
        call.spend(target.len().saturating_mul(variables.len()).saturating_mul(variables.len()))?;
        Ok(Self { target, variables, has_constant, is_by_row })
    }

    /// Solves the problem with variables shifted to mean 0. Returns the solution and the intercept.
    fn solve(&self) -> (LeastSquares, f64) {
        if !self.has_constant {
            return (least_squares(&self.variables, &self.target), 0.0);
        }
        let (target, mean) = centered(&self.target);
        let columns: Vec<_> = self.variables.iter().map(|variable| centered(variable)).collect();
        let centered_columns: Vec<_> = columns.iter().map(|(column, _)| column.clone()).collect();
        let solved = least_squares(&centered_columns, &target);
        let known: f64 =
            solved.solution.iter().zip(&columns).map(|(slope, (_, mean))| slope * mean).sum();
        (solved, mean - known)
    }
}

fn centered(numbers: &[f64]) -> (Vec<f64>, f64) {
    let mean = numbers.iter().sum::<f64>() / from_length(numbers.len());
    (numbers.iter().map(|number| number - mean).collect(), mean)
}

fn coefficients(call: &Call<'_, '_>, is_exponential: bool) -> Outcome<Operand> {
    let problem = Problem::of_call(call, is_exponential, 2)?;
    let has_statistics = call.given_boolean_or(3, false)?;
    let (solved, constant) = problem.solve();
    let shown =
        |value: f64| Value::Number(if is_exponential { value.exponential() } else { value });
    let mut first: Vec<Value> = solved.solution.iter().rev().map(|value| shown(*value)).collect();
    first.push(shown(constant));
    if !has_statistics {
        return Ok(Matrix::from_row(first).into());
    }
    let width = first.len();
    let mut rows = vec![first];
    rows.extend(statistics(&problem, &solved, width));
    Ok(Matrix::from_rows(rows).into())
}

/// Computes the regression statistics, the rows below the coefficients in the result of `LINEST` or
/// `LOGEST`.
fn statistics(problem: &Problem, solved: &LeastSquares, width: usize) -> Vec<Vec<Value>> {
    let count = from_length(problem.target.len());
    let kept = from_length(solved.kept.iter().filter(|kept| **kept).count());
    let freedom = count - kept - if problem.has_constant { 1.0 } else { 0.0 };
    let mean = problem.target.iter().sum::<f64>() / count;
    let center = if problem.has_constant { mean } else { 0.0 };
    let total: f64 = problem.target.iter().map(|y| (y - center).powi(2)).sum();
    let residual = solved.residual;
    let regression = total - residual;
    let variance = residual / freedom;
    let number = |value: f64| {
        if value.is_finite() { Value::Number(value) } else { Value::Error(ErrorCode::Num) }
    };
    let error = |diagonal: f64| if freedom > 0.0 { (variance * diagonal).sqrt() } else { 0.0 };
    let mut errors: Vec<Value> =
        solved.inverse_diagonal.iter().rev().map(|diagonal| number(error(*diagonal))).collect();
    errors.push(if problem.has_constant {
        number(constant_error(problem, error(1.0)))
    } else {
        Value::Error(ErrorCode::NotAvailable)
    });
    let deviation = if freedom > 0.0 { variance.sqrt() } else { 0.0 };
    let pad = |mut row: Vec<Value>| {
        row.resize(width, Value::Error(ErrorCode::NotAvailable));
        row
    };
    vec![
        errors,
        pad(vec![number(regression / total), number(deviation)]),
        pad(vec![number(regression / kept / variance), Value::Number(freedom)]),
        pad(vec![Value::Number(regression), Value::Number(residual)]),
    ]
}

/// Computes the standard error of the intercept. `unit` is the standard error of the residuals.
fn constant_error(problem: &Problem, unit: f64) -> f64 {
    let mut columns = problem.variables.clone();
    columns.push(vec![1.0; problem.target.len()]);
    let solved = least_squares(&columns, &problem.target);
    unit * solved.inverse_diagonal.last().copied().unwrap_or(0.0).sqrt()
}

fn predicted(call: &Call<'_, '_>, is_exponential: bool) -> Outcome<Operand> {
    let problem = Problem::of_call(call, is_exponential, 3)?;
    let (solved, constant) = problem.solve();
    let y = call.matrix(0)?;
    let places: Rc<Matrix> = if call.is_given(2) {
        call.matrix(2)?
    } else if call.is_given(1) {
        call.matrix(1)?
    } else {
        let count = problem.target.len();
        let numbers = (1..=count).map(|place| Value::Number(from_length(place))).collect();
        Rc::new(Matrix { rows: y.rows, columns: y.columns, values: numbers })
    };
    let value = |sum: f64| Value::Number(if is_exponential { sum.exponential() } else { sum });
    if problem.variables.len() == 1 {
        let slope = solved.solution.first().copied().unwrap_or(0.0);
        let values = numbers(&places)?.iter().map(|x| value(constant + slope * x)).collect();
        return Ok(Matrix { rows: places.rows, columns: places.columns, values }.into());
    }
    let variables = variables_of(&places, problem.is_by_row)?;
    ensure(variables.len() == solved.solution.len(), ErrorCode::Ref)?;
    let length = variables.first().map_or(0, Vec::len);
    let values = (0..length)
        .map(|index| {
            let terms = variables.iter().zip(&solved.solution);
            let sum: f64 = terms
                .map(|(column, slope)| column.get(index).copied().unwrap_or(0.0) * slope)
                .sum();
            value(constant + sum)
        })
        .collect();
    Ok(if problem.is_by_row { Matrix::from_row(values) } else { Matrix::from_column(values) }
        .into())
}
