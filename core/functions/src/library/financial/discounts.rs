//! Discounted securities, accrued interest and Treasury bills.

use cellar_sheet::cell::ErrorCode;

use super::coupons::{Coupons, date_argument, frequency_argument, shifted};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::from_i64;
use crate::operand::{Operand, Outcome};
use crate::value::calendar::{add_months, number_of};
use crate::value::day_count::Basis;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ACCRINT", 6, 8, "s", accrued_interest),
    eager("ACCRINTM", 4, 5, "s", |call| {
        let (issue, settlement) = (date_argument(call, 0)?, date_argument(call, 1)?);
        let (rate, par) = (call.number(2)?, call.number(3)?);
        let basis = Basis::of_argument(call, 4)?;
        ensure(rate > 0.0 && par > 0.0 && issue < settlement, ErrorCode::Num)?;
        number_result(par * rate * basis.years(issue, settlement))
    }),
    eager("DISC", 4, 5, "s", |call| {
        let (years, price, redemption) = (term(call, 4)?, positive(call, 2)?, positive(call, 3)?);
        number_result((redemption - price) / redemption / years)
    }),
    eager("INTRATE", 4, 5, "s", |call| {
        let (years, investment, redemption) =
            (term(call, 4)?, positive(call, 2)?, positive(call, 3)?);
        number_result((redemption - investment) / investment / years)
    }),
    eager("PRICEDISC", 4, 5, "s", |call| {
        let (years, discount, redemption) =
            (term(call, 4)?, positive(call, 2)?, positive(call, 3)?);
        number_result(redemption - discount * redemption * years)
    }),
    eager("PRICEMAT", 5, 6, "s", |call| {
        let maturity = AtMaturity::of_call(call)?;
        let annual_yield = call.number(4)?;
        ensure(annual_yield >= 0.0, ErrorCode::Num)?;
        let value = 100.0 * (1.0 + maturity.total * maturity.rate);
        let price = value / (1.0 + maturity.rest * annual_yield);
        number_result(price - 100.0 * maturity.accrued * maturity.rate)
    }),
    eager("RECEIVED", 4, 5, "s", |call| {
        let (years, investment, discount) =
            (term(call, 4)?, positive(call, 2)?, positive(call, 3)?);
        let divisor = 1.0 - discount * years;
        ensure(divisor > 0.0, ErrorCode::Num)?;
        number_result(investment / divisor)
    }),
    eager("TBILLEQ", 3, 3, "s", bond_equivalent),
    eager("TBILLPRICE", 3, 3, "s", |call| {
        let (days, discount) = (bill_days(call)?, positive(call, 2)?);
        let price = 100.0 * (1.0 - discount * days / 360.0);
        ensure(price > 0.0, ErrorCode::Num)?;
        number_result(price)
    }),
    eager("TBILLYIELD", 3, 3, "s", |call| {
        let (days, price) = (bill_days(call)?, positive(call, 2)?);
        number_result((100.0 - price) / price * 360.0 / days)
    }),
    eager("YIELDDISC", 4, 5, "s", |call| {
        let (years, price, redemption) = (term(call, 4)?, positive(call, 2)?, positive(call, 3)?);
        number_result((redemption / price - 1.0) / years)
    }),
    eager("YIELDMAT", 5, 6, "s", |call| {
        let maturity = AtMaturity::of_call(call)?;
        let price = positive(call, 4)?;
        let paid = price / 100.0 + maturity.accrued * maturity.rate;
        let received = 1.0 + maturity.total * maturity.rate;
        number_result((received / paid - 1.0) / maturity.rest)
    }),
];

fn positive(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    let number = call.number(index)?;
    ensure(number > 0.0, ErrorCode::Num)?;
    Ok(number)
}

/// Returns the number of years between the settlement and maturity dates, which are the first two
/// arguments. `basis` is the index of the basis argument.
fn term(call: &Call<'_, '_>, basis: usize) -> Outcome<f64> {
    let (settlement, maturity) = (date_argument(call, 0)?, date_argument(call, 1)?);
    let basis = Basis::of_argument(call, basis)?;
    ensure(settlement < maturity, ErrorCode::Num)?;
    Ok(basis.years(settlement, maturity))
}

/// A security that pays all interest at maturity. Times are in years.
struct AtMaturity {
    /// Time from issue to maturity.
    total: f64,
    /// Time from issue to settlement.
    accrued: f64,
    /// Time from settlement to maturity.
    rest: f64,
    rate: f64,
}

impl AtMaturity {
    fn of_call(call: &Call<'_, '_>) -> Outcome<Self> {
        let (settlement, maturity) = (date_argument(call, 0)?, date_argument(call, 1)?);
        let (issue, rate) = (date_argument(call, 2)?, call.number(3)?);
        let basis = Basis::of_argument(call, 5)?;
        ensure(rate >= 0.0 && settlement < maturity && issue <= settlement, ErrorCode::Num)?;
        let (total, accrued) = (basis.years(issue, maturity), basis.years(issue, settlement));
        Ok(Self { total, accrued, rest: basis.years(settlement, maturity), rate })
    }
}

/// Returns the number of days between settlement and maturity of a Treasury bill. Fails with
/// `#NUM!` if they are more than a year apart.
fn bill_days(call: &Call<'_, '_>) -> Outcome<f64> {
    let (settlement, maturity) = (date_argument(call, 0)?, date_argument(call, 1)?);
    let is_valid = settlement < maturity && maturity <= add_months(settlement, 12);
    ensure(is_valid, ErrorCode::Num)?;
    Ok(number_of(maturity - settlement))
}

fn bond_equivalent(call: &Call<'_, '_>) -> Outcome<Operand> {
    const HALF_YEAR: f64 = 182.0;
    let (days, discount) = (bill_days(call)?, positive(call, 2)?);
    if days <= HALF_YEAR {
        let divisor = 360.0 - discount * days;
        ensure(divisor > 0.0, ErrorCode::Num)?;
        return number_result(365.0 * discount / divisor);
    }
    // The equivalent bond pays a coupon after half a year, so its yield is the root of a quadratic
    // equation.
    let price = 1.0 - discount * days / 360.0;
    ensure(price > 0.0, ErrorCode::Num)?;
    let term = days / if days > 365.0 { 366.0 } else { 365.0 };
    let square = term * term - (2.0 * term - 1.0) * (1.0 - 1.0 / price);
    number_result(2.0 * (square.sqrt() - term) / (2.0 * term - 1.0))
}

/// Counts the coupon periods between two dates, including fractions of a period. All coupon dates
/// are a whole number of periods before or after `anchor`.
pub(super) fn coupon_periods(
    call: &Call<'_, '_>,
    anchor: i64,
    frequency: i64,
    basis: Basis,
    from: i64,
    to: i64,
) -> Outcome<f64> {
    let months = 12 / frequency;
    let mut step = -((anchor - from) / (28 * months)) - 1;
    while shifted(anchor, (step + 1) * months) <= from {
        step += 1;
    }
    let mut sum = 0.0;
    loop {
        call.spend(1)?;
        let (start, end) = (shifted(anchor, step * months), shifted(anchor, (step + 1) * months));
        if start >= to {
            return Ok(sum);
        }
        let length = match basis.days_per_year() {
            Some(days) => days / from_i64(frequency),
            None => number_of(end - start),
        };
        let is_whole = from <= start && end <= to;
        let days = basis.days(start.max(from), end.min(to));
        sum += if is_whole && basis != Basis::Actual360 && basis != Basis::Actual365 {
            1.0
        } else {
            days / length
        };
        step += 1;
    }
}

fn accrued_interest(call: &Call<'_, '_>) -> Outcome<Operand> {
    let issue = date_argument(call, 0)?;
    let (first_interest, settlement) = (date_argument(call, 1)?, date_argument(call, 2)?);
    let (rate, par) = (positive(call, 3)?, par_value(call, 4)?);
    let frequency = frequency_argument(call, 5)?;
    let basis = Basis::of_argument(call, 6)?;
    let from_issue = call.boolean_or(7, true)?;
    ensure(issue < settlement, ErrorCode::Num)?;
    let is_first_period = settlement <= first_interest;
    let from = if from_issue || is_first_period { issue } else { first_interest };
    let mut periods = coupon_periods(call, first_interest, frequency, basis, from, settlement)?;
    if !from_issue && is_first_period && issue < first_interest {
        // Excel does not count the full periods between the first and the last coupon period before
        // the first interest date.
        let coupons = Coupons::new(issue, first_interest, frequency, basis).count;
        periods -= (coupons - 2.0).max(0.0);
    }
    number_result(par * rate / from_i64(frequency) * periods)
}

/// Returns the par value, which must be positive. The default is 1000.
fn par_value(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    if call.is_given(index) { positive(call, index) } else { Ok(1000.0) }
}
