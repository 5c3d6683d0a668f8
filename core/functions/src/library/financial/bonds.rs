//! Prices, yields and durations of bonds.

use cellar_sheet::cell::ErrorCode;

use super::coupons::{Coupons, date_argument, frequency_argument};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_i64, to_length};
use crate::numerics::real::Real;
use crate::numerics::roots::newton;
use crate::operand::Outcome;
use crate::value::day_count::Basis;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("DURATION", 5, 6, "s", |call| number_result(duration(call)?.0)),
    eager("MDURATION", 5, 6, "s", |call| {
        let (duration, growth) = duration(call)?;
        number_result(duration / growth)
    }),
    eager("PRICE", 6, 7, "s", |call| {
        let (coupons, rate) = bond(call, 5, 6)?;
        let (annual_yield, redemption) = (call.number(3)?, call.number(4)?);
        ensure(annual_yield >= 0.0 && redemption > 0.0, ErrorCode::Num)?;
        number_result(price(&coupons, rate, annual_yield, redemption))
    }),
    eager("YIELD", 6, 7, "s", |call| {
        let (coupons, rate) = bond(call, 5, 6)?;
        let (wanted, redemption) = (call.number(3)?, call.number(4)?);
        ensure(wanted > 0.0 && redemption > 0.0, ErrorCode::Num)?;
        call.spend(to_length(coupons.count).saturating_mul(ROOT_EVALUATIONS))?;
        let value = |annual_yield: f64| price(&coupons, rate, annual_yield, redemption) - wanted;
        number_result(newton(value, rate.max(0.05), 1e-13).ok_or(ErrorCode::Num)?)
    }),
];

/// Estimated number of times the price is evaluated to compute a yield.
pub(super) const ROOT_EVALUATIONS: usize = 30;

/// Returns the coupon schedule and the annual coupon rate of a bond. Settlement, maturity and rate
/// are the first three arguments. `frequency` and `basis` are argument indexes.
fn bond(call: &Call<'_, '_>, frequency: usize, basis: usize) -> Outcome<(Coupons, f64)> {
    let (settlement, maturity) = (date_argument(call, 0)?, date_argument(call, 1)?);
    let rate = call.number(2)?;
    let frequency = frequency_argument(call, frequency)?;
    let basis = Basis::of_argument(call, basis)?;
    ensure(settlement < maturity && rate >= 0.0, ErrorCode::Num)?;
    let coupons = Coupons::new(settlement, maturity, frequency, basis);
    call.spend(to_length(coupons.count))?;
    Ok((coupons, rate))
}

/// Computes the price per 100 of face value.
fn price(coupons: &Coupons, rate: f64, annual_yield: f64, redemption: f64) -> f64 {
    let frequency = from_i64(coupons.frequency);
    let coupon = 100.0 * rate / frequency;
    let period = coupons.days_in_period();
    let accrued = coupon * coupons.days_before() / period;
    let part = coupons.days_after() / period;
    if coupons.count == 1.0 {
        return (redemption + coupon) / (1.0 + part * annual_yield / frequency) - accrued;
    }
    let growth = 1.0 + annual_yield / frequency;
    let last = coupons.count - 1.0 + part;
    let mut sum = redemption / growth.power(last);
    let mut step = 0.0;
    while step < coupons.count {
        sum += coupon / growth.power(step + part);
        step += 1.0;
    }
    sum - accrued
}

/// Computes the Macaulay duration, in years, and the growth factor of one coupon period.
fn duration(call: &Call<'_, '_>) -> Outcome<(f64, f64)> {
    let (coupons, rate) = bond(call, 4, 5)?;
    let annual_yield = call.number(3)?;
    ensure(annual_yield >= 0.0, ErrorCode::Num)?;
    let frequency = from_i64(coupons.frequency);
    let growth = 1.0 + annual_yield / frequency;
    let coupon = 100.0 * rate / frequency;
    let part = match coupons.basis {
        Basis::Us30 | Basis::European30 => coupons.days_after() / coupons.days_in_period(),
        _ => 1.0 - coupons.days_before() / coupons.days_in_period(),
    };
    let (mut weighted, mut sum) = (0.0, 0.0);
    let mut step = 0.0;
    while step < coupons.count {
        let time = step + part;
        let is_last = step + 1.0 == coupons.count;
        let flow = coupon + if is_last { 100.0 } else { 0.0 };
        weighted += time * flow / growth.power(time);
        sum += flow / growth.power(time);
        step += 1.0;
    }
    Ok((weighted / sum / frequency, growth))
}
