//! Statistical hypothesis tests.

use cellar_sheet::cell::{ErrorCode, Value};

use super::super::collect::{mean, squared_deviations};
use super::continuous::f_tail;
use super::normal::t_two_tails;
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::from_length;
use crate::numerics::erf::normal_cumulative;
use crate::numerics::gamma::upper_gamma;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("CHISQ.TEST", 2, 2, "a", chi_squared_test),
    eager("CHITEST", 2, 2, "a", chi_squared_test),
    eager("F.TEST", 2, 2, "a", f_test),
    eager("FTEST", 2, 2, "a", f_test),
    eager("T.TEST", 4, 4, "aass", t_test),
    eager("TTEST", 4, 4, "aass", t_test),
    eager("Z.TEST", 2, 3, "ass", z_test),
    eager("ZTEST", 2, 3, "ass", z_test),
];

fn chi_squared_test(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (actual, expected) = (call.matrix(0)?, call.matrix(1)?);
    let size = (actual.rows, actual.columns);
    ensure(size == (expected.rows, expected.columns), ErrorCode::NotAvailable)?;
    ensure(actual.values.len() > 1, ErrorCode::NotAvailable)?;
    let mut statistic = 0.0;
    for pair in actual.values.iter().zip(&expected.values) {
        match pair {
            (Value::Error(code), _) | (_, Value::Error(code)) => return Err((*code).into()),
            (Value::Number(actual), Value::Number(expected)) => {
                ensure(*expected != 0.0, ErrorCode::Div0)?;
                ensure(*expected > 0.0 && *actual >= 0.0, ErrorCode::Num)?;
                statistic += (actual - expected).powi(2) / expected;
            }
            _ => {}
        }
    }
    let (rows, columns) = (from_length(size.0), from_length(size.1));
    let freedom = if size.0 > 1 && size.1 > 1 {
        (rows - 1.0) * (columns - 1.0)
    } else {
        rows.max(columns) - 1.0
    };
    number_result(upper_gamma(freedom / 2.0, statistic / 2.0))
}

/// Returns the count, mean and variance of a sample.
fn sample(call: &Call<'_, '_>, index: usize) -> Outcome<(f64, f64, f64)> {
    let numbers = call.numbers_of(index)?;
    let count = from_length(numbers.len());
    ensure(count >= 2.0, ErrorCode::Div0)?;
    Ok((count, mean(&numbers), squared_deviations(&numbers) / (count - 1.0)))
}

fn f_test(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (first, second) = (sample(call, 0)?, sample(call, 1)?);
    ensure(first.2 > 0.0 && second.2 > 0.0, ErrorCode::Div0)?;
    let tail = f_tail(first.2 / second.2, first.0 - 1.0, second.0 - 1.0);
    number_result(2.0 * tail.min(1.0 - tail))
}

fn t_test(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (tails, kind) = (call.integer(2)?, call.integer(3)?);
    ensure((1..=2).contains(&tails) && (1..=3).contains(&kind), ErrorCode::Num)?;
    let (statistic, freedom) = if kind == 1 {
        let pairs = call.pairs(0, 1)?;
        let differences: Vec<f64> = pairs.iter().map(|(x, y)| x - y).collect();
        let count = from_length(differences.len());
        ensure(count >= 2.0, ErrorCode::Div0)?;
        let variance = squared_deviations(&differences) / (count - 1.0);
        ensure(variance > 0.0, ErrorCode::Div0)?;
        (mean(&differences) / (variance / count).sqrt(), count - 1.0)
    } else {
        let (first, second) = (sample(call, 0)?, sample(call, 1)?);
        unpaired(first, second, kind == 2)?
    };
    let both = t_two_tails(statistic.abs(), freedom);
    number_result(if tails == 2 { both } else { both / 2.0 })
}

fn unpaired(
    first: (f64, f64, f64),
    second: (f64, f64, f64),
    has_equal_variances: bool,
) -> Outcome<(f64, f64)> {
    let difference = first.1 - second.1;
    if has_equal_variances {
        let freedom = first.0 + second.0 - 2.0;
        let pooled = ((first.0 - 1.0) * first.2 + (second.0 - 1.0) * second.2) / freedom;
        ensure(pooled > 0.0, ErrorCode::Div0)?;
        return Ok((difference / (pooled * (1.0 / first.0 + 1.0 / second.0)).sqrt(), freedom));
    }
    let (left, right) = (first.2 / first.0, second.2 / second.0);
    ensure(left + right > 0.0, ErrorCode::Div0)?;
    let freedom =
        (left + right).powi(2) / (left * left / (first.0 - 1.0) + right * right / (second.0 - 1.0));
    Ok((difference / (left + right).sqrt(), freedom))
}

fn z_test(call: &Call<'_, '_>) -> Outcome<Operand> {
    let numbers = call.numbers_of(0)?;
    let expected = call.number(1)?;
    let count = from_length(numbers.len());
    ensure(count > 0.0, ErrorCode::NotAvailable)?;
    let deviation = if call.has(2) {
        call.number(2)?
    } else {
        (squared_deviations(&numbers) / (count - 1.0)).sqrt()
    };
    if call.has(2) {
        ensure(deviation > 0.0, ErrorCode::Num)?;
    }
    ensure(deviation > 0.0, ErrorCode::Div0)?;
    number_result(normal_cumulative(-(mean(&numbers) - expected) / (deviation / count.sqrt())))
}
