//! What can happen to an edit, each told apart.

use std::path::PathBuf;

use cellar_core::operation::InvalidOperation;

use crate::ClientError;
use crate::files::FileError;

/// Why an edit was not, or perhaps not, made.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum EditorError {
    /// The edit was not made, for certain.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(Box<ClientError>),
    /// The local state cannot be used; the edit was not sent.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// The edit can never succeed; it was not sent.
    #[error("{fault}")]
    #[diagnostic(code(cellar::invalid_edit), help("{}", how_to_mend(fault)))]
    Invalid {
        /// What is wrong with it.
        fault: InvalidOperation,
    },
    /// It is not known whether the edit was made. It is kept.
    #[error("it is not known yet whether this edit was made ({edits}): {source}")]
    #[diagnostic(
        code(cellar::outcome_unknown),
        help(
            "the edit is kept and is sent again, unchanged, before your next `cellar set`: it \
             will happen once, not twice"
        )
    )]
    Kept {
        /// The edit.
        edits: String,
        /// What happened.
        source: Box<ClientError>,
    },
    /// An edit of an earlier run still cannot be sent; the new one was not made.
    #[error(
        "an earlier edit ({edits}) has to be sent first, and cannot be: {source}. The new edit \
         was not made"
    )]
    #[diagnostic(
        code(cellar::earlier_edit),
        help("run the same command again when that is solved: the earlier edit is kept")
    )]
    EarlierKept {
        /// The earlier edits.
        edits: String,
        /// What happened.
        source: Box<ClientError>,
    },
    /// Edits that may or may not be in the spreadsheet, and cannot be sent again.
    #[error(
        "this edit may or may not be in the spreadsheet: {edits}. An attempt to send it was never \
         answered, and now the server says: {source}"
    )]
    #[diagnostic(
        code(cellar::edit_uncertain),
        help(
            "look with `cellar get` and `cellar history`, and make the edit again only if it is \
             missing; it was moved to {}", file.display()
        )
    )]
    SetAside {
        /// The edits.
        edits: String,
        /// Where they are kept.
        file: PathBuf,
        /// What the server says.
        source: Box<ClientError>,
    },
}

fn how_to_mend(fault: &InvalidOperation) -> &'static str {
    match fault {
        InvalidOperation::TooLong { .. } => {
            "shorten it, or spread it over several cells: nothing was sent"
        }
        InvalidOperation::TooManyCells { .. } => "use several commands: nothing was sent",
        _ => "correct the command: nothing was sent",
    }
}

impl From<ClientError> for EditorError {
    fn from(error: ClientError) -> Self {
        Self::Client(Box::new(error))
    }
}
