//! Errors of the editor. Each variant states whether the edit was committed.

use std::path::PathBuf;

use cellar_api::wire::ProblemKind;
use cellar_log::entry::BodyError;
use cellar_sheet::operation::{InvalidOperation, Rejection};

use crate::ClientError;
use crate::files::FileError;
use crate::text::escape;

/// An edit failed. It was not committed, or it is unknown whether it was committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditorError {
    /// A request failed, and the edit was certainly not committed.
    #[error(transparent)]
    Client(Box<ClientError>),
    /// A local file cannot be read or written. The edit was not sent.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text is not a reference to a single cell. Nothing was sent.
    #[error("`{cell}` is {why}")]
    InvalidCell {
        /// The text.
        cell: String,
        /// Description of the text, such as "a range".
        why: String,
    },
    /// The edit is invalid and was not sent.
    #[error("{fault}")]
    Invalid {
        /// Reason why the edit is invalid.
        fault: InvalidOperation,
    },
    /// The edit is too large, even for an upload. It was not sent.
    #[error("the edit is too large: {fault}")]
    TooLarge {
        /// The limit that the edit exceeds.
        fault: BodyError,
    },
    /// The sheet to edit does not exist.
    #[error("sheet `{name}` does not exist; the sheets are: {sheets}")]
    UnknownSheet {
        /// Requested name.
        name: String,
        /// Names of the existing sheets.
        sheets: String,
    },
    /// The server rejected the edit. The edit has no effect and is not sent again.
    #[error("the edit was rejected ({edit}): {}", rejection.detail)]
    Rejected {
        /// Edit description.
        edit: String,
        /// Reason given by the server, with control characters escaped.
        rejection: Rejection,
    },
    /// The undo or revert would change nothing. Nothing was appended.
    #[error("{why}")]
    NothingToReverse {
        /// Reason given by the server, with control characters escaped.
        why: String,
    },
    /// The server rejected an edit that was left over from an interrupted command. The new edit was
    /// not sent.
    #[error(
        "an edit of an interrupted command was rejected ({edit}): {}. The new edit was not committed",
        rejection.detail
    )]
    EarlierRejected {
        /// Description of the earlier edit.
        edit: String,
        /// Reason given by the server, with control characters escaped.
        rejection: Rejection,
    },
    /// It is unknown whether the edit was committed. It is saved on disk and will be resent before
    /// the next edit.
    #[error("the outcome of this edit is unknown ({edits}): {source}")]
    Kept {
        /// Edit description.
        edits: String,
        /// Error of the last request.
        source: Box<ClientError>,
    },
    /// An edit that was left over from an interrupted command could not be sent. It must be sent
    /// before the new edit, which was therefore not sent.
    #[error(
        "an edit of an interrupted command could not be sent ({edits}): {source}. The new edit was not committed"
    )]
    EarlierKept {
        /// Description of the earlier edits.
        edits: String,
        /// Error of the last request.
        source: Box<ClientError>,
    },
    /// Edits of interrupted commands could not be sent. They are kept.
    #[error("edits were not sent ({edits}): {source}")]
    Waiting {
        /// Descriptions of the edits.
        edits: String,
        /// Error of the last request.
        source: Box<ClientError>,
    },
    /// The edits may have been committed, but they cannot be resent. They were moved to a file.
    #[error(
        "this edit may or may not have been made: {edits}. An earlier attempt was not answered, and \
         now the server reports: {source}"
    )]
    SetAside {
        /// Edit descriptions.
        edits: String,
        /// The file that contains the edits.
        file: PathBuf,
        /// Error returned by the server.
        source: Box<ClientError>,
    },
}

impl EditorError {
    /// Returns the error of an edit that was certainly not committed.
    pub(super) fn of_uncommitted(error: ClientError) -> Self {
        if let ClientError::Problem { problem, .. } = &error
            && problem.kind == ProblemKind::NothingToReverse
        {
            return Self::NothingToReverse { why: escape(&problem.detail) };
        }
        Self::Client(Box::new(error))
    }
}

impl From<ClientError> for EditorError {
    fn from(error: ClientError) -> Self {
        Self::Client(Box::new(error))
    }
}
