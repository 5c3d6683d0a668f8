//! Converts text to dates and times, like Excel in the locale English (United States).

use super::calendar::{LAST_SERIAL, SECONDS_PER_DAY, days_in_month, number_of, serial_of};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The rules for converting text to dates.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DateRules {
    /// Year assumed for dates without a year. If it is `None`, such dates are rejected.
    pub(crate) current_year: Option<i64>,
    /// Whether the day comes before the month, so that 2/3/2024 is March 2.
    pub(crate) is_day_first: bool,
}

/// Parses a date, a time, or a date and a time. Returns its serial number.
pub(crate) fn parse_date_and_time(text: &str, rules: DateRules) -> Option<f64> {
    if let Some(time) = parse_time(text) {
        return Some(time);
    }
    if let Some(date) = parse_date(text, rules) {
        return Some(number_of(date));
    }
    // A space, or the `T` of ISO 8601, separates the date from the time.
    for (separator, _) in text.match_indices([' ', 'T', 't']) {
        let (date, time) = (text.get(..separator)?, text.get(separator + 1..)?);
        let date = parse_date(date.trim_matches(' '), rules);
        let time = parse_time(time.trim_matches(' '));
        if let (Some(date), Some(time)) = (date, time) {
            return Some(number_of(date) + time);
        }
    }
    None
}

/// Parses a time such as `14:30`, `2:30:15 PM` or `2 PM`. Returns a number of days.
pub(crate) fn parse_time(text: &str) -> Option<f64> {
    let lower = text.trim_matches(' ').to_ascii_lowercase();
    let (body, half) = match lower.strip_suffix('m') {
        Some(rest) => {
            let half = rest.chars().next_back().filter(|half| matches!(half, 'a' | 'p'))?;
            (rest.strip_suffix(half)?.trim_end_matches(' ').to_owned(), Some(half))
        }
        None => match lower.strip_suffix([' ']) {
            Some(_) => return None,
            None => (lower, None),
        },
    };
    let parts: Vec<&str> = body.split(':').collect();
    if parts.len() > 3 || (parts.len() == 1 && half.is_none()) {
        return None;
    }
    let integer = |index: usize| match parts.get(index) {
        None => Some(0.0),
        Some(part) if part.is_empty() && index > 0 => Some(0.0),
        Some(part) => Some(part).filter(|part| is_digits(part)).and_then(|part| part.parse().ok()),
    };
    let (mut hours, minutes) = (integer(0)?, integer(1)?);
    let seconds: f64 = match parts.get(2) {
        None => 0.0,
        Some(part) if part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
            part.parse().ok()?
        }
        Some(_) => return None,
    };
    if let Some(half) = half {
        if hours > 12.0 || minutes >= 60.0 {
            return None;
        }
        hours = hours % 12.0 + if half == 'p' { 12.0 } else { 0.0 };
    }
    if hours > 9_999.0 || minutes > 9_999.0 || seconds > 9_999.0 {
        return None;
    }
    Some((hours * 3_600.0 + minutes * 60.0 + seconds) / SECONDS_PER_DAY)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A component of a date.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// A number and its number of digits.
    Number(i64, usize),
    Month(i64),
}

fn parse_date(text: &str, rules: DateRules) -> Option<i64> {
    let parts = date_parts(text)?;
    let (year, month, day) = match parts.as_slice() {
        [Part::Number(year, digits), Part::Number(month, _), Part::Number(day, _)]
            if *digits >= 3 =>
        {
            (*year, *month, *day)
        }
        [Part::Number(first, _), Part::Number(second, _), Part::Number(year, digits)] => {
            let (month, day) = rules.month_and_day(*first, *second);
            (full_year(*year, *digits)?, month, day)
        }
        [Part::Number(year, digits), Part::Month(month), Part::Number(day, _)] if *digits >= 3 => {
            (*year, *month, *day)
        }
        [Part::Number(day, _), Part::Month(month), Part::Number(year, digits)]
        | [Part::Month(month), Part::Number(day, _), Part::Number(year, digits)] => {
            (full_year(*year, *digits)?, *month, *day)
        }
        [Part::Month(month), Part::Number(number, digits)] if *digits > 2 || *number > 31 => {
            (full_year(*number, *digits)?, *month, 1)
        }
        [Part::Number(month, _), Part::Number(year, digits)] if *digits > 2 => (*year, *month, 1),
        [Part::Number(day, _), Part::Month(month)] | [Part::Month(month), Part::Number(day, _)] => {
            (rules.current_year?, *month, *day)
        }
        [Part::Number(first, _), Part::Number(second, _)] => {
            let (month, day) = rules.month_and_day(*first, *second);
            (rules.current_year?, month, day)
        }
        _ => return None,
    };
    valid_date(year, month, day)
}

impl DateRules {
    fn month_and_day(self, first: i64, second: i64) -> (i64, i64) {
        if self.is_day_first { (second, first) } else { (first, second) }
    }
}

fn valid_date(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_false_leap_day = (year, month, day) == (1900, 2, 29);
    let is_month = (1..=12).contains(&month) && (1900..=9_999).contains(&year);
    let is_day = is_month && (1..=days_in_month(year, month)).contains(&day);
    if !is_day && !is_false_leap_day {
        return None;
    }
    Some(serial_of(year, month, day)).filter(|serial| *serial <= LAST_SERIAL)
}

/// Converts a year with one or two digits to a year from 1930 to 2029, and returns a year with four
/// digits as it is.
fn full_year(year: i64, digits: usize) -> Option<i64> {
    match digits {
        4 => Some(year),
        1 | 2 if year < 30 => Some(2000 + year),
        1 | 2 => Some(1900 + year),
        _ => None,
    }
}

/// Splits a date into components at `/`, `-`, spaces and commas.
fn date_parts(text: &str) -> Option<Vec<Part>> {
    let text = text.trim_matches(' ');
    let is_separator = |character: char| matches!(character, '/' | '-' | ' ' | ',');
    let ends_with_separator = text.starts_with(is_separator) || text.ends_with(is_separator);
    if ends_with_separator {
        return None;
    }
    let has_mixed_separators = text.contains('/') && text.contains('-');
    if has_mixed_separators {
        return None;
    }
    let mut parts = Vec::new();
    for word in text.split(is_separator) {
        if word.is_empty() {
            continue;
        }
        let part = if is_digits(word) {
            Part::Number(word.parse().ok()?, word.len())
        } else {
            Part::Month(month_number(word)?)
        };
        parts.push(part);
        if parts.len() > 3 {
            return None;
        }
    }
    Some(parts)
}

/// Converts the English name of a month, or its first three letters, to a number from 1 to 12.
fn month_number(word: &str) -> Option<i64> {
    let lower = word.to_ascii_lowercase();
    let matches = |name: &&str| **name == lower || (lower.len() == 3 && name.starts_with(&lower));
    let index = MONTHS.iter().position(matches)?;
    i64::try_from(index + 1).ok()
}
