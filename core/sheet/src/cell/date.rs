//! Conversion of dates and times to serial numbers, which count days since 1899-12-30.
//!
//! Other spreadsheet programs use the same serial numbers from 1900-03-01 on. Earlier dates are not
//! converted, because other programs count the nonexistent date 1900-02-29.

use super::calendar::{Date, FIRST_SERIAL, LAST_SERIAL, date_of, serial_of, weekday};

pub(super) const SECONDS_PER_MINUTE: i64 = 60;
pub(super) const SECONDS_PER_HOUR: i64 = 3_600;
const DAYS_OF_SHORTEST_MONTH: i64 = 28;
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

/// Returns the serial number of a date and a time of day, given in seconds since midnight. Months
/// and days are counted from 1. Returns `None` if the date does not exist or is before 1900-03-01.
#[must_use]
pub fn date_serial(year: i64, month: i64, day: i64, second_of_day: i64) -> Option<f64> {
    to_serial(DateTime { year, month, day, second_of_day })
}

/// Returns `None` if the date does not exist or is before 1900-03-01.
pub(super) fn to_serial(date: DateTime) -> Option<f64> {
    let days = serial_of_existing(date.year, date.month, date.day)?;
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
#[cfg(test)]
fn from_serial(serial: f64) -> Option<DateTime> {
    let split = SplitSerial::of(serial, 0)?;
    let Date { year, month, day } = split.date()?;
    let second_of_day = split.units_of_day;
    Some(DateTime { year, month, day, second_of_day })
}

/// A serial number, split into days and the time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SplitSerial {
    days: i64,
    /// Seconds, or decimal fractions of seconds.
    units_of_day: i64,
    units_per_second: i64,
}

impl SplitSerial {
    /// Splits a serial number, rounded to `second_decimals` decimals of a second, at most 3. Returns
    /// `None` if it is negative or after 9999-12-31.
    pub(super) fn of(serial: f64, second_decimals: usize) -> Option<Self> {
        let (units_per_second, float_units_per_second) = match second_decimals {
            0 => (1, 1.0),
            1 => (10, 10.0),
            2 => (100, 100.0),
            _ => (1_000, 1_000.0),
        };
        if serial < 0.0 {
            return None;
        }
        let total_units =
            round_to_integer(serial * SERIAL_SECONDS_PER_DAY * float_units_per_second)?;
        let units_per_day = SECONDS_PER_DAY * units_per_second;
        let days = total_units.div_euclid(units_per_day);
        let units_of_day = total_units.rem_euclid(units_per_day);
        if days > LAST_SERIAL {
            return None;
        }
        Some(Self { days, units_of_day, units_per_second })
    }

    /// Returns `None` before 1900-03-01.
    pub(super) fn date(self) -> Option<Date> {
        (self.days >= FIRST_SERIAL).then(|| self.excel_date())
    }

    /// Returns the date as Excel counts it, also before 1900-03-01.
    pub(super) fn excel_date(self) -> Date {
        date_of(self.days)
    }

    fn second_of_day(self) -> i64 {
        self.units_of_day / self.units_per_second
    }

    /// Returns the day of the week, from 0 for Sunday.
    pub(super) fn weekday(self) -> usize {
        usize::try_from(weekday(self.days)).unwrap_or(0)
    }

    pub(super) fn hour(self) -> i64 {
        self.second_of_day() / SECONDS_PER_HOUR
    }

    pub(super) fn minute(self) -> i64 {
        self.second_of_day() % SECONDS_PER_HOUR / SECONDS_PER_MINUTE
    }

    pub(super) fn second(self) -> i64 {
        self.second_of_day() % SECONDS_PER_MINUTE
    }

    pub(super) fn millisecond(self) -> i64 {
        self.units_of_day % self.units_per_second * (1_000 / self.units_per_second)
    }

    pub(super) fn elapsed_hours(self) -> i64 {
        self.elapsed_seconds() / SECONDS_PER_HOUR
    }

    pub(super) fn elapsed_minutes(self) -> i64 {
        self.elapsed_seconds() / SECONDS_PER_MINUTE
    }

    pub(super) fn elapsed_seconds(self) -> i64 {
        self.days * SECONDS_PER_DAY + self.second_of_day()
    }
}

fn round_to_integer(number: f64) -> Option<i64> {
    // Adding 0 turns -0 into 0.
    super::value::exact_integer(number.round() + 0.0)
}

/// Returns the serial number of a calendar date, or `None` if the date does not exist.
fn serial_of_existing(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(0..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let serial = serial_of(year, month, day);
    // A nonexistent date, such as 31 June, yields the serial number of a different date.
    let is_existing = day <= DAYS_OF_SHORTEST_MONTH || date_of(serial) == Date { year, month, day };
    is_existing.then_some(serial)
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
