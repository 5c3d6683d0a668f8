//! Error values of cells.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An error value of a cell, such as `#N/A`.
// The numbers are stored in logs, so they must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[repr(u8)]
pub enum ErrorCode {
    /// The intersection of two ranges is empty.
    #[serde(rename = "#NULL!")]
    Null = 1,
    /// Division by zero.
    #[serde(rename = "#DIV/0!")]
    Div0 = 2,
    /// An argument has the wrong type.
    #[serde(rename = "#VALUE!")]
    Value = 3,
    /// A reference to a deleted cell.
    #[serde(rename = "#REF!")]
    Ref = 4,
    /// Unknown name.
    #[serde(rename = "#NAME?")]
    Name = 5,
    /// A number that cannot be represented.
    #[serde(rename = "#NUM!")]
    Num = 6,
    /// No value available.
    #[serde(rename = "#N/A")]
    NotAvailable = 7,
    /// The value is not available yet because its data is still being loaded.
    #[serde(rename = "#GETTING_DATA")]
    GettingData = 8,
    /// The cells into which an array result would extend are not empty.
    #[serde(rename = "#SPILL!")]
    Spill = 9,
    /// An unavailable service.
    #[serde(rename = "#CONNECT!")]
    Connect = 10,
    /// A function or feature is blocked.
    #[serde(rename = "#BLOCKED!")]
    Blocked = 11,
    /// Unsupported calculation.
    #[serde(rename = "#CALC!")]
    Calc = 12,
    /// Text is unavailable because the object in which it is stored is missing or corrupt. Other
    /// spreadsheet programs do not have this error value.
    #[serde(rename = "#LOST!")]
    Lost = 13,
}

/// All error values and their text, ordered by number.
const ALL: [(ErrorCode, &str); 13] = [
    (ErrorCode::Null, "#NULL!"),
    (ErrorCode::Div0, "#DIV/0!"),
    (ErrorCode::Value, "#VALUE!"),
    (ErrorCode::Ref, "#REF!"),
    (ErrorCode::Name, "#NAME?"),
    (ErrorCode::Num, "#NUM!"),
    (ErrorCode::NotAvailable, "#N/A"),
    (ErrorCode::GettingData, "#GETTING_DATA"),
    (ErrorCode::Spill, "#SPILL!"),
    (ErrorCode::Connect, "#CONNECT!"),
    (ErrorCode::Blocked, "#BLOCKED!"),
    (ErrorCode::Calc, "#CALC!"),
    (ErrorCode::Lost, "#LOST!"),
];

impl ErrorCode {
    /// Returns the number that represents the error value in logs.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the error value with this number, or `None` if the number is unknown.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        ALL.iter().map(|(code, _)| *code).find(|code| code.number() == number)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = ALL.iter().find(|(code, _)| code == self).map_or("#N/A", |(_, text)| text);
        formatter.write_str(text)
    }
}

/// A string is not an error value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an error value such as #N/A or #DIV/0!")]
pub struct NotAnErrorCode {
    /// The rejected text.
    pub text: String,
}

impl FromStr for ErrorCode {
    type Err = NotAnErrorCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        ALL.iter()
            .find(|(_, name)| *name == text)
            .map(|(code, _)| *code)
            .ok_or_else(|| NotAnErrorCode { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_every_error_value() {
        for (code, text) in ALL {
            assert_eq!(text.parse::<ErrorCode>().unwrap(), code);
            assert_eq!(code.to_string(), text);
            assert_eq!(ErrorCode::from_number(code.number()), Some(code));
            assert_eq!(serde_json::to_string(&code).unwrap(), format!("\"{text}\""));
        }
        assert_eq!(ErrorCode::from_number(0), None);
        assert_eq!(ErrorCode::from_number(14), None);
        assert!("#n/a".parse::<ErrorCode>().is_err());
    }
}
