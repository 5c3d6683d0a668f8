//! Depreciation functions.

use cellar_sheet::cell::ErrorCode;

use super::coupons::date_argument;
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::to_length;
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};
use crate::value::day_count::Basis;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("AMORDEGRC", 6, 7, "s", |call| french(call, true)),
    eager("AMORLINC", 6, 7, "s", |call| french(call, false)),
    eager("DB", 4, 5, "s", declining_balance),
    eager("DDB", 4, 5, "s", double_declining_balance),
    eager("SLN", 3, 3, "s", |call| {
        let (cost, salvage, life) = (call.number(0)?, call.number(1)?, call.number(2)?);
        ensure(life != 0.0, ErrorCode::Div0)?;
        number_result((cost - salvage) / life)
    }),
    eager("SYD", 4, 4, "s", |call| {
        let (cost, salvage) = (call.number(0)?, call.number(1)?);
        let (life, period) = (call.number(2)?, call.number(3)?);
        ensure(life > 0.0 && period > 0.0 && period <= life, ErrorCode::Num)?;
        number_result((cost - salvage) * (life - period + 1.0) * 2.0 / (life * (life + 1.0)))
    }),
    eager("VDB", 5, 7, "s", variable_declining_balance),
];

const MOST_PERIODS: f64 = 1e6;

fn declining_balance(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (cost, salvage) = (call.number(0)?, call.number(1)?);
    let (life, period) = (call.number(2)?, call.number(3)?.trunc());
    let months = call.given_number_or(4, 12.0)?.trunc();
    let is_valid = cost >= 0.0 && salvage >= 0.0 && life > 0.0 && period > 0.0;
    ensure(is_valid && (1.0..=12.0).contains(&months), ErrorCode::Num)?;
    let last = if months < 12.0 { life + 1.0 } else { life };
    ensure(period <= last && period <= MOST_PERIODS, ErrorCode::Num)?;
    if cost == 0.0 {
        return Ok(0.0.into());
    }
    call.spend(to_length(period))?;
    let rate = ((1.0 - (salvage / cost).power(1.0 / life)) * 1000.0).round() / 1000.0;
    let mut depreciation = cost * rate * months / 12.0;
    let mut total = 0.0;
    let mut year = 1.0;
    while year < period {
        total += depreciation;
        year += 1.0;
        depreciation = (cost - total) * rate;
        if year > life {
            depreciation *= (12.0 - months) / 12.0;
        }
    }
    number_result(depreciation)
}

fn double_declining_balance(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (cost, salvage) = (call.number(0)?, call.number(1)?);
    let (life, period) = (call.number(2)?, call.number(3)?);
    let factor = call.given_number_or(4, 2.0)?;
    let is_valid = cost >= 0.0
        && salvage >= 0.0
        && life > 0.0
        && period > 0.0
        && period <= life
        && factor > 0.0;
    ensure(is_valid, ErrorCode::Num)?;
    number_result(balance_depreciation(cost, salvage, life, period, factor))
}

/// Computes the declining-balance depreciation of a period.
fn balance_depreciation(cost: f64, salvage: f64, life: f64, period: f64, factor: f64) -> f64 {
    let rate = (factor / life).min(1.0);
    let before = if rate >= 1.0 {
        if period == 1.0 { cost } else { 0.0 }
    } else {
        cost * (1.0 - rate).power(period - 1.0)
    };
    let after = cost * (1.0 - rate).power(period);
    (before - after.max(salvage)).max(0.0)
}

fn variable_declining_balance(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (cost, salvage, life) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let (start, end) = (call.number(3)?, call.number(4)?);
    let factor = call.given_number_or(5, 2.0)?;
    let stays_declining = call.given_boolean_or(6, false)?;
    let is_valid = cost >= 0.0
        && salvage >= 0.0
        && life > 0.0
        && start >= 0.0
        && start <= end
        && end <= life
        && factor >= 0.0;
    ensure(is_valid && end <= MOST_PERIODS, ErrorCode::Num)?;
    call.spend(to_length(end))?;
    let mut total = 0.0;
    let mut period = 0.0;
    let mut value = cost;
    let mut is_linear = false;
    let mut linear = 0.0;
    while period < end.ceil() {
        let declining = ((value * (factor / life).min(1.0)).min(value - salvage)).max(0.0);
        if !stays_declining && !is_linear {
            linear = (value - salvage).max(0.0) / (life - period).max(1e-300);
            is_linear = linear > declining;
        }
        let own = if is_linear { linear.min((value - salvage).max(0.0)) } else { declining };
        let covered = (end.min(period + 1.0) - start.max(period)).max(0.0);
        total += own * covered;
        value -= own;
        period += 1.0;
    }
    number_result(total)
}

/// Computes the depreciation of a period in the French accounting system: degressive for
/// `AMORDEGRC`, or linear for `AMORLINC`.
fn french(call: &Call<'_, '_>, is_degressive: bool) -> Outcome<Operand> {
    let (cost, purchase, first_end) =
        (call.number(0)?, date_argument(call, 1)?, date_argument(call, 2)?);
    let (salvage, period, rate) = (call.number(3)?, call.number(4)?.trunc(), call.number(5)?);
    let basis = Basis::of_argument(call, 6)?;
    ensure(basis != Basis::Actual360, ErrorCode::Num)?;
    let is_valid = cost > 0.0 && salvage >= 0.0 && salvage <= cost && period >= 0.0 && rate > 0.0;
    ensure(is_valid && purchase <= first_end && period <= MOST_PERIODS, ErrorCode::Num)?;
    call.spend(to_length(period))?;
    let first_part = basis.years(purchase, first_end);
    if is_degressive {
        return number_result(french_degressive(cost, salvage, period, rate, first_part)?);
    }
    let full = cost * rate;
    let first = full * first_part;
    let total = cost - salvage;
    let whole_periods = ((total - first) / full).trunc();
    number_result(if period == 0.0 {
        first.min(total)
    } else if period <= whole_periods {
        full
    } else if period == whole_periods + 1.0 {
        (total - full * whole_periods - first).max(0.0)
    } else {
        0.0
    })
}

fn french_degressive(
    cost: f64,
    salvage: f64,
    period: f64,
    rate: f64,
    first_part: f64,
) -> Outcome<f64> {
    let life = 1.0 / rate;
    let coefficient = match life {
        life if life < 3.0 => 1.0,
        life if life < 5.0 => 1.5,
        life if life <= 6.0 => 2.0,
        _ => 2.5,
    };
    let rate = rate * coefficient;
    let mut depreciation = (first_part * rate * cost).round();
    let mut value = cost - depreciation;
    let mut rest = value - salvage;
    let mut step = 0.0;
    while step < period {
        depreciation = (rate * value).round();
        rest -= depreciation;
        if rest < 0.0 {
            let left = period - step;
            return Ok(if left <= 2.0 { (value * 0.5).round() } else { 0.0 });
        }
        value -= depreciation;
        step += 1.0;
    }
    Ok(depreciation)
}
