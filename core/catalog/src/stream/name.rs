//! What a stream is called.

use std::fmt;
use std::str::FromStr;

use cellar_base::limits::MAX_STREAM_NAME_BYTES;

/// The name of a stream, `Category-id`: `Spreadsheet-{uuid}`, `User-{subject}`. A category begins with
/// a letter, or with `$` for streams that index others, and has letters, digits and underscores; an id
/// is any text without control characters. The first hyphen parts them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamName {
    text: String,
    category_bytes: usize,
}

/// A text that is no name of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStreamName {
    /// Longer than any may be.
    #[error("the name of a stream has at most {MAX_STREAM_NAME_BYTES} bytes")]
    TooLong,
    /// Without a category, an id, or the hyphen between them.
    #[error("the name of a stream is a category, a hyphen and an id")]
    Shape,
    /// A character that may not be there.
    #[error("the name of a stream has a character that it may not have")]
    Character,
}

impl StreamName {
    /// The name of the stream of `id` in `category`.
    ///
    /// # Errors
    /// [`InvalidStreamName`] if together they are none.
    pub fn new(category: &str, id: &str) -> Result<Self, InvalidStreamName> {
        if id.is_empty() || category.is_empty() {
            return Err(InvalidStreamName::Shape);
        }
        if category.len() + 1 + id.len() > MAX_STREAM_NAME_BYTES {
            return Err(InvalidStreamName::TooLong);
        }
        let plain = category.strip_prefix('$').unwrap_or(category);
        let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
        if !plain.starts_with(|first: char| first.is_ascii_alphabetic())
            || !plain.chars().all(is_part)
            || id.chars().any(char::is_control)
        {
            return Err(InvalidStreamName::Character);
        }
        Ok(Self { text: format!("{category}-{id}"), category_bytes: category.len() })
    }

    /// All of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What kind of thing the stream is about.
    #[must_use]
    pub fn category(&self) -> &str {
        self.text.get(..self.category_bytes).unwrap_or_default()
    }

    /// Which of them.
    #[must_use]
    pub fn id(&self) -> &str {
        self.text.get(self.category_bytes + 1..).unwrap_or_default()
    }
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
    fn what_is_no_name_is_refused() {
        for shape in ["", "User", "User-", "-id", "-"] {
            assert_eq!(shape.parse::<StreamName>(), Err(InvalidStreamName::Shape), "{shape}");
        }
        for text in ["$-id", "1User-x", "Us er-x", "Üser-x", "$$A-x", "User-a\n", "U$-x", "_U-x"] {
            assert_eq!(text.parse::<StreamName>(), Err(InvalidStreamName::Character), "{text}");
        }
        assert_eq!(StreamName::new("A-b", "c"), Err(InvalidStreamName::Character));
    }

    #[test]
    fn names_end_at_their_limit() {
        let long = |bytes: usize| StreamName::new("User", &"x".repeat(bytes - "User-".len()));
        assert_eq!(long(MAX_STREAM_NAME_BYTES).unwrap().as_str().len(), MAX_STREAM_NAME_BYTES);
        assert_eq!(long(MAX_STREAM_NAME_BYTES + 1), Err(InvalidStreamName::TooLong));
    }
}
