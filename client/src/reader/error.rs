//! Errors that occur when reading a spreadsheet from its snapshots.

use cellar_api::{wire::Problem, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_snapshot::SnapshotError;

use crate::ClientError;

/// An error when reading a spreadsheet from its snapshots.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// A request failed, or the requested range or sheet is invalid.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A snapshot object does not exist.
    #[error("snapshot object {key} is missing")]
    Missing {
        /// The spreadsheet.
        log: LogId,
        /// Object key.
        key: String,
    },
    /// A snapshot object is corrupt.
    #[error("snapshot object {key} is damaged: {why}")]
    Damaged {
        /// The spreadsheet.
        log: LogId,
        /// Key of the corrupt object, or a common prefix of the keys if several objects are
        /// inconsistent with each other.
        key: String,
        /// Description of the corruption.
        why: String,
    },
    /// The external body of a large log entry cannot be downloaded.
    #[error("the body of the large entry at {position} is missing: {source}")]
    LargeEntry {
        /// Position of the log entry.
        position: Position,
        /// Download error.
        source: Box<ClientError>,
    },
    /// All attempts to load the spreadsheet failed. During each of them, the tables were restored
    /// or too many entries were appended.
    #[error("the spreadsheet changed during each of {attempts} attempts to read it")]
    Changing {
        /// Number of attempts.
        attempts: u32,
    },
    /// In each attempt, the server announced more log entries than it returned.
    #[error("the server returned the log only up to {reached}, although it contains {head}")]
    Incomplete {
        /// Position of the last entry that was returned.
        reached: Position,
        /// Position of the newest entry.
        head: Position,
    },
}

impl ReaderError {
    /// Callers cannot distinguish the error from the same problem reported by the server.
    pub(crate) fn from_problem(kind: ProblemKind, why: impl Into<String>) -> Self {
        let problem = Box::new(Problem::new(kind, why));
        Self::Client(ClientError::Problem { problem, uncertain: false })
    }

    pub(super) fn inconsistent(log: LogId, error: &SnapshotError) -> Self {
        Self::Damaged { log, key: format!("sheets/{log}"), why: error.to_string() }
    }

    /// Returns `None` if an object is missing or corrupt, so that the server can read instead.
    pub(crate) fn none_if_unreadable<T>(self) -> Result<Option<T>, Self> {
        if self.unreadable_object().is_some() { Ok(None) } else { Err(self) }
    }

    /// Returns the key of the missing or corrupt object, or the position of an entry whose body is
    /// missing or corrupt. Retrying with a newer snapshot or a new URL may succeed. Returns `None`
    /// for all other errors.
    pub(crate) fn unreadable_object(&self) -> Option<String> {
        match self {
            Self::Missing { key, .. } | Self::Damaged { key, .. } => Some(key.clone()),
            Self::LargeEntry { position, .. } => Some(position.to_string()),
            Self::Client(_) | Self::Changing { .. } | Self::Incomplete { .. } => None,
        }
    }
}

/// HTTP status of the object store if a download URL has expired or grants no access.
pub(super) const HTTP_FORBIDDEN: u16 = 403;
/// HTTP status of the object store if an object does not exist.
pub(super) const HTTP_NOT_FOUND: u16 = 404;

pub(super) fn is_refusal(error: &ClientError) -> bool {
    matches!(error, ClientError::UnexpectedStatus { status: HTTP_FORBIDDEN | HTTP_NOT_FOUND, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_object_is_named() {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let key = format!("sheets/{log}/chunks/ab");
        let missing = ReaderError::Missing { log, key: key.clone() };
        let damaged = ReaderError::Damaged { log, key: key.clone(), why: "a bit".into() };
        for error in [missing, damaged] {
            assert!(error.to_string().contains(&key), "{error}");
            assert_eq!(error.unreadable_object(), Some(key.clone()));
        }
        let unknown =
            ReaderError::from_problem(ProblemKind::SheetNotFound, "sheet `x` does not exist");
        assert_eq!(unknown.unreadable_object(), None);
    }
}
