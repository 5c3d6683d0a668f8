//! Live sheet errors.

use cellar_api::rebase::EntriesNeeded;
use cellar_base::limits::{MAX_LIVE_OBJECT_BYTES, MAX_LIVE_PENDING, MAX_LIVE_PENDING_BYTES};
use cellar_log::entry::BodyError;
use cellar_sheet::operation::InvalidOperation;

use crate::ClientError;
use crate::files::FileError;
use crate::reader::ReaderError;

/// An error when opening, viewing, editing or syncing a live sheet. Edits that were already
/// accepted remain queued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A request failed. Pending edits remain queued, and the next sync resends them unchanged.
    #[error(transparent)]
    Client(Box<ClientError>),
    /// The spreadsheet's state cannot be read.
    #[error(transparent)]
    Reader(Box<ReaderError>),
    /// A local file cannot be used, or another process has opened the spreadsheet in this
    /// directory.
    #[error(transparent)]
    File(#[from] FileError),
    /// The edit is invalid, and was not queued.
    #[error("{fault}")]
    Invalid {
        /// Reason why the edit is invalid.
        fault: InvalidOperation,
    },
    /// The edit is too large, even for an upload. It was not queued.
    #[error("the edit is too large: {fault}")]
    TooLarge {
        /// The limit that the edit exceeds.
        fault: BodyError,
    },
    /// The queue of unsent edits is full. The new edit was not queued.
    #[error(
        "too many unsent edits: {edits} edits (limit {MAX_LIVE_PENDING}); with the new edit, {bytes} \
         bytes (limit {MAX_LIVE_PENDING_BYTES}) and {object_bytes} bytes of large edits (limit \
         {MAX_LIVE_OBJECT_BYTES})"
    )]
    TooManyPending {
        /// Number of unsent edits, excluding the new edit.
        edits: usize,
        /// Total size of the unsent edits including the new edit, in bytes. The bodies of large
        /// edits are not included.
        bytes: usize,
        /// Total size of the bodies of large edits, including the new edit, in bytes.
        object_bytes: usize,
    },
    /// Unsent edits cannot be rebased, because some of the log entries after their base position
    /// are not available locally.
    #[error("the unsent edits cannot be shown: {needed}")]
    CannotRebase {
        /// The missing log entries.
        #[from]
        needed: EntriesNeeded,
    },
    /// The edit is an import of a sheet. It was not queued, because the chunks of an imported sheet
    /// must be uploaded first.
    #[error("a sheet cannot be imported as an edit of a live sheet")]
    Import,
}

impl LiveError {
    /// Returns whether the server was unreachable. Pending edits remain queued, and a retry may
    /// succeed.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Client(error) => error.is_offline(),
            Self::Reader(error) => {
                matches!(&**error, ReaderError::Client(error) if error.is_offline())
            }
            _ => false,
        }
    }
}

impl From<ClientError> for LiveError {
    fn from(error: ClientError) -> Self {
        Self::Client(Box::new(error))
    }
}

impl From<ReaderError> for LiveError {
    fn from(error: ReaderError) -> Self {
        match error {
            ReaderError::Client(error) => error.into(),
            error => Self::Reader(Box::new(error)),
        }
    }
}
