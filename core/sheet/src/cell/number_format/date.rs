//! Sections that display dates and times.

use std::fmt::Write;

use super::error::{NumberFormatError, NumberFormatFault};
use super::rules::Rules;
use super::token::{DateUnit, Placeholder, Token, TokenKind};
use crate::cell::calendar::Date;
use crate::cell::date::SplitSerial;

/// Maximum number of decimals of seconds, as in Excel.
pub(super) const MAX_SECOND_DECIMALS: usize = 3;

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
const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const ABBREVIATED_CHARACTERS: usize = 3;

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Literal(char),
    Unit(DateUnit),
    /// Decimal point and decimals of seconds.
    SecondDecimals(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DateLayout {
    pieces: Vec<Piece>,
    /// Serials are rounded to this number of decimals of a second.
    rounded_decimals: usize,
    has_date: bool,
    is_12_hour: bool,
}

impl DateLayout {
    pub(super) fn build(tokens: &[Token]) -> Result<Self, NumberFormatError> {
        let mut pieces = Vec::with_capacity(tokens.len());
        let mut remaining = tokens;
        while let Some((token, after)) = remaining.split_first() {
            remaining = after;
            let piece = match token.kind {
                TokenKind::Date(unit) => Piece::Unit(unit),
                TokenKind::Literal(literal) | TokenKind::Digit(literal) => Piece::Literal(literal),
                TokenKind::Comma => Piece::Literal(','),
                TokenKind::Slash => Piece::Literal('/'),
                TokenKind::Percent => Piece::Literal('%'),
                TokenKind::Point => {
                    let decimals = count_zeros(after);
                    if decimals > MAX_SECOND_DECIMALS {
                        return Err(NumberFormatFault::SecondDecimals.at(token.position));
                    }
                    remaining = after.get(decimals..).unwrap_or_default();
                    if decimals == 0 {
                        Piece::Literal('.')
                    } else {
                        Piece::SecondDecimals(decimals)
                    }
                }
                TokenKind::General | TokenKind::Text => {
                    return Err(NumberFormatFault::GeneralWithOthers.at(token.position));
                }
                TokenKind::Placeholder(_)
                | TokenKind::Exponent { .. }
                | TokenKind::Condition(_) => {
                    return Err(NumberFormatFault::DigitInDate.at(token.position));
                }
            };
            pieces.push(piece);
        }
        let layout = Self::of_pieces(find_minutes(pieces));
        if layout.has_decimals_without_time() {
            let position = tokens.first().map_or(1, |token| token.position);
            return Err(NumberFormatFault::DigitInDate.at(position));
        }
        Ok(layout)
    }

    fn of_pieces(pieces: Vec<Piece>) -> Self {
        let units = || units_of(&pieces);
        let has_time = units().any(DateUnit::is_time);
        let decimals = pieces.iter().map(|piece| match piece {
            Piece::SecondDecimals(decimals) => *decimals,
            Piece::Literal(_) | Piece::Unit(_) => 0,
        });
        // A date without a time is only corrected for the imprecision of serials.
        let rounded_decimals =
            if has_time { decimals.max().unwrap_or(0) } else { MAX_SECOND_DECIMALS };
        let has_date = units().any(|unit| !unit.is_time());
        let is_12_hour =
            units().any(|unit| matches!(unit, DateUnit::AmPm | DateUnit::LetterAmPm { .. }));
        Self { rounded_decimals, has_date, is_12_hour, pieces }
    }

    fn has_decimals_without_time(&self) -> bool {
        let has_decimals =
            self.pieces.iter().any(|piece| matches!(piece, Piece::SecondDecimals(_)));
        has_decimals && !units_of(&self.pieces).any(DateUnit::is_time)
    }

    /// Returns `None` if the serial is not a date, or not a time.
    pub(super) fn render(&self, serial: f64, rules: Rules) -> Option<String> {
        let split = SplitSerial::of(serial, self.rounded_decimals)?;
        let date = if self.has_date { Some(rules.date(split)?) } else { None };
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => text.push(*literal),
                Piece::SecondDecimals(decimals) => {
                    let digits = format!("{:03}", split.millisecond());
                    text.push('.');
                    text.extend(digits.chars().take(*decimals));
                }
                Piece::Unit(unit) => self.push_unit(&mut text, *unit, date, split),
            }
        }
        Some(text)
    }

    fn push_unit(&self, text: &mut String, unit: DateUnit, date: Option<Date>, split: SplitSerial) {
        let hour = match split.hour() {
            hour if self.is_12_hour => (hour + 11) % 12 + 1,
            hour => hour,
        };
        match unit {
            DateUnit::Year { .. } | DateUnit::Month { .. } | DateUnit::Day { .. } => {
                if let Some(date) = date {
                    push_date_unit(text, unit, date, split.weekday());
                }
            }
            DateUnit::Hour { width } => push_short_number(text, hour, width),
            DateUnit::Minute { width } => push_short_number(text, split.minute(), width),
            DateUnit::Second { width } => push_short_number(text, split.second(), width),
            DateUnit::ElapsedHours { width } => push_number(text, split.elapsed_hours(), width),
            DateUnit::ElapsedMinutes { width } => push_number(text, split.elapsed_minutes(), width),
            DateUnit::ElapsedSeconds { width } => push_number(text, split.elapsed_seconds(), width),
            DateUnit::AmPm => text.push_str(if split.hour() < 12 { "AM" } else { "PM" }),
            DateUnit::LetterAmPm { am, pm } => {
                text.push(if split.hour() < 12 { am } else { pm });
            }
        }
    }
}

fn units_of(pieces: &[Piece]) -> impl Iterator<Item = DateUnit> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Unit(unit) => Some(*unit),
        Piece::Literal(_) | Piece::SecondDecimals(_) => None,
    })
}

fn count_zeros(tokens: &[Token]) -> usize {
    let is_zero = |token: &&Token| token.kind == TokenKind::Placeholder(Placeholder::Zero);
    tokens.iter().take_while(is_zero).count()
}

/// Replaces `m` and `mm` by minutes if the part before displays hours or the part after displays
/// seconds.
fn find_minutes(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let units: Vec<DateUnit> = units_of(&pieces)
        .filter(|unit| !matches!(unit, DateUnit::AmPm | DateUnit::LetterAmPm { .. }))
        .collect();
    let mut unit_index = 0_usize;
    for piece in &mut pieces {
        let Piece::Unit(unit) = piece else { continue };
        if matches!(unit, DateUnit::AmPm | DateUnit::LetterAmPm { .. }) {
            continue;
        }
        let before = unit_index.checked_sub(1).and_then(|index| units.get(index));
        let after = units.get(unit_index + 1);
        unit_index += 1;
        let is_after_hours =
            matches!(before, Some(DateUnit::Hour { .. } | DateUnit::ElapsedHours { .. }));
        let is_before_seconds =
            matches!(after, Some(DateUnit::Second { .. } | DateUnit::ElapsedSeconds { .. }));
        if let DateUnit::Month { width: width @ 1..=2 } = *unit
            && (is_after_hours || is_before_seconds)
        {
            *unit = DateUnit::Minute { width };
        }
    }
    pieces
}

fn push_date_unit(text: &mut String, unit: DateUnit, date: Date, weekday: usize) {
    let month = usize::try_from(date.month - 1).ok().and_then(|index| MONTHS.get(index));
    let month = month.copied().unwrap_or_default();
    let weekday = WEEKDAYS.get(weekday).copied().unwrap_or_default();
    match unit {
        DateUnit::Year { width: 1..=2 } => push_number(text, date.year % 100, 2),
        DateUnit::Year { .. } => push_number(text, date.year, 4),
        DateUnit::Month { width: width @ 1..=2 } => push_number(text, date.month, width),
        DateUnit::Month { width: 3 } => text.extend(month.chars().take(ABBREVIATED_CHARACTERS)),
        DateUnit::Month { width: 5 } => text.extend(month.chars().take(1)),
        DateUnit::Month { .. } => text.push_str(month),
        DateUnit::Day { width: width @ 1..=2 } => push_number(text, date.day, width),
        DateUnit::Day { width: 3 } => text.extend(weekday.chars().take(ABBREVIATED_CHARACTERS)),
        DateUnit::Day { .. } => text.push_str(weekday),
        // Parts of the time are displayed by the caller.
        _ => {}
    }
}

/// Excel changes longer parts, such as `hhh`, to two letters.
fn push_short_number(text: &mut String, number: i64, width: usize) {
    push_number(text, number, width.min(2));
}

fn push_number(text: &mut String, number: i64, width: usize) {
    // Writing to a `String` cannot fail.
    let _ = write!(text, "{number:0width$}");
}
