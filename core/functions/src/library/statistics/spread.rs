//! Variance, skewness and kurtosis.

use cellar_sheet::cell::ErrorCode;

use super::super::collect::{NonNumeric, mean, squared_deviations};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::number::from_length;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("DEVSQ", 1, MANY, "w", |call| {
        let numbers = call.numbers(0)?;
        ensure(!numbers.is_empty(), ErrorCode::Num)?;
        number_result(squared_deviations(&numbers))
    }),
    eager("KURT", 1, MANY, "w", kurtosis),
    eager("SKEW", 1, MANY, "w", |call| skewness(call, true)),
    eager("SKEW.P", 1, MANY, "w", |call| skewness(call, false)),
    eager("STDEV", 1, MANY, "w", |call| deviation(call, NonNumeric::Skip, 1.0)),
    eager("STDEV.P", 1, MANY, "w", |call| deviation(call, NonNumeric::Skip, 0.0)),
    eager("STDEV.S", 1, MANY, "w", |call| deviation(call, NonNumeric::Skip, 1.0)),
    eager("STDEVA", 1, MANY, "w", |call| deviation(call, NonNumeric::Convert, 1.0)),
    eager("STDEVP", 1, MANY, "w", |call| deviation(call, NonNumeric::Skip, 0.0)),
    eager("STDEVPA", 1, MANY, "w", |call| deviation(call, NonNumeric::Convert, 0.0)),
    eager("VAR", 1, MANY, "w", |call| number_result(variance(call, NonNumeric::Skip, 1.0)?)),
    eager("VAR.P", 1, MANY, "w", |call| number_result(variance(call, NonNumeric::Skip, 0.0)?)),
    eager("VAR.S", 1, MANY, "w", |call| number_result(variance(call, NonNumeric::Skip, 1.0)?)),
    eager("VARA", 1, MANY, "w", |call| number_result(variance(call, NonNumeric::Convert, 1.0)?)),
    eager("VARP", 1, MANY, "w", |call| number_result(variance(call, NonNumeric::Skip, 0.0)?)),
    eager("VARPA", 1, MANY, "w", |call| number_result(variance(call, NonNumeric::Convert, 0.0)?)),
];

/// Computes the variance. `correction` is 1 for a sample (Bessel's correction) and 0 for a
/// population.
fn variance(call: &Call<'_, '_>, non_numeric: NonNumeric, correction: f64) -> Outcome<f64> {
    let numbers = call.collect_numbers(0, non_numeric)?;
    let freedom = from_length(numbers.len()) - correction;
    ensure(freedom > 0.0, ErrorCode::Div0)?;
    Ok(squared_deviations(&numbers) / freedom)
}

fn deviation(call: &Call<'_, '_>, non_numeric: NonNumeric, correction: f64) -> Outcome<Operand> {
    number_result(variance(call, non_numeric, correction)?.sqrt())
}

fn skewness(call: &Call<'_, '_>, is_sample: bool) -> Outcome<Operand> {
    let numbers = call.numbers(0)?;
    let count = from_length(numbers.len());
    ensure(count >= 3.0, ErrorCode::Div0)?;
    let center = mean(&numbers);
    let freedom = if is_sample { count - 1.0 } else { count };
    let deviation = (squared_deviations(&numbers) / freedom).sqrt();
    ensure(deviation > 0.0, ErrorCode::Div0)?;
    let cubes: f64 = numbers.iter().map(|number| ((number - center) / deviation).powi(3)).sum();
    let factor = if is_sample { count / ((count - 1.0) * (count - 2.0)) } else { 1.0 / count };
    number_result(cubes * factor)
}

fn kurtosis(call: &Call<'_, '_>) -> Outcome<Operand> {
    let numbers = call.numbers(0)?;
    let n = from_length(numbers.len());
    ensure(n >= 4.0, ErrorCode::Div0)?;
    let center = mean(&numbers);
    let deviation = (squared_deviations(&numbers) / (n - 1.0)).sqrt();
    ensure(deviation > 0.0, ErrorCode::Div0)?;
    let fourth: f64 = numbers.iter().map(|number| ((number - center) / deviation).powi(4)).sum();
    let factor = n * (n + 1.0) / ((n - 1.0) * (n - 2.0) * (n - 3.0));
    number_result(fourth * factor - 3.0 * (n - 1.0).powi(2) / ((n - 2.0) * (n - 3.0)))
}
