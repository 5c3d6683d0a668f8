//! Net present values and internal rates of return.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::number::from_length;
use crate::numerics::real::Real;
use crate::numerics::roots::newton;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("IRR", 1, 2, "ws", |call| {
        let flows = call.numbers_of(0)?;
        let guess = call.given_number_or(1, 0.1)?;
        call.spend(flows.len().saturating_mul(100))?;
        ensure(guess > -1.0, ErrorCode::Value)?;
        ensure(has_both_signs(&flows), ErrorCode::Num)?;
        let value = |rate: f64| present_value(rate, &flows) * (1.0 + rate);
        number_result(find_rate(value, guess).ok_or(ErrorCode::Num)?)
    }),
    eager("MIRR", 3, 3, "wss", modified_rate),
    eager("NPV", 2, MANY, "sw", |call| {
        let rate = call.number(0)?;
        let mut flows = Vec::new();
        for index in 1..call.len() {
            flows.extend(call.numbers_of(index)?);
        }
        ensure(rate != -1.0, ErrorCode::Div0)?;
        number_result(present_value(rate, &flows))
    }),
    eager("XIRR", 2, 3, "wws", |call| {
        let (flows, days) = (dated_numbers(call, 0)?, dated_numbers(call, 1)?);
        let guess = call.given_number_or(2, 0.1)?;
        ensure(flows.len() == days.len() && guess > -1.0, ErrorCode::Num)?;
        let first = check_days(&days)?;
        ensure(has_both_signs(&flows), ErrorCode::Num)?;
        call.spend(flows.len().saturating_mul(100))?;
        let value = |rate: f64| dated_value(rate, &flows, &days, first);
        number_result(find_rate(value, guess).ok_or(ErrorCode::Num)?)
    }),
    eager("XNPV", 3, 3, "sww", |call| {
        let rate = call.number(0)?;
        let (flows, days) = (call.numbers_of(1)?, call.numbers_of(2)?);
        ensure(flows.len() == days.len() && rate > 0.0, ErrorCode::Num)?;
        let first = check_days(&days)?;
        number_result(dated_value(rate, &flows, &days, first))
    }),
];

fn has_both_signs(flows: &[f64]) -> bool {
    flows.iter().any(|flow| *flow > 0.0) && flows.iter().any(|flow| *flow < 0.0)
}

/// Computes the net present value one period before the first cash flow.
fn present_value(rate: f64, flows: &[f64]) -> f64 {
    let mut factor = 1.0;
    let mut sum = 0.0;
    for flow in flows {
        factor *= 1.0 + rate;
        sum += flow / factor;
    }
    sum
}

/// Finds a rate at which `value` is 0 by Newton's method, starting at `guess`. If the method does
/// not converge, finds roots by bisection in fixed intervals and returns the one nearest to
/// `guess`.
fn find_rate(value: impl Fn(f64) -> f64, guess: f64) -> Option<f64> {
    const TOLERANCE: f64 = 1e-12;
    let is_root = |rate: &f64| *rate > -1.0 && value(*rate).is_finite();
    if let Some(rate) = newton(&value, guess, TOLERANCE).filter(is_root) {
        return Some(rate);
    }
    // An interval contains a root if the signs at its ends differ.
    let rates =
        [-0.99, -0.9, -0.7, -0.5, -0.3, -0.1, 0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0];
    let mut best: Option<f64> = None;
    for pair in rates.windows(2) {
        let [low, high] = pair else { continue };
        let (at_low, at_high) = (value(*low), value(*high));
        if at_low.is_finite() && at_high.is_finite() && at_low.signum() != at_high.signum() {
            let root = bisect(&value, *low, *high);
            let is_nearer = best.is_none_or(|best| (root - guess).abs() < (best - guess).abs());
            if is_nearer {
                best = Some(root);
            }
        }
    }
    best
}

fn bisect(value: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    const HALVINGS: u32 = 200;
    let (mut low, mut high) = (low, high);
    let sign = value(low).signum();
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if value(middle).signum() == sign {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// Returns the numbers in an argument. Fails with `#VALUE!` if it contains text or a boolean.
fn dated_numbers(call: &Call<'_, '_>, index: usize) -> Outcome<Vec<f64>> {
    let is_text = |value: &Value| matches!(value, Value::Text(_) | Value::Bool(_));
    ensure(!call.matrix(index)?.values.iter().any(is_text), ErrorCode::Value)?;
    call.numbers_of(index)
}

/// Returns the first date. Fails with `#NUM!` if another date is earlier.
fn check_days(days: &[f64]) -> Outcome<f64> {
    let first = days.first().ok_or(ErrorCode::Num)?.trunc();
    let is_valid = days.iter().all(|day| *day >= 0.0 && day.trunc() >= first);
    ensure(is_valid, ErrorCode::Num)?;
    Ok(first)
}

fn dated_value(rate: f64, flows: &[f64], days: &[f64], first: f64) -> f64 {
    let term = |(flow, day): (&f64, &f64)| flow / (1.0 + rate).power((day.trunc() - first) / 365.0);
    flows.iter().zip(days).map(term).sum()
}

fn modified_rate(call: &Call<'_, '_>) -> Outcome<Operand> {
    let flows = call.numbers_of(0)?;
    let (finance, reinvest) = (call.number(1)?, call.number(2)?);
    ensure(flows.iter().any(|flow| *flow < 0.0), ErrorCode::Div0)?;
    let last = from_length(flows.len()) - 1.0;
    ensure(last > 0.0, ErrorCode::Div0)?;
    let (mut gains, mut costs) = (0.0, 0.0);
    let mut period = 0.0;
    for flow in &flows {
        if *flow > 0.0 {
            gains += flow * (1.0 + reinvest).power(last - period);
        } else if *flow < 0.0 {
            costs += flow / (1.0 + finance).power(period);
        }
        period += 1.0;
    }
    ensure(costs.is_finite(), ErrorCode::Div0)?;
    number_result((-gains / costs).power(1.0 / last) - 1.0)
}
