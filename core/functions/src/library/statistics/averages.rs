//! Averages.

use cellar_sheet::cell::ErrorCode;

use super::super::collect::{NonNumeric, add_in_order, mean};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::number::from_length;
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("AVEDEV", 1, MANY, "w", |call| {
        let numbers = call.numbers(0)?;
        ensure(!numbers.is_empty(), ErrorCode::Num)?;
        let center = mean(&numbers);
        let total: f64 = numbers.iter().map(|number| (number - center).abs()).sum();
        number_result(total / from_length(numbers.len()))
    }),
    eager("AVERAGE", 1, MANY, "w", |call| average(call, NonNumeric::Skip)),
    eager("AVERAGEA", 1, MANY, "w", |call| average(call, NonNumeric::Convert)),
    eager("GEOMEAN", 1, MANY, "w", |call| {
        let numbers = call.numbers(0)?;
        let is_positive = numbers.iter().all(|number| *number > 0.0);
        ensure(!numbers.is_empty() && is_positive, ErrorCode::Num)?;
        let product: f64 = numbers.iter().product();
        let count = from_length(numbers.len());
        if product.is_normal() {
            return number_result(product.power(1.0 / count));
        }
        let logarithms: f64 = numbers.iter().map(|number| number.natural_logarithm()).sum();
        number_result((logarithms / count).exponential())
    }),
    eager("HARMEAN", 1, MANY, "w", |call| {
        let numbers = call.numbers(0)?;
        let is_positive = numbers.iter().all(|number| *number > 0.0);
        ensure(!numbers.is_empty() && is_positive, ErrorCode::Num)?;
        let reciprocals: f64 = numbers.iter().map(|number| number.recip()).sum();
        number_result(from_length(numbers.len()) / reciprocals)
    }),
    eager("TRIMMEAN", 2, 2, "as", |call| {
        let mut numbers = call.numbers_of(0)?;
        let part = call.number(1)?;
        ensure((0.0..1.0).contains(&part) && !numbers.is_empty(), ErrorCode::Num)?;
        numbers.sort_by(f64::total_cmp);
        let trimmed = crate::number::to_length(from_length(numbers.len()) * part / 2.0);
        let kept = numbers.get(trimmed..numbers.len() - trimmed).unwrap_or(&[]);
        number_result(mean(kept))
    }),
];

fn average(call: &Call<'_, '_>, non_numeric: NonNumeric) -> Outcome<Operand> {
    let (mut sum, mut count) = (0.0, 0_usize);
    call.visit_numbers(0, non_numeric, &mut |block| {
        sum = add_in_order(sum, block);
        count += block.len();
    })?;
    ensure(count > 0, ErrorCode::Div0)?;
    number_result(sum / from_length(count))
}
