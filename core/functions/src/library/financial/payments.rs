//! Annuity functions: payments, interest rates, present and future values.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("CUMIPMT", 6, 6, "s", |call| cumulative(call, true)),
    eager("CUMPRINC", 6, 6, "s", |call| cumulative(call, false)),
    eager("FV", 3, 5, "s", |call| {
        let (rate, periods, payment) = (call.number(0)?, call.number(1)?, call.number(2)?);
        let (present, due) = (call.number_or(3, 0.0)?, due(call, 4)?);
        ensure(rate != -1.0 || periods >= 0.0, ErrorCode::Div0)?;
        number_result(future_value(rate, periods, payment, present, due))
    }),
    eager("IPMT", 4, 6, "s", |call| {
        let (rate, period) = (call.number(0)?, call.number(1)?);
        number_result(period_parts(call, rate, period)?.0)
    }),
    eager("ISPMT", 4, 4, "s", |call| {
        let (rate, period) = (call.number(0)?, call.number(1)?);
        let (periods, present) = (call.number(2)?, call.number(3)?);
        ensure(periods != 0.0, ErrorCode::Div0)?;
        number_result(present * rate * (period / periods - 1.0))
    }),
    eager("NPER", 3, 5, "s", periods),
    eager("PMT", 3, 5, "s", |call| {
        let (rate, periods, present) = (call.number(0)?, call.number(1)?, call.number(2)?);
        let (future, due) = (call.number_or(3, 0.0)?, due(call, 4)?);
        ensure(periods != 0.0, ErrorCode::Num)?;
        number_result(payment(rate, periods, present, future, due))
    }),
    eager("PPMT", 4, 6, "s", |call| {
        let (rate, period) = (call.number(0)?, call.number(1)?);
        number_result(period_parts(call, rate, period)?.1)
    }),
    eager("PV", 3, 5, "s", |call| {
        let (rate, periods, payment) = (call.number(0)?, call.number(1)?, call.number(2)?);
        let (future, due) = (call.number_or(3, 0.0)?, due(call, 4)?);
        if rate == 0.0 {
            return number_result(-future - payment * periods);
        }
        let growth = (1.0 + rate).power(periods);
        number_result(-(future + payment * (1.0 + rate * due) * (growth - 1.0) / rate) / growth)
    }),
    eager("RATE", 3, 6, "s", rate),
];

/// Returns 1 if payments are due at the beginning of each period, and 0 if they are due at its end.
fn due(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    Ok(if call.number_or(index, 0.0)? != 0.0 { 1.0 } else { 0.0 })
}

/// Computes ((1 + rate)^periods − 1) / rate, or its limit `periods` if the rate is 0.
fn annuity(rate: f64, periods: f64) -> f64 {
    if rate == 0.0 {
        return periods;
    }
    ((1.0 + rate).power(periods) - 1.0) / rate
}

fn future_value(rate: f64, periods: f64, payment: f64, present: f64, due: f64) -> f64 {
    let growth = (1.0 + rate).power(periods);
    -(present * growth + payment * (1.0 + rate * due) * annuity(rate, periods))
}

fn payment(rate: f64, periods: f64, present: f64, future: f64, due: f64) -> f64 {
    let growth = (1.0 + rate).power(periods);
    -(present * growth + future) / ((1.0 + rate * due) * annuity(rate, periods))
}

/// Computes the interest and the principal in the payment of a period.
fn period_parts(call: &Call<'_, '_>, rate: f64, period: f64) -> Outcome<(f64, f64)> {
    let (periods, present) = (call.number(2)?, call.number(3)?);
    let (future, due) = (call.number_or(4, 0.0)?, due(call, 5)?);
    ensure(period >= 1.0 && period < periods + 1.0, ErrorCode::Num)?;
    let payment = payment(rate, periods, present, future, due);
    let principal = principal_of_period(rate, periods, period, present + future, payment, due);
    Ok((payment - principal, principal))
}

/// Computes the principal in the payment of a period from the principal of the first period, which
/// grows by `rate` each period. Subtracting the interest from the payment would lose digits.
fn principal_of_period(
    rate: f64,
    periods: f64,
    period: f64,
    total: f64,
    payment: f64,
    due: f64,
) -> f64 {
    if due == 1.0 && period == 1.0 {
        return payment;
    }
    let first = -total / annuity(rate, periods);
    first * (1.0 + rate).power(period - 1.0 - due)
}

fn cumulative(call: &Call<'_, '_>, is_interest: bool) -> Outcome<Operand> {
    const MOST_PERIODS: f64 = 1e6;
    let (rate, periods, present) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let (first, last) = (call.number(3)?.ceil(), call.number(4)?.floor());
    let due = call.number(5)?;
    ensure(due == 0.0 || due == 1.0, ErrorCode::Num)?;
    let is_valid = rate > 0.0
        && periods > 0.0
        && present > 0.0
        && first >= 1.0
        && last >= first
        && last <= periods;
    ensure(is_valid && last - first <= MOST_PERIODS, ErrorCode::Num)?;
    call.spend(crate::number::to_length(last - first))?;
    let payment = payment(rate, periods, present, 0.0, due);
    let mut total = 0.0;
    let mut period = first;
    while period <= last {
        let principal = principal_of_period(rate, periods, period, present, payment, due);
        total += if is_interest { payment - principal } else { principal };
        period += 1.0;
    }
    number_result(total)
}

fn periods(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (rate, payment, present) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let (future, due) = (call.number_or(3, 0.0)?, due(call, 4)?);
    if rate == 0.0 {
        ensure(payment != 0.0, ErrorCode::Div0)?;
        return number_result(-(present + future) / payment);
    }
    ensure(rate > -1.0, ErrorCode::Num)?;
    let per_rate = payment * (1.0 + rate * due) / rate;
    let ratio = (per_rate - future) / (per_rate + present);
    ensure(ratio > 0.0, ErrorCode::Num)?;
    number_result(ratio.natural_logarithm() / (1.0 + rate).natural_logarithm())
}

fn rate(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (periods, payment, present) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let (future, due) = (call.number_or(3, 0.0)?, due(call, 4)?);
    let guess = call.given_number_or(5, 0.1)?;
    ensure(periods > 0.0 && guess > -1.0, ErrorCode::Num)?;
    let value = |rate: f64| {
        if rate.abs() < 1e-11 {
            return present + payment * periods + future;
        }
        future - future_value(rate, periods, payment, present, due)
    };
    number_result(newton(value, guess).ok_or(ErrorCode::Num)?)
}

/// Finds a root by Newton's method, starting at `guess`, and refines it with a few more iterations.
/// Returns `None` if the method does not converge, in which case Excel's `RATE` also fails.
fn newton(function: impl Fn(f64) -> f64, guess: f64) -> Option<f64> {
    const MOST_STEPS: u32 = 100;
    const CLOSE: f64 = 1e-7;
    const IMPROVEMENTS: u32 = 3;
    let step = |rate: f64| {
        let width = rate.abs().max(1e-2) * 1e-6;
        let slope = (function(rate + width) - function(rate - width)) / (2.0 * width);
        let next = rate - function(rate) / slope;
        if next.is_finite() && next > -1.0 { Some(next) } else { None }
    };
    let mut rate = guess;
    for _ in 0..MOST_STEPS {
        let next = step(rate)?;
        let is_close = (next - rate).abs() < CLOSE;
        rate = next;
        if is_close {
            return Some((0..IMPROVEMENTS).fold(rate, |rate, _| step(rate).unwrap_or(rate)));
        }
    }
    None
}
