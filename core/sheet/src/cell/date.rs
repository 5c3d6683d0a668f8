//! Conversion of dates and times to serial numbers, which count days since 1899-12-30.
//!
//! Other spreadsheet programs use the same serial numbers from 1900-03-01 on. Earlier dates are not
//! converted, because other programs count the nonexistent date 1900-02-29.

/// Serial of 1900-03-01.
const FIRST_SERIAL: i64 = 61;
/// Serial of 9999-12-31.
const LAST_SERIAL: i64 = 2_958_465;
/// Number of days from 0000-03-01 to 1899-12-30.
const EPOCH_DAYS: i64 = 693_899;
pub(super) const SECONDS_PER_MINUTE: i64 = 60;
pub(super) const SECONDS_PER_HOUR: i64 = 3_600;
const SECONDS_PER_DAY: i64 = 86_400;
const SERIAL_SECONDS_PER_DAY: f64 = 86_400.0;

/// A date and a time of day, with a precision of one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DateTime {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) second_of_day: i64,
}

impl DateTime {
    pub(super) fn hour(self) -> i64 {
        self.second_of_day / SECONDS_PER_HOUR
    }

    pub(super) fn minute(self) -> i64 {
        self.second_of_day % SECONDS_PER_HOUR / SECONDS_PER_MINUTE
    }

    pub(super) fn second(self) -> i64 {
        self.second_of_day % SECONDS_PER_MINUTE
    }
}

/// Returns the serial number of a date and a time of day, given in seconds since midnight. Months
/// and days are counted from 1. Returns `None` if the date does not exist or is before 1900-03-01.
#[must_use]
pub fn date_serial(year: i64, month: i64, day: i64, second_of_day: i64) -> Option<f64> {
    to_serial(DateTime { year, month, day, second_of_day })
}

/// Returns `None` if the date does not exist or is before 1900-03-01.
pub(super) fn to_serial(date: DateTime) -> Option<f64> {
    let days = days_from_civil(date.year, date.month, date.day)?;
    let is_valid_date = (FIRST_SERIAL..=LAST_SERIAL).contains(&days);
    let is_valid_time = (0..SECONDS_PER_DAY).contains(&date.second_of_day);
    if !is_valid_date || !is_valid_time {
        return None;
    }
    let days = f64::from(i32::try_from(days).ok()?);
    let seconds = f64::from(i32::try_from(date.second_of_day).ok()?);
    Some(days + seconds / SERIAL_SECONDS_PER_DAY)
}

/// Returns the date and time of a serial number, rounded to one second. Returns `None` if the date
/// is before 1900-03-01 or after 9999-12-31.
pub(super) fn from_serial(serial: f64) -> Option<DateTime> {
    let total_seconds = round_to_integer(serial * SERIAL_SECONDS_PER_DAY)?;
    let days = total_seconds.div_euclid(SECONDS_PER_DAY);
    let second_of_day = total_seconds.rem_euclid(SECONDS_PER_DAY);
    if !(FIRST_SERIAL..=LAST_SERIAL).contains(&days) {
        return None;
    }
    let (year, month, day) = civil_from_days(days);
    Some(DateTime { year, month, day, second_of_day })
}

fn round_to_integer(number: f64) -> Option<i64> {
    super::value::exact_integer(number.round())
}

/// Returns the serial number of a calendar date, or `None` if the date does not exist.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(0..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - EPOCH_DAYS;
    // A nonexistent date, such as 31 June, yields the serial number of a different date.
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
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
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: i64, month: i64, day: i64) -> DateTime {
        DateTime { year, month, day, second_of_day: 0 }
    }

    #[test]
    fn known_serials() {
        for (year, month, day, serial) in [
            (1900, 3, 1, 61.0),
            (1970, 1, 1, 25_569.0),
            (2000, 2, 29, 36_585.0),
            (2012, 1, 1, 40_909.0),
            (9999, 12, 31, 2_958_465.0),
        ] {
            assert_eq!(to_serial(date(year, month, day)), Some(serial));
            assert_eq!(from_serial(serial), Some(date(year, month, day)));
        }
    }

    #[test]
    fn round_trips_every_day() {
        for serial in FIRST_SERIAL..=LAST_SERIAL {
            let (year, month, day) = civil_from_days(serial);
            assert_eq!(days_from_civil(year, month, day), Some(serial));
        }
    }

    #[test]
    fn rejects_dates_that_do_not_exist() {
        for (year, month, day) in [
            (1900, 2, 28),
            (2001, 2, 29),
            (2000, 2, 30),
            (2000, 13, 1),
            (2000, 0, 1),
            (2000, 4, 31),
            (10_000, 1, 1),
        ] {
            assert_eq!(to_serial(date(year, month, day)), None, "{year}-{month}-{day}");
        }
        assert_eq!(from_serial(60.0), None);
        assert_eq!(from_serial(2_958_466.0), None);
        assert_eq!(from_serial(f64::NAN), None);
    }

    #[test]
    fn round_trips_every_second_of_a_day() {
        for second_of_day in 0..86_400 {
            let moment = DateTime { second_of_day, ..date(2026, 11, 21) };
            assert_eq!(from_serial(to_serial(moment).unwrap()), Some(moment));
        }
    }
}
