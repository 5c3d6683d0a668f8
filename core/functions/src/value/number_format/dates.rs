//! Dates and times in number formats.

use std::fmt::Write;

use super::sections::{Section, Token};
use crate::number::to_i64;
use crate::value::calendar::{Date, LAST_SERIAL, SECONDS_PER_DAY, date_of, weekday};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A date and time, rounded to the shown unit.
struct Moment {
    date: Date,
    weekday: i64,
    /// Seconds since the start of the calendar, for elapsed time.
    total_seconds: i64,
    seconds: i64,
    fraction: f64,
    has_halves: bool,
}

pub(super) fn format_date(number: f64, section: &Section) -> Option<String> {
    if number < 0.0 || to_i64(number) > LAST_SERIAL {
        return None;
    }
    let moment = moment(number, section);
    let mut text = String::new();
    for token in &section.tokens {
        write_token(&mut text, token, &moment);
    }
    Some(text)
}

fn moment(number: f64, section: &Section) -> Moment {
    let digits = section.tokens.iter().find_map(|token| match token {
        Token::Fraction(digits) => Some(*digits),
        _ => None,
    });
    let scale = 10_f64.powi(i32::try_from(digits.unwrap_or(0)).unwrap_or(0));
    let ticks = (number * SECONDS_PER_DAY * scale).round();
    let total_seconds = to_i64((ticks / scale + 1e-9).floor());
    let serial = total_seconds.div_euclid(86_400);
    Moment {
        date: date_of(serial),
        weekday: weekday(serial),
        total_seconds,
        seconds: total_seconds.rem_euclid(86_400),
        fraction: (ticks / scale - crate::number::from_i64(total_seconds)).max(0.0),
        has_halves: section.tokens.iter().any(|token| matches!(token, Token::Half(_))),
    }
}

fn name_of(names: &'static [&'static str], index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or("")
}

fn write_token(text: &mut String, token: &Token, moment: &Moment) {
    let date = moment.date;
    let hour = moment.seconds / 3_600;
    // Writing to a `String` cannot fail.
    let _ = match token {
        Token::Literal(literal) => write!(text, "{literal}"),
        Token::Slash => write!(text, "/"),
        Token::Comma => write!(text, ","),
        Token::Point => write!(text, "."),
        Token::Digit(digit) => write!(text, "{digit}"),
        Token::Percent => write!(text, "%"),
        Token::Date('y', 1 | 2) => write!(text, "{:02}", date.year % 100),
        Token::Date('y', _) => write!(text, "{:04}", date.year),
        Token::Date('m', 1) => write!(text, "{}", date.month),
        Token::Date('m', 2) => write!(text, "{:02}", date.month),
        Token::Date('m', length) => {
            let name = name_of(&MONTHS, date.month - 1);
            let letters = match length {
                3 => 3,
                5 => 1,
                _ => name.len(),
            };
            write!(text, "{}", name.get(..letters).unwrap_or(name))
        }
        Token::Date('d', 1) => write!(text, "{}", date.day),
        Token::Date('d', 2) => write!(text, "{:02}", date.day),
        Token::Date('d', length) => {
            let name = name_of(&DAYS, moment.weekday);
            let letters = if *length == 3 { 3 } else { name.len() };
            write!(text, "{}", name.get(..letters).unwrap_or(name))
        }
        Token::Date('h', length) => {
            let hour = if moment.has_halves { (hour + 11) % 12 + 1 } else { hour };
            write_padded(text, hour, *length)
        }
        Token::Date('n', length) => write_padded(text, moment.seconds / 60 % 60, *length),
        Token::Date(_, length) => write_padded(text, moment.seconds % 60, *length),
        Token::Elapsed('h', length) => write_padded(text, moment.total_seconds / 3_600, *length),
        Token::Elapsed('m', length) => write_padded(text, moment.total_seconds / 60, *length),
        Token::Elapsed(_, length) => write_padded(text, moment.total_seconds, *length),
        Token::Half(is_long) => {
            let letter = if hour < 12 { 'A' } else { 'P' };
            write!(text, "{letter}{}", if *is_long { "M" } else { "" })
        }
        Token::Fraction(digits) => {
            let fraction = format!("{:.digits$}", moment.fraction);
            write!(text, "{}", fraction.get(1..).unwrap_or(""))
        }
        Token::Text | Token::General | Token::Exponent(_) => Ok(()),
    };
}

fn write_padded(text: &mut String, number: i64, length: usize) -> std::fmt::Result {
    write!(text, "{number:0length$}")
}
