//! Why a live sheet cannot do something: one variant for each cause, each with what to do.

use cellar_api::rebase::EntriesNeeded;
use cellar_base::limits::{MAX_LIVE_OBJECT_BYTES, MAX_LIVE_PENDING, MAX_LIVE_PENDING_BYTES};
use cellar_log::entry::BodyError;
use cellar_sheet::operation::InvalidOperation;

use crate::ClientError;
use crate::files::FileError;
use crate::reader::ReaderError;

/// Why a live sheet could not be opened, shown, edited or brought up to date. Edits that were made stay.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum LiveError {
    /// A request failed. What waits is kept and sent again, unchanged, by the next round.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(Box<ClientError>),
    /// The state cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Reader(Box<ReaderError>),
    /// The local files cannot be used, or another process has them.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// The edit can never succeed: it was not made.
    #[error("{fault}")]
    #[diagnostic(code(cellar::invalid_edit), help("correct it: nothing was kept"))]
    Invalid {
        /// What is wrong with it.
        fault: InvalidOperation,
    },
    /// The edit is too large for any way: it was not made.
    #[error("the edit is too large: {fault}")]
    #[diagnostic(code(cellar::edit_too_large), help("make several of it: nothing was kept"))]
    TooLarge {
        /// What is wrong with it.
        fault: BodyError,
    },
    /// Too many edits wait to be sent: this one was not made.
    #[error(
        "too many edits wait to be sent: {edits} of at most {MAX_LIVE_PENDING}, with this one {bytes} \
         bytes of at most {MAX_LIVE_PENDING_BYTES}, and {object_bytes} of at most \
         {MAX_LIVE_OBJECT_BYTES} of large ones"
    )]
    #[diagnostic(
        code(cellar::too_many_edits_wait),
        help("synchronise first: those that wait are kept")
    )]
    TooMany {
        /// How many wait.
        edits: usize,
        /// Bytes of them and of this one, large ones apart.
        bytes: usize,
        /// Bytes of the large ones.
        object_bytes: usize,
    },
    /// Where the edits that wait stand now cannot be told before they are sent.
    #[error("edits that wait were made on an older state than is known here: {needed}")]
    #[diagnostic(
        code(cellar::edits_behind),
        help("synchronise: the server knows where they belong")
    )]
    Behind {
        /// The entries that would tell.
        #[from]
        needed: EntriesNeeded,
    },
    /// An import, whose chunks have to be uploaded first.
    #[error("a sheet is not imported by an edit")]
    #[diagnostic(code(cellar::not_an_edit), help("use the module `import`: nothing was kept"))]
    Import,
}

impl LiveError {
    /// Whether nobody answered: what waits is kept, and it may pass by itself.
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
