//! Day count conventions of bonds, which define the number of days and years between two dates.

use cellar_sheet::cell::ErrorCode;

use super::calendar::{Date, date_of, days_in_month, is_leap_year, number_of, serial_of};
use crate::call::Call;
use crate::operand::Outcome;

/// A day count convention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// 0: 30/360 in the United States (NASD).
    Us30,
    /// 1: actual/actual.
    Actual,
    /// 2: actual/360.
    Actual360,
    /// 3: actual/365.
    Actual365,
    /// 4: 30/360 in Europe.
    European30,
}

impl Basis {
    /// Converts an argument to a day count convention. The default is 0. Fails with `#NUM!` for an
    /// unknown number.
    pub(crate) fn of_argument(call: &Call<'_, '_>, index: usize) -> Outcome<Self> {
        match call.integer_or(index, 0)? {
            0 => Ok(Self::Us30),
            1 => Ok(Self::Actual),
            2 => Ok(Self::Actual360),
            3 => Ok(Self::Actual365),
            4 => Ok(Self::European30),
            _ => Err(ErrorCode::Num.into()),
        }
    }

    /// Returns the number of days from `start` to a later date.
    pub(crate) fn days(self, start: i64, end: i64) -> f64 {
        match self {
            Self::Us30 => number_of(days_30_us(date_of(start), date_of(end))),
            Self::European30 => number_of(days_30_europe(date_of(start), date_of(end))),
            _ => number_of(end - start),
        }
    }

    /// Returns the number of days in a year, or `None` if it depends on the year.
    pub(crate) fn days_per_year(self) -> Option<f64> {
        match self {
            Self::Us30 | Self::European30 | Self::Actual360 => Some(360.0),
            Self::Actual365 => Some(365.0),
            Self::Actual => None,
        }
    }

    /// Returns the number of years between two dates, like `YEARFRAC`.
    pub(crate) fn years(self, start: i64, end: i64) -> f64 {
        let (start, end) = (start.min(end), start.max(end));
        match self.days_per_year() {
            Some(days) => self.days(start, end) / days,
            None => number_of(end - start) / average_year(start, end),
        }
    }
}

fn is_end_of_february(date: Date) -> bool {
    date.month == 2 && date.day == days_in_month(date.year, 2)
}

fn days_30(start: Date, end: Date, start_day: i64, end_day: i64) -> i64 {
    (end.year - start.year) * 360 + (end.month - start.month) * 30 + end_day - start_day
}

/// Returns the number of days between two dates by the 30/360 convention of the NASD.
pub(crate) fn days_30_us(start: Date, end: Date) -> i64 {
    let (mut start_day, mut end_day) = (start.day, end.day);
    if is_end_of_february(start) {
        if is_end_of_february(end) {
            end_day = 30;
        }
        start_day = 30;
    }
    if end_day == 31 && start_day >= 30 {
        end_day = 30;
    }
    if start_day == 31 {
        start_day = 30;
    }
    days_30(start, end, start_day, end_day)
}

pub(crate) fn days_30_europe(start: Date, end: Date) -> i64 {
    days_30(start, end, start.day.min(30), end.day.min(30))
}

/// Returns the average number of days per year between two dates, for the actual/actual convention.
fn average_year(start: i64, end: i64) -> f64 {
    let (first, last) = (date_of(start), date_of(end));
    let is_within_a_year = first.year == last.year
        || (first.year + 1 == last.year && (first.month, first.day) >= (last.month, last.day));
    if !is_within_a_year {
        let days = serial_of(last.year + 1, 1, 1) - serial_of(first.year, 1, 1);
        return number_of(days) / number_of(last.year - first.year + 1);
    }
    let has_leap_day = if first.year == last.year {
        is_leap_year(first.year)
    } else {
        let leap_day = |year: i64| is_leap_year(year).then(|| serial_of(year, 2, 29));
        let is_between = |day: Option<i64>| day.is_some_and(|day| (start..=end).contains(&day));
        is_between(leap_day(first.year)) || is_between(leap_day(last.year))
    };
    if has_leap_day { 366.0 } else { 365.0 }
}
