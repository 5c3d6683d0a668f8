//! Tokens of number format codes.

use super::condition::Condition;

/// How a digit is displayed if the number has no digit in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// `0`: as a zero.
    Zero,
    /// `?`: as a space.
    Space,
    /// `#`: not at all.
    Nothing,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Position of its first character in the code, counted from 1.
    pub(super) position: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// A character that is displayed as it is.
    Literal(char),
    Placeholder(Placeholder),
    /// A digit from 1 to 9, which is displayed as it is or belongs to a denominator.
    Digit(char),
    Point,
    Comma,
    Slash,
    Percent,
    /// `E+` or `E-`.
    Exponent {
        shows_plus: bool,
    },
    General,
    /// `@`
    Text,
    Date(DateUnit),
    Condition(Condition),
}

/// A part of a date or time. `width` is the number of letters in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateUnit {
    Year {
        width: usize,
    },
    /// Minutes, if it is beside hours or seconds.
    Month {
        width: usize,
    },
    Day {
        width: usize,
    },
    Hour {
        width: usize,
    },
    Minute {
        width: usize,
    },
    Second {
        width: usize,
    },
    ElapsedHours {
        width: usize,
    },
    ElapsedMinutes {
        width: usize,
    },
    ElapsedSeconds {
        width: usize,
    },
    /// `AM/PM`
    AmPm,
    /// `A/P`, with the two letters as in the code.
    LetterAmPm {
        am: char,
        pm: char,
    },
}

impl DateUnit {
    pub(super) fn is_time(self) -> bool {
        !matches!(self, Self::Year { .. } | Self::Month { .. } | Self::Day { .. })
    }
}
