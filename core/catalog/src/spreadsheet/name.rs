//! Names of spreadsheets.

use std::fmt;

use serde::{Deserialize, Serialize};

use cellar_base::limits::MAX_SPREADSHEET_NAME_BYTES;

/// Name of a spreadsheet, without surrounding whitespace. It is empty if the spreadsheet is
/// unnamed. Names need not be unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Name(String);

/// A string is not a valid spreadsheet name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// The name is blank.
    #[error("the name of a spreadsheet must have at least one visible character")]
    Empty,
    #[error("the name has {bytes} bytes; at most {MAX_SPREADSHEET_NAME_BYTES} are allowed")]
    TooLong {
        /// Length of the name in bytes.
        bytes: usize,
    },
    /// The name contains a line break or another control character.
    #[error("the name of a spreadsheet must be one line without control characters")]
    ControlCharacter,
}

impl Name {
    /// Creates a name from a string. Surrounding whitespace is removed.
    ///
    /// # Errors
    /// Returns [`BadName`] if the name is too long, is empty or contains control characters.
    pub fn new(text: &str) -> Result<Self, BadName> {
        let text = text.trim();
        match text.len() {
            0 => Err(BadName::Empty),
            1..=MAX_SPREADSHEET_NAME_BYTES if text.chars().any(char::is_control) => {
                Err(BadName::ControlCharacter)
            }
            1..=MAX_SPREADSHEET_NAME_BYTES => Ok(Self(text.to_owned())),
            bytes => Err(BadName::TooLong { bytes }),
        }
    }

    /// Returns the default name of a fork: `Fork of` followed by this name, truncated to the
    /// maximum length. A fork of an unnamed spreadsheet is unnamed by default.
    #[must_use]
    pub fn of_fork(&self) -> Self {
        if self.0.is_empty() {
            return Self::default();
        }
        let mut name = String::from("Fork of ");
        for char in self.0.chars() {
            if name.len().saturating_add(char.len_utf8()) > MAX_SPREADSHEET_NAME_BYTES {
                break;
            }
            name.push(char);
        }
        Self(name.trim_end().to_owned())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line_of_limited_length() {
        assert_eq!(Name::new("  Budget 2026 ").unwrap().as_str(), "Budget 2026");
        let most = "ä".repeat(MAX_SPREADSHEET_NAME_BYTES / 2);
        assert_eq!(Name::new(&most).unwrap().as_str(), most);
        let bytes = MAX_SPREADSHEET_NAME_BYTES + 1;
        assert_eq!(Name::new(&"x".repeat(bytes)), Err(BadName::TooLong { bytes }));
        assert_eq!(Name::new(&"x".repeat(10_000)), Err(BadName::TooLong { bytes: 10_000 }));
        assert_eq!((Name::new(""), Name::new(" \t ")), (Err(BadName::Empty), Err(BadName::Empty)));
        assert_eq!(Name::new("a\nb"), Err(BadName::ControlCharacter));
    }

    #[test]
    fn a_fork_is_named_after_its_source() {
        assert_eq!(Name::new("Budget").unwrap().of_fork().as_str(), "Fork of Budget");
        assert_eq!(Name::default().of_fork(), Name::default());
        for long in
            ["x".repeat(MAX_SPREADSHEET_NAME_BYTES), "ä".repeat(MAX_SPREADSHEET_NAME_BYTES / 2)]
        {
            let fork = Name::new(&long).unwrap().of_fork();
            assert!(fork.as_str().len() > MAX_SPREADSHEET_NAME_BYTES - 2);
            assert_eq!(Name::new(fork.as_str()), Ok(fork));
        }
    }
}
