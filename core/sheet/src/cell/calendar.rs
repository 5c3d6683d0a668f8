//! Dates of the calendar and their serial numbers, which count days since 1899-12-30.
//!
//! Excel counts the nonexistent date 1900-02-29, so its serial numbers before 1900-03-01 are one
//! less. From there on, all spreadsheet programs count alike.

/// Serial of 1900-03-01.
pub(super) const FIRST_SERIAL: i64 = 61;
/// Serial of 9999-12-31.
pub const LAST_SERIAL: i64 = 2_958_465;
/// The day that exists only in Excel: 1900-02-29.
const FALSE_LEAP_DAY: i64 = 60;
/// Number of days from 0000-03-01 to 1899-12-30.
const EPOCH_DAYS: i64 = 693_899;

/// A date of the Gregorian calendar. Months and days are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// Year.
    pub year: i64,
    /// Month, from 1.
    pub month: i64,
    /// Day of the month, from 1. It is 0 for the serial 0.
    pub day: i64,
}

/// Returns the date of a serial from 0 on, as Excel counts: 0 is day 0 of January 1900, and 60 is
/// 1900-02-29.
#[must_use]
pub fn date_of(serial: i64) -> Date {
    match serial {
        0 => Date { year: 1900, month: 1, day: 0 },
        FALSE_LEAP_DAY => Date { year: 1900, month: 2, day: 29 },
        1..FALSE_LEAP_DAY => civil_from_days(serial + 1),
        _ => civil_from_days(serial),
    }
}

/// Returns the serial of a date, as Excel counts. Months and days may be outside their usual range:
/// month 13 is January of the next year.
#[must_use]
pub fn serial_of(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + month - 1;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let first = days_from_civil(year, month, 1);
    let first = if first <= FALSE_LEAP_DAY { first - 1 } else { first };
    first + day - 1
}

/// Returns the day of the week of a serial, from 0 for Sunday.
#[must_use]
pub fn weekday(serial: i64) -> i64 {
    const SERIAL_OF_A_SUNDAY: i64 = 1;
    (serial - SERIAL_OF_A_SUNDAY).rem_euclid(7)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_serial_is_that_of_its_date() {
        for serial in 0..=LAST_SERIAL {
            let Date { year, month, day } = date_of(serial);
            assert_eq!(serial_of(year, month, day), serial);
        }
    }

    #[test]
    fn dates_before_march_1900_are_those_of_excel() {
        for (serial, year, month, day, expected_weekday) in [
            (0, 1900, 1, 0, 6),
            (1, 1900, 1, 1, 0),
            (59, 1900, 2, 28, 2),
            (60, 1900, 2, 29, 3),
            (61, 1900, 3, 1, 4),
        ] {
            assert_eq!(date_of(serial), Date { year, month, day });
            assert_eq!(weekday(serial), expected_weekday, "{serial}");
        }
        assert_eq!(serial_of(1899, 14, 1), 32);
        assert_eq!(serial_of(2024, 3, 0), serial_of(2024, 2, 29));
    }
}
