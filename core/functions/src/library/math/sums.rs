//! Sums, products, minima and maxima.

use cellar_sheet::cell::{ErrorCode, Value};

use super::super::collect::{NonNumeric, add_in_order};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("MAX", 1, MANY, "w", |call| Ok(maximum(call, 0, NonNumeric::Skip)?.into())),
    eager("MAXA", 1, MANY, "w", |call| Ok(maximum(call, 0, NonNumeric::Convert)?.into())),
    eager("MIN", 1, MANY, "w", |call| Ok(minimum(call, 0, NonNumeric::Skip)?.into())),
    eager("MINA", 1, MANY, "w", |call| Ok(minimum(call, 0, NonNumeric::Convert)?.into())),
    eager("PERCENTOF", 2, 2, "w", |call| {
        let sum_of = |index: usize| -> Outcome<f64> { Ok(call.numbers_of(index)?.iter().sum()) };
        let total = sum_of(1)?;
        ensure(total != 0.0, ErrorCode::Div0)?;
        number_result(sum_of(0)? / total)
    }),
    eager("PRODUCT", 1, MANY, "w", product),
    eager("SERIESSUM", 4, 4, "sssw", series_sum),
    eager("SUM", 1, MANY, "w", |call| {
        let mut sum = 0.0;
        call.visit_numbers(0, NonNumeric::Skip, &mut |block| sum = add_in_order(sum, block))?;
        number_result(sum)
    }),
    eager("SUMPRODUCT", 1, MANY, "a", sum_of_products),
    eager("SUMSQ", 1, MANY, "w", |call| {
        let mut sum = 0.0;
        call.visit_numbers(0, NonNumeric::Skip, &mut |block| {
            sum = block.iter().fold(sum, |sum, number| sum + number * number);
        })?;
        number_result(sum)
    }),
    eager("SUMX2MY2", 2, 2, "a", |call| of_pairs(call, |x, y| x * x - y * y)),
    eager("SUMX2PY2", 2, 2, "a", |call| of_pairs(call, |x, y| x * x + y * y)),
    eager("SUMXMY2", 2, 2, "a", |call| of_pairs(call, |x, y| (x - y).powi(2))),
];

fn maximum(call: &Call<'_, '_>, first: usize, non_numeric: NonNumeric) -> Outcome<f64> {
    let mut largest = f64::NEG_INFINITY;
    call.visit_numbers(first, non_numeric, &mut |block| {
        largest = block.iter().copied().fold(largest, f64::max);
    })?;
    Ok(if largest == f64::NEG_INFINITY { 0.0 } else { largest })
}

fn minimum(call: &Call<'_, '_>, first: usize, non_numeric: NonNumeric) -> Outcome<f64> {
    let mut smallest = f64::INFINITY;
    call.visit_numbers(first, non_numeric, &mut |block| {
        smallest = block.iter().copied().fold(smallest, f64::min);
    })?;
    Ok(if smallest == f64::INFINITY { 0.0 } else { smallest })
}

fn product(call: &Call<'_, '_>) -> Outcome<Operand> {
    let mut product = 1.0;
    let mut has_numbers = false;
    call.visit_numbers(0, NonNumeric::Skip, &mut |block| {
        has_numbers |= !block.is_empty();
        product = block.iter().fold(product, |product, number| product * number);
    })?;
    number_result(if has_numbers { product } else { 0.0 })
}

fn series_sum(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, first, step) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let matrix = call.matrix(3)?;
    let mut sum = 0.0;
    let mut exponent = first;
    for value in &matrix.values {
        let coefficient = match value {
            Value::Number(number) => *number,
            Value::Empty => 0.0,
            Value::Error(code) => return Err((*code).into()),
            _ => return Err(ErrorCode::Value.into()),
        };
        sum += coefficient * x.power(exponent);
        exponent += step;
    }
    number_result(sum)
}

/// Computes `SUMPRODUCT`. Text, booleans and empty cells count as 0.
fn sum_of_products(call: &Call<'_, '_>) -> Outcome<Operand> {
    let matrices = (0..call.len()).map(|index| call.matrix(index)).collect::<Outcome<Vec<_>>>()?;
    let Some(first) = matrices.first() else { return Err(ErrorCode::Value.into()) };
    let size = (first.rows, first.columns);
    ensure(matrices.iter().all(|matrix| (matrix.rows, matrix.columns) == size), ErrorCode::Value)?;
    let mut products = vec![1.0; first.values.len()];
    for matrix in &matrices {
        call.spend(matrix.values.len())?;
        for (product, value) in products.iter_mut().zip(&matrix.values) {
            *product *= match value {
                Value::Number(number) => *number,
                Value::Error(code) => return Err((*code).into()),
                _ => 0.0,
            };
        }
    }
    number_result(products.iter().sum())
}

fn of_pairs(call: &Call<'_, '_>, term: fn(f64, f64) -> f64) -> Outcome<Operand> {
    let pairs = call.pairs(0, 1)?;
    number_result(pairs.iter().map(|(x, y)| term(*x, *y)).sum())
}
