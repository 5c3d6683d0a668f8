//! Sections that display digits.

use super::error::{NumberFormatError, NumberFormatFault};
use super::rules::Rules;
use super::token::{Placeholder, Token, TokenKind};
use crate::cell::decimal::Decimal;

/// Power of ten by which a percent sign multiplies the number.
const PERCENT_SHIFT: i32 = 2;
/// Power of ten by which a comma after the digits divides the number.
const COMMA_SHIFT: i32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Literal(char),
    Integer(Placeholder),
    Point,
    Decimal(Placeholder),
    Exponent { shows_plus: bool },
    ExponentDigit(Placeholder),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberLayout {
    pieces: Vec<Piece>,
    integer: Integer,
    decimals: Vec<Placeholder>,
    /// Placeholders of the exponent. Empty if there is no exponent.
    exponent: Vec<Placeholder>,
    /// Power of ten by which the number is multiplied.
    shift: i32,
}

/// The placeholders before the decimal point.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Integer {
    pub(super) placeholders: Vec<Placeholder>,
    /// Whether commas separate thousands.
    pub(super) is_grouped: bool,
}

impl NumberLayout {
    pub(super) fn build(tokens: &[Token]) -> Result<Self, NumberFormatError> {
        let mut layout = Self {
            pieces: Vec::with_capacity(tokens.len()),
            integer: Integer::default(),
            decimals: Vec::new(),
            exponent: Vec::new(),
            shift: 0,
        };
        for (index, token) in tokens.iter().enumerate() {
            layout.add(tokens, index, token)?;
        }
        // Excel displays at least one digit of an exponent.
        let last = layout.pieces.iter_mut().rev().find_map(|piece| match piece {
            Piece::ExponentDigit(placeholder) => Some(placeholder),
            _ => None,
        });
        if let Some(last) = last {
            *last = Placeholder::Zero;
        }
        Ok(layout)
    }

    fn add(
        &mut self,
        tokens: &[Token],
        index: usize,
        token: &Token,
    ) -> Result<(), NumberFormatError> {
        let piece = match token.kind {
            TokenKind::Literal(literal) | TokenKind::Digit(literal) => Piece::Literal(literal),
            TokenKind::Placeholder(placeholder) => self.add_placeholder(placeholder),
            TokenKind::Point if self.has_point() || self.has_exponent() => Piece::Literal('.'),
            TokenKind::Point => Piece::Point,
            TokenKind::Comma => match self.add_comma(tokens, index) {
                Some(piece) => piece,
                None => return Ok(()),
            },
            TokenKind::Percent => {
                self.shift = self.shift.saturating_add(PERCENT_SHIFT);
                Piece::Literal('%')
            }
            TokenKind::Exponent { shows_plus } => {
                self.check_exponent(tokens, index, token)?;
                Piece::Exponent { shows_plus }
            }
            TokenKind::Slash if is_placeholder(index.checked_sub(1), tokens) => {
                return Err(NumberFormatFault::Fraction.at(token.position));
            }
            TokenKind::Slash => Piece::Literal('/'),
            TokenKind::General | TokenKind::Text => {
                return Err(NumberFormatFault::GeneralWithOthers.at(token.position));
            }
            TokenKind::Date(_) | TokenKind::Condition(_) => {
                return Err(NumberFormatFault::DigitInDate.at(token.position));
            }
        };
        self.pieces.push(piece);
        Ok(())
    }

    fn add_placeholder(&mut self, placeholder: Placeholder) -> Piece {
        if self.has_exponent() {
            self.exponent.push(placeholder);
            Piece::ExponentDigit(placeholder)
        } else if self.has_point() {
            self.decimals.push(placeholder);
            Piece::Decimal(placeholder)
        } else {
            self.integer.placeholders.push(placeholder);
            Piece::Integer(placeholder)
        }
    }

    /// A comma between digits separates thousands. A comma after them divides by 1,000. Any other
    /// comma is displayed.
    fn add_comma(&mut self, tokens: &[Token], index: usize) -> Option<Piece> {
        let is_no_comma = |token: &&Token| token.kind != TokenKind::Comma;
        let before = tokens.get(..index).unwrap_or_default().iter().rev().find(is_no_comma);
        let after = tokens.get(index..).unwrap_or_default().iter().find(is_no_comma);
        let is_digit = |token: Option<&Token>| {
            token.is_some_and(|token| matches!(token.kind, TokenKind::Placeholder(_)))
        };
        let is_after_percent = before.is_some_and(|token| token.kind == TokenKind::Percent);
        if self.has_exponent() || !(is_digit(before) || is_after_percent) {
            return Some(Piece::Literal(','));
        }
        match (is_after_percent, is_digit(after)) {
            (true, true) => return Some(Piece::Literal(',')),
            (false, true) if self.has_point() => {}
            (false, true) => self.integer.is_grouped = true,
            (_, false) => self.shift = self.shift.saturating_sub(COMMA_SHIFT),
        }
        None
    }

    fn check_exponent(
        &self,
        tokens: &[Token],
        index: usize,
        token: &Token,
    ) -> Result<(), NumberFormatError> {
        let before = index.checked_sub(1);
        let is_after_point = before.and_then(|index| tokens.get(index)).map(|token| &token.kind)
            == Some(&TokenKind::Point);
        let is_after_digits = is_placeholder(before, tokens)
            || (is_after_point && !self.integer.placeholders.is_empty());
        let is_before_digits = is_placeholder(Some(index + 1), tokens);
        if self.has_exponent() || !is_after_digits || !is_before_digits {
            return Err(NumberFormatFault::Exponent.at(token.position));
        }
        Ok(())
    }

    fn has_point(&self) -> bool {
        self.pieces.contains(&Piece::Point)
    }

    fn has_exponent(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Exponent { .. }))
    }

    /// Returns the text of a nonnegative number, and whether only zeros are displayed.
    pub(super) fn render(&self, magnitude: f64, rules: Rules) -> (String, bool) {
        let mut decimal = rules.decimal(magnitude);
        decimal.shift(self.shift);
        let exponent = if self.exponent.is_empty() {
            decimal.round(self.decimals.len());
            0
        } else {
            self.extract_exponent(&mut decimal)
        };
        let exponent_layout = Integer { placeholders: self.exponent.clone(), is_grouped: false };
        let exponent_digits = Decimal::of(f64::from(exponent).abs());
        let mut exponent_writer = exponent_layout.writer(&exponent_digits);
        let mut integer_writer = self.integer.writer(&decimal);
        let shown_decimals = self.count_shown_decimals(&decimal);
        let mut decimal_index = 0;
        let mut text = String::new();
        for piece in &self.pieces {
            match *piece {
                Piece::Literal(literal) => text.push(literal),
                Piece::Integer(placeholder) => integer_writer.write(placeholder, &mut text),
                Piece::Point => {
                    integer_writer.write_remaining(&mut text);
                    text.push('.');
                }
                Piece::Decimal(placeholder) => {
                    if decimal_index < shown_decimals {
                        text.push(decimal.decimal_digit(decimal_index));
                    } else if placeholder == Placeholder::Space {
                        text.push(' ');
                    }
                    decimal_index += 1;
                }
                Piece::Exponent { shows_plus } => {
                    text.push('E');
                    if exponent < 0 {
                        text.push('-');
                    } else if shows_plus {
                        text.push('+');
                    }
                }
                Piece::ExponentDigit(placeholder) => exponent_writer.write(placeholder, &mut text),
            }
        }
        (text, decimal.is_zero())
    }

    /// Divides the number by a power of ten, which is returned, and rounds it. With several integer
    /// placeholders, the exponent is a multiple of their number.
    fn extract_exponent(&self, decimal: &mut Decimal) -> i32 {
        if decimal.is_zero() {
            return 0;
        }
        let integer_digits = i32::try_from(self.integer.placeholders.len()).unwrap_or(i32::MAX);
        let step = integer_digits.max(1);
        let first_digit_exponent = decimal.point() - integer_digits.min(1);
        let mut exponent = first_digit_exponent.div_euclid(step) * step;
        let number = decimal.clone();
        decimal.shift(-exponent);
        decimal.round(self.decimals.len());
        if decimal.point() > integer_digits {
            // For example, 999.96 was rounded to 1000.0.
            exponent += step;
            *decimal = number;
            decimal.shift(-exponent);
            decimal.round(self.decimals.len());
        }
        exponent
    }

    fn count_shown_decimals(&self, decimal: &Decimal) -> usize {
        let is_shown = |(index, placeholder): &(usize, &Placeholder)| {
            **placeholder == Placeholder::Zero || decimal.decimal_digit(*index) != '0'
        };
        let last_shown = self.decimals.iter().enumerate().rev().find(is_shown);
        last_shown.map_or(0, |(index, _)| index + 1)
    }
}

fn is_placeholder(index: Option<usize>, tokens: &[Token]) -> bool {
    let token = index.and_then(|index| tokens.get(index));
    token.is_some_and(|token| matches!(token.kind, TokenKind::Placeholder(_)))
}

impl Integer {
    pub(super) fn writer<'a>(&'a self, decimal: &'a Decimal) -> IntegerWriter<'a> {
        let length = decimal.integer_length();
        IntegerWriter {
            decimal,
            is_grouped: self.is_grouped,
            remaining_places: length.max(self.placeholders.len()),
            remaining_placeholders: self.placeholders.len(),
            has_zeros: false,
        }
    }
}

/// Writes the integer part of a number, one placeholder after the other.
pub(super) struct IntegerWriter<'a> {
    decimal: &'a Decimal,
    is_grouped: bool,
    remaining_places: usize,
    remaining_placeholders: usize,
    /// Whether a `0` was written. All places after it are displayed.
    has_zeros: bool,
}

impl IntegerWriter<'_> {
    /// The first placeholder also displays the digits for which there are no placeholders.
    pub(super) fn write(&mut self, placeholder: Placeholder, text: &mut String) {
        self.has_zeros |= placeholder == Placeholder::Zero;
        self.remaining_placeholders = self.remaining_placeholders.saturating_sub(1);
        while self.remaining_places > self.remaining_placeholders {
            self.remaining_places -= 1;
            self.write_place(self.remaining_places, placeholder, text);
        }
    }

    /// Writes the digits if there are no placeholders, as in `.00`.
    fn write_remaining(&mut self, text: &mut String) {
        while self.remaining_places > 0 {
            self.remaining_places -= 1;
            self.write_place(self.remaining_places, Placeholder::Nothing, text);
        }
    }

    fn write_place(&self, place: usize, placeholder: Placeholder, text: &mut String) {
        let is_digit = place < self.decimal.integer_length();
        let ends_group = self.is_grouped && place > 0 && place.is_multiple_of(3);
        if is_digit || self.has_zeros {
            text.push(self.decimal.integer_digit(place));
            text.extend(ends_group.then_some(','));
        } else if placeholder == Placeholder::Space {
            text.push(' ');
            text.extend(ends_group.then_some(' '));
        }
    }
}
