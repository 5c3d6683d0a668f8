//! Keys of objects.

use std::fmt;

use cellar_base::limits::MAX_BLOB_KEY_BYTES;

/// Key of an object that Cellar writes: segments of letters, digits, `-`, `_`, `=` and `.`,
/// separated by `/`. So it means the same in a URL, in a signature and in every store: nothing
/// in it needs an escape, and no client takes `..` for the folder above.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobKey(String);

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobKeyError {
    /// Too long.
    #[error("an object's key has at most {MAX_BLOB_KEY_BYTES} bytes, not {bytes}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Something in it that is not allowed.
    #[error(
        "`{key}` is no object's key: use segments of letters, digits, `-`, `_`, `=` and `.`, \
         separated by `/`"
    )]
    Malformed {
        /// As given.
        key: String,
    },
}

impl BlobKey {
    /// Checks a key.
    ///
    /// # Errors
    /// [`BlobKeyError`] that says what a key is made of.
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

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_segment(segment: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=.".contains(&byte);
    !matches!(segment, "" | "." | "..") && segment.bytes().all(allowed)
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
    fn their_length_is_bounded() {
        assert!(BlobKey::new("k".repeat(MAX_BLOB_KEY_BYTES)).is_ok());
        let bytes = MAX_BLOB_KEY_BYTES + 1;
        assert_eq!(BlobKey::new("k".repeat(bytes)), Err(BlobKeyError::TooLong { bytes }));
    }
}
