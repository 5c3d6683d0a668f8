//! Editor errors. Each variant states whether the edit was committed.

use std::path::PathBuf;

use cellar_log::entry::BodyError;
use cellar_sheet::operation::{InvalidOperation, Rejection};

use crate::ClientError;
use crate::files::FileError;

/// Error of an edit that was not committed or whose outcome is unknown.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum EditorError {
    /// The edit was certainly not committed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(Box<ClientError>),
    /// A local file cannot be used, and the edit was not sent.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// The edit is invalid and was not sent.
    #[error("{fault}")]
    #[diagnostic(code(cellar::invalid_edit), help("{}", advice_for(fault)))]
    Invalid {
        /// Reason why the edit is invalid.
        fault: InvalidOperation,
    },
    /// The edit is too large even for an upload and was not sent.
    #[error("the edit is too large: {fault}")]
    #[diagnostic(
        code(cellar::edit_too_large),
        help("split the edit into several commands; nothing was sent")
    )]
    TooLarge {
        /// The limit that the edit exceeds.
        fault: BodyError,
    },
    /// The edit's sheet does not exist.
    #[error("sheet `{name}` does not exist; the sheets are: {sheets}")]
    #[diagnostic(code(cellar::unknown_sheet), help("`cellar sheets` lists the sheets"))]
    UnknownSheet {
        /// Requested name.
        name: String,
        /// Names of the existing sheets.
        sheets: String,
    },
    /// The server rejected the edit, which has no effect and will not be resent.
    #[error("the edit was rejected ({edit}): {}", rejection.detail)]
    #[diagnostic(
        code(cellar::rejected),
        help(
            "check the cells with `cellar get` and the edits with `cellar history`; the edit will not be resent"
        )
    )]
    Rejected {
        /// Edit description.
        edit: String,
        /// Reason given by the server, with control characters escaped.
        rejection: Rejection,
    },
    /// The server rejected an edit from an earlier run. The new edit was not committed.
    #[error(
        "an earlier edit without an answer was rejected ({edit}): {}. The new edit was not made",
        rejection.detail
    )]
    #[diagnostic(
        code(cellar::earlier_rejected),
        help("run the command again to make the new edit; the earlier edit will not be resent")
    )]
    EarlierRejected {
        /// Description of the earlier edit.
        edit: String,
        /// Reason given by the server, with control characters escaped.
        rejection: Rejection,
    },
    /// The outcome of the edit is unknown. The edit is persisted and will be resent before the next
    /// edit.
    #[error("the outcome of this edit is unknown ({edits}): {source}")]
    #[diagnostic(
        code(cellar::outcome_unknown),
        help("the edit is kept; your next edit resends it first, and it takes effect only once")
    )]
    Kept {
        /// Edit description.
        edits: String,
        /// Error of the last request.
        source: Box<ClientError>,
    },
    /// An edit from an earlier run must be sent first, but sending it failed. The new edit was not
    /// committed.
    #[error(
        "an earlier edit ({edits}) must be sent first and failed: {source}. The new edit was not made"
    )]
    #[diagnostic(
        code(cellar::earlier_edit),
        help("resolve this error, then run the command again; the earlier edit is kept")
    )]
    EarlierKept {
        /// Description of the earlier edits.
        edits: String,
        /// Error of the last request.
        source: Box<ClientError>,
    },
    /// The edits may have been committed, but cannot be resent.
    #[error(
        "this edit may or may not have been made: {edits}. An earlier attempt was not answered, and \
         now the server reports: {source}"
    )]
    #[diagnostic(
        code(cellar::edit_uncertain),
        help(
            "check with `cellar get` and `cellar history`, and repeat the edit only if it is missing; \
             the edit was moved to {}", file.display()
        )
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

/// Returns a hint for an invalid edit.
fn advice_for(fault: &InvalidOperation) -> &'static str {
    match fault {
        InvalidOperation::TooLong { .. } => {
            "shorten the text, or distribute it over several cells; nothing was sent"
        }
        InvalidOperation::TooManyCells { .. } => {
            "split the edit into several commands; nothing was sent"
        }
        _ => "correct the command; nothing was sent",
    }
}

impl From<ClientError> for EditorError {
    fn from(error: ClientError) -> Self {
        Self::Client(Box::new(error))
    }
}
