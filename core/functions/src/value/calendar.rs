//! Dates as serial numbers: days since 1899-12-31, with the nonexistent 1900-02-29 as day 60.

use cellar_sheet::cell::ErrorCode;

use crate::number::{from_i64, to_i64};
use crate::operand::Outcome;

/// Serial of 9999-12-31.
pub(crate) const LAST_SERIAL: i64 = 2_958_465;
/// The day that exists only in spreadsheets: 1900-02-29.
const FALSE_LEAP_DAY: i64 = 60;
/// Number of days from 0000-03-01 to 1899-12-30.
const EPOCH_DAYS: i64 = 693_899;
pub(crate) const SECONDS_PER_DAY: f64 = 86_400.0;

/// A date of the calendar. Day 0 of January 1900 is serial 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - EPOCH_DAYS
}

fn civil_from_days(days: i64) -> Date {
    let shifted = days + EPOCH_DAYS;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Date { year, month, day }
}

/// Returns the serial of a date. Months and days may be outside their usual range.
pub(crate) fn serial_of(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + month - 1;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let first = days_from_civil(year, month, 1);
    // Before 1900-03-01, serials are one less than the number of days since 1899-12-30.
    let first = if first <= FALSE_LEAP_DAY { first - 1 } else { first };
    first + day - 1
}

/// Returns the date of a serial from 0 on.
pub(crate) fn date_of(serial: i64) -> Date {
    match serial {
        0 => Date { year: 1900, month: 1, day: 0 },
        FALSE_LEAP_DAY => Date { year: 1900, month: 2, day: 29 },
        1..FALSE_LEAP_DAY => civil_from_days(serial + 1),
        _ => civil_from_days(serial),
    }
}

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

/// Returns the day of the week, 0 for Sunday.
pub(crate) fn weekday(serial: i64) -> i64 {
    (serial - 1).rem_euclid(7)
}

/// Returns hour, minute, second and the rest of the second of a time of day.
pub(crate) fn time_of(number: f64) -> (i64, i64, i64) {
    let seconds = to_i64((number.rem_euclid(1.0) * SECONDS_PER_DAY).round()) % 86_400;
    (seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

pub(crate) fn number_of(serial: i64) -> f64 {
    from_i64(serial)
}
