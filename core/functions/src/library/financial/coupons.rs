//! Functions that compute coupon dates.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::from_i64;
use crate::operand::{Operand, Outcome};
use crate::value::calendar::{date_of, days_in_month, number_of, serial_of, valid_serial};
use crate::value::day_count::Basis;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("COUPDAYBS", 3, 4, "s", |call| number_result(Coupons::of_call(call)?.days_before())),
    eager("COUPDAYS", 3, 4, "s", |call| number_result(Coupons::of_call(call)?.days_in_period())),
    eager("COUPDAYSNC", 3, 4, "s", |call| number_result(Coupons::of_call(call)?.days_after())),
    eager("COUPNCD", 3, 4, "s", |call| coupon_date(call, |coupons| coupons.next)),
    eager("COUPNUM", 3, 4, "s", |call| number_result(Coupons::of_call(call)?.count)),
    eager("COUPPCD", 3, 4, "s", |call| coupon_date(call, |coupons| coupons.previous)),
];

/// Converts an argument to the serial number of a date. Fails with `#VALUE!` for a boolean.
pub(super) fn date_argument(call: &Call<'_, '_>, index: usize) -> Outcome<i64> {
    ensure(!matches!(call.value(index)?, Value::Bool(_)), ErrorCode::Value)?;
    valid_serial(call.number(index)?)
}

/// Returns the number of coupons per year. Fails with `#NUM!` if it is not 1, 2 or 4.
pub(super) fn frequency_argument(call: &Call<'_, '_>, index: usize) -> Outcome<i64> {
    let frequency = call.integer(index)?;
    ensure(matches!(frequency, 1 | 2 | 4), ErrorCode::Num)?;
    Ok(frequency)
}

fn is_month_end(serial: i64) -> bool {
    let date = date_of(serial);
    date.day == days_in_month(date.year, date.month)
}

/// Returns the date a number of months after `anchor`. If `anchor` is the last day of its month, so
/// is the result.
pub(super) fn shifted(anchor: i64, months: i64) -> i64 {
    let date = date_of(anchor);
    let total = date.year * 12 + date.month - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    let last = days_in_month(year, month);
    serial_of(year, month, if is_month_end(anchor) { last } else { date.day.min(last) })
}

/// The coupon schedule of a bond as of its settlement date.
pub(super) struct Coupons {
    pub(super) settlement: i64,
    pub(super) previous: i64,
    pub(super) next: i64,
    /// Number of coupons between settlement and maturity.
    pub(super) count: f64,
    pub(super) frequency: i64,
    pub(super) basis: Basis,
}

impl Coupons {
    /// Computes the schedule from the first four arguments: settlement, maturity, frequency and
    /// basis.
    fn of_call(call: &Call<'_, '_>) -> Outcome<Self> {
        let (settlement, maturity) = (date_argument(call, 0)?, date_argument(call, 1)?);
        let frequency = frequency_argument(call, 2)?;
        let basis = Basis::of_argument(call, 3)?;
        ensure(settlement < maturity, ErrorCode::Num)?;
        Ok(Self::new(settlement, maturity, frequency, basis))
    }

    pub(super) fn new(settlement: i64, maturity: i64, frequency: i64, basis: Basis) -> Self {
        let months = 12 / frequency;
        let (from, to) = (date_of(settlement), date_of(maturity));
        let distance = (to.year - from.year) * 12 + to.month - from.month;
        let mut periods = distance / months;
        while shifted(maturity, -periods * months) > settlement {
            periods += 1;
        }
        while periods > 0 && shifted(maturity, -(periods - 1) * months) <= settlement {
            periods -= 1;
        }
        Self {
            settlement,
            previous: shifted(maturity, -periods * months),
            next: shifted(maturity, -(periods - 1) * months),
            count: from_i64(periods),
            frequency,
            basis,
        }
    }

    pub(super) fn days_in_period(&self) -> f64 {
        match self.basis.days_per_year() {
            Some(days) => days / from_i64(self.frequency),
            None => number_of(self.next - self.previous),
        }
    }

    pub(super) fn days_before(&self) -> f64 {
        self.basis.days(self.previous, self.settlement)
    }

    pub(super) fn days_after(&self) -> f64 {
        match self.basis {
            Basis::Us30 | Basis::European30 => self.days_in_period() - self.days_before(),
            _ => number_of(self.next - self.settlement),
        }
    }
}

fn coupon_date(call: &Call<'_, '_>, date: fn(&Coupons) -> i64) -> Outcome<Operand> {
    let date = date(&Coupons::of_call(call)?);
    ensure(date >= 0, ErrorCode::Num)?;
    number_result(from_i64(date))
}
