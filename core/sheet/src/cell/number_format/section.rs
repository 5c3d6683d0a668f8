//! Sections of number formats.

use super::MAX_TEXT_PLACEHOLDERS;
use super::condition::Condition;
use super::date::DateLayout;
use super::error::{NumberFormatError, NumberFormatFault};
use super::fraction::{FractionLayout, find_slash};
use super::number::NumberLayout;
use super::rules::Rules;
use super::token::{Token, TokenKind};

/// A section that displays numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    pub(super) condition: Option<Condition>,
    layout: Layout,
}

#[derive(Debug, Clone, PartialEq)]
enum Layout {
    Number(NumberLayout),
    Fraction(FractionLayout),
    Date(DateLayout),
    Plain(PlainLayout),
}

/// The text of a number without its sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) text: String,
    /// Whether a number that is not zero is displayed as zero, so that its sign is omitted.
    pub(super) is_rounded_to_zero: bool,
}

impl Section {
    pub(super) fn build(tokens: Vec<Token>) -> Result<Self, NumberFormatError> {
        let (condition, tokens) = extract_condition(tokens)?;
        let contains =
            |accepts: fn(&TokenKind) -> bool| tokens.iter().any(|token| accepts(&token.kind));
        let layout = if contains(|kind| matches!(kind, TokenKind::Date(_))) {
            Layout::Date(DateLayout::build(&tokens)?)
        } else if !contains(|kind| matches!(kind, TokenKind::Placeholder(_))) {
            Layout::Plain(PlainLayout::build(&tokens)?)
        } else if let Some(slash) = find_slash(&tokens) {
            Layout::Fraction(FractionLayout::build(&tokens, slash)?)
        } else {
            Layout::Number(NumberLayout::build(&tokens)?)
        };
        Ok(Self { condition, layout })
    }

    /// Returns `None` if the section displays dates and the number is not a date.
    pub(super) fn render(&self, magnitude: f64, rules: Rules) -> Option<Rendered> {
        let (text, is_rounded_to_zero) = match &self.layout {
            Layout::Number(layout) => layout.render(magnitude, rules),
            Layout::Fraction(layout) => (layout.render(magnitude), false),
            Layout::Date(layout) => (layout.render(magnitude, rules)?, false),
            Layout::Plain(layout) => (layout.render(&rules.general(magnitude)), false),
        };
        Some(Rendered { text, is_rounded_to_zero })
    }

    pub(super) fn is_date(&self) -> bool {
        matches!(self.layout, Layout::Date(_))
    }
}

fn extract_condition(
    tokens: Vec<Token>,
) -> Result<(Option<Condition>, Vec<Token>), NumberFormatError> {
    let mut condition = None;
    let mut others = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token.kind {
            TokenKind::Condition(_) if condition.is_some() => {
                return Err(NumberFormatFault::SecondCondition.at(token.position));
            }
            TokenKind::Condition(found) => condition = Some(found),
            _ => others.push(token),
        }
    }
    Ok((condition, others))
}

/// Text around a value that is displayed without formatting, or text alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainLayout {
    pieces: Vec<PlainPiece>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlainPiece {
    Literal(char),
    Value,
}

impl PlainLayout {
    fn build(tokens: &[Token]) -> Result<Self, NumberFormatError> {
        let mut pieces = Vec::with_capacity(tokens.len());
        let mut value_count = 0;
        for token in tokens {
            pieces.push(match token.kind {
                TokenKind::Literal(literal) | TokenKind::Digit(literal) => {
                    PlainPiece::Literal(literal)
                }
                TokenKind::Point => PlainPiece::Literal('.'),
                TokenKind::Comma => PlainPiece::Literal(','),
                TokenKind::Slash => PlainPiece::Literal('/'),
                TokenKind::Percent => PlainPiece::Literal('%'),
                TokenKind::General | TokenKind::Text => {
                    value_count += 1;
                    if value_count > MAX_TEXT_PLACEHOLDERS {
                        return Err(NumberFormatFault::TooManyTexts.at(token.position));
                    }
                    PlainPiece::Value
                }
                TokenKind::Exponent { .. } => {
                    return Err(NumberFormatFault::Exponent.at(token.position));
                }
                TokenKind::Placeholder(_) | TokenKind::Date(_) | TokenKind::Condition(_) => {
                    return Err(NumberFormatFault::NotText.at(token.position));
                }
            });
        }
        Ok(Self { pieces })
    }

    /// Builds the section for text.
    pub(super) fn build_for_text(tokens: &[Token]) -> Result<Self, NumberFormatError> {
        let is_no_text = |token: &&Token| {
            let kind = &token.kind;
            matches!(
                kind,
                TokenKind::Placeholder(_)
                    | TokenKind::Date(_)
                    | TokenKind::Condition(_)
                    | TokenKind::Exponent { .. }
            )
        };
        match tokens.iter().find(is_no_text) {
            Some(token) => Err(NumberFormatFault::NotText.at(token.position)),
            None => Self::build(tokens),
        }
    }

    pub(super) fn render(&self, value: &str) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                PlainPiece::Literal(literal) => text.push(*literal),
                PlainPiece::Value => text.push_str(value),
            }
        }
        text
    }
}
