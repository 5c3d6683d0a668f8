use std::fmt;

use cellar_base::limits::MAX_BLOB_KEY_BYTES;

/// Key of an object that Cellar writes. It consists of segments of letters, digits, `-`, `_`, `=`
/// and `.`, separated by `/`. Such a key needs no escaping in URLs and signatures. It never
/// contains the segment `..`, which some clients would resolve as a parent directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobKey(String);

/// Reason why an object key is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobKeyError {
    /// The key is too long.
    #[error("the object key has {bytes} bytes; at most {MAX_BLOB_KEY_BYTES} are allowed")]
    TooLong {
        /// Length of the key in bytes.
        bytes: usize,
    },
    /// The key contains an invalid character or segment.
    #[error(
        "`{key}` is not a valid object key; use segments of letters, digits, `-`, `_`, `=` and `.`, \
         separated by `/`"
    )]
    Malformed { key: String },
}

impl BlobKey {
    /// Checks that a key is valid.
    ///
    /// # Errors
    ///
    /// Returns [`BlobKeyError`] if the key is too long or malformed.
    pub fn new(key: impl Into<String>) -> Result<Self, BlobKeyError> {
        let key = key.into();
        if key.len() > MAX_BLOB_KEY_BYTES {
            return Err(BlobKeyError::TooLong { bytes: key.len() });
        }
        if !key.split('/').all(is_segment) {
            return Err(BlobKeyError::Malformed { key });
        }
        Ok(Self(key))
    }

    /// Returns the key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_segment(segment: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=.".contains(&byte);
    !matches!(segment, "" | "." | "..") && segment.bytes().all(is_allowed)
}

impl fmt::Display for BlobKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain_paths() {
        for key in ["a", "uploads/0190-ab/x.bin", "sheets/A_b=1/..a/chunks"] {
            assert_eq!(BlobKey::new(key).unwrap().as_str(), key);
        }
        for key in ["", "/", "/a", "a/", "a//b", ".", "a/../b", "a b", "a%2e", "ä", "a?b", "a\0"] {
            assert!(matches!(BlobKey::new(key), Err(BlobKeyError::Malformed { .. })), "{key}");
        }
    }

    #[test]
    fn rejects_a_key_that_is_too_long() {
        assert!(BlobKey::new("k".repeat(MAX_BLOB_KEY_BYTES)).is_ok());
        let bytes = MAX_BLOB_KEY_BYTES + 1;
        assert_eq!(BlobKey::new("k".repeat(bytes)), Err(BlobKeyError::TooLong { bytes }));
    }
}
