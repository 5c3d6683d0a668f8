//! Number formats in the notation of Excel (ECMA-376 part 1, 18.8.31).
//!
//! Cells differ from Excel where Excel would hide or change data:
//! - `General` displays all digits that distinguish a number from others.
//! - Integers of 10¹⁵ or more are displayed with all their digits.
//! - Numbers that a format cannot display are displayed as `General`, not as `####`: negative dates,
//!   dates before 1900-03-01 or after 9999-12-31, and numbers that no section's condition matches.
//! - Words must be in quotes, so that a misspelled format is not displayed.
//!
//! The function `TEXT` follows Excel there. Both have one thing in common:
//! - Names of months and days are in English, and separators are those of English.

mod condition;
mod date;
mod error;
mod fraction;
mod lexer;
mod number;
mod rules;
mod section;
#[cfg(test)]
mod tests;
mod token;

pub use error::{NumberFormatError, NumberFormatFault};

use cellar_base::limits::MAX_FORMAT_BYTES;

use super::general::general;
use condition::Condition;
use rules::Rules;
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
    rules: Rules,
}

impl NumberFormat {
    /// Parses the format code of a cell.
    ///
    /// # Errors
    /// Returns a [`NumberFormatError`] if Excel would not accept the code.
    pub fn parse(code: &str) -> Result<Self, NumberFormatError> {
        Self::parse_by(Rules::Cells, code)
    }

    /// Parses a format code of Excel's function `TEXT`. Where Cellar displays cells in another way
    /// than Excel, the format follows Excel: numbers have 15 digits, dates start in January 1900, and
    /// letters that are not in quotes are displayed if they have no meaning.
    ///
    /// # Errors
    /// Returns a [`NumberFormatError`] if Excel would not accept the code.
    pub fn parse_as_excel(code: &str) -> Result<Self, NumberFormatError> {
        Self::parse_by(Rules::Excel, code)
    }

    fn parse_by(rules: Rules, code: &str) -> Result<Self, NumberFormatError> {
        if code.is_empty() {
            return Err(NumberFormatFault::Empty.at(1));
        }
        if rules.length(code) > MAX_FORMAT_BYTES {
            return Err(NumberFormatFault::TooLong { bytes: code.len() }.at(1));
        }
        let mut sections = lexer::split_sections(code, rules)?;
        let contains_text =
            |section: &Vec<token::Token>| section.iter().any(|token| token.kind == TokenKind::Text);
        let has_text = sections.len() == MAX_SECTIONS || sections.last().is_some_and(contains_text);
        let text_tokens = if has_text { sections.pop() } else { None };
        let text = match text_tokens {
            Some(tokens) => Some(PlainLayout::build_for_text(&tokens)?),
            None => None,
        };
        let numbers = sections.into_iter().map(Section::build).collect::<Result<_, _>>()?;
        Ok(Self { numbers, text, rules })
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
        self.try_display(number).unwrap_or_else(|| general(number))
    }

    /// Returns the text that displays a number, or `None` if the format cannot display it.
    #[must_use]
    pub fn try_display(&self, number: f64) -> Option<String> {
        if self.numbers.is_empty() {
            return Some(self.rules.general(number));
        }
        let (section, shows_sign) = self.find_section(number)?;
        let is_negative = number < 0.0;
        if section.is_date() && is_negative && shows_sign {
            return None;
        }
        let rendered = section.render(number.abs(), self.rules)?;
        // A cell displays a negative zero as it was typed.
        let is_negative_zero = self.rules == Rules::Cells
            && number == 0.0
            && number.is_sign_negative()
            && !section.is_date();
        let has_sign = (is_negative && !rendered.is_rounded_to_zero) || is_negative_zero;
        Some(if has_sign && shows_sign { format!("-{}", rendered.text) } else { rendered.text })
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
