//! Bonds with an odd first or last period.

use cellar_sheet::cell::ErrorCode;

use super::bonds::ROOT_EVALUATIONS;
use super::coupons::{Coupons, date_argument, frequency_argument, shifted};
use super::discounts::coupon_periods;
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_i64, to_length};
use crate::numerics::real::Real;
use crate::numerics::roots::newton;
use crate::operand::{Operand, Outcome};
use crate::value::day_count::Basis;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ODDFPRICE", 8, 9, "s", |call| {
        let bond = OddFirst::of_call(call)?;
        ensure(bond.quote >= 0.0, ErrorCode::Num)?;
        number_result(bond.price(bond.quote))
    }),
    eager("ODDFYIELD", 8, 9, "s", |call| {
        let bond = OddFirst::of_call(call)?;
        ensure(bond.quote > 0.0, ErrorCode::Num)?;
        call.spend(to_length(bond.later_coupons).saturating_mul(ROOT_EVALUATIONS))?;
        let value = |annual_yield: f64| bond.price(annual_yield) - bond.quote;
        number_result(newton(value, bond.rate.max(0.05), 1e-13).ok_or(ErrorCode::Num)?)
    }),
    eager("ODDLPRICE", 7, 8, "s", |call| odd_last(call, true)),
    eager("ODDLYIELD", 7, 8, "s", |call| odd_last(call, false)),
];

/// A bond with an odd first period. Times are in coupon periods.
struct OddFirst {
    rate: f64,
    /// The annual yield for `ODDFPRICE`, or the price for `ODDFYIELD`.
    quote: f64,
    redemption: f64,
    frequency: f64,
    /// Time from issue to the first coupon.
    first: f64,
    /// Time from issue to settlement.
    accrued: f64,
    /// Time from settlement to the first coupon.
    rest: f64,
    /// Number of coupons after the first one.
    later_coupons: f64,
}

impl OddFirst {
    fn of_call(call: &Call<'_, '_>) -> Outcome<Self> {
        let (settlement, maturity) = (date_argument(call, 0)?, date_argument(call, 1)?);
        let (issue, first_coupon) = (date_argument(call, 2)?, date_argument(call, 3)?);
        let (rate, quote, redemption) = (call.number(4)?, call.number(5)?, call.number(6)?);
        let frequency = frequency_argument(call, 7)?;
        let basis = Basis::of_argument(call, 8)?;
        let is_ordered = issue < settlement && settlement < first_coupon && first_coupon < maturity;
        ensure(is_ordered && rate >= 0.0 && redemption > 0.0, ErrorCode::Num)?;
        let between = |from, to| coupon_periods(call, first_coupon, frequency, basis, from, to);
        let coupons = Coupons::new(settlement, first_coupon, frequency, basis);
        let rest = coupons.count - 1.0 + coupons.days_after() / coupons.days_in_period();
        Ok(Self {
            rate,
            quote,
            redemption,
            frequency: from_i64(frequency),
            first: between(issue, first_coupon)?,
            accrued: between(issue, settlement)?,
            rest,
            later_coupons: Coupons::new(first_coupon, maturity, frequency, basis).count,
        })
    }

    fn price(&self, annual_yield: f64) -> f64 {
        let growth = 1.0 + annual_yield / self.frequency;
        let coupon = 100.0 * self.rate / self.frequency;
        let mut sum = self.redemption / growth.power(self.later_coupons + self.rest);
        sum += coupon * self.first / growth.power(self.rest);
        let mut step = 1.0;
        while step <= self.later_coupons {
            sum += coupon / growth.power(step + self.rest);
            step += 1.0;
        }
        sum - coupon * self.accrued
    }
}

fn odd_last(call: &Call<'_, '_>, is_price: bool) -> Outcome<Operand> {
    let (settlement, maturity) = (date_argument(call, 0)?, date_argument(call, 1)?);
    let last_interest = date_argument(call, 2)?;
    let (rate, quote, redemption) = (call.number(3)?, call.number(4)?, call.number(5)?);
    let frequency = frequency_argument(call, 6)?;
    let basis = Basis::of_argument(call, 7)?;
    let is_ordered = last_interest < settlement && settlement < maturity;
    let is_quote = if is_price { quote >= 0.0 } else { quote > 0.0 };
    ensure(is_ordered && is_quote && rate >= 0.0 && redemption > 0.0, ErrorCode::Num)?;
    ensure(shifted(last_interest, 12 / frequency) > last_interest, ErrorCode::Num)?;
    let between =
        |from: i64, to: i64| coupon_periods(call, last_interest, frequency, basis, from, to);
    let frequency = from_i64(frequency);
    let coupon = 100.0 * rate / frequency;
    let received = redemption + coupon * between(last_interest, maturity)?;
    let accrued = coupon * between(last_interest, settlement)?;
    let rest = between(settlement, maturity)?;
    number_result(if is_price {
        received / (1.0 + rest * quote / frequency) - accrued
    } else {
        (received / (quote + accrued) - 1.0) * frequency / rest
    })
}
