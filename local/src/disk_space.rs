//! Recognizes a full disk, so that it is reported at once and by its name. Other errors of files and
//! of SQLite are retried, because they may be temporary.

use std::io;

use dynoxide::DynoxideError;
use rusqlite::ErrorCode;

/// Message of SQLite's error `SQLITE_FULL`. dynoxide reports most errors of SQLite only as text.
const SQLITE_FULL_MESSAGE: &str = "database or disk is full";

pub(crate) const FULL_MESSAGE: &str = "The disk of the local stack is full";

/// Whether the disk, the quota of the user or the maximum file size of the process is exhausted.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

pub(crate) fn is_sqlite_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

pub(crate) fn is_database_full(error: &DynoxideError) -> bool {
    match error {
        DynoxideError::SqliteError(error) => is_sqlite_full(error),
        DynoxideError::InternalServerError(message) => message.contains(SQLITE_FULL_MESSAGE),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use dynoxide::storage_backend::BackendError;

    use super::*;

    /// A database that may not grow is full for SQLite, as one on a full disk is.
    fn full_database_error() -> rusqlite::Error {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch("PRAGMA max_page_count = 2; CREATE TABLE t (x)").unwrap();
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))", []).unwrap_err()
    }

    #[test]
    fn a_full_database_is_recognized_in_each_form() {
        let error = full_database_error();
        assert!(is_sqlite_full(&error));
        let as_text = DynoxideError::from(BackendError::Other(error.to_string()));
        assert!(is_database_full(&as_text), "{as_text}");
        assert!(is_database_full(&DynoxideError::SqliteError(error)));
        let locked = DynoxideError::from(BackendError::Locked);
        assert!(!is_database_full(&locked));
    }

    #[test]
    fn a_full_disk_is_told_from_other_errors_of_files() {
        for kind in
            [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge]
        {
            assert!(is_full(&kind.into()), "{kind}");
        }
        assert!(!is_full(&io::ErrorKind::PermissionDenied.into()));
    }
}
