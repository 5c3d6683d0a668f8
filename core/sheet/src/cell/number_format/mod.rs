//! Number formats in the notation of Excel (ECMA-376 part 1, 18.8.31).
//!
//! Cellar differs from Excel where Excel would hide or change data:
//! - `General` displays all digits that distinguish a number from others.
//! - Integers of 10¹⁵ or more are displayed with all their digits.
//! - Numbers that a format cannot display are displayed as `General`, not as `####`: negative dates,
//!   dates before 1900-03-01 or after 9999-12-31, and numbers that no section's condition matches.
//! - Names of months and days are in English, and separators are those of English.

mod condition;
mod date;
mod error;
mod fraction;
mod lexer;
mod number;
mod section;
#[cfg(test)]
mod tests;
mod token;

pub use error::{NumberFormatError, NumberFormatFault};

use cellar_base::limits::MAX_FORMAT_BYTES;

use super::general::general;
use condition::Condition;
use section::{PlainLayout, Section};
use token::TokenKind;

/// Sections for positive numbers, negative numbers, zero and text.
const MAX_SECTIONS: usize = 4;
/// Maximum number of copies of a cell's text in the displayed text.
const MAX_TEXT_PLACEHOLDERS: usize = 4;

/// A parsed number format, such as `#,##0.00` or `d mmm yyyy`.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberFormat {
    /// At most three. None if there is only a section for text.
    numbers: Vec<Section>,
    text: Option<PlainLayout>,
}

impl NumberFormat {
    /// Parses a format code.
    ///
    /// # Errors
    /// Returns a [`NumberFormatError`] if Excel would not accept the code.
    pub fn parse(code: &str) -> Result<Self, NumberFormatError> {
        if code.is_empty() {
            return Err(NumberFormatFault::Empty.at(1));
        }
        if code.len() > MAX_FORMAT_BYTES {
            return Err(NumberFormatFault::TooLong { bytes: code.len() }.at(1));
        }
        let mut sections = lexer::split_sections(code)?;
        let contains_text =
            |section: &Vec<token::Token>| section.iter().any(|token| token.kind == TokenKind::Text);
        let has_text = sections.len() == MAX_SECTIONS || sections.last().is_some_and(contains_text);
        let text_tokens = if has_text { sections.pop() } else { None };
        let text = match text_tokens {
            Some(tokens) => Some(PlainLayout::build_for_text(&tokens)?),
            None => None,
        };
        let numbers = sections.into_iter().map(Section::build).collect::<Result<_, _>>()?;
        Ok(Self { numbers, text })
    }

    /// Returns whether the format displays numbers as dates or times in any section.
    #[must_use]
    pub fn is_date(&self) -> bool {
        self.numbers.iter().any(Section::is_date)
    }

    /// Returns the text that displays a number. A number that the format cannot display, such as a
    /// negative date, is displayed as `General`.
    #[must_use]
    pub fn display(&self, number: f64) -> String {
        let Some((section, shows_sign)) = self.find_section(number) else {
            return general(number);
        };
        let is_negative = number < 0.0;
        if section.is_date() && is_negative && shows_sign {
            return general(number);
        }
        let Some(rendered) = section.render(number.abs()) else { return general(number) };
        // A negative zero is displayed as it was typed.
        let is_negative_zero = number == 0.0 && number.is_sign_negative() && !section.is_date();
        let has_sign = (is_negative && !rendered.is_rounded_to_zero) || is_negative_zero;
        if has_sign && shows_sign { format!("-{}", rendered.text) } else { rendered.text }
    }

    /// Returns the text that displays a cell's text.
    #[must_use]
    pub fn display_text(&self, text: &str) -> String {
        match &self.text {
            Some(layout) => layout.render(text),
            None => text.to_owned(),
        }
    }

    /// Returns the section for a number, and whether a negative sign is displayed.
    fn find_section(&self, number: f64) -> Option<(&Section, bool)> {
        let has_conditions = self.numbers.iter().any(|section| section.condition.is_some());
        let count = self.numbers.len();
        self.numbers.iter().enumerate().find_map(|(index, section)| {
            let implied = implied_condition(index, count);
            let condition = section.condition.or(implied);
            if condition.is_some_and(|condition| !condition.matches(number)) {
                return None;
            }
            let shows_sign = match section.condition {
                Some(condition) => !condition.is_only_negative(),
                None => has_conditions || count == 1,
            };
            Some((section, shows_sign))
        })
    }
}

/// Returns the condition of a section without a condition, or `None` if all numbers match.
fn implied_condition(index: usize, count: usize) -> Option<Condition> {
    match (index, count) {
        (0, 2) => Some(Condition::NOT_NEGATIVE),
        (0, 3) => Some(Condition::POSITIVE),
        (1, 3) => Some(Condition::NEGATIVE),
        _ => None,
    }
}
