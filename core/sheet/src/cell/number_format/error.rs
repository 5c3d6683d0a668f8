//! Reasons why a code is not a number format.

use super::{MAX_SECTIONS, MAX_TEXT_PLACEHOLDERS};
use cellar_base::limits::MAX_FORMAT_BYTES;

/// A code that is not a number format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {position}: {fault}")]
pub struct NumberFormatError {
    /// Position of the character that is wrong, counted from 1.
    pub position: usize,
    /// Reason, and how to correct it.
    pub fault: NumberFormatFault,
}

/// The fault of an invalid number format, and its correction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NumberFormatFault {
    /// No characters.
    #[error("the format is empty; use General for numbers without formatting")]
    Empty,
    /// More than `MAX_FORMAT_BYTES`.
    #[error("the format has {bytes} bytes; at most {MAX_FORMAT_BYTES} are allowed")]
    TooLong {
        /// Length in bytes.
        bytes: usize,
    },
    /// A letter that is neither a part of a date nor text.
    #[error("{0} has no meaning here; put text in double quotes, such as 0 \"kg\"")]
    UnknownLetter(char),
    /// A character that must be quoted.
    #[error("{} cannot be used here; put text in double quotes", .0.escape_default())]
    UnknownCharacter(char),
    /// The brackets contain something else than a color, condition, currency or elapsed time.
    #[error(
        "[{}] is not a color, a condition such as [>100], a currency such as [$€-407] or an elapsed time such as [h]",
        .0.escape_debug()
    )]
    UnknownBrackets(String),
    /// A quote is not closed.
    #[error("the closing double quote is missing")]
    UnclosedQuote,
    /// A bracket is not closed.
    #[error("the closing bracket ] is missing")]
    UnclosedBracket,
    /// `\`, `_` or `*` is the last character.
    #[error("a character must follow {0}")]
    MissingCharacter(char),
    /// Too many sections.
    #[error(
        "the format has more than {MAX_SECTIONS} sections separated by semicolons; remove this one"
    )]
    TooManySections,
    /// A section has several conditions.
    #[error("the section has a second condition; remove it")]
    SecondCondition,
    /// A section contains digits and parts of dates.
    #[error("a section cannot contain both digits and parts of dates; put text in double quotes")]
    DigitInDate,
    /// A section contains `General` or `@`, and digits or parts of dates.
    #[error("General and @ cannot be combined with digits or parts of dates")]
    GeneralWithOthers,
    /// An exponent without digits, or a second exponent.
    #[error("write an exponent as in 0.00E+00")]
    Exponent,
    /// A fraction without a denominator, or with other parts.
    #[error("write a fraction as in # ?/? or # ??/100")]
    Fraction,
    /// Too many decimals of seconds.
    #[error("seconds can have at most 3 decimals, as in ss.000")]
    SecondDecimals,
    /// The section for text contains digits, parts of dates or a condition.
    #[error("the section for text can contain only @ and text in double quotes")]
    NotText,
    /// Too many `@` in a section.
    #[error("a section can contain @ at most {MAX_TEXT_PLACEHOLDERS} times")]
    TooManyTexts,
}

impl NumberFormatFault {
    pub(super) fn at(self, position: usize) -> NumberFormatError {
        NumberFormatError { position, fault: self }
    }
}
