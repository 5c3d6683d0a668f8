//! Sections that display fractions, such as `# ?/?`.

use super::error::{NumberFormatError, NumberFormatFault};
use super::number::Integer;
use super::token::{Placeholder, Token, TokenKind};
use crate::cell::decimal::Decimal;

/// Maximum number of digits of a denominator. Longer fractions would display the imprecision of
/// floating-point numbers.
pub(super) const MAX_DENOMINATOR_DIGITS: usize = 7;
/// Two numbers that differ by less than this are displayed as the same fraction.
const PRECISION: f64 = 0.000_000_05;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FractionLayout {
    before: String,
    /// Empty if the fraction may be improper, such as 7/2.
    integer: Integer,
    /// Text between the integer and the numerator.
    separator: String,
    numerator: Vec<Placeholder>,
    /// The slash and the spaces beside it.
    slash: String,
    denominator: Denominator,
    after: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Denominator {
    Fixed {
        text: String,
        value: f64,
    },
    /// The fraction with the smallest difference is displayed.
    Best {
        placeholders: Vec<Placeholder>,
        max: f64,
    },
}

/// Returns the index of the slash if the tokens are a fraction: the slash is between digits.
pub(super) fn find_slash(tokens: &[Token]) -> Option<usize> {
    tokens.iter().enumerate().find_map(|(index, token)| {
        let (before, after) = (tokens.get(..index)?, tokens.get(index + 1..)?);
        let is_slash = token.kind == TokenKind::Slash;
        let before = before.iter().rev().find(is_no_space)?;
        let after = after.iter().find(is_no_space)?;
        let is_after_digit = matches!(before.kind, TokenKind::Placeholder(_));
        let is_before_digit = matches!(after.kind, TokenKind::Placeholder(_) | TokenKind::Digit(_));
        if is_slash && is_after_digit && is_before_digit { Some(index) } else { None }
    })
}

fn is_no_space(token: &&Token) -> bool {
    token.kind != TokenKind::Literal(' ')
}

impl FractionLayout {
    pub(super) fn build(tokens: &[Token], slash: usize) -> Result<Self, NumberFormatError> {
        let (left, right) = tokens.split_at_checked(slash).unwrap_or((tokens, &[]));
        let position = right.first().map_or(1, |token| token.position);
        let right = right.get(1..).unwrap_or_default();
        let (left, spaces_before) = split_end(left, |kind| *kind == TokenKind::Literal(' '));
        let (left, numerator) = split_end(left, |kind| matches!(kind, TokenKind::Placeholder(_)));
        let (spaces_after, right) = split_start(right, |kind| *kind == TokenKind::Literal(' '));
        let (denominator, after) = split_start(right, |kind| {
            matches!(kind, TokenKind::Placeholder(_) | TokenKind::Digit(_))
        });
        let (left, separator) = split_end(left, is_literal);
        let (before, integer) = split_start(left, is_literal);
        let slash = format!("{}/{}", literal_text(spaces_before)?, literal_text(spaces_after)?);
        Ok(Self {
            before: literal_text(before)?,
            integer: build_integer(integer)?,
            separator: literal_text(separator)?,
            numerator: numerator.iter().filter_map(placeholder_of).collect(),
            slash,
            denominator: Denominator::build(denominator)
                .ok_or_else(|| NumberFormatFault::Fraction.at(position))?,
            after: literal_text(after)?,
        })
    }

    /// Returns the text of a nonnegative number.
    pub(super) fn render(&self, magnitude: f64) -> String {
        let whole = magnitude.trunc();
        let (mut numerator, denominator) = self.denominator.approximate(magnitude - whole);
        let mut text = self.before.clone();
        if self.integer.placeholders.is_empty() {
            numerator += whole * denominator;
        } else {
            let has_carry = numerator >= denominator;
            let whole = if has_carry { whole + 1.0 } else { whole };
            numerator = if has_carry { 0.0 } else { numerator };
            if whole == 0.0 && numerator == 0.0 {
                text.push('0');
            } else {
                push_integer(&mut text, whole, &self.integer);
            }
        }
        text.push_str(&self.separator);
        let is_blank = numerator == 0.0
            && !self.integer.placeholders.is_empty()
            && !self.numerator.contains(&Placeholder::Zero);
        if is_blank {
            let width = self.numerator.len() + self.slash.len() + self.denominator.width();
            text.extend(std::iter::repeat_n(' ', width));
        } else {
            let layout = Integer { placeholders: self.numerator.clone(), is_grouped: false };
            if numerator == 0.0 && !self.numerator.contains(&Placeholder::Zero) {
                let padding = self.numerator.len().saturating_sub(1);
                text.extend(std::iter::repeat_n(' ', padding));
                text.push('0');
            } else {
                push_integer(&mut text, numerator, &layout);
            }
            text.push_str(&self.slash);
            self.denominator.push(&mut text, denominator);
        }
        text.push_str(&self.after);
        text
    }
}

impl Denominator {
    fn build(tokens: &[Token]) -> Option<Self> {
        if tokens.len() > MAX_DENOMINATOR_DIGITS {
            return None;
        }
        if tokens.iter().any(|token| matches!(token.kind, TokenKind::Digit(_))) {
            let digits = tokens.iter().map(|token| match token.kind {
                TokenKind::Digit(digit) => Some(digit),
                TokenKind::Placeholder(Placeholder::Zero) => Some('0'),
                _ => None,
            });
            let text: String = digits.collect::<Option<_>>()?;
            let value = text.parse().ok()?;
            return Some(Self::Fixed { text, value });
        }
        let placeholders: Vec<Placeholder> = tokens.iter().filter_map(placeholder_of).collect();
        let max = placeholders.iter().fold(1.0, |power, _| power * 10.0) - 1.0;
        Some(Self::Best { placeholders, max })
    }

    fn width(&self) -> usize {
        match self {
            Self::Fixed { text, .. } => text.len(),
            Self::Best { placeholders, .. } => placeholders.len(),
        }
    }

    /// Returns the numerator and denominator of a fraction from 0 to below 1.
    fn approximate(&self, fraction: f64) -> (f64, f64) {
        match self {
            Self::Fixed { value, .. } => ((fraction * value).round(), *value),
            Self::Best { max, .. } => best_fraction(fraction, *max),
        }
    }

    /// Spaces are after the digits, so that slashes are aligned.
    fn push(&self, text: &mut String, value: f64) {
        let placeholders = match self {
            Self::Fixed { text: digits, .. } => return text.push_str(digits),
            Self::Best { placeholders, .. } => placeholders,
        };
        let digits = Decimal::of(value);
        let length = digits.integer_length();
        let zeros = placeholders.iter().filter(|it| **it == Placeholder::Zero).count();
        let shown_length = length.max(zeros);
        text.extend((0..shown_length).rev().map(|place| digits.integer_digit(place)));
        let spaces = placeholders.iter().filter(|it| **it == Placeholder::Space).count();
        let padding = placeholders.len().saturating_sub(shown_length).min(spaces);
        text.extend(std::iter::repeat_n(' ', padding));
    }
}

/// Returns the last convergent of the continued fraction whose denominator is at most `max`, as
/// Excel does.
fn best_fraction(fraction: f64, max: f64) -> (f64, f64) {
    let (mut previous, mut current) = ((0.0, 1.0), (1.0, 0.0));
    let mut remainder = fraction;
    loop {
        let term = remainder.floor();
        let next = (term * current.0 + previous.0, term * current.1 + previous.1);
        if next.1 > max {
            return current;
        }
        if remainder - term < PRECISION || next.1 >= max {
            return next;
        }
        remainder = 1.0 / (remainder - term);
        (previous, current) = (current, next);
    }
}

fn push_integer(text: &mut String, value: f64, layout: &Integer) {
    let decimal = Decimal::of(value);
    let mut writer = layout.writer(&decimal);
    for placeholder in &layout.placeholders {
        writer.write(*placeholder, text);
    }
}

fn build_integer(tokens: &[Token]) -> Result<Integer, NumberFormatError> {
    let mut integer = Integer::default();
    for token in tokens {
        match token.kind {
            TokenKind::Placeholder(placeholder) => integer.placeholders.push(placeholder),
            TokenKind::Comma if !integer.placeholders.is_empty() => integer.is_grouped = true,
            _ => return Err(NumberFormatFault::Fraction.at(token.position)),
        }
    }
    Ok(integer)
}

fn is_literal(kind: &TokenKind) -> bool {
    matches!(kind, TokenKind::Literal(_))
}

fn literal_text(tokens: &[Token]) -> Result<String, NumberFormatError> {
    let literals = tokens.iter().map(|token| match token.kind {
        TokenKind::Literal(literal) => Ok(literal),
        _ => Err(NumberFormatFault::Fraction.at(token.position)),
    });
    literals.collect()
}

fn placeholder_of(token: &Token) -> Option<Placeholder> {
    match token.kind {
        TokenKind::Placeholder(placeholder) => Some(placeholder),
        _ => None,
    }
}

/// Splits the longest end whose tokens are all accepted from the start.
fn split_end(tokens: &[Token], accepts: impl Fn(&TokenKind) -> bool) -> (&[Token], &[Token]) {
    let length = tokens.iter().rev().take_while(|token| accepts(&token.kind)).count();
    tokens.split_at_checked(tokens.len().saturating_sub(length)).unwrap_or((tokens, &[]))
}

/// Splits the longest start whose tokens are all accepted from the end.
fn split_start(tokens: &[Token], accepts: impl Fn(&TokenKind) -> bool) -> (&[Token], &[Token]) {
    let length = tokens.iter().take_while(|token| accepts(&token.kind)).count();
    tokens.split_at_checked(length).unwrap_or((&[], tokens))
}
