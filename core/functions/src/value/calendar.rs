//! Arithmetic of dates, which are serial numbers.

use cellar_sheet::cell::ErrorCode;
pub(crate) use cellar_sheet::cell::calendar::{Date, LAST_SERIAL, date_of, serial_of, weekday};

use crate::number::{from_i64, to_i64};
use crate::operand::Outcome;

pub(crate) const SECONDS_PER_DAY: f64 = 86_400.0;

/// Returns the day of a number that is a date, or `#NUM!` outside the calendar.
pub(crate) fn valid_serial(number: f64) -> Outcome<i64> {
    let serial = to_i64(number.floor());
    if number < 0.0 || serial > LAST_SERIAL { Err(ErrorCode::Num.into()) } else { Ok(serial) }
}

pub(crate) fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the day that is a number of months later, or the last day of that month.
pub(crate) fn add_months(serial: i64, months: i64) -> i64 {
    let date = date_of(serial);
    let total = date.year * 12 + date.month - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    serial_of(year, month, date.day.min(days_in_month(year, month)))
}

/// Returns the last day of the month that is a number of months later.
pub(crate) fn end_of_month(serial: i64, months: i64) -> i64 {
    let date = date_of(serial);
    serial_of(date.year, date.month + months + 1, 0)
}

/// Returns hour, minute, second and the rest of the second of a time of day.
pub(crate) fn time_of(number: f64) -> (i64, i64, i64) {
    let seconds = to_i64((number.rem_euclid(1.0) * SECONDS_PER_DAY).round()) % 86_400;
    (seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

pub(crate) fn number_of(serial: i64) -> f64 {
    from_i64(serial)
}
