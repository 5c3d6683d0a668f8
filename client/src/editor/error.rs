//! What can happen to an edit, each told apart.

use std::path::PathBuf;

use cellar_log::entry::BodyError;
use cellar_sheet::operation::{InvalidOperation, Rejection};

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
    /// The edit is too large for any way; it was not sent.
    #[error("the edit is too large: {fault}")]
    #[diagnostic(code(cellar::edit_too_large), help("use several commands: nothing was sent"))]
    TooLarge {
        /// What is wrong with it.
        fault: BodyError,
    },
    /// A sheet that the spreadsheet does not have.
    #[error("there is no sheet `{name}`; there are {sheets}")]
    #[diagnostic(code(cellar::unknown_sheet), help("`cellar sheets` lists the sheets"))]
    UnknownSheet {
        /// The name.
        name: String,
        /// The sheets that there are.
        sheets: String,
    },
    /// The server has rejected the edit for good: it changed nothing.
    #[error("the edit changed nothing ({edit}): {}", rejection.detail)]
    #[diagnostic(
        code(cellar::rejected),
        help("look with `cellar get` and `cellar history`: it will not be sent again")
    )]
    Rejected {
        /// The edit.
        edit: String,
        /// Why, control characters escaped.
        rejection: Rejection,
    },
    /// The server has rejected an edit of an earlier run for good; the new one was not made.
    #[error(
        "an earlier edit, which had not been answered, changed nothing ({edit}): {}. The new edit \
         was not made",
        rejection.detail
    )]
    #[diagnostic(
        code(cellar::earlier_rejected),
        help(
            "the earlier edit will not be sent again; run the same command again for the new one"
        )
    )]
    EarlierRejected {
        /// The earlier edit.
        edit: String,
        /// Why, control characters escaped.
        rejection: Rejection,
    },
    /// It is not known whether the edit was made. It is kept.
    #[error("it is not known yet whether this edit was made ({edits}): {source}")]
    #[diagnostic(
        code(cellar::outcome_unknown),
        help(
            "the edit is kept and is sent again, unchanged, before your next one: it \
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
