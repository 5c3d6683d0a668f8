//! Date and time functions.

use std::collections::BTreeSet;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::{from_i64, to_i64};
use crate::operand::{Operand, Outcome, Stop};
use crate::value::calendar::{
    Date, LAST_SERIAL, add_months, date_of, days_in_month, end_of_month, number_of, serial_of,
    time_of, valid_serial, weekday,
};
use crate::value::day_count::{Basis, days_30_europe};
use crate::value::parse_date_and_time;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("DATE", 3, 3, "s", date),
    eager("DATEDIF", 3, 3, "s", date_difference),
    eager("DATEVALUE", 1, 1, "s", |call| {
        let number = number_result(date_of_text(call)?.floor())?;
        Ok(number)
    }),
    eager("DAY", 1, 1, "s", |call| date_part(call, |date| date.day)),
    eager("DAYS", 2, 2, "s", |call| {
        let (end, start) = (serial(call, 0)?, serial(call, 1)?);
        number_result(from_i64(end - start))
    }),
    eager("DAYS360", 2, 3, "s", days_360),
    eager("EDATE", 2, 2, "s", |call| shifted_date(add_months(serial(call, 0)?, months(call)?))),
    eager("EOMONTH", 2, 2, "s", |call| shifted_date(end_of_month(serial(call, 0)?, months(call)?))),
    eager("HOUR", 1, 1, "s", |call| Ok(from_i64(time(call)?.0).into())),
    eager("ISOWEEKNUM", 1, 1, "s", |call| Ok(from_i64(iso_week(serial(call, 0)?)).into())),
    eager("MINUTE", 1, 1, "s", |call| Ok(from_i64(time(call)?.1).into())),
    eager("MONTH", 1, 1, "s", |call| date_part(call, |date| date.month)),
    eager("NETWORKDAYS", 2, 3, "ssw", |call| network_days(call, None, 2)),
    eager("NETWORKDAYS.INTL", 2, 4, "sssw", |call| network_days(call, Some(2), 3)),
    eager("NOW", 0, 0, "s", |call| Ok(call.evaluator.context.now.into())),
    eager("SECOND", 1, 1, "s", |call| Ok(from_i64(time(call)?.2).into())),
    eager("TIME", 3, 3, "s", time_of_parts),
    eager("TIMEVALUE", 1, 1, "s", |call| number_result(date_of_text(call)?.fract())),
    eager("TODAY", 0, 0, "s", |call| Ok(call.evaluator.context.now.floor().into())),
    eager("WEEKDAY", 1, 2, "s", weekday_number),
    eager("WEEKNUM", 1, 2, "s", week_number),
    eager("WORKDAY", 2, 3, "ssw", |call| work_day(call, None, 2)),
    eager("WORKDAY.INTL", 2, 4, "sssw", |call| work_day(call, Some(2), 3)),
    eager("YEAR", 1, 1, "s", |call| date_part(call, |date| date.year)),
    eager("YEARFRAC", 2, 3, "s", |call| {
        let (start, end) = (serial(call, 0)?, serial(call, 1)?);
        number_result(Basis::of_argument(call, 2)?.years(start, end))
    }),
];

/// Converts an argument to the serial number of a date. Text may be a date without a year.
fn serial(call: &Call<'_, '_>, index: usize) -> Outcome<i64> {
    valid_serial(date_number(call, index)?)
}

fn date_number(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    match call.value(index)? {
        Value::Text(text) => crate::value::parse_number(&text, call.evaluator.date_rules())
            .ok_or(Stop::Error(ErrorCode::Value)),
        other => crate::value::to_number(&other),
    }
}

fn date(call: &Call<'_, '_>) -> Outcome<Operand> {
    const LARGEST_PART: f64 = 1e9;
    let (year, month, day) =
        (call.number(0)?.floor(), call.number(1)?.floor(), call.number(2)?.floor());
    ensure((0.0..10_000.0).contains(&year), ErrorCode::Num)?;
    ensure(month.abs() < LARGEST_PART && day.abs() < LARGEST_PART, ErrorCode::Num)?;
    let year = if year < 1900.0 { year + 1900.0 } else { year };
    let last_year = year + ((month - 1.0) / 12.0).floor();
    ensure((1899.0..10_000.0).contains(&last_year), ErrorCode::Num)?;
    let serial = serial_of(to_i64(year), to_i64(month), to_i64(day));
    ensure((0..=LAST_SERIAL).contains(&serial), ErrorCode::Num)?;
    number_result(from_i64(serial))
}

fn date_of_text(call: &Call<'_, '_>) -> Outcome<f64> {
    match call.value(0)? {
        Value::Text(text) => {
            let text = text.trim_matches(' ').to_owned();
            let date = parse_date_and_time(&text, call.evaluator.date_rules());
            date.ok_or(Stop::Error(ErrorCode::Value))
        }
        _ => Err(ErrorCode::Value.into()),
    }
}

fn date_part(call: &Call<'_, '_>, part: fn(Date) -> i64) -> Outcome<Operand> {
    Ok(from_i64(part(date_of(serial(call, 0)?))).into())
}

fn months(call: &Call<'_, '_>) -> Outcome<i64> {
    const MOST_MONTHS: f64 = 120_000.0;
    let months = call.number(1)?;
    ensure(months.abs() < MOST_MONTHS, ErrorCode::Num)?;
    Ok(to_i64(months))
}

fn shifted_date(serial: i64) -> Outcome<Operand> {
    ensure((0..=LAST_SERIAL).contains(&serial), ErrorCode::Num)?;
    number_result(from_i64(serial))
}

fn time(call: &Call<'_, '_>) -> Outcome<(i64, i64, i64)> {
    let number = date_number(call, 0)?;
    ensure(number >= 0.0 && number < from_i64(LAST_SERIAL + 1), ErrorCode::Num)?;
    Ok(time_of(number))
}

fn time_of_parts(call: &Call<'_, '_>) -> Outcome<Operand> {
    const LARGEST_PART: f64 = 32_767.0;
    let part = |index: usize| -> Outcome<f64> {
        let part = call.number(index)?.trunc();
        ensure(part <= LARGEST_PART, ErrorCode::Num)?;
        Ok(part)
    };
    let seconds = part(0)? * 3_600.0 + part(1)? * 60.0 + part(2)?;
    ensure(seconds >= 0.0, ErrorCode::Num)?;
    number_result((seconds % 86_400.0) / 86_400.0)
}

fn days_360(call: &Call<'_, '_>) -> Outcome<Operand> {
    /// Half a second, in days. Times in the last half second of a day are rounded up to the next
    /// day.
    const HALF_SECOND: f64 = 0.5 / 86_400.0;
    let day = |index: usize| -> Outcome<Date> {
        Ok(date_of(valid_serial(date_number(call, index)? + HALF_SECOND)?))
    };
    let (start, end) = (day(0)?, day(1)?);
    if call.boolean_or(2, false)? {
        return number_result(from_i64(days_30_europe(start, end)));
    }
    let is_month_end = start.day == days_in_month(start.year, start.month);
    let start_day = if is_month_end || start.day == 31 { 30 } else { start.day };
    let end_day = if end.day == 31 && start_day >= 30 { 30 } else { end.day };
    let months = (end.year - start.year) * 12 + end.month - start.month;
    number_result(from_i64(months * 30 + end_day - start_day))
}

fn date_difference(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (start, end) = (serial(call, 0)?, serial(call, 1)?);
    ensure(start <= end, ErrorCode::Num)?;
    let (first, last) = (date_of(start), date_of(end));
    let months =
        (last.year - first.year) * 12 + last.month - first.month - i64::from(last.day < first.day);
    let result = match call.text(2)?.to_uppercase().as_str() {
        "Y" => months.div_euclid(12),
        "M" => months,
        "D" => end - start,
        "MD" if last.day >= first.day => last.day - first.day,
        "MD" => end - serial_of(last.year, last.month - 1, first.day),
        "YM" => months.rem_euclid(12),
        "YD" => {
            let is_later = (last.month, last.day) < (first.month, first.day);
            let year = if is_later { first.year + 1 } else { first.year };
            serial_of(year, last.month, last.day) - start
        }
        _ => return Err(ErrorCode::Num.into()),
    };
    number_result(from_i64(result))
}

fn weekday_number(call: &Call<'_, '_>) -> Outcome<Operand> {
    let day = weekday(serial(call, 0)?);
    let number = match call.integer_or(1, 1)? {
        1 => day + 1,
        2 => (day + 6) % 7 + 1,
        3 => (day + 6) % 7,
        kind @ 11..=17 => (day + 7 - (kind - 10) % 7) % 7 + 1,
        _ => return Err(ErrorCode::Num.into()),
    };
    number_result(from_i64(number))
}

fn iso_week(serial: i64) -> i64 {
    // An ISO week belongs to the year that contains its Thursday.
    let thursday = serial + 3 - (weekday(serial) + 6) % 7;
    let year = date_of(thursday.max(0)).year;
    (thursday - serial_of(year, 1, 1)) / 7 + 1
}

fn week_number(call: &Call<'_, '_>) -> Outcome<Operand> {
    let serial = serial(call, 0)?;
    let first_day = match call.integer_or(1, 1)? {
        1 => 0,
        2 => 1,
        kind @ 11..=17 => (kind - 10) % 7,
        21 => return number_result(from_i64(iso_week(serial))),
        _ => return Err(ErrorCode::Num.into()),
    };
    let new_year = serial_of(date_of(serial).year, 1, 1);
    let offset = (weekday(new_year) + 7 - first_day) % 7;
    number_result(from_i64((serial - new_year + offset) / 7 + 1))
}

/// Whether each day of the week is a weekend day, starting with Monday.
type Weekend = [bool; 7];

fn weekend_argument(call: &Call<'_, '_>, index: Option<usize>) -> Outcome<Weekend> {
    const SATURDAY_AND_SUNDAY: Weekend = [false, false, false, false, false, true, true];
    let Some(index) = index.filter(|index| call.is_given(*index)) else {
        return Ok(SATURDAY_AND_SUNDAY);
    };
    if let Value::Text(text) = call.value(index)? {
        let mut weekend = [false; 7];
        ensure(text.len() == 7, ErrorCode::Value)?;
        for (slot, digit) in weekend.iter_mut().zip(text.chars()) {
            ensure(matches!(digit, '0' | '1'), ErrorCode::Value)?;
            *slot = digit == '1';
        }
        return Ok(weekend);
    }
    let kind = call.integer(index)?;
    let mut weekend = [false; 7];
    let (first, count) = match kind {
        1..=7 => (kind + 4, 2),
        11..=17 => (kind - 5, 1),
        _ => return Err(ErrorCode::Num.into()),
    };
    for day in first..first + count {
        let place = usize::try_from(day.rem_euclid(7)).unwrap_or(0);
        if let Some(slot) = weekend.get_mut(place) {
            *slot = true;
        }
    }
    Ok(weekend)
}

fn is_free(weekend: &Weekend, holidays: &BTreeSet<i64>, serial: i64) -> bool {
    let from_monday = usize::try_from((weekday(serial) + 6) % 7).unwrap_or(0);
    weekend.get(from_monday).copied().unwrap_or(false) || holidays.contains(&serial)
}

fn holidays_argument(call: &Call<'_, '_>, index: usize) -> Outcome<BTreeSet<i64>> {
    let mut holidays = BTreeSet::new();
    if !call.is_given(index) {
        return Ok(holidays);
    }
    call.visit_operand(call.operand(index), &mut |_, value| {
        if *value != Value::Empty {
            holidays.insert(valid_serial(crate::value::to_number(value)?)?);
        }
        Ok(())
    })?;
    Ok(holidays)
}

fn network_days(call: &Call<'_, '_>, weekend: Option<usize>, holidays: usize) -> Outcome<Operand> {
    let (start, end) = (serial(call, 0)?, serial(call, 1)?);
    let weekend = weekend_argument(call, weekend)?;
    let holidays = holidays_argument(call, holidays)?;
    let (first, last) = (start.min(end), start.max(end));
    let free_days: i64 = weekend.iter().map(|is_free| i64::from(*is_free)).sum();
    let weeks = (last - first + 1) / 7;
    let mut days = weeks * (7 - free_days);
    let none = BTreeSet::new();
    for day in first + weeks * 7..=last {
        days += i64::from(!is_free(&weekend, &none, day));
    }
    let holidays_on_work_days =
        holidays.range(first..=last).filter(|day| !is_free(&weekend, &none, **day)).count();
    days -= i64::try_from(holidays_on_work_days).unwrap_or(0);
    number_result(from_i64(if start <= end { days } else { -days }))
}

fn work_day(call: &Call<'_, '_>, weekend: Option<usize>, holidays: usize) -> Outcome<Operand> {
    let mut day = serial(call, 0)?;
    let count = to_i64(call.number(1)?);
    let weekend = weekend_argument(call, weekend)?;
    let holidays = holidays_argument(call, holidays)?;
    ensure(weekend.contains(&false), ErrorCode::Value)?;
    ensure(count.abs() <= LAST_SERIAL, ErrorCode::Num)?;
    let step = count.signum();
    let mut left = count.abs();
    call.spend(usize::try_from(left).unwrap_or(0))?;
    while left > 0 {
        day += step;
        ensure((0..=LAST_SERIAL).contains(&day), ErrorCode::Num)?;
        left -= i64::from(!is_free(&weekend, &holidays, day));
    }
    number_result(number_of(day))
}
