//! Names of event streams.

use std::fmt;
use std::str::FromStr;

use cellar_base::limits::MAX_STREAM_NAME_BYTES;

/// Name of an event stream: `{category}-{id}`, such as `Spreadsheet-{uuid}`.
///
/// A category starts with a letter and consists of ASCII letters, digits and underscores. The
/// category of a stream that lists other streams starts with `$` and a letter. An id must not
/// contain control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamName {
    text: String,
    category_bytes: usize,
}

/// A string is not a valid stream name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStreamName {
    #[error("the name of a stream must have at most {MAX_STREAM_NAME_BYTES} bytes")]
    TooLong,
    /// The category, the id or the hyphen between them is missing.
    #[error("the name of a stream must be a category, a hyphen and an id")]
    Shape,
    /// The category or the id contains an invalid character.
    #[error("the name of a stream has a character that is not allowed")]
    Character,
}

impl StreamName {
    /// Creates a stream name from its category and id.
    ///
    /// # Errors
    /// Returns [`InvalidStreamName`] if the category or the id is empty or contains an invalid
    /// character, or if the name is too long.
    pub fn new(category: &str, id: &str) -> Result<Self, InvalidStreamName> {
        if id.is_empty() || category.is_empty() {
            return Err(InvalidStreamName::Shape);
        }
        if category.len() + 1 + id.len() > MAX_STREAM_NAME_BYTES {
            return Err(InvalidStreamName::TooLong);
        }
        if !is_valid_category(category) || id.chars().any(char::is_control) {
            return Err(InvalidStreamName::Character);
        }
        Ok(Self { text: format!("{category}-{id}"), category_bytes: category.len() })
    }

    /// Returns the whole name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the category.
    #[must_use]
    pub fn category(&self) -> &str {
        self.text.get(..self.category_bytes).unwrap_or_default()
    }

    /// Returns the id without the category.
    #[must_use]
    pub fn id(&self) -> &str {
        self.text.get(self.category_bytes + 1..).unwrap_or_default()
    }
}

fn is_valid_category(category: &str) -> bool {
    let category_word = category.strip_prefix('$').unwrap_or(category);
    let is_word_character = |character: char| character.is_ascii_alphanumeric() || character == '_';
    category_word.starts_with(|first: char| first.is_ascii_alphabetic())
        && category_word.chars().all(is_word_character)
}

impl FromStr for StreamName {
    type Err = InvalidStreamName;

    fn from_str(text: &str) -> Result<Self, InvalidStreamName> {
        let (category, id) = text.split_once('-').ok_or(InvalidStreamName::Shape)?;
        Self::new(category, id)
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_category_and_an_id() {
        let name: StreamName = "Spreadsheet-6e0b-11".parse().unwrap();
        assert_eq!((name.category(), name.id()), ("Spreadsheet", "6e0b-11"));
        assert_eq!(StreamName::new("Spreadsheet", "6e0b-11"), Ok(name.clone()));
        assert_eq!(name.to_string(), "Spreadsheet-6e0b-11");
        let index: StreamName = "$AppendsEpoch-0_12".parse().unwrap();
        assert_eq!((index.category(), index.id()), ("$AppendsEpoch", "0_12"));
        assert!("User-auth0|ä ö".parse::<StreamName>().is_ok());
    }

    #[test]
    fn rejects_invalid_names() {
        for shape in ["", "User", "User-", "-id", "-"] {
            assert_eq!(shape.parse::<StreamName>(), Err(InvalidStreamName::Shape), "{shape}");
        }
        for text in ["$-id", "1User-x", "Us er-x", "Üser-x", "$$A-x", "User-a\n", "U$-x", "_U-x"] {
            assert_eq!(text.parse::<StreamName>(), Err(InvalidStreamName::Character), "{text}");
        }
        assert_eq!(StreamName::new("A-b", "c"), Err(InvalidStreamName::Character));
    }

    #[test]
    fn limits_the_length_of_names() {
        let long = |bytes: usize| StreamName::new("User", &"x".repeat(bytes - "User-".len()));
        assert_eq!(long(MAX_STREAM_NAME_BYTES).unwrap().as_str().len(), MAX_STREAM_NAME_BYTES);
        assert_eq!(long(MAX_STREAM_NAME_BYTES + 1), Err(InvalidStreamName::TooLong));
    }
}
